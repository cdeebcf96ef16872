#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slips.py: every name that the command knows is suggested to those who mistype it.

For each name one letter is dropped, or two are swapped. Where that is nearer to this name than to
any other, by a second program's count, the command must suggest it.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import console


def run(*words):
    done = subprocess.run([console.TAMIS, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


def distance(a, b):
    """Letters added, dropped, changed, or swapped with their neighbour."""
    table = {(i, j): i + j for i in range(len(a) + 1) for j in range(len(b) + 1) if not i or not j}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            best = min(table[i - 1, j] + 1, table[i, j - 1] + 1,
                       table[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 2:i] == b[j - 2:j][::-1]:
                best = min(best, table[i - 2, j - 2] + 1)
            table[i, j] = best
    return table[len(a), len(b)]


def slips(name, names):
    """What hands make of a name that is still nearest to it, and is no start of another."""
    middle = len(name) // 2
    dropped = name[:middle] + name[middle + 1:]
    swapped = name[:middle - 1] + name[middle] + name[middle - 1] + name[middle + 1:]
    for slip in {dropped, swapped} - {name}:
        others = [other for other in names if other != name]
        is_start = any(other.startswith(slip) for other in others)
        if len(slip) > 1 and not is_start and all(distance(slip, other) > 1 for other in others):
            yield slip


def named(text):
    return re.findall(r"^  ([a-z-]+) {2,}", text, re.MULTILINE)


def allowed(text):
    """The list in a complaint."""
    return re.split("allowed: |there are ", text.strip(") \n"))[1].split(", ")


def sorts():
    """What there is, by what it is: the names, and the words of a command that mistypes one."""
    verbs = named(run("help", "more")[0].split("\nTopics:")[0])
    kinds = [kind["name"] for kind in json.loads(run("kinds", "--json")[0])["kinds"]]
    formats = [each["name"] for each in json.loads(run("formats", "--json")[0])["formats"]]
    steps = allowed(run("build", "-", "--canon", "-")[1])
    codes = allowed(run("build", "-", "--keys", "no-such-code")[1])
    topics = named(run("help", "more")[0].split("\nTopics:")[1])
    yield "verbs", verbs, lambda slip: [slip]
    yield "pages", verbs + topics, lambda slip: ["help", slip]
    yield "kinds", kinds, lambda slip: ["build", "x", "--kind", slip]
    yield "kinds of specs", kinds, lambda slip: ["create", "x", "--spec", slip + ":capacity=9"]
    yield "operands of kinds", kinds, lambda slip: ["kinds", slip]
    yield "formats", formats, lambda slip: ["convert", "--from", slip, "x", "y"]
    yield "formats to write", formats, lambda slip: ["convert", "--to", slip, "x", "y"]
    yield "steps", steps, lambda slip: ["build", "x", "--canon", "trim," + slip]
    yield "encodings", codes, lambda slip: ["build", "x", "--keys", slip]
    common = ["capacity", "fpr", "size", "bits", "hash", "seed", "key"]
    own = [option["name"] for option in json.loads(run("kinds", "blocked", "--json")[0])["kinds"][0]["options"]]
    yield "options of specs", common + own, lambda slip: ["create", "x", "--spec", "blocked:" + slip + "=9"]
    yield "choices", ["auto", "always", "never"], lambda slip: ["kinds", "--color", slip]
    for verb in verbs:
        options = re.findall(r"^ .*?--([a-z0-9-]+)", run(verb, "-h")[0], re.MULTILINE)
        yield f"options of {verb}", options, lambda slip, verb=verb: [verb, "--" + slip]


def main():
    tap = console.Tap()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for what, names, words in sorts():
            wrong, tried = [], 0
            for name in names:
                for slip in slips(name, names):
                    out, err, code = run(*words(slip))
                    tried += 1
                    if code != 2 or out or not re.search(f"did you mean .*?\\b{re.escape(name)}\\b", err):
                        wrong.append(f"{slip} for {name}: {err.strip()}")
            tap.result(tried and not wrong, f"{what}: {tried} slips", wrong)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
