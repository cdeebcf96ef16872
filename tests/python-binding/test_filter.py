# SPDX-License-Identifier: MIT
"""Every method of Filter and Builder does what it says, and fails with a sentence."""
import copy

import pytest
import tamis
from conftest import kinds_with, spec_of


def test_specs_and_names_agree():
    plain = tamis.Filter("cuckoo:capacity=1000,fpr=0.1%")
    assert tamis.Filter("cuckoo", capacity=1000, fpr=0.001).spec == plain.spec
    assert tamis.Filter(capacity="1k", fpr="1%").spec == tamis.Filter("blocked:capacity=1000,fpr=1%").spec
    assert tamis.Filter(spec="split", capacity=10).kind == "split"
    assert tamis.Filter("blocked:capacity=10", capacity=1000).info().capacity == 1000
    assert tamis.plan("counting", capacity=10, log=True).spec == "counting:capacity=10,log=yes"


@pytest.mark.parametrize("words, names, part", [
    ((), {"capacity": -1}, "capacity"), ((), {"capacity": 10, "fpr": 2}, "fpr"), (("nosuch",), {"capacity": 1}, "nosuch"),
    ((), {"capacity": 10, "colour": 1}, "colour"), (("blocked:capacity",), {}, "capacity"), ((), {"capacity": "x=,y"}, "x=,y"),
    (("fuse:capacity=10",), {}, "built"), ((), {"capacity": 10**9, "max_bytes": 1000}, "1")])
def test_bad_specs(words, names, part):
    with pytest.raises(tamis.Error) as caught:
        tamis.Filter(*words, **names)
    assert part in str(caught.value) and caught.value.status < 0


@pytest.mark.parametrize("words, names", [((5,), {}), ((b"blocked",), {}), ((None, 5), {}), ((), {"max_bytes": -1, "capacity": 1}),
                                          ((), {"secret": b"short", "capacity": 1}), ((), {"threads": 1.5, "capacity": 1})])
def test_bad_arguments(words, names):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        tamis.Filter(*words, **names)


def test_zero_and_one_key():
    f = tamis.Filter(capacity=0)
    assert len(f) == 0 and not f and "x" not in f and 7 not in f and f.has_many([]) == []
    f.update([])
    f.add("")
    assert "" in f and len(f) == 1 and f


def test_add_count_remove():
    f = tamis.Filter("counting:capacity=100,fpr=1e-6")
    f.update(["a", "a", "b"])
    f.add_times("c", 3)
    assert (f.count("a"), f.count("b"), f.count("c"), f.count("d")) == (2, 1, 3, 0)
    assert f.count_many(["a", "d"]) == [2, 0]
    f.remove("a")
    assert f.count("a") == 1 and f.discard("a") and not f.discard("a") and "a" not in f
    with pytest.raises(KeyError, match="."):
        f.remove("never")
    with pytest.raises(tamis.UnsupportedError):
        tamis.Filter(capacity=10).remove("x")
    with pytest.raises(OverflowError):
        f.add_times("c", -1)
    with pytest.raises(tamis.Error):
        f.add_times("c", 2**63)


def test_add_new():
    f = tamis.Filter(capacity=100)
    assert f.add_new(5) and not f.add_new(5) and 5 in f


def test_maps():
    b = tamis.Builder("bloomier:value=16,update=yes")
    b.put_many({"a": 1, "b": 2})
    b.put_many(iter([("c", 3)]))
    m = b.finish()
    assert m["a"] == 1 and m.get("c") == 3 and m.get("zzz", "none") == "none" and m.get_many(["b", "zzz"]) == [2, None]
    assert m.get_many(["b", "zzz"], default=9) == [2, 9]
    m["a"] = 77
    m.put("b", 78)
    assert m.get_many(["a", "b", "c"]) == [77, 78, 3]
    with pytest.raises(KeyError):
        m["zzz"]
    with pytest.raises(tamis.InvalidError):
        m["a"] = 1 << 16
    with pytest.raises(TypeError):
        del m["a"]
    with pytest.raises(TypeError):
        m["a"] = "one"
    with pytest.raises(tamis.UnsupportedError, match="no values"):
        tamis.Filter(capacity=1).get("a")
    with pytest.raises(TypeError, match="pair"):
        tamis.Builder("bloomier:value=16").put_many(["ab"])
    b = tamis.Builder("bloomier:value=16")
    b.put("a", 1)
    b.put("a", 2)
    with pytest.raises(tamis.ConflictError):
        b.finish()


def test_labels():
    b = tamis.Builder("labels")
    for label, keys in (("pets", ["cat", "dog"]), ("wild", ["wolf", "cat"])):
        b.label(label)
        b.update(keys)
    f = b.finish()
    assert f.labels == ["pets", "wild"] and f.which("cat") == ["pets", "wild"] and f.which("wolf") == ["wild"]
    assert tamis.Filter(capacity=1).labels == []
    with pytest.raises(tamis.UnsupportedError):
        tamis.Filter(capacity=1).which("a")
    many = tamis.Builder("labels")
    for i in range(100):
        many.label(f"label {i:03}")
        many.add(7)
    assert many.finish().which(7) == [f"label {i:03}" for i in range(100)]


def test_sets():
    a, b = tamis.Filter(capacity=1000), tamis.Filter(capacity=1000)
    a.update(range(500))
    b.update(range(400, 900))
    both, common = a | b, a & b
    assert all(both.has_many(range(900))) and all(common.has_many(range(400, 500))) and len(a) == 500
    assert sum(common.has_many(range(400))) < 40
    c = a.copy()
    c |= b
    assert c == both and c != a and (a != b) is True and a.union(b) == both and a.intersection(b) == common
    c &= c
    assert all(c.has_many(range(900)))
    small = tamis.Filter(capacity=100)
    small.update(range(2000, 2050))
    wide = a | small
    assert all(wide.has_many(list(range(500)) + list(range(2000, 2050))))
    with pytest.raises(tamis.MismatchError):
        a |= tamis.Filter("classic:capacity=100")
    for other in (5, None, {1}):
        with pytest.raises(TypeError):
            a | other
        assert a != other
    with pytest.raises(TypeError):
        a.merge(5)
    with pytest.raises(TypeError):
        hash(a)


def test_unions_know_their_keys():
    numbers, texts, empty = (tamis.Filter(capacity=10) for _ in range(3))
    numbers.add(1)
    texts.add("1")
    with pytest.raises(tamis.MismatchError, match="encoding"):
        numbers |= texts
    assert 1 in numbers and len(numbers) == 1
    empty |= numbers
    assert empty.notes == {"encoding": "int64"} and 1 in empty
    with pytest.raises(TypeError):
        "1" in empty
    numbers |= tamis.Filter(capacity=10)
    assert 1 in numbers


def test_failed_union_changes_nothing():
    empty, other = tamis.Filter(capacity=10), tamis.Filter("classic:capacity=10")
    other.add(1)
    with pytest.raises(tamis.MismatchError):
        empty |= other
    assert empty.notes == {}
    empty.add("a text after all")


def test_window_resize_fold():
    w = tamis.Filter("window:by=clock,capacity=100")
    w.add("old")
    assert "old" in w
    for _ in range(40):
        w.tick()
    assert "old" not in w
    q = tamis.Filter("quotient", capacity=100)
    q.update(range(100))
    q.resize(5000)
    q.update(range(100, 4000))
    assert all(q.has_many(range(4000)))
    f = tamis.Filter("blocked:size=2^16,capacity=1000")
    f.update(range(1000))
    f.fold(2)
    assert all(f.has_many(range(1000))) and f.info().payload_bytes == 2**15
    for bad in (0, 3.5, -1, "two", 7):
        with pytest.raises((tamis.Error, TypeError, OverflowError)):
            f.fold(bad)
    f.clear()
    assert len(f) == 0 and 5 not in f
    with pytest.raises(tamis.UnsupportedError):
        f.tick()


def test_full_and_remaining():
    f = tamis.Filter("cuckoo:capacity=100,fpr=1%")
    with pytest.raises(tamis.FullError):
        f.update(range(10**6))
    assert len(f) > 100 and all(f.has_many(range(100)))
    assert tamis.Filter(capacity=5).remaining() is None and tamis.Filter("quotient:capacity=100").remaining() >= 100


def test_info_tells():
    f = tamis.Filter("blocked:capacity=1000,fpr=1%,seed=7")
    f.update(range(1000))
    i = f.info()
    assert (i.kind, i.items, i.capacity, i.fpr_asked, i.hash, i.seed) == ("blocked", 1000, 1000, 0.01, "xxh3", 7)
    assert 0.004 < i.fpr_now < 0.02 and abs(f.approx_items().value - 1000) < 60 and i.items_now.error > 0 and f.rate() == i.fpr_now
    assert i.shape["hashes"] == 8 and "add" in i.abilities and i.caveat == "" and not i.is_view
    assert "blocked:capacity=1000" in repr(f) and "1,000 items" in repr(f)
    html = f._repr_html_()
    assert "<svg" in html and "1,000 of 1,000" in html
    big = tamis.Filter(capacity=10)
    big.update(range(10000))
    assert big.info().is_saturated and "#c33" in big._repr_html_()
    full = tamis.Filter("classic:bits=64,capacity=10")
    full.update(range(10000))
    with pytest.raises(tamis.SaturatedError):
        full.approx_items()


def test_every_kind_has_a_picture():
    for kind in tamis.kinds():
        spec = spec_of(kind)
        if spec:
            f = tamis.Filter.build([1, 2, 3], spec) if "sketch" not in kind.abilities else tamis.Filter(spec)
            assert f.spec in f._repr_html_() and f.info().kind == kind.name


def test_sketches_refuse_keys():
    m = tamis.Filter("minhash")
    m.update(range(100))
    for ask in (lambda: 5 in m, lambda: m.has_many([5])):
        with pytest.raises(tamis.UnsupportedError, match="describes sets"):
            ask()
    other = m.copy()
    assert tamis.similarity(m, other).value == 1 and m.similarity(other).error < 0.1
    m.shrink(8)
    with pytest.raises(tamis.Error):
        tamis.similarity(m, other)


def test_two_sets_compared():
    a, b = tamis.Filter(capacity=10000), tamis.Filter(capacity=10000)
    a.update(range(1000))
    b.update(range(500, 1500))
    assert abs(tamis.overlap(a, b).value - 500) < 60 and abs(tamis.similarity(a, b).value - 1 / 3) < 0.1
    c, d = tamis.Filter("iblt:differences=50"), tamis.Filter("iblt:differences=50")
    c.update(range(1000))
    d.update(range(3, 1002))
    mine, theirs, is_whole = tamis.differences(c, d)
    assert sorted(mine) == sorted(map(c.hash, (0, 1, 2))) and sorted(theirs) == sorted(map(c.hash, (1000, 1001))) and is_whole
    assert abs(tamis.difference_size(c, d).value - 5) < 5
    d.update(range(5000, 6000))
    assert tamis.differences(c, d)[2] is False
    with pytest.raises(tamis.Error):
        tamis.differences(a, b)


def test_copies():
    for spec in kinds_with("add"):
        f = tamis.Filter(spec)
        f.update([1, 2, 3])
        twin, deep = copy.copy(f), copy.deepcopy([f])[0]
        assert twin == f == deep and type(twin) is tamis.Filter
        f.add(4)
        assert twin == deep != f, spec


class Mine(tamis.Filter):
    """A class of a user."""


def test_subclasses():
    f = Mine(capacity=10)
    f.colour = "red"
    f.add("a")
    assert type(f.copy()) is Mine and type(f | f) is Mine and type(Mine.from_bytes(bytes(f))) is Mine
    assert type(Mine.build(["a"])) is Mine and "a" in Mine.build(["a"])


def test_builder():
    b = tamis.Builder("fuse", fpr="1/256", verify=True, threads=2)
    b.update(range(5000), range(100))
    b.add(7)
    f = b.finish()
    assert all(f.has_many(range(5000))) and len(f) == 5000 and f.notes == {"encoding": "int64"}
    with pytest.raises(TypeError, match="int64"):
        b.add("x")
    c = tamis.Builder("cascade")
    c.update(range(100))
    c.exclude_many(range(100, 200))
    c.exclude(200)
    made = c.finish()
    assert all(made.has_many(range(100))) and not any(made.has_many(range(100, 201)))
    with pytest.raises(tamis.Error):
        tamis.Builder("fuse:capacity=10G", memory_limit=2**20)
    with pytest.raises(tamis.UnsupportedError):
        tamis.Builder("fuse").put("a", 1)
    with pytest.raises(tamis.Error):
        tamis.Builder("fuse").label("x")


def test_progress_and_stopping(tmp_path):
    said = []
    b = tamis.Builder("fuse", verify=True)
    b.update(range(10000))
    f = b.finish(progress=lambda *all: said.append(all))
    assert 5 in f and {stage for stage, _, _ in said} == {"sort", "build", "verify"} and all(done <= total for _, done, total in said)

    def stop(stage, done, total):
        raise LookupError("enough")
    b = tamis.Builder("ribbon")
    b.update(range(10000))
    with pytest.raises(LookupError, match="enough"):
        b.save(tmp_path / "r.tamis", progress=stop)
    assert not (tmp_path / "r.tamis").exists()
    b.save(tmp_path / "r.tamis")
    assert 9999 in tamis.Filter.map(tmp_path / "r.tamis")


def test_memory_limit_spills(tmp_path):
    b = tamis.Builder("fuse:capacity=300000", memory_limit=2**20 * 3, temp_dir=tmp_path)
    b.update(range(300000))
    assert all(b.finish().has_many(range(0, 300000, 100))) and list(tmp_path.iterdir()) == []


def test_every_kind_is_built():
    for kind in tamis.kinds():
        spec = spec_of(kind)
        if spec and "sketch" not in kind.abilities:
            f = tamis.Filter.build(range(300), spec)
            assert all(f.has_many(range(300))) or "may-forget" in f.info().abilities, spec
            assert f.kind == kind.name


def test_plans_kinds_formats():
    p = tamis.plan("fuse", capacity=10**6, fpr="1/256")
    assert p.kind == "fuse" and p.capacity == 10**6 and 8.5 < p.bits_per_key < 10 and "built" in p.abilities
    assert tamis.plan("blocked:capacity=1e12").payload_bytes > 10**12
    with pytest.raises(tamis.InvalidError):
        tamis.plan("blocked:capacity=x")
    names = [k.name for k in tamis.kinds()]
    assert {"blocked", "fuse", "guava"} <= set(names) and all(k.contract for k in tamis.kinds())
    assert {o.name for k in tamis.kinds() if k.name == "window" for o in k.options} >= {"by"}
    assert {"guava", "parquet"} <= {f.name for f in tamis.formats()}
    assert tamis.cpu() in ("plain", "avx2", "avx512", "neon") and tamis.__version__.count(".") == 2


def test_secrets():
    f = tamis.Filter("blocked:hash=sip13,key=outside,capacity=10", secret=b"0123456789abcdef")
    f.add("a")
    image = bytes(f)
    with pytest.raises(tamis.SecretError):
        tamis.Filter.from_bytes(image)
    with pytest.raises(tamis.SecretError):
        tamis.Filter.from_bytes(image, secret=b"0123456789abcdeX")
    assert "a" in tamis.Filter.from_bytes(image, secret=b"0123456789abcdef")


def test_every_status_has_a_class():
    from tamis import _errors
    assert sorted(_errors.BY_STATUS) == list(range(-19, 0))
    assert all(issubclass(c, tamis.Error) and c.__doc__ and c.__module__ == "tamis" and getattr(tamis, c.__name__) is c
               for c in _errors.BY_STATUS.values())
