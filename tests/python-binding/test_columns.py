# SPDX-License-Identifier: MIT
"""Arrays and columns of all libraries: the same keys as a list of them, nulls honoured, answers in the caller's library."""
import array
import itertools

import pytest
import tamis

numpy = pytest.importorskip("numpy")
NUMBERS = [0, 1, 5, 77, 100, 127]
TEXTS = ["", "a", "bb", "exactly12byt", "a text of more than twelve bytes", "käse", "日本語"]


def filter_of(keys):
    f = tamis.Filter("classic:capacity=1000,fpr=1e-9")
    f.update(list(keys))
    return f


def as_list(answers):
    return answers.tolist() if hasattr(answers, "tolist") else answers.to_pylist() if hasattr(answers, "to_pylist") else list(answers)


def both_ways(column, keys):
    """A column that is added makes the bytes of its list; asked, it has its keys and no others."""
    added = tamis.Filter("classic:capacity=1000,fpr=1e-9")
    added.update(column)
    assert added == filter_of(keys)
    builder = tamis.Builder("fuse:fpr=1e-9")
    builder.update(column)
    assert all(builder.finish().has_many(keys))
    assert as_list(filter_of(keys[::2]).has_many(column)) == [i % 2 == 0 for i in range(len(keys))]


# ---- Buffers


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", ">i4", ">u8", "O"])
def test_numpy_integers(dtype):
    both_ways(numpy.array(NUMBERS, dtype), NUMBERS)


def test_signs():
    for dtype in ("i1", "i2", "i4", "i8"):
        both_ways(numpy.array([-1, -128, 0, 127], dtype), [-1, -128, 0, 127])
    both_ways(numpy.array([2**64 - 1, 2**63], "u8"), [2**64 - 1, 2**63])
    both_ways(numpy.array([2**32 - 1, 2**31], "u4"), [2**32 - 1, 2**31])


@pytest.mark.parametrize("slices", [slice(None, None, 2), slice(None, None, -1), slice(3, None), slice(0, 0)])
def test_strides(slices):
    for dtype in ("i8", "u4", "S3"):
        whole = numpy.arange(100).astype(dtype)
        both_ways(whole[slices], [bytes(x) if dtype == "S3" else int(x) for x in whole[slices]])
    square = numpy.arange(64, dtype="u1").reshape(8, 8)
    both_ways(square[slices], [bytes(row) for row in square[slices]])
    both_ways(numpy.arange(99, dtype="u1")[3:].view("u8"), [int(x) for x in numpy.arange(99, dtype="u1")[3:].view("u8")])


def test_numpy_bytes_and_texts():
    both_ways(numpy.array([b"a", b"bb", b"", b"a\0b", b"1234567890123456"]), [b"a", b"bb", b"", b"a\0b", b"1234567890123456"])
    both_ways(numpy.array([b"1234", b"ab\0d"], "V4"), [b"1234", b"ab\0d"])
    both_ways(numpy.array(TEXTS), TEXTS)
    both_ways(numpy.array(TEXTS, object), TEXTS)


def test_answers_of_numpy():
    got = filter_of([1, 2]).has_many(numpy.arange(4))
    assert type(got) is numpy.ndarray and got.dtype == bool and got.tolist() == [False, True, True, False]
    counted = tamis.Filter("counting:capacity=10,fpr=1e-6")
    counted.update([3, 3, 1])
    got = counted.count_many(numpy.arange(4))
    assert got.dtype == numpy.uint64 and got.tolist() == [0, 1, 0, 2]
    b = tamis.Builder("bloomier:value=32")
    b.put_many({1: 10, 2: 20})
    got = b.finish().get_many(numpy.array([2, 1]))
    assert got.tolist() == [20, 10]
    m = tamis.Filter("approximator:capacity=10,value=8,fpr=1e-6")
    m[1] = 5
    assert m.get_many(numpy.array([1, 2]), default=255).tolist() == [5, 255] and m.get_many(numpy.array([], "i8")).tolist() == []


def test_out():
    f = filter_of([1, 2])
    out = numpy.zeros(4, bool)
    assert f.has_many(numpy.arange(4), out) is out and out.tolist() == [False, True, True, False]
    raw = bytearray(3)
    assert f.has_many([1, 5, 2], out=raw) is raw and raw == b"\1\0\1"
    for bad in (bytearray(2), b"123", numpy.zeros(3, "i8"), 5, numpy.zeros((6,), bool)[::2]):
        with pytest.raises((ValueError, TypeError, BufferError)):
            f.has_many([1, 5, 2], out=bad)


@pytest.mark.parametrize("bad", [numpy.zeros(3), numpy.zeros(3, bool), numpy.zeros((2, 2), "i8"), numpy.array(5), numpy.array(["2020-01-01"], "M8[s]"),
                                 numpy.zeros(2, "f2"), numpy.zeros(2, "i8,i8"), numpy.array([None, 1], object)])
def test_arrays_of_no_keys(bad):
    f = tamis.Filter(capacity=10)
    for call in (f.update, f.has_many):
        with pytest.raises(TypeError):
            call(bad)
    assert len(f) == 0


def test_scalars_of_numpy():
    f = filter_of([7])
    assert numpy.int64(7) in f and numpy.uint8(7) in f and numpy.int32(8) not in f
    for bad in (numpy.float64(7), numpy.float32(7), numpy.bool_(True), numpy.datetime64("2020")):
        with pytest.raises(TypeError):
            bad in f
    assert numpy.bytes_(b"a") in filter_of(["a"]) and numpy.str_("a") in filter_of(["a"])


def test_other_buffers():
    both_ways(array.array("q", NUMBERS), NUMBERS)
    both_ways(memoryview(array.array("I", NUMBERS)), NUMBERS)
    both_ways(memoryview(bytes(NUMBERS)), NUMBERS)
    got = filter_of([1]).has_many(array.array("q", [1, 2]))
    assert type(got) is tamis.Column and list(got) == [True, False] and got[0] is True and len(got) == 2 and "1 true" in repr(got)
    assert bytes(memoryview(got)) == b"\1\0" and memoryview(got).format == "?" and got.valid() is None
    with pytest.raises(IndexError):
        got[2]
    with pytest.raises(TypeError):
        tamis.Column()


def test_single_keys_are_not_lists():
    for single in ("abc", b"abc", bytearray(b"abc")):
        with pytest.raises(TypeError, match="is one key"):
            tamis.Filter(capacity=10).update(single)
    with pytest.raises(TypeError, match="merge"):
        tamis.Filter(capacity=10).update(filter_of([1]))
    for bad in (5, None, 1.5):
        with pytest.raises(TypeError):
            tamis.Filter(capacity=10).update(bad)


# ---- Arrow


def arrow_types(pa):
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        yield getattr(pa, name)(), NUMBERS
    for name in ("string", "large_string", "string_view"):
        yield getattr(pa, name)(), TEXTS
    for name in ("binary", "large_binary", "binary_view"):
        yield getattr(pa, name)(), [t.encode() for t in TEXTS]
    yield pa.binary(4), [b"1234", b"abcd", b"a\0\0b"]
    yield pa.dictionary(pa.int8(), pa.string()), TEXTS
    yield pa.dictionary(pa.uint32(), pa.int64()), NUMBERS


def test_arrow_types():
    pa = pytest.importorskip("pyarrow")
    for kind, keys in arrow_types(pa):
        values = pa.array(keys, pa.binary()).cast(kind) if str(kind) == "binary_view" else pa.array(keys, kind)
        both_ways(values, keys)
        for start, stop in itertools.combinations(range(len(keys) + 1), 2):
            both_ways(values.slice(start, stop - start), keys[start:stop])
        both_ways(pa.chunked_array([values[:2], values[2:2], values[2:]], values.type), keys)


def test_nulls_of_arrow():
    pa = pytest.importorskip("pyarrow")
    for kind, keys in arrow_types(pa):
        if str(kind) == "binary_view":
            continue
        holed = [None, *itertools.chain(*((key, None) for key in keys))]
        values = pa.array(holed, kind)
        for start in (0, 1, 2, 3):
            part = values.slice(start)
            rest = [key for key in holed[start:] if key is not None]
            added = tamis.Filter("classic:capacity=1000,fpr=1e-9")
            added.update(part)
            assert added == filter_of(rest), kind
            got = filter_of(rest[1:]).has_many(part)
            assert isinstance(got, pa.BooleanArray)
            assert got.to_pylist() == [None if key is None else key != rest[0] for key in holed[start:]]
    f = filter_of(["a"])
    assert f.has_many(pa.nulls(3)).to_pylist() == [None] * 3
    f.update(pa.nulls(3))
    assert len(f) == 1
    null_in_dictionary = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array(["a", None]))
    assert f.has_many(null_in_dictionary).to_pylist() == [True, None, None, True]


def test_large_columns_of_arrow():
    pa = pytest.importorskip("pyarrow")
    keys = [f"key {i}" * (i % 5) for i in range(5000)]
    values = pa.array([key if i % 7 else None for i, key in enumerate(keys)])
    f = tamis.Filter.build([key for i, key in enumerate(keys) if i % 2], fpr=1e-9)
    inside = {key for i, key in enumerate(keys) if i % 2}
    assert f.has_many(values).to_pylist() == [(key in inside) if i % 7 else None for i, key in enumerate(keys)]


def test_columns_without_keys():
    pa = pytest.importorskip("pyarrow")
    f = tamis.Filter(capacity=10)
    for bad in (pa.array([1.5]), pa.array([True]), pa.array([[1]]), pa.table({"a": [1]}), pa.array([1], pa.timestamp("s")), pa.array([{"a": 1}])):
        with pytest.raises(TypeError, match="holds no keys|is not a key"):
            f.update(bad)
    assert len(f) == 0 and f.has_many(pa.array([], pa.int64())).to_pylist() == []
    with pytest.raises(TypeError, match="never one of them"):
        filter_of([1]).has_many(pa.array(["1"]))


def test_arrow_of_other_encodings():
    pa = pytest.importorskip("pyarrow")
    f = filter_of([b"\0\0\0\7"])
    f.set_note("encoding", "int32be")
    assert f.has_many(pa.array([7, None, 2**40, 8])).to_pylist() == [True, None, False, False]
    g = filter_of([b"\xde\xad"])
    g.set_note("encoding", "hex")
    assert g.has_many(pa.array(["dead", None, "beef"])).to_pylist() == [True, None, False]
    with pytest.raises(tamis.InvalidError):
        g.has_many(pa.array(["dead", "not hex"]))


def test_answers_as_arrow():
    pa = pytest.importorskip("pyarrow")
    m = tamis.Filter("approximator:capacity=10,value=8,fpr=1e-6")
    m["a"] = 5
    got = m.get_many(pa.array(["a", None, "b"]))
    assert got.type == pa.uint64() and got.to_pylist() == [5, None, None]
    column = filter_of([1]).has_many(array.array("q", range(70)))
    assert pa.array(column).to_pylist() == [i == 1 for i in range(70)] and pa.array(column).null_count == 0
    schema, made = column.__arrow_c_array__(None)
    del schema, made  # nobody took them


class Broken:
    """Offers Arrow, and does not have it."""

    def __init__(self, made):
        self.made = made

    def __arrow_c_array__(self, requested_schema=None):
        if isinstance(self.made, BaseException):
            raise self.made
        return self.made

    def __iter__(self):
        return iter([1, 2])


def test_broken_arrow():
    f = tamis.Filter(capacity=10)
    for made in (None, 5, (), (1, 2), (1, 2, 3)):
        with pytest.raises((TypeError, ValueError)):
            f.update(Broken(made))
    with pytest.raises(LookupError):
        f.update(Broken(LookupError("no")))
    f.update(Broken(ImportError("no pyarrow")))
    assert len(f) == 2, "what else it is"


def test_failing_stream():
    pa = pytest.importorskip("pyarrow")

    def batches():
        yield pa.record_batch({"k": [1, 2]})
        raise LookupError("the disk is gone")
    reader = pa.RecordBatchReader.from_batches(pa.schema({"k": pa.int64()}), batches())
    with pytest.raises(TypeError, match="one column"):
        tamis.Filter(capacity=10).update(reader)


# ---- Polars and pandas


def test_polars():
    pl = pytest.importorskip("polars")
    for kind, keys in ((pl.String, TEXTS), (pl.Int64, NUMBERS), (pl.UInt8, NUMBERS), (pl.Binary, [t.encode() for t in TEXTS]), (pl.Categorical, TEXTS)):
        both_ways(pl.Series(keys, dtype=kind), keys)
    frame = pl.DataFrame({"k": ["a", None, "c", "zz"]})
    f = filter_of(["a", "c"])
    got = f.has_many(frame["k"])
    assert isinstance(got, pl.Series) and got.to_list() == [True, None, True, False]
    assert frame.filter(got)["k"].to_list() == ["a", "c"]
    with pytest.raises(TypeError):
        f.has_many(frame)


def test_pandas():
    pd = pytest.importorskip("pandas")
    for kind, keys in (("int64", NUMBERS), ("uint8", NUMBERS), ("Int64", NUMBERS), ("string", TEXTS), ("object", TEXTS), ("category", TEXTS)):
        both_ways(pd.Series(keys, dtype=kind), keys)
    frame = pd.DataFrame({"k": ["a", "b", "c"]}, index=[7, 8, 9])
    f = filter_of(["a", "c"])
    assert list(frame[f.has_many(frame["k"])]["k"]) == ["a", "c"]
    assert f.has_many(pd.Series(["a", None], dtype="string")).tolist() == [True, False]
    assert list(f.has_many(pd.Index(["a", "b"]))) == [True, False]
