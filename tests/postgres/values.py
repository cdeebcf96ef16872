#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every function and operator of the extension, with its errors: values come in and go out as they are, damaged ones are
refused at every door, every kind does what it says it can and refuses the rest with a sentence, aggregates give the same
bytes however the server runs them, limits bind who makes a filter and nobody else, the planner's estimates are near the
truth, and the extension's objects are labelled, described, owned and upgraded as they should be."""
import json
import os
import random
import struct
import sys

import pg
from pg import Server, Tap

tap = Tap()
SMALL = ["blocked", "classic", "counting", "cuckoo", "quotient", "gcs", "fuse", "ribbon", "window", "scalable", "countmin", "iblt",
         "guava:capacity=50",
         "redisbloom:capacity=50"]


def image_of(s, query):
    return bytes.fromhex(s.one(f"SELECT encode(({query})::bytea, 'hex')"))


def literal(image):
    return f"'\\x{image.hex()}'"


def make_tables(s):
    s.rows("CREATE TABLE t AS SELECT i, 'key ' || i AS k, i % 7 AS g FROM generate_series(1, 500) i")
    s.rows("CREATE TABLE other AS SELECT i, 'key ' || i AS k FROM generate_series(501, 2500) i")
    s.rows("CREATE TABLE empty (k text, i int, f tamis)")


# ---- The type ---------------------------------------------------------------------------------------------


def in_and_out(server, s):
    s.rows("CREATE TABLE f (id int, f tamis)")
    s.rows("INSERT INTO f SELECT 0, tamis_build(k) FROM t")
    for i, spec in enumerate(SMALL, 1):
        s.rows(f"INSERT INTO f SELECT {i}, tamis_build(k, '{spec}') FROM t WHERE i <= 40")
    s.rows("INSERT INTO f SELECT 90, tamis_build(i, 'blocked:fpr=1e-9') FROM generate_series(1, 100000) i; INSERT INTO f VALUES (99, NULL)")
    whole = s.rows("SELECT id, md5(f::bytea), f IS NULL FROM f ORDER BY id")
    for how in ("text", "binary", "csv"):
        path = os.path.join(server.folder, f"copy.{how}")
        s.rows(f"COPY f TO '{path}' WITH (FORMAT {how})")
        s.rows("CREATE TABLE back (LIKE f)")
        s.rows(f"COPY back FROM '{path}' WITH (FORMAT {how})")
        tap.equal(s.rows("SELECT id, md5(f::bytea), f IS NULL FROM back ORDER BY id"), whole, f"COPY as {how} and back")
        s.rows("DROP TABLE back")
    tap.equal(s.one("SELECT count(*) FROM f WHERE f::text::tamis::bytea <> f::bytea OR tamis(f::bytea) <> f OR f::bytea::tamis <> f OR "
                    "tamis_send(f) <> f::bytea "
                    "OR tamis_out(f)::text <> f::bytea::text OR tamis_in(tamis_out(f), 0, -1) <> f"), "0", "text, bytea and the functions of the "
                    "type, there and back")
    tap.equal(s.one("SELECT count(*) FROM f WHERE f::text <> '\\x' || encode(f::bytea, 'hex')"), "0", "the text is hex digits")
    s.rows("SET bytea_output = escape")
    tap.equal(s.one("SELECT count(*) FROM f WHERE f::text <> '\\x' || encode(f::bytea, 'hex')"), "0", "whatever bytea_output is")
    s.rows("RESET bytea_output")
    tap.equal(s.one("SELECT count(*) FROM f WHERE ('\\x' || upper(substr(f::text, 3)))::tamis <> f"), "0", "capital digits are read")
    s.rows("CREATE DOMAIN seen AS tamis CHECK (tamis_note(VALUE, 'encoding') = 'utf8')")
    tap.equal(s.one("SELECT tamis_build('a')::seen @> 'a'"), "t", "a domain on it")
    tap.check("violates check" in s.error("SELECT tamis_build(1)::seen"), "with a check")
    s.rows("CREATE TABLE kept (d date PRIMARY KEY, f tamis DEFAULT tamis_new('blocked:capacity=100'), a tamis[])")
    s.rows("INSERT INTO kept VALUES ('2024-01-01')")
    s.rows("UPDATE kept SET f = tamis_add(f, 'a'), a = ARRAY[f, (SELECT tamis_build('b'))]")
    tap.equal(s.one("SELECT f @> 'a' AND NOT a[1] @> 'a' AND a[2] @> 'b' FROM kept"), "t", "defaults, updates and arrays")
    tap.equal(s.one("SELECT jsonb_populate_record(NULL::f, to_jsonb(x)) = x FROM f x WHERE id = 1"), "t", "through JSON and back")
    tap.equal(s.rows("SELECT attstorage FROM pg_attribute WHERE attrelid = 'f'::regclass AND attname = 'f'"), [("e",)],
              "values are not compressed")


def columns_of_one_kind(server, s):
    s.rows("CREATE TABLE single (id int, f tamis(blocked), w tamis('window'))")
    tap.equal(s.rows("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'single'::regclass AND attname IN ('f', 'w')"),
              [("tamis('blocked')",), ("tamis('window')",)], "a column of one kind says so")
    s.rows("INSERT INTO single SELECT 1, tamis_build(k), NULL FROM t; INSERT INTO single VALUES (2, NULL, tamis_new('window:capacity=100'))")
    s.rows("UPDATE single SET f = tamis_add(f, 'more') WHERE id = 1; UPDATE single SET f = tamis_union(f, f)")
    tap.equal(s.rows("SELECT id, f @> 'more', w IS NULL FROM single ORDER BY id"), [("1", "t", "t"), ("2", "NULL", "f")], "it takes its kind")
    classic = image_of(s, "SELECT tamis_build(k, 'classic') FROM t")
    path = os.path.join(server.folder, "copy.kind")
    s.rows("CREATE TABLE any_kind AS SELECT 3 AS id, tamis_build(i, 'classic:fpr=1e-9') AS f, NULL::tamis AS w FROM generate_series(1, 9999) i")
    doors = ["INSERT INTO single SELECT 3, tamis_build(k, 'classic') FROM t", f"INSERT INTO single VALUES (3, {literal(classic)})",
             f"INSERT INTO single VALUES (3, {literal(classic)}::bytea::tamis)", "INSERT INTO single SELECT * FROM any_kind",
             "UPDATE single SET f = tamis_new('classic:capacity=9')", "UPDATE single SET w = f WHERE id = 1",
             f"SELECT {literal(classic)}::tamis(blocked)", "ALTER TABLE any_kind ALTER f TYPE tamis(blocked)"]
    for how in ("text", "binary"):
        s.rows(f"COPY (SELECT 3, f, w FROM any_kind) TO '{path}.{how}' WITH (FORMAT {how})")
        doors.append(f"COPY single FROM '{path}.{how}' WITH (FORMAT {how})")
    for door in doors:
        tap.check("where the column is tamis('" in s.error(door), f"and no other: {door[:60]}")
    s.rows("ALTER TABLE any_kind ALTER f TYPE tamis('classic'); ALTER TABLE single ALTER f TYPE tamis")
    tap.equal(s.one("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'single'::regclass AND attname = 'f'"), "tamis",
              "a column can be of any kind again")
    for modifier, said in (("blockd", "no kind blockd"), ("1", "no kind 1"), ("blocked, classic", "not of 2"), ("''", "no kind")):
        tap.check(said in s.error(f"CREATE TABLE bad (f tamis({modifier}))"), f"refused: tamis({modifier})")
    s.rows("DROP TABLE single, any_kind")


def order(s):
    """As the bytes, in all ways that the server has."""
    s.rows("CREATE TABLE twice AS SELECT * FROM f UNION ALL SELECT id + 100, f FROM f")
    for symbol in ("=", "<>", "<", "<=", ">", ">="):
        tap.equal(s.one(f"SELECT count(*) FROM f a, f b WHERE (a.f {symbol} b.f) IS DISTINCT FROM (a.f::bytea {symbol} b.f::bytea)"), "0",
                  f"{symbol} is that of bytes")
    tap.equal(s.one("SELECT count(*) FROM f a, f b WHERE sign(tamis_cmp(a.f, b.f)) <> CASE WHEN a.f < b.f THEN -1 WHEN a.f > b.f THEN 1 "
                    "ELSE 0 END"), "0", "tamis_cmp")
    tap.equal(s.one("SELECT count(*) FROM twice a, twice b WHERE a.f = b.f AND (tamis_hash(a.f) <> tamis_hash(b.f) OR "
                    "tamis_hash_extended(a.f, 5) <> tamis_hash_extended(b.f, 5))"),
              "0", "equal values have equal hashes")
    n = int(s.one("SELECT count(f) FROM f"))
    for sorts, hashes in (("on", "off"), ("off", "on")):
        s.rows(f"SET enable_sort = {sorts}; SET enable_hashagg = {hashes}; SET enable_hashjoin = {hashes}; SET enable_mergejoin = "
               f"{sorts}; SET enable_nestloop = off")
        plan = "\n".join(s.lines("EXPLAIN SELECT count(*) FROM twice a JOIN twice b USING (f)"))
        tap.check(("Merge Join" if sorts == "on" else "Hash Join") in plan, "by sorting" if sorts == "on" else "by hashing")
        tap.equal(s.one("SELECT count(*) FROM (SELECT DISTINCT f FROM twice) x"), str(n + 1), "DISTINCT")
        tap.equal(s.one("SELECT count(*) FROM (SELECT f FROM twice WHERE f IS NOT NULL GROUP BY f HAVING count(*) = 2) x"), str(n),
                  "GROUP BY")
        tap.equal(s.one("SELECT count(*) FROM twice a JOIN twice b USING (f)"), str(4 * n), "joins")
        tap.equal(s.one("SELECT count(*) FROM (SELECT f FROM f INTERSECT SELECT f FROM twice) x"), str(n + 1), "INTERSECT")
    s.rows("RESET ALL; SET tamis.directory = '" + s.server.filters + "'")
    tap.equal(s.rows("SELECT id FROM f ORDER BY f, id"), s.rows("SELECT id FROM f ORDER BY f::bytea, id"), "ORDER BY")
    s.rows("CREATE TABLE few AS SELECT * FROM f WHERE octet_length(f::bytea) < 2000")
    for method in ("btree", "hash"):
        s.rows(f"CREATE INDEX one ON few USING {method} (f); SET enable_seqscan = off; SET enable_bitmapscan = off")
        one = s.one("SELECT f::text FROM few WHERE id = 1")
        tap.check("Index" in "\n".join(s.lines(f"EXPLAIN SELECT id FROM few WHERE f = '{one}'")), f"{method}: an index is used")
        tap.equal(s.rows(f"SELECT id FROM few WHERE f = '{one}'"), [("1",)], f"{method}: and finds it")
        s.rows("DROP INDEX one; RESET enable_seqscan; RESET enable_bitmapscan")
    s.rows("CREATE UNIQUE INDEX one ON few (f)")
    tap.check("duplicate key" in s.error("INSERT INTO few SELECT 7, f FROM few WHERE id = 1"), "a unique index")
    s.rows("CREATE TABLE parts (f tamis) PARTITION BY HASH (f); CREATE TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, "
           "REMAINDER 0); "
           "CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1)")
    s.rows("INSERT INTO parts SELECT f FROM f WHERE f IS NOT NULL")
    tap.equal(s.one("SELECT count(*) FROM parts"), str(n), "partitions by hash")


# ---- Damage -----------------------------------------------------------------------------------------------

DAMAGE = """CREATE FUNCTION doors(image bytea, OUT taken int, OUT codes text[]) LANGUAGE plpgsql AS $$
DECLARE v tamis; how int;
BEGIN
    taken := 0;
    codes := '{}';
    FOR how IN 1..3 LOOP
        BEGIN
            IF how = 1 THEN v := image::tamis;
            ELSIF how = 2 THEN v := image::text::tamis;
            ELSE v := tamis(image); END IF;
            taken := taken + 1;
        EXCEPTION WHEN OTHERS THEN codes := codes || SQLSTATE;
        END;
    END LOOP;
END $$"""


def binary_copy(image):
    field = struct.pack(">i", len(image)) + image
    return b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0) + struct.pack(">h", 1) + field + struct.pack(">h", -1)


def damage(server, s):
    s.rows(DAMAGE)
    r = random.Random(7)
    before = s.one("SELECT pg_backend_pid()")
    s.rows("CREATE TABLE door (f tamis)")
    path = os.path.join(server.folder, "door")
    codes = set()
    for spec in SMALL:
        image = image_of(s, f"SELECT tamis_build(k, '{spec}') FROM t WHERE i <= 40")
        places = sorted(set(range(0, 192, 2)) | set(r.sample(range(len(image)), min(200, len(image)))))
        changed = []
        for at in places:
            bad = bytearray(image)
            bad[at] ^= 1 << r.randrange(8)
            changed.append(bytes(bad))
        changed += [image[:n] for n in (0, 1, 7, 8, 100, 191, 192, 193, len(image) // 2, len(image) - 1)]
        changed += [image + b"\0" * n for n in (1, 7, 8, 64)] + [image + image, image[1:], b"\0" * len(image), b"\xff" * len(image)]
        values = ", ".join(f"({literal(b)}::bytea)" for b in changed)
        rows = s.rows(f"SELECT sum(taken), (SELECT array_agg(DISTINCT c) FROM unnest(array_agg(codes[1])) c)::text FROM (VALUES {values}) "
                      f"v(b), doors(b)")
        tap.equal(rows[0][0], "0", f"{spec}: {len(changed)} damaged images are refused by cast, text and function")
        codes |= set(rows[0][1].strip("{}").split(","))
        taken = 0
        for bad in [*r.sample(changed, 10), b""]:
            with open(path, "wb") as file:
                file.write(binary_copy(bad))
            taken += not any(line.startswith("ERROR:  tamis") for line in s.lines(f"COPY door FROM '{path}' WITH (FORMAT binary)"))
        tap.equal(taken, 0, f"{spec}: and by binary COPY")
        with open(path, "wb") as file:
            file.write(binary_copy(image))
        tap.equal(s.rows(f"COPY door FROM '{path}' WITH (FORMAT binary)"), [], f"{spec}: the whole image is taken")
        tap.equal(s.one(f"SELECT taken FROM doors({literal(image)})"), "3", f"{spec}: by the others, too")
        with open(os.path.join(server.filters, "bad.tamis"), "wb") as file:
            file.write(changed[-1])
        tap.check("ERROR:  tamis" in s.error("SELECT tamis_read('bad.tamis')"), f"{spec}: and in files")
    tap.check(codes <= {"22P03", "22023", "0A000", "54000"}, f"what is said: {' '.join(sorted(codes))}")
    tap.equal(s.one("SELECT pg_backend_pid()"), before, "the backend is the same")


# ---- Kinds ------------------------------------------------------------------------------------------------

NEVER = {  # no keys, or made by others alone
    "fingerprint": "cannot add", "hadoop-retouched": "cannot add", "leveldb-block": "is what a table was written with",
}
FORGETS = {"stable"}  # and says so
INTEGERS = {"binary-fuse"}
ABILITIES = {"remove": "tamis_remove(f, {one})", "get": "tamis_get(f, {one})", "put": "tamis_put(f, {one}, 1)",
             "label": "tamis_which(f, {one})",
             "union": "tamis_union(f, f)", "intersect": "tamis_intersect(f, f)", "resize": "tamis_resize(f, 2000)", "tick": "tamis_tick(f)",
             "add": "tamis_add(f, {one})",
             "fold": "tamis_fold(f, 2)"}


def kinds(s):
    rows = s.rows("SELECT kind, is_built_once, contract, array_to_string(abilities, ' ') FROM tamis_kinds()")
    tap.check(len(rows) > 50 and all(contract for _, _, contract, _ in rows), f"tamis_kinds: {len(rows)} kinds")
    for kind, is_built, _, _ in rows:
        spec = f"{kind}:capacity=600"
        if kind in NEVER:
            for use in (f"tamis_build(k, '{spec}') FROM t", f"tamis_add(tamis_new('{spec}'), 'x')"):
                tap.check(NEVER[kind] in s.error(f"SELECT {use}"), f"{kind}: {use} is refused")
            continue
        column = "i" if kind in INTEGERS else "k"
        s.rows(f"DROP TABLE IF EXISTS made; CREATE TABLE made AS SELECT 'built' how, tamis_build({column}, '{spec}') f FROM t")
        added = f"tamis_add(tamis_new('{spec}'), (SELECT array_agg({column}) FROM t))"
        if is_built == "t":
            tap.check("is built once, from all its keys" in s.error(f"SELECT {added}"), f"{kind}: is built, not added to")
        else:
            s.rows(f"INSERT INTO made SELECT 'added', {added}")
        found = [n for n, in s.rows(f"SELECT count(*) FILTER (WHERE f @> {column}) FROM t, made GROUP BY how")]
        tap.check(all(n == "500" for n in found) or (kind in FORGETS and all(int(n) > 300 for n in found)),
                  f"{kind}: members are found: {found}")
        does_what_it_says(s, kind, "1" if kind in INTEGERS else "'key 1'")
    for kind in sorted(INTEGERS):
        for spec in (kind, f"{kind}:capacity=600"):
            tap.check("have 8 bytes" in " ".join(s.lines(f"SELECT tamis_build(k, '{spec}') FROM t")),
                      f"{spec}: texts are refused, not lost")


def does_what_it_says(s, kind, one):
    can = set(s.one("SELECT 'nothing ' || array_to_string((tamis_info(f)).abilities, ' ') FROM made LIMIT 1").split()) - {"nothing"}
    wrong = []
    for ability, call in ABILITIES.items():
        said = " ".join(s.lines(f"SELECT pg_typeof({call.format(one=one)}) FROM made LIMIT 1"))
        is_refused = said.startswith("ERROR:")
        is_for_others = any(words in said for words in ("does not divide", "no room", "is full", "cannot hold", "has room for",
                                                        "slots can be in use"))
        if is_refused and not said.startswith("ERROR:  tamis: "):
            wrong.append((ability, said))
        elif is_refused == (ability in can) and not (is_refused and is_for_others):
            wrong.append((ability, said))
    tap.equal(wrong, [], f"{kind}: can {' '.join(sorted(can))}, and refuses the rest")


# ---- Changes ----------------------------------------------------------------------------------------------


def changes(s):
    f = "tamis_new('blocked:capacity=100,fpr=1e-9')"
    tap.equal(s.one(f"SELECT tamis_items({f})"), "0", "tamis_new is empty")
    tap.equal(s.one(f"SELECT tamis_items(tamis_add({f}, ARRAY['a', NULL, 'b', 'a']::text[]))"), "3",
              "tamis_add of an array leaves NULL out")
    tap.equal(s.one(f"SELECT tamis_add({f}, ARRAY[]::int[]) = {f} AND tamis_add({f}, ARRAY[NULL]::int[]) = {f}"), "t",
              "and of nothing changes nothing")
    tap.equal(s.one(f"SELECT tamis_has_all(tamis_add({f}, ARRAY[[1, 2], [3, 4]]), '{{{{1,4}},{{2,3}}}}'::int[])"), "t", "arrays of arrays")
    tap.equal(s.one(f"SELECT tamis_add(tamis_add({f}, 5), 6::smallint) @> 6::bigint"), "t", "one key after another")
    tap.check("never one of them" in s.error(f"SELECT tamis_add(tamis_add({f}, 5), 1.5::float8)"), "but of one form")
    for name, arguments in (("tamis_add", "1"), ("tamis_add", "NULL::int[]"), ("tamis_remove", "1"), ("tamis_put", "1, 1"),
                            ("tamis_union", "NULL"), ("tamis_fold", "2"),
                            ("tamis_tick", ""), ("tamis_set_note", "'a', 'b'"), ("tamis_has", "1"), ("tamis_has_any", "ARRAY[1]"),
                            ("tamis_info", ""), ("tamis_items", "")):
        call = f"{name}(NULL::tamis{', ' if arguments else ''}{arguments})"
        tap.equal(s.one(f"SELECT {call} IS NULL"), "t", f"{call} is NULL")
    c = "tamis_add(tamis_new('counting:capacity=100,fpr=1e-9'), ARRAY['a', 'a', 'b'])"
    tap.equal(s.rows(f"SELECT tamis_count({c}, 'a'), tamis_count({c}, 'b'), tamis_count({c}, 'c'), tamis_items({c})"),
              [("2", "1", "0", "3")], "tamis_count")
    tap.equal(s.rows(f"SELECT tamis_count(f, 'a'), f @> 'b', tamis_items(f) FROM tamis_remove({c}, ARRAY['a', NULL, 'b']) f"),
              [("1", "f", "1")], "tamis_remove of an array")
    tap.equal(s.one(f"SELECT tamis_count(tamis_remove({c}, 'a'), 'a')"), "1", "and of one key")
    tap.check("ERROR:  tamis: " in s.error(f"SELECT tamis_remove({c}, 'never added')"), "what is not there cannot be removed")
    tap.equal(s.one("SELECT tamis_count(tamis_add(tamis_new('multiset:capacity=10'), array_fill(7, ARRAY[1000])), 7)"), "1000",
              "large counts")
    tap.equal(s.one("SELECT tamis_has_any(tamis_build('a'), ARRAY[NULL, 'b', 'a']) AND NOT tamis_has_any(tamis_build('a'), ARRAY[NULL, "
                    "'b']) AND "
                    "tamis_has_all(tamis_build('a'), ARRAY[NULL, 'a']) AND NOT tamis_has_all(tamis_build('a'), ARRAY['a', 'b']) AND "
                    "tamis_has_all(tamis_build('a'), ARRAY[]::text[]) AND NOT tamis_has_any(tamis_build('a'), ARRAY[]::text[])"), "t",
                    "tamis_has_any and tamis_has_all")
    tap.equal(s.one("SELECT tamis_has(f, 'a') AND tamis_is_in('a', f) AND 'a' <@ f AND f @> 'a' AND tamis_has(f, 'a'::name) AND 'a'::name "
                    "<@ f AND tamis_is_in('a'::varchar, f) "
                    "FROM (SELECT tamis_build('a') f) x"), "t", "all ways to ask")
    maps(s)
    sets(s)
    shapes(s)


def maps(s):
    s.rows("DROP TABLE IF EXISTS made; CREATE TABLE made AS SELECT tamis_build_map(k, i) m, tamis_build_map(i, i * 1000, "
           "'bloomier:value=20,guard=30') n, "
           "tamis_build_labels(k, 'g' || g) l, tamis_build_labels(i, 'g' || g, 'labels:fpr=1e-6') j FROM t")
    tap.equal(s.one("SELECT count(*) FROM t, made WHERE tamis_get(m, k) = i AND tamis_get(n, i) = i * 1000"), "500",
              "tamis_build_map and tamis_get")
    tap.equal(s.one("SELECT count(*) FROM other, made WHERE tamis_get(n, i) IS NOT NULL"), "0", "others have none")
    tap.equal(s.one("SELECT count(*) FROM t, made WHERE 'g' || g = ANY (tamis_which(l, k)) AND tamis_which(j, i) = ARRAY['g' || g]"), "500",
              "tamis_build_labels and tamis_which")
    tap.equal(s.one("SELECT count(*) FROM other, made WHERE tamis_which(j, i) <> '{}'"), "0", "others are in no set")
    tap.equal(s.one("SELECT string_agg(label, ' ' ORDER BY label) FROM made, tamis_labels(l)"), "g0 g1 g2 g3 g4 g5 g6", "tamis_labels")
    tap.equal(s.rows("SELECT tamis_labels(tamis_build('a'))"), [], "none of other kinds")
    tap.equal(s.one("SELECT tamis_get(tamis_put(f, 'a', 9), 'a') FROM (SELECT tamis_build_map(k, 7, 'bloomier:value=8,update=yes') f FROM "
                    "(VALUES ('a'), ('b')) x(k)) y"), "9", "tamis_put")
    tap.equal(s.one("SELECT tamis_get(tamis_put(tamis_new('approximator:capacity=100'), 5, 3), 5)"), "3", "of another kind")
    tap.equal(s.one("SELECT tamis_build_map(k, v) IS NULL FROM (VALUES (NULL, 1), ('a', NULL::int)) x(k, v)"), "t",
              "rows without a key or a value are left out")
    for use, said in (("tamis_build_map('a', i) FROM t", "has the values"), ("tamis_build_map(k, 300, 'bloomier:value=8') FROM t", "tamis"),
                      ("tamis_build_map(k, i, 'blocked') FROM t", "tamis"),
                      ("tamis_build_labels(k, '') FROM t", "a label has 1 to 255 bytes"), ("tamis_build_labels(k, 'a', 'blocked') FROM t",
                              "tamis"),
                      ("tamis_get(tamis_build('a'), 'a')", "blocked has no values"), ("tamis_which(tamis_build('a'), 'a')", "blocked has "
                              "no labels"),
                      ("tamis_build_map(k, i) OVER () FROM t", "window")):
        tap.check(said in s.error(f"SELECT {use}"), f"refused: {use}")


def sets(s):
    f = "SELECT tamis_build(k, 'blocked:capacity=500') FROM t WHERE i"
    tap.equal(s.one(f"SELECT tamis_union(({f} <= 300), ({f} > 300)) = ({f} > 0)"), "t", "tamis_union is the filter of both")
    tap.equal(s.one(f"SELECT count(*) FROM t WHERE i BETWEEN 201 AND 300 AND tamis_intersect(({f} <= 300), ({f} > 200)) @> k"), "100",
              "tamis_intersect has what both have")
    tap.equal(s.one(f"SELECT count(*) FROM t, (SELECT tamis_intersect(({f} <= 300), ({f} > 200)) x) y WHERE x @> k") < "200", True,
              "and little else")
    e = "tamis_new('blocked:capacity=500')"
    for union in (f"tamis_union({e}, f)", f"tamis_union(f, {e})", f"(SELECT tamis_union(x) FROM unnest(ARRAY[f, {e}]) x)",
                  f"(SELECT tamis_union(x) FROM unnest(ARRAY[{e}, f]) x)"):
        tap.equal(s.one(f"SELECT tamis_note({union}, 'encoding') || ({union} @> 3) FROM (SELECT tamis_build(i, 'blocked:capacity=500') f "
                        f"FROM t) x"), "int64true",
                  f"one without keys takes the form of the other: {union}")
    for a, b, said in (("tamis_build('a')", "tamis_build('a', 'ribbon')", "kinds differ"),
                       ("tamis_build('a', 'counting')", "tamis_build('a', 'counting:seed=1')", "seeds differ"),
                       ("tamis_build('a')", "tamis_build(1)", "the note encoding is utf8 in one and int64 in the other"),
                       ("tamis_build(1)", "tamis_build(1.5::float8)", "the note encoding is int64 in one and double in the other"),
                       ("tamis_build('a')", "tamis_build('\\x61'::bytea)", "the note encoding is utf8 in one and hex in the other"),
                       ("tamis_set_note(tamis_build(1), 'encoding', NULL)", "tamis_build(1)", "is missing in one and int64 in the other"),
                       ("tamis_set_note(tamis_new('blocked:capacity=1'), 'encoding', 'int64')", "tamis_set_note(tamis_build('a'), "
                        "'encoding', NULL)", "is int64 in one and missing in the other"),
                       ("tamis_set_note(tamis_build('a'), 'canon', 'lower')", "tamis_build('a')", "the note canon is lower in one and "
                        "missing in the other"),
                       ("tamis_build('a', 'fuse')", "tamis_build('b', 'fuse')", "tamis: ")):
        tap.check(said in s.error(f"SELECT tamis_union({a}, {b})"), f"refused: tamis_union({a}, {b})")
        tap.check(said in s.error(f"SELECT tamis_union(x) FROM unnest(ARRAY[(SELECT {a}), (SELECT {b})]) x"), "and as an aggregate")
    tap.check("cannot be intersected" in s.error("SELECT tamis_intersect(tamis_build('a', 'counting'), tamis_build('a', 'counting'))"),
              "refused: tamis_intersect")
    tap.equal(s.one("SELECT tamis_union(tamis_build('a', 'blocked:capacity=9'), tamis_build('b', 'blocked:capacity=9')) @> 'b'"), "t",
              "texts and texts")


def shapes(s):
    tap.equal(s.rows("SELECT octet_length(f::bytea) > octet_length(tamis_fold(f, 2)::bytea), tamis_fold(f, 2) @> 'key 1', tamis_fold(f, "
                     "1) = f FROM "
                     "(SELECT tamis_build(k, 'blocked:size=4KiB,capacity=500') f FROM t) x"), [("t", "t", "t")], "tamis_fold")
    for by in ("0", "-1", "3", "9223372036854775807"):
        tap.check("tamis: " in s.error(f"SELECT tamis_fold(tamis_build(k, 'blocked:size=4KiB,capacity=500'), {by}) FROM t"),
                  f"refused: by {by}")
    tap.equal(s.one("SELECT bool_and(tamis_resize(f, 4000) @> k) FROM t, (SELECT tamis_build(k, 'quotient') f FROM t) x"), "t",
              "tamis_resize")
    for capacity in ("-1", "9223372036854775807", "5"):
        tap.check("tamis: " in s.error(f"SELECT tamis_resize(tamis_build(k, 'quotient'), {capacity}) FROM t"),
                  f"refused: capacity {capacity}")
    tap.equal(s.rows("WITH w AS (SELECT tamis_add(tamis_new('window:capacity=20,by=clock,generations=2'), 'a') f) SELECT f @> 'a', "
                     "tamis_tick(f) @> 'a', "
                     "tamis_tick(tamis_tick(tamis_tick(tamis_tick(f)))) @> 'a' FROM w"), [("t", "t", "f")], "tamis_tick")
    f = "tamis_set_note(tamis_build('a'), 'source', 'a feed')"
    tap.equal(s.rows(f"SELECT tamis_note({f}, 'source'), tamis_note({f}, 'encoding'), tamis_note({f}, 'none'), tamis_set_note({f}, "
                     f"'source', NULL) = tamis_build('a')"),
              [("a feed", "utf8", "NULL", "t")], "tamis_note and tamis_set_note")
    tap.equal(s.one(f"SELECT tamis_set_note({f}, NULL, 'x') IS NULL AND tamis_note({f}, NULL) IS NULL"), "t",
              "a note without a name is NULL")
    for name, value in (("'BAD NAME'", "'x'"), ("''", "'x'"), ("'big'", "repeat('x', 2000000)")):
        tap.check("tamis: " in s.error(f"SELECT tamis_set_note(tamis_build('a'), {name}, {value})"), f"refused: the note {name}")


# ---- Telling ----------------------------------------------------------------------------------------------


def telling(server, s):
    names = "kind spec contract capacity items distinct_items distinct_error fpr_asked fpr_expected fpr_now fill payload_bytes " \
            "stored_bytes hash secret encoding abilities is_saturated is_degraded caveat".split()
    for source in ("tamis_build(k, 'classic:capacity=500')", "tamis_build(k)"):
        row = dict(zip(names, s.rows(f"SELECT (tamis_info(f)).* FROM (SELECT {source} f FROM t) x")[0]))
        some = {name: row[name] for name in ("items", "capacity", "encoding", "hash", "fpr_asked", "is_degraded", "caveat")}
        wanted = dict(items="500", capacity="500", encoding="utf8", hash="xxh3", fpr_asked="0.01", is_degraded="f", caveat="NULL")
        tap.check(some == wanted and 0.001 < float(row["fpr_now"]) < 0.02 and abs(float(row["distinct_items"]) - 500) < 100,
                  f"tamis_info: {row['spec']}")
        tap.equal(s.one(f"SELECT stored_bytes >= payload_bytes AND stored_bytes <= octet_length(f::bytea) FROM (SELECT {source} f FROM t) "
                        f"x, tamis_info(f)"), "t", "and its bytes")
        tap.equal(s.one(f"SELECT tamis_spec(tamis_new(tamis_spec(f))) = tamis_spec(f) AND tamis_items(f) = 500 AND tamis_rate(f) = "
                        f"fpr_now FROM (SELECT {source} f FROM t) x, "
                        "tamis_info(f)"), "t", "tamis_spec, tamis_items, tamis_rate")
    for spec in SMALL:
        new = f"tamis_new('{spec if 'capacity' in spec else spec + ':capacity=500'}')"
        made = f"(SELECT tamis_build(k, '{spec}') FROM t WHERE i < 0)" if spec in ("gcs", "fuse", "ribbon") else new
        tap.equal(s.one(f"SELECT count(*) FILTER (WHERE tamis_rate(f) IS DISTINCT FROM fpr_now) FROM "
                        f"(SELECT {made} f UNION ALL SELECT tamis_build(k, '{spec}') FROM t WHERE i <= 40) x, tamis_info(f)"), "0",
                  f"{spec}: tamis_rate and tamis_info agree on the rate, of an empty filter too")
    tap.equal(s.one("SELECT count(*) FROM (SELECT tamis_build(k) f FROM t) x, tamis_doctor(f)"), "0",
              "tamis_doctor finds nothing in a filter that is well")
    said = " ".join(line for line, in s.rows("SELECT tamis_doctor(tamis_build(k, 'blocked:capacity=10')) FROM t"))
    tap.check("most answers are yes" in said and "it has 500 items, and was planned for 10" in said, "and says what is wrong")
    said = " ".join(line for line, in s.rows("SELECT finding FROM (SELECT tamis_build(k, 'blocked:capacity=300') f FROM t) x, "
                                             "tamis_doctor(f)"))
    tap.check("more than twice" in said, "also of a rate")
    tap.equal(s.rows("SELECT kind, capacity, payload_bytes > 1000000, fpr < 0.011, bits_per_key > 9 "
                     "FROM tamis_plan('blocked:capacity=1M')"), [("blocked", "1000000", "t", "t", "t")],
              "tamis_plan")
    tap.check("did you mean capacity?" in s.error("SELECT * FROM tamis_plan('blocked:capcity=1M')"), "refused: a wrong option")
    tap.check(s.one("SELECT tamis_version()")[0].isdigit(), "tamis_version")
    for spec, words in (("'nonsense:capacity=1'", "unknown kind"), ("'blocked'", "capacity is missing"), ("''", "capacity is missing"), 
                        ("'blocked:capacity=10,fpr=2'", "tamis: "), ("repeat('x', 5000)", "tamis: "),
                        ("'blocked:capacity=1e30'", "tamis: ")):
        tap.check(words in s.error(f"SELECT tamis_new({spec})"), f"refused: tamis_new({spec})")
        if words != "capacity is missing":
            tap.check(words in s.error(f"SELECT tamis_build(k, {spec}) FROM t"), f"refused: tamis_build(k, {spec})")
    others(server, s)


def others(server, s):
    """Files, and formats of other systems."""
    tap.equal(s.rows("SELECT tamis_save(f, 'a.tamis') = octet_length(f::bytea), tamis_read('a.tamis') = f, tamis_file('a.tamis') @> 'key "
                     "5', 'key 5' <@ tamis_file('a.tamis'), "
                     "tamis_has(tamis_file('a.tamis'), 'key 5'), tamis_is_in('key 5', tamis_file('a.tamis')), "
                     "(tamis_info(tamis_file('a.tamis'))).items "
                     "FROM (SELECT tamis_build(k) f FROM t) x"), [("t", "t", "t", "t", "t", "t", "500")],
                     "tamis_save, tamis_read, tamis_file")
    tap.equal(s.rows("SELECT tamis_file('i.tamis') @> 5, 5::int8 <@ tamis_file('i.tamis'), tamis_has(tamis_file('i.tamis'), 5::int2), "
                     "tamis_is_in(5, tamis_file('i.tamis')) "
                     "FROM (SELECT tamis_save(tamis_build(i), 'i.tamis') FROM t) x"), [("t", "t", "t", "t")], "and of numbers")
    for name in ("''", "'..'", "'.hidden'", "'/etc/passwd'", "'a/b'", "repeat('x', 500)", "'missing.tamis'", "'.'"):
        tap.check("tamis: " in s.error(f"SELECT tamis_read(({name})::tamis_file)") and "tamis: " in s.error(f"SELECT tamis_file({name}) "
                f"@> 'a'"), f"refused: the file {name}")
    for kind, spec, written in (("guava", "guava:capacity=500", "guava"), ("redisbloom", "redisbloom:capacity=500", "redisbloom"),
                                ("split", "split:capacity=500,hash=xxh64", "parquet-filter"),
                                ("spark", "spark:capacity=500", "spark")):
        s.rows(f"DROP TABLE IF EXISTS made; CREATE TABLE made AS SELECT tamis_export(f, '{written}') b, f FROM (SELECT tamis_build(k, "
               f"'{spec}') f FROM t) x")
        tap.equal(s.rows(f"SELECT tamis_export(tamis_import(b, '{written}'), '{written}') = b, tamis_note(tamis_import(b, '{written}'), "
                         f"'origin') FROM made"), [("t", written)],
                  f"tamis_export and tamis_import: {written}")
        tap.equal(s.one(f"SELECT count(*) FROM t, (SELECT tamis_import(b, '{written}') f FROM made) x WHERE f @> k"), "500",
                  f"{kind}: with its members")
        tap.check("never one of them" in s.error(f"SELECT tamis_import(b, '{written}') @> 5 FROM made"),
                  f"{kind}: numbers are refused until the note says what its keys are")
    for use, words in (("tamis_import('abc', 'guava')", "not guava bytes"), ("tamis_import('abc', 'nothing')", "unknown format"),
                       ("tamis_import('', 'redisbloom')", "tamis: "),
                       ("tamis_export(tamis_build('a'), 'guava')", "guava holds filters of the kind guava"),
                       ("tamis_export(tamis_build('a'), 'parquet')", "can be read, not written"),
                       ("tamis_export(tamis_build('a'), '')", "tamis: ")):
        tap.check(words in s.error(f"SELECT {use}"), f"refused: {use}")
    path = os.path.join(server.filters, "exported")
    s.rows("SELECT tamis_save(tamis_build(k, 'guava:capacity=500'), 'g.tamis') FROM t")
    server.command("convert", "-q", "--to", "guava", "g.tamis", path)
    with open(path, "rb") as file:
        tap.equal(s.one(f"SELECT tamis_export(tamis_read('g.tamis'), 'guava') = '\\x{file.read().hex()}'"), "t",
                  "the command writes the same")


# ---- Aggregates -------------------------------------------------------------------------------------------


def aggregates(s):
    for use in ("tamis_build(k)", "tamis_build(i)", "tamis_build(k, 'ribbon')", "tamis_build_map(k, i)", "tamis_build_labels(k, k)",
                "tamis_union(f)"):
        tap.equal(s.one(f"SELECT {use} IS NULL FROM empty"), "t", f"{use} of no rows is NULL")
    for use in ("tamis_build(NULL::text)", "tamis_build(NULL::int, 'ribbon')", "tamis_build_map(NULL::text, 1)",
                "tamis_build_labels(k, NULL)", "tamis_union(NULL::tamis)"):
        tap.equal(s.one(f"SELECT {use} IS NULL FROM t"), "t", f"{use} of NULLs is NULL")
    tap.equal(s.one("SELECT tamis_build(k, NULL) = tamis_build(k) FROM t"), "t", "a spec that is NULL is none")
    tap.equal(s.rows("SELECT tamis_items(tamis_build(k) FILTER (WHERE i <= 100)), tamis_items(tamis_build(DISTINCT g)), tamis_build(k "
                     "ORDER BY i DESC) = tamis_build(k ORDER BY i), "
                     "tamis_build(k) FILTER (WHERE false) IS NULL, tamis_build(CASE WHEN i > 5 THEN k END) @> 'key 5' FROM t"),
                     [("100", "7", "t", "t", "f")],
              "FILTER, DISTINCT, ORDER BY, NULLs among others")
    for spec in ("blocked", "blocked:capacity=500", "ribbon", "counting", "guava:capacity=500"):
        rows = s.rows(f"SELECT g, tamis_items(f), (SELECT bool_and(f @> k) FROM t WHERE t.g = x.g OR x.g IS NULL) FROM (SELECT g, "
                      f"tamis_build(k, '{spec}') f FROM t "
                      "GROUP BY GROUPING SETS ((g), ())) x ORDER BY g")
        tap.equal([(items, good) for _, items, good in rows], [("71", "t")] + [("72", "t")] * 3 + [("71", "t")] * 3 + [("500", "t")],
                  f"{spec}: GROUPING SETS")
        rows = s.rows(f"SELECT i, tamis_items(f), f @> k, f = tamis_build(k, '{spec}') OVER w FROM (SELECT i, k, tamis_build(k, '{spec}') "
                      f"OVER w f FROM t WHERE i <= 30 WINDOW w AS "
                      "(ORDER BY i)) x WINDOW w AS (ORDER BY i) ORDER BY i")
        tap.equal(rows, [(str(i), str(i), "t", "t") for i in range(1, 31)], f"{spec}: a window that grows")
        rows = s.rows(f"SELECT i, tamis_items(f), f @> k, f @> ('key ' || i - 1) FROM (SELECT i, k, tamis_build(k, '{spec}') OVER (ORDER "
                      f"BY i ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) f "
                      "FROM t WHERE i <= 30) x ORDER BY i")
        tap.equal([r[1] for r in rows], ["2", "3"] + ["4"] * 27 + ["3"], f"{spec}: one that moves")
        tap.check(all(r[2] == "t" for r in rows) and all(r[3] == "t" for r in rows[1:]), f"{spec}: with its keys")
        tap.equal(s.rows(f"SELECT DISTINCT tamis_items(f) FROM (SELECT tamis_build(k, '{spec}') OVER (ORDER BY g ROWS BETWEEN UNBOUNDED "
                         f"PRECEDING AND UNBOUNDED FOLLOWING "
                         f"EXCLUDE CURRENT ROW) f FROM t WHERE i <= 20) x"), [("19",)], f"{spec}: all but one")
        again(s, spec)
    tap.equal(s.rows("SELECT tamis_items(f) FROM (SELECT tamis_union(f) OVER (ORDER BY g) f, g FROM (SELECT g, tamis_build(k, "
                     "'blocked:capacity=500') f FROM t GROUP BY g) x) y ORDER BY g"),
              [(str(n),) for n in (71, 143, 215, 287, 358, 429, 500)], "tamis_union in a window")
    tap.equal(s.one("SELECT (SELECT tamis_union(f) FROM (SELECT g, tamis_build(k, 'blocked:capacity=500') f FROM t GROUP BY g) x) = "
                    "tamis_build(k, 'blocked:capacity=500') FROM t"), "t",
              "tamis_union of groups is the whole")
    tap.equal(s.one("SELECT count(*) FROM (SELECT g FROM t GROUP BY g HAVING tamis_build(k) @> 'key 5') x"), "1", "HAVING")
    s.rows("SET work_mem = '64kB'")
    tap.equal(s.one("SELECT count(*) FROM (SELECT i % 1000 g, tamis_build(i, 'blocked:capacity=10') f FROM generate_series(1, 5000) i "
                    "GROUP BY 1) x WHERE f @> g + 1000 AND tamis_items(f) = 5"),
              "1000", "many groups in little memory")
    s.rows("RESET work_mem")
    for use, said in (("tamis_build(k, 5) FROM t", "does not exist"), ("tamis_build() FROM t", "tamis_build"),
                      ("tamis_build(k, 'blocked', 1) FROM t", "does not exist"),
                      ("tamis_build_row(NULL::internal, 1)", "internal"), ("tamis_union_end(NULL)", "does not exist")):
        tap.check(said in s.error(f"SELECT {use}"), f"refused: {use}")


def again(s, spec):
    """A subplan that is asked again, with its groups as they were, or for other rows."""
    s.rows("SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_sort = off; SET enable_memoize "
           "= off")
    query = ("SELECT count(*), count(DISTINCT f) FROM (VALUES (1), (2), (3)) v(n) "
             f"LEFT JOIN (SELECT g, tamis_build(k, '{spec}') f FROM t GROUP BY g) x ON x.g <> v.n")
    plan = "\n".join(s.lines("EXPLAIN " + query))
    tap.check("Nested Loop" in plan and "HashAggregate" in plan and "Materialize" not in plan, f"{spec}: groups are asked again")
    tap.equal(s.rows(query), [("18", "7")], f"{spec}: and are the same")
    for other in ("tamis_build_map(k, i)", "tamis_build_labels(k, 'x')", "tamis_build(i)"):
        tap.equal(s.rows(query.replace(f"tamis_build(k, '{spec}')", other)), [("18", "7")], f"so are others: {other}")
    tap.equal(s.rows(f"SELECT n, tamis_items(f), f @> ('key ' || n) FROM (VALUES (1), (2), (3), (4)) v(n), LATERAL (SELECT tamis_build(k, "
                     f"'{spec}') f FROM t WHERE i % n = 0 OFFSET 0) x ORDER BY n"),
              [(str(n), str(500 // n), "t") for n in range(1, 5)], f"{spec}: for other rows each time")
    s.rows("RESET enable_material; RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_sort; RESET enable_memoize")


PARALLEL = {"parallel_setup_cost": 0, "parallel_tuple_cost": 0, "min_parallel_table_scan_size": 0, "max_parallel_workers_per_gather": 4}


def digest(use):
    value, _, table = use.rpartition(" FROM ")
    return f"SELECT md5(({value})::bytea) FROM {table}"


def parallel(s):
    s.rows("CREATE TABLE many AS SELECT i, md5(i::text) k, i % 5 g FROM generate_series(1, 40000) i; ALTER TABLE many SET "
           "(parallel_workers = 3); ANALYZE many")
    s.rows("CREATE TABLE days AS SELECT g, tamis_build(k, 'blocked:capacity=40000') f FROM many GROUP BY g; ALTER TABLE days SET "
           "(parallel_workers = 3)")
    s.rows("CREATE TABLE void (k text); ALTER TABLE void SET (parallel_workers = 3)")
    uses = ["tamis_build(k) FROM many", "tamis_build(i) FROM many", "tamis_build(k, 'blocked:capacity=50000') FROM many",
            "tamis_build(i, 'blocked:capacity=50000') FROM many",
            "tamis_build(k, 'ribbon') FROM many", "tamis_build(k, 'fuse') FROM many", "tamis_build(i::float4, 'classic') FROM many",
            "tamis_build(k, 'guava:capacity=40000') FROM many",
            "tamis_build(i, 'orc:capacity=40000') FROM many", "tamis_build(k, 'counting') FROM many",
            "tamis_build(k::uuid, 'split') FROM many", "tamis_build(i, 'binary-fuse') FROM many",
            "tamis_build(CASE WHEN i = 7 THEN k END) FROM many", "tamis_build(k) FILTER (WHERE i < 0) FROM many",
            "tamis_build(k, 'gcs') FROM many WHERE i % 20000 = 3",
            "tamis_union(f) FROM days", "tamis_union(f) FILTER (WHERE g = 3) FROM days", "tamis_union(f) FROM days WHERE g > 9",
            "tamis_build(k) FROM void"]
    serial = {}
    s.rows("SET max_parallel_workers_per_gather = 0")
    for use in uses:
        serial[use] = s.one(digest(use))
    grouped = s.rows("SELECT g, md5(tamis_build(k)::bytea) FROM many GROUP BY g ORDER BY g")
    for leader in ("on", "off"):
        s.rows("; ".join(f"SET {name} = {value}" for name, value in {**PARALLEL, "parallel_leader_participation": leader}.items()))
        for use in uses:
            asked = digest(use)
            plan = "\n".join(s.lines("EXPLAIN " + asked))
            tap.check("Partial Aggregate" in plan and "Gather" in plan and s.one(asked) == serial[use],
                      f"the same bytes by several processes (leader {leader}): {use}")
        tap.equal(s.rows("SELECT g, md5(tamis_build(k)::bytea) FROM many GROUP BY g ORDER BY g"), grouped, "and with groups")
        for use in ("tamis_build_map(k, i) FROM many", "tamis_build_labels(k, 'g' || g) FROM many"):
            tap.check("Partial Aggregate" not in "\n".join(s.lines(f"EXPLAIN SELECT {use}")), f"in one process: {use}")
        s.rows("SET parallel_leader_participation = on")
        asked = "SELECT count(*) FROM many, days WHERE days.g = 2 AND f @> k AND k <@ f AND tamis_has(f, k)"
        gather = "\n".join(s.lines("EXPLAIN " + asked))
        tap.check("Gather" in gather and int(s.one(asked)) >= 8000, "filters are asked by several processes")
    s.rows("RESET ALL; SET tamis.directory = '" + s.server.filters + "'")
    tap.equal(s.one("SELECT count(*) FROM many WHERE g = 2 AND (SELECT f FROM days WHERE g = 2) @> k"), "8000", "all members")


def secrets(s):
    """Each builder draws a secret of its own: no member is lost on the way from one to another."""
    s.rows("CREATE TABLE keyed AS SELECT i, 'key ' || i AS k FROM generate_series(1, 5000) i; ALTER TABLE keyed SET (parallel_workers = 3)")
    for settings in ({"max_parallel_workers_per_gather": 0}, PARALLEL):
        s.rows("; ".join(f"SET {name} = {value}" for name, value in settings.items()))
        for key in ("i", "k"):
            for spec in ("blocked:hash=sip13", "blocked:hash=sip13,capacity=5000", "fuse:hash=sip13", "counting:hash=sip13"):
                found = s.one(f"SELECT count(*) FROM keyed, (SELECT tamis_build({key}, '{spec}') f FROM keyed) x WHERE f @> {key}")
                tap.equal(found, "5000", f"under a secret, {settings['max_parallel_workers_per_gather']} workers: {key}, {spec}")
                window = f"SELECT {key}, tamis_build({key}, '{spec}') OVER (ORDER BY i ROWS 2 PRECEDING) f FROM keyed WHERE i <= 50"
                tap.equal(s.one(f"SELECT count(*) FROM ({window}) x WHERE f @> {key}"), "50", f"and in a window: {key}, {spec}")
    s.rows("RESET ALL; SET tamis.directory = '" + s.server.filters + "'")


# ---- Wherever a question can stand ------------------------------------------------------------------------


def everywhere(s):
    s.rows("CREATE TABLE asked AS SELECT i, k FROM t; ANALYZE asked; CREATE TABLE words AS SELECT tamis_build(k) f FROM t; "
           "CREATE TABLE numbers AS SELECT tamis_build(i) f FROM t")
    words, numbers = (s.one(f"SELECT f::text FROM {table}") for table in ("words", "numbers"))
    const = f"'{words}'::tamis"
    arrays = ("f @> ANY (ARRAY['x', 'key 5'])", "f @> ALL (ARRAY['key 7', 'key 5'])", "NOT f @> ALL (ARRAY['x', 'key 5'])",
              "'key 5' <@ ANY (ARRAY[f, f])",
              "f @> ANY (SELECT k FROM asked WHERE i > 499)", "NOT f @> ANY (ARRAY[NULL, 'x']) IS TRUE", "f @> 'key 5' COLLATE \"C\"")
    for use in arrays:
        tap.equal(s.one(f"SELECT {use} FROM words"), "t", use)
    for use in (f"k <@ ANY (ARRAY[{const}, {const}])", f"{const} @> ANY (ARRAY[k, 'x'])", f"'{numbers}'::tamis @> ANY (ARRAY[i, 900])",
                f"{const} @> k", f"k <@ {const}"):
        tap.equal(s.one(f"SELECT count(*) FROM asked WHERE {use}"), "500", use.replace(words, "...").replace(numbers, "..."))
    tap.equal(s.one("SELECT tamis_has_any(f, '5 900'::int2vector) AND tamis_has_all(f, '5 6'::oidvector) AND tamis_add(f, '1000 "
                    "2000'::int2vector) @> 2000 FROM numbers"),
              "t", "vectors of the server are arrays")
    s.rows(f"CREATE TABLE guarded (k text, h bool GENERATED ALWAYS AS ({const} @> k) STORED, CHECK ({const} @> k))")
    tap.equal(s.rows("INSERT INTO guarded VALUES ('key 5') RETURNING h"), [("t",)], "a generated column")
    tap.check("violates check constraint" in s.error("INSERT INTO guarded VALUES ('no key')"), "a constraint")
    s.rows(f"CREATE INDEX found ON asked (({const} @> k)) WHERE {const} @> k")
    tap.equal(s.one(f"SELECT count(*) FROM asked WHERE {const} @> k"), "500", "an index on the answer")
    s.rows("PREPARE one(text) AS SELECT f @> $1 FROM words; PREPARE two(tamis, int) AS SELECT count(*) FROM asked WHERE $1 @> i AND $1 @> "
           "$2; PREPARE three AS "
           "SELECT f @> $1 FROM words")
    for _ in range(7):  # the server changes to a plan for all values
        s.rows("EXECUTE one('key 5')")
    tap.equal([s.one("EXECUTE one('key 5')"), s.one(f"EXECUTE two('{numbers}', 5)"), s.one("EXECUTE three('key 5')")], ["t", "500", "t"],
              "prepared statements")
    s.rows("CREATE FUNCTION inlined(f tamis, k anyelement) RETURNS bool LANGUAGE sql AS 'SELECT f @> k'")
    s.rows("CREATE FUNCTION called(f tamis, k anyelement) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN f @> k; END'")
    s.rows("CREATE FUNCTION several(f tamis, VARIADIC k text[]) RETURNS bool LANGUAGE sql AS 'SELECT tamis_has_all(f, k)'")
    for function in ("inlined", "called"):
        asked = ", ".join(f"{function}(f, 'key 5'::{kind})" for kind in ("text", "name", "varchar", "char(9)"))
        tap.equal(s.rows(f"SELECT {asked} FROM words"), [("t",) * 4], f"functions of any type: {function}")
        tap.check("never one of them" in s.error(f"SELECT {function}(f, 5) FROM words"), "with their errors")
        tap.equal(s.one(f"SELECT {function}(f, 5) AND {function}(f, 5::int8) AND {function}(f, 5::numeric) FROM numbers"), "t",
                  "and of numbers")
    tap.equal(s.one("SELECT several(f, 'key 5', 'key 6') AND NOT several(f, 'key 5', 'x') FROM words"), "t", "and of several keys")
    s.rows("CREATE VIEW seen_by AS SELECT k FROM asked, words WHERE f @> k; ALTER TABLE asked ENABLE ROW LEVEL SECURITY; "
           f"CREATE POLICY p ON asked USING ({const} @> k)")
    tap.equal(s.one("SELECT count(*) FROM seen_by"), "500", "a view, and a policy")
    tap.equal(s.one("SELECT count(*) FROM asked JOIN words ON f @> k LEFT JOIN numbers n ON n.f @> i"), "500", "joins")


# ---- Limits and settings ----------------------------------------------------------------------------------


def limits(server, s):
    s.rows("CREATE TABLE large AS SELECT 1 id, tamis_build(i) f FROM generate_series(1, 20000) i")
    s.rows("INSERT INTO large SELECT 2, tamis_add(tamis_new('grow:capacity=100'), array_agg(i)) FROM generate_series(1, 2000) i")
    s.rows("INSERT INTO large SELECT 3, tamis_build(i, 'quotient') FROM generate_series(1, 2000) i")
    s.rows("CREATE TABLE guava AS SELECT tamis_export(tamis_build(i, 'guava:capacity=20000'), 'guava') b FROM generate_series(1, 20000) i")
    text, path = s.one("SELECT f::text FROM large WHERE id = 1"), os.path.join(server.folder, "large")
    s.rows(f"COPY large TO '{path}' WITH (FORMAT binary)")
    whole = s.rows("SELECT md5(f::bytea) FROM large ORDER BY id")
    s.rows("SELECT tamis_save(f, 'large.tamis') FROM large WHERE id = 1")
    s.rows("SET tamis.max_bytes = '2kB'")
    for use in ("tamis_new('blocked:capacity=20000')", "tamis_build(i) FROM generate_series(1, 20000) i",
                "tamis_build(i, 'blocked:capacity=20000') FROM generate_series(1, 2) i",
                "tamis_build(i, 'ribbon') FROM generate_series(1, 20000) i", "tamis_build(i, 'grow:capacity=100') FROM generate_series(1, "
                "20000) i", "tamis_build_map(i, i) FROM "
                "generate_series(1, 20000) i", "tamis_build_labels(i, 'a') FROM generate_series(1, 20000) i",
                "tamis_resize(f, 100000) FROM large WHERE id = 3",
                "tamis_add(f, ARRAY(SELECT generate_series(10000, 20000))) FROM large WHERE id = 2", "tamis_import(b, 'guava') FROM guava",
                "tamis_build(i, 'scalable:capacity=10') FROM generate_series(1, 20000) i"):
        said = s.error(f"SELECT {use}")
        tap.check("tamis: " in said and "does not exist" not in said, f"beyond tamis.max_bytes: {use}: {said.splitlines()[0][:80]}")
    tap.equal(s.one(f"SELECT '{text}'::tamis = f AND '{text}'::bytea::tamis = f AND tamis_read('large.tamis') = f AND "
                    f"tamis_file('large.tamis') @> 5 FROM large WHERE id = 1"), "t",
              "it does not bind what is there: text, bytea, files")
    s.rows("CREATE TABLE loaded (LIKE large)")
    s.rows(f"COPY loaded FROM '{path}' WITH (FORMAT binary)")
    tap.equal(s.rows("SELECT md5(f::bytea) FROM loaded ORDER BY id"), whole, "nor COPY")
    tap.equal(s.one("SELECT count(*) FROM loaded WHERE f @> 5 AND tamis_items(f) > 0 AND tamis_set_note(f, 'a', 'b') @> 5"), "3",
              "nor questions and notes")
    tap.equal(s.one("SELECT tamis_items(tamis_add(f, 0)) FROM loaded WHERE id = 1"), "20001", "nor adds that do not let it grow")
    tap.equal(s.one("SELECT tamis_union(f, f) = tamis_set_note(tamis_union(f, f), 'x', NULL) FROM loaded WHERE id = 1"), "t",
              "nor unions of what is there")
    tap.check(s.lines("SELECT tamis_union(f) IS NULL FROM loaded WHERE id = 1") == ["f"], "by the aggregate, too")
    # A union of gcs has room for the keys of both.
    s.rows("RESET tamis.max_bytes; CREATE TABLE coded AS SELECT g, tamis_build(i, 'gcs') f FROM generate_series(1, 3000) i, "
           "LATERAL (SELECT i % 2 g) x GROUP BY g; SET tamis.max_bytes = '2kB'")
    for use in ("(SELECT tamis_union(f) FROM coded)", "tamis_union((SELECT f FROM coded WHERE g = 0), (SELECT f FROM coded WHERE g = 1))"):
        tap.check("tamis.max_bytes" in s.error(f"SELECT {use} IS NULL"), f"it binds unions that grow: {use[:22]}")
    s.rows("RESET tamis.max_bytes")
    s.rows("CREATE DATABASE restored; ALTER DATABASE restored SET tamis.max_bytes = '2kB'")
    dump = server.run(server.program("pg_dump"), "-h", server.folder, "-U", server.user, "-t", "large", "postgres")
    with open(path, "w", encoding="utf-8") as file:
        file.write("CREATE EXTENSION tamis;\n" + dump)
    os.chmod(path, 0o644)
    server.run(server.program("psql"), "-Xq", "-v", "ON_ERROR_STOP=1", "-h", server.folder, "-U", server.user, "-d", "restored", "-f", path)
    r = server.session("restored")
    tap.equal(r.rows("SELECT md5(f::bytea) FROM large ORDER BY id"), whole, "nor pg_dump and its restore")
    tap.equal(r.one("SHOW tamis.max_bytes"), "2kB", "where it was set")
    r.close()
    settings(s)


def settings(s):
    for setting in ("tamis.max_bytes = 5", "tamis.max_bytes = -1", "tamis.max_bytes = '2GB'", "tamis.max_bytes = 'many'",
                    "tamis.default_fpr = 2", "tamis.default_fpr = 0",
                    "tamis.default_fpr = NaN", "tamis.default_fpr = 'x'", "tamis.nothing = 5"):
        tap.check(s.error(f"SET {setting}").startswith("ERROR:"), f"refused: SET {setting}")
    tap.equal(s.rows("SELECT name, context, min_val, max_val FROM pg_settings WHERE name LIKE 'tamis.%' ORDER BY 1"),
              [("tamis.default_fpr", "user", "1e-12", "0.99"), ("tamis.directory", "superuser", "NULL", "NULL"),
               ("tamis.max_bytes", "user", "1024", "1072693248")], "the settings")
    s.rows("SET tamis.default_fpr = 0.001")
    asked = "SELECT string_agg((tamis_info(f)).fpr_asked::text, ' ' ORDER BY n) FROM (VALUES " \
            "(1, tamis_new('blocked:capacity=100')), (2, tamis_new('blocked:capacity=100,fpr=5%')), " \
            "(3, tamis_new('guava:capacity=100'))) x(n, f)"
    tap.equal(s.one(asked), "0.001 0.05 0.001", "tamis.default_fpr is that of specs without a rate")
    tap.equal(s.rows("SELECT (tamis_info(tamis_build(k))).fpr_asked, (tamis_info(tamis_build(k, 'ribbon'))).fpr_now < 0.0011, "
                     "(tamis_plan('blocked:capacity=1000')).fpr < 0.0011, "
                     "(tamis_info(tamis_new('blocked:capacity=10,size=4KiB'))).payload_bytes, (tamis_info(tamis_build_labels(k, "
                     "'a'))).fpr_asked FROM t"),
              [("0.001", "t", "t", "4096", "0.001")], "and of builds and plans, not of sizes")
    tap.equal(s.one("SELECT tamis_new('minhash:bins=64') IS NULL"), "f", "kinds without a rate do without")
    s.rows("RESET tamis.default_fpr")


def estimates(s):
    s.rows("CREATE TABLE visits AS SELECT i, 'user ' || (i % 5000) who, i % 40 few FROM generate_series(1, 20000) i; ANALYZE visits")
    cases = [("i", "SELECT tamis_build(i) FROM generate_series(1, 2000) i"), ("i", "SELECT tamis_build(i, 'blocked:fpr=20%') FROM "
            "generate_series(1001, 2000) i"),
             ("who", "SELECT tamis_build('user ' || i) FROM generate_series(1, 500) i"),
             ("who", "SELECT tamis_build('user ' || i, 'ribbon') FROM generate_series(0, 4999) i"), ("few", "SELECT tamis_build(i) FROM "
                     "generate_series(1, 10) i"),
             ("i", "SELECT tamis_build(i, 'cuckoo') FROM generate_series(1, 2000) i"), ("i", "SELECT tamis_build(i, "
                     "'guava:capacity=2000') FROM generate_series(1, 2000) i")]
    for column, made in cases:
        f = s.one(f"SELECT ({made})::text")
        for how in (f"'{f}'::tamis @> {column}", f"{column} <@ '{f}'::tamis", f"tamis_has('{f}'::tamis, {column})",
                    f"tamis_is_in({column}, '{f}'::tamis)"):
            true = int(s.one(f"SELECT count(*) FROM visits WHERE {how}"))
            plan = json.loads("\n".join(s.lines(f"EXPLAIN (FORMAT JSON) SELECT * FROM visits WHERE {how}")))
            said = plan[0]["Plan"]["Plan Rows"]
            words = how.replace(f, "...")
            tap.check(said / 2 <= true <= said * 2, f"{made[7:50]}: {words}: estimated {said}, in truth {true}")
    tap.equal(s.one("SELECT count(*) FROM visits WHERE NULL::tamis @> i"), "0", "a filter that is NULL")
    image, r = image_of(s, "SELECT tamis_build(k) FROM t WHERE i < 40"), random.Random(3)
    for _ in range(50):
        bad = bytearray(image)
        bad[r.randrange(8, 192)] = r.choice([0, 1, 127, 128, 255])
        s.rows(f"EXPLAIN SELECT * FROM few WHERE f @> '\\x{bad.hex()}'::bytea")
    tap.check(True, "keys that look like filters are not taken for one")
    for how in ("tamis_read('large.tamis') @> i", "tamis_file('large.tamis') @> i", "(SELECT f FROM large WHERE id = 1) @> i",
                "tamis_add(tamis_new('blocked:capacity=10'), i) @> i",
                "f @> large.id"):
        tables = "visits, large" if "large.id" in how else "visits"
        tap.check(any("rows=" in line for line in s.lines(f"EXPLAIN SELECT * FROM {tables} WHERE {how}")),
                  f"an estimate where the filter is not known: {how}")
    tap.check("rows=" in s.lines("EXPLAIN SELECT * FROM visits JOIN large ON f @> i")[0], "and of a join")


# ---- The extension's objects ------------------------------------------------------------------------------

OBJECTS = ("FROM pg_depend d, pg_extension e WHERE e.extname = 'tamis' AND d.refobjid = e.oid "
           "AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'")
INTERNAL = ("proname ~ '^tamis(_file)?_(in|out|recv|send|typmod_in|typmod_out)$' OR proname ~ '^tamis_(eq|ne|lt|le|gt|ge|cmp|hash|hash_extended)$' "
            "OR 'internal'::regtype = ANY (proargtypes::oid[] || prorettype)")


def objects(s):
    functions = f"SELECT p.* FROM pg_proc p WHERE oid IN (SELECT objid {OBJECTS} AND classid = 'pg_proc'::regclass)"
    rows = s.rows(f"SELECT p.oid::regprocedure FROM ({functions}) p WHERE NOT ({INTERNAL}) AND obj_description(oid, 'pg_proc') IS NULL "
                  f"ORDER BY 1")
    tap.equal(rows, [], "every function and aggregate that users see has a comment")
    tap.check(int(s.one(f"SELECT count(*) FROM ({functions}) p WHERE NOT ({INTERNAL})")) > 50, "and there are many")
    for table, name in (("pg_operator", "operator"), ("pg_type", "type")):
        more = "AND typarray <> 0" if table == "pg_type" else ""
        rows = s.rows(f"SELECT o.oid::reg{name} FROM {table} o WHERE oid IN (SELECT objid {OBJECTS} AND classid = '{table}'::regclass) "
                      f"{more} AND obj_description(oid, '{table}') IS NULL ORDER BY 1")
        tap.equal(rows, [], f"so has every {name}")
    tap.equal(s.one("SELECT obj_description(oid, 'pg_extension') IS NOT NULL FROM pg_extension WHERE extname = 'tamis'"), "t",
              "and the extension")
    by_file = "'tamis_file'::regtype = ANY (proargtypes::oid[]) AND proname !~ '^tamis_file_'"
    told = "proname IN ('tamis_plan', 'tamis_kinds', 'tamis_version', 'tamis_selectivity')"
    tap.equal(s.rows(f"SELECT oid::regprocedure, provolatile FROM ({functions}) p WHERE provolatile <> CASE WHEN proname IN ('tamis_new', "
                     f"'tamis_save') THEN 'v' "
                     f"WHEN {by_file} OR {told} THEN 's' ELSE 'i' END"), [], "what reads files is stable, what makes or writes volatile, "
                     "the rest immutable")
    tap.equal(s.rows(f"SELECT proname FROM ({functions}) p WHERE proparallel <> 's'"), [("tamis_save",)],
              "all but tamis_save is safe in parallel workers")
    tap.equal(s.rows(f"SELECT oid::regprocedure FROM ({functions}) p WHERE prokind = 'f' AND NOT proisstrict AND NOT 'internal'::regtype "
                     f"= ANY (proargtypes::oid[] || prorettype)"),
              [("tamis_set_note(tamis,text,text)",)], "all but tamis_set_note are NULL of NULL")
    bad = s.rows(f"SELECT o.oid::regoperator FROM pg_operator o WHERE oid IN (SELECT objid {OBJECTS} AND classid = "
                 f"'pg_operator'::regclass) AND (oprcom = 0 OR oprrest = 0 OR oprjoin = 0)")
    tap.equal(bad, [], "every operator has a commutator and estimators")
    s.rows("CREATE TABLE gates (f tamis)")
    for opclass in ("tamis_ops", "tamis_hash_ops"):
        tap.equal(s.one(f"SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = '{opclass}'"), "t", f"{opclass} is valid")


def privileges(server, s):
    s.rows("CREATE ROLE bob LOGIN")
    s.rows("CREATE DATABASE bobs OWNER bob")
    b = server.session("bobs", "bob")
    b.rows("SET tamis.directory = '/'")
    b.rows("CREATE EXTENSION tamis")
    said = " ".join(b.lines("SELECT tamis_build('a') @> 'a'"))
    tap.check(said.endswith("t"), "an ordinary user makes the extension in a database of his own")
    tap.check("there is no directory of filters" in b.error("SELECT tamis_file('etc') @> 'a'"), "a directory that he set before it was "
              "loaded is not taken")
    tap.check("permission denied" in b.error("SET tamis.directory = '/'"), "nor one set later")
    tap.check("permission denied" in b.error("SELECT tamis_save(tamis_build('a'), 'x')"), "he cannot tamis_save")
    s.rows("GRANT pg_write_server_files TO bob; ALTER DATABASE bobs SET tamis.directory = '" + server.filters + "'")
    b.close()
    b = server.session("bobs", "bob")
    tap.check(int(b.one("SELECT tamis_save(tamis_build('a'), 'bob.tamis')")) > 0, "unless he may write files of the server")
    tap.equal(b.one("SELECT tamis_file('bob.tamis') @> 'a'"), "t", "where the directory is set for him")
    b.rows("CREATE SCHEMA elsewhere; CREATE TABLE kept AS SELECT tamis_build(i) f FROM generate_series(1, 100) i; CREATE INDEX ON kept "
           "USING hash (f)")
    root = server.session("bobs")
    root.rows("ALTER EXTENSION tamis SET SCHEMA elsewhere")
    root.close()
    tap.check("does not exist" in b.error("SELECT tamis_build('a')"), "ALTER EXTENSION SET SCHEMA: it is elsewhere")
    tap.equal(b.one("SELECT count(*) FROM kept, generate_series(1, 100) i WHERE f OPERATOR(elsewhere.@>) i AND elsewhere.tamis_has(f, i)"),
              "100", "and works there")
    b.rows("SET search_path = elsewhere, public")
    tap.equal(b.one("SELECT count(*) FROM kept WHERE f @> 5 AND 5 <@ f AND f = f::text::tamis AND (SELECT tamis_build('a')) @> 'a' AND "
                    "tamis_file('bob.tamis') @> 'a'"), "1", "by name, too")
    tap.check("depend" in b.error("DROP EXTENSION tamis"), "DROP EXTENSION sees what needs it")
    b.rows("DROP EXTENSION tamis CASCADE")
    b.rows("CREATE EXTENSION tamis SCHEMA elsewhere")
    tap.equal(b.one("SELECT tamis_build(1) @> 1"), "t", "dropped, and made again")
    b.close()


def upgrade(server, s):
    """From a version that had the type alone: its values stay and answer."""
    folder = server.tree + pg.config("--sharedir") + "/extension"
    with open(os.path.join(folder, "tamis--0.1.0.sql"), encoding="utf-8") as file:
        whole = file.read()
    head, line, rest = whole.partition("-- ---- Equal bytes")
    tap.check(bool(line), "the script has its parts")
    for name, text in (("tamis--0.0.sql", head), ("tamis--0.0--0.1.0.sql", line + rest)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(os.path.join(folder, name), 0o644)
    image = image_of(s, "SELECT tamis_build(k) FROM t")
    s.rows("CREATE DATABASE older")
    o = server.session("older")
    o.rows("CREATE EXTENSION tamis VERSION '0.0'")
    o.rows(f"CREATE TABLE kept AS SELECT {literal(image)}::bytea::tamis f")
    tap.check("does not exist" in o.error("SELECT f @> 'key 1' FROM kept"), "the older version has no questions")
    o.rows("ALTER EXTENSION tamis UPDATE")
    tap.equal(o.one("SELECT extversion FROM pg_extension WHERE extname = 'tamis'"), "0.1.0", "ALTER EXTENSION UPDATE")
    tap.equal(o.one("SELECT count(*) FROM kept, generate_series(1, 500) i WHERE f @> ('key ' || i)"), "500",
              "the value that was there answers")
    objects = f"SELECT pg_describe_object(classid, objid, 0) {OBJECTS} ORDER BY 1"
    tap.equal(o.rows(objects), s.rows(objects), "the extension has the same objects as a new one")
    o.close()


def main():
    pg.skip_unless_possible()
    with Server() as server:
        server.start()
        s = server.with_extension()
        s.rows(f"SET tamis.directory = '{server.filters}'")
        make_tables(s)
        in_and_out(server, s)
        order(s)
        columns_of_one_kind(server, s)
        damage(server, s)
        kinds(s)
        changes(s)
        telling(server, s)
        aggregates(s)
        parallel(s)
        secrets(s)
        everywhere(s)
        limits(server, s)
        estimates(s)
        objects(s)
        privileges(server, s)
        upgrade(server, s)
        s.close()
        tap.check("PANIC" not in server.log() and "terminated by signal" not in server.log(), "no backend died")
    return tap.end()


sys.exit(main())
