# SPDX-License-Identifier: MIT
"""Imported by the every-verb tests: how each verb writes files. Which verbs do, the help says; one that has no
case here, or a case that has no verb, is told."""
import functools
import os
import re
import shutil
import subprocess

# Words, with HELD for the file that is replaced or changed, and its name in good/. Where there is -f, the same
# without it makes a new file.
CASES = {
    "build": [("-f HELD good/pairs", "blocked"), ("-f HELD good/keys -k fuse", "blocked")],
    "create": [("-f HELD -n 10", "blocked")],
    "add": [("HELD good/pairs", "blocked"), ("HELD good/pairs --save-every 500", "counting"),
            ("good/blocked good/keys -f -o HELD", "later")],
    "remove": [("HELD good/keys", "counting")],
    "put": [("HELD good/moved", "map")],
    "label": [("HELD more good/keys", "labels"), ("HELD all good/pairs --replace", "labels"),
              ("HELD --remove all", "labels"), ("HELD all --rename every", "labels")],
    "admit": [("--image HELD good/pairs", "memory")],
    "reconcile": [("good/keys good/pairs -f -o HELD", "later"), ("--write-stream good/keys -f -o HELD", "later")],
    "sketch": [("-f HELD good/keys", "blocked")],
    "record": [("HELD good/keys", "traffic")],
    "union": [("good/blocked good/later -f -o HELD", "later")],
    "intersect": [("good/blocked good/later -f -o HELD", "later")],
    "fold": [("good/blocked 2 -f -o HELD", "later")],
    "diff": [("good/later good/blocked -f -o HELD", "patch")],
    "apply": [("HELD good/patch", "blocked"), ("good/blocked good/patch -f -o HELD", "counting")],
    "keygen": [("-f HELD", "key")],
    "resize": [("HELD -n 5000", "quotient")],
    "tick": [("HELD", "window")],
    "set-data": [("HELD", "blocked")],
    "publish": [("-q good/lists good/feeds", "feeds/tamis.index"), ("-q good/lists good/feeds", "feeds/a.tamis")],
    "sync": [("-q good/newer good/synced", "synced/tamis.sync"), ("-q good/newer good/synced", "synced/a.tamis")],
    "cut": [("good/later --shards 2 -f -o HELD/..", "shards/0.tamis")],
    "assemble": [("good/shards/0.tamis good/shards/1.tamis -f -o HELD", "later")],
    "announce": [("HELD -o made.message --now", "told"), ("good/told --full -f -o HELD", "message")],
    "neighbours": [("good/peers --receive a good/news", "peers/a.tamis")],
    "convert": [("good/blocked HELD -f", "later"), ("good/prints HELD --to fps -f", "prints.fps")],
    "plot": [("rate -f -o HELD", "later")],
}

# The files of one go to a new folder, under their own names: nothing is replaced, nobody waits. The other needs
# servers: tests/redis/cluster.py.
APART = {"partition", "cluster"}


def run(verb, words, **more):
    with open("good/keys") as keys:
        return subprocess.run(["tamis", verb, *words.split()], stdin=keys, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **more)


class Folder:
    """The folder good, as it was, again and again."""

    def __enter__(self):
        shutil.copytree("good", "../kept")
        return self

    def __exit__(self, *_):
        shutil.rmtree("../kept")

    def renew(self):
        for left in os.listdir("."):
            shutil.rmtree(left) if os.path.isdir(left) else os.remove(left)
        shutil.copytree("../kept", "good")


def answers(path):
    """An image that is there can be asked."""
    if os.path.isfile(path) and open(path, "rb").read(8) == b"\xd6tamis\x1a\n":
        asked = run("info", path)
        if asked.returncode:
            print(path, "does not answer:", asked.stderr.decode().strip())


@functools.lru_cache(maxsize=None)
def help_of(verb):
    return subprocess.run(["tamis", "help", verb], stdout=subprocess.PIPE).stdout.decode()


def overview():
    """All verbs, in the order of the help."""
    text = subprocess.run(["tamis", "help", "more"], stdout=subprocess.PIPE).stdout.decode()
    return re.findall(r"^  ([a-z][a-z-]*)  +[a-z]", text.split("\nTopics:")[0], re.M)


@functools.lru_cache()
def writing_verbs():
    """In the order of the help, after a line about what is missing."""
    if "signatures: none" in subprocess.run(["tamis", "--version"], stdout=subprocess.PIPE).stdout.decode():
        del CASES["keygen"]
        APART.add("keygen")
    found = [v for v in overview() if re.search(r"^  .*--(wait|force|output)\b", help_of(v), re.M)]
    print("verbs without a case:", *sorted(set(found) - set(CASES) - APART), "; cases without a verb:",
          *sorted(set(CASES) - set(found)), "; without --wait:", *(v for v in set(found) - {"partition"} if "--wait SECONDS" not in help_of(v)))
    return [v for v in found if v in CASES]


def replacing():
    """Verb, words and file, for every case."""
    for verb in writing_verbs():
        for words, name in CASES[verb]:
            held = "good/" + name
            yield verb, words.replace("HELD/..", held.rpartition("/")[0]).replace("HELD", held), held


def making():
    """The same for a file that is not there yet."""
    for verb in sorted(CASES):
        for words, name in CASES[verb]:
            if " -f " in f" {words} ":
                new = f" {words} ".replace(" -f ", " ").strip()
                made = "made/" + name.rpartition("/")[2] if "HELD/.." in words else "made"
                yield verb, new.replace("HELD/..", "made").replace("HELD", made), made
