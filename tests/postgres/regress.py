#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `make installcheck` runs for a packager, by the server's own programs: pg_regress and the tester of several sessions.

    UPDATE=1 tests/postgres/regress.py      records what they print now; read the diff"""
import os
import shutil
import subprocess
import sys

import pg
from pg import Server, Tap

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "regress")
tap = Tap()


def names(folder, ending):
    return sorted(name[:-len(ending)] for name in os.listdir(os.path.join(HERE, folder)) if name.endswith(ending))


def run(server, program, tests):
    """One of the server's programs, in a folder of its own."""
    path = os.path.join(os.path.dirname(pg.config("--pgxs")), "..", "test", program)
    if not os.path.exists(path):
        tap.skip(program, "it is not installed with PGXS")
        return
    out = os.path.join(server.folder, os.path.basename(program))
    server.run("mkdir", out)
    done = subprocess.run([path, f"--inputdir={HERE}", f"--outputdir={out}", f"--bindir={server.bin}", f"--host={server.folder}",
                           f"--user={server.user}", "--dbname=checked", "--load-extension=tamis", *tests],
                          capture_output=True, text=True, cwd=out, check=False, **pg.as_nobody())
    if os.environ.get("UPDATE"):
        for name in tests:
            shutil.copyfile(os.path.join(out, "results", name + ".out"), os.path.join(HERE, "expected", name + ".out"))
    tap.check(done.returncode == 0, f"{program}: {', '.join(tests)}")
    if done.returncode:
        differences = os.path.join(out, "regression.diffs")
        said = open(differences, encoding="utf-8").read() if os.path.exists(differences) else done.stdout + done.stderr
        print("# " + said.replace("\n", "\n# "))


def main():
    pg.skip_unless_possible()
    with Server() as server:
        server.start()
        run(server, "regress/pg_regress", names("sql", ".sql"))
        run(server, "isolation/pg_isolation_regress", names("specs", ".spec"))
    with open(os.path.join(pg.SOURCES, "Makefile"), encoding="utf-8") as file:
        rules = file.read()
    for variable, tests in (("REGRESS", names("sql", ".sql")), ("ISOLATION", names("specs", ".spec"))):
        tap.check(f"\n{variable} = {' '.join(tests)}\n" in rules.replace("  ", " ").replace("  ", " "), f"make installcheck runs {variable}")
    return tap.end()


sys.exit(main())
