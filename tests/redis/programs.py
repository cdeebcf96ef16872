#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random command programs: what is written is the same on a replica, in an RDB file and an AOF.

    PROGRAMS=10000 tests/redis/programs.py      how many (default: 300); SEED= for other ones
    FIRST=1250 PROGRAMS=50 TRACE=1281 ...       50 from 1250 on, and what 1281 does

A program is about twenty random commands of all families on three keys, valid and invalid, alone,
in MULTI and in scripts. After every command each key that it may have touched is digested and
copied to another key: the server holds the state after *every* command. Digests are compared

    with the key it was copied from           COPY keeps everything
    with the same copy on a replica           what is replicated has the same effect there
    after DUMP and RESTORE under another name, and the second dump with the first
    after DEBUG RELOAD                        RDB
    after DEBUG LOADAOF                       the commands as they were written to the AOF
    after BGREWRITEAOF and DEBUG LOADAOF      the rewritten AOF, in turn without an RDB preamble

COPY leaves out incomplete chunks, so the keys themselves are compared as well, at the end of each
program. The replica, and the server that reads the RDB file and the AOF, have other settings than
the writer, including the smallest max-filter-bytes, a maxmemory already exceeded, and another
secret: nothing replicated or loaded may depend on them. The writer has limits too, in turn, which
its programs reach: servers with room must not do what it refused. Programs come in batches of 50;
the six comparisons are made once per batch, over all states of all its programs.

A model runs beside it, sets of what was added and acknowledged: at the end of each program, and
after each reload, none of it may be answered no, or counted too low.
"""
import collections
import os
import random
import struct
import sys

from resp import Error
from server import Server, Tap, in_step, replicate, until

PROGRAMS = int(os.environ.get("PROGRAMS", "300"))
FIRST = int(os.environ.get("FIRST", "0"))
SEED = int(os.environ.get("SEED", "1"))
TRACE = os.environ.get("TRACE")
BATCH, COMMANDS, KEYS = 50, 20, "abc"

tap = Tap()

# ---- What programs are made of ------------------------------------------------------------------------

SPECS = """classic:capacity=100 classic:capacity=60,fpr=0.1%,scheme=double64 classic:capacity=50,bits=999,hashes=5
blocked:capacity=100 blocked:capacity=100,fpr=1e-6 blocked:capacity=64,hash=xxh3 blocked:capacity=100,size=512
split:capacity=100 split:capacity=100,hash=xxh64,size=256 split:capacity=99,index=wide universal:capacity=20,fpr=2%
counting:capacity=50 counting:capacity=40,log=yes spectral:capacity=40 spectral:capacity=40,mode=increase
spectral:capacity=40,mode=recurring,width=5 increment:capacity=40 increment:capacity=40,step=16 dleft:capacity=60
cuckoo:capacity=60 cuckoo:capacity=30,sort=yes quotient:capacity=60 quotient:capacity=60,fpr=1e-6 multiset:capacity=60
multiset:capacity=20 compaction:capacity=60 approximator:capacity=40 approximator:capacity=40,lattice=or stable:capacity=60
stable:size=256 window:capacity=60 window:capacity=20,by=clock window:capacity=30,by=clock,generations=3 window:capacity=16,generations=4 grow:capacity=10
scalable:capacity=10 scalable:capacity=10,kind=split scalable:capacity=16,fpr=1e-5 layered:capacity=40
layered:capacity=40,layers=7,shrink=40 attenuated:capacity=40 retouched:capacity=40 composite:capacity=40
iblt:cells=60,hashes=3,estimator=none iblt:capacity=20,fpr=10%,counters=64 countmin:columns=101,rows=3
countmin:capacity=50,fpr=5% countmin:error=3%,error-prob=5%,update=conservative countmin:columns=50,rows=3,width=64
hierarchical:capacity=20 minhash:bins=64 minhash:bins=64,keep=8 shard:layout=split,capacity=100
shard:layout=blocked,capacity=1000,shard=1,shards=3 redisbloom:capacity=20,fpr=1% redisbloom:capacity=9,fpr=1%,expansion=3
redisbloom:capacity=50,scaling=no rediscuckoo:capacity=32 rediscuckoo:capacity=16,bucket_size=4,expansion=2
rediscms:width=30,depth=3 guava:capacity=40 hadoop:capacity=40 hadoop-counting:capacity=40 spark:capacity=40
cassandra:capacity=40 leveldb:capacity=40 rocksdb:capacity=40 bip37:capacity=40 squid:capacity=40 dcso:capacity=40
libbloom:capacity=1000 datasketches:capacity=40 orc:capacity=40 icp:capacity=40""".split()
BAD_SPECS = ["", "bloom", "blocked", "blocked:capacity=0", "blocked:capacity=-1", "classic:capacity=1e30",
             "blocked:capacity=100,fpr=2", "blocked:capacity=100,fpr=nan", "cuckoo:size=1e18", "fuse:capacity=100",
             "split:capacity=10,color=red", "x" * 2000, "blocked:capacity=10\0", "shard:shard=4,shards=3"]
MUCH = "18446744073709551615"
NOTES = ["me", "", "bf expansion=2", "bf", "cf", "cf bucketsize=2 filters=1", "cms", "tamis", "bf expansion=0",
         f"cf expansion={MUCH} bucketsize={MUCH} iterations={MUCH} filters={MUCH} deleted={MUCH} buckets={MUCH}",
         f"bf expansion={MUCH}99 filters={MUCH}", "cf bucketsize=0 buckets=0 filters=0", "x" * 300]
# Answers of these may turn from yes to no by design; or they answer no queries about keys.
FORGETFUL = ("stable", "window", "retouched", "composite", "minhash")

LOAD = ("local d = redis.call('TAMIS.DUMP', KEYS[1], 0) local at = tonumber(ARGV[1]) "
        "if at > 0 and at < d[2] then redis.call('TAMIS.LOAD', KEYS[2], 0, d[2], string.sub(d[3], 1, at)) "
        "if ARGV[2] == 'half' then return 0 end "
        "return redis.call('TAMIS.LOAD', KEYS[2], at, d[2], string.sub(d[3], at + 1)) end "
        "return redis.call('TAMIS.LOAD', KEYS[2], 0, d[2], d[3])")
CHUNKS = ("local at = 0 repeat local d = redis.call(ARGV[1] .. '.SCANDUMP', KEYS[1], at) at = d[1] "
          "if at ~= 0 then redis.call(ARGV[1] .. '.LOADCHUNK', KEYS[2], at, d[2]) end until at == 0 return 1")
RESTORE = "return redis.call('RESTORE', KEYS[2], 0, redis.call('DUMP', KEYS[1]), 'REPLACE')"
CALL = "return redis.call(unpack(ARGV))"


class Generator:
    def __init__(self, number):
        self.rng = random.Random(SEED * 1000003 + number)
        self.keys = [f"p{number}:{letter}" for letter in KEYS]
        self.now = None
        self.specs, self.themes = {}, {key: self.rng.choice(["own", "own", "bf", "cf", "cms", None]) for key in self.keys}
        self.pool = [f"item-{self.rng.randrange(10 ** 6)}" for _ in range(60)] + ["", "\0\r\n", "x" * 300]

    def key(self):
        return self.now if self.now and self.rng.random() < .9 else self.rng.choice(self.keys)

    def items(self, most=12):
        return [self.rng.choice(self.pool) for _ in range(self.rng.randint(1, most))]

    def number(self):
        return self.rng.choice([0, 1, 2, 3, 5, 17, 255, 256, 65536, -1, 1 << 31, (1 << 63) - 1, -(1 << 63),
                                "x", "", "1.5", "nan", "1e400"])

    def hashes(self):
        return struct.pack("<9Q", *(self.rng.getrandbits(64) for _ in range(9)))[:72 if self.rng.random() < .9 else 71]

    def options(self, **choices):
        """Some of the options, in some order, sometimes with an odd number."""
        words = []
        for name in self.rng.sample(sorted(choices), self.rng.randint(0, len(choices))):
            value = choices[name]
            words.append(name)
            if value is not None:
                words.append(self.number() if self.rng.random() < .1 else self.rng.choice(value))
        return words

    def write(self):
        """A command that may change something, with the keys that it may touch."""
        makers = {"own": (self.create, self.own, self.own, self.own), "bf": (self.bloom,), "cf": (self.cuckoo,), "cms": (self.countmin,)}
        self.now = self.rng.choice(self.keys)
        choice = self.rng.random()
        if choice < .15:
            return self.rng.choice([self.whole, self.server])()
        theme = self.themes[self.now] if choice < .85 else None
        return self.rng.choice(makers[theme or self.rng.choice(sorted(makers))])()

    def create(self):
        key, spec = self.key(), self.rng.choice(SPECS if self.rng.random() < .9 else BAD_SPECS)
        words = ["TAMIS.CREATE", key, spec]
        self.specs[key] = spec
        if "by=clock" in spec or self.rng.random() < .05:
            words += self.rng.choice([[], ["EVERY", 3], ["EVERY", 100000], ["LAST", 20], ["LAST", self.number()]])
        if self.rng.random() < .2:
            words += ["SECRET", "0123456789abcdef"[:16 if self.rng.random() < .8 else 15]]
        if self.rng.random() < .3:
            words += ["NOTE", self.rng.choice(["who", "redis", "redis", ""]), self.rng.choice(NOTES)]
        return words, [key]

    def own(self):
        key = self.key()
        fitting = {"window": (2, 8), "approx": (4, 6), "cuckoo": (3,), "counti": (3, 7), "quotie": (3,), "multis": (3, 3), "classi": (7, 5),
                   "blocke": (5, 7), "split:": (5, 7), "spectr": (3, 7), "stable": (2, 2)}.get(self.specs.get(key, "")[:6], ())
        choice = self.rng.choice(fitting or range(9)) if self.rng.random() < .5 else self.rng.randrange(9)
        if choice <= 1:
            return ["TAMIS.ADD", key, *self.items(30)], [key]
        if choice == 2:
            return ["TAMIS.ADDNEW", key, *self.items()], [key]
        if choice == 3:
            return ["TAMIS.REMOVE", key, *self.items(5)], [key]
        if choice == 4:
            pairs = [w for i in self.items(5) for w in (i, self.rng.choice([0, 1, 7, 12, 200 if self.rng.random() < .9 else self.number()]))]
            return ["TAMIS.PUT", key, *pairs], [key]
        if choice == 5:
            return ["TAMIS.HADD", key, self.hashes()], [key]
        if choice == 6:
            return ["TAMIS.MERGE", key, *(self.key() for _ in range(self.rng.randint(1, 3)))], [key]
        if choice == 7:
            return ["TAMIS.FOLD", key, self.rng.choice([2, 3, 4, self.number()])], [key]
        return ["TAMIS.TICK", key, *self.rng.choice([[], [1], [3], [self.number()], [2, "AT", self.number()]])], [key]

    def bloom(self):
        key, choice = self.key(), self.rng.randrange(5)
        if choice == 0:
            return ["BF.RESERVE", key, self.rng.choice([0.01, 0.1, 1e-6, self.number()]),
                    self.rng.choice([10, 50, 100, self.number()]), *self.options(EXPANSION=[1, 2, 4], NONSCALING=None)], [key]
        if choice == 1:
            return ["BF.ADD", key, self.items(1)[0]], [key]
        if choice <= 3:
            return ["BF.MADD", key, *self.items(40)], [key]
        words = self.options(CAPACITY=[10, 40], ERROR=[0.01, 0.3], EXPANSION=[1, 2], NOCREATE=None, NONSCALING=None)
        return ["BF.INSERT", key, *words, "ITEMS", *self.items(20)], [key]

    def cuckoo(self):
        key, choice = self.key(), self.rng.randrange(7)
        if choice == 0:
            words = self.options(BUCKETSIZE=[1, 2, 4], MAXITERATIONS=[5, 20], EXPANSION=[0, 1, 2])
            return ["CF.RESERVE", key, self.rng.choice([8, 64, 100, self.number()]), *words], [key]
        if choice <= 2:
            return [self.rng.choice(["CF.ADD", "CF.ADDNX"]), key, self.items(1)[0]], [key]
        if choice <= 4:
            words = self.options(CAPACITY=[5, 16, 40], NOCREATE=None)
            return [self.rng.choice(["CF.INSERT", "CF.INSERTNX"]), key, *words, "ITEMS", *self.items(30)], [key]
        if choice == 5:
            return ["CF.DEL", key, self.items(1)[0]], [key]
        return ["CF.COMPACT", key], [key]

    def countmin(self):
        key, choice = self.key(), self.rng.randrange(5)
        if choice == 0:
            return ["CMS.INITBYDIM", key, 20 if self.rng.random() < .7 else self.number(), 3 if self.rng.random() < .8 else self.number()], [key]
        if choice == 1:
            return ["CMS.INITBYPROB", key, self.rng.choice([0.05, 0.1, self.number()]), self.rng.choice([0.01, self.number()])], [key]
        if choice <= 3:
            pairs = [w for i in self.items(6) for w in (i, self.rng.choice([1, 2, 9, 1000, 1 if self.rng.random() < .9 else self.number()]))]
            return ["CMS.INCRBY", key, *pairs], [key]
        n = self.rng.randint(1, 3)
        words = ["CMS.MERGE", key, n if self.rng.random() < .95 else self.number(), *(self.key() for _ in range(n))]
        if self.rng.random() < .4:
            words += ["WEIGHTS", *(self.rng.choice([1, 2, 3, 3 if self.rng.random() < .9 else self.number()]) for _ in range(n))]
        return words, [key]

    def whole(self):
        """Whole filters, from one key to another."""
        one, other = self.key(), self.key()
        choice = self.rng.randrange(5)
        if choice == 4:
            total = self.rng.choice([3, 9, 200, self.number()])
            form = self.rng.choice([[], ["FORM", "IMAGE"], ["FORM", "REDISBLOOM"], ["FORM", "REDISCUCKOO"], ["FORM", "x"]])
            return ["TAMIS.LOAD", other, self.rng.choice([0, 0, 0, 3, self.number()]), total,
                    self.rng.choice(["", "abc", "abcdefghi", "x" * 200]), *form], [other]
        if choice == 0:
            return ["EVAL", LOAD, 2, one, other, self.rng.choice([0, 1, 192, 300]), "all"], [other]
        if choice == 1:
            return ["EVAL", LOAD, 2, one, other, self.rng.choice([100, 200]), "half"], [other]
        if choice == 2:
            return ["EVAL", CHUNKS, 2, one, other, self.rng.choice(["BF", "CF"])], [other]
        return ["EVAL", RESTORE, 2, one, other], [other]

    def server(self):
        one, other = self.key(), self.key()
        return self.rng.choice([
            (["DEL", one], [one]), (["UNLINK", one], [one]), (["COPY", one, other], [other]),
            (["COPY", one, other, "REPLACE"], [other]), (["RENAME", one, other], [one, other]),
            (["EXPIRE", one, 100000], [one]), (["PEXPIREAT", one, 1], [one]), (["SET", one, "no filter"], [one]),
            (["APPEND", one, "x"], [one])])

    def step(self, at):
        """One command, or several as one. The first ones usually create something."""
        choice = self.rng.random()
        if at < 3 and choice < .7 and self.themes[self.keys[at]] in ("own", None):
            self.now = self.keys[at]
            words, keys = self.create()
            return "ONE", [words], keys
        if choice < .08:
            parts = [self.write() for _ in range(self.rng.randint(2, 4))]
            return "MULTI", [words for words, _ in parts], sorted({k for _, keys in parts for k in keys})
        words, keys = self.write()
        if choice < .2 and words[0] != "EVAL":
            return "EVAL", [words], keys
        return "ONE", [words], keys


# ---- The model ----------------------------------------------------------------------------------------


class Known:
    """What must be answered yes, and minimum counts."""

    def __init__(self, is_forgetful=False):
        self.items, self.hashes, self.counts = set(), set(), collections.Counter()
        self.is_forgetful = is_forgetful

    def copy(self):
        twin = Known(self.is_forgetful)
        twin.items, twin.hashes, twin.counts = set(self.items), set(self.hashes), collections.Counter(self.counts)
        return twin

    def forget(self):
        self.items.clear(), self.hashes.clear(), self.counts.clear()


class Model:
    def __init__(self):
        self.known = {}

    def at(self, key):
        return self.known.setdefault(key, Known())

    def hear(self, words, reply):
        if isinstance(reply, Error) or reply is None:
            return
        name = words[0]
        handler = getattr(self, name.lower().replace(".", "_"), None)
        if handler:
            handler(words, reply)

    def tamis_create(self, words, _):
        self.known[words[1]] = Known(words[2].startswith(FORGETFUL))

    def tamis_add(self, words, _):
        self.at(words[1]).items.update(words[2:])

    def tamis_hadd(self, words, _):
        self.at(words[1]).hashes.update(struct.unpack(f"<{len(words[2]) // 8}Q", words[2]))

    def tamis_put(self, words, _):
        """A value of 0 is the same as no value."""
        self.at(words[1]).items.update(item for item, value in zip(words[2::2], words[3::2]) if int(value))

    def tamis_remove(self, words, reply):
        known = self.at(words[1])
        for item, was_there in zip(words[2:], reply if isinstance(reply, list) else [reply]):
            if was_there and item in known.items:
                known.items.discard(item)
                known.counts.pop(item, None)
            elif was_there:  # a false positive removed
                known.forget()

    cf_del = tamis_remove

    def tamis_merge(self, words, _):
        sources = [self.at(k).copy() for k in words[2:]]
        known = self.known.setdefault(words[1], sources[0])
        for source in sources:
            known.items |= source.items
            known.hashes |= source.hashes
        known.counts.clear()

    def tamis_tick(self, words, _):
        if self.at(words[1]).is_forgetful:
            self.known[words[1]].forget()

    def tamis_addnew(self, words, reply):
        """An item that seems present was not added, and may go with the other one. Answers may
        include errors."""
        items = words[words.index("ITEMS") + 1:] if "ITEMS" in words else words[2:]
        for item, answer in zip(items, reply if isinstance(reply, list) else [reply]):
            if answer == 1:
                self.at(words[1]).items.add(item)

    bf_add = bf_madd = bf_insert = cf_insert = cf_insertnx = cf_add = cf_addnx = tamis_addnew

    def cms_incrby(self, words, reply):
        for item, by, answer in zip(words[2::2], words[3::2], reply):
            if not isinstance(answer, Error):
                self.at(words[1]).counts[item] += int(by)

    def cms_merge(self, words, _):
        n = int(words[2])
        sources, weights = words[3:3 + n], list(map(int, words[4 + n:])) or [1] * n
        merged = Known()
        for source, weight in zip(sources, weights):
            for item, count in self.at(source).counts.items():
                merged.counts[item] += weight * count
        self.known[words[1]] = merged

    def eval(self, words, reply):
        script, one, other = words[1], words[3], words[4]
        if script == LOAD and words[6] == "half" and reply == 0:
            return  # what was there still answers
        self.known[other] = self.at(one).copy()

    def delete(self, words, _):
        self.known.pop(words[1], None)

    unlink = pexpireat = set = delete

    def copy(self, words, reply):
        if reply == 1:
            self.known[words[2]] = self.at(words[1]).copy()

    def rename(self, words, _):
        self.known[words[2]] = self.at(words[1])
        if words[1] != words[2]:
            self.known.pop(words[1])


setattr(Model, "del", Model.delete)


# ---- Running them -------------------------------------------------------------------------------------


def commands_of(kind, parts):
    if kind == "MULTI":
        return [["MULTI"], *parts, ["EXEC"]]
    if kind == "EVAL":
        words = parts[0]
        return [["EVAL", CALL, 1, words[1], *words]]
    return parts


# Settings of a batch, in turn; OTHERS are for servers that read what it wrote.
LIMITS = ({"max-filter-bytes": 2 << 30}, {"max-filter-bytes": 1024}, {"max-filter-bytes": 4096})
SETTINGS = ({"bf-kind": "tamis", "cf-kind": "tamis", "cms-kind": "tamis", "hash": "sip13", "bf-initial-size": 100, "cf-initial-size": 1024},
            {"bf-kind": "redisbloom", "cf-kind": "rediscuckoo", "cms-kind": "rediscms", "hash": "sip13", "bf-initial-size": 20, "cf-initial-size": 32},
            {"bf-kind": "tamis", "cf-kind": "tamis", "cms-kind": "tamis", "hash": "xxh3", "bf-initial-size": 7, "cf-initial-size": 16})
OTHERS = {"bf-error-rate": 0.2, "bf-initial-size": 55, "bf-expansion-factor": 3, "cf-bucket-size": 3, "cf-initial-size": 64, "cf-max-iterations": 7,
          "cf-expansion-factor": 4, "cf-max-expansions": 1, "max-filter-bytes": 1024, "secret": "ab" * 16, "bf-kind": "redisbloom", "cf-kind": "tamis", "cms-kind": "rediscms"}
USUAL = {"bf-error-rate": 0.01, "bf-expansion-factor": 2, "cf-bucket-size": 2, "cf-max-iterations": 20, "cf-expansion-factor": 1,
         "cf-max-expansions": 32}


SECRET = "00112233445566778899aabbccddeeff"
LITTLE = "1mb"  # less than a server has at startup


def configure(client, settings):
    client.must("CONFIG", "SET", *(word for name, value in settings.items() for word in ("tamis." + name, value)))


class Batch:
    def __init__(self, primary, replica, numbers):
        self.primary, self.replica, self.numbers = primary, replica, numbers
        self.client, self.second = primary.client(), replica.client()
        self.steps, self.states, self.origins, self.model, self.keys = 0, [], [], Model(), []
        self.bad, self.answers, self.story = [], collections.Counter(), {}

    def run(self):
        commands, meaning = [], []
        for number in self.numbers:
            generator = Generator(number)
            self.keys += generator.keys
            for at in range(COMMANDS):
                self.one_step(generator, number, at, commands, meaning)
        replies = self.client.pipeline(commands)
        for (what, about), reply in zip(meaning, replies):
            self.hear(what, about, reply)

    def one_step(self, generator, number, at, commands, meaning):
        kind, parts, touched = generator.step(at)
        self.steps += len(parts)
        for words in commands_of(kind, parts):
            commands.append(words)
            meaning.append((kind if words[0] not in ("MULTI",) and not (kind == "MULTI" and words[0] != "EXEC")
                            else "PASS", parts))
        for key in touched:
            state = f"s{number}:{at}:{key}"
            self.story[state] = str(parts)[:200]
            commands += [["DEBUG", "DIGEST-VALUE", key], ["COPY", key, state]]
            meaning += [("DIGEST", state), ("COPIED", state)]

    def hear(self, what, about, reply):
        if what == "MULTI":
            if isinstance(reply, list):
                for words, answer in zip(about, reply):
                    self.hear_one(words, answer)
        elif what in ("ONE", "EVAL"):
            self.hear_one(about[0], reply)
        elif what == "DIGEST":
            self.digest = reply
        elif what == "COPIED" and reply == 1:
            self.states.append(about)
            self.origins.append(self.digest)

    def hear_one(self, words, reply):
        if TRACE and any(str(word).startswith(f"p{TRACE}:") for word in words):
            print(f"# {str(words)[:300]} -> {str(reply)[:200]}")
        self.answers[words[0] if words[0] != "EVAL" else "(script)", isinstance(reply, Error)] += 1
        if isinstance(reply, Error) and "rash" in reply:
            self.bad.append(f"{words}: {reply}")
        self.model.hear(words, reply)

    # Digests of all states and keys, in the order of their names.
    def digests(self, client):
        names = self.states + self.keys
        replies = client.pipeline([["DEBUG", "DIGEST-VALUE", *names[i:i + 100]] for i in range(0, len(names), 100)] +
                                  [["TYPE", name] for name in self.keys])
        parts, types = replies[:-len(self.keys)], replies[-len(self.keys):]
        return [d for part in parts for d in part] + types

    def compare(self, got, wanted, how):
        names = self.states + self.keys + [f"type of {k}" for k in self.keys]
        for name, one, other in zip(names, got, wanted):
            if one != other:
                self.bad.append(f"{name} {how}: {one} instead of {other}, after {self.story.get(name)}")
        self.ask(self.client, how)

    def check(self, is_preamble):
        copies = self.digests(self.client)
        for name, copied, origin in zip(self.states, copies, self.origins):
            if [copied] != origin:
                self.bad.append(f"COPY to {name}: {copied} instead of {origin}, after {self.story[name]}")
        self.ask(self.client, "at the end")
        in_step(self.primary, self.replica)
        self.compare(self.digests(self.second), copies, "on the replica")
        self.ask(self.second, "asked on the replica")
        configure(self.client, LIMITS[0])
        self.round_trips(copies)
        configure(self.client, OTHERS)
        self.client.must("CONFIG", "SET", "maxmemory", LITTLE)
        self.client.must("DEBUG", "RELOAD")
        self.compare(self.digests(self.client), copies, "after DEBUG RELOAD")
        self.client.must("DEBUG", "LOADAOF")
        self.compare(self.digests(self.client), copies, "from the AOF as it was written")
        self.client.must("CONFIG", "SET", "aof-use-rdb-preamble", "yes" if is_preamble else "no")
        rewrite(self.client)
        self.client.must("DEBUG", "LOADAOF")
        self.compare(self.digests(self.client), copies, f"from a rewritten AOF, {'with' if is_preamble else 'no'} preamble")

    def round_trips(self, copies):
        """DUMP and RESTORE of every state, inside the server."""
        script = ("local a, t = redis.call('DUMP', KEYS[1]), redis.call('PTTL', KEYS[1]) "
                  "redis.call('RESTORE', 'again', t > 0 and t or 0, a, 'REPLACE') "
                  "return redis.call('DUMP', 'again') == a and 1 or 0")
        sha = self.client.must("SCRIPT", "LOAD", script)
        commands = [c for name in self.states for c in (["EVALSHA", sha, 1, name], ["DEBUG", "DIGEST-VALUE", "again"])]
        replies = self.client.pipeline(commands)
        for i, name in enumerate(self.states):
            if replies[2 * i] != 1 or replies[2 * i + 1] != [copies[i]]:
                self.bad.append(f"{name}: DUMP and RESTORE: {replies[2 * i]!r} {replies[2 * i + 1]!r} instead of "
                                f"{copies[i]}, after {self.story[name]}")
        self.client.must("DEL", "again")

    def ask(self, client, when):
        commands, about = [], []
        for key, known in self.model.known.items():
            if known.is_forgetful:
                continue
            if known.items:
                items = sorted(known.items)
                commands.append(["TAMIS.HAS", key, *items])
                about.append((key, "HAS", items))
            if known.hashes:
                commands.append(["TAMIS.HHAS", key, struct.pack(f"<{len(known.hashes)}Q", *sorted(known.hashes))])
                about.append((key, "HHAS", sorted(known.hashes)))
            if known.counts:
                counts = sorted(known.counts.items())
                commands.append(["CMS.QUERY", key, *(item for item, _ in counts)])
                about.append((key, "QUERY", counts))
        for (key, what, items), reply in zip(about, client.pipeline(commands)):
            self.judge(key, what, items, reply, when)

    def judge(self, key, what, items, reply, when):
        self.answers["asked", False] += len(items)
        if isinstance(reply, Error):
            is_good = "knows sets, not keys" in reply  # minhash answers no queries
        elif what == "HAS":
            is_good = all(reply)
        elif what == "HHAS":
            is_good = all(reply[i // 8] >> i % 8 & 1 for i in range(len(items)))
        else:
            is_good = all(got >= min(count, 2 ** 32 - 1) for got, (_, count) in zip(reply, items))
        if not is_good:
            self.bad.append(f"{key} {when}: {what} {str(items)[:200]} says {str(reply)[:200]}")

    def end(self):
        self.client.must("CONFIG", "SET", "maxmemory", 0)
        self.client.must("FLUSHALL")
        self.client.close()
        self.second.close()


def rewrite(client):
    def field(name):
        info = client.must("INFO", "persistence").decode()
        return next(line.split(":")[1] for line in info.split("\r\n") if line.startswith(name + ":"))
    until(lambda: field("aof_rewrite_in_progress") == "0", 60, "an earlier rewrite has ended")
    client.must("BGREWRITEAOF")
    until(lambda: field("aof_rewrite_in_progress") == "0" and field("aof_rewrite_scheduled") == "0", 60, "the AOF is rewritten")
    if field("aof_last_bgrewrite_status") != "ok":
        raise AssertionError("the AOF could not be rewritten")


def main():
    common = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0",
              "--repl-diskless-sync-delay", "0")
    total, states, answers = 0, 0, collections.Counter()
    with Server(*common, secret=SECRET) as primary, Server("--appendonly", "no", "--maxmemory", LITTLE, secret=None) as replica:
        pids = primary.process.pid, replica.process.pid
        replicate(primary, replica)
        other = replica.client()
        configure(other, OTHERS)
        other.close()
        for first in range(FIRST, FIRST + PROGRAMS, BATCH):
            number, numbers = first // BATCH, range(first, min(first + BATCH, FIRST + PROGRAMS))
            batch = Batch(primary, replica, numbers)
            configure(batch.client, {**USUAL, **SETTINGS[number % len(SETTINGS)], **LIMITS[number // 2 % len(LIMITS)], "secret": SECRET})
            batch.run()
            batch.check(number % 2 == 0)
            batch.end()
            total, states = total + batch.steps, states + len(batch.states)
            answers += batch.answers
            tap.check(not batch.bad, f"programs {numbers[0]} to {numbers[-1]}: {batch.steps} commands, "
                                     f"{len(batch.states)} states, each six times the same")
            for line in batch.bad[:20]:
                print(f"#   {line}")
        tap.check((primary.process.poll(), replica.process.poll()) == (None, None) and
                  pids == (primary.process.pid, replica.process.pid), "neither server was restarted")
    for name in sorted({n for n, _ in answers}):
        print(f"# {name}: {answers[name, False]} done, {answers[name, True]} refused")
    print(f"# {PROGRAMS} programs, {total} commands, {states} states; seed {SEED}")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
