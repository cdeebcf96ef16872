#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""links.py: every link between our pages leads to a file that exists, and to a heading in it."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "support"))
import console

tap = console.Tap()
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")


def anchors(text):
    """The names that headings of a page have on the usual hosts of repositories."""
    names = set()
    for title in re.findall(r"^#+ (.*)", FENCE.sub("", text), re.M):
        title = LINK.sub(lambda m: m.group(0)[1:m.group(0).index("]")], title)
        names.add(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"))
    return names


def dead_links(page, text):
    """The links of a page that lead nowhere; `page` is its path."""
    for link in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
        if not target.exists():
            yield link
        elif anchor and anchor not in anchors(text if target == page else target.read_text()):
            yield link


def check_checker():
    page = ROOT / "README.md"
    text = "# One *page*: 2\n[a](#one-page-2) [b](LICENSE) [c](https://example.org/#x)\n"
    tap.result(not list(dead_links(page, text)), "the checker passes links that lead somewhere")
    for name, link in {"a missing file": "NOWHERE.md", "a missing heading": "#two",
                       "a missing heading of another page": "CONTRIBUTING.md#nowhere"}.items():
        tap.result(list(dead_links(page, text + f"[d]({link})\n")) == [link],
                   f"the checker catches {name}")
    tap.result(not list(dead_links(page, text + "```\n[d](NOWHERE.md)\n```\n")),
               "the checker skips code")


check_checker()
for page in sorted([*ROOT.glob("*.md"), ROOT / "tests" / "README.md", *ROOT.glob("docs/**/*.md")]):
    dead = list(dead_links(page, page.read_text()))
    tap.result(not dead, f"links of {page.relative_to(ROOT)}", dead)
sys.exit(tap.end())
