#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many sessions at once: they share names and opened images, while names are given to other filters and files are replaced. A key that
every one of them has is always found. ROUNDS= for more."""
import os
import sys
import threading

sys.dont_write_bytecode = True
import duck
from duck import Tap, command, open_database, path_of

tap = Tap()
ROUNDS = int(os.environ.get("ROUNDS", "16"))
problems = []


def run_all(jobs):
    """Runs functions of a session each, in threads; what they raise is a problem."""
    def guarded(job):
        try:
            job()
        except Exception as e:  # noqa: BLE001
            problems.append(repr(e)[:300])
    threads = [threading.Thread(target=guarded, args=[job]) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def asker(s, query, wanted):
    def ask():
        for _ in range(ROUNDS):
            got = s.one(query)
            if got != wanted:
                problems.append(f"{query}: {got}")
    return ask


def shared_names(s):
    """A name goes from one filter to another while it is asked; all of them have 0 to 999."""
    for name, high in (("a", 1000), ("b", 2000), ("c", 50000)):
        s.rows(f"CREATE OR REPLACE TABLE {name} AS SELECT tamis_build(k) AS f FROM range({high}) r(k)")
    s.rows("SELECT tamis_open(f, 'x') FROM a")

    def changer(session):
        def change():
            for i in range(ROUNDS):
                session.rows(f"SELECT tamis_open(f, 'x') FROM {'abc'[i % 3]}")
                session.rows(f"SELECT tamis_open(f, 'y{i % 3}'), tamis_close('y{i % 3}') FROM a")
        return change
    members = "SELECT count(*) FROM range(200000) r(k) WHERE k % 200 = 0 AND tamis_has('x', k // 200)"
    run_all([changer(s.other()), changer(s.other()), *(asker(s.other(), members, 1000) for _ in range(4))])
    tap.equal(problems, [], "no key is missing while a name changes")


def shared_images(s):
    """More images than stay open, asked from many threads."""
    s.rows("CREATE OR REPLACE TABLE many AS SELECT g, tamis_build_list(list(k)) AS f FROM (SELECT k, k % 40 AS g FROM range(40000) r(k)) GROUP BY g")
    join = "SELECT count(*) FROM many JOIN (SELECT k, k % 40 AS g FROM range(40000) r(k)) USING (g) WHERE tamis_has(f, k)"
    run_all([asker(s.other(), join, 40000) for _ in range(4)])
    tap.equal(problems, [], "40 images in four sessions")


def replaced_files(s):
    def write(high):
        command("build", "-q", "-f", "--keys", "int64", "f.tamis", "-", stdin="".join(f"{k}\n" for k in range(high)))
    write(1000)

    def replace():
        for i in range(ROUNDS // 4):
            write(1000 + 500 * (i % 4))
    members = "SELECT count(*) FROM range(200000) r(k) WHERE k % 200 = 0 AND tamis_has('f.tamis', k // 200)"
    run_all([replace, *(asker(s.other(), members, 1000) for _ in range(3))])
    tap.equal(problems, [], "no key is missing while a file is replaced")


def several_databases():
    """Names are the process's, whatever the database; what one registered outlives it."""
    one = open_database()
    one.rows("SELECT tamis_open(tamis_build(k), 'left') FROM range(10) r(k)")
    one.connection.close()
    other = open_database()
    tap.equal(other.one("SELECT count(*) FROM range(10) r(k) WHERE tamis_has('left', k)"), 10, "a name outlives its database")
    stored = open_database(path_of("stored.duckdb"))
    stored.rows("CREATE TABLE t AS SELECT tamis_build(k) AS f FROM range(1000) r(k)")
    stored.connection.close()
    again = open_database(path_of("stored.duckdb"))
    tap.equal(again.one("SELECT tamis_items(f) FROM t"), 1000, "and a BLOB is in its database")
    again.connection.close()


def main():
    s = open_database(threads=4)
    for part in (shared_names, shared_images, replaced_files):
        part(s)
    several_databases()
    return tap.end()


sys.exit(main())
