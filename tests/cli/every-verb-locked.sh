# SPDX-License-Identifier: MIT
# Somebody holds the file: every verb that changes an image in place, or replaces a file, waits, and then says
# who it is; the file stays as it was.
if ! python3 -c 'import fcntl' 2>/dev/null; then echo "no python3"; exit 77; fi
. "$(dirname "$0")/every-verb.inc"
PYTHONPATH=$(dirname "$0") PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import fcntl
from writing_verbs import *

for verb, words, held in replacing():
    before = open(held, "rb").read()
    with open(held, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        ran = run(verb, "--wait 0 " + words)
        said = re.sub(r"(process) \d+ \(python[\d.]*\)|another process", "PROCESS", ran.stderr.decode()).strip()
    print(verb, "exit", ran.returncode, said, "" if open(held, "rb").read() == before else "CHANGED")
END
echo "-- in place also by another name"
ln -s good/blocked link
ln good/counting good/hard
python3 - <<'END'
import fcntl, subprocess
for held, words in (("good/blocked", "link"), ("good/counting", "good/counting -f -o good/hard"), ("good/blocked", "good/blocked -f -o link")):
    with open(held, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        print(words, subprocess.run(["tamis", "add", "-q", "--wait", "0", words.split()[0], "good/keys", *words.split()[1:]], stderr=subprocess.DEVNULL).returncode)
END
