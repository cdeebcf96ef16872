#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A column of many large filters: a key is asked by a slice of each. The answers are those of the whole values, for every kind
and hash, whatever the rows went through; what is read is a few pages of each; what does not fit is refused, as by the whole."""
import json
import sys

import pg
from pg import Server, Tap

tap = Tap()
SPECS = ["blocked", "blocked:fpr=1e-6", "split", "split:index=wide", "blocked:hash=xxh64", "blocked:hash=mix8", "split:hash=sip13",
         "shard:shards=1", "shard:layout=split,shards=1", "classic", "fuse", "scalable"]
IN_PIECES = "spec NOT IN ('classic', 'fuse', 'scalable')"
LARGE = 100000  # keys of each: some 100 kB


def capacity(spec):
    return f"{spec}{',' if ':' in spec else ':'}capacity={LARGE}"


def make_tables(s):
    s.rows("CREATE TABLE days (day int, spec text, f tamis)")
    for day, spec in enumerate(SPECS * 2):
        given = spec if spec == "fuse" else capacity(spec)
        s.rows(f"INSERT INTO days SELECT {day}, '{spec}', tamis_build(i, '{given}') "
               f"FROM generate_series({day} * {LARGE} / 2, {day} * {LARGE} / 2 + {LARGE} - 1) i")
    s.rows("INSERT INTO days VALUES (97, 'NULL', NULL)")
    s.rows("INSERT INTO days SELECT 98, 'small', tamis_build(i) FROM generate_series(1, 100) i")
    s.rows("INSERT INTO days SELECT 99, 'empty', tamis_new('blocked:capacity=100000')")
    tap.equal(s.one("SELECT min(octet_length(f::bytea)) > 65536 FROM days WHERE day < 97"), "t", "filters are large")


# Arrays are asked by the whole value.
def disagreements(s, table="days", keys="generate_series(-50, 1300000, 29989) k"):
    """Rows where a slice says other than the whole, and rows."""
    return s.rows(f"SELECT count(*) FILTER (WHERE a IS DISTINCT FROM b OR a IS DISTINCT FROM c), count(*) > 1000, count(*) FILTER (WHERE a) > 50 "
                  f"FROM (SELECT f @> k AS a, k <@ f AS b, tamis_has_any(f, ARRAY[k]) AS c FROM {keys}, {table} ORDER BY k, day) x")


GOOD = [("0", "t", "t")]


def answers(s):
    tap.equal(disagreements(s), GOOD, "slices answer as whole values")
    tap.equal(s.one(f"SELECT count(*) FROM days, generate_series(day * {LARGE} / 2, day * {LARGE} / 2 + {LARGE} - 1, 99) k "
                    "WHERE day < 97 AND NOT f @> k"), "0", "no key is missing, where one filter has many")
    for at in range(0, 1200000, 101010):
        missed = s.rows(f"SELECT day FROM days WHERE {at} BETWEEN day * {LARGE} / 2 AND day * {LARGE} / 2 + {LARGE} - 1 "
                        f"AND NOT f @> {at} AND day < 97")
        tap.equal(missed, [], f"nor where one key is asked of many filters: {at}")
    tap.equal(s.rows("SELECT f @> 5 FROM days WHERE day = 97"), [("NULL",)], "NULL is NULL")
    tap.equal(s.rows("SELECT f @> 5, f @> 101 FROM days WHERE day = 98"), [("t", "f")], "small values are asked as ever")
    tap.equal(s.rows("SELECT f @> 5 FROM days WHERE day = 99"), [("f",)], "an empty filter has nothing")


def pages(s, query):
    """How many pages the query looks at."""
    plan = json.loads("".join(line for row in s.rows(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}") for line in row))
    return plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]


def reading(s):
    rows = int(s.one(f"SELECT count(*) FROM days WHERE day < 97 AND {IN_PIECES}"))
    at = f"day < 97 AND {IN_PIECES}"
    few, all_of = pages(s, f"SELECT f @> 77 FROM days WHERE {at}"), pages(s, f"SELECT tamis_has_any(f, ARRAY[77]) FROM days WHERE {at}")
    tap.check(few <= 12 * rows, f"a slice is a few pages ({few} for {rows} filters)")
    tap.check(all_of >= 2 * few, f"and the whole many more ({all_of})")
    one = pages(s, "SELECT count(f @> k) FROM generate_series(1, 1000) k, (SELECT f FROM days WHERE day = 0) x")
    whole = pages(s, "SELECT tamis_has_any(f, ARRAY[1]) FROM days WHERE day = 0")
    tap.check(one <= whole + 40, f"one filter for many rows is read once ({one} pages, {whole} of the filter)")


# ---- What rows go through ---------------------------------------------------------------------------------


def rewritten(s):
    s.rows("CREATE TABLE changed AS SELECT * FROM days")
    s.rows("UPDATE changed SET f = tamis_add(f, 5000000) WHERE spec LIKE 'blocked%' OR spec LIKE 'split%'")
    tap.equal(s.one("SELECT count(*) FROM changed WHERE (spec LIKE 'blocked%' OR spec LIKE 'split%') AND NOT f @> 5000000"), "0",
              "after an UPDATE the new key is there")
    s.rows("BEGIN; UPDATE changed SET f = tamis_add(f, 6000000) WHERE spec LIKE 'blocked%'; ROLLBACK")
    tap.check(int(s.one("SELECT count(*) FROM changed WHERE f @> 6000000")) < 10, "and not after a ROLLBACK")
    s.rows("DELETE FROM changed WHERE day % 3 = 0; VACUUM FULL changed")
    tap.equal(disagreements(s, "changed")[0][0], "0", "slices answer as whole values after VACUUM FULL")
    s.rows("DROP TABLE changed")


def stored_otherwise(s):
    """Filters with few keys compress. A slice of those is no use, and they are read whole."""
    for storage in ("extended", "main", "plain", "external"):
        s.rows(f"CREATE TABLE kept (day int, f tamis); ALTER TABLE kept ALTER f SET STORAGE {storage}")
        size = 5000 if storage == "plain" else 100000
        s.rows(f"INSERT INTO kept SELECT d, tamis_build(d * 100 + i, 'blocked:capacity={size}') "
               "FROM generate_series(1, 30) d, generate_series(0, 99) i GROUP BY d")
        tap.equal(disagreements(s, "kept", "generate_series(50, 3200, 41) k")[0][0], "0", f"stored {storage}, slices answer as whole values")
        s.rows("DROP TABLE kept")


def ways_to_ask(s):
    s.rows("PREPARE ask(int) AS SELECT count(*) FROM days WHERE f @> $1")
    known = {k: s.one(f"SELECT count(*) FROM days WHERE tamis_has_any(f, ARRAY[{k}])") for k in (3, 70000, 640000, 3000000)}
    for k, count in list(known.items()) * 4:
        tap.equal(s.one(f"EXECUTE ask({k})"), count, f"a prepared statement asks for {k}")
    s.rows("BEGIN; DECLARE c CURSOR FOR SELECT f @> 70000 FROM days ORDER BY day")
    got = [row for _ in range(9) for row in s.rows("FETCH 3 FROM c")]
    s.rows("COMMIT")
    tap.equal(got, s.rows("SELECT tamis_has_any(f, ARRAY[70000]) FROM days ORDER BY day"), "a cursor")
    s.rows("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; "
           "ALTER TABLE days SET (parallel_workers = 3)")
    plan = "\n".join(row[0] for row in s.rows("EXPLAIN SELECT count(*) FROM days WHERE f @> 70000"))
    tap.check("Parallel" in plan, "a plan with workers")
    tap.equal(s.one("SELECT count(*) FROM days WHERE f @> 70000"), known[70000], "workers count the same")
    s.rows("RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; ALTER TABLE days RESET (parallel_workers)")
    s.rows("""CREATE FUNCTION walk(key int) RETURNS int LANGUAGE plpgsql AS $$
              DECLARE r record; n int := 0;
              BEGIN FOR r IN SELECT f FROM days LOOP IF r.f @> key THEN n := n + 1; END IF; END LOOP; RETURN n; END $$""")
    for k, count in known.items():
        tap.equal(s.one(f"SELECT walk({k})"), count, f"a loop of plpgsql asks for {k}")
    turns = s.rows("SELECT f @> k FROM generate_series(1, 40) k, days WHERE day IN (0, 1) ORDER BY k, day")
    tap.equal(turns, s.rows("SELECT tamis_has_any(f, ARRAY[k]) FROM generate_series(1, 40) k, days WHERE day IN (0, 1) ORDER BY k, day"),
              "two filters in turn")


# ---- What is refused --------------------------------------------------------------------------------------


def keys_of_other_forms(s):
    s.rows("CREATE TABLE forms (id int, f tamis)")
    s.rows("INSERT INTO forms SELECT 1, tamis_build(i, 'blocked:capacity=100000') FROM generate_series(1, 1000) i")
    s.rows("INSERT INTO forms SELECT 2, tamis_build(i::text, 'blocked:capacity=100000') FROM generate_series(1, 1000) i")
    s.rows("INSERT INTO forms SELECT 3, tamis_add(tamis_set_note(tamis_new('blocked:capacity=100000'), 'encoding', 'int32be'), 7)")
    s.rows("INSERT INTO forms SELECT 4, tamis_set_note(f, 'canon', 'domains') FROM forms WHERE id = 2")
    s.rows("INSERT INTO forms SELECT 5, tamis_set_note(f, 'encoding', NULL) FROM forms WHERE id = 2")
    asked = "SELECT f @> %s FROM forms WHERE id = %d"
    tap.equal(s.one(asked % ("7", 1)), "t", "an integer")
    tap.equal(s.one(asked % ("'7'", 1)), "t", "its text")
    tap.check("twelve" in s.error(asked % ("'twelve'", 1)), "a text that is no integer")
    tap.check("never one of them" in s.error(asked % ("7", 2)), "an integer, where keys are texts")
    tap.equal(s.one(asked % ("'7'", 2)), "t", "a text")
    tap.equal(s.one(asked % ("7", 3)), "t", "an integer of another encoding")
    tap.equal(s.one(asked % ("8", 3)), "f", "one that is not there")
    tap.equal(s.one(asked % ("300000000000", 3)), "f", "one for which the encoding has no place")
    tap.check("canon" in s.error(asked % ("'7'", 4)), "keys that were brought to one form")
    tap.check("has no note" in s.error(asked % ("7", 5)), "an integer, where there is no note")
    tap.equal(s.one(asked % ("'7'", 5)), "t", "a text, where there is no note")
    tap.check("never one of them" in s.error("SELECT f @> 7 FROM forms WHERE id IN (1, 2) ORDER BY id"), "a column of both")
    tap.equal(s.rows("SELECT id, f @> '7' FROM forms WHERE id IN (1, 2, 3, 5) ORDER BY id"), [(i, "t") for i in "1235"],
              "a text is read by the note of each row")
    tap.equal(s.rows("SELECT f @> '7', f @> '8' FROM (SELECT f, id FROM unnest(ARRAY[3, 3, 1, 3, 1, 1, 3]) WITH ORDINALITY o (id, n) "
                     "JOIN forms USING (id) ORDER BY n OFFSET 0) x"), [("t", "t" if i == 1 else "f") for i in (3, 3, 1, 3, 1, 1, 3)],
              "filters of two notes in turn, once and twice each")
    secret = "blocked:capacity=100000,hash=sip13,key=outside"
    tap.check("secret" in s.error(f"SELECT tamis_new('{secret}')"), "a secret outside of the filter")


def forged(s):
    """A superuser can put bytes into a column without a look at them."""
    s.rows("CREATE FUNCTION unchecked(bytea, int) RETURNS tamis LANGUAGE internal IMMUTABLE AS 'bytea_substr_no_len'")
    s.rows("CREATE TABLE forged (at int, f tamis)")
    s.rows("INSERT INTO forged SELECT at, unchecked(set_byte(f::bytea, at, get_byte(f::bytea, at) # 1), 1) "
           "FROM days, generate_series(0, 191) at WHERE day = 0")
    s.rows("INSERT INTO forged SELECT 1000, unchecked(substr(f::bytea, 1, 80000), 1) FROM days WHERE day = 0")
    s.rows("INSERT INTO forged SELECT 1001, unchecked(f::bytea || '\\x00', 1) FROM days WHERE day = 0")
    refused = sum("damaged" in said or "newer Tamis" in said or "not a Tamis image" in said
                  for at in [*range(192), 1000, 1001] for said in [s.error(f"SELECT f @> 5 FROM forged WHERE at = {at}")])
    tap.equal(refused, 194, "a header with one wrong bit, and values too short or too long")
    s.rows("DROP TABLE forged")


def main():
    pg.skip_unless_possible()
    with Server() as server:
        server.start()
        s = server.with_extension()
        make_tables(s)
        answers(s)
        reading(s)
        rewritten(s)
        stored_otherwise(s)
        ways_to_ask(s)
        keys_of_other_forms(s)
        forged(s)
        s.close()
        tap.check("PANIC" not in server.log() and "terminated by signal" not in server.log(), "no backend died")
    return tap.end()


sys.exit(main())
