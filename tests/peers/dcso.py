#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The other side of dcso.sh: the tool bloom, as lines that peer.c describes.

    dcso.py write < WISHES > CASES   filters made by the tool, with its answers
    dcso.py read < CASES             are our bytes and answers those of the tool?

"how N P DATA" says for what; DATA is a line of text for set-data, or "-". The tool takes a key a
line.
"""
import os
import subprocess
import sys

path = os.path.join(sys.argv[2], "filter.bloom")


def bloom(*words, lines=()):
    text = b"".join(line + b"\n" for line in lines)
    return subprocess.run(["bloom", *words, path], input=text, stdout=subprocess.PIPE, check=True).stdout


def content():
    with open(path, "rb") as file:
        return file.read()


def make(t):
    n, p, data = t["how"].split()
    if os.path.exists(path):
        os.unlink(path)
    bloom("create", "-n", n, "-p", p)
    if t["add"]:
        bloom("insert", lines=t["add"])
    if data != "-":
        bloom("set-data", lines=[data.encode()])


def answers(t):
    found = set(bloom("check", lines=t["ask"]).split(b"\n")[:-1])
    return [key in found for key in t["ask"]]


def trials():
    t = {}
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "case":
            t = {"case": rest, "add": [], "ask": [], "hit": []}
        elif word == "add":
            t["add"].append(bytes.fromhex(rest))
        elif word == "ask":
            t["ask"].append(bytes.fromhex(rest[2:]))
            t["hit"].append(rest[0] == "1")
        elif word == "bytes":
            t["bytes"] = bytes.fromhex(rest)
        elif word == "end":
            yield t
        else:
            t[word] = rest


def write(t):
    make(t)
    hit = answers(t)
    print("case", t["case"])
    print("how", t["how"])
    if t["how"].endswith("-"):
        print("spec", t["spec"])
        for key in t["add"]:
            print("add", key.hex())
    print("bytes", content().hex())
    for key, is_in in zip(t["ask"], hit):
        print("ask", int(is_in), key.hex())
    print("end")


def check(t, number):
    with open(path, "wb") as file:
        file.write(t["bytes"])
    for made in "read", "made anew":
        if made == "made anew":
            make(t)
        if answers(t) != t["hit"]:
            sys.exit("filter %d, %s, %s: other answers" % (number, t["how"], made))
        if content() != t["bytes"]:
            sys.exit("filter %d, %s, %s: other bytes" % (number, t["how"], made))


count = asked = 0
for trial in trials():
    count += 1
    asked += 2 * len(trial["ask"])
    if sys.argv[1] == "write":
        write(trial)
    else:
        check(trial, count)
if sys.argv[1] == "read":
    print("%d filters, %d answers" % (count, asked))
