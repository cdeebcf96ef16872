#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands with one item have a way of their own where the filter is there and has room; everywhere
else they go the way of all. Both must do the same: here each of them meets what lies between the two."""
import sys

from resp import Error, Status
from server import Server, Tap, in_step, info_field, replicate

OK, QUEUED = Status("OK"), Status("QUEUED")
AOF = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0")
WRONG_TYPE = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
FULL = {"BF": "ERR non scaling filter is full", "CF": "Filter is full"}
tap = Tap()


class Family:
    """One family's commands on a server that has a replica and an append-only file."""

    def __init__(self, name, server, replica):
        self.name, self.server, self.replica = name, server, replica
        self.client, self.again = server.client(), int(name == "CF")  # a multiset takes an item again

    def add(self, key, item, client=None):
        return (client or self.client).do(self.name + ".ADD", key, item)

    def has(self, key, item):
        return self.client.do(self.name + ".EXISTS", key, item)

    def reserve(self, key, capacity, *more):
        rate = ["0.01"] if self.name == "BF" else []
        self.client.must(self.name + ".RESERVE", key, *rate, capacity, *more)

    def equal(self, got, wanted, what):
        tap.equal(got, wanted, f"{self.name}: {what}")


def plain(f):
    """Replies, and that the server counts one look at the key for each."""
    c = f.client
    f.reserve("k", 1000)
    c.must("CONFIG", "RESETSTAT")
    f.equal([f.add("k", "a"), f.add("k", "a"), f.has("k", "a"), f.has("k", "b")], [1, f.again, 1, 0], "added, asked")
    f.equal([info_field(c, "stats", "keyspace_hits"), info_field(c, "stats", "keyspace_misses")], ["2", "0"], "questions are hits, once each")
    f.equal([f.has("none", "a"), info_field(c, "stats", "keyspace_misses")], [0, "1"], "a key that is not there is a miss, once")
    c.must("SET", "text", "x")
    f.equal([f.add("text", "a"), f.has("text", "a")], [WRONG_TYPE, 0], "another type")
    f.equal([f.add("made", "a"), f.add("made", "b"), f.has("made", "b")], [1, 1, 1], "an add makes its filter")
    f.equal([isinstance(c.do(f.name + "." + verb, "k", *items), Error) for verb in ("ADD", "EXISTS") for items in ((), ("a", "b"))], [True] * 4,
            "more or fewer items than one")
    asked, changed = (int(info_field(c, "tamis", "tamis_items_" + what)) for what in ("asked", "changed"))
    f.add("k", "c"), f.has("k", "c"), f.has("k", "c")
    f.equal([int(info_field(c, "tamis", "tamis_items_" + what)) for what in ("asked", "changed")], [asked + 2, changed + 1], "INFO counts them")


def contexts(f):
    """MULTI, scripts, WATCH, events, both protocols."""
    c, other, listener = f.client, f.server.client(protocol=3), f.server.client()
    c.must("MULTI")
    f.equal([f.add("k", "in-multi"), f.has("k", "in-multi"), c.must("EXEC")], [QUEUED, QUEUED, [1, 1]], "in MULTI")
    script = "local new = redis.call(ARGV[1] .. '.ADD', KEYS[1], ARGV[2]); return {new, redis.call(ARGV[1] .. '.EXISTS', KEYS[1], ARGV[2])}"
    f.equal(c.do("EVAL", script, 1, "k", f.name, "in-script"), [1, 1], "in a script")
    f.equal([f.add("k", "three", other), other.do(f.name + ".EXISTS", "k", "three")], [True, True], "in RESP3")
    for verb, wanted in (("EXISTS", [1]), ("ADD", None)):
        c.must("WATCH", "k")
        other.must(f.name + "." + verb, "k", "watched")
        c.must("MULTI")
        f.has("k", "in-multi")
        f.equal(c.do("EXEC"), wanted, f"WATCH and {verb}")
    listener.must("PSUBSCRIBE", "__keyevent@0__:*")
    f.add("k", "told"), f.add("k", "told"), f.has("k", "told"), c.must("DEL", "last")
    f.reserve("last", 10)
    names = [listener.read()[2].split(b":")[1].decode() for _ in range(2 + f.again)]
    added, made = {"BF": ("bloom.add", "bloom.reserve"), "CF": ("cf.add", "cuckoo.reserve")}[f.name]
    f.equal(names[:-1], [added] * (1 + f.again), "what was added is an event, what was there is none")
    f.equal(names[-1].split(".")[-1], made.split(".")[-1], "and no question is")
    for client in (other, listener):
        client.close()


def ends(f):
    """Where there is no room, and where a filter grows for one item."""
    c = f.client
    f.reserve("fixed", 4, "NONSCALING") if f.name == "BF" else f.reserve("fixed", 4, "EXPANSION", 0)
    replies = [f.add("fixed", f"fixed-{i}") for i in range(40)]
    refused = [i for i, reply in enumerate(replies) if isinstance(reply, Error)]
    f.equal(refused[:1] != [] and replies[refused[0]], Error(FULL[f.name]), "what does not grow is full")
    f.equal(refused, list(range(4, 40)), "from the item on that has no room")
    f.equal(f.has("fixed", "fixed-3"), 1, "and keeps what it has")
    f.reserve("grows", 4)
    f.equal([f.add("grows", f"grows-{i}") for i in range(400)].count(1) >= 395, True, "what grows takes one after the other")
    f.equal([f.has("grows", f"grows-{i}") for i in range(400)], [1] * 400, "and all of them are there")
    c.must("CONFIG", "SET", "tamis.max-filter-bytes", 1024)
    f.reserve("bound", 4, "EXPANSION", 2)
    replies = [f.add("bound", f"bound-{i}") for i in range(3000)]
    c.must("CONFIG", "SET", "tamis.max-filter-bytes", 2 << 30)
    refused = [i for i, reply in enumerate(replies) if isinstance(reply, Error)]
    f.equal(0 < len(refused) < 3000, True, f"it grows up to max-filter-bytes: {3000 - len(refused)} items")
    f.equal([f.has("bound", f"bound-{i}") for i in range(3000) if i not in set(refused)], [1] * (3000 - len(refused)), "and has those that it took")
    f.equal(f.add("bound", "now"), 1, "with a higher limit it goes on")


def beside_others(f):
    """Filters that share their memory with a copy, others with a clock, and jobs under way."""
    c = f.client
    f.reserve("large", 8_000_000)
    f.add("large", "first")
    c.must("COPY", "large", "copy")
    f.equal([f.add("copy", "second"), f.has("copy", "second"), f.has("large", "second")], [1, 1, 0], "a copy is changed alone")
    f.equal([f.has("copy", "first"), f.add("large", "third"), f.has("copy", "third")], [1, 1, 0], "and so is its original")
    c.must("TAMIS.CREATE", "ticks", "window:capacity=100,by=clock", "EVERY", 3_600_000)
    f.equal([f.add("k", "clock"), f.has("k", "clock")], [1, 1], "with a clock on another key")
    c.must("DEL", "ticks")
    jobs = int(info_field(c, "tamis", "tamis_jobs_done"))
    waits = f.server.client()
    waits.send(["TAMIS.MERGE", "merged", "large"])  # reads it, on the worker
    f.equal([f.add("large", "later"), f.has("large", "later"), waits.read()], [1, 1, OK], "during a job that reads the filter")
    f.equal(int(info_field(c, "tamis", "tamis_jobs_done")) > jobs, True, "there was one")
    f.equal(c.must("TAMIS.HAS", "merged", "third"), [1], "which has what was there before")
    waits.close()
    c.must("UNLINK", "merged", "copy", "large")


def same_elsewhere(f):
    c = f.client
    keys = sorted(c.must("KEYS", "*"))
    wanted = c.must("DEBUG", "DIGEST-VALUE", *keys)
    in_step(f.server, f.replica)
    f.equal(f.replica.client().must("DEBUG", "DIGEST-VALUE", *keys), wanted, "the replica has the same filters")
    c.must("DEBUG", "LOADAOF")
    f.equal(c.must("DEBUG", "DIGEST-VALUE", *keys), wanted, "and so has the append-only file")
    f.equal(isinstance(f.replica.client().do(f.name + ".ADD", "k", "x"), Error), True, "clients of a replica add nothing")
    c.must("FLUSHALL")


def main():
    with Server(*AOF, "--notify-keyspace-events", "Ed") as server, Server() as replica:
        replicate(server, replica)
        for name in ("BF", "CF"):
            f = Family(name, server, replica)
            for part in (plain, contexts, ends, beside_others, same_elsewhere):
                part(f)
            f.client.close()
        tap.check("CRITICAL" not in replica.log(), "the replica refused nothing of its primary")
    return tap.end()


sys.exit(main())
