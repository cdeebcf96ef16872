# SPDX-License-Identifier: MIT
"""The engines of SQL behind one interface, for tests: `last` returns the rows of the last statement."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
for part in ("support", "sqlite", "postgres", "duckdb"):
    sys.path.insert(0, os.path.join(ROOT, "tests", part))
import sq  # noqa: E402


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


def prefer_system():
    """Where DuckDB is not, a Python that can load extensions will do."""
    if why_not_duckdb():
        sq.prefer_system()
