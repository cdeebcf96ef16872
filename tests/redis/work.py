#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Work off the main thread: large filters, many clients at once, and whatever may interfere.

TAMIS_WORK_MIB sets the size of the filters, TAMIS_WORK_SECONDS how long the crowd works.
"""
import glob
import os
import random
import sys
import threading
import time

from resp import Error, Status
from server import Server, Tap, in_step, info_field, replicate, until

MIB = int(os.environ.get("TAMIS_WORK_MIB", "16"))
SECONDS = float(os.environ.get("TAMIS_WORK_SECONDS", "1"))
SPEC = f"blocked:size={MIB}MiB,capacity=1M"
OK = Status("OK")
tap = Tap()


def digest(server, key):
    client = server.client()
    reply = client.must("DEBUG", "DIGEST-VALUE", key)
    client.close()
    return reply


JOBS = 3


class Busy:
    """Keeps the worker busy: jobs on keys of their own, sent without waiting for a reply. Folding
    by 1 makes a copy and puts it in place."""

    def __init__(self, server):
        self.clients = [server.client() for _ in range(JOBS)]
        for i, client in enumerate(self.clients):
            client.do("TAMIS.CREATE", f"busy{i}", SPEC)
        for i, client in enumerate(self.clients):
            client.send(["TAMIS.FOLD", f"busy{i}", 1])

    def end(self):
        replies = [client.read() for client in self.clients]
        for client in self.clients:
            client.close()
        return replies


def queued(server, *words):
    """A client whose job waits for others."""
    busy = Busy(server)
    client = server.client()
    client.send(words)
    return busy, client


def crowd(server, replica):
    """Merges, folds, loads, adds, queries and deletes at the same time."""
    c = server.client()
    for key in ("base", "one", "two"):
        c.must("TAMIS.CREATE", key, SPEC)
    c.must("TAMIS.CREATE", "small", "blocked:size=8MiB,capacity=1M")
    image, at = b"", 0
    while True:
        at, total, piece = c.must("TAMIS.DUMP", "small", at, "COUNT", 4 << 20)
        image += piece
        if at == 0:
            break
    end = time.monotonic() + SECONDS
    allowed = ("changed during the operation", "NOFILTER", "item exists", "differ", "no such filter on its way", "gap",
               "still on its way",
               "Background save already in progress")
    added, errors, longest = {"one": [], "two": []}, [], [0.0]

    def again(job):
        def run():
            client, turn = server.client(), 0
            while time.monotonic() < end:
                turn += 1
                for reply in job(client, turn):
                    if isinstance(reply, Error) and not any(part in reply for part in allowed):
                        errors.append(reply)
            client.close()
        return threading.Thread(target=run)

    def adder(key, name):
        def job(client, turn):
            items = [f"{name}-{turn}-{i}" for i in range(50)]
            reply = client.do("TAMIS.ADD", key, *items)
            if reply == 50:
                added[key].extend(items)
            return [reply]
        return job

    def load(client, turn):
        yield client.do("DEL", "loaded")
        for at in range(0, total, 3 << 20):
            yield client.do("TAMIS.LOAD", "loaded", at, total, image[at:at + (3 << 20)])

    def ping(client, turn):
        before = time.monotonic()
        yield client.do("TAMIS.HAS", "one", "x")
        longest[0] = max(longest[0], time.monotonic() - before)

    rng = random.Random(9)
    jobs = [adder("one", "a"), adder("two", "b"), adder("one", "c"), load, ping,
            lambda c, t: [c.do("TAMIS.MERGE", "one", "two")],
            lambda c, t: [c.do("TAMIS.MERGE", "two", "one", "base")],
            lambda c, t: [c.do("TAMIS.MERGE", "copy", "one"), c.do("TAMIS.FOLD", "copy", 4), c.do("UNLINK", "copy")],
            lambda c, t: [c.do("DEL", "copy"), c.do("TAMIS.INFO", rng.choice(["one", "two", "copy", "base"]))],
            lambda c, t: [c.do("TAMIS.CREATE", "fresh", SPEC), c.do("TAMIS.ADD", "fresh", "a"), c.do("DEL", "fresh")],
            lambda c, t: [c.do("BGSAVE", "SCHEDULE"), *[c.do("PING") for _ in range(100)]]]
    threads = [again(job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tap.equal(errors, [], "nothing was refused that should not be")
    for key, items in sorted(added.items()):
        missing = 0
        for at in range(0, len(items), 5000):
            missing += sum(1 - hit for hit in c.must("TAMIS.HAS", key, *items[at:at + 5000]))
        tap.check(items and missing == 0, f"{key} has all {len(items)} items that it said it has")
    in_step(server, replica)
    for key in ("one", "two"):
        tap.equal(digest(replica, key), digest(server, key), f"{key} is the same on the replica")
    info = c.must("INFO", "tamis").decode()
    done = int(info.split("jobs_done:")[1].split()[0])
    tap.check(done > 0, f"{done} jobs were done; the longest query took {longest[0] * 1000:.1f} ms")
    c.must("DEL", "one", "two", "copy", "fresh", "loaded")
    c.close()


def many_wait(server):
    c = server.client()
    c.must("TAMIS.MERGE", "dest", "base")
    busy, merger = queued(server, "TAMIS.MERGE", "dest", "base")
    clients = [server.client() for _ in range(150)]
    for i, client in enumerate(clients):
        client.send(["TAMIS.ADD", "dest", f"waits{i}"] if i % 3 else ["TAMIS.FOLD", "dest", 1])
    replies = [client.read() for client in clients]
    tap.equal([r for i, r in enumerate(replies) if r != (1 if i % 3 else OK)], [], "150 clients waited for a job, and got their turn")
    tap.equal([merger.read(), *busy.end()], [OK] * (JOBS + 1), "and so did the jobs")
    hits = c.must("TAMIS.HAS", "dest", *(f"waits{i}" for i in range(150) if i % 3))
    tap.equal(sum(hits), 100, "what they added is there")
    for client in (*clients, merger):
        client.close()
    c.close()


def clients_that_may_not_wait(server):
    """A client that may not wait does the job itself if the worker has not begun it."""
    c = server.client()
    for name, words in (("MULTI", None), ("a script", ["EVAL", "return redis.call('tamis.add', KEYS[1], 'in')", 1, "dest"])):
        busy, merger = queued(server, "TAMIS.MERGE", "dest", "base")
        if words:
            reply = c.do(*words)
        else:
            reply = c.pipeline([["MULTI"], ["TAMIS.INFO", "dest"], ["TAMIS.ADD", "dest", "in"], ["EXEC"]])[3][1]
        tap.equal(reply, 1, f"{name} does not wait")
        tap.equal([merger.read(), *busy.end()], [OK] * (JOBS + 1), "and the jobs are answered")
        merger.close()
    tap.equal(c.must("TAMIS.HAS", "dest", "in"), [1], "both were done")
    c.close()


def field(client, section, name):
    return int(info_field(client, section, name) or 0)


def jobs_active(client):
    return field(client, "tamis", "tamis_jobs_active")


CHANGED = Error("ERR the key changed during the operation")


def has_come(client):
    """Has the job sent after those of Busy arrived, or is everything already done?"""
    return field(client, "clients", "blocked_clients") > JOBS or jobs_active(client) <= 1


def keys_that_go(server):
    """Whatever happens to its key, a job is answered, and never half done."""
    c = server.client()
    for name, commands in (("deleted", [["DEL", "dest"]]),
                           ("renamed", [["RENAME", "dest", "other"], ["TAMIS.ADD", "other", "x"]]),
                           ("replaced", [["SET", "dest", "text"], ["TYPE", "dest"]]),
                           ("moved", [["MOVE", "dest", 1]]),
                           ("expired", [["PEXPIRE", "dest", 1], ["PING"]]),
                           ("swapped", [["SWAPDB", 0, 2]]),
                           ("flushed", [["FLUSHALL", "ASYNC"]])):
        c.must("TAMIS.MERGE", "dest", "base")
        busy, merger = queued(server, "TAMIS.MERGE", "dest", "base")
        until(lambda: has_come(c), 10, "the job has come")
        for words in commands:
            c.must(*words)
        reply = merger.read()
        ends = (OK, CHANGED) if name != "swapped" else (OK, CHANGED, Error("NOFILTER there is no filter at key 'base'"))
        tap.check(reply in ends, f"a key that is {name} during a job: {reply}")
        busy.end()
        merger.close()
        if name == "swapped":
            c.must("SWAPDB", 0, 2)
        c.must("DEL", "dest", "other")
        if name == "flushed":
            c.must("TAMIS.CREATE", "base", SPEC)
    tap.equal(c.do("PING"), Status("PONG"), "the server goes on")
    c.close()


def clients_that_go(server):
    c = server.client()
    c.must("TAMIS.MERGE", "dest", "base")
    busy, merger = queued(server, "TAMIS.MERGE", "dest", "base")
    waiting = server.client()
    waiting.send(["TAMIS.ADD", "dest", "late"])
    for client in (merger, waiting):
        client.close()
    c.do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    busy.clients[0].close()
    until(lambda: b"jobs_active:0" in c.must("INFO", "tamis"), 30, "the jobs have ended")
    tap.equal(c.do("TAMIS.ADD", "dest", "next"), 1, "killed clients leave nothing")
    c.close()


def pauses(server):
    """A server that writes while its clients are paused exits."""
    c = server.client()
    busy, merger = queued(server, "TAMIS.MERGE", "dest", "base")
    waiting = server.client()
    waiting.send(["TAMIS.ADD", "dest", "paused"])
    c.must("CLIENT", "PAUSE", 300, "WRITE")
    tap.equal([merger.read(), *busy.end(), waiting.read()], [OK] * (JOBS + 1) + [1], "jobs end after a pause")
    tap.equal(c.do("PING"), Status("PONG"), "the server goes on")
    merger.close()
    waiting.close()
    c.close()


def saving(server):
    c = server.client()
    busy, merger = queued(server, "TAMIS.MERGE", "dest", "base")
    c.must("BGSAVE")
    c.must("BGREWRITEAOF")
    tap.equal([merger.read(), *busy.end()], [OK] * (JOBS + 1), "jobs and files at the same time")
    until(lambda: b"rdb_bgsave_in_progress:0" in c.must("INFO", "persistence") and
          b"aof_rewrite_in_progress:0" in c.must("INFO", "persistence") and
          b"aof_rewrite_scheduled:0" in c.must("INFO", "persistence"), 60, "the files are written")
    tap.check(b"rdb_last_bgsave_status:ok" in c.must("INFO", "persistence"), "the file is whole")
    merger.close()
    c.close()


def becomes_replica(server, other):
    """Earlier jobs do not overwrite what the new primary has."""
    c, o = server.client(), other.client()
    o.must("REPLICAOF", "NO", "ONE")
    busy, merger = queued(server, "TAMIS.CREATE", "late", SPEC)
    c.must("REPLICAOF", "127.0.0.1", other.port)
    replies = []
    for client in (merger, *busy.clients):
        try:
            replies.append(client.read())
        except ConnectionError:
            replies.append(Error("closed"))
        client.close()
    good = ("READONLY", "UNBLOCKED", "closed", "OK")
    tap.check(all(r.startswith(good) for r in replies), f"a server that becomes a replica: {sorted(set(replies))}")
    until(lambda: b"jobs_active:0" in c.must("INFO", "tamis"), 30, "the jobs have ended")
    in_step(other, server)
    tap.equal(sorted(c.must("KEYS", "*")), sorted(o.must("KEYS", "*")), "it has the keys of its primary, and no more")
    c.must("REPLICAOF", "NO", "ONE")
    c.close()
    o.close()


def resident(server):
    """Resident memory of its process, in bytes."""
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def is_same(server, replica, keys, name):
    """A replica reports a job with the next command; the server sends one every ten seconds."""
    server.client().must("PUBLISH", "next", "")
    in_step(server, replica)
    tap.equal([digest(replica, key) for key in keys], [digest(server, key) for key in keys], name)


def made_without_touching(server):
    """Where nothing can wait, a large filter is made of untouched pages."""
    c = server.client()
    before = resident(server)
    script = "return redis.call('tamis.create', KEYS[1], ARGV[1])"
    tap.equal(c.do("EVAL", script, 1, "vast", "blocked:size=256MiB,capacity=1M"), OK, "a script makes a filter of 256 MiB")
    tap.check(resident(server) - before < 64 << 20, "which is memory only when keys come")
    c.must("DEL", "vast")
    until(lambda: field(c, "tamis", "tamis_filter_bytes") < 256 << 20, 30, "DEL gives it back")
    c.close()


def replica_works(server, replica):
    """Long work is a job on the replica too: the stream waits, and its clients do not."""
    c, r = server.client(), replica.client()
    c.must("TAMIS.CREATE", "r1", SPEC)
    c.must("TAMIS.CREATE", "r2", SPEC)
    c.must("TAMIS.ADD", "r2", *range(1000))
    in_step(server, replica)
    before = field(r, "tamis", "tamis_jobs_done")
    for i in range(3):
        c.must("TAMIS.ADD", "r2", f"before-{i}")
        c.must("TAMIS.MERGE", "r1", "r2")
        c.must("TAMIS.ADD", "r1", f"behind-{i}")
    c.must("TAMIS.FOLD", "r1", 2)
    is_same(server, replica, ("r1", "r2"), "a replica does the same after its jobs, also when the last command is one")
    tap.equal(field(r, "tamis", "tamis_jobs_done") - before, 4, "each of them on its worker")
    c.must("TAMIS.CREATE", "grows", "grow:capacity=500K,fpr=1e-12")
    before = field(r, "tamis", "tamis_jobs_done")
    for at in range(20):
        c.must("TAMIS.HADD", "grows", random.Random(at).randbytes(8 * 60_000))
    is_same(server, replica, ("grows",), "a filter that grows is the same there")
    tap.check(field(r, "tamis", "tamis_jobs_done") > before, "and grew on the worker")
    c.must("DEL", "r1", "r2", "grows")
    c.close()
    r.close()


def piles_up(server, replica):
    """A replica serves others while it catches up with what its stream had to wait for."""
    c, r = server.client(), replica.client()
    keys = ("before", "behind", "bloom", "bag")
    least = field(c, "tamis", "tamis_filter_bytes")
    c.must("TAMIS.CREATE", "before", SPEC)
    c.must("BF.RESERVE", "bloom", "0.01", 1_000_000)
    c.must("TAMIS.CREATE", "bag", "multiset:capacity=1M")
    in_step(server, replica)
    r.must("CONFIG", "SET", "appendonly", "yes")
    until(lambda: info_field(r, "persistence", "aof_rewrite_in_progress") == "0", 60, "the replica writes a file")
    for change in (["TAMIS.FOLD", "before", 1], ["TAMIS.MERGE", "behind", "before"]):
        had = field(r, "tamis", "tamis_pauses")
        r.must("CLIENT", "PAUSE", 600_000, "WRITE")
        c.must(*change)
        for at in range(40):
            items = [f"{change[0]}-{i % 50_000}" for i in range(at * 8192, (at + 1) * 8192)]
            c.must("BF.MADD", "bloom", *items)
            c.must("TAMIS.ADD", "bag", *items[::16])
        c.must("TAMIS.MERGE", "behind", "before")
        until(lambda: field(r, "replication", "slave_read_repl_offset") == field(c, "replication", "master_repl_offset"), 60,
              "the replica has read it all")
        tap.equal(r.must("TAMIS.COUNT", "bag", f"{change[0]}-0"), [0], "a stream that waits piles up")
        r.must("CLIENT", "UNPAUSE")
        is_same(server, replica, keys, "and gives the same")
        # 327,680 items in one turn of two milliseconds: no machine is so fast.
        tap.check(field(r, "tamis", "tamis_pauses") > had, "with others served in between")
    r.must("DEBUG", "LOADAOF")
    r.must("CONFIG", "SET", "appendonly", "no")
    tap.equal([digest(replica, key) for key in keys], [digest(server, key) for key in keys], "its file has the same")
    had = field(r, "tamis", "tamis_pauses")
    for at in range(20):
        c.must("BF.MADD", "bloom", *range(at * 8192, (at + 1) * 8192))
        in_step(server, replica)
    tap.equal(field(r, "tamis", "tamis_pauses"), had, "a stream that has not waited is not held up")
    tap.equal(field(c, "tamis", "tamis_pauses"), 0, "nor are clients")
    c.must("DEL", *keys)
    until(lambda: field(c, "tamis", "tamis_filter_bytes") <= least, 30, "what was deleted is free")
    c.close()
    r.close()


def copies(server, replica):
    """A copy shares the filter until one of them changes."""
    c = server.client()

    def held():
        return field(c, "tamis", "tamis_filter_bytes")
    c.must("TAMIS.CREATE", "c1", SPEC)
    c.must("TAMIS.ADD", "c1", "both")
    until(lambda: field(c, "tamis", "tamis_frees_waiting") == 0, 30, "what was deleted before is free")
    one = held()
    tap.equal([c.do("COPY", "c1", key) for key in ("c2", "c3", "c4")], [1] * 3, "a large filter is copied three times")
    tap.equal(held(), one, "and takes no memory for it")
    tap.equal([c.must("TAMIS.HAS", key, "both", "two") for key in ("c1", "c2", "c3", "c4")], [[1, 0]] * 4, "all answer")
    tap.equal(c.do("TAMIS.ADD", "c2", "two"), 1, "one of them is changed")
    tap.check(held() > one, "on a filter of its own")
    tap.equal([c.must("TAMIS.HAS", key, "both", "two") for key in ("c1", "c2", "c3", "c4")], [[1, 0], [1, 1], [1, 0], [1, 0]],
              "and the others are not")
    script = "return redis.call('tamis.add', KEYS[1], 'three')"
    tap.equal(c.do("EVAL", script, 1, "c3"), 1, "a script does not wait for the copy")
    c.must("DEL", "c1")
    tap.equal(c.must("TAMIS.HAS", "c4", "both", "three"), [1, 0], "the first may go: the last has it alone")
    tap.equal(c.do("TAMIS.ADD", "c4", "four"), 1, "and changes it where it is")
    is_same(server, replica, ("c2", "c3", "c4"), "the replica has the same three")
    c.must("COPY", "c4", "c5")
    c.must("DEBUG", "RELOAD")
    tap.equal([c.must("TAMIS.HAS", key, "four") for key in ("c4", "c5")], [[1], [1]], "both are in the file")
    clients = [server.client() for _ in range(8)]
    c.must("COPY", "c4", "c6")
    for i, client in enumerate(clients):
        client.send(["TAMIS.ADD", ("c4", "c6")[i % 2], f"crowd-{i}"])
    tap.equal([client.read() for client in clients], [1] * 8, "many change both at once")
    tap.equal([c.must("TAMIS.HAS", key, *(f"crowd-{i}" for i in range(8))) for key in ("c4", "c6")],
              [[1, 0] * 4, [0, 1] * 4], "each has its own")
    c.must("DEL", "c2", "c3", "c4", "c5", "c6")
    until(lambda: held() < one, 30, "all memory came back")
    for client in clients:
        client.close()
    c.close()


def ticks_in_steps(server, replica):
    """Slices of a large window are cleared a piece at a time."""
    c = server.client()
    c.must("TAMIS.CREATE", "w", "window:size=96MiB,capacity=1M,by=clock,generations=4")
    before = field(c, "tamis", "tamis_job_steps")
    seen = []
    for turn in range(6):
        c.must("TAMIS.ADD", "w", f"key-{turn}")
        seen.append(c.must("TAMIS.HAS", "w", "key-0")[0])
        c.must("TAMIS.TICK", "w")
    tap.equal(seen, [1, 1, 1, 1, 1, 0], "a key stays for as many ticks as it was promised")
    tap.check(field(c, "tamis", "tamis_job_steps") - before >= 6, "each of which was made in steps")
    is_same(server, replica, ("w",), "the replica ticks too")
    busy, ticker = queued(server, "TAMIS.TICK", "w", 3)
    until(lambda: has_come(c), 10, "the job has come")
    adder = server.client()
    adder.send(["TAMIS.ADD", "w", "late"])
    script = "return redis.call('tamis.add', KEYS[1], 'from a script')"
    tap.equal([c.do("EVAL", script, 1, "w"), ticker.read(), adder.read(), *busy.end()], [1, OK, 1] + [OK] * JOBS,
              "adds come after ticks that were begun")
    for _ in range(4):
        c.must("TAMIS.TICK", "w")
    tap.equal(c.must("TAMIS.HAS", "w", "late", "from a script"), [1, 1], "and stay as long as any")
    is_same(server, replica, ("w",), "also on the replica")
    ticker.close()
    busy, ticker = queued(server, "TAMIS.TICK", "w", 100)
    until(lambda: has_come(c), 10, "the job has come")
    c.must("RENAME", "w", "w2")
    tap.check(ticker.read() in (OK, CHANGED), "a rename during the job is reported")
    busy.end()
    c.must("TAMIS.HAS", "w2", "late")
    is_same(server, replica, ("w2",), "and has just the ticks that the replica heard of")
    for name, other in ("w2", "w3"), ("w3", "w2"), ("w2", "w3"), ("w3", "w2"):
        steps = field(c, "tamis", "tamis_job_steps")
        ticker.send(["TAMIS.TICK", name, 100])
        until(lambda: field(c, "tamis", "tamis_job_steps") > steps, 10, "a step is made")
        c.must("RENAME", name, other)
        ticker.read()
        c.must("TAMIS.HAS", other, "late")
        is_same(server, replica, (other,), "also in the middle of a tick")
    c.must("TAMIS.CREATE", "clock", "window:size=96MiB,capacity=1M,by=clock,generations=4", "EVERY", 30)
    c.must("TAMIS.ADD", "clock", "first")
    before = field(c, "tamis", "tamis_job_steps")
    until(lambda: c.must("TAMIS.HAS", "clock", "first") == [0], 30, "a key leaves by the clock")
    until(lambda: field(c, "tamis", "tamis_jobs_active") == 0, 30, "the ticks are made")
    tap.check(field(c, "tamis", "tamis_job_steps") > before, "in steps, which a query began")
    tap.equal(c.must("TAMIS.ADDNEW", "clock", "first"), [1], "and may come again")
    c.must("DEL", "w2", "clock")
    for client in (ticker, adder, c):
        client.close()


def very_many(server, replica):
    """More items than anyone should wait for."""
    c = server.client()
    items = [f"m-{i}" for i in range(40_000)]
    c.must("TAMIS.CREATE", "m", SPEC)
    before, done = field(c, "tamis", "tamis_job_steps"), field(c, "tamis", "tamis_jobs_done")
    tap.equal(c.do("TAMIS.ADD", "m", *items), len(items), "40,000 items are added")
    tap.check(field(c, "tamis", "tamis_job_steps") > before, "in steps")
    tap.equal(field(c, "tamis", "tamis_jobs_done") - done, 2, "by one job, and answered by another")
    before = field(c, "tamis", "tamis_jobs_done")
    tap.equal(sum(c.must("TAMIS.HAS", "m", *items)), len(items), "and found")
    tap.equal(field(c, "tamis", "tamis_jobs_done") - before, 1, "by the worker")
    new = c.must("TAMIS.ADDNEW", "m", *items[:20_000], *(f"n-{i}" for i in range(20_000)))
    tap.check(sum(new[:20_000]) == 0 and sum(new[20_000:]) > 19_000, "the new ones are reported")
    tap.check(isinstance(c.do("TAMIS.HADD", "m", b"x" * 9), Error), "hashes have eight bytes")
    tap.equal(c.do("TAMIS.HADD", "m", random.Random(1).randbytes(8 * 200_000)), 200_000, "200,000 hashes are added")
    before = field(c, "tamis", "tamis_jobs_done")
    tap.equal(c.must("TAMIS.HHAS", "m", random.Random(1).randbytes(8 * 200_000)), b"\xff" * 25_000, "and found")
    tap.equal(field(c, "tamis", "tamis_jobs_done") - before, 1, "by the worker")
    c.must("TAMIS.CREATE", "bag", "multiset:capacity=1M")
    tap.equal(c.do("TAMIS.ADD", "bag", *["same"] * 30_000), 30_000, "one item 30,000 times")
    tap.equal(c.must("TAMIS.COUNT", "bag", "same"), [30_000], "is counted that often")
    tap.equal(sum(c.must("TAMIS.REMOVE", "bag", *["same"] * 20_000, "other")), 20_000, "and taken out")
    c.must("TAMIS.CREATE", "full", "cuckoo:capacity=10K")
    tap.check(isinstance(c.do("TAMIS.ADD", "full", *items), Error), "what does not fit")
    tap.equal(sum(c.must("TAMIS.HAS", "full", *items[:1000])), 0, "is not added by half")
    c.must("TAMIS.CREATE", "map", "approximator:capacity=100K,value=16")
    tap.equal(c.do("TAMIS.PUT", "map", *(word for i in range(20_000) for word in (f"p-{i}", 1 + i % 1000))), 20_000, "20,000 values are put")
    got = c.must("TAMIS.GET", "map", *(f"p-{i}" for i in range(20_000)))
    tap.check(all(value is not None and value > i % 1000 for i, value in enumerate(got)), "and returned")
    is_same(server, replica, ("m", "bag", "full", "map"), "the replica has the same")
    busy, adder = queued(server, "TAMIS.ADD", "m", *(f"x-{i}" for i in range(100_000)))
    until(lambda: has_come(c), 10, "the job has come")
    c.must("RENAME", "m", "m2")
    reply = adder.read() # done, or cancelled by the rename
    tap.check(reply in (100_000, CHANGED) or reply.startswith("NOFILTER"), "a rename during the job is reported")
    busy.end()
    is_same(server, replica, ("m2",), "and the replica has what went in")
    adder.close()
    c.must("DEL", "m2", "bag", "full", "map")
    c.close()


class Theirs:
    """Commands of RedisBloom's families with very many items, compared with MULTI."""

    def __init__(self, server, replica):
        self.server, self.replica, self.client = server, replica, server.client()
        self.keys = []

    def end(self, title):
        if not self.keys:
            return
        is_same(self.server, self.replica, self.keys, f"{title}: the same on the replica")
        self.client.must("DEL", *self.keys)
        self.keys = []

    def both(self, make, words, counter, title):
        """The same reply and the same filter; the counter shows how it was done."""
        c = self.client
        keys = [f"{way}-{len(self.keys)}" for way in ("now", "later")]
        self.keys += keys
        for key in keys if make else ():
            c.must(make[0], key, *make[1:])
        before = field(c, "tamis", counter)
        now = c.pipeline([["MULTI"], [words[0], keys[0], *words[1:]], ["EXEC"]])[2][0]
        tap.equal(field(c, "tamis", counter), before, f"{title}: in MULTI at once")
        later = c.do(words[0], keys[1], *words[1:])
        tap.check(field(c, "tamis", counter) > before, f"{title}: alone by {counter}")
        tap.check(later == now, f"{title}: the same reply")
        tap.equal(digest(self.server, keys[1]), digest(self.server, keys[0]), f"{title}: the same filter")
        return later


STEPS, DONE = "tamis_job_steps", "tamis_jobs_done"


def many_in_blooms(t, kind):
    items = [f"b-{i}" for i in range(40_000)]
    reply = t.both(["BF.RESERVE", "0.01", 100_000], ["BF.MADD", *items, *items[:100]], STEPS, f"BF.MADD, {kind}")
    tap.check(sum(reply) > 39_000 and sum(reply[-100:]) == 0, "most are new, and none of them twice")
    tap.equal(sum(t.both(None, ["BF.INSERT", "CAPACITY", 5_000_000, "ITEMS", *items], STEPS, f"BF.INSERT, large, {kind}")) > 39_000, True,
              "a large filter is made first")
    t.both(None, ["BF.INSERT", "CAPACITY", 50_000, "ITEMS", *items], STEPS, f"BF.INSERT, small, {kind}")
    before = field(t.client, "tamis", DONE)
    tap.equal(sum(t.client.must("BF.MEXISTS", t.keys[-1], *items)), len(items), "BF.MEXISTS finds them")
    tap.equal(field(t.client, "tamis", DONE) - before, 1, "by the worker")
    reply = t.both(["BF.RESERVE", "0.01", 1000], ["BF.MADD", *items], DONE, f"BF.MADD, grows, {kind}")
    tap.check(sum(reply) > 39_000, "and takes them all")
    reply = t.both(["BF.RESERVE", "0.01", 20_000, "NONSCALING"], ["BF.MADD", *items], STEPS, f"BF.MADD, full, {kind}")
    tap.equal((len(reply) < len(items), reply[-1]), (True, Error("ERR non scaling filter is full")), "the array ends where it was full")
    t.client.must("CONFIG", "SET", "tamis.max-filter-bytes", 20_000)
    reply = t.both(["BF.RESERVE", "0.01", 5000], ["BF.MADD", *items], DONE, f"BF.MADD, no larger, {kind}")
    t.client.must("CONFIG", "SET", "tamis.max-filter-bytes", 1 << 31)
    tap.check(5000 <= len(reply) - 1 < 40_000 and reply[-1].startswith("ERR problem inserting into filter: "), "nor does it pass its limit")


def many_in_cuckoos(t, kind):
    items = [f"c-{i}" for i in range(40_000)]
    for command in ("CF.INSERT", "CF.INSERTNX"):
        reply = t.both(["CF.RESERVE", 200_000], [command, "ITEMS", *items, *items[:100]], STEPS, f"{command}, {kind}")
        tap.check(sum(reply[:40_000]) > 35_000 and sum(reply[-100:]) == (100 if command == "CF.INSERT" else 0), "once more, or only what is new")
        t.both(None, [command, "CAPACITY", 8_000_000, "ITEMS", *items], STEPS, f"{command}, large, {kind}")
        before = field(t.client, "tamis", DONE)
        tap.equal(sum(t.client.must("CF.MEXISTS", t.keys[-1], *items)), len(items), "CF.MEXISTS finds them")
        tap.equal(field(t.client, "tamis", DONE) - before, 1, "by the worker")
        grown = t.both(["CF.RESERVE", 2000], [command, "ITEMS", *items], DONE, f"{command}, grows, {kind}")
        tap.check(-1 not in grown, "and takes them all")
        full = t.both(["CF.RESERVE", 10_000, "EXPANSION", 0], [command, "ITEMS", *items], STEPS, f"{command}, full, {kind}")
        tap.check(full.count(-1) > 20_000, "what found no room is reported")
    t.client.must("CONFIG", "SET", "tamis.max-filter-bytes", 40_000)
    reply = t.both(["CF.RESERVE", 4000], ["CF.INSERT", "ITEMS", *items], DONE, f"CF.INSERT, no larger, {kind}")
    t.client.must("CONFIG", "SET", "tamis.max-filter-bytes", 1 << 31)
    tap.check(reply[0] == 1 and -1 in reply, "nor does it pass its limit")
    modern = t.server.client(protocol=3)
    tap.equal(set(map(type, modern.must("CF.INSERT", t.keys[-1], "ITEMS", *items))) <= {bool, int}, True, "in the newer protocol too")
    modern.close()


def large_growth(t, kind, make, add, size, total):
    """A large filter that grows within a command of many or of few items: the same as in MULTI."""
    c = t.client
    keys = [f"{way}-{len(t.keys)}" for way in ("now", "later")]
    t.keys += keys
    for key in keys:
        c.must(make[0], key, *make[1:])
    done, grown, replies = field(c, "tamis", DONE), 0, []
    for at in range(0, total, size):
        items = [f"{i}" for i in range(at, at + size)]
        now = c.pipeline([["MULTI"], [add[0], keys[0], *add[1:], *items], ["EXEC"]])[2][0]
        before = field(c, "tamis", DONE)
        later = c.do(add[0], keys[1], *add[1:], *items)
        replies.append(now == later)
        grown += field(c, "tamis", DONE) - before > (2 if size > 16_384 else 0)
    title = f"{add[0]} of {size}, {kind}"
    tap.equal(grown, 1, f"{title}: it grew once, on a copy")
    tap.check(all(replies), f"{title}: the same replies")
    tap.equal(digest(t.server, keys[1]), digest(t.server, keys[0]), f"{title}: the same filter")


def many_in_sketches(t, kind):
    c = t.client
    pairs = [word for i in range(20_000) for word in (f"s-{i % 5000}", i % 3)]
    t.both(["CMS.INITBYDIM", 20_000, 4], ["CMS.INCRBY", *pairs], STEPS, f"CMS.INCRBY, {kind}")
    t.both(["CMS.INITBYDIM", 20_000, 4], ["CMS.INCRBY", *pairs[:20_000]], STEPS, f"CMS.INCRBY of 10,000, {kind}")
    before = field(c, "tamis", DONE)
    counts = c.must("CMS.QUERY", t.keys[-1], *pairs[::2])
    tap.equal(field(c, "tamis", DONE) - before, 1, "CMS.QUERY by the worker")
    tap.equal(counts, c.pipeline([["MULTI"], ["CMS.QUERY", t.keys[-1], *pairs[::2]], ["EXEC"]])[2][0], "says what it says in MULTI")
    reply = t.both(["CMS.INITBYDIM", 20_000, 4], ["CMS.INCRBY", *pairs, "much", 2**32 - 2, "much", 9, *pairs], STEPS, f"CMS.INCRBY, overflow, {kind}")
    tap.equal(reply[20_000:20_002], [2**32 - 2, Error("CMS: INCRBY overflow")], "what is too much is an error between the others")
    before = digest(t.server, t.keys[-1]), field(c, "tamis", STEPS)
    for bad, why in (("x", "CMS: Cannot parse number"), (-1, "CMS: Number cannot be negative")):
        tap.equal(c.do("CMS.INCRBY", t.keys[-1], *pairs, "bad", bad, *pairs), Error(why), "one bad number in the middle")
    tap.equal((digest(t.server, t.keys[-1]), field(c, "tamis", STEPS)), before, "and nothing is counted")


def windows_by_adds(server, replica):
    """The end of a generation clears much of the filter, piece by piece, also for one item."""
    t = Theirs(server, replica)
    c = t.client
    spec = "window:size=96MiB,capacity=40,generations=4"
    t.both(["TAMIS.CREATE", spec], ["TAMIS.ADD", *(f"w-{i}" for i in range(35))], STEPS, "adds to a window")
    t.both(["TAMIS.CREATE", spec], ["TAMIS.ADDNEW", *(f"w-{i % 30}" for i in range(60))], STEPS, "adds of what is new")
    t.both(["TAMIS.CREATE", spec], ["TAMIS.HADD", random.Random(4).randbytes(8 * 45)], STEPS, "packed adds")
    for key in t.keys[:2]:
        c.must("TAMIS.ADD", key, *(f"x-{i}" for i in range(5)))
    before = field(c, "tamis", STEPS)
    c.must("TAMIS.ADD", t.keys[1], "one")
    tap.check(field(c, "tamis", STEPS) > before, "one item that ends a generation")
    c.pipeline([["MULTI"], ["TAMIS.ADD", t.keys[0], "one"], ["EXEC"]])
    tap.equal(digest(server, t.keys[1]), digest(server, t.keys[0]), "gives the same")
    t.end("windows by adds")
    c.must("TAMIS.CREATE", "w", spec)
    busy, adder = queued(server, "TAMIS.ADD", "w", *(f"w-{i}" for i in range(2_000)))
    until(lambda: has_come(c), 10, "the job has come")
    c.must("RENAME", "w", "w2")
    tap.check(adder.read() in (2_000, CHANGED), "a rename while a generation ends is reported")
    busy.end()
    adder.close()
    c.must("TAMIS.HAS", "w2", "w-0")
    is_same(server, replica, ("w2",), "and is the same on the replica")
    c.must("DEL", "w2")
    c.close()


def many_that_grow(server, replica):
    """On a copy, and replicated as one argument: the hashes."""
    t = Theirs(server, replica)
    c = t.client
    items = [f"g-{i}" for i in range(40_000)]
    for spec in ("grow:capacity=1000", "scalable:capacity=1000", "cuckoo:capacity=50K", "redisbloom:capacity=1000,fpr=1%"):
        t.both(["TAMIS.CREATE", spec], ["TAMIS.ADD", *items], DONE, spec)
        tap.equal(sum(c.must("TAMIS.HAS", t.keys[-1], *items)), len(items), "all are found")
    pairs = [word for i in range(20_000) for word in (f"p-{i}", i % 1000)]
    t.both(["TAMIS.CREATE", "approximator:capacity=100K,value=16"], ["TAMIS.PUT", *pairs], DONE, "values")
    before = digest(server, t.keys[-1])
    bad = t.both(["TAMIS.CREATE", "approximator:capacity=100K,value=16"], ["TAMIS.PUT", *pairs, "z", "9z"], DONE, "an invalid value")
    tap.equal(bad, Error("ERR the value of 'z' must be a whole number from 0 to 2^64-1"), "is reported")
    tap.check(digest(server, t.keys[-1]) != before and c.must("TAMIS.GET", t.keys[-1], "p-1") == [None], "and nothing is put")
    t.end("many that grow")
    c.close()


def calls(client, command):
    """How often a server has run the command."""
    line = info_field(client, "commandstats", "cmdstat_" + command)
    return int(line.split(",")[0].split("=")[1]) if line else 0


def as_resp(words):
    words = [str(word).encode() if not isinstance(word, bytes) else word for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def replicated_as_one(server, replica):
    """What is all or nothing is replicated as one argument, whatever its words are."""
    c, r = server.client(), replica.client()
    items = [f"{i}" * (1 + i % 3) for i in range(20_000)] + [b"", b"\r\n\0", "x" * 70_000]
    pairs = [word for i, item in enumerate(items) for word in (item, 1 + i % 1000)]
    cases = (("cuckoo:capacity=100K", ["TAMIS.ADDNEW"], items), ("quotient:capacity=100K", ["TAMIS.ADDNEW"], items + items[:9]),
             ("scalable:capacity=1000", ["tamis.addnew"], items), ("redisbloom:capacity=1000,fpr=1%", ["TAMIS.ADD"], items),
             ("approximator:capacity=100K,value=16", ["TAMIS.PUT"], pairs))
    keys = [f"one-{i}" for i in range(len(cases))]
    for s in (c, r):
        s.must("CONFIG", "SET", "appendonly", "yes")
        until(lambda s=s: info_field(s, "persistence", "aof_rewrite_in_progress") == "0", 60, "a file is written")
    for key, (spec, command, words) in zip(keys, cases):
        c.must("TAMIS.CREATE", key, spec)
        in_step(server, replica)
        words_before, before = calls(r, "tamis.words"), calls(r, command[0].lower())
        c.must(*command, key, *words)
        is_same(server, replica, (key,), f"{command[0]} to {spec}: the same on the replica")
        tap.equal((calls(r, "tamis.words") - words_before, calls(r, command[0].lower()) - before), (1, 0), "replicated as one argument")
        tap.equal(min(c.must("TAMIS.HAS", key, *items)), 1, "with every item")
        c.pipeline([["MULTI"], [*command, key, *words], ["EXEC"]])
        is_same(server, replica, (key,), "and in MULTI")
    wanted = [digest(server, key) for key in keys]
    tap.equal(c.do("TAMIS.WORDS", keys[0], "TAMIS.ADD", b"\1\0\0\0a"), Error("ERR TAMIS.WORDS is for primaries and append-only files"),
              "clients may not use TAMIS.WORDS")
    for s, name in ((server, "its file"), (replica, "the replica's file")):
        s.client().must("DEBUG", "LOADAOF")
        tap.equal([digest(s, key) for key in keys], wanted, f"{name} has the same")
    good = b"\4\0\0\0told\0\0\0\0"
    with open(max(glob.glob(os.path.join(server.folder, "appendonlydir", "*.incr.aof")), key=os.path.getmtime), "ab") as log:
        log.write(as_resp(["TAMIS.CREATE", "w", "blocked:capacity=1000"]))
        for command, packed in (("TAMIS.ADD", good), ("tamis.add", b"\5\0\0\0other"), ("TAMIS.ADD", b""), ("TAMIS.ADD", b"\1"), ("TAMIS.ADD", b"\4\0\0\0tailx"),
                                ("TAMIS.ADD", b"\1\0\0\0"), ("TAMIS.ADD", b"\xff\xff\xff\xffbad"), ("TAMIS.HAS", good), ("SET", good),
                                ("TAMIS.WORDS", good), ("TAMIS.MERGE", good), ("TAMIS.CREATE", b"\0\0\0\0"), ("TAMIS.PUT", good)):
            log.write(as_resp(["TAMIS.WORDS", "w", command, packed]))
    c.must("DEBUG", "LOADAOF")
    tap.equal((c.must("TAMIS.HAS", "w", "told", "", "other", "bad", "tail"), c.must("TYPE", "w")), ([1, 1, 1, 0, 0], Status("tamis-set")),
              "false words are refused, and leave nothing")
    for s in (c, r):
        s.must("CONFIG", "SET", "appendonly", "no")
    c.must("DEL", "w", *keys)
    c.close()
    r.close()


def large_words(server):
    """The server moves a large argument that is still held when its command has returned."""
    c = server.client()
    sizes = [200_000] + [40_000] * 20
    items = [f"l-{i}" for i in range(20_000)] + [chr(97 + i) * size for i, size in enumerate(sizes)]
    c.must("TAMIS.CREATE", "large", "redisbloom:capacity=100000,fpr=1%")
    c.must("BF.MADD", "large", *items)
    tap.equal(c.must("BF.MEXISTS", "large", *items), [1] * len(items), "large items among very many")
    tap.equal(c.must("BF.MEXISTS", "large", *items[-21:]), [1] * 21, "are found alone")
    c.must("DEL", "large")
    c.close()


def large_growth_by_one(t, kind, capacity):
    """An item by itself for which a large filter must grow."""
    c, key = t.client, "full"
    c.must("BF.RESERVE", key, "1e-12", capacity)
    for at in range(0, capacity, 10_000):
        c.must("BF.MADD", key, *range(at, at + 10_000))
    before = field(c, "tamis", DONE)
    tap.equal(c.do("BF.ADD", key, "7"), 0, f"BF.ADD, {kind}: what is there needs no room")
    tap.equal(field(c, "tamis", DONE) - before, 0, f"BF.ADD, {kind}: and no copy")
    tap.equal(c.do("BF.ADD", key, "one more"), 1, f"BF.ADD, {kind}: one more goes in")
    tap.equal(field(c, "tamis", DONE) - before, 1, f"BF.ADD, {kind}: it grew once, on a copy")
    t.keys.append(key)


def many_of_theirs(server, replica):
    t = Theirs(server, replica)
    c = t.client
    for family, theirs, part in (("bf", "redisbloom", many_in_blooms), ("cf", "rediscuckoo", many_in_cuckoos), ("cms", "rediscms", many_in_sketches)):
        for kind in (theirs, "tamis"):
            for s in (server, replica):
                s.client().must("CONFIG", "SET", f"tamis.{family}-kind", kind)
            part(t, kind)
            t.end(kind)
            if family == "bf":
                large_growth(t, kind, ["BF.RESERVE", "1e-12", 600_000], ["BF.MADD"], 40_000, 680_000)
            if (family, kind) == ("bf", "tamis"):
                large_growth_by_one(t, kind, 600_000)
            if family == "cf":
                large_growth(t, kind, ["CF.RESERVE", 250_000, "EXPANSION", 16], ["CF.INSERT", "ITEMS"], 40_000, 280_000)
                large_growth(t, kind, ["CF.RESERVE", 250_000, "EXPANSION", 16], ["CF.INSERTNX", "ITEMS"], 10_000, 280_000)
            t.end(kind)
    for make, words, script, reply in (
            (["BF.RESERVE", "q", "0.01", 1_000_000], ["BF.MADD", "q"], "return redis.call('bf.add', KEYS[1], 'in')", 1),
            (["CF.RESERVE", "q", 1_000_000], ["CF.INSERT", "q", "ITEMS"], "return redis.call('cf.add', KEYS[1], 'in')", 1),
            (["CMS.INITBYDIM", "q", 100_000, 4], ["CMS.INCRBY", "q"], "return redis.call('cms.incrby', KEYS[1], 'in', 1)[1]", 1)):
        c.must(*make)
        busy, adder = queued(server, *words, *(word for i in range(40_000) for word in (f"q-{i}", 0)))
        until(lambda: has_come(c), 10, "the job has come")
        tap.equal(c.do("EVAL", script, 1, "q"), reply, f"a script does not wait for {words[0]}")
        tap.equal(len(adder.read()) >= 40_000, True, "which is answered")
        busy.end()
        adder.close()
        is_same(server, replica, ("q",), "and is the same on the replica")
        busy, adder = queued(server, *words, *(word for i in range(40_000) for word in (f"r-{i}", 0)))
        until(lambda: has_come(c), 10, "the job has come")
        c.must("RENAME", "q", "r")
        got = adder.read() # done, or cancelled by the rename
        tap.check(not isinstance(got, Error) or got == CHANGED or got.startswith("CMS: key does not exist"), "a rename during the job is reported")
        busy.end()
        adder.close()
        is_same(server, replica, ("r",), "and the replica has what went in")
        c.must("DEL", "q", "r")
    c.close()


def ends(server):
    c = server.client()
    busy, merger = queued(server, "TAMIS.MERGE", "dest", "base")
    c.send(["SHUTDOWN", "NOSAVE"])
    tap.equal(server.process.wait(30), 0, "a server ends while a job is under way")
    for client in (merger, *busy.clients, c):
        client.close()


def main():
    with Server() as server, Server() as replica:
        replicate(server, replica)
        crowd(server, replica)
        for part in (many_wait, clients_that_may_not_wait, keys_that_go, clients_that_go, pauses, saving, made_without_touching, large_words):
            part(server)
        for part in (replica_works, piles_up, copies, ticks_in_steps, windows_by_adds, very_many, many_that_grow, replicated_as_one, many_of_theirs):
            part(server, replica)
        in_step(server, replica)
        tap.equal(digest(replica, "dest"), digest(server, "dest"), "the replica is the same after all that")
        becomes_replica(server, replica)
        ends(server)
    return tap.end()


sys.exit(main())
