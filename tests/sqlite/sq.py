# SPDX-License-Identifier: MIT
"""Connections with the extension, for tests.

TAMIS_SQLITE names the directory with tamis.so (default: build/sqlite), TAMIS the command. A Python that was built without
loadable extensions hands over to the system's, where that has them."""
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import sqlite3
except ImportError:  # a minimal Python
    sqlite3 = None

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from tap import Tap  # noqa: E402

BUILT = os.environ.get("TAMIS_SQLITE", os.path.join(ROOT, "build", "sqlite"))
COMMAND = os.environ.get("TAMIS", os.path.join(ROOT, "build", "tamis"))
SYSTEM = "/usr/bin/python3"


def can_load():
    return sqlite3 is not None and hasattr(sqlite3.Connection, "enable_load_extension")


def why_not():
    """Why these tests cannot run here; None when they can."""
    if not os.path.exists(os.path.join(BUILT, "tamis.so")):
        return f"{BUILT}/tamis.so was not built: SQLite's headers are not installed"
    if not can_load():
        return "this Python's sqlite3 cannot load extensions"
    if sqlite3.sqlite_version_info < (3, 40):
        return f"SQLite {sqlite3.sqlite_version} is older than 3.40"
    return None


def prefer_system():
    """Goes on in the system's Python where this one cannot load extensions."""
    if not can_load() and os.path.exists(SYSTEM) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])


def skip_unless_possible():
    prefer_system()
    if why_not():
        tap = Tap()
        tap.skip("SQLite", why_not())
        sys.exit(tap.end())


class Database:
    """A connection with the extension; `directory` is that of files it may open."""

    def __init__(self, path=":memory:", directory=None, timeout=60.0):
        os.environ.pop("TAMIS_DIRECTORY", None)
        if directory:
            os.environ["TAMIS_DIRECTORY"] = directory
        self.connection = sqlite3.connect(path, timeout=timeout, isolation_level=None)
        self.connection.enable_load_extension(True)
        self.connection.load_extension(os.path.join(BUILT, "tamis"))
        self.connection.enable_load_extension(False)

    def rows(self, sql, *values):
        return self.connection.execute(sql, values).fetchall()

    def one(self, sql, *values):
        rows = self.rows(sql, *values)
        assert len(rows) == 1 and len(rows[0]) == 1, f"not one value: {rows[:5]!r}"
        return rows[0][0]

    def many(self, sql, rows):
        self.connection.executemany(sql, rows)

    def error(self, sql, *values):
        """The sentence of the error that is expected."""
        try:
            rows = self.rows(sql, *values)
        except sqlite3.Error as e:
            return str(e)
        return f"no error: {rows[:3]!r}"

    def close(self):
        self.connection.close()


def refuser(tap):
    """A check that a statement is an error with some words."""
    def refuses(db, sql, *values, says):
        sentence = db.error(sql, *values)
        if not tap.check(says in sentence, f"refused: {sql[:90]}"):
            print(f"#   wanted {says!r}\n#   got    {sentence!r}", flush=True)
    return refuses


class Folder:
    """A directory of a test's own, and the command in it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="tamis-sqlite-")

    def file(self, name):
        return os.path.join(self.path, name)

    def command(self, *arguments, lines=()):
        done = subprocess.run([COMMAND, *arguments], input="".join(f"{line}\n" for line in lines), capture_output=True, text=True,
                              cwd=self.path, check=False)
        assert done.returncode <= 1, done.stderr
        return done.stdout

    def read(self, name):
        with open(self.file(name), "rb") as file:
            return file.read()

    def write(self, name, image):
        with open(self.file(name), "wb") as file:
            file.write(image)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
