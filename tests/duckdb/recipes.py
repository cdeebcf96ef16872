#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/duckdb.md is true: every block of SQL and of commands is run, in order and in one session, and prints what the page shows; and
every function is named there, and nothing that does not exist.

    UPDATE=1 tests/duckdb/recipes.py     writes what came into the page: read the diff first
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import duck
from sql_page import FENCE, run_page

PAGE = os.path.join(duck.ROOT, "docs", "duckdb.md")


def shown(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    return "NULL" if value is None else str(value)


def table(columns, rows):
    """In columns, numbers on the right."""
    cells = [[shown(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[i]) for row in cells)]) for i, name in enumerate(columns)]
    is_number = [all(row[i] is None or isinstance(row[i], (int, float)) and not isinstance(row[i], bool) for row in rows) for i in range(len(columns))]
    lines = [" | ".join(name.center(width) for name, width in zip(columns, widths))]
    for row in cells:
        lines.append(" | ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in zip(row, widths, is_number)))
    dashes = "-" + "-+-".join("-" * width for width in widths) + "-"
    first, *rest = (f" {line}".rstrip() for line in lines)
    return "\n".join([first, dashes, *rest])


class Sql:
    """What a block prints: tables and errors, nothing for statements without rows."""

    def __init__(self, session):
        self.connection = session.connection

    def prints(self, text):
        parts = []
        for statement in self.connection.extract_statements(text):
            try:
                result = self.connection.execute(statement)
                rows = result.fetchall()
            except duck.duckdb.Error as e:
                parts.append("Error: " + str(e).split("\n\n")[0])
                continue
            columns = [column[0] for column in result.description]
            if columns not in (["Count"], ["Success"]):
                parts.append(table(columns, rows))
        return "\n\n".join(parts)


class Shell:
    """Commands of the page, in the directory of filters."""

    def __init__(self):
        programs = duck.path_of(".bin")
        os.mkdir(programs)
        os.symlink(os.path.abspath(duck.COMMAND), os.path.join(programs, "tamis"))
        self.environment = {**os.environ, "LC_ALL": "C", "PATH": programs + os.pathsep + os.environ["PATH"]}

    def prints(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=duck.FILES, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=self.environment, timeout=60, check=False)
        return done.stdout.rstrip("\n")


def check_names(tap, session, page):
    names = {row[0] for row in session.rows("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_name LIKE 'tamis\\_%' ESCAPE '\\'")}
    text = FENCE.sub("", page)
    tap.check(len(names) > 20, f"{len(names)} functions are looked for")
    tap.equal(sorted(n for n in names if not re.search(rf"`(FROM )?{n}\(", text)), [], "every function is named")
    tap.equal(sorted(set(re.findall(r"\btamis_\w+", page)) - names), [], "no function is named that does not exist")
    fields = session.one("SELECT tamis_info(tamis_build(1))")
    tap.equal([name for name in fields if not re.search(rf"\b{name}\b", text)], [], "every field of tamis_info is named")


def main():
    tap = duck.Tap()
    if not duck.HAS_GROUPS:
        tap.skip("docs/duckdb.md", "the page is about DuckDB 2.0")
        return tap.end()
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    os.chdir(duck.FILES)  # where blocks read and write files by DuckDB
    session = duck.open_database(threads=2)
    new = run_page(tap, page, Sql(session), Shell())
    check_names(tap, session, page)
    if os.environ.get("UPDATE") and new != page:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(new)
        print(f"# wrote {PAGE}")
    return tap.end()


sys.exit(main())
