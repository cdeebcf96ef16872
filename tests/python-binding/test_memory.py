# SPDX-License-Identifier: MIT
"""No call leaks a reference or memory; when memory runs out there is an exception and nothing has changed."""
import array
import gc
import os
import subprocess
import sys
import tempfile

import pytest
import tamis

numpy = pytest.importorskip("numpy")
HERE = os.path.dirname(os.path.abspath(__file__))


def attempt(call):
    try:
        return call()
    except (tamis.Error, TypeError, ValueError, OverflowError, LookupError, BufferError, ArithmeticError):
        return None


def calls(directory):
    """Every function and method, in ways that work and in ways that fail."""
    path = os.path.join(directory, "f.tamis")
    f = tamis.Filter("counting:capacity=100")
    f.update(["a", "b"])
    f.save(path)
    n = tamis.Filter(capacity=100)
    n.update([1, 2])
    wide = tamis.Filter(capacity=100)
    wide.set_note("encoding", "int32be")
    wide.add(7)
    labels = tamis.Builder("labels")
    labels.label("x")
    labels.add("a")
    made = labels.finish()
    values = tamis.Builder("bloomier:value=8,update=yes")
    values.put("a", 1)
    m = values.finish()
    image, numbers, texts = bytes(f), array.array("q", range(50)), [f"text {i} äöü" for i in range(50)]
    guava = tamis.Filter("guava:capacity=10")
    data = guava.export("guava")
    sketch = tamis.Filter("minhash")
    table = tamis.Filter("iblt:differences=10")
    columns = []
    try:
        import pyarrow
        columns = [pyarrow.array(texts), pyarrow.array([1, None]), pyarrow.array(["a", None]).dictionary_encode(), pyarrow.array([1.5]),
                   pyarrow.chunked_array([["a"], ["b"]])]
    except ImportError:
        pass
    things = ["a", b"a", 1, 1.5, None, 2**70, "\udc80", bytearray(b"a"), memoryview(b"a"), texts, iter(texts), numbers, numpy.arange(3), {"a": 1},
              numpy.zeros(3), f, n, object(), (), [1, "a"], ["a", 1], "x" * 100, *columns]
    for g in (f, n, wide, m, made, sketch, table, guava):
        for name in ("update", "has_many", "merge", "hash") if g not in (f, m) else ("add", "add_new", "remove", "discard", "count", "get", "which", "hash", "update", "has_many", "count_many", "get_many",
                     "resize", "fold", "shrink", "merge", "intersect", "__eq__", "__contains__", "__getitem__", "__or__", "__and__", "export"):
            yield lambda method=getattr(g.copy(), name): [attempt(lambda thing=thing: method(thing)) for thing in things]
        for name in ("tick", "clear", "copy", "info", "rate", "approx_items", "remaining", "__bytes__", "payload", "__repr__", "_repr_html_", "__len__"):
            yield getattr(g.copy(), name)
        for name in ("spec", "kind", "notes", "labels", "path"):
            yield lambda g=g, name=name: getattr(g, name)
        yield lambda g=g: memoryview(g).tobytes()
        yield lambda g=g: g.save(path)
        yield lambda g=g: g.save(5)
        yield lambda g=g: g.copy().set_note("comment", "x")
        yield lambda g=g: g.copy().set_note("Bad", "x")
        yield lambda g=g: g.copy().put("a", 1)
        yield lambda g=g: g.copy().add_times("a", 2)
        yield lambda g=g: g.__reduce_ex__(5)
        yield lambda g=g: g.has_many(["a"], out=bytearray(1))
        yield lambda g=g: g.has_many(["a"], out=bytearray(2))
    for call in (tamis.Filter.from_bytes, tamis.Filter.view, tamis.Filter.read, tamis.Filter.map, tamis.Filter):
        for thing in (image, image[:-1], bytearray(image), path, "nosuch", None, 5, "blocked:capacity=5", "fuse"):
            yield lambda call=call, thing=thing: call(thing)
        yield lambda call=call: call(image, colour=1)
        yield lambda call=call: call(image, secret=b"0" * 16, max_bytes=5)
    yield lambda: tamis.Filter(capacity=10, fpr=0.5, secret=b"x")
    yield lambda: tamis.Filter("blocked", capacity=10, seed=5, hash="sip13", secret=b"0" * 16)
    yield lambda: tamis.Filter.import_bytes(data, "guava")
    yield lambda: tamis.Filter.import_bytes(data[:-1], "guava")
    yield lambda: tamis.scan(data, "guava")
    yield lambda: tamis.scan(data, "nosuch")
    for function in (tamis.similarity, tamis.overlap, tamis.differences, tamis.difference_size):
        yield lambda function=function: function(f, f)
        yield lambda function=function: function(table, table.copy())
        yield lambda function=function: function(f, 5)
        yield lambda function=function: function(f, n)
    for function in (tamis.kinds, tamis.formats, tamis.cpu, tamis.plan, lambda: tamis.plan("fuse", capacity=5), lambda: tamis.plan("x")):
        yield function
    for spec in ("fuse", "bloomier:value=8", "labels", "cascade", "nosuch", None, 5):
        def build(spec=spec):
            b = tamis.Builder(spec, memory_limit=2**30, temp_dir=directory, threads=1, verify=True)
            for thing in things:
                for name in ("add", "update", "exclude", "exclude_many", "put_many", "label"):
                    attempt(lambda: getattr(b, name)(thing))
            attempt(lambda: b.put("a", 1))
            attempt(lambda: b.set_note("encoding", "utf8"))
            attempt(lambda: b.finish(progress=lambda *all: 1 / 0))
            attempt(lambda: b.finish(progress=lambda *all: None))
            attempt(lambda: b.save(path + "2"))
        yield build
    if columns:
        column = n.has_many(numbers)
        yield column.tolist
        yield column.valid
        yield column.__arrow_c_array__
        yield lambda: column.__arrow_c_array__(5, 6)
        yield lambda: memoryview(column)


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1])


def leaks(call, shared):
    """Objects that a call leaves behind, in every one of longer and longer rounds: what the interpreter itself keeps, it keeps once."""
    for runs in (3, 10, 50, 100, 300, 500):
        gc.collect()
        blocks, counts = sys.getallocatedblocks(), [sys.getrefcount(x) for x in shared]
        for _ in range(runs):
            attempt(call)
        gc.collect()
        more = sys.getallocatedblocks() - blocks
        if more < runs and all(abs(sys.getrefcount(x) - n) < runs for x, n in zip(shared, counts)):
            return None
    return more, [sys.getrefcount(x) - n for x, n in zip(shared, counts)]


def test_no_call_leaks():
    """A call that leaves one object, or one reference to what is shared, is found."""
    shared = [tamis.Filter, tamis.Builder, tamis.Column, tamis.Info, tamis.Estimate, tamis._tamis.Base]
    kept = []
    assert leaks(lambda: kept.append(object()), shared) and leaks(lambda: kept.append(tamis.Filter), shared), "the test finds leaks"
    with tempfile.TemporaryDirectory() as directory:
        gc.freeze()  # what is there now need not be looked at again and again
        leaky = [(i, call, getattr(call, '__defaults__', None), found) for i, call in enumerate(calls(directory)) if (found := leaks(call, shared))]
        gc.unfreeze()
        assert leaky == []


def test_no_memory_is_lost():
    """Memory of the library does not grow: 40 filters of 10 MB come and go."""
    keys = numpy.arange(1000)
    for turn in range(40):
        f = tamis.Filter(capacity=8 * 10**6)
        f.update(keys)
        g = tamis.Filter.from_bytes(memoryview(f))
        g |= f
        for _ in range(3):
            g.has_many(keys), g.has_many(list(range(1000))), bytes(g)
        attempt(lambda: tamis.Filter.from_bytes(bytes(g)[:-1]))
        if turn == 10:
            before = resident()
    assert (resident() - before) * os.sysconf("SC_PAGE_SIZE") < 100 * 2**20


def test_memory_runs_out(tmp_path):
    """The n-th allocation of a call fails, for every n until none does: in another process, under a library that refuses."""
    source = os.path.join(HERE, "..", "postgres", "refuse_memory.c")
    library = tmp_path / "refuse.so"
    compiled = subprocess.run([*os.environ.get("CC", "cc").split(), "-O1", "-shared", "-fPIC", "-o", library, source], check=False)
    if compiled.returncode:
        pytest.skip("no C compiler")
    orders = tmp_path / "orders"
    orders.write_bytes(bytes(24))
    done = subprocess.run([sys.executable, os.path.join(HERE, "refused.py")], capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, "LD_PRELOAD": str(library), "REFUSE_MEMORY": str(orders), "PYTHONMALLOC": "malloc"})
    assert done.returncode == 0 and "refused" in done.stdout, (done.returncode, done.stdout[-2000:], done.stderr[-3000:])
