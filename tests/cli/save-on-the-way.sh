# SPDX-License-Identifier: MIT
# Keys that come through a pipe for days: saved on the way and at a signal, what was told to be new before
# what is saved, and half a line is no key.
if ! python3 -c 'import signal' 2>/dev/null; then echo "no python3"; exit 77; fi
tamis create -q empty --spec counting:capacity=1000
printf '%s\n' a b c | tamis build -q abc -k counting -
printf '%s\t1\n' a b c | tamis build -q map - --values --spec bloomier:update=yes
printf '%s\n' a b c | tamis build -q sets --label all -
PYTHONPATH=$(dirname "$0") PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
from writing_verbs import help_of, overview
import os, re, shutil, signal, subprocess

def start(*words):
    return subprocess.Popen(["tamis", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

def say(process, text, echo=True):
    process.stdin.write(text.encode())
    process.stdin.flush()
    if echo:  # What is printed was taken.
        for line in text.split("\n")[:-1]:
            assert process.stdout.readline().decode() == line + "\n"

def end(process, number):
    process.send_signal(number)
    out, err = process.communicate()
    print("ended by", signal.Signals(-process.returncode).name, out.decode() + err.decode().replace("\n", " ").strip())

def inside(image, keys):
    out = subprocess.run(["tamis", "check", image], input="\n".join(keys).encode() + b"\n", stdout=subprocess.PIPE).stdout
    return out.decode().split()

def left():
    print("files:", *sorted(os.listdir(".")))

# Those that change an image by what they read, and those that say that they save.
tried = {"add", "remove", "put", "label", "record", "admit"}
says = {verb for verb in overview() if "--save-every" in help_of(verb)}
reads = {verb for verb in overview() if "--output OUT" in help_of(verb) and re.search(r"^Usage: .* IMAGE.*FILE\.\.\.", help_of(verb), re.M)}
print("all that may take days save on the way:", reads <= says, "; all that say so are tried:", says == tried)

print("-- a signal")
for number in (signal.SIGTERM, signal.SIGINT):
    shutil.copy("empty", "x")
    adding = start("add", "--new", "x")
    say(adding, "one\ntwo\n")
    say(adding, "thr", echo=False)
    end(adding, number)
    print(*inside("x", ["one", "two", "thr"]))

print("-- a number of lines, and death")
shutil.copy("empty", "x")
adding = start("add", "--new", "--save-every", "3", "x")
say(adding, "1\n2\n3\n4\n")
say(adding, "5\n")  # By now those before it are saved.
end(adding, signal.SIGKILL)
print(*inside("x", ["1", "2", "3", "4", "5"]))

print("-- a time, while nothing comes")
shutil.copy("empty", "x")
adding = start("add", "--new", "--save-every", "1s", "x")
say(adding, "1\n2\n")
while len(inside("x", ["1", "2"])) < 2:
    assert adding.poll() is None
end(adding, signal.SIGKILL)
print(*inside("x", ["1", "2"]))

print("-- to another file")
adding = start("add", "--new", "abc", "-", "-o", "y")
say(adding, "d\n")
end(adding, signal.SIGTERM)
print(*inside("abc", ["c", "d"]), "and", *inside("y", ["c", "d"]))

print("-- at the end only")
shutil.copy("empty", "x")
adding = start("add", "--new", "--save-every", "0", "x")
say(adding, "1\n")
end(adding, signal.SIGTERM)
print(*inside("x", ["1"]))

# These print nothing while they go on; more than a pipe holds was written, so they have taken some.
print("-- others")
shutil.copy("abc", "x")
removing = start("remove", "-q", "x")
removing.stdin.write(b"c\n" * 40000)
removing.stdin.flush()
end(removing, signal.SIGTERM)
print("remove", *inside("x", ["a", "b", "c"]))
shutil.copy("map", "x")
putting = start("put", "-q", "x")
putting.stdin.write(b"a\t0\n" * 40000)
putting.stdin.flush()
end(putting, signal.SIGTERM)
print("put", subprocess.run(["tamis", "get", "x"], input=b"a\nb\n", stdout=subprocess.PIPE).stdout)
shutil.copy("sets", "x")
labelling = start("label", "-q", "x", "more")
labelling.stdin.write(b"d\n" * 40000)
labelling.stdin.flush()
end(labelling, signal.SIGTERM)
print("label", subprocess.run(["tamis", "check", "x", "--labels"], input=b"a\nd\n", stdout=subprocess.PIPE).stdout)
shutil.copy("sets", "x")
labelling = start("label", "-q", "x", "more", "--save-every", "1s")
labelling.stdin.write(b"d\n")
labelling.stdin.flush()
while inside("x", ["d"]) != ["d"]:
    assert labelling.poll() is None
labelling.stdin.write(b"e\n")
labelling.stdin.flush()
while inside("x", ["e"]) != ["e"]:  # by another builder
    assert labelling.poll() is None
end(labelling, signal.SIGKILL)
print("label", subprocess.run(["tamis", "check", "x", "--labels"], input=b"a\nd\ne\n", stdout=subprocess.PIPE).stdout)

def payload(letter):
    return letter * 200

def traced(*letters):
    out = [subprocess.run(["tamis", "trace", "-q", "traffic"], input=payload(letter)[:150].encode()).returncode for letter in letters]
    return " ".join(letter for letter, code in zip(letters, out) if code == 0)

recording = start("record", "-q", "--lines", "traffic", "-", "-n", "10000", "--save-every", "1s")
recording.stdin.write(payload("a").encode() + b"\n")
recording.stdin.flush()
while not os.path.exists("traffic") or traced("a") != "a":
    assert recording.poll() is None
recording.stdin.write(payload("b").encode() + b"\n" + payload("c").encode() * 400)  # more than a pipe holds
recording.stdin.flush()
end(recording, signal.SIGTERM)
print("record", traced("a", "b", "c"))
os.remove("traffic")
with open("one", "w") as file:
    file.write(payload("a"))
for first in ("one", "-"):  # half a payload is none, and an image of no payloads is not made
    recording = start("record", "-q", "traffic", first, *(["-"] if first != "-" else []), "-n", "10000")
    recording.stdin.write(payload("b").encode() * 800)
    recording.stdin.flush()
    end(recording, signal.SIGTERM)
    print("record", traced("a", "b") if os.path.exists("traffic") else "nothing")
    if os.path.exists("traffic"):
        os.remove("traffic")
os.remove("one")
admitting = start("admit", "-v", "--image", "memory")
say(admitting, "new\n")
end(admitting, signal.SIGTERM)
print("admit", subprocess.run(["tamis", "admit", "-q", "--image", "memory"], input=b"new\nnewer\n", stdout=subprocess.PIPE).stdout)
left()
END
echo "-- bad"
echo k | tamis add empty --save-every often
echo "exit $?"
