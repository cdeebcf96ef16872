#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What functions return: filters of every kind, rows, groups, windows, lists, NULLs, threads, and what is refused."""
import sys

sys.dont_write_bytecode = True
import duck
from duck import Tap, build, merge, open_database

tap = Tap()
N = 30000


def kinds(s):
    """Every kind that can be made from keys alone: no member is missing, and others are few."""
    made = refused = 0
    # stable forgets, and sketches of sets answer every query with maybe.
    for kind, is_sketch in s.rows("SELECT kind, kind IN ('minhash', 'iblt') FROM tamis_kinds() WHERE kind <> 'stable'"):
        spec = kind if kind in ("bloomier",) else f"{kind}:fpr=1%"
        try:
            image = s.one("SELECT tamis_build(k, ?) FROM range(2000) r(k)", spec)
        except duck.duckdb.Error as e:
            refused += 1
            tap.check("tamis: " in str(e), f"{kind} is refused with a sentence")
            continue
        made += 1
        tap.equal(s.one("SELECT count(*) FROM range(2000) r(k) WHERE tamis_has(?, k)", image), 2000, f"{kind}: all members are found")
        if not is_sketch and kind != "bloomier":
            found = s.one("SELECT count(*) FROM range(100000, 120000) r(k) WHERE tamis_has(?, k)", image)
            tap.check(found < 20000, f"{kind}: {found} of 20000 others are found")
    tap.check(made > 15, f"{made} kinds are built, {refused} are not")


def sizes(s):
    for n in (0, 1, 2, 2047, 2048, 2049, 5000):
        s.rows(f"CREATE OR REPLACE TABLE n AS SELECT range AS k, 'key ' || range AS t FROM range({n})")
        image, texts = s.rows("SELECT tamis_build(k), tamis_build(t) FROM n")[0]
        if n == 0:
            tap.check(image is None and texts is None, "no rows make no filter: NULL")
            continue
        counted = s.rows("SELECT count(*) FILTER (tamis_has(?, k)), count(*) FILTER (tamis_has(?, t)) FROM n", image, texts)[0]
        tap.equal(counted, (n, n), f"{n} keys are in their filters, integers and texts")
        tap.equal(s.one("SELECT tamis_items(?)", image), n, "and are its items")
        reversed_ = s.one("SELECT tamis_build(k) FROM (FROM n ORDER BY k DESC)")
        tap.check(reversed_ == image, "in another order they make the same bytes")


def nulls(s):
    f = s.one("SELECT tamis_build(k) FROM range(10) r(k)")
    functions = ["tamis_has(?, NULL)", "tamis_has_any(?, NULL)", "tamis_has_all(?, NULL)", "tamis_count(?, NULL)", "tamis_add(?, NULL)",
                 "tamis_union(?, NULL)"]
    for call in functions:
        tap.check(s.one(f"SELECT {call}", f) is None, f"{call} is NULL")
        tap.check(s.one(f"SELECT {call}", None) is None, "and so it is of nothing")
    for call in ("tamis_info", "tamis_items", "tamis_rate"):
        tap.check(s.one(f"SELECT {call}(NULL)") is None, f"{call}(NULL) is NULL")
    tap.check(s.one("SELECT tamis_has(NULL, 5)") is None and s.one("SELECT tamis_open(NULL, 'x')") is None, "a missing filter: NULL")
    tap.check(s.one("SELECT tamis_build(NULL) FROM range(10)") is None, "NULLs alone are no filter")
    tap.equal(s.one("SELECT tamis_items(tamis_build(CASE WHEN k % 3 = 0 THEN k END)) FROM range(9000) r(k)"), 3000, "NULL keys are left out")
    tap.equal(s.rows("SELECT tamis_has(?, k), tamis_has(?, k::VARCHAR) FROM (VALUES (1), (NULL), (3)) v(k)", f, f),
              [(True, True), (None, None), (True, True)], "NULL rows among others are NULL")
    tap.equal(s.rows("SELECT tamis_has(x, 1) FROM (VALUES (?), (NULL), (?)) v(x)", f, f), [(True,), (None,), (True,)], "so are NULL filters")


def lists(s):
    s.rows("SELECT tamis_open(tamis_build(k, 'blocked:fpr=1e-9'), 'lists') FROM range(1000) r(k)")
    rows = s.rows("SELECT tamis_has_any('lists', l), tamis_has_all('lists', l) FROM (VALUES ([1, 2]), ([1, -2]), ([-1, -2]), ([]), (NULL), "
                  "([NULL]), ([NULL, 5]), ([NULL, -5])) v(l)")
    tap.equal(rows, [(True, True), (True, False), (False, False), (False, True), (None, None), (False, True), (True, True), (False, False)],
              "any and all of a list: NULLs are left out")
    many = "SELECT k, [i FOR i IN range(k - 3, k + 3)] AS l FROM range(-500, 2000) r(k)"
    wanted = "SELECT bool_and(tamis_has_any('lists', l) = (len([x FOR x IN l IF x BETWEEN 0 AND 999]) > 0) AND " \
             "tamis_has_all('lists', l) = (len([x FOR x IN l IF x BETWEEN 0 AND 999]) = 6)) FROM "
    tap.equal(s.one(f"{wanted} ({many})"), True, "and so is each of 2500 lists")
    tap.equal(s.one(f"{wanted} ({many} WHERE k % 3 = 1 ORDER BY k DESC)"), True, "also when they are taken out of order")
    shapes = ["[k, k]", "list_value(k)", "[k, NULL]", "list_slice([-1, k, -1], 2, 2)", "list_concat([k], [k])", "[5, 5]", "list_sort([k, 0])",
              "list_distinct([k, k])", "string_split(k::VARCHAR, ',')"]
    for shape in shapes:
        got = s.one(f"SELECT count(*) FROM range(5000) r(k) WHERE tamis_has_all('lists', {shape})")
        tap.equal(got, 5000 if shape == "[5, 5]" else 1000, f"a list that is {shape}")
    tap.equal(s.one("SELECT count(*) FROM (SELECT g, list(k) AS l FROM (SELECT k, k // 10 AS g FROM range(5000) r(k)) GROUP BY g) "
                    "WHERE tamis_has_all('lists', l)"), 100, "a list of an aggregate")
    tap.check("a list is not a key" in s.error("SELECT tamis_has('lists', [1])"), "a list is no key")
    tap.check("list of keys" in s.error("SELECT tamis_has_any('lists', 1)"), "and a key no list")


def groups(s):
    s.rows(f"CREATE OR REPLACE TABLE g AS SELECT k, k % 1000 AS g, 'word ' || k AS t FROM range({N}) r(k)")
    for spec in ("'blocked'", "'fuse'", "'blocked:capacity=100'", "'classic:capacity=50,hash=sip13'", "'counting'", "'guava:capacity=100'"):
        for key in ("k", "t"):
            s.rows(f"CREATE OR REPLACE TABLE f AS SELECT g, {build(key, spec)} AS f FROM g GROUP BY g")
            got = s.one(f"SELECT count(*) FROM g JOIN f USING (g) WHERE tamis_has(f, {key})")
            tap.equal(got, N, f"1000 groups of {key} by {spec}: every key is in its group's")
    s.rows(f"CREATE OR REPLACE TABLE f AS SELECT g, {build('k')} AS f FROM g GROUP BY g")
    tap.equal(s.one("SELECT count(*) FROM f WHERE f = tamis_build_list(range(g, 30000, 1000))"), 1000, "each as if it were alone")
    spec = "'blocked:capacity=30000'"
    s.rows(f"CREATE OR REPLACE TABLE f AS SELECT g, {build('k', spec)} AS f FROM g GROUP BY g")
    tap.equal(s.rows("SELECT tamis_items(tamis_merge(f)), tamis_items(tamis_merge_list(list(f))) FROM f"), [(N, N)], "tamis_merge joins them")
    tap.equal(s.one(f"SELECT tamis_merge(f) = (SELECT tamis_build(k, {spec}) FROM g) FROM f"), True, "into the bytes of one build")
    tap.equal(s.one(f"SELECT sum(tamis_items(m)) FROM (SELECT {merge('f')} AS m FROM f GROUP BY g % 10)"), N, "also by groups")
    nulls = build("CASE WHEN g < 500 THEN k END")
    tap.equal(s.one(f"SELECT count(*) FROM (SELECT {nulls} AS x FROM g GROUP BY g) WHERE x IS NULL"), 500, "groups of NULLs are NULL")
    tap.equal(s.one("SELECT tamis_items(tamis_build(DISTINCT k % 10)) FROM g"), 10, "DISTINCT")
    lists = "SELECT tamis_build_list([1, NULL, 2]) = tamis_build_list([1, 2]), tamis_build_list([]::INT[]), tamis_build_list(NULL), " \
            "tamis_build_list([NULL]::INT[]), tamis_items(tamis_build_list([1, 2, 3], 'fuse'))"
    tap.equal(s.rows(lists), [(True, None, None, None, 3)], "tamis_build_list leaves NULLs out")
    tap.check("list of keys" in s.error("SELECT tamis_build_list(5)") and "list of images" in s.error("SELECT tamis_merge_list([5])"),
              "and takes lists")


def windows(s):
    """A window combines one state with several others, and asks states that are not at their end."""
    if not duck.HAS_GROUPS:
        for what in ("tamis_build(k) OVER (PARTITION BY k % 3)", "tamis_build(k) OVER (ORDER BY k)", "tamis_build(k ORDER BY k)"):
            said = s.error(f"SELECT {what} FROM range(5000) r(k)")
            tap.check("needs DuckDB 2.0" in said and "tamis_build_list" in said, f"{what} is refused, never wrong")
        for size in (1, 2, 3, 10, 300, 2048):
            for what in ("tamis_build(k)", "tamis_build(k ORDER BY -k)"):
                query = f"SELECT count(*) FROM (SELECT {what} = tamis_build_list(list(k)) AS same FROM range(10000) r(k) GROUP BY k // {size}) WHERE NOT same"
                try:
                    tap.equal(s.one(query), 0, f"{what} of {size} rows, where DuckDB gives them alone")
                except duck.duckdb.Error as e:
                    tap.check("needs DuckDB 2.0" in str(e), f"{what} of {size} rows is refused")
        return
    for spec in ("'blocked:capacity=1000'", "'blocked'", "'fuse'", "'guava:capacity=1000'"):
        query = f"SELECT k, tamis_build(k, {spec}) OVER (ORDER BY k ROWS BETWEEN 300 PRECEDING AND 20 FOLLOWING) AS f FROM range(3000) r(k)"
        s.rows(f"CREATE OR REPLACE TABLE w AS {query}")
        wrong = s.one(f"SELECT count(*) FROM w WHERE k % 97 = 0 AND f <> (SELECT tamis_build(x, {spec}) FROM range(3000) r(x) "
                      "WHERE x BETWEEN k - 300 AND k + 20)")
        tap.equal(wrong, 0, f"{spec} over a window has the bytes of its rows")
    # Nodes of the window's tree that are not full are shared by many frames, of which each appends its own rows.
    some = "CASE WHEN k % 5 <> 0 THEN k END"
    s.rows(f"CREATE OR REPLACE TABLE w AS SELECT k, tamis_build({some}) OVER (ORDER BY k ROWS BETWEEN 300 PRECEDING AND 20 FOLLOWING) AS f "
           "FROM range(3000) r(k)")
    wrong = s.one("SELECT count(*) FROM w WHERE f <> tamis_build_list(list_filter(range(greatest(k - 300, 0), least(k + 21, 3000)), lambda x: x % 5 <> 0))")
    tap.equal(wrong, 0, "rows with NULLs over a window")
    # DuckDB before 2.0 gives a single state for all rows of a chunk here.
    for size in (1, 2, 3, 10, 300, 2048, 5000):
        s.rows(f"CREATE OR REPLACE TABLE w AS SELECT k // {size} AS g, tamis_build(k) OVER (PARTITION BY k // {size}) AS f FROM range(10000) r(k)")
        wrong = s.one(f"SELECT count(*) FROM (SELECT DISTINCT g, f FROM w) y JOIN (SELECT k // {size} AS g, tamis_build(k) AS f FROM range(10000) r(k) "
                      "GROUP BY ALL) x USING (g) WHERE y.f <> x.f")
        tap.equal(wrong, 0, f"partitions of {size} rows have the bytes of groups")
        ordered = s.one(f"SELECT count(*) FROM (SELECT tamis_build(k) = tamis_build(k ORDER BY -k) AS same FROM range(10000) r(k) GROUP BY k // {size}) "
                        "WHERE NOT same")
        tap.equal(ordered, 0, f"and so have groups of {size} ordered rows")
    merged = "SELECT sum(tamis_items(m)) FROM (SELECT tamis_merge(f) OVER (ORDER BY k ROWS 2 PRECEDING) AS m FROM (SELECT k, " \
             "tamis_build(k, 'blocked:capacity=10') AS f FROM range(100) r(k) GROUP BY k))"
    tap.equal(s.one(merged), 297, "and tamis_merge its filters")


def threads(s):
    s.rows("CREATE OR REPLACE TABLE p AS SELECT k, 'word ' || k AS t FROM range(1000000) r(k)")
    for spec in ("'blocked'", "'blocked:capacity=1M'", "'fuse'", "'ribbon'", "'cuckoo'", "'guava:capacity=1M'"):
        for key in ("k", "t"):
            images = []
            for n in (1, 4):
                s.rows(f"SET threads = {n}")
                images.append(s.one(f"SELECT tamis_build({key}, {spec}) FROM p"))
            tap.check(images[0] == images[1], f"{spec} of {key}: one thread and four make the same bytes")
    counted = s.rows("SELECT count(*), count(*) FILTER (tamis_has(?, k)) FROM p", s.one("SELECT tamis_build(k) FROM p"))[0]
    tap.equal(counted, (1000000, 1000000), "and four threads find a million keys")
    s.rows("SET threads = 2")
    several = s.error("SELECT tamis_build(k, CASE WHEN k < 500000 THEN 'blocked' ELSE 'fuse' END) FROM p")
    tap.check("several specs" in several, "a group of several specs is refused")
    tap.check("several specs" in s.error("SELECT tamis_build(k, CASE WHEN k <> 7 THEN 'blocked:fpr=1%' END) FROM range(10) r(k)"),
              "also when one is NULL")


def counts(s):
    s.rows("SELECT tamis_open(tamis_build(w, 'countmin:error=0.1%'), 'words') FROM (SELECT unnest(string_split('to be or not to be', ' ')) AS w)")
    tap.equal(s.rows("SELECT tamis_count('words', w) FROM (VALUES ('be'), ('or'), ('question'), (NULL)) v(w)"), [(2,), (1,), (0,), (None,)],
              "counts")
    duck.command("build", "-q", "map.tamis", "-k", "bloomier", "--keys", "int64", "--values", "-", stdin="".join(f"{i}\t{3 * i}\n" for i in range(2000)))
    tap.equal(s.one("SELECT bool_and(tamis_get('map.tamis', k) = 3 * k) FROM range(2000) r(k)"), True, "values of a map that the command built")
    tap.check(s.one("SELECT count(tamis_get('map.tamis', k)) FROM range(5000, 15000) r(k)") < 300, "others have none, but a few")
    tap.check("has no values" in s.error("SELECT tamis_get('words', 'be')"), "what is no map has no values")
    tap.check("has no labels" in s.error("SELECT tamis_which('words', 'be')"), "and no labels")


def changes(s):
    f = s.one("SELECT tamis_build(k, 'counting:capacity=1000') FROM range(10) r(k)")
    more = s.one("SELECT tamis_add(?, 77)", f)
    tap.equal(s.rows("SELECT tamis_has(?, 77), tamis_has(?, 77)", f, more), [(False, True)], "tamis_add makes another filter")
    tap.check(s.one("SELECT tamis_remove(?, 77)", more) == f, "tamis_remove takes it back")
    tap.check(s.one("SELECT tamis_add(?, [70, NULL, 71])", f) == s.one("SELECT tamis_add(tamis_add(?, 70), 71)", f), "a list adds all its keys")
    tap.check(s.one("SELECT tamis_add(?, []::INT[])", f) == f, "and an empty one none")
    tap.check("not in the filter" in s.error("SELECT tamis_remove(?, 123456)", f), "what is not there is not removed")
    duck.command("create", "-q", "-s", "counting:capacity=100", "empty.tamis")
    empty = s.one("SELECT [tamis_info(f).encoding, tamis_info(tamis_add(f, 5)).encoding, tamis_info(tamis_add(f, ['x'])).encoding] "
                  "FROM (SELECT tamis_union('empty.tamis', 'empty.tamis') AS f)")
    tap.equal(empty, [None, "int64", "utf8"], "the first key of a filter sets its note")
    notes = "SELECT tamis_info(tamis_set_note(f, 'encoding', 'uint64')).encoding, tamis_info(tamis_set_note(f, 'encoding', NULL)).encoding, " \
            "tamis_set_note(f, NULL, 'x') IS NULL, tamis_set_note(NULL, 'x', 'x') IS NULL FROM (SELECT tamis_build(5) AS f)"
    tap.equal(s.rows(notes), [("uint64", None, True, True)], "a note is set, and removed")
    tap.check("tamis: " in s.error("SELECT tamis_set_note(tamis_build(5), 'Not A Name', 'x')"), "or refused")
    one, two = (s.one(f"SELECT tamis_build(k, 'blocked:capacity=100') FROM range({a}, {b}) r(k)") for a, b in ((0, 60), (40, 100)))
    all_of = s.one("SELECT tamis_build(k, 'blocked:capacity=100') FROM (SELECT * FROM range(0, 60) UNION ALL SELECT * FROM range(40, 100)) r(k)")
    tap.check(s.one("SELECT tamis_union(?, ?)", one, two) == all_of, "tamis_union is the filter of both")
    tap.equal(s.one("SELECT count(*) FROM range(40, 60) r(k) WHERE tamis_has(tamis_intersect(?, ?), k)", one, two), 20, "tamis_intersect")
    texts = s.one("SELECT tamis_build('x', 'blocked:capacity=100')")
    tap.check("different forms" in s.error("SELECT tamis_union(?, ?)", one, texts), "filters of other keys are not joined")
    tap.check("different forms" in s.error("SELECT tamis_merge(x) FROM (VALUES (?), (?)) v(x)", one, texts), "nor merged")
    tap.check("differ" in s.error("SELECT tamis_union(?, ?)", one, f) or "match" in s.error("SELECT tamis_union(?, ?)", one, f),
              "nor are those of other kinds")
    tap.check("no such number" in s.error("SELECT tamis_add(?, 170141183460469231731687303715884105727::HUGEINT)", f) or "no place for" in
              s.error("SELECT tamis_add(?, 170141183460469231731687303715884105727::HUGEINT)", f), "what is no key is not added")


def facts(s):
    info = s.one("SELECT tamis_info(tamis_build(k)) FROM range(1000) r(k)")
    tap.equal((info["kind"], info["items"], info["encoding"], info["caveat"], info["is_saturated"]), ("blocked", 1000, "int64", None, False),
              "tamis_info is a struct")
    tap.check(0.005 < info["fpr_now"] < 0.015 and info["distinct_error"] > 0 and "union" in info["abilities"], "with rates and abilities")
    rows = s.rows("SELECT i.kind, i.items, len(i.abilities) FROM (SELECT tamis_info(tamis_build_list([k, k + 1, k + 2], 'classic')) AS i "
                  "FROM range(3000) r(k))")
    tap.check(len(rows) == 3000 and set(rows) == {("classic", 3, 4)}, "3000 of them, with their lists")
    plan = s.rows("SELECT kind, capacity, payload_bytes FROM tamis_plan('fuse:capacity=1M')")
    tap.check(plan[0][:2] == ("fuse", 1000000) and plan[0][2] > 5 * 10 ** 5, "tamis_plan is a row")
    tap.equal(s.one("SELECT count(*) FROM tamis_kinds()"), len(s.rows("FROM tamis_kinds()")), "rows are counted without their columns")
    tap.equal(s.rows("SELECT is_built_once, kind FROM tamis_kinds() WHERE kind IN ('fuse', 'blocked') ORDER BY kind"),
              [(False, "blocked"), (True, "fuse")], "columns come in any order")


def traps(s):
    """What DuckDB does to arguments changes no answer."""
    s.rows("CREATE OR REPLACE TABLE f AS SELECT tamis_build(k) AS f FROM range(1000) r(k)")
    plan = s.rows("EXPLAIN SELECT count(*) FROM range(100000) r(k) WHERE tamis_has((SELECT f FROM f), k)")[0][1]
    tap.check("blockwise" in plan.lower(), "a subquery as an argument becomes a join, which asks every pair: docs/duckdb.md says so")
    tap.equal(s.one("SELECT count(*) FROM range(1000) r(k) WHERE tamis_has((SELECT f FROM f), k)"), 1000, "a filter from a subquery")
    tap.equal(s.one("SELECT count(*) FROM range(1000) r(k), f WHERE tamis_has(f, k)"), 1000, "a filter from a join")
    s.rows("SET VARIABLE f = (SELECT f FROM f)")
    tap.equal(s.one("SELECT count(*) FROM range(1000) r(k) WHERE tamis_has(getvariable('f'), k)"), 1000, "a filter in a variable")
    s.rows("CREATE OR REPLACE TABLE many AS SELECT g, tamis_build_list(list(k), 'blocked:capacity=10') AS f FROM "
           "(SELECT k, k // 10 AS g FROM range(3000) r(k)) GROUP BY g")
    tap.equal(s.one("SELECT count(*) FROM many, range(3000) r(k) WHERE g = k // 10 AND tamis_has(f, k)"), 3000,
              "300 filters of one size are told apart by their headers")
    tap.equal(s.one("SELECT min(n) FROM (SELECT k, count(*) AS n FROM many, range(3000) r(k) WHERE tamis_has(f, k) GROUP BY k)") >= 1, True,
              "also when they come in turn")
    s.rows("PREPARE p AS SELECT tamis_has(?, ?)")
    tap.equal(s.rows("EXECUTE p('lists', 5)"), [(True,)], "parameters of a prepared statement")


def refusals(s):
    f = s.one("SELECT tamis_build(k) FROM range(10) r(k)")
    for what in ("INTERVAL 1 DAY", "TIME '12:00:00'", "{'a': 1}", "MAP {1: 2}", "'101'::BIT", "[1]::INT[1]"):
        tap.check("are not keys" in s.error(f"SELECT tamis_has(?, {what})", f), f"{what} is no key")
        tap.check("are not keys" in s.error(f"SELECT tamis_build({what})"), "and builds nothing")
    sentences = {
        "tamis_build(k, 'blockd') FROM range(3) r(k)": "blockd",
        "tamis_build(k, 'blocked:fpr=2') FROM range(3) r(k)": "fpr",
        "tamis_build(k, 'blocked:capacity=1e15') FROM range(3) r(k)": "over the limit of 4294967295",
        "tamis_build(k, 'blocked:capacity=0x') FROM range(3) r(k)": "capacity",
        "tamis_build(k, chr(0)) FROM range(3) r(k)": "NUL",
        "tamis_has('', 5)": "name",
        "tamis_has('a/b', 5)": "slash",
        "tamis_has('../x', 5)": "slash",
        "tamis_has(5, 5)": "first argument",
        "tamis_has('not there', 5)": "not there",
        "tamis_open('x'::BLOB, 'y')": "tamis: ",
        "tamis_open(tamis_build(5))": "needs a name",
        "tamis_open(tamis_build(5), repeat('x', 192))": "1 to 191 bytes",
        "tamis_open(5, 'x')": "VARCHAR",
        "tamis_union('lists', 5)": "second argument",
    }
    for call, word in sentences.items():
        said = s.error(f"SELECT {call}")
        tap.check("tamis: " in said and word in said, f"{call}: {said.splitlines()[0][:110]}")
    for call, word in {"tamis_plan('x:y')": "x", "tamis_plan(NULL)": "NULL", "tamis_read(NULL)": "NULL"}.items():
        tap.check(word in s.error(f"FROM {call}"), f"{call} is refused")


def main():
    s = open_database(threads=2)
    for part in (kinds, sizes, nulls, lists, groups, windows, threads, counts, changes, facts, traps, refusals):
        part(s)
    return tap.end()


sys.exit(main())
