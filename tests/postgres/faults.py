#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What goes wrong around filters leaves the server as it was: cancelled queries, no memory, crashes, errors, other files.

    ONLY=memory tests/postgres/faults.py        one part: cancel memory crash errors files many
    PROGRAMS=10 tests/postgres/faults.py        larger: more moments of a cancel, more crashes (default: 1)

Times are printed, and nothing depends on them: what is asked is that a query that is told to stop does not run to its end,
that the next one gets a right answer, and that neither memory nor files are left behind.
"""
import mmap
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time

import pg

SIZE = int(os.environ.get("PROGRAMS") or "1")
SEED = int(os.environ.get("SEED", "1"))
ONLY = os.environ.get("ONLY")
HERE = os.path.dirname(os.path.abspath(__file__))
tap = pg.Tap()


def until(is_so, what, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise pg.Error(f"not in {seconds} s: {what}")


def pid_of(session):
    return int(session.one("SELECT pg_backend_pid()"))


def files_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def data_of(pid):
    """Memory that the process has asked for, in KiB; unknown under a library that takes some for itself."""
    if pg.PRELOAD:
        return 0
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmData"))


def contexts(session):
    """Contexts of filters that are left, and the bytes of all; the list of open files stays."""
    return tuple(map(int, session.rows("SELECT count(*) FILTER (WHERE name LIKE 'tamis%' AND name <> 'tamis files'), sum(total_bytes) "
                                       "FROM pg_backend_memory_contexts")[0]))


def is_well(session, before, name):
    """The session answers, and has no more memory than before, but for what the server itself keeps of a statement."""
    answer = session.one("SELECT tamis_build(i, 'fuse') @> 77 AND tamis_items(tamis_build(i)) = 100 FROM generate_series(1, 100) i")
    count, size = contexts(session)
    tap.check(answer == "t" and count == 0 and size < before[1] + (1 << 20), f"{name}: the session answers, and nothing is left")
    if count or size >= before[1] + (1 << 20):
        print(f"# {count} contexts, {before[1]} bytes before and {size} after")


# ---- Cancelled ----------------------------------------------------------------------------------------

BIG = f"blocked:capacity=200M,size={64 * min(SIZE, 6)}MB"
LONG = {
    "a build of many rows": "SELECT tamis_items(tamis_build(g, 'blocked:capacity=10M')) FROM (SELECT generate_series(1, {n}) g) x",
    "a build of many rows, then of the filter": "SELECT tamis_items(tamis_build(g, 'fuse')) FROM (SELECT generate_series(1, {n}) g) x",
    "a build with a ribbon": "SELECT tamis_items(tamis_build(g, 'ribbon')) FROM (SELECT generate_series(1, {n}) g) x",
    "a build of a capacity that is counted": "SELECT tamis_items(tamis_build(g, 'blocked')) FROM (SELECT generate_series(1, {n}) g) x",
    "a build of texts": "SELECT tamis_items(tamis_build('key ' || g, 'cuckoo')) FROM (SELECT generate_series(1, {n}) g) x",
    "a build of a list": "SELECT tamis_items(tamis_build(g, 'fuse') OVER ()) FROM (SELECT generate_series(1, {n}) g) x LIMIT 1",
    "a map": "SELECT tamis_items(tamis_build_map(g, 1)) FROM (SELECT generate_series(1, {n}) g) x",
    "a new filter": f"SELECT tamis_items(tamis_new('{BIG}'))",
    "the gate of bytes": f"SELECT tamis_items(tamis_new('{BIG}')::bytea::tamis)",
    "the gate of text": f"SELECT tamis_items(tamis_new('{BIG}')::text::tamis)",
    "an add": f"SELECT tamis_items(tamis_add(tamis_new('{BIG}'), 1))",
    "a union": f"SELECT tamis_items(tamis_union(tamis_new('{BIG}'), tamis_new('{BIG}')))",
    "a fold": f"SELECT tamis_items(tamis_fold(tamis_new('{BIG}'), 2))",
    "a union by aggregate": f"SELECT tamis_items(tamis_union(f)) FROM (SELECT tamis_new('{BIG}') f FROM generate_series(1, 2)) x",
    "a description": f"SELECT (tamis_info(tamis_new('{BIG}'))).kind",
    "an export": f"SELECT octet_length(tamis_export(tamis_new('guava:capacity=100M'), 'guava'))",
    "reading a file": "SELECT tamis_items(tamis_read('big'))",
    "asking a file": "SELECT tamis_file 'big' @> 1",
    "a large value in a table": "SELECT tamis_has_any(f, ARRAY[1]) FROM big",
    "saving a file": "SELECT tamis_save(f, 'saved') FROM big",
}


def timed(session, text):
    start = time.monotonic()
    lines = session.lines(text)
    return time.monotonic() - start, lines


def end_timeout(session):
    """The statement that ends a short timeout may meet it itself."""
    until(lambda: not session.lines("SET statement_timeout = 0"), "the timeout is off")


def cancelled(server):
    """Each of the statements is stopped at several moments of its way, by a timeout and by another session."""
    session, other = server.session(), server.session()
    session.rows(f"SET tamis.max_bytes = '900MB'; SET tamis.directory = '{server.filters}'; SET work_mem = '1GB'")
    session.rows(f"SELECT tamis_save(tamis_new('{BIG}'), 'big'); CREATE TABLE big AS SELECT tamis_new('blocked:capacity=50M,size=50MB') f")
    pid = pid_of(session)
    n, moments = 1000000 * min(SIZE, 10), 1 + SIZE
    before = contexts(session)
    worst = []
    for name, text in LONG.items():
        text = text.format(n=n)
        session.rows("\\c" if "file" in name else "SELECT 1")
        if "file" in name:  # else it is mapped already
            session.rows(f"SET tamis.max_bytes = '900MB'; SET tamis.directory = '{server.filters}'")
            pid = pid_of(session)
            before = contexts(session)
            whole, right = timed(session, "SELECT 1; " + text)
            session.rows("\\c")
            session.rows(f"SET tamis.max_bytes = '900MB'; SET tamis.directory = '{server.filters}'")
            pid = pid_of(session)
            right = right[1:]
        else:
            whole, right = timed(session, text)
        stopped, late, is_good = 0, 0, bool(right) and not right[0].startswith("ERROR")
        # The first moment is early enough for all; the others are on the way, if the statement takes as long as it did.
        for wait in [1, *(max(1, int(1000 * whole * (i + .5) / moments)) for i in range(moments))]:
            session.rows(f"SET statement_timeout = {wait}")
            took, lines = timed(session, text)
            end_timeout(session)
            is_stopped = lines[:1] == ["ERROR:  canceling statement due to statement timeout"]
            stopped += is_stopped
            is_good &= is_stopped or lines == right
            if is_stopped:
                late = max(late, took - wait / 1000)
        # Another session, once the statement runs.
        session.send(text + "\n;\n\\echo =done=\n")
        other.lines("DO $$BEGIN FOR i IN 1..10000 LOOP "
                    f"EXIT WHEN (SELECT state FROM pg_stat_get_activity({pid})) = 'active'; END LOOP; END$$")
        other.rows(f"SELECT pg_cancel_backend({pid})")
        start = time.monotonic()
        lines = session.rest()
        took = time.monotonic() - start
        is_good &= lines == right or lines[:1] == ["ERROR:  canceling statement due to user request"]
        worst.append((max(late, took if lines != right else 0), name))
        tap.check(is_good and stopped, f"{name}: stopped {stopped} times of {moments + 1}, by a cancel too")
        print(f"#   {whole * 1000:.0f} ms in all; stopped after up to {late * 1000:.0f} ms, by a cancel after {took * 1000:.0f} ms")
        if not is_good:
            print(f"#   {right[:2]} {lines[:2]}")
        is_well(session, before, name)
    print(f"# the longest: {max(worst)[0] * 1000:.0f} ms, {max(worst)[1]}")

    # What a builder takes from the C library goes back as well.
    text = f"SELECT tamis_items(tamis_build(g, 'fuse')) FROM (SELECT generate_series(1, {n}) g) x"
    whole, _ = timed(session, text)
    sizes = []
    for i in range(8):
        session.rows(f"SET statement_timeout = {max(1, int(whole * (i + 4) / 12 * 1000))}")
        session.lines(text)
        end_timeout(session)
        sizes.append(data_of(pid_of(session)))
    tap.check(sizes[-1] < max(sizes[:4]) + 4 * n * 8 // 1024, f"cancelled builds do not add up: {sizes} KiB")
    session.rows("DROP TABLE big")
    session.close()
    other.close()


# ---- No memory ----------------------------------------------------------------------------------------

ASKED = {
    "tamis_new": "SELECT tamis_hash_extended(tamis_new('{spec}'), 7)",
    "tamis_add": "SELECT tamis_hash_extended(tamis_add(f, ARRAY[1, 2, 3]), 7) FROM it",
    "a build": "SELECT tamis_hash_extended(tamis_build(g), 7) FROM (SELECT generate_series(1, {n}) g) x",
    "a build of a list": "SELECT tamis_hash_extended(tamis_build(g, 'fuse') OVER (), 7) FROM (SELECT generate_series(1, {n}) g) x LIMIT 1",
    "a build of a fuse filter": "SELECT tamis_hash_extended(tamis_build(g, 'fuse'), 7) FROM (SELECT generate_series(1, {n}) g) x",
    "a build of texts": "SELECT tamis_hash_extended(tamis_build(g::text, 'cuckoo'), 7) FROM (SELECT generate_series(1, {n}) g) x",
    "a map": "SELECT tamis_hash_extended(tamis_build_map(g, 7), 7) FROM (SELECT generate_series(1, {n}) g) x",
    "labels": "SELECT tamis_hash_extended(tamis_build_labels(g, 'label ' || g % 3), 7) FROM (SELECT generate_series(1, {n}) g) x",
    "asking a value in a table": "SELECT f @> 1, tamis_has_all(f, ARRAY[1, 7]) FROM it WHERE f @> 77",
    "asking many": "SELECT count(*) FROM it, generate_series(1, 100) g WHERE f @> g",
    "a union": "SELECT tamis_hash_extended(tamis_union(f, f), 7) FROM it",
    "a union by aggregate": "SELECT tamis_hash_extended(tamis_union(f), 7) FROM (SELECT f FROM it UNION ALL SELECT f FROM it) x",
    "a description": "SELECT tamis_info(f) FROM it",
    "bytes": "SELECT tamis_hash_extended(f::bytea::tamis, 7) FROM it",
    "text": "SELECT hashtextextended(f::text::tamis::text, 7) FROM it",
    "an export": "SELECT encode(tamis_export(tamis_new('guava:capacity=1000'), 'guava'), 'base64')",
    "a file": "SELECT tamis_hash_extended(tamis_read('it'), 7), tamis_file 'it' @> 77",
    "saving": "SELECT tamis_save(f, 'saved') FROM it",
    "growing": "SELECT tamis_hash_extended(tamis_add(tamis_new('scalable:capacity=20'), ARRAY(SELECT generate_series(1, {n}))), 7)",
    "planning": "SELECT count(*) FROM generate_series(1, 9) g WHERE g <@ '{image}'::tamis",
}


class Refusal:
    """Tells the library in the server which allocation of which process fails."""

    def __init__(self, folder):
        self.library, self.path = os.path.join(folder, "refuse_memory.so"), os.path.join(folder, "orders")
        with open(self.path, "wb") as file:
            file.write(bytes(24))
        os.chmod(self.path, 0o666)
        os.chmod(folder, 0o755)
        with open(self.path, "r+b") as file:
            self.orders = mmap.mmap(file.fileno(), 24)

    def build(self):
        command = [os.environ.get("CC", "cc"), "-O1", "-fPIC", "-shared", "-o", self.library, os.path.join(HERE, "refuse_memory.c")]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def arm(self, pid, n):
        self.orders[:] = struct.pack("<qqq", pid, n, 0)

    def result(self):
        """How many were refused."""
        refused = struct.unpack("<qqq", self.orders[:])[2]
        self.orders[:] = bytes(24)
        return refused


def without_memory():
    with tempfile.TemporaryDirectory(prefix="tamis-refuse-") as folder:
        refusal = Refusal(folder)
        if pg.PRELOAD or not refusal.build():
            tap.skip("memory that is refused", "another library is loaded, or this one cannot be built")
            return
        environment = {"LD_PRELOAD": refusal.library, "REFUSE_MEMORY": refusal.path}
        with pg.Server(environment=environment) as server:
            server.start()
            server.with_extension().close()
            for name, spec, n in (("small", "blocked:capacity=100", 100), ("large", "blocked:capacity=20000", 30000)):
                walk(server, refusal, name, spec, n)
            tap.check("PANIC" not in server.log() and "terminated by signal" not in server.log(), "no process of the server died")


def walk(server, refusal, size, spec, n):
    session = server.session()
    session.rows(f"SET tamis.directory = '{server.filters}'; DROP TABLE IF EXISTS it; CREATE TABLE it AS SELECT "
                 f"tamis_build(g, '{spec}') f FROM generate_series(1, 100) g; SELECT tamis_save(f, 'it') FROM it")
    image = session.one("SELECT f::text FROM it") if size == "small" else None
    pid = pid_of(session)
    for name, text in ASKED.items():
        if "{image}" in text and not image:
            continue
        text = text.format(spec=spec, n=n, image=image)
        right = session.lines(text)
        wrong, refused, errors, at = [], 0, 0, 0
        while at < 3000:
            at += 1
            if "file" in name:
                os.utime(os.path.join(server.filters, "it"), (at, at))  # so that it is opened again
            refusal.arm(pid, at)
            lines = session.lines(text)
            if not refusal.result():
                break
            refused += 1
            is_error = bool(lines) and lines[0].startswith("ERROR:") and "memory" in lines[0]
            errors += is_error
            if lines != right and not is_error:
                wrong.append((at, lines[:3]))
            if session.lines(text) != right:
                wrong.append((at, "the answer after it"))
        tap.check(not wrong and refused and right and not right[0].startswith("ERROR"),
                  f"{size}: {name}: {refused} allocations refused, {errors} errors, right answers after each")
        for each in wrong[:3]:
            print(f"#   allocation {each[0]}: {each[1]}")
    tap.equal(contexts(session)[0], 0, f"{size}: no context is left")
    tap.check(files_of(pid) < 60, f"{size}: no files are left")
    tap.equal([name for name in os.listdir(server.filters) if name not in ("it", "saved")], [], f"{size}: nor half-written ones")
    session.close()


# ---- Killed -------------------------------------------------------------------------------------------

def killed(server):
    """Two sessions change filters and tables in transactions; what was committed when the server died is there."""
    session = server.session()
    session.rows("CREATE TABLE kept (id int PRIMARY KEY, f tamis, keys bigint[] DEFAULT '{}')")
    specs = ("blocked:capacity=60", "blocked:capacity=5000", "scalable:capacity=50", "counting:capacity=2000", "cuckoo:capacity=5000",
             "grow:capacity=30")
    for i, spec in enumerate(specs):
        session.rows(f"INSERT INTO kept VALUES ({i}, tamis_new('{spec}'))")
    session.close()
    rng = random.Random(SEED)
    known, next_key = {i: [] for i in range(len(specs))}, 0
    for round_number in range(3 * SIZE):
        goal, lock, committed = rng.randint(20, 90), threading.Lock(), [0]
        reached = threading.Event()

        def work(ids, keys):
            worker = server.session()
            mine = random.Random(f"{SEED} {round_number} {ids}")
            try:
                for key in keys:
                    i = mine.choice(ids)
                    # A long way to the disk, so that the end comes in the middle of it.
                    worker.rows(f"UPDATE kept SET f = tamis_add(f, {key}::bigint), keys = keys || {key}::bigint WHERE id = {i}")
                    known[i].append(key)
                    with lock:
                        committed[0] += 1
                        if committed[0] >= goal:
                            reached.set()
            except (pg.Error, BrokenPipeError):
                pass
            reached.set()

        threads = [threading.Thread(target=work, args=(ids, range(next_key + at, next_key + 400, 2)))
                   for at, ids in ((0, [0, 1, 2]), (1, [3, 4, 5]))]
        for thread in threads:
            thread.start()
        reached.wait(60)
        server.kill()
        for thread in threads:
            thread.join()
        next_key += 400
        server.start()
        session = server.session()
        missing = 0
        for i, keys in known.items():
            array = f"ARRAY[{','.join(map(str, keys))}]::bigint[]"
            missing += session.rows(f"SELECT tamis_has_all(f, {array}), keys @> {array}, tamis_has_all(f, keys), "
                                    f"tamis_items(f) = cardinality(keys) FROM kept WHERE id = {i}") != [("t", "t", "t", "t")]
        tap.check(missing == 0, f"killed after {sum(map(len, known.values()))} commits: every key is there, and no other")
        session.close()


# ---- Errors in the middle -----------------------------------------------------------------------------

FAILING = [
    "SELECT tamis_build(1000 / (g - 300)) FROM generate_series(1, 1000) g",
    "SELECT tamis_build(1000 / (g - 900), 'fuse') FROM generate_series(1, 1000) g",
    "SELECT tamis_build((1000 / (g - 900))::text, 'guava') FROM generate_series(1, 1000) g",
    "SELECT tamis_build(1000 / (g - 900), 'blocked:capacity=1000') OVER (ORDER BY g) FROM generate_series(1, 1000) g",
    "SELECT tamis_build_map(g, 1000 / (g - 900)) FROM generate_series(1, 1000) g",
    "SELECT tamis_build_labels(g, (1000 / (g - 900))::text) FROM generate_series(1, 1000) g",
    "SELECT tamis_build_map(g % 10, g) FROM generate_series(1, 1000) g",
    "SELECT g % 7, tamis_build(1000 / (g - 900)) FROM generate_series(1, 1000) g GROUP BY 1",
    "SELECT tamis_union(tamis_new(CASE g WHEN 9 THEN 'split:capacity=9' ELSE 'blocked:capacity=9' END)) FROM generate_series(1, 9) g",
    "SELECT tamis_build(g, 'cuckoo:capacity=10') FROM generate_series(1, 1000) g",
    "SELECT tamis_build(g, 'blocked:capacity=1G') FROM generate_series(1, 1000) g",
    "SELECT tamis_read('none') @> 1",
    "SELECT tamis_file 'none' @> g FROM generate_series(1, 3) g",
    "SELECT tamis_file 'broken' @> 1",
    "SELECT '\\x00'::tamis",
    "SELECT tamis_build(g, 'fuse') @> 'text'::text FROM generate_series(1, 1000) g",
]


def failing(server):
    session = server.session()
    session.rows(f"SET tamis.directory = '{server.filters}'; SET client_min_messages = error")
    with open(os.path.join(server.filters, "broken"), "wb") as file:
        file.write(b"\xd6tamis\x1a\n" + bytes(400))
    os.chmod(os.path.join(server.filters, "broken"), 0o644)
    pid = pid_of(session)
    for text in FAILING:
        session.error(text)
    before, files, data = contexts(session), files_of(pid), data_of(pid)
    for _ in range(200):
        for text in FAILING:
            if not session.lines(text)[0].startswith("ERROR:"):
                tap.check(False, f"no error: {text}")
    after = contexts(session)
    tap.check(after[0] == 0 and after[1] <= before[1] + 65536,
              f"200 rounds of {len(FAILING)} errors: {after[0]} contexts, {before[1]} and {after[1]} bytes")
    tap.check(files_of(pid) < files + 50, f"and no files: {files} and {files_of(pid)}")
    tap.check(data_of(pid) <= data + 4096, f"and no memory of the C library: {data} and {data_of(pid)} KiB")
    # The same inside of one transaction, and caught in one statement.
    session.rows("BEGIN")
    for _ in range(50):
        for text in FAILING:
            session.rows("SAVEPOINT s")
            session.lines(text)
            session.rows("ROLLBACK TO s; RELEASE s")
    inside = contexts(session)
    session.rows("COMMIT")
    tap.check(inside[0] == 0 and inside[1] <= before[1] + (1 << 19), f"also in one transaction: {inside[0]} contexts, {inside[1]} bytes")
    block = " ".join(f"BEGIN PERFORM x FROM ({text}) t(x); EXCEPTION WHEN OTHERS THEN failed := failed + 1; END;"
                     for text in FAILING if " GROUP " not in text)
    session.rows(f"DO $$DECLARE failed int := 0; BEGIN FOR i IN 1..100 LOOP {block} END LOOP; "
                 "IF failed < 1400 THEN RAISE 'only %', failed; END IF; END$$")
    after = contexts(session)
    tap.check(after[0] == 0 and files_of(pid) < files + 50,
              f"and in one block: {after[0]} contexts, {after[1]} bytes, {files} and {files_of(pid)} files")
    tap.check(data_of(pid) <= data + 8192, f"and still no memory of the C library: {data} and {data_of(pid)} KiB")
    session.rows("SELECT 1 FROM generate_series(1, 9) g HAVING tamis_build(g) @> 3")
    session.close()


# ---- Files --------------------------------------------------------------------------------------------

BAD_NAMES = {"": "is not a file name", "a/b": "is not a file name", "../it": "is not a file name", "/etc/passwd": "is not a file name",
             ".": "is not a file name", "..": "is not a file name", ".hidden": "is not a file name", "x" * 192: "is not a file name",
             "x" * 191: "No such file", "none": "No such file", "link": "not a regular file", "folder": "not a regular file",
             "fifo": "not a regular file", "loop": "not a regular file", "empty": "tamis:", "text": "tamis:",
             "half": "tamis:", "bad": "tamis:"}


def in_files(server):
    session, other = server.session(), server.session()
    folder = server.filters
    no_directory = session.error("SELECT tamis_file 'it' @> 1")
    tap.check("there is no directory of filters" in no_directory, "without a directory there are no files")
    for each in (session, other):
        each.rows(f"SET tamis.directory = '{folder}'")

    def save(name, first, last, spec="blocked:capacity=100000"):
        other.rows(f"SELECT tamis_save(tamis_build(g, '{spec}'), '{name}') FROM generate_series({first}, {last}) g")

    # Names and what they lead to.
    save("it", 1, 1000)
    with open(os.path.join(folder, "it"), "rb") as file:
        image = file.read()
    for name, content in (("empty", b""), ("text", b"no filter\n" * 50), ("half", image[:len(image) // 2]),
                          ("bad", image[:5000] + bytes([image[5000] ^ 1]) + image[5001:])):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    os.symlink("it", os.path.join(folder, "link"))
    os.symlink("loop", os.path.join(folder, "loop"))
    os.mkdir(os.path.join(folder, "folder"))
    os.mkfifo(os.path.join(folder, "fifo"))
    outside = os.path.join(server.folder, "outside")
    os.symlink(outside, os.path.join(folder, "out"))
    for name in os.listdir(folder):
        if not os.path.islink(os.path.join(folder, name)):
            os.chmod(os.path.join(folder, name), 0o755)
    for name, wanted in BAD_NAMES.items():
        said = {session.error(text.format(name)).split("\n")[0] for text in
                ("SELECT tamis_file '{}' @> 1", "SELECT tamis_read('{}')", "SELECT * FROM tamis_info(tamis_file '{}')")}
        tap.check(all(line.startswith("ERROR:  tamis:") and wanted in line for line in said), f"the name {name[:20]!r} is refused")
        if not all(wanted in line for line in said):
            print(f"#   {said}")
    for name in ("", "a/b", "..", ".x", "x" * 192, "folder", "fifo", "link", "out", "loop"):
        said = session.error(f"SELECT tamis_save(tamis_new('blocked:capacity=9'), '{name}')")
        tap.check(said.startswith("ERROR:  tamis:"), f"nothing is saved to {name[:20]!r}")
    tap.check(not os.path.exists(outside) and os.path.islink(os.path.join(folder, "link")), "links lead nowhere")
    longest = "y" * 191
    session.rows(f"SELECT tamis_save(tamis_new('blocked:capacity=9'), '{longest}')")
    tap.equal(session.one(f"SELECT tamis_file '{longest}' @> 1"), "f", "the longest name is one")

    # Replaced between statements: by this session, another one, and the command.
    is_good = True
    for i in range(20):
        save("it", i * 1000 + 1, i * 1000 + 1000)
        keys = f"generate_series({i * 1000 + 1}, {i * 1000 + 1000}) g"
        is_good &= session.rows(f"SELECT count(*) FROM {keys} WHERE tamis_file 'it' @> g") == [("1000",)]
        is_good &= session.one("SELECT items FROM tamis_info(tamis_file 'it')") == "1000"
        is_good &= session.rows("EXECUTE again") == [("1000",)] if i else not session.rows(
            "PREPARE again AS SELECT tamis_items(tamis_read('it')) FROM (SELECT tamis_file 'it' @> 1) x")
    tap.check(is_good, "the image that another session replaced is asked in the next statement")
    server.command("build", "it", "--force", "--keys", "int64", "-", stdin="\n".join(map(str, range(500000, 500300))) + "\n")
    if os.path.exists(os.path.join(folder, "it")):
        os.chmod(os.path.join(folder, "it"), 0o644)
    tap.equal(session.one("SELECT count(*) FROM generate_series(500000, 500299) g WHERE tamis_file 'it' @> g"), "300",
              "and the one that the command made")
    session.rows("DO $$BEGIN FOR i IN 1..20 LOOP PERFORM tamis_save(tamis_add(tamis_new('blocked:capacity=1000'), i), 'mine'); "
                 "IF NOT tamis_file 'mine' @> i THEN RAISE 'an old file'; END IF; END LOOP; END$$")
    tap.check(True, "and one's own in the same statement")

    # Call sites that live longer than a statement, each with a handle of its own time.
    session.rows("CREATE FUNCTION ask(name text, key bigint) RETURNS bool LANGUAGE plpgsql AS "
                 "$$BEGIN RETURN name::tamis_file @> key; END$$; "
                 "CREATE FUNCTION ask_it(key bigint) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RETURN tamis_file 'it' @> key; END$$")
    save("it", 1, 100000)
    session.rows("BEGIN; DECLARE c CURSOR FOR SELECT tamis_file 'it' @> (g % 100 + 1) FROM generate_series(1, 10000) g")
    is_good = session.rows("SELECT ask_it(1), ask_it(100)") == [("t", "t")] and set(session.rows("FETCH 100 FROM c")) == {("t",)}
    for i in range(1, 40):
        save("it", 1, 100000 + i, f"blocked:capacity={100000 * (i % 3 + 1)}")
        is_good &= session.rows(f"SELECT tamis_file 'it' @> {100000 + i}::bigint") == [("t",)]
        is_good &= set(session.rows("FETCH 100 FROM c")) == {("t",)}
        is_good &= session.rows(f"SELECT ask_it(1), ask_it({100000 + i}), ask('it', {100000 + i})") == [("t", "t", "t")]
    session.rows("COMMIT")
    tap.check(is_good, "calls of one transaction see each new image, also where another call opened it first")

    # Removed, damaged, another again.
    os.remove(os.path.join(folder, "it"))
    tap.check("No such file" in session.error("SELECT tamis_file 'it' @> 1"), "a file that was removed is gone")
    with open(os.path.join(folder, "new"), "wb") as file:
        file.write(image[:5000] + bytes([image[5000] ^ 1]) + image[5001:])
    os.chmod(os.path.join(folder, "new"), 0o644)
    os.rename(os.path.join(folder, "new"), os.path.join(folder, "it"))
    tap.check("tamis:" in session.error("SELECT tamis_file 'it' @> 1"), "a damaged one is refused")
    tap.check("tamis:" in session.error("SELECT ask_it(1)"), "in a function too")
    os.remove(os.path.join(folder, "it"))
    save("it", 7, 9)
    tap.equal(session.rows("SELECT ask_it(7), tamis_file 'it' @> 8, ask('it', 9)"), [("t", "t", "t")], "a new one answers again")
    os.mkdir(os.path.join(folder, "second"))
    os.chmod(os.path.join(folder, "second"), 0o777)
    other.rows(f"SET tamis.directory = '{folder}/second'")
    save("it", 100, 200)
    session.rows("BEGIN; SELECT ask_it(7)")
    session.rows(f"SET tamis.directory = '{folder}/second'")
    tap.equal(session.rows("SELECT ask_it(150), tamis_file 'it' @> 151"), [("t", "t")], "another directory has other files")
    session.rows("COMMIT")
    # Names that fail are not kept.
    before = contexts(session)
    for i in range(1000):
        session.lines(f"SELECT tamis_file 'none{i}' @> 1")
    tap.check(contexts(session)[1] < before[1] + (1 << 19), "names without a file take no memory")
    for each in (session, other):
        each.close()


# ---- Many sessions ------------------------------------------------------------------------------------

def many(server):
    server.stop()
    server.configure(["max_connections = 80", f"tamis.directory = '{server.filters}'"])
    server.start()
    first = server.session()
    first.rows("SELECT tamis_save(tamis_build(g, 'blocked:capacity=1M'), 'shared') FROM generate_series(1, 1000) g")
    sessions = [server.session() for _ in range(50)]
    wrong = []

    def ask(session, at):
        for i in range(10):
            if at == 0 and i % 3 == 2:
                first.rows(f"SELECT tamis_save(tamis_build(g, 'blocked:capacity=1M'), 'shared') FROM generate_series(1, {1000 + i}) g")
            if session.rows("SELECT count(*) FROM generate_series(1, 1000) g WHERE tamis_file 'shared' @> g") != [("1000",)]:
                wrong.append(at)
        if at % 3:
            session.close()

    threads = [threading.Thread(target=ask, args=(session, at)) for at, session in enumerate(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tap.check(not wrong, "50 sessions ask one file while it is replaced")
    for at in range(0, 50, 3):
        os.kill(pid_of(sessions[at]), 15)  # as pg_terminate_backend
    until(lambda: first.one("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") == "1", "all others are gone")
    tap.equal(first.one("SELECT count(*) FROM generate_series(1, 1000) g WHERE tamis_file 'shared' @> g"), "1000",
              "others that end leave it to the rest")
    first.close()


def main():
    parts = {"cancel": cancelled, "errors": failing, "files": in_files, "crash": killed, "many": many}
    if not ONLY or ONLY == "memory":
        without_memory()
    if ONLY == "memory":
        return tap.end()
    with pg.Server(["max_wal_size = 4GB", "wal_level = minimal", "max_wal_senders = 0"]) as server:
        server.start()
        server.with_extension().close()
        for name, part in parts.items():
            if ONLY in (None, name):
                part(server)
        tap.check("PANIC" not in server.log() and ("terminated by signal" not in server.log()), "no process died but those that were killed")
    return tap.end()


pg.skip_unless_possible()
sys.exit(main())
