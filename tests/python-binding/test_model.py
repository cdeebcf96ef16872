# SPDX-License-Identifier: MIT
"""Sets and multisets: random programs over every kind, beside a set or a Counter."""
from collections import Counter

import pytest
import tamis
from conftest import kinds_with
from hypothesis import given
from hypothesis import strategies as st

INTS = st.integers(-2**63, 2**64 - 1)
WORDS = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.binary(max_size=20))
KEYS = st.one_of(st.lists(INTS, max_size=40), st.lists(WORDS.filter(len), max_size=40))


def norm(key):
    return key % 2**64 if isinstance(key, int) else key.encode() if isinstance(key, str) else key


@pytest.mark.parametrize("spec", list(kinds_with("add", without=("sketch", "may-forget", "ages"))))
def test_sets(spec):
    @given(st.lists(st.tuples(st.sampled_from(["add", "update", "tuple", "copy", "bytes", "merge", "ask"]), st.lists(st.integers(0, 300), max_size=9)),
                    max_size=12))
    def programs(steps):
        f, model = tamis.Filter(spec), set()
        can_merge = "merge" in f.info().abilities
        for step, keys in steps:
            if len(model) + len(keys) > 100 or step == "merge" and (model & set(keys) or len(set(keys)) < len(keys)):
                continue
            if "iblt" in spec:
                keys = [key for key in dict.fromkeys(keys) if key not in model]
            if step == "add":
                for key in keys:
                    f.add(key)
            elif step == "update":
                f.update(keys)
            elif step == "tuple":
                f.update(tuple(keys), iter([]))
            elif step == "copy":
                f = f.copy()
                f.update(keys)
            elif step == "bytes":
                f = tamis.Filter.from_bytes(bytes(f))
                f.update(keys)
            elif step == "merge" and can_merge:
                other = tamis.Filter(spec)
                other.update(keys)
                f |= other
            if step != "ask" and (step != "merge" or can_merge):
                model |= set(keys)
            asked = list(model) + [10**6 + i for i in range(20)]
            answers = f.has_many(asked)
            assert answers == [key in f for key in asked]
            assert all(answers[:len(model)])
    programs()


@pytest.mark.parametrize("spec", list(kinds_with("add", "remove", "count", without=("sketch", "may-forget"))))
def test_multisets(spec):
    once = "adds-once" in tamis.plan(spec).abilities

    @given(st.lists(st.tuples(st.sampled_from(["add", "remove", "discard"]), st.integers(0, 12)), max_size=60))
    def programs(steps):
        f, model = tamis.Filter(spec), Counter()
        for step, key in steps:
            if step == "add" and model[key] < 3 and not (once and model[key]):
                f.add(key)
                model[key] += 1
            elif step != "add" and model[key]:
                (f.remove if step == "remove" else f.discard)(key)
                model[key] -= 1
        for key in range(12):
            assert f.count(key) >= model[key] and (not model[key] or key in f)
        assert f.count_many(range(12)) == [f.count(key) for key in range(12)]
    programs()


@given(KEYS)
def test_any_keys(keys):
    f = tamis.Filter("classic:capacity=100,fpr=1e-9")
    f.update(keys)
    one_by_one = tamis.Filter("classic:capacity=100,fpr=1e-9")
    for key in keys:
        one_by_one.add(key)
    assert f == one_by_one and all(f.has_many(keys)) and all(key in f for key in keys)
    raw = tamis.Filter("classic:capacity=100,fpr=1e-9")
    raw.update([norm(key).to_bytes(8, "little") if isinstance(key, int) else norm(key) for key in keys])
    assert raw.payload() == f.payload()
    assert len({f.hash(key) for key in keys}) == len({norm(key) for key in keys})
    built = tamis.Filter.build(keys, "fuse:fpr=1e-6")
    assert len(built) == len({norm(key) for key in keys}) and all(built.has_many(keys))


@given(st.dictionaries(INTS, st.integers(0, 2**20 - 1), max_size=50))
def test_maps(pairs):
    model = {norm(key): value for key, value in pairs.items()}
    b = tamis.Builder("bloomier:value=20")
    b.put_many(model)
    m = b.finish()
    assert m.get_many(list(model)) == list(model.values()) and all(m[key] == value for key, value in model.items())


@given(st.dictionaries(st.sampled_from("abcdef"), st.sets(st.integers(0, 30), min_size=1), max_size=6))
def test_labels(sets):
    b = tamis.Builder("labels:fpr=1e-6")
    for label, keys in sets.items():
        b.label(label)
        b.update(keys)
    f = b.finish()
    for key in range(31):
        assert f.which(key) == [name for name in f.labels if key in sets[name]]
