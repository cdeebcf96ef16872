#!/usr/bin/env python3
"""Work off the main thread: large filters, many clients at once, and everything that may come in between.

TAMIS_WORK_MIB sets the size of the filters, TAMIS_WORK_SECONDS how long the crowd works.
"""
import os
import random
import sys
import threading
import time

from resp import Error, Status
from server import Server, Tap, in_step, replicate, until

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
    """Keeps the worker busy: jobs on keys of their own, sent without waiting for a reply. Folding by 1 makes
    a copy and puts it in place."""

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
    """A client whose job waits behind others."""
    busy = Busy(server)
    client = server.client()
    client.send(words)
    return busy, client


def crowd(server, replica):
    """Merges, folds, loads, adds, questions and deletes at the same time."""
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
    allowed = ("changed meanwhile", "NOFILTER", "item exists", "differ", "no such filter on its way", "gap",
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
    tap.check(done > 0, f"{done} jobs were done; the longest question took {longest[0] * 1000:.1f} ms")
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


def who_may_not_wait(server):
    """A job that the worker has not begun is done by whoever may not wait."""
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
    for line in client.must("INFO", section).decode().split("\r\n"):
        if line.startswith(name + ":"):
            return int(line.split(":")[1])
    return 0


def jobs_active(client):
    return field(client, "tamis", "tamis_jobs_active")


def keys_that_go(server):
    """Whatever happens to the key meanwhile: the job is answered, and nobody finds half of it."""
    changed = Error("ERR the key was changed meanwhile")
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
        until(lambda: field(c, "clients", "blocked_clients") > JOBS or jobs_active(c) <= 1, 10, "the job has come")
        for words in commands:
            c.must(*words)
        reply = merger.read()
        ends = (OK, changed) if name != "swapped" else (OK, changed, Error("NOFILTER there is no filter at key 'base'"))
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
    tap.equal(c.do("TAMIS.ADD", "dest", "next"), 1, "clients that were killed leave nothing behind")
    c.close()


def pauses(server):
    """A server that writes while its clients are paused ends itself."""
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
    """Nothing of before is written over what the new primary has."""
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
        for part in (many_wait, who_may_not_wait, keys_that_go, clients_that_go, pauses, saving):
            part(server)
        in_step(server, replica)
        tap.equal(digest(replica, "dest"), digest(server, "dest"), "the replica is the same after all that")
        becomes_replica(server, replica)
        ends(server)
    return tap.end()


sys.exit(main())
