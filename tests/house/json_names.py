#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""json_names.py: docs/json.md has the names and types that --json prints, no more and no fewer.

Each section of the page has a table of names and commands with --json. All commands are run; what
those of a section print together must be what its table says.
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

PAGE = os.path.join(ROOT, "docs", "json.md")
ROW = re.compile(r"^\| `([^`]+)` \| ([a-z ]+) \|")


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_text(value):
    return isinstance(value, str)


def array_of(test):
    return lambda value: isinstance(value, list) and all(map(test, value))


def object_of(test):
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


def is_pair(value):
    return array_of(is_number)(value) and len(value) == 2


TESTS = {
    "text": is_text, "count": is_count, "number": is_number,
    "bool": lambda value: isinstance(value, bool), "null": lambda value: value is None,
    "array of text": array_of(is_text), "array of numbers": array_of(is_number),
    "array of numbers and nulls": array_of(lambda value: value is None or is_number(value)),
    "array of pairs": array_of(is_pair), "array of objects": array_of(lambda o: isinstance(o, dict)),
    "object of counts": object_of(is_count), "object of text": object_of(is_text)}


def documented(text):
    """{section: {name: type}} of the tables, in order."""
    sections, names = {}, None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("## "):
            names = sections.setdefault(line[3:], {})
        row = ROW.match(line)
        if row:
            name, types = row.groups()
            if name in names:
                raise ValueError(f"line {number}: {name} stands there twice")
            for word in types.split(" or "):
                if word not in TESTS:
                    raise ValueError(f"line {number}: there is no type {word}")
            names[name] = types
    return sections


def values_in(value, types, path=""):
    """(name, value) of everything in an object; what the page calls "object of" is one value."""
    for name, inside in value.items():
        name = path + name
        yield name, inside
        if types.get(name) == "array of objects" and isinstance(inside, list):
            for item in inside:
                yield from values_in(item, types, name + "[].")


def complaints(types, objects):
    """What is wrong between the table and the objects of one section."""
    seen = set()
    for value in objects:
        for name, inside in values_in(value, types):
            seen.add(name)
            if name not in types:
                yield f"{name} is printed and not documented"
            elif not any(TESTS[word](inside) for word in types[name].split(" or ")):
                yield f"{name} is documented as {types[name]} and printed as {inside!r}"
        # Every object of one level has the same names; the page says where some are left out.
        for name in types:
            if "[]" not in name and name not in value:
                yield f"{name} is missing in an object"
    for name in types:
        if name not in seen:
            yield f"{name} is documented and not printed"


def section_of(text, line):
    """The heading above a line."""
    titles = [title[3:] for title in text.split("\n")[:line] if title.startswith("## ")]
    return titles[-1] if titles else None


def verbs_with_json():
    """The verbs of the overview whose options have --json."""
    def printed(*words):
        return subprocess.run([console.TAMIS, *words], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
    listed = printed("help", "more").split("\nTopics:")[0]
    verbs = re.findall(r"^  ([a-z-]+) {2,}", listed, re.MULTILINE)
    return {verb for verb in verbs if re.search(r"--json\b", printed(verb, "-h"))}


def check_checker(tap):
    types = {"a": "count", "b": "array of objects", "b[].c": "text or null"}
    good = {"a": 1, "b": [{"c": "x"}, {"c": None}]}
    tap.result(not list(complaints(types, [good])), "the checker passes what is right")
    for what, bad in {"a name more": dict(good, d=1), "a name less": {"a": 1},
                      "another type": dict(good, a="1"), "null for a count": dict(good, a=None),
                      "a name more inside": dict(good, b=[{"c": "x", "d": 1}]),
                      "nothing inside": dict(good, b=[])}.items():
        tap.result(list(complaints(types, [bad])), f"the checker catches {what}")


def main():
    tap = console.Tap()
    check_checker(tap)
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    sections, objects = documented(text), {}
    for block, command, actual, _ in console.check_page(tap, PAGE):
        if "--json" in command:
            objects.setdefault(section_of(text, block.line), []).extend(
                json.loads(line) for line in actual if line.startswith("{"))
    for section, types in sections.items():
        wrong = sorted(set(complaints(types, objects.get(section, []))))
        if section == "cluster":  # needs servers: tests/redis/cluster.py compares its names
            continue
        tap.result(types and not wrong, f"names of {section}", wrong)
    have, are = verbs_with_json(), {section.split()[0] for section in sections}
    tap.result(len(have) > 5 and have == are, "a section for each verb with --json, and no other",
               ["without a section: " + " ".join(have - are), "no such verb: " + " ".join(are - have)])
    sys.exit(tap.end())


main()
