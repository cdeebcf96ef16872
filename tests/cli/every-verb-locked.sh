# Somebody holds the file: every verb that changes an image in place, or replaces a file, waits, and then says
# who it is; the file stays as it was. Which verbs these are, the help says: one without a case here is told.
if ! python3 -c 'import fcntl' 2>/dev/null; then echo "no python3"; exit 77; fi
. "$(dirname "$0")/every-verb.inc"
tamis admit -q --image good/memory good/keys >/dev/null
tamis cut -q good/blocked --shards 2 -o good/shards
python3 - <<'END'
import fcntl, re, subprocess

case = {  # words, and the file that is held
    "build": ("-f HELD good/keys", "blocked"), "create": ("-f HELD -n 10", "blocked"),
    "add": ("HELD good/keys", "blocked"), "remove": ("HELD good/keys", "counting"),
    "put": ("HELD good/pairs", "map"), "label": ("HELD more good/keys", "labels"),
    "admit": ("--image HELD good/keys", "memory"), "sketch": ("-f HELD good/keys", "blocked"),
    "record": ("HELD good/keys", "traffic"), "union": ("good/blocked good/later -f -o HELD", "later"),
    "intersect": ("good/blocked good/later -f -o HELD", "later"), "fold": ("good/blocked 1 -f -o HELD", "later"),
    "diff": ("good/blocked good/later -f -o HELD", "patch"), "apply": ("HELD good/patch", "blocked"),
    "resize": ("HELD -n 5000", "quotient"), "tick": ("HELD", "window"), "set-data": ("HELD", "blocked"),
    "cut": ("good/blocked --shards 2 -f -o good/shards", "shards/0.tamis"),
    "assemble": ("good/shards/0.tamis good/shards/1.tamis -f -o HELD", "blocked"),
    "announce": ("HELD -o made --now", "told"), "neighbours": ("good/peers --hear a good/message", "peers/a.tamis"),
    "convert": ("good/blocked HELD -f", "blocked"),
}
options = subprocess.run(["tamis", "help"], stdout=subprocess.PIPE).stdout.decode()
verbs = re.findall(r"^  ([a-z][a-z-]*)  +[a-z]", options, re.M)
waiting = [v for v in verbs if "--wait SECONDS" in subprocess.run(["tamis", "help", v], stdout=subprocess.PIPE).stdout.decode()]
print("verbs without a case:", *(set(waiting) - set(case)), "; cases without a verb:", *(set(case) - set(waiting)))
for verb in waiting:
    words, name = case[verb]
    held = "good/" + name
    before = open(held, "rb").read()
    with open(held, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        ran = subprocess.run(["tamis", verb, "--wait", "0", *words.replace("HELD", held).split()], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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
