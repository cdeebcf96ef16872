#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The places of engines/duckdb/duck_api.def are those of DuckDB's own header, which DUCKDB_HEADER names: duckdb_extension.h."""
import os
import re
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from tap import Tap  # noqa: E402

STABLE = 357  # functions of v1.2.0; what follows may move


def ours():
    with open(os.path.join(ROOT, "engines", "duckdb", "duck_api.def"), encoding="utf-8") as file:
        return [(int(place), name) for place, name in re.findall(r"^SLOT\((\d+), [^,]+, (\w+),", file.read(), re.M)]


def theirs(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    table = text[text.index("typedef struct {"):]
    return re.findall(r"\(\*duckdb_(\w+)\)", table[:table.index("\n} ")])


def main():
    tap = Tap()
    slots = ours()
    tap.check(len(slots) > 60 and all(place < STABLE for place, _ in slots), f"{len(slots)} functions, all of the stable ones")
    tap.check(slots == sorted(set(slots)) and len({name for _, name in slots}) == len(slots), "each once, in order")
    header = os.environ.get("DUCKDB_HEADER", "")
    if not os.path.exists(header):
        tap.skip("the places of DuckDB's header", "there is no header: make duckdb-test-all fetches one")
        return tap.end()
    names = theirs(header)
    tap.check(len(names) > STABLE, f"the header has {len(names)}")
    tap.equal([(place, name) for place, name in slots if names[place] != name], [], "every function is at its place")
    return tap.end()


sys.exit(main())
