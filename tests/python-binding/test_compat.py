# SPDX-License-Identifier: MIT
"""Classes shaped like those of others; with their own files where the packages are installed (tests/peers runs their own tests)."""
import hashlib
import io
import math

import pytest
import tamis
from tamis.compat.pybloom_live import BloomFilter, ScalableBloomFilter
from tamis.compat.rbloom import Bloom


def sha(key):
    return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:16], "big", signed=True)


@pytest.mark.parametrize("hash_func", [None, hash, sha])
def test_bloom(hash_func, tmp_path):
    b = Bloom(1000, 0.001, hash_func)
    assert not b and b.approx_items == 0 and repr(b) == f"<Bloom size_in_bits={b.size_in_bits} approx_items=0.0>"
    b.add("a")
    b.update(["b", "c"], iter(["d"]))
    assert b and "a" in b and "d" in b and "zz" not in b and abs(b.approx_items - 4) < 0.5
    other = Bloom(1000, 0.001, hash_func)
    other.update(["c", "d", "e"])
    assert all(k in b | other for k in "abcde") and all(k in b & other for k in "cd") and "a" not in b & other
    assert b & other <= b <= b | other and not b < b and b <= b and (b | other).issuperset(other) and b != other
    assert b.union(other, ["x"]) > b and b.intersection(["a", "b"]) < b and b.copy() == b is not b.copy()
    twin = b.copy()
    twin |= other
    twin &= other
    assert all(k in twin for k in "cde")
    assert b.hash_func is (hash_func or hash)
    if hash_func is hash:
        for call in (b.save_bytes, lambda: Bloom.load_bytes(b"", hash)):
            with pytest.raises(ValueError):
                call()
    else:
        b.save(tmp_path / "b")
        assert Bloom.load(tmp_path / "b", hash_func) == b == Bloom.load_bytes(b.save_bytes(), hash_func)
    if hash_func:
        b.add((1, 2.5, None))
        assert (1, 2.5, None) in b
    b.clear()
    assert not b and b == Bloom(1000, 0.001, hash_func)
    with pytest.raises(ValueError):
        b |= Bloom(10, 0.5, hash_func)
    with pytest.raises(TypeError):
        b | 5
    for bad in ((0, 0.5), (5, 0), (5, 1)):
        with pytest.raises(ValueError):
            Bloom(*bad)


def test_sizes_of_rbloom():
    """Theirs is 193,960; ours are whole words."""
    assert Bloom(27_000, 0.0317).size_in_bits == 193984


def test_files_of_rbloom(tmp_path):
    rbloom = pytest.importorskip("rbloom")
    theirs = rbloom.Bloom(1000, 0.01, sha)
    theirs.update(range(500))
    ours = Bloom.load_bytes(theirs.save_bytes(), sha)
    assert ours.save_bytes() == theirs.save_bytes() and [i in ours for i in range(2000)] == [i in theirs for i in range(2000)]
    assert math.isclose(ours.approx_items, theirs.approx_items, rel_tol=1e-6) and ours.size_in_bits == theirs.size_in_bits
    ours.add("new")
    ours.update([1, "newer"])
    theirs.update(["new", "newer"])
    assert ours.save_bytes() == theirs.save_bytes() and ours.copy() == ours and ours & ours == ours | ours
    for bad in (b"", b"12345678", bytes(9), b"\xff" * 100):
        with pytest.raises(ValueError):
            Bloom.load_bytes(bad, sha)


def test_bloom_filter():
    b = BloomFilter(1000, 0.001)
    assert not b.add("a") and b.add("a") and not b.add(1) and "1" in b and 1 in b and len(b) == b.count == 2
    other = BloomFilter(1000, 0.001)
    other.add("b")
    assert all(k in b | other for k in "a1b") and "b" not in b & other and b.copy().count == 2 and b.num_bits > 14000
    for call in (lambda: b | BloomFilter(10), lambda: b & BloomFilter(1000, 0.1), lambda: BloomFilter(0), lambda: BloomFilter(5, 1)):
        with pytest.raises(ValueError):
            call()
    small = BloomFilter(2)
    with pytest.raises(IndexError):
        for i in range(10):
            small.add(i)
    f = io.BytesIO()
    b.tofile(f)
    f.seek(0)
    again = BloomFilter.fromfile(f)
    assert "a" in again and (again.capacity, again.error_rate, again.count) == (1000, 0.001, 2)
    for cut in (0, 5, 20, len(f.getvalue()) - 1):
        with pytest.raises((ValueError, tamis.Error)):
            BloomFilter.fromfile(io.BytesIO(f.getvalue()[:cut]))


@pytest.mark.parametrize("mode", [2, 4])
def test_scalable(mode):
    s = ScalableBloomFilter(10, 0.001, mode)
    assert len(s) == 0 and s.capacity == 0 and "x" not in s
    for i in range(500):
        s.add(i)
    assert all(i in s for i in range(500)) and s.count == len(s) >= 498 and s.add(5) and len(s.filters) > 2
    other = ScalableBloomFilter(10, 0.001, mode)
    other.add("x")
    assert "x" in s | other and 499 in other | s
    f = io.BytesIO()
    s.tofile(f)
    f.seek(0)
    again = ScalableBloomFilter.fromfile(f)
    assert all(i in again for i in range(500)) and len(again) == len(s)
    with pytest.raises(ValueError):
        s | ScalableBloomFilter(20)
    with pytest.raises(ValueError):
        ScalableBloomFilter.fromfile(io.BytesIO(b"\xff" * 100))


@pytest.mark.parametrize("capacity, rate", [(10, 0.2), (100, 0.01), (1000, 0.001), (20000, 1e-6), (600000, 0.01)])
def test_files_of_pybloom(capacity, rate):
    pybloom_live = pytest.importorskip("pybloom_live")
    theirs = pybloom_live.BloomFilter(capacity, rate)
    for i in range(min(capacity, 500)):
        theirs.add(i)
    f, g = io.BytesIO(), io.BytesIO()
    theirs.tofile(f)
    ours = BloomFilter.fromfile(io.BytesIO(f.getvalue()))
    assert [i in ours for i in range(1500)] == [i in theirs for i in range(1500)] and len(ours) == len(theirs)
    ours.tofile(g)
    assert g.getvalue() == f.getvalue()
    scalable = pybloom_live.ScalableBloomFilter(10)
    for i in range(100):
        scalable.add(i)
    f = io.BytesIO()
    scalable.tofile(f)
    f.seek(0)
    again = ScalableBloomFilter.fromfile(f)
    assert all(i in again for i in range(100)) and len(again) == len(scalable)
