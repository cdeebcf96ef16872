#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keys are the same in DuckDB and in the command: a filter that one builds, the other answers, key by key and for keys that are not in
it too, for every type of keys and every encoding. What cannot be is refused; a quiet no for a member would be the worst answer."""
import datetime
import random
import struct
import sys
import uuid

sys.dont_write_bytecode = True
import duck
from duck import Tap, command, open_database, path_of

tap = Tap()
N = 600  # members, and as many others
RATE = 0.1  # so that what is wrongly found can be compared
EPOCH = datetime.datetime(1970, 1, 1)
DAY = 86400 * 10 ** 6


# ---- Types ------------------------------------------------------------------------------------------------


def whole(r, low, high):
    numbers = set()
    while len(numbers) < min(2 * N, high - low):
        numbers.add(r.randrange(low, high))
    return [(str(i), str(i)) for i in sorted(numbers, key=lambda i: i * 0x9e3779b97f4a7c15 % 2 ** 64)]


def times(r, unit):
    """Literals of times in whole units of so many microseconds, and the microseconds."""
    made = {r.randrange(-6 * 10 ** 16, 10 ** 17) // unit * unit for _ in range(2 * N)}
    return [((EPOCH + datetime.timedelta(microseconds=m)).isoformat(" "), str(m)) for m in sorted(made)]


def days(r):
    return [((EPOCH + datetime.timedelta(days=d)).date().isoformat(), str(d * DAY)) for d in r.sample(range(-700000, 2900000), 2 * N)]


def singles(r):
    made = {struct.unpack("<f", struct.pack("<f", r.uniform(-1, 1) * 10 ** r.randrange(-30, 30)))[0] for _ in range(2 * N)}
    return [(repr(v), repr(v)) for v in sorted(made)]


def texts(r, longest):
    some = "abcdefghij XYZ0123456789-_.:äßéñłж漢字🙂"
    words = {"".join(r.choice(some) for _ in range(r.randrange(1, longest))).strip() for _ in range(6 * N)}
    return [(w, w) for w in sorted(words - {""})[:2 * N]]


def decimals(r, width, scale):
    """As they are written, and without the zeros at their end."""
    made = {}
    while len(made) < 2 * N:
        value = r.randrange(10 ** r.randrange(1, width + 1))
        if r.random() < 0.3:
            value -= value % 10 ** r.randrange(1, scale + 2)
        digits = str(value).rjust(scale + 1, "0")
        text = ("-" if value and r.random() < 0.5 else "") + (digits[:-scale] + "." + digits[-scale:] if scale else digits)
        made[text.rstrip("0").rstrip(".") if scale else text] = text
    return [(text, key) for key, text in made.items()]


def members():
    """(type, its note, pairs of a literal and a line of the command); the first half are members."""
    r = random.Random(1)
    yield "BOOLEAN", "int64", [("true", "1"), ("false", "0")]
    for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64), ("HUGEINT", 64)):
        yield name, "int64", whole(r, -2 ** (bits - 1), 2 ** (bits - 1))
        yield "U" + name, "uint64" if bits == 64 else "int64", whole(r, 0, 2 ** bits)
    yield "DATE", "int64", days(r)
    for name, unit in (("TIMESTAMP", 1), ("TIMESTAMP_S", 10 ** 6), ("TIMESTAMP_MS", 1000)):
        yield name, "int64", times(r, unit)
    yield "TIMESTAMPTZ", "int64", [(text + "+00", key) for text, key in times(r, 1)]
    yield "TIMESTAMP_NS", "int64", [(t, k) for t, k in times(r, 1) if "1700" < t < "2250"]
    yield "FLOAT", "float", singles(r)
    yield "DOUBLE", "double", [(t, t) for t in (repr(r.uniform(-1, 1) * 10.0 ** r.randrange(-300, 300)) for _ in range(2 * N))]
    yield "VARCHAR", "utf8", texts(r, 30)
    for width, scale in ((4, 1), (9, 3), (18, 0), (18, 6), (38, 10), (38, 38)):
        yield f"DECIMAL({width},{scale})", "utf8", decimals(r, width, scale)
    yield "an_enum", "utf8", [(f"label {i}", f"label {i}") for i in range(2 * N)]
    yield "UUID", "uuid", [(t, t) for t in (str(uuid.UUID(bytes=r.randbytes(16))) for _ in range(2 * N))]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


# ---- From SQL to the command, and back --------------------------------------------------------------------


def asked_of(image, lines):
    return set(command("check", image, "-", stdin="".join(line + "\n" for line in lines)).splitlines())


def load(s, kind, pairs):
    half = len(pairs) // 2
    inside, outside = [b for _, b in pairs[:half]], [b for _, b in pairs[half:]]
    s.rows(f"CREATE OR REPLACE TABLE t (k {kind}, line VARCHAR, is_member BOOLEAN)")
    if kind == "BLOB":
        rows = [(bytes.fromhex(a), b, i < half) for i, (a, b) in enumerate(pairs)]
        s.connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        return inside, outside
    values = ", ".join(f"({quoted(a)}, {quoted(b)}, {i < half})" for i, (a, b) in enumerate(pairs))
    s.rows(f"INSERT INTO t SELECT CAST(a AS {kind}), b, c FROM (VALUES {values}) v(a, b, c)")
    return inside, outside


def both_ways(s, kind, note, pairs):
    inside, outside = load(s, kind, pairs)
    built = s.one(f"SELECT tamis_build(k, 'blocked:fpr={RATE}') FROM t WHERE is_member")
    with open(path_of("sql.tamis"), "wb") as file:
        file.write(built)
    command("build", "-q", "-f", "--keys", note, "-s", f"blocked:fpr={RATE}", "command.tamis", "-", stdin="\n".join(inside) + "\n")
    with open(path_of("command.tamis"), "rb") as file:
        tap.check(file.read() == built, f"{kind}: the bytes are those of the command with --keys {note}")
    wanted = asked_of("command.tamis", outside)
    for how in ("tamis_has('command.tamis', k)", "tamis_has_any('command.tamis', [k])", "tamis_has(getvariable('f'), k)"):
        s.rows("SET VARIABLE f = ?::BLOB", built)
        rows = s.rows(f"SELECT is_member, line FROM t WHERE {how}")
        found = {line for is_member, line in rows if is_member}
        tap.check(found == set(inside), f"{kind}: all {len(inside)} members are found by {how}")
        tap.check({line for is_member, line in rows if not is_member} == wanted, "and of the others the same as by the command")
    counted = s.one("SELECT count(*) FROM t WHERE is_member AND tamis_has('sql.tamis', line)")
    tap.equal(counted, len(inside), f"{kind}: so are texts of them")
    spec = "'counting:capacity=1000'"
    same = s.one("SELECT tamis_add(e, l) = f FROM (SELECT tamis_build(k, ?) AS f, list(k) AS l FROM t WHERE is_member), "
                 "(SELECT tamis_remove(tamis_build(k, ?), any_value(k)) AS e FROM t WHERE line = ?)", spec[1:-1], spec[1:-1], inside[0])
    tap.equal(same, True, f"{kind}: keys that are added are those of a build")
    tap.equal(s.one(f"SELECT bool_and(tamis_count(f, k) > 0) FROM t, (SELECT tamis_build(k, {spec}) AS f FROM t WHERE is_member) WHERE is_member"),
              True, "and those of counts")
    own = s.one("SELECT tamis_build(k, 'guava:capacity=1000') FROM t WHERE is_member")
    tap.equal(s.one("SELECT bool_and(tamis_has(?, k)) FROM t WHERE is_member", own), True, "and those of a kind that hashes by itself")


def every_type(s):
    labels = ", ".join(quoted(f"label {i}") for i in range(2 * N))
    s.rows(f"CREATE TYPE an_enum AS ENUM ({labels})")
    for kind, note, pairs in members():
        both_ways(s, kind, note, pairs)
    r = random.Random(2)
    both_ways(s, "BLOB", "hex", [(key, key) for key in (r.randbytes(r.randrange(1, 40)).hex() for _ in range(2 * N))])


# ---- Every encoding, asked of every type ------------------------------------------------------------------

WHOLE = ["int32", "uint32", "int64", "uint64", "int32be", "uint32be", "int64be", "uint64be"]
REAL = ["float", "double", "floatbe", "doublebe"]
NIL = "00000000-0000-0000-0000-000000000000"
KINDS = ["BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DATE",
         "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "FLOAT", "DOUBLE", "VARCHAR", "a_label", "DECIMAL(9,2)",
         "UUID", "BLOB"]


def zero(kind, encoding):
    """The literal of a type for what the encoding calls 0, and the line of the command; None where that cannot be."""
    is_text = kind in ("VARCHAR", "a_label")
    if encoding in WHOLE:
        if kind == "DATE" or kind.startswith("TIMESTAMP"):
            return ("1970-01-01", "0") if "64" in encoding else None
        return None if kind in ("FLOAT", "DOUBLE", "UUID", "BLOB") else ("false" if kind == "BOOLEAN" else "0", "0")
    if encoding in REAL:
        return ("0", "0") if is_text or kind in ("FLOAT", "DOUBLE") else None
    if encoding in ("utf8", "bytes", None):
        return ("0", "0") if is_text or kind in ("DECIMAL(9,2)", "BLOB") else None
    if encoding in ("utf16", "utf16be"):
        return ("0", "0") if is_text else None
    if encoding == "uuid":
        return (NIL, NIL) if kind in ("UUID", "VARCHAR", "a_label") else None
    zeros = {"hex": ["00000000", "0" * 32], "base64": ["AAAAAA==", "AAAAAAAAAAAAAAAAAAAAAA=="]}[encoding]
    if is_text:
        return zeros[0], zeros[0]
    return {"BLOB": ("\\x00\\x00\\x00\\x00", zeros[0]), "UUID": (NIL, zeros[1])}.get(kind)


SOME = {"BOOLEAN": "true", "DATE": "2024-01-01", "TIMESTAMP": "2024-01-01", "TIMESTAMPTZ": "2024-01-01", "TIMESTAMP_S": "2024-01-01",
        "TIMESTAMP_MS": "2024-01-01", "TIMESTAMP_NS": "2024-01-01", "UUID": NIL, "BLOB": "\\x00"}


def every_encoding(s):
    s.rows(f"CREATE TYPE a_label AS ENUM ('0', '1', '00000000', 'AAAAAA==', '{NIL}')")
    for encoding in [*WHOLE, *REAL, "utf8", "bytes", "utf16", "utf16be", "uuid", "hex", "base64", None]:
        wanted = {kind: zero(kind, encoding) for kind in KINDS}
        lines = sorted({pair[1] for pair in wanted.values() if pair})
        keys = ["--keys", encoding] if encoding else []
        command("build", "-q", "-f", *keys, "-s", "blocked:fpr=1e-9", "e.tamis", "-", stdin="\n".join(lines) + "\n")
        found, refused = [], []
        for kind, pair in wanted.items():
            if pair:
                got = s.rows(f"SELECT tamis_has('e.tamis', k), tamis_has_any('e.tamis', [k]) FROM (SELECT {quoted(pair[0])}::{kind} AS k)")
                found += [] if got == [(True, True)] else [(kind, got)]
            else:
                said = s.error(f"SELECT tamis_has('e.tamis', {quoted(SOME.get(kind, '1'))}::{kind})")
                refused += [] if "is never one of them" in said else [(kind, said)]
        name = encoding or "no note"
        tap.equal(found, [], f"{name}: found of all types that have such keys: {' '.join(k for k, p in wanted.items() if p)}")
        tap.equal(refused, [], f"{name}: all others are refused")


def numbers(s):
    """Whole numbers of each encoding at their ends; what has no place there is no key."""
    for encoding in WHOLE:
        bits, is_signed = (32 if "32" in encoding else 64), encoding.startswith("int")
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
        ends = [low, high, low + 1, high - 1, 7]
        command("build", "-q", "-f", "--keys", encoding, "-s", "blocked:fpr=1e-9", "n.tamis", "-", stdin="\n".join(map(str, ends)) + "\n")
        limits = {"HUGEINT": (-2 ** 127, 2 ** 127 - 1), "UHUGEINT": (0, 2 ** 128 - 1), "BIGINT": (-2 ** 63, 2 ** 63 - 1), "UBIGINT": (0, 2 ** 64 - 1),
                  "INTEGER": (-2 ** 31, 2 ** 31 - 1), "DECIMAL(38,0)": (-10 ** 38, 10 ** 38), "DECIMAL(22,2)": (-10 ** 20, 10 ** 20),
                  "VARCHAR": (-10 ** 38, 10 ** 38)}
        for kind, (least, most) in limits.items():
            asked = [i for i in ends if least <= i <= most]
            got = s.one(f"SELECT count(*) FROM (SELECT unnest({[str(i) for i in asked]})::{kind} AS k) WHERE tamis_has('n.tamis', k)")
            tap.equal(got, len(asked), f"{encoding}: {len(asked)} of its ends as {kind}")
            beyond = [i for i in (low - 1, high + 1, low - 2 ** 64, high + 2 ** 64, 2 ** 127 - 1) if least <= i <= most]
            if beyond and kind != "VARCHAR":
                got = s.one(f"SELECT count(*) FROM (SELECT unnest({[str(i) for i in beyond]})::{kind} AS k) WHERE tamis_has('n.tamis', k)")
                tap.equal(got, 0, f"{encoding}: numbers beyond are no keys of it")
                said = s.error(f"SELECT tamis_add(tamis_build(5::BIGINT, 'blocked:capacity=10'), {quoted(str(2 ** 65))}::HUGEINT)")
                tap.check("no place for" in said, "and adding one is refused")
        tap.check("not a" in s.error(f"SELECT tamis_has('n.tamis', '{high + 1}')"), f"{encoding}: but such a text is a mistake")
    for value in (str(-2 ** 63 - 1), str(2 ** 64)):
        tap.check("no place for" in s.error(f"SELECT tamis_build({quoted(value)}::HUGEINT)"), f"a build of {value} is refused")
    tap.check("no place for" in s.error(f"SELECT tamis_build({2 ** 63}::HUGEINT)"), "a HUGEINT is an int64, unless it is a UHUGEINT")
    tap.equal(s.one(f"SELECT tamis_has(tamis_build(-1::BIGINT, 'blocked:fpr=1e-9'), {quoted(str(2 ** 128 - 1))}::UHUGEINT)"), False,
              "the largest UHUGEINT is not -1")
    tap.check("no place for" in s.error(f"SELECT tamis_build({quoted(str(2 ** 128 - 1))}::UHUGEINT)"), "and builds nothing")
    tap.equal(s.one(f"SELECT tamis_has(tamis_build({2 ** 63}::UHUGEINT), {2 ** 63}::UBIGINT)"), True, "which is a uint64")


def edges(s):
    """Ends of types, and keys that SQL calls equal."""
    pairs = [
        ("true", "1"), ("1::TINYINT", "1::HUGEINT"), ("1::UBIGINT", "1::BIGINT"), ("-1::BIGINT", "-1::SMALLINT"), ("0.0::DOUBLE", "'-0'::DOUBLE"),
        ("'nan'::DOUBLE", "-('nan'::DOUBLE)"), ("'inf'::DOUBLE", "'inf'::FLOAT"), ("0.5::FLOAT", "0.5::DOUBLE"), ("1.5", "1.500"), ("1.50::DECIMAL(18,2)", "'1.5'"),
        ("DATE '2024-02-29'", "TIMESTAMP '2024-02-29'"), ("TIMESTAMP '2024-02-29 12:00:00'", "TIMESTAMP_S '2024-02-29 12:00:00'"),
        ("TIMESTAMP '2024-02-29 12:00:00.123'", "'2024-02-29 12:00:00.123'::TIMESTAMP_MS"),
        ("TIMESTAMP '1969-12-31 23:59:59.999999'", "'1969-12-31 23:59:59.999999'::TIMESTAMP_NS"),
        ("TIMESTAMPTZ '2024-02-29 12:00:00+00'", "TIMESTAMP '2024-02-29 12:00:00'"), ("'infinity'::DATE", "'infinity'::TIMESTAMP"),
        ("'-infinity'::DATE", "'-infinity'::TIMESTAMP"), ("'-infinity'::TIMESTAMP_S", "'-infinity'::TIMESTAMP_NS"), ("''", "''"),
        ("repeat('x', 1000000)", "repeat('x', 1000000)"), ("'a'::BLOB", "'a'::BLOB"), ("''::BLOB", "''::BLOB"), ("repeat('é', 6)", "repeat('é', 6)"),
        ("'123456789012'", "'123456789012'"), ("'1234567890123'", "'1234567890123'"), ("[1]::JSON", "'[1]'"),
        ("'00000000-0000-0000-0000-000000000000'::UUID", "'00000000000000000000000000000000'"),
        ("'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID", "'ffffffffffffffffffffffffffffffff'::UUID"),
        ("'-9223372036854775808'::BIGINT", "'-9223372036854775808'"), ("'-17014118346046923173168730371588410.728'::DECIMAL(38,3)", "'-17014118346046923173168730371588410.728'"),
    ]
    for one, other in pairs:
        tap.equal(s.one(f"SELECT tamis_has(tamis_build({one}, 'blocked:fpr=1e-9'), {other})"), True, f"{one} has {other}"[:90])
    for one, other in (("1", "2"), ("'a'", "'a '"), ("1.5", "1.25"), ("'infinity'::DATE", "'-infinity'::DATE"), ("0.1::FLOAT", "0.1::DOUBLE")):
        tap.equal(s.one(f"SELECT tamis_has(tamis_build({one}, 'blocked:fpr=1e-9'), {other})"), False, f"{one} does not have {other}")
    fine = "'2024-01-01 00:00:00.123456789'::TIMESTAMP_NS"
    tap.equal(s.one(f"SELECT tamis_has(tamis_build(TIMESTAMP '2024-01-01 00:00:00.123456', 'blocked:fpr=1e-9'), {fine})"), False,
              "a time finer than a microsecond is no key")
    tap.check("no place for" in s.error(f"SELECT tamis_build({fine})"), "and builds nothing")
    tap.equal(s.one("SELECT tamis_has(tamis_build(DATE '2024-01-01'), DATE '5881580-07-10')"), False, "nor is a date after all timestamps")
    tap.check("no place for" in s.error("SELECT tamis_build(DATE '5881580-07-10')"), "which builds nothing either")
    tap.check("canon" in canon(s), "filters with --canon are refused")


def canon(s):
    command("build", "-q", "-f", "--canon", "domain", "c.tamis", "-", stdin="example.org\n")
    return s.error("SELECT tamis_has('c.tamis', 'example.org')")


def main():
    s = open_database(threads=2)
    s.rows("SET TimeZone = 'UTC'")
    for part in (every_type, every_encoding, numbers, edges):
        part(s)
    return tap.end()


sys.exit(main())
