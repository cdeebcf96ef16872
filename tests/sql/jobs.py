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
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
for part in ("support", "sqlite", "postgres", "duckdb"):
    sys.path.insert(0, os.path.join(ROOT, "tests", part))
import sq

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


class Sqlite:
    """A connection whose files are those of the folder."""

    def __init__(self, folder):
        self.db = sq.Database(directory=folder)

    def last(self, sql):
        """The rows of the last statement."""
        statement, rows = "", []
        for line in sql.splitlines():
            statement += line + "\n"
            if sq.sqlite3.complete_statement(statement):
                rows, statement = self.db.rows(statement), ""
        return rows

    def close(self):
        self.db.close()


class Postgres:
    """A server of its own."""

    def __init__(self, folder):
        import pg
        self.server = pg.Server([f"tamis.directory = '{folder}'"])
        os.chmod(folder, 0o755)
        self.session = self.server.start().with_extension()

    def last(self, sql):
        return self.session.rows(sql)

    def close(self):
        self.session.close()
        self.server.remove()


class Duckdb:
    """In memory."""

    def __init__(self, folder):
        import duck
        os.environ["TAMIS_DIRECTORY"] = folder
        os.chdir(folder)
        self.session = duck.open_database(threads=2)

    def last(self, sql):
        rows = []
        for statement in self.session.connection.extract_statements(sql):
            rows = self.session.connection.execute(statement).fetchall()
        return rows

    def close(self):
        self.session.connection.close()


def why_not_postgres():
    import pg
    return pg.why_not()


def why_not_duckdb():
    try:
        import duckdb  # noqa: F401
    except ImportError:
        return "this Python has no package duckdb"
    built = os.environ.get("TAMIS_DUCKDB", os.path.join(ROOT, "build", "duckdb", "tamis.duckdb_extension"))
    return None if os.path.exists(built) else f"{built} was not built"


ENGINES = {"SQLite": (sq.why_not, Sqlite), "PostgreSQL": (why_not_postgres, Postgres), "DuckDB": (why_not_duckdb, Duckdb)}


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
    if why_not_duckdb():
        sq.prefer_system()
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
