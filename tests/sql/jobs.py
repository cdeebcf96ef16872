#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/sql.md is true: each job returns the same rows in every engine of SQL that is installed; others are skipped with a line.

    tests/sql/jobs.py [ENGINE...]      DuckDB needs a Python with its package
"""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engines import ENGINES, ROOT, prefer_system, sq

PAGE = os.path.join(ROOT, "docs", "sql.md")
PART = re.compile(r"^## (?P<job>[^\n]*)\n|^(?P<engine>PostgreSQL|SQLite|DuckDB):\n\n```sql\n(?P<sql>.*?)^```\n"
                  r"|^```console\n(?P<console>.*?)^```\n|^```text\n(?P<text>.*?)^```\n", re.M | re.S)


def jobs_of(page):
    """Pairs of a name and a dict: commands, SQL by engine, wanted rows."""
    jobs = []
    for part in PART.finditer(page):
        if part["job"]:
            jobs.append((part["job"], {"console": ""}))
        elif part["engine"]:
            jobs[-1][1][part["engine"]] = part["sql"]
        elif part["console"]:
            jobs[-1][1]["console"] += part["console"]
        else:
            jobs[-1][1]["text"] = part["text"]
    return jobs


def shown(rows):
    return "".join("|".join(map(str, row)) + "\n" for row in rows)


def run_commands(console, folder):
    for line in console.splitlines():
        if line.startswith("$ "):
            programs = os.path.dirname(os.path.abspath(sq.COMMAND)) + os.pathsep + os.environ["PATH"]
            subprocess.run(["bash", "-c", line[2:]], cwd=folder, env={**os.environ, "PATH": programs}, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=True)


def run_engine(tap, name, jobs, folder):
    why_not, make = ENGINES[name]
    if why_not():
        tap.skip(name, why_not())
        return
    engine = make(folder)
    for job, parts in jobs:
        tap.equal(shown(engine.last(parts[name])), parts["text"], f"{name}: {job}")
    engine.close()


def main():
    prefer_system()
    tap = sq.Tap()
    with open(PAGE, encoding="utf-8") as file:
        jobs = jobs_of(file.read())
    tap.check(len(jobs) == 5 and all({*ENGINES, "text"} <= parts.keys() for _, parts in jobs), "every job is done in every engine")
    with tempfile.TemporaryDirectory(prefix="tamis-sql-") as folder:
        for _, parts in jobs:
            run_commands(parts["console"], folder)
        for name in sys.argv[1:] or ENGINES:
            run_engine(tap, name, jobs, folder)
        os.chdir(ROOT)
    return tap.end()


sys.exit(main())
