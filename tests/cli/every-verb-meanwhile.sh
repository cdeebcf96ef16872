# SPDX-License-Identifier: MIT
# Somebody who asks for no lock replaces, removes or makes the file while a verb is about to: the verb says so,
# fails, and leaves alone what is there now.
if ! python3 -c 'import re' 2>/dev/null; then echo "no python3"; exit 77; fi
if [ ! -x "$TAMIS_ON_A_DISK" ]; then echo "no $TAMIS_ON_A_DISK: make programs"; exit 77; fi
. "$(dirname "$0")/every-verb.inc"
PYTHONPATH=$(dirname "$0") PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import os
from writing_verbs import *

def try_all(cases, does, said, is_left):
    for verb, words, target in cases:
        folder.renew()
        ran = run(verb, words, executable=os.environ["TAMIS_ON_A_DISK"],
                  env={**os.environ, "TAMIS_MEANWHILE": does.replace("FILE", target)})
        last = ran.stderr.decode().strip().split("\n")[-1]
        is_good = ran.returncode == 2 and last == f"tamis: {verb}: {target}: {said}; nothing was written"
        if not is_good or not is_left(target):
            print(verb, words, "exit", ran.returncode, last)
        for name in os.listdir(os.path.dirname(target) or "."):
            if name.endswith(".tmp"):
                print(verb, words, "left", name)

def is_other(target):
    return os.path.exists(target) and open(target).read() == open("good/pairs").read()

with Folder() as folder:
    try_all(replacing(), "cp good/pairs other && mv other FILE", "another process changed or replaced the file in the meantime", is_other)
    try_all(replacing(), "cat good/pairs >FILE", "another process changed or replaced the file in the meantime", is_other)
    try_all(replacing(), "rm FILE", "the file was removed in the meantime", lambda target: not os.path.exists(target))
    try_all(making(), "cp good/pairs FILE", "another process created the file in the meantime", is_other)
END
