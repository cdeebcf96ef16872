# SPDX-License-Identifier: MIT
"""What is a key, which are one key, and what can never be one is refused: in single calls and in batches alike."""
import array
import ctypes
import datetime
import decimal
import enum
import struct
import uuid

import pytest
import tamis

MANY = [-2**63, -1, 0, 1, 255, 2**31, 2**32, 2**63 - 1]


class Colour(enum.IntEnum):
    RED = 7


class Seven:
    def __index__(self):
        return 7


class Text(str):
    """A str of a user."""


def test_ints_are_eight_bytes():
    f = tamis.Filter("classic:capacity=100,fpr=1e-9")
    f.update(MANY)
    raw = tamis.Filter("classic:capacity=100,fpr=1e-9")
    raw.update([struct.pack("<q", n) for n in MANY])
    assert f.payload() == raw.payload()
    assert 2**64 - 1 in f and 2**63 in f and 2**64 - 2 not in f, "-1 is 2**64-1"


def test_equal_keys():
    f = tamis.Filter(capacity=100)
    f.add(Seven())
    assert 7 in f and Colour.RED in f and f.has_many([7, Colour.RED, Seven()]) == [True] * 3
    g = tamis.Filter(capacity=100)
    g.add("käse")
    for same in ("käse".encode(), bytearray("käse".encode()), memoryview("käse".encode()), Text("käse"),
                 array.array("B", "käse".encode()), memoryview(b"k.\xc3.\xa4.s.e.")[::2], (ctypes.c_ubyte * 5)(*"käse".encode())):
        assert same in g and g.has_many([same]) == [True], same


@pytest.mark.parametrize("bad", [1.0, None, (1,), True, False, [1], {1: 2}, decimal.Decimal(1), datetime.date(2020, 1, 1), uuid.UUID(int=1),
                                 1j, object(), array.array("i", [1]), memoryview(b"abcd").cast("i"), type, float("nan")])
def test_others_are_refused(bad):
    empty, number, text = tamis.Filter(capacity=10), tamis.Filter(capacity=10), tamis.Filter(capacity=10)
    number.add(1)
    text.add("1")
    for f in (empty, number, text):
        before = bytes(f)
        for call in (lambda: bad in f, lambda: f.add(bad), lambda: f.update([bad]), lambda: f.has_many([bad]), lambda: f.count(bad),
                     lambda: f.hash(bad), lambda: tamis.Builder("fuse").add(bad), lambda: f.add_new(bad), lambda: f.update(iter([bad]))):
            with pytest.raises(TypeError, match="is not a key: a key is a str|is never one of them"):
                call()
        assert bytes(f) == before


@pytest.mark.parametrize("large", [2**64, -2**63 - 1, 10**30, -10**30])
def test_large_ints_are_refused(large):
    f = tamis.Filter(capacity=10)
    for call in (lambda: large in f, lambda: f.add(large), lambda: f.update([large]), lambda: f.has_many([1, large])):
        with pytest.raises(OverflowError, match="too large for a key"):
            call()
    assert f.notes == {}


def test_lone_surrogates():
    f = tamis.Filter(capacity=10)
    for call in (lambda: "\udc80" in f, lambda: f.add("\udc80"), lambda: f.update(["a", "\udc80"])):
        with pytest.raises(ValueError, match="os.fsencode"):
            call()
    assert "a" in f, "keys before the one that failed are in"


def test_an_error_in_an_index_is_not_hidden():
    class Broken:
        def __index__(self):
            raise LookupError("no")
    with pytest.raises(LookupError):
        Broken() in tamis.Filter(capacity=1)


def test_the_first_key_decides():
    for key, note in ((5, "int64"), ("5", "utf8"), (b"5", "bytes"), (bytearray(b"5"), "bytes")):
        for add in (lambda f: f.add(key), lambda f: f.update([key]), lambda f: f.add_new(key), lambda f: f.update(iter([key]))):
            f = tamis.Filter(capacity=10)
            assert f.notes == {} and key not in f and f.notes == {}, "asking sets no note"
            add(f)
            assert f.notes == {"encoding": note}
    f = tamis.Filter(capacity=10)
    f.update(["a", b"b"])
    assert f.has_many([b"a", "b", "c"]) == [True, True, False] and f.notes == {"encoding": "utf8"}


@pytest.mark.parametrize("first, others", [(1, ["1", b"1"]), ("1", [1]), (b"1", [1])])
def test_a_quiet_no_is_an_error(first, others):
    f = tamis.Filter(capacity=10)
    f.add(first)
    for other in others:
        for call in (lambda: other in f, lambda: f.has_many([other]), lambda: f.add(other), lambda: f.has_many([first, other]),
                     lambda: f.update([first, other]), lambda: f.count(other), lambda: f.discard(other), lambda: f.add_times(other, 2)):
            with pytest.raises(TypeError, match="is never one of them"):
                call()


def test_mixed_lists_into_an_empty_filter():
    for keys in ([1, "a"], ["a", 1], [b"a", 1]):
        f = tamis.Filter(capacity=10)
        with pytest.raises(TypeError, match="is never one of them"):
            f.update(keys)
        assert keys[0] in f and len(f) == 1
        assert tamis.Filter(capacity=10).has_many([1, "a", b"b", 2]) == [False] * 4, "an empty filter has none of them"


def test_a_failed_add_sets_no_note():
    f = tamis.Filter("blocked:capacity=10")
    with pytest.raises(tamis.UnsupportedError):
        f.put("a", 1)
    assert f.notes == {}


ENCODED = {"int32": struct.Struct("<i"), "uint32": struct.Struct("<I"), "int32be": struct.Struct(">i"), "uint32be": struct.Struct(">I"),
           "int64be": struct.Struct(">q"), "uint64be": struct.Struct(">Q"), "int64": struct.Struct("<q"), "uint64": struct.Struct("<Q")}


@pytest.mark.parametrize("encoding", ENCODED)
def test_integers_of_other_encodings(encoding):
    raw = tamis.Filter("classic:capacity=100,fpr=1e-9")
    raw.update([ENCODED[encoding].pack(n) for n in (0, 1, 77, 2**31 - 1)])
    raw.set_note("encoding", encoding)
    assert raw.has_many([0, 1, 77, 2**31 - 1, 2]) == [True] * 4 + [False] and 77 in raw and raw.count(78) == 0
    mine = tamis.Filter("classic:capacity=100,fpr=1e-9")
    mine.set_note("encoding", encoding)
    mine.update([0, 1])
    mine.add(77)
    mine.update(array.array("i", [2**31 - 1]))
    assert mine == raw
    if encoding.startswith(("int32", "uint32")):
        for large in (2**32, -2**31 - 1, 2**63):
            assert large not in raw and raw.has_many([large, 77]) == [False, True]
            assert raw.has_many(array.array("Q", [2**32 + 77, 77])).tolist() == [False, True]
            with pytest.raises(OverflowError, match=encoding):
                raw.add(large)
            with pytest.raises(OverflowError, match=encoding):
                raw.update([large])
        with pytest.raises(tamis.InvalidError):
            raw.update(array.array("Q", [2**40]))
    if encoding == "uint64be":
        assert -1 not in raw
        with pytest.raises(OverflowError):
            raw.add(-1)
    with pytest.raises(TypeError, match=encoding):
        "77" in raw


@pytest.mark.parametrize("encoding, code", [("double", "<d"), ("float", "<f"), ("doublebe", ">d"), ("floatbe", ">f")])
def test_floats_where_the_note_says_so(encoding, code):
    raw = tamis.Filter("classic:capacity=100,fpr=1e-9")
    raw.update([struct.pack(code, x) for x in (0.0, 0.5, -2.25)])
    raw.set_note("encoding", encoding)
    assert raw.has_many([0.0, -0.0, 0.5, -2.25, 3.5]) == [True] * 4 + [False] and 0.5 in raw
    if encoding.startswith("float"):
        assert 0.1 not in raw
        with pytest.raises(OverflowError):
            raw.add(0.1)
    for bad in (1, "0.5", True):
        with pytest.raises(TypeError):
            bad in raw


@pytest.mark.parametrize("encoding, text, raw", [("hex", "dead", b"\xde\xad"), ("base64", "3q0=", b"\xde\xad"), ("utf16", "dé", "dé".encode("utf-16-le")),
                                                 ("uuid", "00000000-0000-0000-0000-000000000001", uuid.UUID(int=1).bytes)])
def test_texts_of_other_encodings(encoding, text, raw):
    f = tamis.Filter("classic:capacity=100,fpr=1e-9")
    f.add(raw)
    f.set_note("encoding", encoding)
    assert text in f and f.has_many([text]) == [True]
    if encoding != "utf16":
        assert raw in f
        with pytest.raises(ValueError):
            "no digits!" in f
        with pytest.raises(ValueError):
            f.update(["no digits!"])
        for i in range(100):
            with pytest.raises(ValueError, match="."):
                "z" * i + "日本語" * 30 in f
    with pytest.raises(TypeError, match=encoding):
        1 in f


def test_files_without_a_note():
    raw = tamis.Filter(capacity=10)
    raw.add("7")
    raw.set_note("encoding", None)
    assert "7" in raw and b"7" in raw
    with pytest.raises(TypeError, match="set_note"):
        7 in raw
    raw.set_note("encoding", "int64")
    assert 7 not in raw


def test_canon_and_unknown_encodings():
    f = tamis.Filter(capacity=10)
    f.add("a")
    f.set_note("canon", "lower")
    with pytest.raises(TypeError, match="canon"):
        "a" in f
    f.set_note("canon", None)
    f.set_note("encoding", "morse")
    with pytest.raises(TypeError, match="morse"):
        "a" in f
    with pytest.raises(tamis.Error):
        f.set_note("Bad Name", "x")
