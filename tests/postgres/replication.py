#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters go wherever tables go, byte for byte, and answer the same there.

pg_dump and pg_restore in each of their forms, COPY in text and binary, a streaming replica, a logical subscriber, and
pg_upgrade (to another version only where one is installed). Limits bind who makes a filter, never who restores or replays
one: each target has the smallest tamis.max_bytes there is.
"""
import glob
import os
import sys
import time

import pg

tap = pg.Tap()
SMALLEST = "tamis.max_bytes = 1024"

SPECS = """blocked:capacity=60 blocked:capacity=20000 split:capacity=500 classic:capacity=3000,fpr=1e-5 universal:capacity=900
counting:capacity=2000 spectral:capacity=2000 increment:capacity=900 dleft:capacity=2000 cuckoo:capacity=3000
quotient:capacity=3000 multiset:capacity=3000 scalable:capacity=50 grow:capacity=50 stable:capacity=900 window:capacity=2000
countmin:capacity=500 blocked:capacity=900,hash=sip13 blocked:capacity=90,seed=7 guava:capacity=900 redisbloom:capacity=900
bip37:capacity=200""".split()
BUILT = "fuse ribbon gcs fuse:fpr=1/256 cascade binary-fuse".split()

MAKE = f"""
CREATE TABLE filters (id int PRIMARY KEY, spec text, f tamis NOT NULL);
CREATE TABLE others (name tamis_file, filters tamis[], pair filters, f tamis('blocked') DEFAULT tamis_new('blocked:capacity=9'));
INSERT INTO filters SELECT n, spec, tamis_add(tamis_new(spec), ARRAY(SELECT g FROM generate_series(1, 200) g))
    FROM unnest(string_to_array('{' '.join(SPECS)}', ' ')) WITH ORDINALITY x(spec, n);
INSERT INTO filters SELECT 100 + n, spec, (SELECT tamis_build(g, spec) FROM generate_series(1, 200) g)
    FROM unnest(string_to_array('{' '.join(BUILT)}', ' ')) WITH ORDINALITY x(spec, n);
INSERT INTO filters SELECT 200, 'bloomier', tamis_build_map(g, g * 3) FROM generate_series(1, 200) g;
INSERT INTO filters SELECT 201, 'labels', tamis_build_labels(g, 'label ' || g % 3) FROM generate_series(1, 200) g;
INSERT INTO filters SELECT 202, 'text', tamis_set_note(tamis_add(tamis_new('blocked:capacity=99'), 'é'::text), 'who', 'ü');
INSERT INTO filters SELECT 203, 'large', tamis_add(tamis_new('blocked:capacity=3M'), 1);
INSERT INTO others (name, filters, pair)
    SELECT 'a file', array_agg(f ORDER BY id), (array_agg(x ORDER BY id))[3] FROM filters x WHERE id < 20;
CREATE FUNCTION known(key bigint) RETURNS bool LANGUAGE sql STABLE AS 'SELECT bool_and(f @> key) FROM filters WHERE id < 200';
CREATE MATERIALIZED VIEW items AS SELECT id, tamis_items(f) FROM filters;
CREATE INDEX ON filters USING hash (f);
"""

# Everything that can be seen of them.
ANSWERS = """
SELECT id, spec, md5(f::bytea), tamis_items(f), tamis_spec(f), tamis_note(f, 'encoding'), tamis_note(f, 'who'),
    CASE WHEN id = 202 THEN (f @> 'é'::text)::text
         ELSE (SELECT string_agg((f @> g)::int::text, '' ORDER BY g) FROM generate_series(1, 2000, 7) g) END,
    CASE id WHEN 200 THEN tamis_get(f, 77)::text WHEN 201 THEN tamis_which(f, 77)::text END
FROM filters ORDER BY id"""
OTHERS = "SELECT name, md5(filters::text), md5((pair).f::bytea), tamis_spec(f) FROM others"


def until(is_so, what, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise pg.Error(f"not in {seconds} s: {what}")


def same(session, wanted, name, query=ANSWERS):
    """Compares in one check, but says where they differ."""
    got = session.rows(query)
    if not tap.check(got == wanted and len(got) > 0, name):
        different = [pair for pair in zip(got, wanted) if pair[0] != pair[1]]
        print(f"# {len(got)} rows, not {len(wanted)}; {str(different[:1])[:1000]}")


# ---- Dumps --------------------------------------------------------------------------------------------

def dumped(server, session, wanted, others):
    host = ["-h", server.folder, "-U", server.user]
    forms = {"plain": ["-Fp"], "plain, of INSERTs": ["-Fp", "--rows-per-insert=7"], "custom": ["-Fc"], "directory": ["-Fd", "-j2"],
             "tar": ["-Ft"], "plain, of data alone": ["-Fp", "--data-only"]}
    for at, (name, options) in enumerate(forms.items()):
        path, database = os.path.join(server.folder, f"dump{at}"), f"copy{at}"
        server.run(server.program("pg_dump"), *host, *options, "-f", path, "postgres")
        session.rows(f"CREATE DATABASE {database} TEMPLATE template0")
        session.rows(f"ALTER DATABASE {database} SET {SMALLEST}")
        if "data" in name:
            copy = server.session(database)
            schema = server.run(server.program("pg_dump"), *host, "--schema-only", "postgres")
            copy.rows("SET client_min_messages = error")
            with open(path + ".schema", "w", encoding="utf-8") as file:
                file.write(schema)
            server.run(server.program("psql"), "-Xq", "-v", "ON_ERROR_STOP=1", *host, "-d", database, "-f", path + ".schema")
            copy.close()
        if "-Fp" in options:
            server.run(server.program("psql"), "-Xq", "-v", "ON_ERROR_STOP=1", *host, "-d", database, "-f", path)
        else:
            server.run(server.program("pg_restore"), *host, *(["-j2"] if at == 3 else []), "-e", "-d", database, path)
        copy = server.session(database)
        same(copy, wanted, f"dumped and restored ({name})")
        same(copy, others, "and in columns of other types", OTHERS)
        tap.equal(copy.one("SELECT known(77)"), "t", "a function of it answers")
        said = copy.error("SELECT tamis_new('blocked:capacity=1M')")
        tap.check("tamis:" in said, "where no filter of that size could be made")
        copy.close()
        session.rows(f"DROP DATABASE {database}")


def copied(server, session, wanted):
    for name, how in (("text", ""), ("binary", "WITH (FORMAT binary)"), ("CSV", "WITH (FORMAT csv, HEADER)")):
        path = os.path.join(server.folder, "copied")
        session.rows(f"COPY filters TO '{path}' {how}; CREATE TABLE copy (LIKE filters); SET {SMALLEST}; COPY copy FROM '{path}' {how}; "
                     "RESET tamis.max_bytes")
        same(session, wanted, f"COPY as {name}", ANSWERS.replace("FROM filters", "FROM copy"))
        session.rows("DROP TABLE copy")
    session.rows(f"COPY filters TO '{path}' WITH (FORMAT binary)")
    with open(path, "r+b") as file:
        bytes_of = bytearray(file.read())
        at = bytes_of.index(b"\xd6tamis\x1a\n") + 200
        bytes_of[at] ^= 1
        file.seek(0)
        file.write(bytes_of)
    said = session.error(f"CREATE TEMP TABLE damaged (LIKE filters); COPY damaged FROM '{path}' WITH (FORMAT binary)")
    tap.check("tamis:" in said and session.one("SELECT count(*) FROM damaged") == "0", "binary COPY refuses a damaged image")


# ---- Replicas -----------------------------------------------------------------------------------------

def change(session, n):
    """Every row is written again, and some are new."""
    session.rows(f"""
        UPDATE filters SET f = tamis_add(f, {n}::bigint) WHERE id < 100;
        UPDATE filters SET f = (SELECT tamis_build(g, filters.spec) FROM generate_series(1, 200 + {n}) g) WHERE id BETWEEN 100 AND 199;
        INSERT INTO filters SELECT 1000 + {n}, 'later', tamis_build(g) FROM generate_series(1, {n}) g;
        DELETE FROM filters WHERE id = 1000 + {n} - 2""")


def streamed(server, session):
    with pg.Server() as standby:
        server.run("rm", "-rf", standby.data)
        server.run(server.program("pg_basebackup"), "-h", server.folder, "-U", server.user, "-D", standby.data, "-R", "-c", "fast",
                   "-X", "stream")
        standby.configure([SMALLEST, "hot_standby = on", f"unix_socket_directories = '{standby.folder}'"])
        standby.start()
        replica = standby.session()
        for n in range(1, 4):
            change(session, n)
            now = session.one("SELECT pg_current_wal_insert_lsn()")
            until(lambda at=now: replica.one(f"SELECT pg_last_wal_replay_lsn() >= '{at}'") == "t", "the replica has caught up")
            same(replica, session.rows(ANSWERS), f"a streaming replica answers the same after change {n}")
        same(replica, session.rows(OTHERS), "and for other columns", OTHERS)
        tap.check("read-only" in replica.error("UPDATE filters SET f = tamis_add(f, 1)"), "it changes nothing itself")
        tap.equal(replica.one("SELECT tamis_items(tamis_add(f, 1)) - tamis_items(f) FROM filters WHERE id = 1"), "1", "it can make values")
        session.rows("BEGIN; UPDATE filters SET f = tamis_add(f, 999999) WHERE id < 100; ROLLBACK; CHECKPOINT")
        replica.close()
        standby.run(standby.program("pg_ctl"), "promote", "-w", "-D", standby.data)
        promoted = standby.session()
        same(promoted, session.rows(ANSWERS), "promoted it answers the same")
        change(promoted, 50)
        tap.equal(promoted.one("SELECT known(50)"), "t", "and goes on")
        promoted.close()


def subscribed(server, session):
    for is_binary in ("false", "true"):
        with pg.Server([SMALLEST]) as subscriber:
            subscriber.start()
            target = subscriber.with_extension()
            target.rows("SET client_min_messages = error; CREATE TABLE filters (id int PRIMARY KEY, spec text, f tamis NOT NULL)")
            session.rows("DROP PUBLICATION IF EXISTS filters; CREATE PUBLICATION filters FOR TABLE filters")
            name = f"sub_{is_binary}"
            target.rows(f"CREATE SUBSCRIPTION {name} CONNECTION 'host={server.folder} user={server.user} dbname=postgres' "
                        f"PUBLICATION filters WITH (binary = {is_binary})")
            until(lambda: target.rows("SELECT DISTINCT srsubstate FROM pg_subscription_rel") == [("r",)], "the first copy is made")
            how = "in binary" if is_binary == "true" else "as text"
            same(target, session.rows(ANSWERS), f"a subscriber ({how}) has the first copy")
            for n in range(7, 10) if is_binary == "true" else range(4, 7):
                change(session, n)
                now = session.one("SELECT pg_current_wal_insert_lsn()")
                slot = f"FROM pg_replication_slots WHERE slot_name = '{name}'"
                until(lambda at=now, of=slot: session.rows(f"SELECT confirmed_flush_lsn >= '{at}' {of}") == [("t",)],
                      "the subscriber has caught up")
                same(target, session.rows(ANSWERS), f"and after change {n}")
            tap.check("ERROR" not in subscriber.log(), "nothing was refused")
            target.rows(f"DROP SUBSCRIPTION {name}")
            target.close()


# ---- Another version ----------------------------------------------------------------------------------

def upgraded(server, wanted, others):
    """To a cluster of the same version, which takes the same way; to another one only where there is one."""
    server.stop()
    with pg.Server([SMALLEST]) as newer:
        server.run(server.program("pg_upgrade"), "-b", server.bin, "-B", newer.bin, "-d", server.data, "-D", newer.data, "-s", server.folder,
                   "-U", server.user)
        newer.start()
        session = newer.session()
        same(session, wanted, "pg_upgrade to a cluster of the same version")
        same(session, others, "and of other columns", OTHERS)
        tap.equal(session.one("SELECT count(*) FROM pg_extension WHERE extname = 'tamis'"), "1", "the extension is one still")
        session.rows("UPDATE filters SET f = tamis_add(f, 77777) WHERE id < 100")
        tap.equal(session.one("SELECT bool_and(f @> 77777) FROM filters WHERE id < 100"), "t", "and filters take keys")
        session.close()
    versions = sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_upgrade"))
    why = "the extension is built for one version" if len(versions) > 1 else "there is one version of the server"
    tap.skip("pg_upgrade to another version", f"{why}: {pg.config('--version')}")


def main():
    with pg.Server(["wal_level = logical", "max_wal_senders = 10", "max_replication_slots = 10"]) as server:
        server.start()
        session = server.with_extension()
        session.rows("SET client_min_messages = error")
        session.rows(MAKE)
        wanted, others = session.rows(ANSWERS), session.rows(OTHERS)
        tap.check(len(wanted) == len(SPECS) + len(BUILT) + 4, f"{len(wanted)} filters of {len(SPECS) + len(BUILT)} specs")
        dumped(server, session, wanted, others)
        copied(server, session, wanted)
        streamed(server, session)
        subscribed(server, session)
        tap.check("PANIC" not in server.log() and "terminated by signal" not in server.log(), "no process of the server died")
        wanted, others = session.rows(ANSWERS), session.rows(OTHERS)
        session.close()
        upgraded(server, wanted, others)
    return tap.end()


pg.skip_unless_possible()
sys.exit(main())
