#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged and hostile images at every argument: an error with a sentence, never a crash or an answer. MUTANTS= for more of them."""
import glob
import os
import random
import sys

sys.dont_write_bytecode = True
import duck
from duck import Tap, open_database

tap = Tap()
MUTANTS = int(os.environ.get("MUTANTS", "150"))
GOOD = "tamis_build(range, 'blocked:capacity=100')"
# Every place where an image comes in.
CALLS = ["SELECT tamis_has($1, 5)", "SELECT tamis_has($1, 'x')", "SELECT tamis_has_any($1, [1, 2])", "SELECT tamis_has_all($1, ['a'])",
         "SELECT tamis_count($1, 5)", "SELECT tamis_get($1, 5)", "SELECT tamis_which($1, 'x')", "SELECT tamis_info($1)", "SELECT tamis_items($1)",
         "SELECT tamis_rate($1)", "SELECT tamis_open($1, 'hostile')", "SELECT tamis_add($1, 5)", "SELECT tamis_add($1, ['x'])",
         "SELECT tamis_remove($1, 5)", f"SELECT tamis_union($1, {GOOD}) FROM range(9)", f"SELECT tamis_union({GOOD}, $1) FROM range(9)",
         f"SELECT tamis_intersect($1, {GOOD}) FROM range(9)", f"SELECT tamis_intersect({GOOD}, $1) FROM range(9)", "SELECT tamis_merge($1)",
         "SELECT tamis_merge_list([$1, $1])", "SELECT tamis_set_note($1, 'x', 'y')", "SELECT count(*) FROM range(5000) r(k) WHERE tamis_has($1, k)"]


def answers(s, image):
    """How many calls answered, of those that an image was given to."""
    count = 0
    for call in CALLS:
        try:
            s.rows(call, image)
            count += 1
        except duck.duckdb.Error as e:
            assert "tamis: " in str(e), f"{call}: {e}"
    return count


def hostile(s):
    paths = sorted(p for p in glob.glob(os.path.join(duck.ROOT, "tests", "golden-bad", "*")) if p.endswith(".tamis"))
    answered = []
    for path in paths:
        with open(path, "rb") as file:
            if answers(s, file.read()):
                answered.append(os.path.basename(path))
    tap.check(len(paths) > 20, f"{len(paths)} images with right checksums and wrong shapes")
    tap.equal(answered, [], "are refused by every function")


def golden(s):
    paths = sorted(p for p in glob.glob(os.path.join(duck.ROOT, "tests", "golden", "*.tamis")))
    silent = []
    for path in paths:
        with open(path, "rb") as file:
            image = file.read()
        if not answers(s, image):
            silent.append(os.path.basename(path))
    tap.check(len(paths) > 20, f"{len(paths)} images of every kind")
    allowed = [name for name in silent if "outside" in name or "secret" in name or "key" in name]
    tap.equal([name for name in silent if name not in allowed], [], "are answered by some function or another")


def damaged(s):
    """Each image is new, so that none is known by its header."""
    r = random.Random(24)
    answered = []
    for i in range(MUTANTS):
        spec = r.choice(["blocked", "fuse", "counting", "labels", "scalable:capacity=10", "guava:capacity=50", "cuckoo", "classic:hash=sip13"])
        if spec == "labels":
            spec = "ribbon"
        image = bytearray(s.one("SELECT tamis_build(k, ?) FROM range(?, ?) r(k)", spec, 100 * i, 100 * i + 60))
        how = i % 5
        if how == 0:
            image[r.randrange(len(image))] ^= 1 << r.randrange(8)
        elif how == 1:
            image = image[:r.randrange(len(image))]
        elif how == 2:
            image += r.randbytes(r.randrange(1, 300))
        elif how == 3:
            at = r.randrange(len(image) - 8)
            image[at:at + 8] = r.choice([b"\xff" * 8, b"\0" * 8, b"\x7f" * 8]) if image[at:at + 8] not in (b"\0" * 8,) else b"\xff" * 8
        else:
            image = bytearray(r.randbytes(r.choice([0, 1, 191, 192, 193, 5000])))
        if answers(s, bytes(image)):
            answered.append((i, spec, how))
    tap.equal(answered, [], f"{MUTANTS} damaged images are refused by every function")


def errors_leave_nothing(s):
    """After an error the next query is answered, and so is one that was stopped in the middle."""
    s.rows("SELECT tamis_open(tamis_build(k, 'blocked:fpr=1e-9'), 'good') FROM range(100) r(k)")
    for _ in range(50):
        s.error("SELECT tamis_build(CASE WHEN k = 90000 THEN 2::HUGEINT ** 100 ELSE k END) FROM range(100000) r(k)".replace("2::HUGEINT ** 100",
                "170141183460469231731687303715884105727"))
        s.error("SELECT tamis_has(CASE WHEN k < 90000 THEN 'good' ELSE 'bad' END, k) FROM range(100000) r(k)")
    tap.equal(s.one("SELECT count(*) FROM range(100000) r(k) WHERE tamis_has('good', k)"), 100, "queries after errors in other ones")


def main():
    s = open_database(threads=2)
    for part in (hostile, golden, damaged, errors_leave_nothing):
        part(s)
    return tap.end()


sys.exit(main())
