#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions of the extension: every kind, keys of every storage class against the command and back, names and files, refusals."""
import base64
import json
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sq

tap = sq.Tap()
refuses = sq.refuser(tap)

# ---- Kinds ------------------------------------------------------------------------------------

# A spec for kinds that need more than a capacity, and kinds that are not made of keys alone, or not of texts.
SPECS = {"approximator": "approximator:capacity=200,bits=8", "minhash": "minhash", "hierarchical": "hierarchical:capacity=2000"}
NOT_OF_KEYS = {"fingerprint", "hadoop-retouched", "leveldb-block"}
NOT_OF_TEXTS = {"binary-fuse"}
FORGETS = {"stable"}
NUMBERS = "WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM s WHERE value < 100) "


def spec_of(kind):
    return SPECS.get(kind, f"{kind}:capacity=200")


def every_kind(db):
    """Whatever can be built is, of texts and of numbers, answers for all its keys, and merges where it says so."""
    for kind, abilities in db.rows("SELECT kind, abilities FROM tamis_kinds()"):
        for keys in ("'key-' || value", "value"):
            query = f"{NUMBERS} SELECT tamis_build({keys}, ?) FROM s"
            if kind in NOT_OF_KEYS or (kind in NOT_OF_TEXTS and keys != "value"):
                refuses(db, query, spec_of(kind), says=kind)
                continue
            image = db.one(query, spec_of(kind))
            asked = db.one(f"{NUMBERS} SELECT sum(tamis_has((SELECT tamis_open(?)), {keys})) FROM s", image)
            tap.check(asked == 100 or kind in FORGETS, f"{kind} of {keys}: every key is there")
            merge_and_change(db, kind, image, abilities.split(", "), keys)


def merge_and_change(db, kind, image, abilities, keys):
    name = f"{kind} of {keys}"
    key = "key-1000" if "key" in keys else 1000
    if "add" in abilities:
        added = db.one("SELECT tamis_add(?, ?)", image, key)
        tap.check(db.one("SELECT tamis_has(?, ?)", added, key) == 1, f"{name}: a key that is added is there")
        if "remove" in abilities:
            less = db.one("SELECT tamis_remove(?, ?)", added, key)
            tap.check(db.one("SELECT tamis_items(?)", less) == db.one("SELECT tamis_items(?)", image), f"{name}: and removed")
    else:
        tap.check("tamis: " in db.error("SELECT tamis_add(?, ?)", image, key), f"{name}: adding is refused")
    if "union" in abilities:
        both = db.one("SELECT tamis_merge(i) FROM (SELECT ? AS i UNION ALL SELECT ?)", image, image)
        first = "key-1" if "key" in keys else 1
        tap.check(db.one("SELECT tamis_has(?, ?)", both, first) == 1, f"{name}: a union has its keys")
        tap.check(db.one("SELECT tamis_union(?, ?)", image, image) == both, f"{name}: and is the same in both ways")


# ---- Keys -------------------------------------------------------------------------------------

INTEGERS = [0, 1, -1, 42, 2**31 - 1, -2**31, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -2**63]
REALS = [0.5, -2.25, 0.1, 1e300, 3.0, -1.0, 5e-324]
TEXTS = ["a", "café", "", "1", " x ", "漢字"]
BLOBS = [b"", b"\x00", b"abc", bytes(range(256))]


def classes(db, folder):
    """What SQL builds the command answers, and the other way round."""
    for what, encoding, keys, line in (("integers", "int64", INTEGERS, str), ("reals", "double", REALS, repr),
                                       ("texts", "utf8", TEXTS, str), ("blobs", "hex", BLOBS, bytes.hex)):
        build_of(db, folder, what, encoding, keys, line)
        for other in {"integers": ["int32be", "uint64"], "reals": ["doublebe", "float"], "texts": ["utf16"], "blobs": ["base64"]}[what]:
            from_command(db, folder, what, other, [key for key in keys if fits(key, other)])


def fits(key, encoding):
    if encoding == "int32be":
        return -2**31 <= key < 2**31
    if encoding == "uint64":
        return key >= 0
    if encoding == "float":
        return key in (0.5, -2.25, 3.0, -1.0)
    return True


def lines_of(key, encoding):
    if encoding == "base64":
        return base64.b64encode(key).decode()
    return repr(key) if isinstance(key, float) else str(key) if not isinstance(key, bytes) else key.hex()


def build_of(db, folder, what, encoding, keys, line):
    db.rows("DROP TABLE IF EXISTS k")
    db.rows("CREATE TABLE k(x)")
    db.many("INSERT INTO k VALUES (?)", [(key,) for key in keys])
    for spec in ("blocked:fpr=1e-6", "fuse:fpr=1e-6", "blocked:capacity=100,fpr=1e-6"):
        image = db.one("SELECT tamis_build(x, ?) FROM k", spec)
        tap.equal(db.one("SELECT tamis_note(?, 'encoding')", image), encoding, f"{what}: the note, {spec}")
        tap.equal(db.one("SELECT sum(tamis_has(?, x)) FROM k", image), len(keys), f"{what}: every key is there, {spec}")
        folder.write("sql.tamis", image)
        lines = [line(key) for key in keys if key not in ("", b"")]
        said = folder.command("check", "sql.tamis", "--keys", encoding, lines=lines)
        tap.equal(said, "".join(f"{each}\n" for each in lines), f"{what}: the command finds them, {spec}")
    from_command(db, folder, what, encoding, keys)


def from_command(db, folder, what, encoding, keys):
    lines = [lines_of(key, encoding) for key in keys if key not in ("", b"")]
    folder.command("build", "c.tamis", "--force", "-p", "1e-6", "--keys", encoding, lines=lines)
    image = folder.read("c.tamis")
    found = [db.one("SELECT tamis_has(?, ?)", image, key) for key in keys if key not in ("", b"")]
    tap.equal(found, [1] * len(lines), f"{what}: those of the command are found, {encoding}")
    if what != "texts":
        texts = [db.one("SELECT tamis_has(?, ?)", image, text) for text in lines]
        tap.equal(texts, [1] * len(lines), f"{what}: as texts too, {encoding}")


def numbers(db):
    """1 = 1.0 for SQLite, and so for filters."""
    ints = db.one("SELECT tamis_build(x, 'fpr=1e-9') FROM (SELECT 1 AS x UNION ALL SELECT 9007199254740993)")
    reals = db.one("SELECT tamis_build(x, 'fpr=1e-9') FROM (SELECT 1.0 AS x UNION ALL SELECT 2.5 UNION ALL SELECT -0.0)")
    for image, key, wanted in ((ints, 1, 1), (ints, 1.0, 1), (ints, 2.5, 0), (ints, 1e300, 0), (ints, 9223372036854775807.0, 0),
                               (ints, 9007199254740993, 1), (ints, 9007199254740992.0, 0), (reals, 1, 1), (reals, 1.0, 1),
                               (reals, 2.5, 1), (reals, 0, 1), (reals, 0.0, 1), (reals, 9007199254740993, 0), (reals, 2, 0)):
        tap.equal(db.one("SELECT tamis_has(?, ?)", image, key), wanted, f"{key!r} of {'integers' if image is ints else 'reals'}")
        tap.equal(db.one("SELECT tamis_count(?, ?)", image, key), wanted, f"{key!r} is counted")
    mixed = db.one("SELECT tamis_build(x, 'fpr=1e-9') FROM (SELECT 1 AS x UNION ALL SELECT 2.0)")
    tap.equal([db.one("SELECT tamis_has(?, ?)", mixed, key) for key in (1, 1.0, 2, 2.0, 3)], [1, 1, 1, 1, 0], "integers and reals that are")


def classes_refused(db):
    ints = db.one("SELECT tamis_build(1)")
    texts = db.one("SELECT tamis_build('a')")
    blobs = db.one("SELECT tamis_build(x'01')")
    refuses(db, "SELECT tamis_has(?, x'01')", ints, says="keys of this filter are int64, and a BLOB is never one of them")
    refuses(db, "SELECT tamis_has(?, 1)", texts, says="keys of this filter are utf8, and an INTEGER is never one of them")
    refuses(db, "SELECT tamis_has(?, 1.5)", texts, says="a REAL is never one of them")
    refuses(db, "SELECT tamis_has(?, 1)", blobs, says="keys of this filter are hex, and an INTEGER")
    refuses(db, "SELECT tamis_has(?, 'one')", ints, says="one")
    refuses(db, "SELECT tamis_add(?, 2.5)", ints, says="keys of this filter are int64, which has no such number")
    refuses(db, "SELECT tamis_union(?, ?)", ints, texts, says="keys of the two filters have different forms")
    refuses(db, "SELECT tamis_merge(i) FROM (SELECT ? AS i UNION ALL SELECT ?)", ints, texts, says="different forms")
    for first, second, says in (("1", "'a'", "the first is INTEGER, and another is TEXT"), ("'a'", "1", "the first is TEXT, and another is INTEGER"),
                                ("'a'", "x'61'", "the first is TEXT, and another is BLOB"), ("x'61'", "1.5", "the first is BLOB"),
                                ("1", "2.5", "another is REAL that is none: build it of CAST(key AS REAL)"),
                                ("2.5", "9007199254740993", "another is INTEGER that is none")):
        refuses(db, f"SELECT tamis_build(x) FROM (SELECT {first} AS x UNION ALL SELECT {second})", says=says)
    canon = db.one("SELECT tamis_set_note(?, 'canon', 'domain')", texts)
    refuses(db, "SELECT tamis_has(?, 'a')", canon, says="which is done by the command alone")
    bare = db.one("SELECT tamis_set_note(?, 'encoding', NULL)", ints)
    refuses(db, "SELECT tamis_has(?, 1)", bare, says='it has no note "encoding"')
    refuses(db, "SELECT tamis_has(7, 1)", says="a filter is an image, a name, or what tamis_open() returned")
    refuses(db, "SELECT tamis_has(7.5, 1)", says="and not a number")


# ---- NULL, groups, other results --------------------------------------------------------------

def nulls(db):
    image = db.one("SELECT tamis_build(1)")
    for sql in ("tamis_has(NULL, 1)", "tamis_has(:i, NULL)", "tamis_count(NULL, 1)", "tamis_add(NULL, 1)", "tamis_add(:i, NULL)",
                "tamis_union(:i, NULL)", "tamis_union(NULL, :i)", "tamis_info(NULL)", "tamis_items(NULL)", "tamis_new(NULL)",
                "tamis_note(:i, NULL)", "tamis_note(:i, 'none')", "tamis_open(NULL)", "tamis_open(NULL, 'a')", "tamis_close(NULL)",
                "tamis_build(NULL)", "tamis_merge(NULL)", "tamis_build_map(NULL, 1)", "tamis_build_labels('a', NULL)",
                "tamis_set_note(NULL, 'a', 'b')", "tamis_export(NULL, 'guava')", "tamis_import(NULL, 'guava')", "tamis_fold(:i, NULL)"):
        tap.check(db.connection.execute(f"SELECT {sql}", {"i": image}).fetchall() == [(None,)], f"NULL: {sql}")
    tap.equal(db.one("SELECT tamis_build(x) FROM (SELECT 1 AS x WHERE 0)"), None, "a group without rows")
    with_null = db.one("SELECT tamis_build(x) FROM (SELECT 1 AS x UNION ALL SELECT NULL)")
    tap.equal(db.one("SELECT tamis_items(?)", with_null), 1, "NULL is no key")
    tap.equal(db.rows("SELECT * FROM tamis_plan(NULL)"), [], "NULL has no plan")
    tap.equal(db.rows("SELECT * FROM tamis_list(NULL)"), [], "and no list")


def groups(db):
    rows = db.rows("WITH RECURSIVE s(v) AS (SELECT 0 UNION ALL SELECT v + 1 FROM s WHERE v < 2999) "
                   "SELECT v % 3 AS g, tamis_build(v, 'fpr=1e-9'), tamis_build(v, 'fuse:fpr=1e-9') FROM s GROUP BY g")
    for g, one, other in rows:
        for image in (one, other):
            hits = [db.one("SELECT tamis_has(?, ?)", image, v) for v in range(9)]
            tap.equal(hits, [int(v % 3 == g) for v in range(9)], f"group {g}")
    refuses(db, "SELECT tamis_build(v) OVER (ORDER BY v) FROM (SELECT 1 AS v)", says="may not be used as a window function")
    many = db.one("WITH RECURSIVE s(v) AS (SELECT 0 UNION ALL SELECT v + 1 FROM s WHERE v < 199999) SELECT tamis_build(v) FROM s")
    info = json.loads(db.one("SELECT tamis_info(?)", many))
    tap.equal((info["items"], info["capacity"], info["kind"]), (200000, 200000, "blocked"), "a capacity that is counted")


def results(db):
    labels = db.one("SELECT tamis_build_labels(k, l) FROM (SELECT 'a' AS k, 'spam' AS l UNION ALL SELECT 'b', 'spam' UNION ALL "
                    "SELECT 'b', 'say \"x\\y\"')")
    tap.equal(json.loads(db.one("SELECT tamis_which(?, 'b')", labels)), ["spam", "say \"x\\y\""], "labels of a key")
    tap.equal(json.loads(db.one("SELECT tamis_which(?, 'nobody')", labels)), [], "no label")
    listed = db.rows("SELECT label, count(*) FROM tamis_list(?) GROUP BY 1 ORDER BY 1", labels)
    tap.equal(listed, [("say \"x\\y\"", 1), ("spam", 2)], "labels are listed")
    values = db.one("SELECT tamis_build_map(k, v) FROM (SELECT 1 AS k, 7 AS v UNION ALL SELECT 2, 1000000)")
    tap.equal(db.rows("SELECT tamis_get(?, 1), tamis_get(?, 2), tamis_get(?, 2.0)", values, values, values)[0], (7, 1000000, 1000000),
              "values of keys")
    refuses(db, "SELECT tamis_build_map(1, 'a')", says="the value of a key is an INTEGER")
    refuses(db, "SELECT tamis_build_map(k, v) FROM (SELECT 1 AS k, 7 AS v UNION ALL SELECT 1, 8)", says="tamis: ")
    refuses(db, "SELECT tamis_get(tamis_build(1), 1)", says="blocked has no values")
    refuses(db, "SELECT tamis_which(tamis_build(1), 1)", says="blocked has no labels")
    counts = db.one("SELECT tamis_build(w, 'multiset:capacity=10') FROM (SELECT 'be' AS w UNION ALL SELECT 'be' UNION ALL SELECT 'or')")
    tap.equal(db.rows("SELECT tamis_count(?, 'be'), tamis_count(?, 'or')", counts, counts)[0], (2, 1), "counts of keys")
    tap.equal(db.one("SELECT count(*) FROM tamis_list(?)", counts), 2, "stored hashes with their counts")
    refuses(db, "SELECT * FROM tamis_list((SELECT tamis_build(1, 'fuse')))", says="fuse cannot list what it has")
    refuses(db, "SELECT * FROM tamis_list((SELECT tamis_open(tamis_build(1))))", says="is not listed: give the image")
    plan = db.rows("SELECT kind, capacity, payload_bytes FROM tamis_plan('fuse:capacity=1M,fpr=1%')")
    tap.equal(plan[0][:2], ("fuse", 1000000), "a plan")
    refuses(db, "SELECT * FROM tamis_plan('nosuch:capacity=1')", says="tamis: ")
    refuses(db, "SELECT * FROM tamis_plan", says="a function of one argument")
    info = json.loads(db.one("SELECT tamis_info(?)", counts))
    tap.equal((info["kind"], info["items"], info["encoding"]), ("multiset", 3, "utf8"), "a report")
    tap.equal(db.one("SELECT tamis_items(?)", counts), 3, "items")
    tap.check(0 < db.one("SELECT tamis_rate(?)", counts) < 0.05, "a rate")
    tap.check(db.one("SELECT tamis_spec(?)", counts).startswith("multiset:capacity=10"), "a spec")
    guava = db.one("SELECT tamis_export(tamis_build('a', 'guava:capacity=100'), 'guava')")
    again = db.one("SELECT tamis_import(?, 'guava')", guava)
    tap.equal(db.one("SELECT tamis_has(?, 'a')", again), 1, "through another system's bytes")
    folded = db.one("SELECT tamis_fold(tamis_build(1, 'blocked:size=64KiB,capacity=1000'), 2)")
    tap.check(db.one("SELECT tamis_has(?, 1)", folded) == 1 and len(folded) < 40000, "folded")
    both = db.one("SELECT tamis_intersect(tamis_add(tamis_new('capacity=100,fpr=1e-9'), 1), tamis_add(tamis_new('capacity=100,fpr=1e-9'), 1))")
    tap.equal(db.one("SELECT tamis_has(?, 1)", both), 1, "what two have in common")
    refuses(db, "SELECT tamis_new('fuse:capacity=10')", says="tamis_build(key, spec)")
    refuses(db, "SELECT tamis_new('nosuch')", says="tamis: ")
    refuses(db, "SELECT tamis_new('a' || char(0) || 'b')", says="a spec is a text without a byte 0")
    refuses(db, "SELECT tamis_build(1, 5)", says="a spec is a text, and not another value")
    refuses(db, "SELECT tamis_build(1, 'fpr=2')", says="tamis: ")


# ---- Names, files and rights ------------------------------------------------------------------

def names(db):
    image = db.one("SELECT tamis_build(v, 'fpr=1e-9') FROM (SELECT 1 AS v UNION ALL SELECT 2)")
    tap.equal(db.one("SELECT tamis_open(?, 'mine')", image), "mine", "a name is given")
    tap.equal(db.rows("SELECT tamis_has('mine', v) FROM (SELECT 1 AS v UNION ALL SELECT 3)"), [(1,), (0,)], "and asked")
    tap.equal(db.rows("SELECT tamis_has(n, 1) FROM (SELECT 'mine' AS n UNION ALL SELECT 'mine')"), [(1,), (1,)], "by a column")
    tap.equal(db.one("SELECT tamis_image('mine')"), image, "the image of a name")
    other = db.one("SELECT tamis_build(5, 'fpr=1e-9')")
    db.one("SELECT tamis_open(?, 'mine')", other)
    tap.equal(db.one("SELECT tamis_has('mine', 5)"), 1, "another takes its name")
    refuses(db, "SELECT tamis_add('mine', 1)", says="the image of a filter is a blob; a name is none")
    tap.equal(db.one("SELECT tamis_close('mine')"), 1, "a name is taken back")
    tap.equal(db.one("SELECT tamis_close('mine')"), 0, "once")
    refuses(db, "SELECT tamis_has('mine', 5)", says='no filter has the name "mine", and there is no directory of filters')
    refuses(db, "SELECT tamis_open('x.tamis')", says="TAMIS_DIRECTORY")
    refuses(db, "SELECT tamis_open(?, '')", image, says="a name of a filter has 1 to 191 bytes")
    tap.equal(db.rows("SELECT sum(tamis_has((SELECT tamis_open(?)), v)) FROM (SELECT 1 AS v UNION ALL SELECT 2 UNION ALL SELECT 3)", image),
              [(2,)], "a pointer")
    tap.equal(db.one("SELECT tamis_items(tamis_open(?))", image), 2, "a pointer in another function")
    refuses(db, "SELECT tamis_add(tamis_open(?), 1)", image, says="what tamis_open() returned is not changed")


def files(folder):
    folder.command("build", "ids.tamis", "-p", "1e-9", "--keys", "int64", lines=range(100))
    db = sq.Database(directory=folder.path)
    tap.equal(db.one("SELECT tamis_has('ids.tamis', 99)"), 1, "a file by its name")
    tap.equal(db.one("SELECT tamis_open('ids.tamis', 'ids')"), "ids", "a file by another name")
    folder.command("build", "new.tamis", "-p", "1e-9", "--keys", "int64", lines=range(1000, 1100))
    os.replace(folder.file("new.tamis"), folder.file("ids.tamis"))
    tap.equal(db.rows("SELECT tamis_has('ids.tamis', 99), tamis_has('ids', 1050)"), [(0, 1)], "a file that was replaced")
    os.symlink("ids.tamis", folder.file("link.tamis"))
    refuses(db, "SELECT tamis_has('link.tamis', 1)", says="is not a regular file")
    refuses(db, "SELECT tamis_has('../x', 1)", says="is not a file name: one without a slash")
    refuses(db, "SELECT tamis_has('none.tamis', 1)", says="No such file")
    folder.write("bad.tamis", b"x" * 500)
    refuses(db, "SELECT tamis_has('bad.tamis', 1)", says="tamis: ")
    db.close()


def rights(db):
    """What a database may bring along, and what only the program's own statements may do."""
    db.rows("PRAGMA trusted_schema = OFF")
    image = db.one("SELECT tamis_build(1)")
    db.rows("CREATE TABLE f(image, k)")
    db.rows("INSERT INTO f VALUES (?, 1)", image)
    db.rows("CREATE VIEW v AS SELECT tamis_has(image, k) AS h, tamis_add(image, k) AS a FROM f")
    tap.equal(db.rows("SELECT h FROM v"), [(1,)], "a view may ask")
    db.rows("CREATE VIEW o AS SELECT tamis_open(image, 'stolen') FROM f")
    tap.check("unsafe use of tamis_open()" in db.error("SELECT * FROM o"), "a view may not give names")
    db.rows("CREATE INDEX i ON f(tamis_add(image, k))")
    tap.check("non-deterministic" in db.error("CREATE INDEX j ON f(tamis_has(image, k))"),
              "what a name stands for may change: no index")
    db.rows("DROP TABLE f")
    db.rows("PRAGMA trusted_schema = ON")


def subqueries(db):
    """Values that change from row to row, more of them than stay open."""
    db.rows("DROP TABLE IF EXISTS days")
    db.rows("CREATE TABLE days(d, f)")
    for d in range(9):
        db.rows("INSERT INTO days SELECT ?, tamis_build(v, 'fpr=1e-9') FROM (SELECT ? AS v UNION ALL SELECT ?)", d, d * 10, d * 10 + 1)
    for v in (0, 31, 80, 82):
        wanted = [(d,) for d in range(9) if v in (d * 10, d * 10 + 1)]
        tap.equal(db.rows("SELECT d FROM days WHERE tamis_has(f, ?) ORDER BY d", v), wanted, f"which day has {v}")
    wanted = [(d, d * 10) for d in range(9)]
    tap.equal(db.rows("WITH RECURSIVE s(v) AS (SELECT 0 UNION ALL SELECT v + 10 FROM s WHERE v < 80) "
                      "SELECT d, v FROM days, s WHERE tamis_has(f, v) ORDER BY d, v"), wanted, "all days with all values")
    two = db.rows("SELECT count(*) FROM days a, days b WHERE tamis_has(a.f, b.d * 10)")
    tap.equal(two, [(9,)], "and in the other order")


def randomly(db, seed=24):
    """Against sets, by every way in and out."""
    rng = random.Random(seed)
    for turn in range(20):
        keys = {rng.randrange(10**12) for _ in range(rng.randrange(1, 300))}
        others = {rng.randrange(10**12) for _ in range(100)} - keys
        db.rows("DROP TABLE IF EXISTS k")
        db.rows("CREATE TABLE k(x)")
        db.many("INSERT INTO k VALUES (?)", [(key,) for key in keys])
        spec = rng.choice(["fpr=1e-9", "blocked:capacity=500,fpr=1e-9", "fuse:fpr=1e-9", "cuckoo:fpr=1e-9", "ribbon:fpr=1e-9"])
        image = db.one("SELECT tamis_build(x, ?) FROM k", spec)
        how = rng.choice(["?", "(SELECT tamis_open(?))", "(SELECT ?)"])
        found = {key for key in keys | others if db.one(f"SELECT tamis_has({how}, ?)", image, key)}
        tap.check(found == keys, f"turn {turn}: {spec} by {how}")


def main():
    sq.skip_unless_possible()
    db = sq.Database()
    every_kind(db)
    with sq.Folder() as folder:
        classes(db, folder)
        files(folder)
    db = sq.Database()
    for test in (numbers, classes_refused, nulls, groups, results, names, rights, subqueries, randomly):
        test(db)
    sys.exit(tap.end())


main()
