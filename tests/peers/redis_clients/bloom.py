# SPDX-License-Identifier: MIT
"""redis-py: its whole interface for BF, CF and CMS, through client.bf(), client.cf() and client.cms().

    python3 bloom.py PORT PROTOCOL      RESP3 where this version of redis-py knows it
"""
import sys

import redis

port, protocol = int(sys.argv[1]), int(sys.argv[2])
calls = 0


def connect():
    if protocol == 2:
        try:
            return redis.Redis(port=port, protocol=2)
        except TypeError:
            return redis.Redis(port=port)
    return redis.Redis(port=port, protocol=3)


client = connect()
client.flushall()
bf, cf, cms = client.bf(), client.cf(), client.cms()


def same(got, wanted):
    global calls
    calls += 1
    assert got == wanted, "%r instead of %r" % (got, wanted)


def refused(call, text):
    global calls
    calls += 1
    try:
        got = call()
    except redis.ResponseError as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError("%r instead of %s" % (got, text))


def fact(info, name, attribute):
    """Newer versions give a dictionary in RESP3, objects in RESP2."""
    if isinstance(info, dict):
        return info.get(name, info.get(name.encode()))
    return getattr(info, attribute)


def copy(family, source, target):
    at = 0
    while True:
        at, chunk = family.scandump(source, at)
        if at == 0:
            return
        same(family.loadchunk(target, at, chunk) in (b"OK", True, "OK"), True)


# BF
same(bf.create("b", 0.001, 1000, expansion=4), True)
same(bf.create("n", 0.001, 2, noScale=True), True)
refused(lambda: bf.create("b", 0.001, 1000), "item exists")
same(bf.add("b", "a"), 1)
same(bf.add("b", "a"), 0)
same(bf.madd("b", "a", "x", "y"), [0, 1, 1])
same(bf.exists("b", "x"), 1)
same(bf.exists("b", "never"), 0)
same(bf.mexists("b", "a", "never", "y"), [1, 0, 1])
same(bf.insert("i", ["p", "q"], capacity=50, error=0.01, expansion=2), [1, 1])
same(bf.insert("i", ["p"], noCreate=True), [0])
refused(lambda: bf.insert("absent", ["p"], noCreate=True), "not found")
if hasattr(bf, "card"):
    same(bf.card("b"), 3)
    same(bf.card("absent"), 0)
info = bf.info("b")
same(fact(info, "Capacity", "capacity"), 1000)
same(fact(info, "Number of filters", "filterNum"), 1)
same(fact(info, "Number of items inserted", "insertedNum"), 3)
same(fact(info, "Expansion rate", "expansionRate"), 4)
same(fact(bf.info("n"), "Expansion rate", "expansionRate"), None)
copy(bf, "b", "b2")
same(bf.mexists("b2", "a", "x", "y", "never"), [1, 1, 1, 0])

# CF
same(cf.create("c", 1000, expansion=2, bucket_size=4, max_iterations=30), True)
same(cf.add("c", "a"), 1)
same(cf.addnx("c", "a"), 0)
same(cf.addnx("c", "b"), 1)
same(cf.add("c", "a"), 1)
same(cf.count("c", "a"), 2)
same(cf.exists("c", "a"), 1)
same(cf.exists("c", "never"), 0)
if hasattr(cf, "mexists"):
    same(cf.mexists("c", "a", "never"), [1, 0])
same(cf.insert("c", ["x", "y"]), [1, 1])
same(cf.insert("made", ["x", "y"], capacity=500), [1, 1])
refused(lambda: cf.insert("absent", ["x"], nocreate=True), "not found")
same(cf.insertnx("c", ["x", "z"]), [0, 1])
same(cf.delete("c", "a"), 1)
same(cf.count("c", "a"), 1)
same(cf.delete("c", "never"), 0)
info = cf.info("c")
same(fact(info, "Bucket size", "bucketSize"), 4)
same(fact(info, "Max iterations", "maxIteration"), 30)
same(fact(info, "Expansion rate", "expansionRate"), 2)
same(fact(info, "Number of items inserted", "insertedNum"), 5)
same(fact(info, "Number of items deleted", "deletedNum"), 1)
copy(cf, "c", "c2")
same([cf.exists("c2", item) for item in ("a", "b", "x", "y", "z", "never")], [1, 1, 1, 1, 1, 0])

# CMS
same(cms.initbydim("m", 1000, 5), True)
same(cms.initbyprob("p", 0.01, 0.01), True)
same(cms.incrby("m", ["a"], [3]), [3])
same(cms.incrby("m", ["a", "b"], [1, 5]), [4, 5])
same(cms.query("m", "a", "b", "never"), [4, 5, 0])
info = cms.info("m")
same([fact(info, name, name) for name in ("width", "depth", "count")], [1000, 5, 9])
same(cms.initbydim("m2", 1000, 5), True)
same(cms.merge("m2", 2, ["m", "m"]), True)
same(cms.query("m2", "a", "b"), [8, 10])
same(cms.merge("m2", 1, ["m"], weights=[3]), True)
same(cms.query("m2", "a", "b"), [12, 15])
refused(lambda: cms.query("absent", "a"), "key does not exist")

# A pipeline in a transaction
pipeline = client.pipeline()
pipeline.bf().add("t", "a") if hasattr(pipeline.bf(), "add") else pipeline.execute_command("BF.ADD", "t", "a")
pipeline.execute()
same(bf.exists("t", "a"), 1)
print("redis-py %s: %d calls" % (redis.__version__, calls))
