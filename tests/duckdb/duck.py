# SPDX-License-Identifier: MIT
"""DuckDB with the extension, for tests: the package of the Python that runs them, which `make duckdb-test` takes from PyPI.

TAMIS_DUCKDB names the extension (default: build/duckdb/tamis.duckdb_extension). Files are those of a directory of each program's
own, which is gone when the program is."""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from tap import Tap  # noqa: E402

BUILT = os.environ.get("TAMIS_DUCKDB", os.path.join(ROOT, "build", "duckdb", "tamis.duckdb_extension"))
COMMAND = os.environ.get("TAMIS", os.path.join(ROOT, "build", "tamis"))


def why_not():
    """Why these tests cannot run here; None when they can."""
    try:
        import duckdb  # noqa: F401
    except ImportError:
        return "this Python has no package duckdb"
    return None if os.path.exists(BUILT) else f"{BUILT} was not built"


if why_not():
    tap = Tap()
    tap.skip("DuckDB", why_not())
    sys.exit(tap.end())

import duckdb  # noqa: E402

FILES = tempfile.mkdtemp(prefix="tamis-duckdb-")
atexit.register(shutil.rmtree, FILES, ignore_errors=True)
os.environ["TAMIS_DIRECTORY"] = FILES  # read by LOAD


class Session:
    """A connection; others of the same database come from it by `other`."""

    def __init__(self, connection):
        self.connection = connection

    def other(self):
        return Session(self.connection.cursor())

    def rows(self, query, *values):
        return self.connection.execute(query, list(values)).fetchall()

    def one(self, query, *values):
        rows = self.rows(query, *values)
        if len(rows) != 1 or len(rows[0]) != 1:
            raise AssertionError(f"not one value: {rows[:5]!r}")
        return rows[0][0]

    def error(self, query, *values):
        """The sentence of the error that is expected."""
        try:
            rows = self.rows(query, *values)
        except duckdb.Error as e:
            return str(e)
        raise AssertionError(f"no error: {rows[:3]!r:.200} by {query}")


def open_database(path=":memory:", **settings):
    connection = duckdb.connect(path, config={"allow_unsigned_extensions": "true", **settings})
    connection.execute(f"LOAD '{BUILT}'")
    return Session(connection)


def command(*arguments, stdin=None):
    """The command tamis, in the directory of filters."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([COMMAND, *arguments], input=stdin, capture_output=True, text=True, cwd=FILES, env=environment, check=False)
    if done.returncode > 1:
        raise AssertionError(done.stderr)
    return done.stdout


# Before 2.0, DuckDB does not say which group a row belongs to when an aggregate is asked for several.
HAS_GROUPS = int(duckdb.__version__.split(".")[0]) >= 2


def build(key, spec=None):
    """tamis_build for several groups, where a version has no aggregates of them."""
    more = f", {spec}" if spec else ""
    return f"tamis_build({key}{more})" if HAS_GROUPS else f"tamis_build_list(list({key}){more})"


def merge(image):
    return f"tamis_merge({image})" if HAS_GROUPS else f"tamis_merge_list(list({image}))"


def path_of(name):
    return os.path.join(FILES, name)
