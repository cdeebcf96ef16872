# SPDX-License-Identifier: MIT
"""Images: saved, mapped, viewed, pickled, shared between processes; damaged ones are refused; other systems' files."""
import glob
import multiprocessing
import os
import pickle
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory

import pytest
import tamis
from conftest import kinds_with, spec_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def some(n=1000):
    f = tamis.Filter(capacity=n)
    f.update(range(n))
    return f


def test_every_kind_there_and_back(tmp_path):
    for kind in tamis.kinds():
        spec = spec_of(kind)
        if not spec:
            continue
        f = tamis.Filter.build(range(200), spec)
        f.set_note("comment", "käse")
        path = tmp_path / f"{kind.name}.tamis"
        f.save(path)
        image = path.read_bytes()
        assert image == bytes(f) == bytes(memoryview(f))
        for other in (tamis.Filter.read(path), tamis.Filter.map(path), tamis.Filter.from_bytes(image), tamis.Filter.view(image),
                      tamis.Filter.from_bytes(bytearray(image)), tamis.Filter.map(str(path), trusted=True), f.copy(),
                      *(pickle.loads(pickle.dumps(f, n)) for n in range(pickle.HIGHEST_PROTOCOL + 1))):
            assert other == f and other.notes["comment"] == "käse" and other.spec == f.spec, spec
            if "sketch" not in kind.abilities:
                assert other.has_many(range(400)) == f.has_many(range(400))


def test_maps_are_read_only(tmp_path):
    f = some()
    f.save(tmp_path / "f")
    for other in (tamis.Filter.map(tmp_path / "f"), tamis.Filter.view(bytes(f))):
        for change in (lambda: other.add(5), lambda: other.update([5]), lambda: other.merge(f), other.clear, lambda: other.set_note("a", "b")):
            with pytest.raises(tamis.ReadOnlyError):
                change()
        assert other.info().is_view and other == f
        twin = other.copy()
        twin.add(10**9)
        assert 10**9 in twin and not twin.info().is_view
    assert tamis.Filter.map(tmp_path / "f").path == str(tmp_path / "f") and f.path is None
    empty = tamis.Filter(capacity=5)
    empty.save(tmp_path / "empty")
    with pytest.raises(tamis.ReadOnlyError):
        tamis.Filter.map(tmp_path / "empty").add("x")


def test_a_saved_file_replaces(tmp_path):
    some().save(tmp_path / "f")
    mapped = tamis.Filter.map(tmp_path / "f")
    some(10).save(str(tmp_path / "f").encode())
    assert mapped == some() and tamis.Filter.read(tmp_path / "f") == some(10)


def test_views_keep_their_bytes():
    image = bytes(some())
    before = sys.getrefcount(image)
    f = tamis.Filter.view(image)
    assert sys.getrefcount(image) > before
    del f
    assert sys.getrefcount(image) == before
    with pytest.raises(ValueError, match="toreadonly"):
        tamis.Filter.view(bytearray(image))
    backing = bytearray(image)
    f = tamis.Filter.view(memoryview(backing).toreadonly())
    with pytest.raises(BufferError):
        backing.append(0)
    assert 5 in f


def test_buffers_of_images():
    f = some()
    view = memoryview(f)
    f.add(10**9)
    assert bytes(view) == bytes(some()) and view.readonly and view.format == "B"
    out_of_band = []
    data = pickle.dumps(f, 5, buffer_callback=out_of_band.append)
    assert len(data) < 200 and pickle.loads(data, buffers=out_of_band) == f


def test_files_that_are_not(tmp_path):
    for call in (tamis.Filter.read, tamis.Filter.map):
        with pytest.raises(tamis.FileError, match="nosuch"):
            call(tmp_path / "nosuch")
        with pytest.raises(OSError):
            call(tmp_path)
        with pytest.raises((TypeError, ValueError)):
            call(5 if call == tamis.Filter.map else 1.5)
        with pytest.raises(ValueError):
            call("a\0b")
        with pytest.raises(TypeError):
            call(tmp_path / "x", colour=5)
    with pytest.raises(tamis.FileError):
        some().save(tmp_path / "no" / "dir")
    with pytest.raises(TypeError):
        some().save(5.0)


def test_hostile_bytes():
    """Every cut, and many flipped bits and random bytes: refused, or a filter with the same image."""
    dice = random.Random(1)
    for spec in ("blocked:capacity=50", "fuse", "cuckoo:capacity=50", "labels", "bloomier:value=8"):
        image = bytes(tamis.Filter.build(range(50), spec))
        for cut in range(0, len(image), 7):
            with pytest.raises(tamis.Error):
                tamis.Filter.from_bytes(image[:cut])
        for _ in range(300):
            bad = bytearray(image)
            bad[dice.randrange(len(bad))] ^= 1 << dice.randrange(8)
            for load in (tamis.Filter.from_bytes, lambda data: tamis.Filter.view(bytes(data))):
                with pytest.raises(tamis.Error) as caught:
                    load(bad)
                assert caught.value.status in (-5, -6, -8), str(caught.value)
    for n in range(0, 400, 13):
        with pytest.raises(tamis.Error):
            tamis.Filter.from_bytes(dice.randbytes(n))
    with pytest.raises(TypeError):
        tamis.Filter.from_bytes("text")
    with pytest.raises(tamis.TooLargeError):
        tamis.Filter.from_bytes(bytes(some()), max_bytes=100)


def test_golden_images():
    """Images of the repository, good and bad."""
    good = sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "*.tamis")))
    assert len(good) > 20
    for path in good:
        try:
            f = tamis.Filter.read(path)
        except tamis.SecretError:
            continue
        with open(path, "rb") as file:
            assert bytes(f) == file.read(), path
    for path in glob.glob(os.path.join(ROOT, "tests", "golden-bad", "*.tamis")):
        with pytest.raises(tamis.Error):
            tamis.Filter.read(path)


# ---- Other processes


def ask(f, keys):
    return f.has_many(keys), os.getpid(), f.path


def attach(name, size, keys):
    memory = shared_memory.SharedMemory(name)
    try:
        view = memory.buf[:size].toreadonly()
        f = tamis.Filter.view(view)
        answers = f.has_many(keys)
        del f
        view.release()
        return answers
    finally:
        memory.close()


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_other_processes(way, tmp_path):
    f = some()
    f.save(tmp_path / "f")
    mapped = tamis.Filter.map(tmp_path / "f")
    here = f.has_many(range(2000))
    with ProcessPoolExecutor(2, multiprocessing.get_context(way)) as pool:
        for filter_, path in ((f, None), (mapped, str(tmp_path / "f"))):
            answers, process, its_path = pool.submit(ask, filter_, range(2000)).result(60)
            assert answers == here and process != os.getpid() and its_path == path
        memory = shared_memory.SharedMemory(create=True, size=len(bytes(f)))
        try:
            memory.buf[:len(bytes(f))] = bytes(f)
            assert pool.submit(attach, memory.name, len(bytes(f)), range(2000)).result(60) == here
        finally:
            memory.close()
            memory.unlink()


def test_fork_of_a_map(tmp_path):
    some().save(tmp_path / "f")
    f = tamis.Filter.map(tmp_path / "f")
    child = os.fork()
    if child == 0:
        os._exit(0 if f.has_many([5, 10**9]) == [True, False] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_pickle_of_a_map_without_its_file(tmp_path):
    some().save(tmp_path / "f")
    data = pickle.dumps(tamis.Filter.map(tmp_path / "f"))
    assert len(data) < 300
    os.unlink(tmp_path / "f")
    with pytest.raises(tamis.FileError):
        pickle.loads(data)


# ---- Other systems


def test_formats_there_and_back(tmp_path):
    for spec, name in (("guava:capacity=1000", "guava"), ("redisbloom:capacity=1000", "redisbloom"), ("hadoop:capacity=1000", "hadoop")):
        f = tamis.Filter(spec)
        f.update(["a", "b"])
        data = f.export(name)
        (tmp_path / name).write_bytes(data)
        g = tamis.Filter.read(tmp_path / name, format=name)
        assert g.has_many(["a", "b", "c"]) == [True, True, False] and g.export(name) == data and g.notes["origin"].startswith(name)
        n = tamis.Filter.import_bytes(data, name, keys="int64")
        assert n.notes["encoding"] == "int64"
        with pytest.raises(TypeError):
            "a" in n
        with pytest.raises(tamis.Error):
            tamis.Filter.import_bytes(data[:-1], name)
    with pytest.raises(tamis.Error, match="nosuch"):
        tamis.Filter.import_bytes(b"", "nosuch")
    with pytest.raises(tamis.UnsupportedError):
        some().export("guava")


def test_integers_for_java():
    f = tamis.Filter("guava:capacity=1000")
    f.update(range(100))
    g = tamis.Filter.import_bytes(f.export("guava"), "guava", keys="int64")
    assert all(g.has_many(range(100)))
    h = tamis.Filter.import_bytes(f.export("guava"), "guava")
    with pytest.raises(TypeError, match="set_note"):
        5 in h


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"name": [f"n{i}" for i in range(100)], "id": list(range(100))})
    try:
        pq.write_table(table, tmp_path / "t.parquet", bloom_filter_options={"name": {"ndv": 1000}, "id": {"ndv": 1000}})
    except TypeError:
        vectors = glob.glob(os.path.join(ROOT, "tests", "vectors", "parquet", "*.parquet"))
        if not vectors:
            pytest.skip("this pyarrow writes no bloom filters")
        with open(vectors[0], "rb") as file:
            data = file.read()
        for one in tamis.scan(data, "parquet"):
            assert tamis.Filter.import_bytes(data, "parquet:" + one["choose"]).kind == one["kind"]
        return
    data = (tmp_path / "t.parquet").read_bytes()
    found = {one["name"]: one for one in tamis.scan(data, "parquet")}
    assert len(found) == 2
    names = tamis.Filter.read(tmp_path / "t.parquet", format="parquet:column=name,group=0")
    assert all(names.has_many(table["name"]).to_pylist()) and "zzz" not in names
    ids = tamis.Filter.read(tmp_path / "t.parquet", format="parquet:column=id,group=0")
    assert all(ids.has_many(range(100)))


# ---- The command


def test_files_of_the_command(command, tmp_path):
    for keys, encoding, lines in (([1, 5, -7], "int64", "1\n5\n-7\n"), (["a", "käse"], None, "a\nkäse\n"), (["a", "b"], "utf8", "a\nb\n"),
                                  ([1, 2**31 - 1], "int32be", "1\n2147483647\n"), ([0.5, -0.25], "double", "0.5\n-0.25\n"),
                                  ([b"\xde\xad", "beef"], "hex", "dead\nbeef\n")):
        words = ["--keys", encoding] if encoding else []
        assert command("build", "c.tamis", "--force", "--capacity", "100", *words, lines=lines).returncode == 0
        f = tamis.Filter.read(tmp_path / "c.tamis")
        assert all(f.has_many(keys)) and f.notes.get("encoding") == encoding
        tamis.Filter.map(tmp_path / "c.tamis").copy().save(tmp_path / "p.tamis")
        assert command("check", "p.tamis", lines=lines).stdout == lines


def test_files_for_the_command(command, tmp_path):
    for keys, lines, others in ((["a", "käse"], "a\nkäse\n", "b\n"), ([b"a", b"b"], "a\nb\n", "c\n"), ([1, -5, 2**63 - 1], f"1\n-5\n{2**63 - 1}\n", "7\n")):
        f = tamis.Filter("blocked:capacity=1000,fpr=1e-6")
        f.update(keys)
        f.save(tmp_path / "f.tamis")
        done = command("check", "f.tamis", lines=lines + others)
        assert done.stdout == lines, done.stdout


def test_same_bytes_as_the_command(command, tmp_path):
    done = command("build", "c.tamis", "--keys", "int64", "--capacity", "1000", lines="".join(f"{i}\n" for i in range(1000)))
    assert done.returncode == 0, done.stdout
    f = tamis.Filter(capacity=1000)
    f.update(range(1000))
    assert tamis.Filter.read(tmp_path / "c.tamis").payload() == f.payload()


def test_the_module_is_the_command(tmp_path):
    import subprocess
    done = subprocess.run([sys.executable, "-m", "tamis", "--version"], capture_output=True, text=True, check=False)
    assert tamis.__version__ in done.stdout, done
    done = subprocess.run([sys.executable, "-m", "tamis", "nosuch"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "nosuch" in done.stderr


def test_all_kinds_agree_with_themselves():
    assert len(list(kinds_with("add"))) > 20
