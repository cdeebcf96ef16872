#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random programs: whatever SQL does with filters, no key of a plain table is ever answered no.

    PROGRAMS=100000 tests/postgres/programs.py      how many (default: 300); SEED= for other ones
    FIRST=1250 PROGRAMS=1 TRACE=1 ...               the one with this number, and what it does

A program has four filters in a table and their keys, with how often each was added, in another. Steps change both in the same
statement or transaction, so that a rollback takes both back: adds of one key and of arrays, removes of what is there, unions,
rebuilding by aggregate (also by parallel workers), and other shapes. After each step one query joins everything: no key may
be missing, no count too low (up to 15, where counters of 4 bits end), and the number of items is exact.

Beside that a call site must never answer by the handle of an earlier value. So steps ask in loops whose variable is assigned
again, in prepared statements that get other filters, in triggers that see the old row and the new one, by cursors that stay
open while another session changes what they read, in subtransactions that are rolled back, and for values that come from
temporary tables, arrays and rows; always with the number of items beside the answer, since that differs between values.
Filters are small and inline, large and toasted, and grow from one into the other.
"""
import os
import random
import sys

import pg

PROGRAMS = int(os.environ.get("PROGRAMS", "300"))
FIRST = int(os.environ.get("FIRST", "0"))
SEED = int(os.environ.get("SEED", "1"))
TRACE = os.environ.get("TRACE")
FILTERS, STEPS, REST = (1, 2, 3, 4), 12, 50

# ---- What programs are made of ------------------------------------------------------------------------

SMALL = """blocked:capacity=60 split:capacity=60 classic:capacity=60 counting:capacity=60 cuckoo:capacity=200 quotient:capacity=200
scalable:capacity=20 grow:capacity=20 multiset:capacity=200 universal:capacity=60 spectral:capacity=60 dleft:capacity=200
blocked:capacity=60,size=512 counting:capacity=30,log=yes cuckoo:capacity=200,sort=yes""".split()
LARGE = """blocked:capacity=5000 split:capacity=5000 classic:capacity=4000,fpr=1e-4 counting:capacity=3000 cuckoo:capacity=3000
quotient:capacity=3000 scalable:capacity=2000 grow:capacity=2000 multiset:capacity=2500 blocked:capacity=4000,size=65536""".split()
BUILT = "fuse ribbon gcs fuse:fpr=1/256 ribbon:fpr=0.1%".split()
COUNTED = "blocked split counting cuckoo quotient grow scalable multiset".split()
CHANGEABLE = "counting", "cuckoo", "quotient", "grow", "multiset"
COUNTS = "counting", "multiset"

SETTINGS = """enable_hashjoin=off enable_mergejoin=off enable_nestloop=off enable_memoize=off enable_material=off enable_seqscan=off
enable_indexscan=off plan_cache_mode=force_generic_plan plan_cache_mode=force_custom_plan plan_cache_mode=auto
force_parallel_mode=on work_mem='64kB'""".split()
PARALLEL = """SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = {leads}; SET enable_indexscan = off;
SET enable_bitmapscan = off"""
ALONE = "SET max_parallel_workers_per_gather = 0"

SCHEMA = """
CREATE TABLE filters (id int PRIMARY KEY, spec text, texts bool, items bigint, counts bool, f tamis);
CREATE TABLE model (id int, key bigint, times int, PRIMARY KEY (id, key)) WITH (parallel_workers = 2);

CREATE FUNCTION get(which int) RETURNS tamis LANGUAGE sql STABLE AS 'SELECT f FROM filters WHERE id = which';
CREATE FUNCTION name_of(key bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT 'key-' || key$$;
CREATE FUNCTION has(filter tamis, texts bool, key bigint) RETURNS bool LANGUAGE sql IMMUTABLE AS
    'SELECT CASE WHEN texts THEN filter @> name_of(key) ELSE key <@ filter END';
CREATE FUNCTION has_apart(filter tamis, texts bool, key bigint) RETURNS bool LANGUAGE sql VOLATILE SET work_mem = '1MB' AS
    'SELECT CASE WHEN texts THEN tamis_has(filter, name_of(key)) ELSE tamis_has(filter, key) END';
CREATE FUNCTION items_apart(filter tamis) RETURNS bigint LANGUAGE sql VOLATILE SET work_mem = '1MB' AS 'SELECT tamis_items(filter)';
CREATE FUNCTION with_keys(filter tamis, texts bool, keys bigint[]) RETURNS tamis LANGUAGE plpgsql AS $$
BEGIN
    IF texts THEN RETURN tamis_add(filter, ARRAY(SELECT name_of(k) FROM unnest(keys) k)); END IF;
    RETURN tamis_add(filter, keys);
END $$;
CREATE FUNCTION without_keys(filter tamis, texts bool, keys bigint[]) RETURNS tamis LANGUAGE plpgsql AS $$
BEGIN
    IF texts THEN RETURN tamis_remove(filter, ARRAY(SELECT name_of(k) FROM unnest(keys) k)); END IF;
    RETURN tamis_remove(filter, keys);
END $$;

-- Both tables at once.
CREATE FUNCTION note_added(which int, keys bigint[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO model SELECT which, k, count(*) FROM unnest(keys) k GROUP BY k
    ON CONFLICT (id, key) DO UPDATE SET times = model.times + excluded.times $$;
CREATE FUNCTION add(which int, keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE filters SET f = with_keys(f, texts, keys), items = items + cardinality(keys) WHERE id = which;
    PERFORM note_added(which, keys);
END $$;
CREATE FUNCTION remove(which int, keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE filters SET f = without_keys(f, texts, keys), items = items - cardinality(keys) WHERE id = which;
    UPDATE model SET times = times - 1 WHERE id = which AND key = ANY (keys);
    DELETE FROM model WHERE id = which AND times = 0;
END $$;
CREATE FUNCTION some_keys(which int, salt text, many int) RETURNS bigint[] LANGUAGE sql AS $$
    SELECT ARRAY(SELECT key FROM model WHERE id = which ORDER BY md5(key || salt) LIMIT many) $$;

-- What is wrong in a loop whose variables are assigned again. Each expression is one call site for all values.
CREATE FUNCTION wrong_in_loop(ids int[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v tamis; before tamis; wrong int := 0; n bigint; is_text bool; k bigint; which int;
BEGIN
    FOREACH which IN ARRAY ids LOOP
        SELECT f, items, texts INTO v, n, is_text FROM filters WHERE id = which;
        CONTINUE WHEN v IS NULL;
        IF tamis_items(v) <> n THEN wrong := wrong + 1; END IF;
        FOR k IN SELECT key FROM model WHERE id = which ORDER BY key LIMIT 20 LOOP
            IF is_text THEN
                IF NOT v @> name_of(k) THEN wrong := wrong + 1; END IF;
            ELSE
                IF NOT k <@ v THEN wrong := wrong + 1; END IF;
            END IF;
        END LOOP;
        before := v;
        BEGIN
            v := with_keys(v, is_text, ARRAY[-1, -2, -3]::bigint[]);
            IF tamis_items(v) <> n + 3 OR NOT has(v, is_text, -3) THEN wrong := wrong + 1; END IF;
            IF tamis_items(before) <> n THEN wrong := wrong + 1; END IF;
            v := with_keys(v, is_text, ARRAY[-4]::bigint[]);
            IF NOT has_apart(v, is_text, -4) OR items_apart(v) <> n + 4 THEN wrong := wrong + 1; END IF;
            RAISE division_by_zero;
        EXCEPTION
            WHEN division_by_zero THEN
                IF tamis_items(v) <> n + 4 THEN wrong := wrong + 1; END IF;
            WHEN OTHERS THEN
                IF SQLERRM NOT LIKE 'tamis:%' THEN RAISE; END IF;
        END;
    END LOOP;
    RETURN wrong;
END $$;

-- The same for values that never were in a table.
CREATE FUNCTION wrong_of_new(spec text, many int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v tamis := tamis_new(spec); twin tamis := v; wrong int := 0;
BEGIN
    FOR i IN 1..many LOOP
        v := tamis_add(v, i);
        IF NOT v @> i OR tamis_items(v) <> i THEN wrong := wrong + 1; END IF;
        IF i % 3 = 0 THEN
            IF tamis_items(twin) <> i - 3 THEN wrong := wrong + 1; END IF;
            twin := v;
        END IF;
        IF NOT v @> (i + 1) / 2 THEN wrong := wrong + 1; END IF;
    END LOOP;
    RETURN wrong;
END $$;

-- Sees two values of one column in one call.
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    each filters;
BEGIN
    FOREACH each IN ARRAY ARRAY[OLD, NEW, OLD, NEW] LOOP
        IF tamis_items(each.f) <> each.items THEN RAISE 'a trigger sees % items of %', tamis_items(each.f), each.items; END IF;
    END LOOP;
    RETURN NEW;
END $$;
CREATE TRIGGER before_it BEFORE UPDATE ON filters FOR EACH ROW WHEN (NEW.items IS NOT NULL) EXECUTE FUNCTION look();
CREATE TRIGGER after_it AFTER UPDATE ON filters FOR EACH ROW WHEN (NEW.items IS NOT NULL) EXECUTE FUNCTION look();
"""

PREPARED = """
PREPARE items_of(tamis) AS SELECT tamis_items($1);
PREPARE has_number(tamis, bigint) AS SELECT $1 @> $2;
PREPARE has_text(tamis, text) AS SELECT $1 @> $2;
PREPARE missing(int) AS SELECT count(*) FROM model m JOIN filters f USING (id) WHERE id = $1 AND NOT has(f, texts, key);
"""

CHECK = """
SELECT (SELECT count(*) FROM (SELECT id, key FROM model ORDER BY key, id OFFSET 0) m JOIN filters USING (id)
        WHERE NOT CASE WHEN texts THEN f @> name_of(key) ELSE f @> key END),
    (SELECT count(*) FROM filters WHERE tamis_items(f) <> items),
    (SELECT count(*) FROM filters JOIN model USING (id) WHERE counts AND
        CASE WHEN texts THEN tamis_count(f, name_of(key)) ELSE tamis_count(f, key) END < least(times, 15))"""


class Wrong(Exception):
    """An answer that must not be."""


class Program:
    def __init__(self, number, sessions):
        self.rng = random.Random(SEED * 1000003 + number)
        self.a, self.b = sessions
        self.number, self.done, self.refused = number, 0, 0
        self.spec, self.texts = {}, {}
        self.space = self.rng.choice([30, 200, 3000])

    def tell(self, session, text):
        if TRACE:
            print(f"# {'ab'[session is self.b]}: {text}", flush=True)
        return session.rows(text)

    def expect(self, session, text, wanted):
        got = self.tell(session, text)
        if got != wanted:
            raise Wrong(f"{text}\n  gives {got[:5]!r}, not {wanted[:5]!r}")

    def keys(self, most=30):
        return [self.rng.randrange(self.space) for _ in range(self.rng.randint(1, most))]

    def array(self, keys):
        return f"ARRAY[{','.join(map(str, keys))}]::bigint[]"

    def which(self, kinds=None):
        ids = [i for i in FILTERS if not kinds or self.spec[i].startswith(kinds)]
        return self.rng.choice(ids or FILTERS)

    # ---- The start --------------------------------------------------------------------------------

    def start(self):
        for session in (self.a, self.b):
            session.rows("ROLLBACK; CLOSE ALL; RESET ALL; SET client_min_messages = error; SET synchronous_commit = off")
        self.tell(self.a, ("TRUNCATE" if self.number % REST == 0 else "DELETE FROM") + " filters")
        self.tell(self.a, ("TRUNCATE" if self.number % REST == 0 else "DELETE FROM") + " model")
        pool = self.rng.choice([SMALL, LARGE, SMALL + LARGE])
        twin = self.rng.choice(pool)
        for i in FILTERS:
            self.spec[i] = twin if i <= 2 else self.rng.choice(pool)
            self.texts[i] = self.rng.random() < .4 if i != 2 else self.texts[1]
            self.tell(self.a, f"INSERT INTO filters VALUES ({i}, '{self.spec[i]}', {self.texts[i]}, 0, "
                              f"{self.spec[i].startswith(COUNTS)}, tamis_new('{self.spec[i]}'))")
        for setting in self.rng.sample(SETTINGS, self.rng.randint(0, 3)):
            self.tell(self.a, f"SET {setting}")

    # ---- Changes, in the session that is given ----------------------------------------------------

    def add(self, session):
        self.tell(session, f"SELECT add({self.which()}, {self.array(self.keys())})")

    def add_one(self, session):
        i, key = self.which(), self.keys(1)[0]
        value = f"name_of({key})" if self.texts[i] else f"{key}::bigint"
        self.tell(session, f"WITH it AS (UPDATE filters SET f = tamis_add(f, {value}), items = items + 1 WHERE id = {i} RETURNING id) "
                           f"SELECT note_added(id, ARRAY[{key}]) FROM it")

    def add_many(self, session):
        keys = self.array(self.keys(400))
        self.tell(session, f"SELECT add({self.which()}, {keys})")

    def remove(self, session):
        i = self.which(CHANGEABLE)
        self.tell(session, f"SELECT remove({i}, some_keys({i}, '{self.rng.random()}', {self.rng.choice([1, 5, 1000])}))")

    def union(self, session):
        one, other = self.rng.choice([(1, 2), (2, 1), (1, 2), tuple(self.rng.sample(FILTERS, 2))])
        if self.texts[one] != self.texts[other]:
            return  # one without keys would take the form of the other
        self.tell(session, f"""
            BEGIN; SELECT id FROM filters ORDER BY id FOR UPDATE;
            UPDATE filters x SET f = tamis_union(x.f, y.f), items = x.items + y.items FROM filters y WHERE x.id = {one} AND y.id = {other};
            INSERT INTO model SELECT {one}, key, times FROM model WHERE id = {other}
                ON CONFLICT (id, key) DO UPDATE SET times = model.times + excluded.times;
            COMMIT""")

    def rebuild(self, session):
        i = self.which()
        spec = self.rng.choice(BUILT + COUNTED + SMALL + LARGE)
        key = "name_of(key)" if self.texts[i] else "key"
        is_built, counts = spec.startswith(("fuse", "ribbon", "gcs")), spec.startswith(COUNTS)
        setup = PARALLEL.format(leads=self.rng.choice(["on", "off"])) if self.rng.random() < .4 else ALONE
        build = f"SELECT tamis_build({key}, '{spec}') FROM model, generate_series(1, times) WHERE id = {i}"
        self.tell(session, setup)
        self.tell(session, f"""
            UPDATE filters SET f = ({build}), spec = '{spec}', counts = {counts},
                items = (SELECT {'count(*)' if is_built else 'sum(times)'} FROM model WHERE id = {i})
            WHERE id = {i} AND EXISTS (SELECT FROM model WHERE id = {i})""")
        row = self.tell(session, f"SELECT spec FROM filters WHERE id = {i}")
        self.spec[i] = row[0][0]

    def fold(self, session):
        self.tell(session, f"UPDATE filters SET f = tamis_fold(f, {self.rng.choice([2, 2, 3])}) WHERE id = {self.which()}")

    def resize(self, session):
        self.tell(session, f"UPDATE filters SET f = tamis_resize(f, {self.rng.choice([100, 1000, 4000])}) WHERE id = {self.which()}")

    def swap(self, session):
        """Each row gets the value of another one, with its keys."""
        one, other = self.rng.sample(FILTERS, 2)
        self.tell(session, f"""
            BEGIN; SELECT id FROM filters ORDER BY id FOR UPDATE;
            UPDATE filters x SET spec = y.spec, texts = y.texts, items = y.items, counts = y.counts, f = y.f
                FROM filters y WHERE x.id IN ({one}, {other}) AND y.id IN ({one}, {other}) AND x.id <> y.id;
            UPDATE model SET id = -id WHERE id IN ({one}, {other});
            UPDATE model SET id = {one + other} + id WHERE id < 0;
            COMMIT""")
        for of in (self.spec, self.texts):
            of[one], of[other] = of[other], of[one]

    def through_bytes(self, session):
        i = self.which()
        self.tell(session, f"UPDATE filters SET f = f::bytea::tamis WHERE id = {i}; UPDATE filters SET f = f::text::tamis WHERE id = {i}")

    def change(self, session):
        self.rng.choice([self.add, self.add, self.add_one, self.add_many, self.remove, self.remove, self.union, self.rebuild, self.rebuild,
                         self.fold, self.resize, self.swap, self.through_bytes])(session)

    def small_change(self, session):
        """One that can be in a transaction."""
        self.rng.choice([self.add, self.add_one, self.add_many, self.remove])(session)

    # ---- Ways of asking ---------------------------------------------------------------------------

    def ask_in_loop(self):
        ids = [self.which() for _ in range(6)]
        self.expect(self.a, f"SELECT wrong_in_loop({self.array(ids)}::int[])", [("0",)])

    def ask_new(self):
        spec = self.rng.choice([s for s in SMALL + LARGE if "size" not in s])
        self.expect(self.a, f"SELECT wrong_of_new('{spec}', 40)", [("0",)])

    def ask_prepared(self):
        for _ in range(8):
            i = self.which()
            items = self.tell(self.b, f"SELECT items FROM filters WHERE id = {i}")
            self.expect(self.a, f"EXECUTE items_of(get({i}))", items)
            self.expect(self.a, f"EXECUTE missing({i})", [("0",)])
            for (key,) in self.tell(self.b, f"SELECT unnest(some_keys({i}, '{self.rng.random()}', 2))"):
                has = f"has_text(get({i}), name_of({key}))" if self.texts[i] else f"has_number(get({i}), {key})"
                self.expect(self.a, f"EXECUTE {has}", [("t",)])
            if self.rng.random() < .3:
                self.small_change(self.b)

    def ask_by_cursor(self):
        """Rows of one moment, whatever is changed while they are fetched, also by the same transaction."""
        is_held = self.rng.random() < .3
        what = self.rng.choice([
            "SELECT tamis_items(f) = items AND has(f, texts, key) FROM (SELECT * FROM model ORDER BY key, id OFFSET 0) m "
            "JOIN filters USING (id)",
            "SELECT tamis_items(f) = items FROM filters, generate_series(1, 9) g ORDER BY g, id",
            "SELECT wrong_in_loop(ARRAY[id]) = 0 FROM filters"])
        rows = self.tell(self.b, "SELECT count(*) FROM model")
        self.tell(self.a, "BEGIN" if self.rng.random() < .5 else "BEGIN ISOLATION LEVEL REPEATABLE READ")
        self.tell(self.a, f"DECLARE c CURSOR {'WITH HOLD ' * is_held} FOR {what}")
        got = self.tell(self.a, "FETCH 3 FROM c")
        if self.rng.random() < .5:
            self.small_change(self.b)
        else:
            self.small_change(self.a)
        got += self.tell(self.a, "FETCH 7 FROM c")
        if is_held:
            self.tell(self.a, self.rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]))
            if self.tell(self.a, "SELECT count(*) FROM pg_cursors WHERE name = 'c'") == [("0",)]:
                return
            self.change(self.b)
        got += self.tell(self.a, "FETCH ALL FROM c")
        self.tell(self.a, "CLOSE c; COMMIT")
        if set(got) - {("t",)} or (what.startswith("SELECT tamis_items(f) = items AND") and len(got) != int(rows[0][0])):
            raise Wrong(f"cursor of {what}: {set(got)}, {len(got)} rows, {rows} keys")

    def ask_in_subtransactions(self):
        self.tell(self.a, "BEGIN")
        self.small_change(self.a)
        before = self.tell(self.a, "SELECT id, items FROM filters ORDER BY id")
        self.tell(self.a, "SAVEPOINT s")
        self.small_change(self.a)
        self.check(self.a)
        self.expect(self.a, "SELECT wrong_in_loop(ARRAY[1, 2, 3, 4])", [("0",)])
        self.tell(self.a, "ROLLBACK TO s")
        self.expect(self.a, "SELECT wrong_in_loop(ARRAY[4, 3, 2, 1])", [("0",)])
        self.expect(self.a, "SELECT id, tamis_items(f) FROM filters ORDER BY id", before)
        self.check(self.a)
        self.tell(self.a, self.rng.choice(["COMMIT", "ROLLBACK"]))

    def ask_in_block(self):
        """A block that is undone, then one with transactions of its own."""
        i, keys = self.which(), self.array(self.keys())
        self.tell(self.a, f"""DO $$
            DECLARE v tamis; n bigint;
            BEGIN
                SELECT f, items INTO v, n FROM filters WHERE id = {i};
                BEGIN
                    PERFORM add({i}, {keys});
                    v := get({i});
                    IF tamis_items(v) <> n + cardinality({keys}) THEN RAISE 'old value'; END IF;
                    RAISE division_by_zero;
                EXCEPTION WHEN division_by_zero THEN NULL;
                END;
                IF tamis_items(get({i})) <> n THEN RAISE 'new value'; END IF;
                v := get({i});
                IF tamis_items(v) <> n THEN RAISE 'new value in a variable'; END IF;
                PERFORM add({i}, {keys});
                COMMIT;
                IF tamis_items(get({i})) <> n + cardinality({keys}) THEN RAISE 'old value after COMMIT'; END IF;
                IF tamis_items(v) <> n THEN RAISE 'the variable changed'; END IF;
                v := get({i});
                IF tamis_items(v) <> n + cardinality({keys}) THEN RAISE 'old value in a variable'; END IF;
            END $$""")

    def ask_temporary(self):
        storage = self.rng.choice(["external", "extended", "main", "plain"])
        drop = self.rng.choice(["DROP TABLE t", "ROLLBACK"])
        self.tell(self.a, f"""BEGIN; CREATE TEMP TABLE t (LIKE filters) ON COMMIT DROP; ALTER TABLE t ALTER f SET STORAGE {storage};
            INSERT INTO t SELECT * FROM filters WHERE octet_length(f::bytea) < {5000 if storage == 'plain' else 10 ** 9}""")
        self.expect(self.a, "SELECT count(*) FROM t JOIN model USING (id) WHERE NOT has(f, texts, key)", [("0",)])
        self.expect(self.a, "SELECT count(*) FROM t WHERE tamis_items(f) <> items", [("0",)])
        self.tell(self.a, "UPDATE t SET f = y.f, texts = y.texts, items = y.items FROM filters y WHERE y.id = 1 + t.id % 4 "
                          f"AND octet_length(y.f::bytea) < {5000 if storage == 'plain' else 10 ** 9}")
        self.expect(self.a, "SELECT count(*) FROM t, generate_series(1, 3) WHERE tamis_items(f) <> items", [("0",)])
        self.tell(self.a, f"{drop}; COMMIT")

    def ask_inside(self):
        """Values in arrays and rows, which are inline however large."""
        self.expect(self.a, "SELECT count(*) FROM (SELECT array_agg(x ORDER BY id) rows FROM filters x) all_of, generate_series(1, 3), "
                            "unnest(rows) r WHERE tamis_items(r.f) <> r.items", [("0",)])
        self.expect(self.a, "SELECT count(*) FROM (SELECT array_agg(f ORDER BY id) f, array_agg(items ORDER BY id) n FROM filters) x, "
                            "generate_series(1, 3), generate_series(1, 4) i WHERE tamis_items(f[i]) <> n[i]", [("0",)])
        self.expect(self.a, "SELECT count(*) FROM filters x JOIN filters y ON x.f = y.f AND x.id = y.id "
                            "WHERE NOT tamis_items(x.f) = tamis_items(y.f)", [("0",)])

    def ask_in_parallel(self):
        """The same bytes by one process and by several."""
        spec = self.rng.choice(BUILT + COUNTED + SMALL)
        key = self.rng.choice(["key", "name_of(key)"])
        build = f"SELECT id, md5(tamis_build({key}, '{spec}' ORDER BY key)::bytea) FROM model GROUP BY id ORDER BY id"
        if not spec.startswith(("cuckoo", "grow", "scalable", "dleft", "multiset", "quotient")):
            build = build.replace(" ORDER BY key", "")
        self.tell(self.a, ALONE)
        one = self.tell(self.a, build)
        self.tell(self.a, PARALLEL.format(leads=self.rng.choice(["on", "off"])))
        self.expect(self.a, build, one)
        self.check(self.a)
        self.expect(self.a, "SELECT count(*) FROM model WHERE NOT has(get(id), (SELECT texts FROM filters WHERE id = model.id), key)",
                    [("0",)])

    def ask_union(self):
        self.expect(self.a, "SELECT count(*) FROM (SELECT tamis_union(f) f, bool_and(texts) texts FROM filters WHERE id IN (1, 2)) u "
                            "JOIN model m ON m.id IN (1, 2) WHERE NOT has(u.f, u.texts, key)", [("0",)])

    def ask_rewritten(self):
        storage = "ALTER TABLE filters ALTER f SET STORAGE"
        self.tell(self.a, self.rng.choice([
            "VACUUM FULL filters", "CLUSTER filters USING filters_pkey", "VACUUM filters", "ANALYZE model", f"{storage} extended",
            f"{storage} external", f"{storage} main; VACUUM FULL filters"]))

    # ---- The whole --------------------------------------------------------------------------------

    def check(self, session):
        self.expect(session, CHECK, [("0", "0", "0")])

    def step(self):
        ways = [self.ask_in_loop, self.ask_in_loop, self.ask_new, self.ask_prepared, self.ask_prepared, self.ask_by_cursor,
                self.ask_by_cursor, self.ask_in_subtransactions, self.ask_in_block, self.ask_temporary, self.ask_inside,
                self.ask_in_parallel, self.ask_union, self.ask_rewritten]
        try:
            if self.rng.random() < .55:
                self.change(self.rng.choice([self.a, self.b]))
            else:
                self.rng.choice(ways)()
            self.done += 1
        except pg.Error as e:
            if "tamis:" not in str(e):
                raise
            self.refused += 1
            if TRACE:
                print(f"# refused: {e}")
            for session in (self.a, self.b):
                session.rows("ROLLBACK; CLOSE ALL")
            for i, spec, texts in self.tell(self.a, "SELECT id, spec, texts FROM filters"):
                self.spec[int(i)], self.texts[int(i)] = spec, texts == "t"

    def run(self):
        self.start()
        for _ in range(STEPS):
            self.step()
            self.check(self.a)
            self.check(self.b)


def main():
    tap = pg.Tap()
    done = refused = failed = 0
    with pg.Server(["client_min_messages = error", "log_min_messages = error", "max_wal_size = 2GB"]) as server:
        server.start()
        sessions = server.with_extension(), server.session()
        sessions[0].rows(SCHEMA)
        for session in sessions:
            session.rows(PREPARED)
        for number in range(FIRST, FIRST + PROGRAMS):
            program = Program(number, sessions)
            try:
                program.run()
            except (Wrong, pg.Error) as e:
                failed += 1
                print(f"# program {number}: {type(e).__name__}: {str(e)[:3000]}".replace("\n", "\n#   "))
                print(f"# again:  SEED={SEED} FIRST={number} PROGRAMS=1 TRACE=1 tests/postgres/programs.py", flush=True)
                if failed == 5 or "connection" in str(e):
                    print("# " + "\n# ".join(server.log().splitlines()[-10:]))
                    break
                continue
            done += program.done
            refused += program.refused
        tap.check(not failed, f"{PROGRAMS} programs from seed {SEED}: no key is missing, no value is taken for another")
        tap.check(done > 3 * refused or PROGRAMS < 50, f"{done} steps were done, {refused} refused")
        tap.check("PANIC" not in server.log() and "terminated by signal" not in server.log(), "no process of the server died")
        for session in sessions:
            session.close()
    return tap.end()


pg.skip_unless_possible()
sys.exit(main())
