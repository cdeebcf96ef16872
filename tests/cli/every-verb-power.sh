# SPDX-License-Identifier: MIT
# The power fails at any point of every verb that writes: each file is what it was before or what it is
# after the verb, and once the verb has ended, that; tests/support/power.h says what a disk may lose.
if ! python3 -c 'import re' 2>/dev/null; then echo "no python3"; exit 77; fi
if [ ! -x "$TAMIS_ON_A_DISK" ]; then echo "no $TAMIS_ON_A_DISK: make programs"; exit 77; fi
. "$(dirname "$0")/every-verb.inc"
PYTHONPATH=$(dirname "$0") PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import itertools, os, re
from writing_verbs import *

cases = points = states = 0
asked = set()
told = os.path.abspath("../told")
others = [("partition", "good/keys -n 2000 --shards 2 --packed -o made", "made"),
          ("neighbours", "made --receive a good/message", "made/a.tamis")]
with Folder() as folder:
    for verb, words, target in itertools.chain(replacing(), making(), others):
        folder.renew()
        ran = run(verb, words, executable=os.environ["TAMIS_ON_A_DISK"], env={**os.environ, "TAMIS_POWER": told})
        said = open(told).read().strip()
        os.remove(told)
        counts = re.fullmatch(r"(\d+) points, (\d+) states", said)
        if ran.returncode not in (0, 1) or not counts:
            print(verb, words, "exit", ran.returncode, ran.stderr.decode().strip(), said)
            continue
        cases, points, states = cases + 1, points + int(counts[1]), states + int(counts[2])
        # Since there is nothing but the old and the new file, it is enough that these answer.
        answers(target)
        if target not in asked:
            folder.renew()
            answers(target)
            asked.add(target)
with open("../figures", "w") as out:
    print(cases, "cases,", points, "points,", states, "states", file=out)
END
[ -z "${FIGURES:-}" ] || cp ../figures "$FIGURES"
