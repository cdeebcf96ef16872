#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sends the same commands to a server with RedisBloom and to one with our module, and shows where
the replies differ in shape, type, text or value.

    TAMIS_REDISBLOOM=redisbloom.so tests/redis/differ.py    in RESP2 and RESP3, TAP; or only the
                                                            groups named, as "bf.add cf."
    tests/redis/differ.py record redisbloom.so [SERVER]     only shows what that module replies

RedisBloom is never part of this project: the environment names its module, or the test is skipped.
TAMIS_REDISBLOOM_SERVER names the server that runs it where Debian's is too old: its replies are
those of 8.8, which needs Redis 8.

Two rounds. "own": our module with its defaults, our own kinds; a step marked with a reason below
(sizes, bytes, answers that depend on the hash) is compared by its shape alone. "origin": with
bf-kind redisbloom, cf-kind rediscuckoo and cms-kind rediscms, where the same bits are set, so that
every reply is compared in full.
"""
import itertools
import os
import shlex
import socket
import sys

from server import PROGRAM, Server

# ==== The wire


class Reply:
    """One reply: its kind (the first byte), its value, and its raw bytes."""

    def __init__(self, kind, value, raw):
        self.kind, self.value, self.raw = kind, value, raw

    def shape(self):
        if self.kind in "*%~" and isinstance(self.value, list):
            return (self.kind, tuple(one.shape() for one in self.value))
        if self.kind == "-":
            return ("-", self.value)
        return (self.kind, None if self.value is None else "")

    def whole(self):
        if self.kind in "*%~" and isinstance(self.value, list):
            return (self.kind, tuple(one.whole() for one in self.value))
        return (self.kind, self.value)


class Connection:
    def __init__(self, port, protocol):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.input = self.socket.makefile("rb")
        if protocol == 3:
            self.ask([b"HELLO", b"3"])

    def ask(self, words):
        out = b"*%d\r\n" % len(words)
        for word in words:
            out += b"$%d\r\n%s\r\n" % (len(word), word)
        self.socket.sendall(out)
        return self.read()

    def read(self):
        line = self.input.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError("the server closed the connection")
        kind, text = chr(line[0]), line[1:-2].decode("latin-1")
        if kind in "+-:,#_(":
            return Reply(kind, text, line)
        if kind in "$=":
            return self.read_bulk(kind, int(text), line)
        count = int(text) * (2 if kind == "%" else 1)
        if count < 0:
            return Reply(kind, None, line)
        parts = [self.read() for _ in range(count)]
        return Reply(kind, parts, line + b"".join(part.raw for part in parts))

    def read_bulk(self, kind, length, line):
        if length < 0:
            return Reply(kind, None, line)
        data = self.input.read(length + 2)
        return Reply(kind, data[:-2], line + data)


# ==== The steps
# A step is a line: a command as a shell would split it, with \x00-like escapes; after " ## " comes
# the reason why our own kinds may answer other values than RedisBloom. Each group begins with an
# empty server.

SIZES = "our kinds have other sizes"
HASH = "counts that hang on which keys collide"
BYTES = "another format"



def quoted(text):
    return [shlex.quote(word) for word in shlex.split(text)]


EDGES = quoted("0 -1 1 2 255 256 257 32767 32768 32769 65535 65536 2147483647 2147483648 4294967295 4294967296 "
         "9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615 "
         "18446744073709551616 abc '' 1.5 ' 7' '7 ' +7 07 1e3 nan inf -inf 0x10 7x")
RATES = quoted("0 1 2 -1 0.99 0.999999999 0.9999999999999999 0.5 0.25 0.26 0.001 1e-10 1e-320 1e-400 -0.1 nan NaN -nan inf -inf "
         "abc '' ' 0.1' '0.1 ' +0.1 .1 1. 0x1p-3 0.01x 1,5")
ITEMS = " ".join("i%d" % i for i in range(40))


def split(text):
    return [word.encode("latin-1").decode("unicode_escape").encode("latin-1") for word in shlex.split(text)]


GROUPS = [
    ("bf.reserve", """
BF.RESERVE
BF.RESERVE k
BF.RESERVE k 0.01
BF.RESERVE k 0.01 100
BF.RESERVE k 0.01 100
TYPE k
BF.INFO k ## """ + SIZES + """
BF.RESERVE k2 0.01 100 NONSCALING
BF.INFO k2 ## """ + SIZES + """
BF.RESERVE k3 0.01 100 EXPANSION 4
BF.INFO k3 ## """ + SIZES + """
BF.RESERVE k4 0.01 100 EXPANSION 4 NONSCALING
BF.RESERVE k5 0.01 100 NONSCALING EXPANSION 4
BF.RESERVE k6 0.01 100 EXPANSION
BF.RESERVE k7 0.01 100 EXPANSION x
BF.RESERVE k8 0.01 100 EXPANSION 0
BF.INFO k8 ## """ + SIZES + """
BF.RESERVE k9 0.01 100 NONSCALING NONSCALING
BF.RESERVE k10 0.01 100 EXPANSION 2 EXPANSION 3
BF.INFO k10 EXPANSION
BF.RESERVE k11 0.01 100 SURPRISE
BF.RESERVE k12 0.01 100 nonscaling
BF.RESERVE k13 0.01 100 expansion 8
BF.INFO k13 EXPANSION
BF.RESERVE k14 0.01 100 EXPANSION 0 NONSCALING
BF.RESERVE k15 0.01 100 2
BF.RESERVE k16 0.01 100 EXPANSION 2 SURPRISE
BF.RESERVE k17 0.01 100 EXPANSION 2 NONSCALING SURPRISE
BF.RESERVE k18 abc abc
BF.RESERVE k19 2 abc
BF.RESERVE k20 0.01 0
BF.RESERVE k21 0.01 -1
SET s 1
BF.RESERVE s 0.01 100
BF.RESERVE s abc 100
CF.RESERVE c 100
BF.RESERVE c 0.01 100
BF.RESERVE '' 0.01 100
BF.RESERVE 'k\\x00x' 0.01 100
EXISTS '' 'k\\x00x' k4 k5 k6 k7 k9 k11 k12 k15 k16 k17
"""),
    ("bf.add", """
BF.ADD
BF.ADD k
BF.ADD k a b
BF.ADD k a
BF.ADD k a
BF.ADD k ''
BF.ADD k ''
BF.ADD k 'a\\x00b'
BF.EXISTS k 'a\\x00b'
BF.EXISTS k ''
BF.CARD k
BF.INFO k ## """ + SIZES + """
SET s 1
BF.ADD s a
CF.ADD c a
BF.ADD c a
CMS.INITBYDIM m 10 3
BF.ADD m a
HSET h a b
BF.ADD h a
"""),
    ("bf.madd", """
BF.MADD
BF.MADD k
BF.MADD k a
BF.MADD k a b c
BF.MADD k d d e d
BF.MADD k '' ''
BF.CARD k
SET s 1
BF.MADD s a b
BF.RESERVE f 0.01 3 NONSCALING
BF.MADD f a b
BF.MADD f b c d e
BF.MADD f a b c
BF.MADD f x y
BF.CARD f
"""),
    ("bf.full", """
BF.RESERVE f 0.0001 4 NONSCALING
BF.ADD f a
BF.ADD f b
BF.ADD f c
BF.ADD f d
BF.ADD f e
BF.ADD f a
BF.CARD f
BF.MADD f x a y
BF.INSERT f ITEMS x y
BF.INSERT f ITEMS a x b
BF.INFO f ITEMS
BF.INFO f CAPACITY
BF.INFO f EXPANSION
BF.INFO f FILTERS
BF.EXISTS f e
BF.RESERVE g 0.0001 4 EXPANSION 0
BF.MADD g a b c d e f
BF.CARD g
BF.INFO g EXPANSION
"""),
    ("bf.grow", """
BF.RESERVE k 0.001 4 EXPANSION 2
BF.MADD k """ + ITEMS + " ## " + HASH + """
BF.CARD k ## """ + HASH + """
BF.INFO k ## """ + SIZES + """
BF.MEXISTS k """ + ITEMS + """
BF.RESERVE one 0.001 4 EXPANSION 1
BF.MADD one """ + ITEMS + " ## " + HASH + """
BF.INFO one ## """ + SIZES + """
BF.RESERVE three 0.001 4 EXPANSION 3
BF.MADD three """ + ITEMS + " ## " + HASH + """
BF.INFO three ## """ + SIZES + """
"""),
    ("bf.insert", """
BF.INSERT
BF.INSERT k
BF.INSERT k ITEMS
BF.INSERT k ITEMS a
BF.INSERT k ITEMS a b
BF.INSERT k a b
BF.INSERT k CAPACITY 10
BF.INSERT k CAPACITY 10 ITEMS
BF.INSERT k CAPACITY ITEMS a
BF.INSERT k CAPACITY x ITEMS a
BF.INSERT n CAPACITY 10 ERROR 0.001 EXPANSION 4 ITEMS a b c
BF.INFO n ## """ + SIZES + """
BF.INSERT n CAPACITY 99 ERROR 0.5 EXPANSION 9 NONSCALING ITEMS d
BF.INFO n EXPANSION
BF.INSERT o NONSCALING CAPACITY 2 ITEMS a b c d
BF.INFO o EXPANSION
BF.INSERT p EXPANSION 4 NONSCALING ITEMS a
BF.INSERT q NONSCALING EXPANSION 4 ITEMS a
BF.INSERT r EXPANSION 0 ITEMS a
BF.INFO r EXPANSION
BF.INSERT t NOCREATE ITEMS a
BF.INSERT n NOCREATE ITEMS a z
BF.INSERT t NOCREATE CAPACITY 10 ITEMS a
BF.INSERT n NOCREATE CAPACITY 10 ITEMS a
BF.INSERT n NOCREATE ERROR 0.1 ITEMS a
BF.INSERT u ERROR 0 ITEMS a
BF.INSERT u ERROR 1 ITEMS a
BF.INSERT u ERROR x ITEMS a
BF.INSERT u ERROR nan ITEMS a
BF.INSERT u ERROR ITEMS a
BF.INSERT u CAPACITY 0 ITEMS a
BF.INSERT u CAPACITY -1 ITEMS a
BF.INSERT u EXPANSION -1 ITEMS a
BF.INSERT u EXPANSION x ITEMS a
BF.INSERT u SURPRISE ITEMS a
BF.INSERT u capacity 10 error 0.1 items a
BF.INSERT v CAPACITY 10 CAPACITY 20 ITEMS a
BF.INSERT w NOCREATE NOCREATE ITEMS a
BF.INSERT x ITEMS ITEMS a
BF.EXISTS x ITEMS
BF.INSERT y CAP 10 ITEMS a
BF.INSERT y C 10 I a
BF.INSERT y E 0.1 ITEMS a
BF.INSERT y EXP 2 ITEMS a
BF.INSERT y ERR 0.1 ITEMS a
BF.INSERT y NO ITEMS a
BF.INSERT y NON ITEMS a
BF.INSERT y NONS ITEMS a
EXISTS t u w y
SET s 1
BF.INSERT s ITEMS a
BF.INSERT s NOCREATE ITEMS a
BF.INSERT s CAPACITY x ITEMS a
"""),
    ("bf.exists", """
BF.EXISTS
BF.EXISTS k
BF.EXISTS k a
BF.EXISTS k a b
BF.MEXISTS
BF.MEXISTS k
BF.MEXISTS k a b c
BF.ADD k a
BF.EXISTS k a
BF.EXISTS k b
BF.MEXISTS k a b c a
BF.MEXISTS k a
SET s 1
BF.EXISTS s a
BF.MEXISTS s a b
CF.ADD c a
BF.EXISTS c a
BF.MEXISTS c a b
CMS.INITBYDIM m 10 3
BF.EXISTS m a
"""),
    ("bf.card", """
BF.CARD
BF.CARD k
BF.CARD k x
BF.MADD k a b c
BF.CARD k
SET s 1
BF.CARD s
CF.ADD c a
BF.CARD c
"""),
    ("bf.info", """
BF.INFO
BF.INFO k
BF.INFO k CAPACITY
BF.INFO k SURPRISE
BF.RESERVE k 0.01 100 EXPANSION 3
BF.MADD k a b c
BF.INFO k ## """ + SIZES + """
BF.INFO k CAPACITY
BF.INFO k SIZE ## """ + SIZES + """
BF.INFO k FILTERS
BF.INFO k ITEMS
BF.INFO k EXPANSION
BF.INFO k capacity
BF.INFO k Items
BF.INFO k SURPRISE
BF.INFO k ''
BF.INFO k CAP
BF.INFO k CAPACITY SIZE
BF.INFO k ERROR
BF.INFO k TIGHTENING
BF.INFO k MAXSCALEDCAPACITY
BF.RESERVE n 0.01 100 NONSCALING
BF.INFO n ## """ + SIZES + """
BF.INFO n EXPANSION
SET s 1
BF.INFO s
BF.INFO s CAPACITY
BF.INFO s SURPRISE
CF.ADD c a
BF.INFO c
"""),
    ("bf.chunks", """
BF.SCANDUMP
BF.SCANDUMP k
BF.SCANDUMP k 0
BF.SCANDUMP k x
BF.LOADCHUNK
BF.LOADCHUNK k 1
BF.LOADCHUNK k x data
BF.LOADCHUNK k 1 data
BF.LOADCHUNK k 1 ''
BF.LOADCHUNK k 0 data
BF.LOADCHUNK k -1 data
BF.LOADCHUNK k 2 data
EXISTS k
BF.RESERVE k 0.01 100
BF.MADD k a b c
BF.SCANDUMP k 0 ## """ + BYTES + """
BF.SCANDUMP k x
BF.SCANDUMP k -1
BF.SCANDUMP k -9223372036854775808
BF.SCANDUMP k 9223372036854775807
BF.SCANDUMP k 100000
BF.SCANDUMP k 1 ## """ + BYTES + """
BF.SCANDUMP k 2 ## """ + BYTES + """
BF.SCANDUMP k 1 2
BF.LOADCHUNK k 0 data ## """ + BYTES + """
BF.LOADCHUNK k 1 data ## """ + BYTES + """
BF.LOADCHUNK k -1 data ## """ + BYTES + """
BF.LOADCHUNK k 4 abcdefghijklmnopqrstuvwxyz0123456789A ## """ + BYTES + """
BF.LOADCHUNK k -9223372036854775808 data ## """ + BYTES + """
BF.LOADCHUNK k 9223372036854775807 data ## """ + BYTES + """
BF.LOADCHUNK k 922337203685477588 data ## """ + BYTES + """
BF.LOADCHUNK k x data
BF.LOADCHUNK k 9223372036854775808 data
BF.LOADCHUNK k 1 ''
@COPY BF k k2
BF.INFO k2 ## """ + SIZES + """
BF.MEXISTS k2 a b c
BF.ADD e x
BF.RESERVE empty 0.01 100
@COPY BF empty empty2
BF.CARD empty2
@COPY BF k e
BF.CARD e
SET s 1
BF.SCANDUMP s 0
BF.LOADCHUNK s 1 data
BF.LOADCHUNK s 2 data
CF.ADD c a
BF.SCANDUMP c 0
BF.LOADCHUNK c 1 data
"""),
    ("bf.debug", """
BF.DEBUG
BF.DEBUG k
BF.ADD k a
BF.DEBUG k ## """ + SIZES + """
BF.DEBUG k x
SET s 1
BF.DEBUG s
"""),
    ("cf.reserve", """
CF.RESERVE
CF.RESERVE k
CF.RESERVE k 1000
CF.RESERVE k 1000
TYPE k
CF.INFO k ## """ + SIZES + """
CF.RESERVE k2 1000 BUCKETSIZE 4 MAXITERATIONS 30 EXPANSION 2
CF.INFO k2 ## """ + SIZES + """
CF.RESERVE k3 1000 BUCKETSIZE
CF.RESERVE k3 1000 BUCKETSIZE x
CF.RESERVE k3 1000 MAXITERATIONS
CF.RESERVE k3 1000 MAXITERATIONS x
CF.RESERVE k3 1000 EXPANSION
CF.RESERVE k3 1000 EXPANSION x
CF.RESERVE k3 x
CF.RESERVE k3 0
CF.RESERVE k3 1
CF.RESERVE k3 3
CF.RESERVE k3 -1
CF.RESERVE k4 4
CF.INFO k4 ## """ + SIZES + """
CF.RESERVE k5 7 BUCKETSIZE 4
CF.RESERVE k5 8 BUCKETSIZE 4
CF.RESERVE k6 1000 SURPRISE
CF.RESERVE k7 1000 SURPRISE 3
CF.RESERVE k8 1000 EXPANSION 0
CF.INFO k8 ## """ + SIZES + """
CF.RESERVE k9 1000 EXPANSION 3
CF.INFO k9 ## """ + SIZES + """
CF.RESERVE k10 1000 bucketsize 3
CF.INFO k10 ## """ + SIZES + """
CF.RESERVE k11 1000 BUCKETSIZE 2 BUCKETSIZE 4
EXISTS k3 k5 k6 k7 k11
SET s 1
CF.RESERVE s 1000
BF.ADD b x
CF.RESERVE b 1000
"""),
    ("cf.add", """
CF.ADD
CF.ADD k
CF.ADD k a b
CF.ADD k a
CF.ADD k a
CF.COUNT k a
CF.ADDNX
CF.ADDNX k
CF.ADDNX k a b
CF.ADDNX k a
CF.ADDNX k b
CF.ADDNX k b
CF.ADDNX new a
CF.ADD k ''
CF.EXISTS k ''
CF.COUNT k ''
CF.INFO k ## """ + SIZES + """
SET s 1
CF.ADD s a
CF.ADDNX s a
BF.ADD b x
CF.ADD b a
CF.ADDNX b a
"""),
    ("cf.insert", """
CF.INSERT
CF.INSERT k
CF.INSERT k ITEMS
CF.INSERT k a
CF.INSERT k ITEMS a
CF.INSERT k ITEMS a b a
CF.INSERTNX
CF.INSERTNX k ITEMS
CF.INSERTNX k ITEMS a b c c
CF.INSERT k2 CAPACITY 1000 ITEMS a b
CF.INFO k2 ## """ + SIZES + """
CF.INSERTNX k3 CAPACITY 1000 ITEMS a b
CF.INSERT k4 NOCREATE ITEMS a
CF.INSERTNX k4 NOCREATE ITEMS a
CF.INSERT k2 NOCREATE ITEMS a c
CF.INSERT k4 CAPACITY x ITEMS a
CF.INSERT k4 CAPACITY 0 ITEMS a
CF.INSERT k4 CAPACITY -1 ITEMS a
CF.INSERT k4 CAPACITY 1 ITEMS a
CF.INSERT k4 CAPACITY ITEMS a
CF.INSERT k4 CAPACITY 10
CF.INSERT k4 CAPACITY 10 ITEMS
CF.INSERT k4 SURPRISE ITEMS a
CF.INSERT k4 BUCKETSIZE 4 ITEMS a
CF.INSERT k4 capacity 100 items a
CF.INSERT k5 NOCREATE CAPACITY 100 ITEMS a
CF.INSERT k5 CAPACITY 100 NOCREATE ITEMS a
CF.INSERT k6 C 100 I a
CF.INSERT k6 N ITEMS a
EXISTS k4 k5 k6
SET s 1
CF.INSERT s ITEMS a
CF.INSERTNX s ITEMS a
CF.INSERT s NOCREATE ITEMS a
"""),
    ("cf.full", """
CF.RESERVE f 4 BUCKETSIZE 1 MAXITERATIONS 2 EXPANSION 0
CF.ADD f a ## """ + HASH + """
CF.ADD f a ## """ + HASH + """
CF.ADD f a ## """ + HASH + """
CF.ADD f a ## """ + HASH + """
CF.ADD f a ## """ + HASH + """
CF.ADD f a ## """ + HASH + """
CF.INSERT f ITEMS a b c d e f g h ## """ + HASH + """
CF.INSERTNX f ITEMS a b c d e f g h ## """ + HASH + """
CF.ADDNX f zz ## """ + HASH + """
CF.INFO f ## """ + SIZES + """
CF.RESERVE g 4 BUCKETSIZE 2 EXPANSION 1
CF.INSERT g ITEMS """ + ITEMS + """
CF.MEXISTS g """ + ITEMS + """
CF.INFO g ## """ + SIZES + """
CF.RESERVE h 4 BUCKETSIZE 2 EXPANSION 4
CF.INSERT h ITEMS """ + ITEMS + """
CF.INFO h ## """ + SIZES + """
CF.COMPACT h
CF.INFO h ## """ + SIZES + """
CF.MEXISTS h """ + ITEMS + """
"""),
    ("cf.questions", """
CF.EXISTS
CF.EXISTS k
CF.EXISTS k a
CF.EXISTS k a b
CF.MEXISTS k
CF.MEXISTS k a b
CF.COUNT
CF.COUNT k
CF.COUNT k a
CF.COUNT k a b
CF.ADD k a
CF.ADD k a
CF.ADD k b
CF.EXISTS k a
CF.EXISTS k zz
CF.MEXISTS k a b zz
CF.COUNT k a
CF.COUNT k b
CF.COUNT k zz
SET s 1
CF.EXISTS s a
CF.MEXISTS s a b
CF.COUNT s a
BF.ADD b x
CF.EXISTS b a
CF.COUNT b a
"""),
    ("cf.del", """
CF.DEL
CF.DEL k
CF.DEL k a
CF.DEL k a b
CF.ADD k a
CF.ADD k a
CF.DEL k zz
CF.DEL k a
CF.COUNT k a
CF.DEL k a
CF.DEL k a
CF.EXISTS k a
CF.INFO k ## """ + SIZES + """
SET s 1
CF.DEL s a
BF.ADD b x
CF.DEL b x
"""),
    ("cf.info", """
CF.INFO
CF.INFO k
CF.INFO k x
CF.RESERVE k 1000 BUCKETSIZE 2 MAXITERATIONS 20 EXPANSION 1
CF.INSERT k ITEMS a b c d
CF.DEL k a
CF.INFO k ## """ + SIZES + """
CF.INFO k Size
SET s 1
CF.INFO s
BF.ADD b x
CF.INFO b
CF.COMPACT
CF.COMPACT absent
CF.COMPACT s
CF.COMPACT k
CF.COMPACT k x
CF.DEBUG
CF.DEBUG absent
CF.DEBUG s
CF.DEBUG k ## """ + SIZES + """
"""),
    ("cf.chunks", """
CF.SCANDUMP
CF.SCANDUMP k
CF.SCANDUMP k 0
CF.SCANDUMP k x
CF.LOADCHUNK
CF.LOADCHUNK k 1
CF.LOADCHUNK k x data
CF.LOADCHUNK k 0 data
CF.LOADCHUNK k -1 data
CF.LOADCHUNK k 1 data
CF.LOADCHUNK k 1 ''
CF.LOADCHUNK k 2 data
EXISTS k
CF.RESERVE empty 100
CF.SCANDUMP empty 0 ## """ + BYTES + """
CF.RESERVE k 100
CF.INSERT k ITEMS a b c
CF.SCANDUMP k 0 ## """ + BYTES + """
CF.SCANDUMP k x
CF.SCANDUMP k -1
CF.SCANDUMP k -9223372036854775808
CF.SCANDUMP k 9223372036854775807
CF.SCANDUMP k 100000
CF.SCANDUMP k 1 ## """ + BYTES + """
CF.SCANDUMP k 1 2
CF.LOADCHUNK k 0 data ## """ + BYTES + """
CF.LOADCHUNK k 1 data ## """ + BYTES + """
CF.LOADCHUNK k 2 data ## """ + BYTES + """
CF.LOADCHUNK k -1 data ## """ + BYTES + """
CF.LOADCHUNK k x data
CF.LOADCHUNK k 9223372036854775807 data ## """ + BYTES + """
@COPY CF k k2
CF.INFO k2 ## """ + SIZES + """
CF.MEXISTS k2 a b c
CF.COUNT k2 a
CF.ADD e x
@COPY CF k e
SET s 1
CF.SCANDUMP s 0
CF.LOADCHUNK s 1 data
CF.LOADCHUNK s 2 data
BF.ADD b x
CF.SCANDUMP b 0
"""),
    ("cms.init", """
CMS.INITBYDIM
CMS.INITBYDIM k 10
CMS.INITBYDIM k 2000 5
CMS.INITBYDIM k 2000 5
CMS.INITBYDIM k x 5
TYPE k
CMS.INFO k
CMS.INITBYDIM k2 x 5
CMS.INITBYDIM k2 10 x
CMS.INITBYDIM k2 0 5
CMS.INITBYDIM k2 10 0
CMS.INITBYDIM k2 -1 5
CMS.INITBYDIM k2 10 -1
CMS.INITBYDIM k2 10 5 7
CMS.INITBYDIM k2 1 1
CMS.INFO k2
CMS.INITBYDIM k3 4294967296 1073741824
CMS.INITBYDIM k3 9223372036854775807 2
CMS.INITBYDIM k3 3 4611686018427387904
CMS.INITBYDIM k3 4294967295 4294967295
CMS.INITBYDIM k3 18446744073709551615 1
CMS.INITBYPROB
CMS.INITBYPROB p 0.001
CMS.INITBYPROB p 0.001 0.01
CMS.INITBYPROB p 0.001 0.01
CMS.INFO p ## """ + SIZES + """
CMS.INITBYPROB p2 0.01 0.1
CMS.INFO p2 ## """ + SIZES + """
CMS.INITBYPROB p3 0.3 0.5
CMS.INFO p3 ## """ + SIZES + """
EXISTS k3
SET s 1
CMS.INITBYDIM s 10 5
CMS.INITBYPROB s 0.01 0.1
BF.ADD b x
CMS.INITBYDIM b 10 5
"""),
    ("cms.incrby", """
CMS.INCRBY
CMS.INCRBY k
CMS.INCRBY k a
CMS.INCRBY k a 1
CMS.INITBYDIM k 2000 5
CMS.INCRBY k a 1
CMS.INCRBY k a 5 b 7
CMS.INCRBY k a
CMS.INCRBY k a 1 b
CMS.INCRBY k a x
CMS.INCRBY k a 1 b x
CMS.QUERY k a b
CMS.INCRBY k a 0
CMS.INCRBY k a -1
CMS.INCRBY k a 1.5
CMS.INCRBY k '' 3
CMS.QUERY k ''
CMS.INFO k
CMS.INCRBY k big 4294967290
CMS.INCRBY k big 10
CMS.QUERY k big
CMS.INCRBY k huge 4294967295
CMS.INCRBY k huge2 4294967296
CMS.QUERY k huge2
CMS.INCRBY k huge3 9223372036854775807
CMS.INCRBY k huge4 9223372036854775808
CMS.INCRBY k x 1 huge 1 y 1
CMS.QUERY k x huge y
CMS.INFO k
CMS.INCRBY k twice 2 twice 3
SET s 1
CMS.INCRBY s a 1
BF.ADD b x
CMS.INCRBY b a 1
"""),
    ("cms.query", """
CMS.QUERY
CMS.QUERY k
CMS.QUERY k a
CMS.INITBYDIM k 2000 5
CMS.QUERY k a
CMS.QUERY k a b c
CMS.INCRBY k a 3
CMS.QUERY k a b a
CMS.INFO
CMS.INFO absent
CMS.INFO k
CMS.INFO k x
SET s 1
CMS.QUERY s a
CMS.INFO s
BF.ADD b x
CMS.QUERY b a
CMS.INFO b
"""),
    ("cms.merge", """
CMS.INITBYDIM a 1000 5
CMS.INITBYDIM b 1000 5
CMS.INITBYDIM d 1000 5
CMS.INITBYDIM w 999 5
CMS.INITBYDIM v 1000 4
CMS.INCRBY a x 1 y 2
CMS.INCRBY b x 10 z 3
CMS.MERGE
CMS.MERGE d
CMS.MERGE d 1
CMS.MERGE d 1 a
CMS.QUERY d x y z
CMS.INFO d
CMS.MERGE d 2 a b
CMS.QUERY d x y z
CMS.INFO d
CMS.MERGE d 2 a b WEIGHTS 1 2
CMS.QUERY d x y z
CMS.MERGE d 2 a b WEIGHTS -1 2
CMS.QUERY d x y z
CMS.INFO d
CMS.MERGE d 2 a b WEIGHTS 0 0
CMS.QUERY d x y z
CMS.INFO d
CMS.MERGE d 2 a b WEIGHTS 1
CMS.MERGE d 2 a b WEIGHTS 1 2 3
CMS.MERGE d 2 a b WEIGHTS 1 x
CMS.MERGE d 2 a b WEIGHTS
CMS.MERGE d 2 a b SURPRISE 1 2
CMS.MERGE d 2 a b weights 1 2
CMS.MERGE d 2 a
CMS.MERGE d 1 a b
CMS.MERGE d 0
CMS.MERGE d 0 a
CMS.MERGE d -1 a
CMS.MERGE d -9223372036854775808 a
CMS.MERGE d 9223372036854775807 a
CMS.MERGE d 4611686018427387904 a
CMS.MERGE d x a
CMS.MERGE d 1 w
CMS.MERGE d 1 v
CMS.MERGE d 1 absent
CMS.MERGE absent 1 a
CMS.MERGE d 2 d a
CMS.QUERY d x y z
CMS.MERGE d 2 a a
CMS.QUERY d x y z
CMS.MERGE d 1 a WEIGHTS 9223372036854775807
CMS.MERGE d 1 a WEIGHTS 4294967296
CMS.QUERY d x y z
SET s 1
CMS.MERGE d 1 s
CMS.MERGE s 1 a
CMS.MERGE d 2 s absent
CMS.QUERY d x y z
"""),
    ("server", """
BF.ADD b x
CF.ADD c x
CMS.INITBYDIM m 10 3
COPY b b2
COPY c c2
COPY m m2
BF.EXISTS b2 x
CF.EXISTS c2 x
CMS.INFO m2
RENAME b b3
BF.CARD b3
DUMP b3 ## """ + BYTES + """
OBJECT ENCODING b3
MEMORY USAGE b3 ## """ + SIZES + """
DEL b3 c m
EXISTS b3 c m
BF.SURPRISE x
MULTI
BF.ADD t a
BF.ADD t a
CF.ADD t a
CMS.QUERY t a
EXEC
EVAL "return redis.call('BF.MADD', KEYS[1], 'a', 'b')" 1 lua
EVAL "return redis.call('BF.INFO', KEYS[1], 'items')" 1 lua
EVAL "return redis.call('BF.RESERVE', KEYS[1], '2', '1')" 1 lua2
ACL CAT bloom ## the server decides which categories a module may add
ACL CAT cuckoo ## the server decides which categories a module may add
ACL CAT cms ## the server decides which categories a module may add
"""),
]

NAMES = ("bf.reserve bf.add bf.madd bf.insert bf.exists bf.mexists bf.card bf.info bf.scandump bf.loadchunk bf.debug "
         "cf.reserve cf.add cf.addnx cf.insert cf.insertnx cf.exists cf.mexists cf.count cf.del cf.info cf.scandump "
         "cf.loadchunk cf.compact cf.debug cms.initbydim cms.initbyprob cms.incrby cms.query cms.merge cms.info").split()


def sweep(pattern, values, forget="DEL n"):
    """Every value in place of the question mark, each in a fresh key."""
    for value in values:
        yield pattern.replace("?", value)
        yield forget


def groups():
    for title, text in GROUPS:
        yield title, [line for line in text.splitlines() if line]
    yield "numbers: bf", itertools.chain(
        sweep("BF.RESERVE n 0.25 ?", EDGES), sweep("BF.RESERVE n ? 3", RATES), sweep("BF.RESERVE n 0.01 9 EXPANSION ?", EDGES),
        sweep("BF.INSERT n CAPACITY ? ERROR 0.25 ITEMS a", EDGES), sweep("BF.INSERT n ERROR ? ITEMS a", RATES),
        sweep("BF.INSERT n EXPANSION ? ITEMS a", EDGES),
        sweep("BF.RESERVE n 0.25 ?", ["1073741824", "1073741825", "536870912"]))
    yield "numbers: cf", itertools.chain(
        sweep("CF.RESERVE n ?", EDGES), sweep("CF.RESERVE n 600 BUCKETSIZE ?", EDGES),
        sweep("CF.RESERVE n 600 MAXITERATIONS ?", EDGES), sweep("CF.RESERVE n 600 EXPANSION ?", EDGES),
        sweep("CF.INSERT n CAPACITY ? ITEMS a", EDGES))
    yield "numbers: cms", itertools.chain(
        sweep("CMS.INITBYDIM n ? 1", EDGES), sweep("CMS.INITBYDIM n 3 ?", EDGES),
        sweep("CMS.INITBYPROB n ? 0.5", RATES), sweep("CMS.INITBYPROB n 0.5 ?", RATES),
        ["CMS.INITBYDIM c 2000 5"], sweep("CMS.INCRBY c i ?", EDGES, "CMS.QUERY c i"),
        ["CMS.INITBYDIM d 2000 5"], sweep("CMS.MERGE d ? c", EDGES, "CMS.QUERY d i"),
        sweep("CMS.MERGE d 1 c WEIGHTS ?", EDGES, "CMS.QUERY d i"))
    yield "numbers: chunks", itertools.chain(
        ["BF.ADD b x", "CF.ADD c x"], sweep("BF.SCANDUMP b ? ## " + BYTES, EDGES, "PING"),
        sweep("CF.SCANDUMP c ? ## " + BYTES, EDGES, "PING"))
    yield "command info", ["COMMAND INFO " + name for name in NAMES]


def is_too_large_to_try(words):
    """Sizes that either module may really allocate: not while several servers share a machine."""
    return words[0] == b"CMS.INITBYDIM" and words[3:] == [b"1"] and words[2].isdigit() and 2**31 - 1 <= int(words[2]) <= 2**32


def steps_of(lines):
    for line in lines:
        text, _, reason = line.partition(" ## ")
        yield text, reason


def ask(connection, text):
    """The replies of one step: one, or as many as a copy by chunks has."""
    if not text.startswith("@COPY "):
        words = split(text)
        return [] if is_too_large_to_try(words) else [(words, connection.ask(words))]
    family, source, target = (word.encode() for word in text.split()[1:])
    replies, at = [], b"0"
    for _ in range(1000):
        words = [family + b".SCANDUMP", source, at]
        chunk = connection.ask(words)
        replies.append((words, chunk))
        if chunk.kind != "*" or chunk.value[0].value == "0":
            break
        at = chunk.value[0].value.encode()
        words = [family + b".LOADCHUNK", target, at, chunk.value[1].value]
        replies.append((words, connection.ask(words)))
    return replies


# ==== Showing


def readable(data, most=1500):
    text = data.decode("latin-1").encode("unicode_escape").decode()
    return text if len(text) <= most else "%s... (%d bytes)" % (text[:most], len(data))


def shown(words):
    return " ".join(readable(word, 60) if word and b" " not in word else repr(readable(word, 60)) for word in words)


def record(module, program):
    with Server(module=os.path.abspath(module), program=program) as server:
        for protocol in (2, 3):
            print("==== RESP%d" % protocol)
            for title, lines in groups():
                print("\n-- %s" % title)
                connection = Connection(server.port, protocol)
                connection.ask([b"FLUSHALL"])
                for text, _ in steps_of(lines):
                    for words, reply in ask(connection, text):
                        print("> %s\n< %s" % (shown(words), readable(reply.raw)))
                connection.socket.close()


# ==== Comparing

# What differs on purpose: (round or *, how the command begins, why). The shape is still compared
# unless the reason ends with "!".
KNOWN = [
    ("own", "TYPE k", "our own kinds are of the type tamis-set"),
    ("*", "BF.INFO k ERROR", "an argument of Valkey's module, which ours takes too!"),
    ("*", "BF.INFO k TIGHTENING", "an argument of Valkey's module, which ours takes too!"),
    ("*", "BF.INFO k MAXSCALEDCAPACITY", "an argument of Valkey's module, which ours takes too!"),
    ("*", "BF.LOADCHUNK e ", "ours loads over a filter that is there, which answers until the new one is whole!"),
    ("*", "BF.CARD e", "ours loads over a filter that is there, which answers until the new one is whole!"),
    ("*", "CF.LOADCHUNK e ", "ours refuses a chunk whose header was refused!"),
    ("*", "COPY ", "RedisBloom's types cannot be copied!"),
    ("*", "BF.EXISTS b2 ", "RedisBloom's types cannot be copied!"),
    ("*", "CF.EXISTS c2 ", "RedisBloom's types cannot be copied!"),
    ("*", "CMS.INFO m2", "RedisBloom's types cannot be copied!"),
    ("*", "DUMP ", "its last bytes are the server's version and a sum"),
    ("*", "MEMORY USAGE ", SIZES),
    ("*", "CF.SCANDUMP c 2", "ours ends with the filter wherever a chunk begins, theirs gives a whole chunk's length!"),
    ("*", "ACL CAT ", "servers before 7.4 let no module add categories!"),
    ("*", "COMMAND INFO bf.debug", "RedisBloom does not tell how many arguments it wants!"),
    ("*", "COMMAND INFO cf.debug", "RedisBloom does not tell how many arguments it wants!"),
    ("*", "COMMAND INFO cf.compact", "it changes the filter: ours says that it writes!"),
    ("*", "COMMAND INFO bf.scandump", "an image has the secret inside: for administrators!"),
    ("*", "COMMAND INFO cf.scandump", "an image has the secret inside: for administrators!"),
    ("*", "COMMAND INFO cms.merge", "the keys of the sources are named too, for clusters and rights!"),
    ("own", "CF.ADD f ", "whether a bucket is full hangs on the hash!"),
    ("own", "CF.ADDNX f ", "whether a bucket is full hangs on the hash!"),
]


def known_reason(round_name, words):
    line = b" ".join(words).decode("latin-1")
    for where, begins, reason in KNOWN:
        if where in ("*", round_name) and line.startswith(begins):
            return reason
    return ""


def of_command_info(reply):
    """Name, arity, flags and key positions: what clients and proxies read. Categories and key
    specifications depend on the server's version."""
    one = reply.value[0]
    if one.kind not in "*" or not one.value:
        return reply.whole()
    name, arity, flags, first, last, step = one.value[:6]
    return (name.value, arity.value, sorted(flag.value for flag in flags.value), first.value, last.value, step.value)


def same(words, theirs, ours, by_shape):
    if words[:2] == [b"COMMAND", b"INFO"]:
        return of_command_info(theirs) == of_command_info(ours)
    return theirs.shape() == ours.shape() if by_shape else theirs.whole() == ours.whole()


class Comparison:
    def __init__(self):
        self.steps, self.by_shape, self.tests, self.failed = 0, 0, 0, 0

    def step(self, round_name, text, reason, theirs, ours):
        """The differences of one step, as lines."""
        if len(theirs) != len(ours):
            # Formats differ in their number of chunks.
            return [] if reason or round_name == "own" else ["%s: %d replies against %d" % (text, len(theirs), len(ours))]
        lines = []
        for (words, their), (_, our) in zip(theirs, ours):
            why = known_reason(round_name, words) or (reason if round_name == "own" else "")
            if text.startswith("@COPY") and round_name == "own":
                why = why or BYTES
            self.steps += 1
            self.by_shape += bool(why)
            if not why.endswith("!") and not same(words, their, our, bool(why)):
                lines += ["> " + shown(words), "  theirs " + readable(their.raw), "  ours   " + readable(our.raw)]
        return lines

    def report(self, name, lines):
        self.tests += 1
        self.failed += bool(lines)
        print("%s %d - %s" % ("not ok" if lines else "ok", self.tests, name))
        for line in lines:
            print("# " + line)


def is_wanted(title):
    return len(sys.argv) < 2 or any(title.startswith(begin) for begin in sys.argv[1:])


def compare(comparison, round_name, their_port, our_port):
    for protocol in (2, 3):
        for title, lines in groups():
            if not is_wanted(title):
                continue
            theirs, ours = Connection(their_port, protocol), Connection(our_port, protocol)
            found = []
            for connection in (theirs, ours):
                connection.ask([b"FLUSHALL"])
            for text, reason in steps_of(lines):
                found += comparison.step(round_name, text, reason, ask(theirs, text), ask(ours, text))
            comparison.report("%s, RESP%d, %s" % (round_name, protocol, title), found)
            theirs.socket.close()
            ours.socket.close()


def main():
    module = os.environ.get("TAMIS_REDISBLOOM")
    if not module:
        print("1..1\nok 1 - differ # SKIP TAMIS_REDISBLOOM does not name a redisbloom.so")
        return 0
    comparison = Comparison()
    origin = ["bf-kind", "redisbloom", "cf-kind", "rediscuckoo", "cms-kind", "rediscms"]
    with Server(module=os.path.abspath(module), program=os.environ.get("TAMIS_REDISBLOOM_SERVER", PROGRAM)) as theirs:
        with Server() as ours:
            compare(comparison, "own", theirs.port, ours.port)
        with Server(arguments=origin) as ours:
            compare(comparison, "origin", theirs.port, ours.port)
    print("1..%d" % comparison.tests)
    print("# %d replies compared, %d of them by their shape" % (comparison.steps, comparison.by_shape))
    return 1 if comparison.failed else 0


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "record":
        record(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else PROGRAM)
    else:
        sys.exit(main())
