#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One filter answers the same in every engine of SQL, in the command and in Redis: each of SQL builds filters of the same keys, of every
class, and they are the same bytes; and each finds all keys in them, and the same false positives.

    tests/sql/pairs.py [ENGINE...]      (default: every engine that is installed; KEYS=3000 of each class)
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engines import ENGINES, ROOT, prefer_system, sq

SPEC = "fpr=1%"
# The i-th key of each class, in each engine; and the lines of the command.
KEYS = {
    "int64": {"SQLite": "i * 1000003 - 1000000000000", "PostgreSQL": "i * 1000003 - 1000000000000",
              "DuckDB": "i * 1000003 - 1000000000000", "line": lambda i: str(i * 1000003 - 1000000000000), "bytes": lambda i: struct.pack("<q", i * 1000003 - 1000000000000)},
    "double": {"SQLite": "i * 0.375", "PostgreSQL": "i * 0.375::float8", "DuckDB": "i * 0.375::DOUBLE", "line": lambda i: repr(i * 0.375),
               "bytes": lambda i: struct.pack("<d", i * 0.375)},
    "utf8": {"SQLite": "'ключ-' || i", "PostgreSQL": "'ключ-' || i", "DuckDB": "'ключ-' || i", "line": lambda i: f"ключ-{i}",
             "bytes": lambda i: f"ключ-{i}".encode()},
    "hex": {"SQLite": "CAST('key-' || i AS BLOB)", "PostgreSQL": "convert_to('key-' || i, 'UTF8')", "DuckDB": "encode('key-' || i)",
            "line": lambda i: f"key-{i}".encode().hex(), "bytes": lambda i: f"key-{i}".encode()},
}
NUMBERS = {
    "SQLite": "(WITH RECURSIVE n(i) AS (SELECT {0} UNION ALL SELECT i + 1 FROM n WHERE i < {1}) SELECT i FROM n)",
    "PostgreSQL": "(SELECT i FROM generate_series({0}::bigint, {1}) i) n",
    "DuckDB": "(SELECT i FROM range({0}::BIGINT, {1}::BIGINT + 1) r(i)) n",
}
BUILD = {"SQLite": "SELECT hex(tamis_build({0}, '{1}')) FROM {2}", "PostgreSQL": "SELECT encode(tamis_build({0}, '{1}')::bytea, 'hex') FROM {2}",
         "DuckDB": "SELECT hex(tamis_build({0}, '{1}')) FROM {2}"}
# Sums tell which of them are found, not only how many.
ASK = {"SQLite": "SELECT count(*), sum(i) FROM {2} WHERE tamis_has((SELECT tamis_open(x'{1}')), {0})",
       "PostgreSQL": "SELECT count(*), sum(i) FROM {2} WHERE '\\x{1}'::bytea::tamis @> ({0})",
       "DuckDB": "SELECT tamis_open(unhex('{1}'), 'f'); SELECT count(*), sum(i) FROM {2} WHERE tamis_has('f', {0})"}


class Command:
    """The command, by files."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments, lines):
        text = "".join(f"{line}\n" for line in lines)
        return subprocess.run([sq.COMMAND, *arguments], input=text, capture_output=True, text=True, cwd=self.folder, check=False).stdout

    def build(self, kind, keys):
        self.run("build", "command.tamis", "--force", "-p", "1%", "--keys", kind, lines=map(KEYS[kind]["line"], range(1, keys + 1)))
        with open(os.path.join(self.folder, "command.tamis"), "rb") as file:
            return file.read()

    def ask(self, kind, image, first, last):
        with open(os.path.join(self.folder, "asked.tamis"), "wb") as file:
            file.write(image)
        line = KEYS[kind]["line"]
        found = set(self.run("check", "asked.tamis", "--keys", kind, lines=map(line, range(first, last + 1))).split("\n"))
        all_of = [i for i in range(first, last + 1) if line(i) in found]
        return len(all_of), sum(all_of)

    def close(self):
        pass


class Redis:
    """A server with the module, which is asked for the bytes of a key. (What it builds has its own secret.)"""
    ITEMS = 10000

    def __init__(self):
        sys.path.insert(0, os.path.join(ROOT, "tests", "redis"))
        import server
        self.server = server.Server()
        self.client = self.server.client()

    def ask(self, kind, image, first, last):
        key = KEYS[kind]["bytes"]
        self.client.must("TAMIS.LOAD", "f", 0, len(image), image)
        found = []
        for start in range(first, last + 1, self.ITEMS):
            some = range(start, min(start + self.ITEMS, last + 1))
            found += [i for i, hit in zip(some, self.client.must("TAMIS.HAS", "f", *map(key, some))) if hit]
        return len(found), sum(found)

    def close(self):
        self.server.stop()


class Engine:
    """One of SQL."""

    def __init__(self, name, folder):
        self.name = name
        self.engine = ENGINES[name][1](folder)

    def build(self, kind, keys):
        sql = BUILD[self.name].format(KEYS[kind][self.name], SPEC, NUMBERS[self.name].format(1, keys))
        return bytes.fromhex(self.engine.last(sql + ";\n")[0][0])

    def ask(self, kind, image, first, last):
        sql = ASK[self.name].format(KEYS[kind][self.name], image.hex(), NUMBERS[self.name].format(first, last))
        count, total = self.engine.last(sql + ";\n")[0]
        return int(count), int(total or 0)

    def close(self):
        self.engine.close()


def compare(tap, engines, kind, keys):
    images = {name: engine.build(kind, keys) for name, engine in engines.items() if name != "Redis"}
    for name, image in images.items():
        tap.check(len(image) > 192 + keys and image[192:192 + keys] == images["the command"][192:192 + keys],
                  f"{kind}: {name} builds what the command builds")
        answers = {other: (engine.ask(kind, image, 1, keys), engine.ask(kind, image, keys + 1, 2 * keys)) for other, engine in engines.items()}
        for other, (found, false) in answers.items():
            tap.equal(found, (keys, keys * (keys + 1) // 2), f"{kind}: {other} finds all keys of {name}")
            tap.equal(false, answers["the command"][1], f"{kind}: {other} has the same false positives in that of {name}")


def main():
    prefer_system()
    tap = sq.Tap()
    keys = int(os.environ.get("KEYS", "3000"))
    with tempfile.TemporaryDirectory(prefix="tamis-sql-") as folder:
        engines = {"the command": Command(folder)}
        if shutil.which("redis-server"):
            engines["Redis"] = Redis()
        else:
            tap.skip("Redis", "redis-server is not installed")
        for name in sys.argv[1:] or ENGINES:
            if ENGINES[name][0]():
                tap.skip(name, ENGINES[name][0]())
            else:
                engines[name] = Engine(name, folder)
        for kind in KEYS:
            compare(tap, engines, kind, keys)
        for engine in engines.values():
            engine.close()
        os.chdir("/")
    return tap.end()


sys.exit(main())
