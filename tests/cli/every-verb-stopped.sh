# SPDX-License-Identifier: MIT
# Ctrl-C while keys are awaited: the command ends by that signal, and nothing is left behind, except
# what verbs save that take in keys for days.
if ! python3 -c 'import signal' 2>/dev/null; then echo "no python3"; exit 77; fi
. "$(dirname "$0")/every-verb.inc"
python3 - <<'END'
import os, signal, subprocess
for words in ("build made -", "add -q good/counting - -o made", "remove -q good/counting - -o made",
              "check good/blocked", "count good/counting", "get good/map", "put -q good/map - -o made",
              "label -q good/labels more - -o made", "label -q good/labels all - --replace -o made", "doctor good/blocked --members -", "bench -",
              "plan --sample -", "set-data good/blocked -o made", "info -",
              "uniq", "uniq --exact", "admit -v", "count --top 3", "semijoin - good/keys", "semijoin good/keys -",
              "diff good/blocked - -o made", "apply good/blocked - -o made", "convert - made",
              "convert - made --from guava", "record made - -n 1000", "record -q --lines made - -n 1000", "trace good/traffic",
              "neighbours good/peers", "neighbours made --receive a -", "search good/prints",
              "reconcile - good/keys -o made", "reconcile --write-stream - -o made"):
    for number in (signal.SIGINT, signal.SIGTERM):
        # Who runs in the background may have been told to ignore Ctrl-C.
        command = subprocess.Popen(["tamis", *words.split()], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        command.stdin.write(b"1\t1\n" * 100000)  # More than any buffer: it has begun to read.
        command.stdin.flush()
        command.send_signal(number)
        command.wait()
        print(words, "ended by", signal.Signals(-command.returncode).name if command.returncode < 0 else command.returncode)
        left = sorted(set(os.listdir(".")) - {"good"})
        if left:
            print("left behind:", *left)
        if "made" in left and words.split()[0] in ("add", "remove", "put", "label", "record"):
            os.remove("made")
END
