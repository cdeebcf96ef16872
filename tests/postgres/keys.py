#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keys are the same in SQL and in the command: a filter that one builds, the other answers, key by key and for keys
that are not in it too, for every type of keys and every encoding. What cannot be is refused; a quiet no for a member
would be the worst answer. Promised of keys that the server calls equal:

    found      integers among each other, and numeric among integers and text; dates among times, and times with and
               without time zone where the zone is UTC; all texts; float4 and float8; -0 and 0; NaN and NaN; domains
               and their base; inet and cidr; labels of an enum and texts; quoted literals, by the note
    refused    numeric and integers in a filter of floats, and the reverse; integers in one of numeric
    not found  times with and without time zone where the zone is not UTC: a timestamp is taken as UTC;
               varchar with blanks at its end and char(n), which text calls different, too;
               a quoted '5.0' or 'a  ' in a filter of numeric 5.0 or char(3) 'a': literals are texts, and a text has one form

Not found, too, are lists of the command whose numbers have zeros at their end (19.90 for numeric 19.90, which is the
key 19.9), and -0 in lists with --keys double: in SQL it is 0.
"""
import datetime
import math
import os
import random
import struct
import sys
import uuid

import pg
from pg import Server, Tap

tap = Tap()
N = 600  # members, and as many others
RATE = 0.1  # so that what is wrongly found can be counted
EPOCH = datetime.datetime(1970, 1, 1)


# ---- Types ------------------------------------------------------------------------------------------------


def micros(time):
    return str((time - EPOCH) // datetime.timedelta(microseconds=1))


def times(r, n):
    whole = [EPOCH + datetime.timedelta(microseconds=r.randrange(-6 * 10 ** 16, 10 ** 17)) for _ in range(n)]
    return [(t.isoformat(" "), micros(t)) for t in whole]


def dates(r, n):
    days = r.sample(range(-700000, 2900000), n)
    return [((EPOCH + datetime.timedelta(days=d)).date().isoformat(), str(d * 86400 * 10 ** 6)) for d in days]


def singles(r, n):
    """Literals of float4, and the double that they are."""
    whole = (struct.unpack("<f", struct.pack("<f", r.uniform(-1, 1) * 10 ** r.randrange(-30, 30)))[0] for _ in range(n))
    return [(repr(v), repr(v)) for v in whole]


def letters(r, n, longest):
    some = "abcdefghij XYZ0123456789-_.:äßéñłж漢字🙂"
    words = {"".join(r.choice(some) for _ in range(r.randrange(1, longest))).strip() for _ in range(3 * n)}
    return [(w, w) for w in sorted(words - {""})[:n]]


def decimals(r, n):
    """As they are written, and without the zeros at their end."""
    made = {}
    while len(made) < n:
        text = str(r.randrange(-10 ** r.randrange(1, 30), 10 ** r.randrange(1, 30))) + r.choice(["", ".0", ".500", ".25", ".10"])
        key = text.rstrip("0").rstrip(".") if "." in text else text
        made[key] = "0" if key == "-0" else text
    return [(text, key) for key, text in made.items() if key != "-0"]


def addresses(r, n, blocks):
    found = {}
    while len(found) < n:
        size = r.choice([4, 16])
        raw = r.randbytes(size)
        bits = r.choice([8 * size, 8 * size, 24, 17])
        if blocks:
            raw = (int.from_bytes(raw, "big") >> (8 * size - bits) << (8 * size - bits)).to_bytes(size, "big")
        text = ".".join(map(str, raw)) if size == 4 else ":".join(raw[i:i + 2].hex() for i in range(0, 16, 2))
        found[raw.hex() + ("" if bits == 8 * size else f"{bits:02x}")] = text if bits == 8 * size and not blocks else f"{text}/{bits}"
    return [(text, key) for key, text in found.items()]


def whole(r, n, low, high):
    numbers = set()
    while len(numbers) < n:
        numbers.add(r.randrange(low, high))
    return [(str(i), str(i)) for i in sorted(numbers, key=lambda i: i * 0x9e3779b97f4a7c15 % 2 ** 64)]


def same(texts):
    return [(t, t) for t in texts]


def members(seed):
    """{type: (its note, pairs of a literal and a line of the command)}; the first half are members."""
    r, n = random.Random(seed), 2 * N
    texts = letters(r, n, 20)
    return {
        "bool": ("int64", [("true", "1"), ("false", "0")]),
        "int2": ("int64", whole(r, n, -32768, 32768)),
        "int4": ("int64", whole(r, n, -2 ** 31, 2 ** 31)),
        "int8": ("int64", whole(r, n, -2 ** 62, 2 ** 62)),
        "oid": ("int64", whole(r, n, 0, 2 ** 32)),
        "date": ("int64", dates(r, n)),
        "timestamp": ("int64", times(r, n)),
        "timestamptz": ("int64", [(text + "+00", key) for text, key in times(r, n)]),
        "float4": ("float", singles(r, n)),
        "float8": ("double", same(repr(r.uniform(-1, 1) * 10.0 ** r.randrange(-300, 300)) for _ in range(n))),
        "text": ("utf8", texts),
        "varchar": ("utf8", letters(r, n, 20)),
        "varchar(40)": ("utf8", letters(r, n, 20)),
        "char(20)": ("utf8", letters(r, n, 19)),
        "name": ("utf8", letters(r, n, 12)),
        "numeric": ("utf8", decimals(r, n)),
        "an_enum": ("utf8", same(f"label {i}" for i in range(n))),
        "uuid": ("uuid", same(str(uuid.UUID(bytes=r.randbytes(16))) for _ in range(n))),
        "bytea": ("hex", [("\\x" + key, key) for key in (r.randbytes(r.randrange(1, 40)).hex() for _ in range(n))]),
        "inet": ("hex", addresses(r, n, False)),
        "cidr": ("hex", addresses(r, n, True)),
    }


DOMAINS = {"int8": "a_number", "text": "a_word", "numeric": "a_price", "float8": "a_weight", "uuid": "an_id", "bytea": "a_hash",
           "inet": "a_host",
           "timestamp": "a_time", "an_enum": "a_choice"}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def tail(n, p, low, high):
    """The probability of fewer than low or more than high among n, each with p."""
    def term(k):
        return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p))
    return 1 - sum(term(k) for k in range(low, high + 1))


def is_likely(found, n, p):
    """Is a count within the bounds that it leaves once in a million times?"""
    low = high = round(n * p)
    while tail(n, p, low, high) > 1e-6:
        low, high = max(low - 1, 0), min(high + 1, n)
    return low <= found <= high


# ---- From SQL to the command, and back --------------------------------------------------------------------


def load_table(s, kind, pairs):
    half = len(pairs) // 2
    s.rows("DROP TABLE IF EXISTS t")
    s.rows(f"CREATE TABLE t (k {kind}, line text, is_member bool)")
    for at in (0, half):
        values = ", ".join(f"({quoted(a)}, {quoted(b)}, {at == 0})" for a, b in pairs[at:at + half])
        s.rows(f"INSERT INTO t VALUES {values}")
    return [b for _, b in pairs[:half]], [b for _, b in pairs[half:]]


def asked_of(server, image, lines):
    return set(server.command("check", image, "-", stdin="".join(line + "\n" for line in lines)).splitlines())


def both_ways(server, s, kind, note, pairs):
    inside, outside = load_table(s, kind, pairs)
    s.rows(f"SELECT tamis_save(tamis_build(k, 'blocked:fpr={RATE}'), 'sql.tamis') FROM t WHERE is_member")
    server.command("build", "-q", "-f", "--keys", note, "-s", f"blocked:fpr={RATE}", "command.tamis", "-", stdin="\n".join(inside) + "\n")
    tap.equal(s.one("SELECT tamis_note(tamis_read('sql.tamis'), 'encoding')"), note, f"{kind}: the note is {note}")
    for image in ("sql.tamis", "command.tamis"):
        for how in (f"(SELECT tamis_read('{image}')) @> k", f"k <@ tamis_file('{image}')"):
            rows = s.rows(f"SELECT is_member, line FROM t WHERE {how}")
            found = {line for is_member, line in rows if is_member == "t"}
            tap.check(found == set(inside), f"{kind}: all {len(inside)} members are found by {how}")
            wrong = {line for is_member, line in rows if is_member == "f"}
            tap.check(wrong == asked_of(server, image, outside), "and of the others the same as by the command")
        tap.check(asked_of(server, image, inside) == set(inside), f"{kind}: and all members by the command in {image}")
        rate = float(s.one(f"SELECT tamis_rate(tamis_read('{image}'))"))
        if len(outside) > 1:
            tap.check(is_likely(len(wrong), len(outside), rate), f"{kind}: {len(wrong)} of {len(outside)} others are, at a rate of "
                      f"{rate:.3f}")
    tap.equal(s.one("SELECT count(*) FROM t WHERE is_member AND NOT tamis_read('sql.tamis') @> line"), "0", f"{kind}: so are texts of them")
    spec = "'counting:capacity=1000'"
    tap.equal(s.one(f"SELECT tamis_add(tamis_new({spec}), array_agg(k)) = tamis_build(k, {spec}) FROM t WHERE is_member"), "t",
              f"{kind}: keys that are added are those of a build")
    asked = "tamis_count(c, k) > 0 AND tamis_get(m, k) = 7 AND tamis_which(l, k) = '{x}' AND tamis_remove(c, k) <> c"
    made = (f"SELECT tamis_build(k, {spec}) c, tamis_build_map(k, 7) m, tamis_build_labels(k, 'x', 'labels:fpr=1e-9') l "
            "FROM t WHERE is_member")
    tap.equal(s.one(f"SELECT bool_and({asked}) FROM t, ({made}) x WHERE is_member"), "t", f"{kind}: and of counts, maps and labels")


def every_type(server, s):
    labels = ", ".join(quoted(f"label {i}") for i in range(2 * N))
    s.rows(f"CREATE TYPE an_enum AS ENUM ({labels})")
    for base, name in DOMAINS.items():
        s.rows(f"CREATE DOMAIN {name} AS {base}")
    for kind, (note, pairs) in members(1).items():
        both_ways(server, s, kind, note, pairs)
        if kind in DOMAINS:
            name = DOMAINS[kind]
            inside = load_table(s, name, pairs)[0]
            s.rows("CREATE TEMP TABLE f AS SELECT tamis_build(k) FROM t WHERE is_member")
            both = f"SELECT count(*) FROM t, f WHERE is_member AND tamis_build @> k AND tamis_build @> k::{kind}"
            tap.equal(s.one(both), str(len(inside)), f"{name}, a domain of {kind}, has the same keys")
            arrays = "SELECT tamis_has_all(tamis_build, (SELECT array_agg(k) FROM t WHERE is_member)) FROM f"
            tap.equal(s.one(arrays), "t", "and so have arrays of it")
            tap.equal(s.one(f"SELECT tamis_build::bytea = (SELECT tamis_build(k::{kind})::bytea FROM t WHERE is_member) FROM f"), "t",
                      "and the same bytes")
            s.rows("DROP TABLE f")


# ---- Every encoding, asked of every type ------------------------------------------------------------------

WHOLE = ["int32", "uint32", "int64", "uint64", "int32be", "uint32be", "int64be", "uint64be"]
REAL = ["float", "double", "floatbe", "doublebe"]
ENCODINGS = [*WHOLE, *REAL, "utf8", "bytes", "utf16", "utf16be", "uuid", "hex", "base64", None]
NIL = "00000000-0000-0000-0000-000000000000"
UTF8 = {"bytea": ("\\x30", "0"), "numeric": ("0.00", "0")}
BINARY = {"bytea": "\\x00000000", "inet": "0.0.0.0", "cidr": "0.0.0.0/32", "uuid": NIL}


def zero(kind, encoding):
    """The literal of a type for what the encoding calls 0, and the line of the command; None where that cannot be."""
    is_text = kind in ("text", "varchar", "char(8)", "name", "a_label")
    if encoding in WHOLE:
        if is_text or kind in ("int2", "int4", "int8", "oid", "numeric"):
            return "0", "0"
        if kind == "bool":
            return "false", "0"
        is_time = kind in ("date", "timestamp", "timestamptz")
        return ("1970-01-01 00:00+00", "0") if is_time and "64" in encoding else None
    if encoding in REAL:
        return ("0", "0") if is_text or kind in ("float4", "float8") else None
    if encoding in ("utf8", "bytes", None):
        return ("0", "0") if is_text else UTF8.get(kind)
    if encoding in ("utf16", "utf16be"):
        return ("0", "0") if is_text else None
    if encoding == "uuid":
        return (NIL, NIL) if kind == "uuid" else (NIL.replace("-", ""), NIL) if kind == "text" else ("", None) if is_text else None
    zeros = {"hex": ["00000000", "0" * 32], "base64": ["AAAAAA==", "AAAAAAAAAAAAAAAAAAAAAA=="]}[encoding]
    if kind == "name" or kind == "a_label" or kind in ("text", "varchar", "char(8)"):
        return zeros[0], zeros[0]
    return (BINARY[kind], zeros[kind == "uuid"]) if kind in BINARY else None


KINDS = ["bool", "int2", "int4", "int8", "oid", "date", "timestamp", "timestamptz", "float4", "float8", "text", "varchar", "char(8)",
         "name", "a_label",
         "numeric", "uuid", "bytea", "inet", "cidr"]


def every_encoding(server, s):
    s.rows("CREATE TYPE a_label AS ENUM ('0', '1', '00000000', 'AAAAAA==')")
    for encoding in ENCODINGS:
        wanted = {kind: zero(kind, encoding) for kind in KINDS}
        lines = sorted({pair[1] for pair in wanted.values() if pair and pair[1]})
        keys = ["--keys", encoding] if encoding else []
        server.command("build", "-q", "-f", *keys, "-s", "blocked:fpr=1e-9", "e.tamis", "-", stdin="\n".join(lines) + "\n")
        name = encoding or "no note"
        found, refused = [], []
        for kind, pair in wanted.items():
            if pair and pair[1]:
                ask = ("SELECT f @> k AND k <@ f AND tamis_has_any(f, ARRAY[k]) AND tamis_file('e.tamis') @> k "
                       f"FROM (SELECT tamis_read('e.tamis') f, {quoted(pair[0])}::{kind} k) x")
                if s.lines(ask) != ["t"]:
                    found.append((kind, s.lines(ask)))
            elif not pair:
                some = {"bool": "true", "date": "2024-01-01", "timestamp": "2024-01-01", "timestamptz": "2024-01-01", "uuid": NIL,
                        "bytea": "\\x00", "inet": "10.0.0.1", "cidr": "10.0.0.0/8"}.get(kind, "1")
                said = " ".join(s.lines(f"SELECT tamis_read('e.tamis') @> {quoted(some)}::{kind}"))
                if "is never one of them" not in said:
                    refused.append((kind, said))
        tap.equal(found, [], f"{name}: found of all types that have such keys: {' '.join(k for k, p in wanted.items() if p and p[1])}")
        tap.equal(refused, [], f"{name}: all others are refused")


def numbers(server, s):
    """Whole numbers and fractions of each encoding at their ends; what has no place there is no key."""
    for encoding in WHOLE:
        bits, is_signed = (32 if "32" in encoding else 64), encoding.startswith("int")
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
        ends = [low, high, low + 1, high - 1, 7]
        server.command("build", "-q", "-f", "--keys", encoding, "-s", "blocked:fpr=1e-9", "n.tamis", "-",
                       stdin="\n".join(map(str, ends)) + "\n")
        for kind, most in (("numeric", 1 << 70), ("int8", (1 << 63) - 1), ("int4", (1 << 31) - 1), ("int2", 32767), ("text", 1 << 70)):
            asked = [i for i in ends if -most <= i <= most]
            got = s.one(f"SELECT count(*) FROM unnest('{{{','.join(map(str, asked))}}}'::{kind}[]) k WHERE tamis_read('n.tamis') @> k")
            tap.equal(got, str(len(asked)), f"{encoding}: {len(asked)} of its ends as {kind}")
        beyond = f"SELECT tamis_has_any(tamis_read('n.tamis'), '{{{low - 1},{high + 1},0.5,1e30,NaN,Infinity}}'::numeric[])"
        tap.equal(s.one(beyond), "f", f"{encoding}: numbers beyond are no keys of it")
        tap.check(f"not an {encoding}" in s.error(f"SELECT tamis_read('n.tamis') @> '{high + 1}'") or
                  f"not a {encoding}" in s.error(f"SELECT tamis_read('n.tamis') @> '{high + 1}'"), f"{encoding}: but such a text is a "
                  f"mistake")
        tap.check("has no such number" in s.error(f"SELECT tamis_add(tamis_read('n.tamis'), {high + 1}::numeric)"),
                  "and so is it to add one")
    for encoding in REAL:
        lines = ["0.1", "-1.5", "inf", "-inf", "nan", "0", "1e30", "3.4028234663852886e38", "16777216"]
        server.command("build", "-q", "-f", "--keys", encoding, "-s", "blocked:fpr=1e-9", "n.tamis", "-", stdin="\n".join(lines) + "\n")
        own = "float4" if encoding.startswith("float") else "float8"
        asked = "'{0.1,-1.5,Infinity,-Infinity,NaN,0,-0,1e30,3.4028234663852886e38,16777216}'"
        tap.equal(s.one(f"SELECT count(*) FROM unnest({asked}::{own}[]) k WHERE tamis_read('n.tamis') @> k"), "10", f"{encoding}: {own}")
        tap.equal(s.one(f"SELECT count(*) FROM unnest({asked}::text[]) k WHERE tamis_read('n.tamis') @> k"), "10", f"{encoding}: texts")
        tap.equal(s.one("SELECT tamis_read('n.tamis') @> 16777217::float8"), "f", f"{encoding}: a neighbour is not found")
    server.command("build", "-q", "-f", "--keys", "float", "-s", "counting:fpr=1e-9", "n.tamis", "-", stdin="0.1\n")
    tap.equal(s.one("SELECT tamis_read('n.tamis') @> 0.1::float8"), "f", "a double that is no float is no key of floats")
    tap.check("has no such number" in s.error("SELECT tamis_remove(tamis_read('n.tamis'), 0.1::float8)"), "and cannot be removed")
    tap.check("has no such number" in s.error("SELECT tamis_add(tamis_read('n.tamis'), 0.1::float8)"), "or added")


# ---- Edges ------------------------------------------------------------------------------------------------

EDGES = {
    "int2": ["-32768", "32767", "0", "-1"],
    "int4": ["-2147483648", "2147483647", "0", "-1"],
    "int8": ["-9223372036854775808", "9223372036854775807", "0", "-1"],
    "oid": ["0", "4294967295"],
    "bool": ["true", "false"],
    "float4": ["-0", "0", "NaN", "Infinity", "-Infinity", "3.4028235e38", "1e-45"],
    "float8": ["-0", "0", "NaN", "Infinity", "-Infinity", "1.7976931348623157e308", "5e-324"],
    "date": ["infinity", "-infinity", "4713-01-01 BC", "1970-01-01", "1969-12-31", "2000-01-01", "1999-12-31", "294246-12-31"],
    "timestamp": ["infinity", "-infinity", "4713-01-01 00:00:00 BC", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999",
                  "294246-12-31 23:59:59.999999"],
    "timestamptz": ["infinity", "-infinity", "4713-01-02 00:00:00+00 BC", "1970-01-01 00:00:00+00", "1969-12-31 23:59:59.999999+00"],
    "text": ["", " ", "a", "a ", "\t", "é", "🙂", "x" * 10 ** 6],
    "char(5)": ["", "a", "a b"],
    "name": ["", "a", "é" * 31],
    "numeric": ["0", "-0.00", "NaN", "Infinity", "-Infinity", "1" + "0" * 1000, "0." + "0" * 1000 + "1", "100", "1e2", "1e-2"],
    "bytea": ["", "\\x00", "\\x" + "00" * 10 ** 5, "\\xff"],
    "uuid": [NIL, "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "inet": ["0.0.0.0", "0.0.0.0/0", "255.255.255.255", "::", "::/0", "::ffff:1.2.3.4", "10.0.0.1/8"],
    "cidr": ["0.0.0.0/0", "10.0.0.0/8", "::/0", "::1/128"],
}
LINES = {  # what the command calls them
    "int64": [("-9223372036854775808", "'-infinity'::date"), ("9223372036854775807", "'infinity'::timestamptz"),
              ("-1", "'1969-12-31 23:59:59.999999'::timestamp"),
              ("946684800000000", "'2000-01-01'::date"), ("9223371244799999999", "'294246-12-31 23:59:59.999999'::timestamp"),
              ("-210863520000000000", "'4713-01-01 BC'::date"), ("1", "true"), ("4294967295", "4294967295::oid")],
    "double": [("nan", "'NaN'::float8"), ("-inf", "'-Infinity'::float4"), ("0", "'-0'::float4"), ("5e-324", "'5e-324'::float8")],
    "float": [("nan", "'NaN'::float8"), ("-inf", "'-Infinity'::float4"), ("0", "'-0'::float8"), ("1e-45", "'1e-45'::float4"),
              ("0.1", "'0.1'::float4")],
    "utf8": [("100", "1e2"), ("0.01", "0.0100"), ("NaN", "'NaN'::numeric"), ("-Infinity", "'-Infinity'::numeric"), ("0", "'-0.0'::numeric"),
             ("é", "'é'::name")],
    "hex": [("00000000" + "00", "'0.0.0.0/0'::cidr"), ("0a000001", "'10.0.0.1/32'::inet"), ("0a000001", "'10.0.0.1'::cidr"),
            ("0a00000108", "'10.0.0.1/8'::inet"),
            ("00" * 15 + "01", "'::1'::inet"), ("FF", "'\\xff'::bytea")],
}


def edges(server, s):
    for kind, values in EDGES.items():
        rows = ", ".join(f"({quoted(v)}::{kind})" for v in values)
        s.rows("DROP TABLE IF EXISTS edge; CREATE TABLE edge (k) AS VALUES " + rows)
        found = s.one("SELECT count(*) FROM edge, (SELECT tamis_build(k, 'blocked:fpr=1e-9') f FROM edge) x WHERE f @> k AND k <@ f")
        tap.equal(found, str(len(values)), f"{kind}: {len(values)} edges")
        apart = s.one("SELECT count(*) FROM edge a, edge b WHERE a.k <> b.k AND tamis_build_one(a.k::text, b.k::text, "
                      f"'{kind}')") if len(values[-1]) < 1000 else "0"
        tap.equal(apart, "0", f"{kind}: which are different keys")
    for note, pairs in LINES.items():
        server.command("build", "-q", "-f", "--keys", note, "-s", "blocked:fpr=1e-9", "l.tamis", "-",
                       stdin="\n".join(a for a, _ in pairs) + "\n")
        wrong = [sql for _, sql in pairs if s.lines(f"SELECT tamis_read('l.tamis') @> {sql}") != ["t"]]
        tap.equal(wrong, [], f"{note}: edges as the command writes them")
    for late in ("'294247-01-11'::date", "'5874897-12-31'::date", "'294276-12-31 23:59:59'::timestamp", "'294276-12-31'::timestamptz"):
        for use in (f"tamis_build({late})", f"tamis_build(1) @> {late}"):
            tap.check("too late for a key" in s.error(f"SELECT {use}"), f"refused: {use}")
    tap.equal(s.one("SELECT tamis_build('294247-01-10'::date) @> '294247-01-10'::timestamp"), "t", "the last day that is a key")
    for use in ("tamis_build(NULL::text)", "tamis_build(NULL::int)", "tamis_build('a') @> NULL::text", "NULL::int <@ tamis_build(1)",
                "tamis_build(NULL)",
                "tamis_has(tamis_build('a'), NULL::text)", "tamis_add(tamis_build('a'), NULL::text)", "NULL::tamis @> 1"):
        tap.equal(s.one(f"SELECT {use} IS NULL"), "t", f"NULL: {use}")
    server.command("build", "-q", "-f", "--keep-empty", "l.tamis", "-", stdin="\n\n")
    tap.equal(s.one("SELECT tamis_read('l.tamis') @> ''"), "t", "the empty key of the command is the empty text")


def stored(server, s):
    """Keys that are stored compressed, outside the row, or both, are what they say."""
    made = []
    for i, storage in enumerate(("plain", "main", "external", "extended")):
        size = 1000 if storage == "plain" else 300000
        s.rows(f"DROP TABLE IF EXISTS big; CREATE TABLE big (t text, b bytea, n numeric, v varchar, c char({size})); "
               + "".join(f"ALTER TABLE big ALTER {c} SET STORAGE {storage};" for c in ("t", "b", "v", "c")))
        s.rows(f"INSERT INTO big SELECT x, x::bytea, ('1' || repeat('2345', 200))::numeric, x, x FROM (SELECT string_agg(md5(i::text), "
               f"'') || repeat('z', {size} - 640) x "
               "FROM generate_series(1, 20) i) y")
        made.append(s.one("SELECT md5(tamis_build(t)::bytea) FROM big"))
        for column in "tbnvc":
            tap.equal(s.one(f"SELECT tamis_build({column}) @> min({column}::text) FROM big" if column == "t" else
                            f"SELECT (SELECT tamis_build({column}) FROM big) @> {column} FROM big"), "t", f"{storage}: column {column}")
        tap.equal(s.one("SELECT (SELECT tamis_build(t) FROM big) @> v AND (SELECT tamis_build(v) FROM big) @> c AND (SELECT "
                        "tamis_build(b) FROM big) @> b FROM big"), "t",
                  f"{storage}: and across types")
        text = s.one("SELECT t FROM big")
        s.rows("SELECT tamis_save(tamis_build(t), 'big.tamis') FROM big")
        tap.equal(asked_of(server, "big.tamis", [text, text + "z", text[:-1]]), {text}, f"{storage}: and by the command")
    tap.equal(len(set(made[1:])), 1, "however they are stored, the filter is the same")


# ---- Keys that the server calls equal ---------------------------------------------------------------------

VALUES = {
    "bool": ["true", "false"],
    "int2": ["5", "0", "-1"], "int4": ["5", "0", "1", "-1", "100"], "int8": ["5", "0", "1", "-1"], "oid": ["5", "0"],
    "numeric": ["5", "5.0", "5.50", "0", "-1", "100", "NaN", "Infinity", "0.1"],
    "float4": ["5", "0.1", "0.5", "5.5", "-0", "0", "NaN", "Infinity"], "float8": ["5", "0.1", "0.5", "5.5", "-0", "0", "NaN", "Infinity"],
    "date": ["2024-01-01", "1970-01-01", "infinity", "-infinity"],
    "timestamp": ["2024-01-01 00:00", "2024-01-01 12:30", "1970-01-01 00:00", "infinity"],
    "timestamptz": ["2024-01-01 00:00", "2024-01-01 12:30", "1970-01-01 00:00", "infinity"],
    "text": ["a", "a ", "5", "", "é", "A"], "varchar": ["a", "a ", "5", "é"], "char(3)": ["a", "5", "é", ""], "name": ["a", "5", "é"],
    "citext": ["a", "A"],
    "a_letter": ["a", "5"], "\"char\"": ["a", "5"], "a_number": ["5", "0"], "a_word": ["a", "a "], "a_price": ["5.0"],
    "uuid": [NIL], "bytea": ["\\x61", "\\x", "a"], "inet": ["10.0.0.1", "10.0.0.0/8", "10.0.0.1/8", "::1"],
    "cidr": ["10.0.0.1", "10.0.0.0/8", "::1"],
    "regclass": ["pg_class"], "json": ["[1]"], "int4[]": ["{1}"], "interval": ["1 day"],
}
TRY = """CREATE FUNCTION attempt(what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer boolean;
BEGIN
    EXECUTE 'SELECT ' || what INTO answer;
    RETURN answer;
EXCEPTION
    WHEN undefined_function OR ambiguous_function THEN RETURN 'cannot';
    WHEN feature_not_supported OR datatype_mismatch THEN RETURN 'refused';
    WHEN OTHERS THEN RETURN 'mistake';
END $$"""


def is_blank(kind, value):
    return kind == "varchar" and value.endswith(" ")


def pairs(s):
    """All pairs of all values: what SQL calls equal is found, or an error, or promised not to be."""
    s.rows("CREATE TYPE a_letter AS ENUM ('a', '5')")
    values = ", ".join(f"({quoted(kind)}, {quoted(value)})" for kind, all_of in VALUES.items() for value in all_of)
    s.rows(f"CREATE TABLE value (kind, literal) AS VALUES {values}")
    cast = "format('%L::%s', {0}.literal, {0}.kind)"
    a, b = cast.format("a"), cast.format("b")
    for zone in ("UTC", "Asia/Kolkata"):
        s.rows(f"SET TimeZone = '{zone}'")
        rows = s.rows(f"SELECT a.kind, a.literal, b.kind, b.literal, attempt({a} || ' = ' || {b}), attempt('tamis_build(' || {a} || ') @> "
                      f"' || {b}) "
                      "FROM value a, value b")
        equal = [r for r in rows if r[4] == "true"]
        quiet = [r[:4] for r in equal if r[5] == "false"]
        zoned = {"timestamp", "date"} if zone != "UTC" else set()
        promised = [q for q in quiet if (is_blank(*q[:2]) and q[2] == "char(3)") or (is_blank(*q[2:]) and q[0] == "char(3)")
                    or (q[0] == "timestamptz" and q[2] in zoned) or (q[2] == "timestamptz" and q[0] in zoned)]
        tap.equal([q for q in quiet if q not in promised], [], f"{zone}: {len(equal)} pairs are equal in SQL, and no member is answered no")
        tap.check(len(equal) > 200 and bool(promised), f"{zone}: but for {len(promised)} pairs that are promised not to be found")
        differ = [r for r in rows if r[4] == "false" and r[5] == "true"]
        tap.equal([r[:4] for r in differ], [], f"{zone}: no pair that differs is found")
        found = sum(r[5] == "true" for r in equal)
        tap.check(found > 150, f"{zone}: {found} are found, the others refused")
        refused = sorted({(r[0], r[2]) for r in equal if r[5] != "true"} - {(q[0], q[2]) for q in promised})
        floats, whole_ = {"float4", "float8"}, {"int2", "int4", "int8", "oid", "a_number"}
        exact = {"numeric", "a_price"}
        none = {"citext", '"char"', "regclass", "json", "int4[]", "interval"}
        stray = [(x, y) for x, y in refused
                 if not ((x in floats) != (y in floats) or (x in exact and y in whole_) or x in none or y in none)]
        tap.equal(stray, [], f"{zone}: refused are floats among others, integers among numeric, and types without keys")
    s.rows("SET TimeZone = 'UTC'")
    rows = s.rows(f"SELECT a.kind, a.literal, b.literal, attempt({a} || ' = ' || quote_literal(b.literal)), attempt('tamis_build(' || {a} "
                  f"|| ') @> ' || quote_literal(b.literal)) "
                  "FROM value a, value b")
    quiet = [r[:3] for r in rows if r[3] == "true" and r[4] == "false"]
    promised = [q for q in quiet if q[0] in ("numeric", "a_price") or (q[0] == "char(3)" and q[2].endswith(" "))]
    tap.equal([q for q in quiet if q not in promised], [], "quoted literals that the server would call equal are found or a mistake")
    tap.check(bool(promised), f"but for {len(promised)} in another form")


# ---- Refusals ---------------------------------------------------------------------------------------------


def refusals(server, s):
    server.command("build", "-q", "-f", "plain.tamis", "-", stdin="1\n10.0.0.1\n" + NIL + "\n")
    for asked, what in (("1", "an integer"), ("1::float8", "a float"), (f"'{NIL}'::uuid", "a uuid"), ("'10.0.0.1'::inet", "an address"),
                        ("'10.0.0.0/8'::cidr", "an address"), ("true", "an integer"), ("'2024-01-01'::date", "a date or time")):
        said = s.error(f"SELECT tamis_read('plain.tamis') @> {asked}")
        tap.check(f'keys of this filter are texts or bytes (it has no note "encoding"), and {what} is never one of them' in said,
                  f"no note: {asked} is refused: {said.splitlines()[0]}")
        tap.check("HINT" in said and "tamis_set_note" in said, "with a hint")
        tap.check(f"{what} is never" in s.error(f"SELECT {asked} <@ tamis_file('plain.tamis')"), "also in a file")
        tap.check(f"{what} is never" in s.error(f"SELECT tamis_add(tamis_read('plain.tamis'), {asked})"), "and for adds")
        tap.check(f"{what} is never" in s.error(f"SELECT tamis_build('x'::text) @> {asked}"), "and in a filter of texts")
        tap.check(f"{what} is never" in s.error(f"SELECT tamis_has_any(tamis_build('x'::text), ARRAY[{asked}])"), "and in arrays")
    tap.equal(s.one("SELECT tamis_set_note(tamis_new('blocked:capacity=9'), 'encoding', 'utf8') @> ''"), "f",
              "a filter without keys answers")
    tap.check("an integer is never" in s.error("SELECT tamis_set_note(tamis_new('blocked:capacity=9'), 'encoding', 'utf8') @> 1"),
              "or refuses, by its note")
    tap.check("are unheard-of" in s.error("SELECT tamis_set_note(tamis_build(1), 'encoding', 'unheard-of') @> 1"), "an unknown encoding")
    tap.check("ERROR" in s.error("SELECT tamis_set_note(tamis_build('a'), 'encoding', 'unheard-of') @> 'a'"), "of texts, too")
    server.command("build", "-q", "-f", "--canon", "lower", "canon.tamis", "-", stdin="ABC\n")
    for use in ("tamis_read('canon.tamis') @> 'abc'", "tamis_file('canon.tamis') @> 'abc'", "tamis_add(tamis_read('canon.tamis'), 'abc')",
                "tamis_has_any(tamis_read('canon.tamis'), ARRAY['abc'])"):
        tap.check("the note canon is lower" in s.error(f"SELECT {use}"), f"canon: {use} is refused")
    tap.equal(s.one("SELECT tamis_set_note(tamis_read('canon.tamis'), 'canon', NULL) @> 'abc'"), "t", "without the note it answers")
    with open(os.path.join(server.filters, "secret"), "w", encoding="ascii") as file:
        file.write("00112233445566778899aabbccddeeff")
    server.command("build", "-q", "-f", "--secret-file", "secret", "keyed.tamis", "-", stdin="a\n")
    for use in ("tamis_read('keyed.tamis') @> 'a'", "tamis_file('keyed.tamis') @> 'a'"):
        tap.check("the secret with key id" in s.error(f"SELECT {use}"), f"a secret that the server does not have: {use}")
    server.command("build", "-q", "-f", "--keys", "int32", "days.tamis", "-", stdin="19723\n")
    tap.check("a date or time is never" in s.error("SELECT tamis_read('days.tamis') @> '2024-01-01'::date"),
              "dates have no place in 32 bits")
    tap.check("is not hex" in s.error("SELECT tamis_build('10.0.0.1'::inet) @> '10.0.0.1'"), "an address in quotes is a mistake, not a no")
    tap.equal(s.one("SELECT tamis_build('\\x6162'::bytea) @> '\\x6162' AND tamis_build('\\x6162'::bytea) @> '6162'"), "t",
              "a bytea in quotes is found")
    for kind in ("json", "jsonb", "xml", "interval", "time", "point", "int4range", "money", "bit(3)", "tamis", "tsvector", "record"):
        value = {"json": "'1'", "jsonb": "'1'", "xml": "'<a/>'", "interval": "'1 day'", "time": "'1:00'", "point": "'(1,2)'",
                 "int4range": "'[1,2)'", "money": "'1'",
                 "bit(3)": "'101'", "tamis": "tamis_build(1)", "tsvector": "'a'", "record": "ROW(1, 2)"}[kind]
        value = value if kind in ("tamis", "record") else f"{value}::{kind}"
        f = "(SELECT tamis_build(1))"
        said = s.error(f"SELECT tamis_build(k) FROM (SELECT {value} k) x")
        tap.check("are not keys" in said and "HINT" in said, f"{kind} has no keys: {said.splitlines()[0]}")
        tap.check("are not keys" in s.error(f"SELECT {f} @> {value}") and "are not keys" in s.error(f"SELECT tamis_add({f}, {value})"),
                  "by operator and add, too")
    for use in ("tamis_build(ARRAY['a'])", "tamis_build(ARRAY[1, 2])", "tamis_has_any(tamis_build('a'), ARRAY['[1]'::json])",
                "tamis_has_all(tamis_build('a'), ARRAY[ROW(1)])", "tamis_add(tamis_build('a'), ARRAY['1 day'::interval])"):
        tap.check("are not keys" in s.error(f"SELECT {use}"), f"arrays: {use}")
    tap.check("does not exist" in s.error("SELECT tamis_build(1) @> ARRAY[1]"), "@> has no arrays")


def collations(s):
    if s.one("SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'") == "0":
        tap.skip("collations", "the server has no ICU")
        return
    s.rows("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    s.rows("CREATE TABLE words (c text COLLATE ci, v varchar COLLATE ci, b char(3) COLLATE ci, d text, o text COLLATE \"C\", a text[] "
           "COLLATE ci)")
    s.rows("INSERT INTO words VALUES ('ABC', 'ABC', 'ABC', 'ABC', 'ABC', '{ABC}')")
    f = "(SELECT tamis_build(d) FROM words)"
    for use in ("tamis_build(c)", "tamis_build(v)", "tamis_build(b)", f"bool_and({f} @> c)", f"bool_and(c <@ {f})", f"bool_and({f} @> b)",
                f"bool_and(tamis_has_any({f}, a))",
                f"bool_and(tamis_add({f}, v) IS NULL)", "tamis_build_map(c, 1)", "tamis_build_labels(c, 'x')", f"sum(tamis_count({f}, c))"):
        tap.check("nondeterministic collation" in s.error(f"SELECT {use} FROM words"), f"nondeterministic: {use}")
    tap.check("which collation" in s.error("SELECT tamis_build_labels(c, o) FROM words"), "not known which of two collations")
    tap.equal(s.one(f"SELECT tamis_build(c COLLATE \"C\") @> 'ABC' AND bool_and({f} @> c COLLATE \"C\") FROM words"), "t",
              "another collation is taken")
    tap.equal(s.one("SELECT tamis_build(c COLLATE \"und-x-icu\")::bytea = tamis_build(d)::bytea FROM words"), "t",
              "and makes no difference")


# ---- Another encoding of the database ---------------------------------------------------------------------

NAMES = ["é", "Ærøskøbing", "naïve", "ÿ", "plain", "£5"]


def latin1(server, s):
    s.rows("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    s.rows("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'")
    values = ", ".join(f"({quoted(n)})" for n in NAMES)
    made, answers, labelled = [], [], []
    for database in ("postgres", "latin"):
        t = s if database == "postgres" else server.session(database)
        t.rows("SET client_encoding = 'UTF8'")
        if t is not s:
            t.rows("CREATE EXTENSION tamis")
        t.rows("SET tamis.directory = '" + server.filters + "'")
        t.rows(f"CREATE TABLE n (k) AS SELECT column1::text FROM (VALUES {values}) x")
        t.rows("CREATE TYPE accent AS ENUM ('é', 'e')")
        for kind in ("text", "varchar", "char(20)", "name"):
            made.append(t.one(f"SELECT md5(tamis_build(k::{kind} ORDER BY k)::bytea) FROM n"))
        answers.append(t.one("SELECT count(*) FROM n, (SELECT tamis_build(k) f FROM n) x WHERE f @> k AND f @> k::name"))
        answers[-1] += t.one("SELECT tamis_build('é'::accent) @> 'é' AND tamis_has_any(tamis_build('é'::text), '{é}'::accent[])")
        t.rows(f"SELECT tamis_save(tamis_build(k), '{database}.tamis') FROM n")
        tap.equal(asked_of(server, f"{database}.tamis", NAMES), set(NAMES), f"{database}: the command finds them all")
        server.command("build", "-q", "-f", "--keys", "utf16", "u.tamis", "-", stdin="\n".join(NAMES) + "\n")
        tap.equal(t.one("SELECT count(*) FROM n WHERE tamis_read('u.tamis') @> k"), str(len(NAMES)), f"{database}: as UTF-16, too")
        labelled.append(t.one("SELECT tamis_note(tamis_set_note(tamis_build('a'), 'source', 'café'), 'source')"))
        tap.equal(t.one("SELECT md5(tamis_set_note(tamis_build('a'), 'source', 'café')::bytea)"),
                  s.one("SELECT md5(tamis_set_note(tamis_build('a'), 'source', 'café')::bytea)"), f"{database}: notes are UTF-8")
        path = os.path.join(server.filters, "names.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("é\n")
        server.command("build", "-q", "-f", "labels.tamis", "--label", "café", path)
        labelled.append(t.one("SELECT array_to_string(tamis_which(tamis_read('labels.tamis'), 'é'), '') || (SELECT label FROM "
                              "tamis_labels(tamis_read('labels.tamis')))"))
    tap.equal(len(set(made)), 1, "a database in LATIN1 makes the same filters as one in UTF-8")
    tap.equal(answers, [str(len(NAMES)) + "t"] * 2, "and answers")
    tap.equal(labelled, ["café", "cafécafé"] * 2, "and reads the same notes and labels")
    image = bytes.fromhex(s.one("SELECT encode(tamis_set_note(tamis_build('a'), 'source', '漢字')::bytea, 'hex')")).hex()
    tap.check("no equivalent" in t.error(f"SELECT tamis_note('\\x{image}'::tamis, 'source')"), "what LATIN1 has not is an error")
    t.close()
    t = server.session("ascii")
    t.rows("CREATE EXTENSION tamis")
    t.rows("SET client_encoding = 'SQL_ASCII'")
    tap.equal(t.one("SELECT md5(tamis_build('é'::text)::bytea)"), s.one("SELECT md5(tamis_build('é'::text)::bytea)"),
              "SQL_ASCII takes UTF-8")
    tap.check("invalid byte sequence" in t.error("SELECT tamis_build(E'\\xe9'::text)"), "and refuses the rest")
    t.close()


ONE = """CREATE FUNCTION tamis_build_one(a text, b text, kind text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE answer boolean;
BEGIN
    EXECUTE format('SELECT tamis_build(%L::%s, ''blocked:fpr=1e-9'') @> %L::%s', a, kind, b, kind) INTO answer;
    RETURN answer;
END $$"""


def main():
    pg.skip_unless_possible()
    with Server(["timezone = 'UTC'"]) as server:
        server.start()
        s = server.with_extension()
        s.rows("CREATE EXTENSION IF NOT EXISTS citext")
        s.rows(f"SET tamis.directory = '{server.filters}'")
        s.rows(TRY)
        s.rows(ONE)
        every_type(server, s)
        every_encoding(server, s)
        numbers(server, s)
        edges(server, s)
        stored(server, s)
        pairs(s)
        refusals(server, s)
        collations(s)
        latin1(server, s)
        tap.check("PANIC" not in server.log() and "terminated by signal" not in server.log(), "no backend died")
        s.close()
    return tap.end()


sys.exit(main())
