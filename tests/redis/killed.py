#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill -9 during pipelined adds, with appendfsync always, BGSAVE and BGREWRITEAOF running.

    KEYS=1000000 tests/redis/killed.py      total adds (default: 200,000); SEED= for other moments

Adds of keys (TAMIS.ADD, BF.MADD, CF.INSERT) and packed hashes (TAMIS.HADD) to fixed and growing
filters are pipelined on one connection. The server is killed at random moments and restarted from
what it wrote; nothing that it had acknowledged may be missing. Then the adds go on.
"""
import os
import random
import struct
import sys
import threading

from resp import Error, packed
from server import Server, Tap, until

KEYS = int(os.environ.get("KEYS", "200000"))
SEED = int(os.environ.get("SEED", "1"))
KILLS, MANY, WINDOW = 4, 100, 64
CHILDREN = "BGSAVE", "BGREWRITEAOF"
tap = Tap()

FILTERS = {
    "fixed": (["TAMIS.CREATE", "fixed", f"blocked:capacity={KEYS}"], "TAMIS.ADD"),
    "grows": (["TAMIS.CREATE", "grows", "scalable:capacity=1000"], "TAMIS.ADD"),
    "table": (["TAMIS.CREATE", "table", f"quotient:capacity={KEYS}"], "TAMIS.ADD"),
    "hashes": (["TAMIS.CREATE", "hashes", f"split:capacity={KEYS}"], "TAMIS.HADD"),
    "bloom": (["BF.RESERVE", "bloom", "0.01", "1000"], "BF.MADD"),
    "cuckoo": (["CF.RESERVE", "cuckoo", str(KEYS)], "CF.INSERT"),
}


def hash_of(i):
    return (i * 0x9e3779b97f4a7c15 + 77) % 2 ** 64


def command_of(name, add, first):
    numbers = range(first, first + MANY)
    if add == "TAMIS.HADD":
        return [add, name, struct.pack(f"<{MANY}Q", *map(hash_of, numbers))]
    words = [f"{name}-{i}" for i in numbers]
    return [add, name, *(["ITEMS"] if add == "CF.INSERT" else []), *words]


def is_taken(reply):
    """Acknowledged: a number, or an array without an error or a refusal."""
    return not isinstance(reply, Error) and not (isinstance(reply, list) and any(isinstance(x, Error) or x == -1 for x in reply))


class Adds:
    """All adds in order, and which of them were acknowledged."""

    def __init__(self, names):
        self.names, self.rounds, self.todo = names, 0, []
        self.done, self.acknowledged, self.refused = 0, [], 0
        self.extend(KEYS // MANY // len(names))

    def extend(self, rounds):
        """Adds `rounds` batches for each filter."""
        self.todo += [(name, first * MANY) for first in range(self.rounds, self.rounds + rounds) for name in self.names]
        self.rounds += rounds

    def run(self, server, stop_at, savers, child):
        """Pipelines until `stop_at` are acknowledged and `child` is running; kills the server while
        more adds are under way. Whatever was acknowledged before the connection ended counts."""
        client = server.client()
        sent = self.done
        is_killed = False
        try:
            while self.done < len(self.todo):
                if child and not is_killed and sent == len(self.todo) and self.rounds < 3 * KEYS // MANY // len(self.names):
                    self.extend(100)  # no child yet: it may be late on a busy machine
                while sent < len(self.todo) and sent - self.done < WINDOW:
                    name, first = self.todo[sent]
                    client.socket.sendall(packed(command_of(name, FILTERS[name][1], first)))
                    sent += 1
                self.take(client.read())
                if self.done >= stop_at and not is_killed and savers.child == child:
                    server.process.kill()
                    is_killed = True
        except (ConnectionError, OSError):
            pass
        client.close()
        server.kill()
        return is_killed

    def take(self, reply):
        if is_taken(reply):
            self.acknowledged.append(self.todo[self.done])
        else:
            self.refused += 1
            print(f"#   refused: {str(reply)[:200]}")
        self.done += 1

    def missing(self, server):
        client, missing = server.client(), 0
        for at in range(0, len(self.acknowledged), 500):
            part = self.acknowledged[at:at + 500]
            asks = []
            for name, first in part:
                add = FILTERS[name][1]
                words = command_of(name, add, first)
                asks.append(["TAMIS.HHAS" if add == "TAMIS.HADD" else "TAMIS.HAS", name,
                             *(w for w in words[2:] if w != "ITEMS")])
            for reply in client.pipeline(asks):
                if isinstance(reply, Error):
                    missing += MANY
                elif isinstance(reply, list):
                    missing += reply.count(0)
                else:
                    missing += MANY - sum(bin(byte).count("1") for byte in reply)
        client.close()
        return missing


class Savers:
    """BGSAVE and BGREWRITEAOF without a pause, until the server is gone."""

    def __init__(self, server):
        self.server, self.saves, self.child = server, 0, None
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        try:
            client = self.server.client()
            while True:
                for command in CHILDREN:
                    if isinstance(client.do(command), Error):
                        continue
                    self.saves, self.child = self.saves + 1, command
                    until(lambda: b"aof_rewrite_in_progress:0" in (info := client.must("INFO", "persistence")) and
                          b"rdb_bgsave_in_progress:0" in info, 60, "the child has ended")
                    self.child = None
        except (ConnectionError, OSError):
            pass


def main():
    rng = random.Random(SEED)
    saves = 0
    options = ("--appendonly", "yes", "--appendfsync", "always", "--save", "3600 1")
    with Server(*options) as server:
        client = server.client()
        names = [n for n, (create, _) in FILTERS.items() if not str(client.do(*create)).startswith("ERR unknown command")]
        client.close()
        adds = Adds(names)
        for kill in range(KILLS):
            last = max(adds.done + 1, len(adds.todo) * (kill + 1) // (KILLS + 1))
            stop_at = rng.randint((adds.done + last) // 2, last)
            savers = Savers(server)
            is_killed = adds.run(server, stop_at, savers, CHILDREN[kill % 2])
            savers.thread.join()
            tap.check(is_killed, f"it was killed while {CHILDREN[kill % 2]} was at work")
            saves += savers.saves
            server.start()
            tap.equal(adds.missing(server), 0, f"killed after {adds.done * MANY} of {len(adds.todo) * MANY} adds: 0 of "
                                               f"{len(adds.acknowledged) * MANY} acknowledged ones are missing")
        savers = Savers(server)
        adds.run(server, len(adds.todo), savers, None)
        savers.thread.join()
        saves += savers.saves
        server.start()
        tap.equal(adds.missing(server), 0, f"at the end none of {len(adds.acknowledged) * MANY} is missing")
        tap.check(adds.refused == 0, "no add was refused")
        tap.check(saves >= KILLS, f"{saves} saves and rewrites were started")
        tap.check(len(adds.acknowledged) >= len(adds.todo) - (KILLS + 1) * WINDOW, "nearly all were acknowledged")
    print(f"# filters: {' '.join(names)}; seed {SEED}")
    return tap.end()


sys.exit(main())
