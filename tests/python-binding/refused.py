# SPDX-License-Identifier: MIT
"""Run by test_memory.py under a library that refuses memory: each call below fails with an exception at every allocation, and then works.
Nothing changes when it fails."""
import array
import ctypes
import mmap
import os

import tamis

with open(os.environ["REFUSE_MEMORY"], "r+b") as file:
    orders = mmap.mmap(file.fileno(), 24)
texts = [f"text {i} ä" for i in range(3000)]
numbers = array.array("q", range(3000))
small = array.array("i", range(3000))


process, left, refused = (ctypes.c_int64.from_buffer(orders, at) for at in (0, 8, 16))
process.value = os.getpid()


def refuse(n):
    """Without memory of its own."""
    left.value = n


def was_refused():
    left.value = 0
    hit = refused.value
    refused.value = 0
    return hit


def fill(f):
    f.update(range(100))
    return f


base = fill(tamis.Filter(capacity=5000))
image = bytes(base)
text = tamis.Filter(capacity=5000)
text.add("a")
wide = tamis.Filter(capacity=5000)
wide.set_note("encoding", "int32be")
wide.add(5)
m = tamis.Builder("bloomier:value=8")
m.put(1, 2)
m = m.finish()


def build():
    b = tamis.Builder("fuse")
    b.update(numbers)
    return b.finish()


def label():
    b = tamis.Builder("labels")
    b.label("x")
    b.update([1, 2])
    return b.finish().which(1)


CALLS = {
    "create": (lambda: tamis.Filter(capacity=1000, seed=5), None),
    "update list": (lambda: text.update(texts), text), "update numbers": (lambda: base.update(numbers), base),
    "update small": (lambda: base.update(small), base), "update iterator": (lambda: base.update(iter(range(3000))), base),
    "encoded": (lambda: wide.update(small), wide), "ask encoded": (lambda: wide.has_many([1, 2, 3]), wide),
    "ask list": (lambda: text.has_many(texts), text), "ask numbers": (lambda: base.has_many(numbers), base),
    "count": (lambda: base.count_many(small), base), "get": (lambda: m.get_many([1, 2]), m),
    "bytes": (lambda: bytes(base), base), "load": (lambda: tamis.Filter.from_bytes(image), None), "view": (lambda: tamis.Filter.view(image), None),
    "copy": (base.copy, base), "merge": (lambda: base | base, base), "equal": (lambda: base == base.copy(), base), "info": (base.info, base),
    "notes": (lambda: base.notes, base), "spec": (lambda: base.spec, base), "picture": (base._repr_html_, base), "build": (build, None),
    "label": (label, None), "kinds": (tamis.kinds, None), "plan": (lambda: tamis.plan("fuse", capacity=10), None),
    "arrow": (lambda: base.has_many(small).__arrow_c_array__(), base), "buffer": (lambda: memoryview(base).release(), base),
    "first key": (lambda: tamis.Filter(capacity=10).add("x"), None),
}


def same(before, f, name):
    if before is None or name.startswith(("update", "encoded")):
        return True  # keys before the one that failed are in
    return bytes(f) == before


def main():
    total = 0
    for name, (call, f) in CALLS.items():
        before = bytes(f) if f is not None else None
        call()
        before = bytes(f) if f is not None else None
        for n in range(1, 4000):
            refuse(n)
            try:
                call()
                failed = False
            except (MemoryError, tamis.Error) as error:
                failed = True
                kind = error
            hit = was_refused()
            assert hit or not failed, (name, n, failed)
            if failed:
                assert isinstance(kind, (MemoryError, tamis.FileError)), (name, n, kind)
            assert same(before, f, name), (name, n)
            total += hit
            if not hit:
                break
        assert not hit, name
    print(f"{total} refused")


main()
