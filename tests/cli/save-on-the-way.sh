# Keys that come through a pipe for days: saved on the way and at a signal, what was told to be new before
# what is saved, and half a line is no key.
if ! python3 -c 'import signal' 2>/dev/null; then echo "no python3"; exit 77; fi
tamis create -q empty --spec counting:capacity=1000
printf '%s\n' a b c | tamis build -q abc -k counting -
printf '%s\t1\n' a b c | tamis build -q map - --values --spec bloomier:update=yes
python3 - <<'END'
import os, shutil, signal, subprocess

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
admitting = start("admit", "-v", "--image", "memory")
say(admitting, "new\n")
end(admitting, signal.SIGTERM)
print("admit", subprocess.run(["tamis", "admit", "-q", "--image", "memory"], input=b"new\nnewer\n", stdout=subprocess.PIPE).stdout)
left()
END
echo "-- bad"
echo k | tamis add empty --save-every often
echo "exit $?"
