#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""guide.py: every command in docs/guide.md and docs/guide/ is run and prints what the page says.

    UPDATE=1 tests/house/guide.py     writes what came into the pages: read the diff first
"""
import glob
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import console

tap = console.Tap()


def passes(text):
    """For pages that are made to pass or to fail."""
    try:
        return all(console.matches(expected, actual)
                   for _, _, actual, expected in console.run_page(text))
    except console.BadPage:
        return False


def check_checker():
    page = "```text a.txt\nant\nbee\n```\ntext\n```console\n$ {}\n{}\n```\n"
    good = [("cat a.txt", "ant\nbee"), ("cat a.txt", "..."), ("cat a.txt", "...\nbee"),
            ("cat a.txt", "a...\nbee"), ("cat a.txt", "ant\n...\nbee"),
            ("printf x", "x"), ("false\n$ echo $?", "1"), ("a=7\n$ echo $a", "7"),
            ("echo oops >&2", "oops"), ("printf 'a\\n\\n'", "a\n")]
    bad = [("cat a.txt", "ant"), ("cat a.txt", "ant\nbee\ncow"), ("cat a.txt", "bee\nant"),
           ("cat a.txt", "ant\nbee "), ("cat a.txt", "b...\nbee"), ("cat a.txt", "...\nant"),
           ("cat b.txt", "ant\nbee"), ("true\n$ echo $?", "1"), ("echo oops >&2", "...\nno"),
           ("exit 3", "..."), ("echo $((", "..."), ("echo ant", "ant\n")]
    for command, output in good:
        tap.result(passes(page.format(command, output)),
                   f"the checker passes {command!r} with {output!r}")
    for command, output in bad:
        tap.result(not passes(page.format(command, output)),
                   f"the checker catches {command!r} with {output!r}")
    for name, text in {"a block of another sort": "```sh\nrm -rf x\n```\n",
                       "a block without a sort": "```\nx\n```\n",
                       "a block without an end": "```console\n$ true\n",
                       "a block without a command": "```console\nx\n```\n"}.items():
        tap.result(not passes(text), f"the checker catches {name}")


check_checker()
for page in [os.path.join("docs", "guide.md"), *sorted(glob.glob("docs/guide/*.md", root_dir=ROOT))]:
    console.check_page(tap, os.path.join(ROOT, page))
sys.exit(tap.end())
