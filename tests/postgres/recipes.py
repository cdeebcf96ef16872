#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/postgres.md is true: every block of SQL and of commands is run, in order and in one session, and prints what the page shows;
and every function, aggregate, operator, type and setting that users see is named there, and nothing that does not exist.

    UPDATE=1 tests/postgres/recipes.py     writes what came into the page: read the diff first
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pg
from sql_page import FENCE, run_page

PAGE = os.path.join(pg.ROOT, "docs", "postgres.md")
END = "=the end of the block="


class Psql:
    """As a user has it: with aligned outputs, and errors among them."""

    def __init__(self, server):
        command = [server.program("psql"), "-Xq", "-P", "footer=off", "-h", server.folder, "-d", "postgres", "-U", server.user]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env={**environment, "LC_ALL": "C", "PGCLIENTENCODING": "UTF8"})

    def prints(self, statements):
        """What comes for a block, without blanks at the ends of lines and empty lines around outputs."""
        self.process.stdin.write(f"{statements}\n\\echo {END}\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip() == END:
                return "\n".join(lines).strip("\n")
            lines.append(line.rstrip())
        return "\n".join([*lines, "psql has ended"])

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Shell:
    """Commands of the page, in the server's directory of filters."""

    def __init__(self, server, programs):
        self.server = server
        self.environment = {**os.environ, "LC_ALL": "C", "PATH": programs + os.pathsep + os.environ["PATH"]}

    def prints(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.server.filters, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=self.environment, timeout=60, check=False)
        if pg.IS_ROOT:
            for name in os.listdir(self.server.filters):
                shutil.chown(os.path.join(self.server.filters, name), pg.as_nobody()["user"], pg.as_nobody()["group"])
        return done.stdout.rstrip("\n")


# Functions that the server calls: of the type, of aggregates and of the planner. Those behind operators and in operator classes
# are named by their operators.
FUNCTIONS = """
SELECT DISTINCT p.proname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'tamis'
JOIN pg_proc p ON p.oid = d.objid WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
AND NOT ('internal'::regtype = ANY (p.proargtypes) OR 'cstring'::regtype = ANY (p.proargtypes))
AND p.prorettype NOT IN ('internal'::regtype, 'cstring'::regtype)
AND NOT EXISTS (SELECT FROM pg_type t WHERE p.oid IN (t.typsend, t.typreceive, t.typmodin))
AND NOT EXISTS (SELECT FROM pg_amproc a WHERE a.amproc = p.oid)
AND (p.proname IN ('tamis_has', 'tamis_is_in') OR NOT EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)) ORDER BY 1"""

OPERATORS = """
SELECT DISTINCT o.oprname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'tamis'
JOIN pg_operator o ON o.oid = d.objid WHERE d.classid = 'pg_operator'::regclass AND d.deptype = 'e' ORDER BY 1"""

TYPES = """
SELECT t.typname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'tamis'
JOIN pg_type t ON t.oid = d.objid WHERE d.classid = 'pg_type'::regclass AND d.deptype = 'e' AND t.typcategory <> 'A' ORDER BY 1"""

COLUMNS = """
SELECT unnest(p.proargnames) FROM pg_proc p WHERE p.oid = 'tamis_info(tamis)'::regprocedure EXCEPT SELECT 'filter' ORDER BY 1"""


def check_names(tap, server, page):
    session = server.session()
    session.one("SELECT tamis_version()")

    def names(query):
        return [row[0] for row in session.rows(query)]

    text = FENCE.sub("", page)
    functions, operators, types = names(FUNCTIONS), names(OPERATORS), names(TYPES)
    settings = names("SELECT name FROM pg_settings WHERE name LIKE 'tamis.%' ORDER BY 1")
    tap.check(len(functions) > 20 and len(operators) > 5 and len(types) == 2 and len(settings) > 2, "the extension has what is looked for")
    tap.equal([n for n in functions if not re.search(rf"\b{n}\(", text)], [], "every function and aggregate is named")
    tap.equal([n for n in operators if not re.search(rf"`[^`]*{re.escape(n)}[^`]*`", text)], [], "every operator is named")
    tap.equal([n for n in types if not re.search(rf"`{n}\b", text)], [], "every type is named")
    tap.equal([n for n in settings if f"`{n}`" not in text], [], "every setting is named")
    tap.equal([n for n in names(COLUMNS) if not re.search(rf"\b{n}\b", text)], [], "every column of tamis_info is named")
    mentioned = set(re.findall(r"\btamis_\w+", page))
    tap.equal(sorted(mentioned - {*functions, *types}), [], "no function is named that does not exist")
    mentioned = set(re.findall(r"`(tamis\.[a-z]\w*)`", text))
    tap.equal(sorted(mentioned - {*settings, "tamis.h"}), [], "no setting is named that does not exist")
    session.close()


def skip_without_contrib(tap):
    folder = os.path.join(pg.config("--sharedir"), "extension")
    lacks = [name for name in ("postgres_fdw", "pgcrypto") if not os.path.exists(os.path.join(folder, name + ".control"))]
    if lacks:
        tap.skip("docs/postgres.md", f"not installed: {', '.join(lacks)}")
        sys.exit(tap.end())


def main():
    pg.skip_unless_possible()
    tap = pg.Tap()
    skip_without_contrib(tap)
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    folder, programs = tempfile.mkdtemp(prefix="tamis-pg-"), tempfile.mkdtemp(prefix="tamis-bin-")
    os.symlink(os.path.abspath(pg.COMMAND), os.path.join(programs, "tamis"))
    # postgres_fdw finds the server by the environment, as it finds a usual one in its usual place.
    server = pg.Server([f"tamis.directory = '{folder}/filters'", "statement_timeout = '60s'"], folder, {"PGHOST": folder})
    try:
        server.start()
        psql = Psql(server)
        new = run_page(tap, page, psql, Shell(server, programs))
        psql.close()
        check_names(tap, server, page)
    finally:
        server.remove()
        shutil.rmtree(programs, ignore_errors=True)
    if os.environ.get("UPDATE") and new != page:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(new)
        print(f"# wrote {PAGE}")
    return tap.end()


sys.exit(main())
