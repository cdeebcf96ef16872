# SPDX-License-Identifier: MIT
"""Nanoseconds of processor time per key, the loop itself taken off: every measurement in turn, then every one again; medians.
Ratios are medians of those within a round, because a machine that is shared changes from one round to the next."""
import gc
import hashlib
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy
import pyarrow
import rbloom
import tamis

N = int(os.environ.get("N", "1000000"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
TEXTS = [f"key {i}" for i in range(N)]
BYTES = [text.encode() for text in TEXTS]
INTS = list(range(N))
ARRAY = numpy.arange(N, dtype=numpy.uint64)
PACKED = numpy.arange(2 * N, dtype=numpy.uint64).view("V16")
COLUMN = pyarrow.array(TEXTS)


def sha(key):
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "big") - 2**127


def taken(call):
    gc.collect()
    start = time.process_time()
    call()
    return 1e9 * (time.process_time() - start)


def empty_loop(keys):
    for _ in keys:
        pass


def adds(f, keys):
    add = f.add
    for key in keys:
        add(key)


def asks(f, keys):
    for key in keys:
        key in f


def single(name, make, keys, what, some=1):
    """Adds and asks one by one, some of the keys for those that take long."""
    def measure():
        part = keys[:len(keys) // some]
        f = make()
        loop = min(taken(lambda: empty_loop(part)) for _ in range(3))
        return {f"{name} add {what}": (taken(lambda: adds(f, part)) - loop) / len(part),
                f"{name} in {what}": (taken(lambda: asks(f, part)) - loop) / len(part)}
    return measure


def batch(name, make, call, n=N):
    def measure():
        f = make()
        return {name: taken(lambda: call(f)) / n}
    return measure


def ours(kind="blocked"):
    return lambda: tamis.Filter(kind, capacity=N, fpr=0.01)


def filled(keys):
    f = ours()()
    f.update(keys)
    return lambda: f


def theirs():
    return rbloom.Bloom(N, 0.01)


def fastbloom():
    import fastbloom_rs
    return fastbloom_rs.BloomFilter(N, 0.01)


class Fast:
    """fastbloom-rs has a method for each type of key."""

    def __init__(self, kind):
        self.f = fastbloom()
        self.add = getattr(self.f, f"add_{kind}")
        self.has = getattr(self.f, f"contains_{kind}")

    def __contains__(self, key):
        return self.has(key)


def pybloom():
    import pybloom_live
    return pybloom_live.BloomFilter(N, 0.01)


class Probables:
    """pyprobables."""

    def __init__(self):
        import probables
        self.f = probables.BloomFilter(est_elements=N, false_positive_rate=0.01)
        self.add = self.f.add

    def __contains__(self, key):
        return self.f.check(key)


def measurements():
    for name, make in (("blocked", ours()), ("classic", ours("classic")), ("rbloom", theirs)):
        yield single(name, make, TEXTS, "str")
        yield single(name, make, INTS, "int")
        yield single(name, make, BYTES, "bytes")
    yield single("rbloom sha256", lambda: rbloom.Bloom(N, 0.01, sha), TEXTS, "str", 10)
    yield single("fastbloom", lambda: Fast("str"), TEXTS, "str", 4)
    yield single("fastbloom", lambda: Fast("int"), INTS, "int", 4)
    yield single("pybloom", pybloom, TEXTS, "str", 20)
    yield single("pyprobables", Probables, TEXTS, "str", 100)
    yield batch("update str", ours(), lambda f: f.update(TEXTS))
    yield batch("rbloom update str", theirs, lambda f: f.update(TEXTS))
    yield batch("update int", ours(), lambda f: f.update(INTS))
    yield batch("rbloom update int", theirs, lambda f: f.update(INTS))
    yield batch("has_many list", filled(TEXTS), lambda f: f.has_many(TEXTS))
    yield batch("update numpy", ours(), lambda f: f.update(ARRAY))
    yield batch("has_many numpy", filled(ARRAY), lambda f: f.has_many(ARRAY))
    yield batch("has_many 16 bytes", filled(PACKED), lambda f: f.has_many(PACKED))
    yield batch("update arrow str", ours(), lambda f: f.update(COLUMN))
    yield batch("has_many arrow str", filled(COLUMN), lambda f: f.has_many(COLUMN))


PAIRS = [("rbloom in str", "blocked in str"), ("rbloom in int", "blocked in int"), ("rbloom add str", "blocked add str"),
         ("rbloom add int", "blocked add int"), ("rbloom update str", "update str"), ("rbloom update int", "update int"),
         ("rbloom in int", "has_many numpy"), ("rbloom sha256 in str", "blocked in str"), ("rbloom sha256 add str", "blocked add str"),
         ("fastbloom in str", "blocked in str"), ("pybloom in str", "blocked in str"), ("pyprobables in str", "blocked in str")]


def import_time():
    """Milliseconds of processor time that `import tamis` adds to an interpreter: the smallest of several of each."""
    def run(program):
        def once():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", program], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(once() for _ in range(25))
    return run("import tamis") - run("pass")


def main():
    rounds = []
    for _ in range(ROUNDS):
        found = {}
        for measure in measurements():
            found.update(measure())
        rounds.append(found)
    for name in rounds[0]:
        print(f"{name:28} {statistics.median(r[name] for r in rounds):10.1f} ns")
    for theirs_, ours_ in PAIRS:
        print(f"{theirs_ + ' / ' + ours_:48} {statistics.median(r[theirs_] / r[ours_] for r in rounds):8.2f} x")
    print(f"import tamis: {import_time():.1f} ms more than a bare interpreter")


main()
