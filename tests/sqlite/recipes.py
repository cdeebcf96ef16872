#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/sqlite.md is true: every block of SQL and of commands is run, in order and in one session of the shell sqlite3, and prints what
the page shows; and every function is named there, and nothing that does not exist.

    UPDATE=1 tests/sqlite/recipes.py     writes what came into the page: read the diff first
"""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sq
from sql_page import FENCE, run_page

PAGE = os.path.join(sq.ROOT, "docs", "sqlite.md")
END = "=the end of the block="


class Sqlite:
    """The shell as a user has it, with errors among its outputs, but without the numbers of their lines."""

    def __init__(self, folder):
        command = ["stdbuf", "-oL", "-eL", "sqlite3", "-batch", "-column", "-header", "-nullvalue", "NULL", folder.file("page.db")]
        environment = {**os.environ, "TAMIS_DIRECTORY": folder.path, "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(command, cwd=folder.path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.prints(f".load {os.path.join(sq.BUILT, 'tamis')}\n")

    def prints(self, text):
        self.process.stdin.write(f"{text}\n.print {END}\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip() == END:
                return "\n".join(lines).strip("\n")
            lines.append(re.sub(r"^(\w+ error) near line \d+:", r"\1:", line.rstrip()))
        return "\n".join([*lines, "sqlite3 has ended"])

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Shell:
    """Commands of the page, in the directory of filters."""

    def __init__(self, folder):
        programs = folder.file(".bin")
        os.mkdir(programs)
        os.symlink(os.path.abspath(sq.COMMAND), os.path.join(programs, "tamis"))
        self.folder = folder
        self.environment = {**os.environ, "LC_ALL": "C", "PATH": programs + os.pathsep + os.environ["PATH"]}

    def prints(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=self.environment, timeout=60, check=False)
        return done.stdout.rstrip("\n")


def check_names(tap, page):
    db = sq.Database()
    names = {row[0] for row in db.rows("SELECT DISTINCT name FROM pragma_function_list WHERE name LIKE 'tamis\\_%' ESCAPE '\\'")}
    names |= {row[0] for row in db.rows("SELECT name FROM pragma_module_list WHERE name LIKE 'tamis\\_%' ESCAPE '\\'")}
    names.discard("tamis_state")  # of the extension's own
    text = FENCE.sub("", page)
    tap.check(len(names) > 25, f"{len(names)} functions are looked for")
    tap.equal(sorted(n for n in names if not re.search(rf"`(FROM )?{n}\(", text)), [], "every function is named")
    tap.equal(sorted(set(re.findall(r"\btamis_\w+", page)) - names - {"tamis_file", "tamis_sqlite"}), [],
              "no function is named that does not exist")
    fields = re.findall(r'"(\w+)": ', db.one("SELECT tamis_info(tamis_build(1))"))
    tap.equal([name for name in fields if not re.search(rf"\b{name}\b", text)], [], "every field of tamis_info is named")


def main():
    sq.skip_unless_possible()
    tap = sq.Tap()
    lacks = [name for name in ("sqlite3", "stdbuf") if not shutil.which(name)]
    if lacks:
        tap.skip("docs/sqlite.md", f"not installed: {', '.join(lacks)}")
        return tap.end()
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    with sq.Folder() as folder:
        sql = Sqlite(folder)
        new = run_page(tap, page, sql, Shell(folder))
        sql.close()
    check_names(tap, page)
    if os.environ.get("UPDATE") and new != page:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(new)
        print(f"# wrote {PAGE}")
    return tap.end()


sys.exit(main())
