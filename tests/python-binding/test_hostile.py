# SPDX-License-Identifier: MIT
"""Iterators that raise, change their list, call back, never end; threads; forks: exceptions, never a crash, never a lost key."""
import itertools
import os
import random
import threading

import pytest
import tamis

numpy = pytest.importorskip("numpy")


def raising(n, error):
    yield from range(n)
    raise error


def test_iterators_that_raise():
    for n in (0, 1, 1023, 1024, 1025, 5000):
        f = tamis.Filter(capacity=10000)
        with pytest.raises(LookupError, match="here"):
            f.update(raising(n, LookupError("here")))
        assert len(f) == n and all(f.has_many(range(n)))
        with pytest.raises(LookupError):
            f.has_many(raising(n, LookupError("here")))
        b = tamis.Builder("fuse")
        with pytest.raises(LookupError):
            b.update(raising(n, LookupError("here")))
        assert len(b.finish()) == n
    f = tamis.Filter("cuckoo:capacity=100")
    with pytest.raises(LookupError):
        f.update(raising(50, LookupError("here")))


def test_lists_that_change():
    f = tamis.Filter(capacity=100)
    keys = []

    class Growing:
        def __index__(self):
            keys.clear()
            return 7
    keys.extend([1, Growing(), 2, 3])
    f.update(keys)
    assert len(f) == 2 and 7 in f and 2 not in f

    class More:
        def __index__(self):
            if len(keys) < 3000:
                keys.append(More())
            return len(keys)
    keys[:] = [More()]
    f = tamis.Filter(capacity=10000)
    f.update(keys)
    assert len(f) == 3000


def test_iterators_that_use_the_filter():
    f = tamis.Filter(capacity=10000)

    def busy():
        for i in range(3000):
            f.add(-i - 1)
            assert (-i - 1) in f
            if i % 500 == 0:
                f.update([10**6 + i])
                bytes(f)
            yield i
    f.update(busy())
    assert all(f.has_many(range(-3000, 3000)))
    g = tamis.Filter(capacity=100)

    def clears():
        for i in range(2000):
            if i == 1500:
                g.clear()
            yield i
    g.update(clears())
    assert all(g.has_many(range(1500, 2000)))


def test_keys_that_die():
    """Objects that only the iterator knew."""
    f = tamis.Filter(capacity=20000)
    f.update(f"{i} is a text of its own" for i in range(10000))
    assert all(f.has_many(f"{i} is a text of its own" for i in range(10000)))
    f.update(bytearray(f"{i}".encode()) for i in range(5000))
    assert all(f.has_many([memoryview(f"{i}".encode()) for i in range(5000)]))


def test_endless_and_odd():
    f = tamis.Filter(capacity=1000)
    f.update(itertools.islice(itertools.count(), 1000))
    f.update({1: 2}.keys(), {5}, (6,), range(3))
    f.update()
    c = tamis.Filter("cuckoo:capacity=64")
    with pytest.raises(tamis.FullError):
        c.update(itertools.count())

    class Odd:
        def __iter__(self):
            return 5
    with pytest.raises(TypeError):
        f.update(Odd())

    class Liar:
        def __len__(self):
            return 2**62

        def __getitem__(self, i):
            if i > 9:
                raise IndexError
            return i + 5000
    f.update(Liar())
    assert all(f.has_many(range(5000, 5010)))


def test_arrays_that_change_size():
    keys = numpy.arange(10)
    f = tamis.Filter(capacity=100)
    f.update(keys)
    b = bytearray(80)
    f.update(memoryview(b).cast("q"))
    b.append(1)


def in_threads(*calls):
    errors = []

    def run(call):
        try:
            call()
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []


def test_threads_that_add():
    for spec in ("blocked:capacity=200000", "quotient:capacity=200000", "scalable:capacity=1000", "counting:capacity=200000"):
        f = tamis.Filter(spec)

        def add(part, f=f):
            f.update(numpy.arange(part * 20000, part * 20000 + 10000))
            f.update(list(range(part * 20000 + 10000, part * 20000 + 15000)))
            for key in range(part * 20000 + 15000, part * 20000 + 16000):
                f.add(key)

        def ask(f=f):
            for _ in range(20):
                f.has_many(numpy.arange(100000))
                5 in f
                bytes(f), f.copy(), f.info(), len(f)
        in_threads(*(lambda part=part: add(part) for part in range(4)), ask, ask)
        assert len(f) == 64000, spec
        assert all(f.has_many([part * 20000 + i for part in range(4) for i in range(16000)]))


def test_threads_that_join_filters():
    """Pairs in both orders do not wait for each other for ever."""
    a, b = tamis.Filter(capacity=100000), tamis.Filter(capacity=100000)
    a.update(range(1000))
    b.update(range(1000, 2000))
    numbers = numpy.arange(50000)

    def joins(x, y):
        for _ in range(12):  # items may double with each, and have 64 bits
            x |= y
        for _ in range(100):
            x == y
            tamis.overlap(x, y)
            x | y
    in_threads(lambda: joins(a, b), lambda: joins(b, a), lambda: joins(a, a), lambda: [a.update(numbers) for _ in range(20)])
    assert all(a.has_many(range(2000)))


def test_threads_and_builders():
    b = tamis.Builder("fuse", threads=2)
    in_threads(*(lambda part=part: b.update(range(part * 10000, part * 10000 + 10000)) for part in range(4)))
    f = b.finish()
    assert len(f) == 40000 and all(f.has_many(range(40000)))


def test_one_writer_at_a_time():
    """While a builder finishes, who adds to it waits: however long the other thread is given."""
    b = tamis.Builder("fuse")
    b.update(range(5000))
    order = []

    def add():
        try:
            b.add(5)
        except tamis.Error:
            pass
        order.append("added")

    def progress(stage, done, total):
        if not order:
            order.append("began")
            threads.append(threading.Thread(target=add))
            threads[0].start()
        threads[0].join(0.01)
        order.append("within")
    threads = []
    b.finish(progress=progress)
    order.append("finished")
    threads[0].join()
    assert order.index("added") > max(i for i, word in enumerate(order) if word == "within"), order


def test_fork_while_a_builder_finishes():
    """Half a change is no state to go on with: the child gets an exception, and does not wait for a thread that it has not."""
    b = tamis.Builder("fuse")
    b.update(range(1000))
    codes = []

    def progress(stage, done, total):
        if codes:
            return
        child = os.fork()
        if child == 0:
            try:
                b.add(5)
                os._exit(1)
            except RuntimeError as error:
                os._exit(0 if "forked" in str(error) else 2)
        codes.append(os.waitpid(child, 0)[1])
    assert 7 in b.finish(progress=progress) and codes == [0]


def test_threads_that_change_the_list():
    keys = [f"key {i}" for i in range(5000)]
    stop = threading.Event()

    def shuffle():
        dice = random.Random(1)
        while not stop.is_set():
            keys[dice.randrange(len(keys))] = f"key {dice.randrange(5000)}"
            keys.append(keys.pop())
    t = threading.Thread(target=shuffle)
    t.start()
    try:
        for _ in range(20):
            f = tamis.Filter(capacity=10000)
            f.update(keys)
            assert 4990 <= len(f) <= 5010
    finally:
        stop.set()
        t.join()


def test_fork_while_threads_work():
    f = tamis.Filter(capacity=10**6)
    numbers = numpy.arange(200000)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            f.update(numbers)
            f.has_many(numbers)
    t = threading.Thread(target=work)
    t.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                try:
                    f.add(5)
                    code = 0 if 5 in f else 1
                except RuntimeError as error:
                    code = 0 if "forked" in str(error) else 1
                os._exit(code)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        t.join()


def test_a_truth_that_raises_is_passed_on(tmp_path):
    class Liar:
        def __bool__(self):
            raise ZeroDivisionError

    path = str(tmp_path / "f.tamis")
    tamis.Filter(capacity=10).save(path)
    with pytest.raises(ZeroDivisionError):
        tamis.Filter.map(path, trusted=Liar())
