#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tamis cluster` on three primaries and three replicas, while everything happens to them.

    tests/redis/cluster.py                 100,000 keys, some seconds
    KEYS=1e8 tests/redis/cluster.py        the same with many: "make cluster-proof"
    tests/redis/cluster.py one_server      only some sections

Clients add keys through pipes while 1,500 slots move, a node joins and gets some, replication to
one replica is cut, and its primary is killed with keys that only it had. Then every key must be
there, and the image of all shards must be what one process builds, byte for byte.

Nothing depends on timing: an event brings keys itself at the moment that matters, and continues
when servers report that it took effect. Servers elect by themselves only with many keys, because
that run measures how long it takes.
"""
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from nodes import Cluster
from server import ROOT, Server, Tap, info_field, until

TAMIS = os.environ.get("TAMIS", os.path.join(ROOT, "build", "tamis"))
KEYS = int(float(os.environ.get("KEYS", 100000)))
IS_LONG = KEYS > 1000000
SPEC = f"split:capacity={KEYS},fpr=1%"
tap = Tap()
folder = tempfile.TemporaryDirectory(prefix="tamis-cluster-test-")
SECRET = os.path.join(folder.name, "secret")
ALL = os.path.join(folder.name, "keys")


def path(name):
    return os.path.join(folder.name, name)


def tamis(*words, address=None, data=None, timeout=600, program=TAMIS, **more):
    environment = dict(os.environ, TAMIS_CLUSTER=address or (cluster.address() if cluster else ""), **more)
    return subprocess.run([program, *map(str, words)], input=data, capture_output=True, env=environment,
                          timeout=timeout, check=False)


def refused(result, code, words, name):
    text = result.stderr.decode()
    if not tap.check(result.returncode == code and re.search(words, text) is not None, name):
        print(f"#   exit {result.returncode}: {text}", flush=True)


def worked(result, name):
    if not tap.check(result.returncode == 0, name):
        print(f"#   exit {result.returncode}: {result.stderr.decode()}", flush=True)


# ---- Keys ------------------------------------------------------------------------------------------

PIECES = 200 if not IS_LONG else 2000
PHASES = 4
BY_EVENTS = PIECES // 10  # fed by events, not by phases

# The --timeout for silent servers, in seconds; enough for others to answer on a busy machine.
PATIENCE = 5


def write_keys():
    with open(SECRET, "wb") as file:
        file.write(bytes(range(16)))
    subprocess.run(f"seq {KEYS} >{ALL}", shell=True, check=True)


class Adder:
    """`tamis cluster add`, fed through a pipe. Shells make background jobs ignore SIGINT."""
    all = []

    def __init__(self, name, *options, address=None):
        environment = dict(os.environ, TAMIS_CLUSTER=address or cluster.address(0, 1))
        self.process = subprocess.Popen([TAMIS, "cluster", "add", name, "--json", *options], env=environment,
                                        stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        Adder.all.append(self)

    def feed(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        words = self.process.stderr.read().decode()
        code = self.process.wait()
        report = next((json.loads(line) for line in words.split("\n") if line.startswith("{")), {})
        return code, report, words


class Feeder:
    """Feeds the keys in pieces to clients in turn: a part in each phase, while an event happens."""

    def __init__(self, adders):
        self.adders = adders
        self.file = open(ALL, "rb")
        self.size = os.path.getsize(ALL)
        self.piece = self.size // PIECES + 1
        self.per_phase = (PIECES - BY_EVENTS) // PHASES
        self.rest = b""
        self.turn = 0
        self.lock = threading.Lock()  # events bring keys as well

    def put_piece(self, adder=None):
        """Some hundred keys, so some for every shard."""
        with self.lock:
            data = self.rest + self.file.read(self.piece)
            end = data.rfind(b"\n") + 1
            self.rest = data[end:]
            adder = adder or self.adders[self.turn % len(self.adders)]
            self.turn += 1
        adder.feed(data[:end])  # one that is blocked stops no other
        return len(data) > 0

    def phase(self, event):
        """Feeds during the event; both must end."""
        trouble = []

        def happen():
            try:
                event(self)
            except BaseException as problem:  # raised by the waiting thread
                trouble.append(problem)
        thread = threading.Thread(target=happen)
        thread.start()
        for _ in range(self.per_phase):
            self.put_piece()
            thread.join(0 if IS_LONG else 0.01)  # spread over the event
        thread.join()
        if trouble:
            raise trouble[0]

    def finish(self):
        while self.put_piece():
            continue
        self.file.close()


# ---- What is refused -------------------------------------------------------------------------------

def refusals():
    refused(tamis("cluster", "create", "a{b}", SPEC), 2, "braces", "a name with braces is refused")
    refused(tamis("cluster", "create", "f", "cuckoo:capacity=1000"), 2, "cuckoo|cut", "a kind that cannot be cut is refused")
    refused(tamis("cluster", "create", "f", SPEC, "--shards", "20000"), 2, "allowed: 1 to 16384", "more shards than slots are refused")
    refused(tamis("cluster", "create", "f", SPEC, "--invert-match"), 2, "create does not accept --invert-match", "an option of another action is refused")
    refused(tamis("cluster", "grow", "f"), 2, "unknown action .grow.", "an unknown action is refused")
    refused(tamis("cluster", "add", "nothing", data=b"x\n"), 2, "no such filter", "a filter that is not there takes no keys")
    refused(tamis("cluster", "check", "nothing", data=b"x\n"), 2, "no such filter", "a filter that is not there has no answers")
    refused(tamis("cluster", "info", "f", "--redis", "127.0.0.1:1", "--timeout", "1"), 2, r"127.0.0.1:1: cannot connect",
            "an absent server is reported")
    c = cluster.nodes[1].client()
    c.must("CONFIG", "SET", "maxmemory", "1gb", "maxmemory-policy", "allkeys-lru")
    refused(tamis("cluster", "create", "f", SPEC), 2, f"127.0.0.1:{cluster.nodes[1].port}: its maxmemory-policy is allkeys-lru",
            "a primary that would throw shards away is refused by name")
    c.must("CONFIG", "SET", "maxmemory-policy", "noeviction")
    with Server(module=None) as bare:
        refused(tamis("cluster", "create", "f", SPEC, address=f"127.0.0.1:{bare.port}"), 2,
                f"127.0.0.1:{bare.port}: this server has not loaded the module", "a server without the module is refused by name")


def all_or_nothing():
    """A shard that cannot be made takes the others with it."""
    tap.equal(len(all_keys("half:*")), 0, "nothing of that name is there")
    node = cluster.nodes[2].client()
    node.must("CONFIG", "SET", "maxmemory", "1")
    refused(tamis("cluster", "create", "half", SPEC), 2, "shard .* of 24 .*OOM", "a primary without memory makes no shard")
    node.must("CONFIG", "SET", "maxmemory", "0")
    tap.equal(len(all_keys("half:*")), 0, "and then no primary has one")


def all_keys(pattern):
    return [key for node in cluster.alive() if cluster.is_primary(node) for key in node.client().must("KEYS", pattern)]


# ---- Under load ------------------------------------------------------------------------------------

def slot_of(key):
    return cluster.alive()[0].client().must("CLUSTER", "KEYSLOT", key)


def dump_under_load(_):
    """Shards that change while they are fetched are fetched again, until each is whole."""
    worked(tamis("cluster", "dump", "big", path("early.tamis")), "an image is made while keys come")
    worked(tamis("info", path("early.tamis")), "and it passes the gate")


def move_slots(feeder):
    """Moves 1,500 slots of the first primary, fewer in the short form. Those with shards wait
    halfway until keys have come by an ASK; then all clients have an old map, and get a MOVED."""
    source, target = cluster.nodes[0], cluster.nodes[1]

    def keys_come(slot):
        client = target.client()
        key = client.must("CLUSTER", "GETKEYSINSLOT", slot, 1)[0]
        before = items_half_way(client, key)
        feeder.put_piece()
        until(lambda: items_half_way(client, key) > before, 30, "keys come to a shard that is half-way")
    slots = cluster.slots_of(source)[:1500 if IS_LONG else 800]
    with cluster.maps_stay():
        before = moved_replies(source)
        cluster.move(slots, source, target, keys_come)
        for _ in feeder.adders:
            feeder.put_piece()
        until(lambda: moved_replies(source) > before, 30, "a client hears that a shard has moved")
    cluster.wait()


def items_half_way(client, key):
    client.must("ASKING")
    return items(client.must("TAMIS.INFO", key))


def moved_replies(node):
    told = info_field(node.client(), "errorstats", "errorstat_MOVED")
    return int(told.split("=")[1]) if told else 0


def node_joins(_):
    new = cluster.join()
    source = cluster.nodes[1]
    cluster.move(cluster.slots_of(source)[-1200 if IS_LONG else -700:], source, new)
    cluster.wait()
    tap.check(len(new.client().must("KEYS", "*")) > 0, "the node that joined has shards")


def kill_primary(feeder):
    """The replica never receives what its primary acknowledges from here on. A new client asks for
    confirmation, so it holds an acknowledgement that no other server can vouch for."""
    primary = cluster.nodes[2]
    replica = cluster.replica_of(primary)
    c = primary.client()

    def clients():
        """The last command of each client, by id."""
        lines = c.must("CLIENT", "LIST").decode().split("\n")[:-1]
        return {int(one["id"]): one["cmd"] for one in (dict(re.findall("(\\S+?)=(\\S*)", line)) for line in lines)}
    old = set(clients())
    late = Adder("big")
    until(lambda: set(clients()) - old, 30, "a client comes")
    c.must("ACL", "SETUSER", "default", "-psync", "-sync")
    replica.client().must("CLIENT", "KILL", "TYPE", "master")
    until(lambda: info_field(c, "replication", "connected_slaves") == "0", 30, "the primary has no replica")
    feeder.adders.append(late)
    feeder.put_piece(late)
    until(lambda: any(command == "wait" for number, command in clients().items() if number not in old), 30,
          "the primary took keys that its replica has not")
    primary.kill()
    cluster.take_over(replica)


def items(info):
    return info[info.index(b"items") + 1]


def under_load():
    worked(tamis("cluster", "create", "big", SPEC, "--secret-file", SECRET), "a filter is made")
    refused(tamis("cluster", "create", "big", SPEC), 2, "already exists", "and not a second time")
    start = time.monotonic()
    feeder = Feeder([Adder("big"), Adder("big")])
    for event in (dump_under_load, move_slots, node_joins, kill_primary):
        feeder.phase(event)
    feeder.finish()
    reports = [adder.end() for adder in feeder.adders]
    seconds = time.monotonic() - start
    for code, report, words in reports:
        if not tap.check(code == 0 and report.get("is_whole") is True, "a client has added all its keys"):
            print(f"#   exit {code}: {words}", flush=True)
    total = {name: sum(report.get(name, 0) for _, report, _ in reports)
             for name in ("keys", "acknowledged", "batches", "replayed", "moved", "asked", "resets", "unconfirmed",
                          "checkpoints", "retries", "alone")}
    longest = max(report.get("longest_wait", 0) for _, report, _ in reports)
    print(f"# {total}, {KEYS / seconds / 1e6:.2f} M keys/s with all that happened, longest wait {longest} s", flush=True)
    tap.equal(total["keys"], KEYS, "the keys were read")
    tap.equal(total["acknowledged"], KEYS, "and all acknowledged")
    tap.check(total["moved"] > 0, "MOVED was followed")
    tap.check(total["asked"] > 0, "ASK was followed")
    tap.check(total["replayed"] > 0, "what only a dead primary had was sent again")
    return total


def names_are_documented(heading, report):
    """docs/scale.md has the names that --json prints, and no others."""
    with open(os.path.join(ROOT, "docs", "scale.md"), encoding="utf-8") as page:
        section = page.read().split(f"**{heading}**", 1)[1]
    rows = re.match(r"[^|]*((?:\|.*\n)+)", section).group(1).split("\n")[2:]
    names = {name for row in rows if row for name in re.findall("`([^`]+)`", row.split("|")[1])}
    tap.equal(sorted(set(report) - {"answered"}), sorted(names - {"acknowledged"} if "answered" in report else names),
              f"names of {heading}")


def check_all():
    start = time.monotonic()
    result = tamis("cluster", "check", "big", ALL, "--count", "--json")
    seconds = time.monotonic() - start
    tap.equal(result.stdout.decode(), f"{KEYS}\n", "every key that was acknowledged is there")
    report = json.loads(result.stderr)
    print(f"# check: {KEYS / seconds / 1e6:.2f} M keys/s, longest wait {report['longest_wait']} s", flush=True)
    names_are_documented("cluster add --json, cluster check --json", report)
    tap.equal(report["maybes"], 0, "and none of them is a maybe")
    tap.equal(tamis("cluster", "check", "big", ALL, "-v").returncode, 1, "no line is certainly missing")


def check_order():
    lines = b"".join(b"%d\nnot-%d\n" % (i, i) for i in range(1, 50001))
    result = tamis("cluster", "check", "big", "-", data=lines)
    printed = result.stdout.split()
    members = [line for line in printed if not line.startswith(b"not-")]
    tap.equal(members, [b"%d" % i for i in range(1, 50001)], "lines come out in the order of the input")
    known = set(printed)
    tap.check(printed == [line for line in lines.split() if line in known], "also those that are wrong")
    tap.check(200 < len(printed) - len(members) < 1000, f"non-members hit at the expected rate: {len(printed) - len(members)} of 50,000")


def dump_is_the_image():
    worked(tamis("cluster", "dump", "big", path("dump.tamis")), "all shards are fetched")
    info = json.loads(tamis("cluster", "info", "big", "--json").stdout)
    names_are_documented("cluster info --json", info)
    again = info["items"] - KEYS
    tap.check(again >= 0, f"the count of adds has {again} more: keys that were sent again")
    # The same count without a cluster: some keys twice.
    subprocess.run(f"(cat {ALL}; head -n {again % KEYS} {ALL}) >{path('twice')}", shell=True, check=True)
    worked(tamis("build", path("built.tamis"), path("twice"), "--spec", SPEC + ",hash=sip13", "--secret-file", SECRET),
           "one process builds the image")
    same = subprocess.run(["cmp", path("dump.tamis"), path("built.tamis")], check=False).returncode == 0
    tap.check(same, "the dump of all shards is the image of one process, byte for byte")


def image():
    """The earlier dump, or its equal."""
    if not os.path.exists(path("dump.tamis")):
        worked(tamis("build", path("dump.tamis"), ALL, "--spec", SPEC + ",hash=sip13", "--secret-file", SECRET), "an image is built")
    return path("dump.tamis")


# ---- What is lost ----------------------------------------------------------------------------------

def lost_shard():
    worked(tamis("cluster", "load", "lost", image(), "--shards", "24"), "an image is published")
    again = tamis("cluster", "load", "lost", image())
    tap.check(b"0 of 24 shards sent" in again.stderr, "and a second time there is nothing to send")
    key = sorted(all_keys("lost:*"))[5]
    cluster.primary_of(slot_of(key)).client().must("DEL", key)
    name = key.decode()
    refused(tamis("cluster", "check", "lost", ALL, "-c"), 2, re.escape(name) + ".* is missing", "a shard that is gone is an error")
    tap.equal(tamis("cluster", "check", "lost", ALL, "-c").stdout, b"", "and no answer")
    refused(tamis("cluster", "add", "lost", ALL), 2, re.escape(name) + ".* is missing", "nor does it take keys")
    refused(tamis("cluster", "dump", "lost", path("none.tamis")), 2, re.escape(name), "nor is there an image")
    tap.check(not os.path.exists(path("none.tamis")), "not even a part of one")
    info = json.loads(tamis("cluster", "info", "lost", "--json").stdout)
    tap.check(info["absent"] == 1 and info["good"] == 23, "info counts it")
    result = tamis("cluster", "repair", "lost")
    tap.check(result.returncode == 1 and name.encode() + b") absent" in result.stdout, "repair finds it and leaves it")
    worked(tamis("cluster", "load", "lost", image()), "the image brings it back")
    tap.equal(tamis("cluster", "check", "lost", ALL, "-c").stdout, f"{KEYS}\n".encode(), "with all its keys")
    cluster.primary_of(slot_of(key)).client().must("DEL", key)
    worked(tamis("cluster", "repair", "lost", "--accept-loss"), "an empty shard takes its place on request")
    count = int(tamis("cluster", "check", "lost", ALL, "-c").stdout)
    tap.check(KEYS * 0.94 < count < KEYS * 0.98, "whose keys are gone")


def lost_first_shard():
    key = b"lost:{1bz}"
    cluster.primary_of(0).client().must("DEL", key)
    refused(tamis("cluster", "check", "lost", ALL, "-c"), 2, "no such filter", "without its first shard the filter is unknown")
    result = tamis("cluster", "repair", "lost")
    tap.check(result.returncode == 1 and b"shard 0 of 24" in result.stdout, "but repair finds the others")
    worked(tamis("cluster", "repair", "lost", "--from", image()), "an image heals all that is lost")
    tap.equal(tamis("cluster", "check", "lost", ALL, "-c").stdout, f"{KEYS}\n".encode(), "every key is there again")
    tap.equal(len(all_keys("*:repair")), 0, "and nothing is left beside the shards")
    before = all_items("lost")
    again = tamis("cluster", "repair", "lost", "--from", image())
    worked(again, "a second time there is nothing to heal")
    tap.equal(again.stdout, b"24 of 24 shards good\n", "which it says")
    tap.equal(all_items("lost"), before, "and keys are counted once")


def all_items(name):
    return sum(items(cluster.primary_of(slot_of(key)).client().must("TAMIS.INFO", key)) for key in all_keys(name + ":*"))


def primary_is_dead():
    """The primary died a moment ago: the cluster still names it, and no replica has taken over."""
    worked(tamis("cluster", "create", "later", SPEC), "a filter is made")
    for name, has_first in (("of the first shard", True), ("of others", False)):  # queried first
        first = cluster.primary_of(0)
        primary = first if has_first else another_primary(first)
        replica = cluster.replica_of(primary)
        primary.kill()
        told = cluster.maps_requested()
        adder = Adder("later", ALL, address=cluster.address())
        until(lambda: adder.process.poll() is not None or cluster.maps_requested() > told + 5, 30,
              "an add asks again and again for the primary")
        cluster.take_over(replica)
        code, report, words = adder.end()
        if not tap.check(code == 0, f"an add that begins before the election waits for the primary {name}"):
            print(f"#   exit {code}: {words}", flush=True)
        tap.equal(report.get("acknowledged"), KEYS, "and all keys are acknowledged")
        tap.equal(tamis("cluster", "check", "later", ALL, "-c").stdout, f"{KEYS}\n".encode(), "by the replica that was elected")
        primary.start()
        until(lambda: not cluster.is_primary(primary), 60, "a node that comes back learns that it is a replica")
        cluster.wait()


def another_primary(first):
    return next(node for node in cluster.alive() if node is not first and cluster.is_primary(node) and cluster.replica_of(node))


def nobody_is_elected():
    """A cluster that does not recover: the error names the node once."""
    first = cluster.primary_of(0)
    primary = another_primary(first)
    cluster.replica_of(primary).kill()
    primary.kill()
    result = tamis("cluster", "add", "later", ALL, "--timeout", PATIENCE)
    address = f"127.0.0.1:{primary.port}"
    refused(result, 2, re.escape(address), "a timeout names the node")
    tap.equal(result.stderr.decode().count(address), 1, "and says it once")


def other_secret():
    key = sorted(all_keys("lost:*"))[7]
    c = cluster.primary_of(slot_of(key)).client()
    info = c.must("TAMIS.INFO", key)
    c.must("DEL", key)
    c.must("TAMIS.CREATE", key, info[info.index(b"spec") + 1], "SECRET", b"x" * 16)
    refused(tamis("cluster", "check", "lost", ALL, "-c"), 2, "has a different secret", "a shard with another secret is not queried")
    result = tamis("cluster", "repair", "lost")
    tap.check(result.returncode == 1 and b"it has another secret" in result.stdout, "repair finds it")
    c.must("DEL", key)
    worked(tamis("cluster", "load", "lost", image(), "--force"), "the image brings the right one back")


def silent_shards():
    """While a primary and its replica are paused, their shards answer maybe."""
    primary = cluster.primary_of(0)
    pair = [node for node in (primary, cluster.replica_of(primary)) if node]
    name = f"127.0.0.1:{primary.port}"
    info = json.loads(tamis("cluster", "info", "lost", "--json").stdout)
    shards = sum(shard["node"] == name for shard in info["shards"])
    few = b"".join(b"%d\nnot-%d\n" % (i, i) for i in range(1, 20001))
    for node in pair:
        node.process.send_signal(signal.SIGSTOP)
    others = ",".join(f"127.0.0.1:{n.port}" for n in cluster.alive() if n not in pair)
    result = tamis("cluster", "check", "lost", "-", "--timeout", PATIENCE, "--json", data=few, address=others, timeout=60)
    for node in pair:
        node.process.send_signal(signal.SIGCONT)
    report = json.loads(result.stderr.split(b"\n")[0])
    printed = result.stdout.split()
    refused(result, 3, "keys were answered maybe.* did not answer", "silent shards answer maybe, and the exit status says so")
    tap.check(0.8 < report["maybes"] / (40000 * shards / 24) < 1.2, f"only keys of the {shards} silent shards are maybes")
    tap.check({b"%d" % i for i in range(1, 20001)} <= set(printed), "no key that was added is missing")
    tap.check(len(printed) > 20000 + report["maybes"] // 3, "maybes are printed")
    cluster.wait()


# ---- Signals, forms, one server --------------------------------------------------------------------

def stopped():
    adder = Adder("lost")
    adder.feed(b"".join(b"more-%d\n" % i for i in range(20000)))
    until(lambda: tamis("cluster", "check", "lost", "-c", data=b"more-19999\n").stdout == b"1\n", 30, "the last key is there")
    adder.process.send_signal(signal.SIGINT)
    try:
        adder.feed(b"more-20000\n" * 2)
    except BrokenPipeError:
        pass
    code, report, words = adder.end()
    tap.equal(code, -signal.SIGINT, "a signal ends it")
    tap.check("stopped by a signal" in words and 20000 <= report["acknowledged"] <= 20002, "after what was under way, and reports it")
    again = b"".join(b"more-%d\n" % i for i in range(20000))
    tap.equal(tamis("cluster", "check", "lost", "-c", data=again).stdout, b"20000\n", "what it reported is there")


def other_keys():
    refused(tamis("cluster", "load", "lost", image()), 2, "with other keys; use --force to replace", "shards with other keys are not replaced")
    worked(tamis("cluster", "load", "lost", image(), "--force"), "except on request")
    worked(tamis("cluster", "dump", "lost", path("after.tamis")), "then the shards")
    same = subprocess.run(["cmp", path("after.tamis"), image()], check=False).returncode == 0
    tap.check(same, "are the image again")


def forms():
    worked(tamis("cluster", "create", "mails", "blocked:capacity=1000", "--canon", "trim,lower", "--shards", "3"),
           "a filter remembers the form of its keys")
    worked(tamis("cluster", "add", "mails", "-d", ",", "--field", "2", data=b"1,A@b.C \n2,x@Y.z\n"), "keys are fields of lines")
    result = tamis("cluster", "check", "mails", "-n", data=b"a@b.c\nnobody@b.c\n X@y.Z\n")
    tap.equal(result.stdout, b"1:a@b.c\n3: X@y.Z\n", "every query gets the same form")
    refused(tamis("cluster", "check", "mails", "--canon", "lower", data=b"x\n"), 2, "trim,lower", "and no other")


def built_shards(address):
    """Shards built on machines that never communicated."""
    spec = "split:capacity=10K,hash=sip13"
    shards = [path(f"shard-{i}") for i in range(4)]
    for i, shard in enumerate(shards):
        tamis("build", "-q", shard, path("few"), "--spec", spec, "--shard", f"{i}/4", "--secret-file", SECRET)
    refused(tamis("cluster", "load", "parts", *shards[:3], address=address), 2, "shard 0 of 4, but 3 are given", "some of the shards are not loaded")
    refused(tamis("cluster", "load", "parts", *shards[:3], shards[0], address=address), 2, "given twice", "nor one of them twice")
    worked(tamis("cluster", "load", "parts", *shards[::-1], address=address), "all of them are, in any order")
    worked(tamis("cluster", "dump", "parts", path("parts.tamis"), address=address), "and give an image")
    tamis("build", "-q", path("parts-built.tamis"), path("few"), "--spec", spec, "--secret-file", SECRET)
    with open(path("parts.tamis"), "rb") as a, open(path("parts-built.tamis"), "rb") as b:
        tap.check(a.read() == b.read(), "as if one process had built it")


def held_dump(address):
    """A dump locks its file, which must be unchanged when it is replaced."""
    image = path("held.tamis")
    for name in ("held.tamis", "other"):
        with open(path(name), "w", encoding="utf-8") as file:
            file.write(name)
    with open(image, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused(tamis("cluster", "dump", "one", image, "-f", "--wait", "0", address=address), 2,
                "is changing it", "a dump waits for the lock on the file")
    program = os.path.join(os.path.dirname(TAMIS), "tests", "cli", "power")
    if not os.path.exists(program):
        return tap.skip("a dump whose file was replaced", f"there is no {program}")
    refused(tamis("cluster", "dump", "one", image, "-f", address=address, program=program,
                  TAMIS_MEANWHILE=f"mv '{path('other')}' '{image}'"), 2, "replaced the file in the meantime", "and looks whether it is still there")
    with open(image, encoding="utf-8") as file:
        tap.equal(file.read(), "other", "otherwise the file is left alone")


def one_server():
    with Server() as server:
        address = f"127.0.0.1:{server.port}"
        worked(tamis("cluster", "create", "one", "blocked:capacity=10K,hash=xxh3", address=address), "a server without a cluster will do")
        keys = b"".join(b"%d\n" % i for i in range(10000))
        worked(tamis("cluster", "add", "one", address=address, data=keys), "it takes keys")
        tap.equal(tamis("cluster", "check", "one", "-c", address=address, data=keys).stdout, b"10000\n", "and has them")
        worked(tamis("cluster", "dump", "one", path("one.tamis"), address=address), "it gives an image")
        with open(path("few"), "wb") as file:
            file.write(keys)
        worked(tamis("build", path("one-built.tamis"), path("few"), "--spec", "blocked:capacity=10K"), "as one process builds it")
        with open(path("one.tamis"), "rb") as a, open(path("one-built.tamis"), "rb") as b:
            tap.check(a.read() == b.read(), "byte for byte")
        # Several chunks of 1 MiB, there and back.
        worked(tamis("build", path("wide.tamis"), path("few"), "--spec", "split:capacity=3M"), "an image of several MiB")
        worked(tamis("cluster", "load", "wide", path("wide.tamis"), "--shards", "1", address=address), "goes there in chunks")
        worked(tamis("cluster", "dump", "wide", path("wide-back.tamis"), address=address), "and back")
        with open(path("wide.tamis"), "rb") as a, open(path("wide-back.tamis"), "rb") as b:
            tap.check(a.read() == b.read(), "and is the same")
        built_shards(address)
        held_dump(address)
        server.client().must("CONFIG", "SET", "requirepass", "sesame")
        refused(tamis("cluster", "check", "one", address=address, data=b"1\n"), 2, "NOAUTH", "without the password no client gets in")
        os.environ["REDISCLI_AUTH"] = "sesame"
        tap.equal(tamis("cluster", "check", "one", address=address, data=b"1\n").stdout, b"1\n", "with it one does")
        del os.environ["REDISCLI_AUTH"]


SECTIONS = [one_server, refusals, all_or_nothing, under_load, check_all, check_order, dump_is_the_image, lost_shard,
            lost_first_shard, other_secret, stopped, other_keys, forms, primary_is_dead, silent_shards, nobody_is_elected]


def run(sections):
    write_keys()
    for section in sections:
        section()


chosen = [section for section in SECTIONS if not sys.argv[1:] or section.__name__ in sys.argv[1:]]
# Otherwise one slot that is down stops the whole cluster, and every answer is maybe.
cluster = None if chosen == [one_server] else Cluster(3, 1, options=["--cluster-require-full-coverage", "no"], elects=IS_LONG)
try:
    run(chosen)
finally:
    for adder in Adder.all:
        adder.process.kill()
    if cluster:
        cluster.stop()
    folder.cleanup()
sys.exit(tap.end())
