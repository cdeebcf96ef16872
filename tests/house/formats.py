#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""formats.py: docs/formats.md runs, and has every format and every encoding that there is.

    UPDATE=1 tests/house/formats.py     writes what came into the page: read the diff first
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import console

PAGE = os.path.join(ROOT, "docs", "formats.md")


def formats():
    """What the command knows, by name."""
    printed = subprocess.run([console.TAMIS, "formats", "--json"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout
    return {format["name"]: format for format in json.loads(printed)["formats"]}


def encodings():
    """The command lists them for whoever names one that is none."""
    said = subprocess.run([console.TAMIS, "build", "-", "--keys", "none"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False).stderr
    return said.strip().split("there are ")[1].split(", ")


def rows(text, heading):
    """The first columns of the tables below a heading."""
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line.split("|")[1] for line in section.split("\n") if line.startswith("|")]


def missing(names, text):
    return [name for name in names if f"`{name}`" not in text]


def main():
    tap = console.Tap()
    console.check_page(tap, PAGE)
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    known = formats()
    table = "\n".join(rows(text, "The table"))
    lacks = missing(known, table)
    tap.result(known and not lacks, "every format is in the table", lacks)
    lacks = [name for name in known if not re.search(rf"\n(\$ |    ).*--(from|to) {name}(?![a-z0-9-])", text)]
    tap.result(not lacks, "every format has an example", lacks)
    lacks = missing(encodings(), "\n".join(rows(text, "Keys")))
    tap.result(len(encodings()) > 10 and not lacks, "every encoding is in its table", lacks)
    used = {key for format in known.values() for key in format["keys"]}
    lacks = sorted(used - set(encodings()))
    tap.result(not lacks, "formats name encodings that there are", lacks)
    tap.result(missing(["no-such-format"], table), "a format that is missing is noticed")
    sys.exit(tap.end())


main()
