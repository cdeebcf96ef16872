#!/usr/bin/env python3
"""TAMIS.*: every command, in both protocols, on a server of Debian's."""
import struct
import sys

from resp import Error, Status
from server import Server, Tap

tap = Tap()


def shapes(server, protocol):
    c = server.client(protocol)
    c.must("FLUSHALL")
    yes, no = (True, False) if protocol == 3 else (1, 0)

    def equal(words, wanted):
        tap.equal(c.do(*words), wanted, f"RESP{protocol} {' '.join(str(w)[:40] for w in words)}")

    equal(["TAMIS.CREATE", "f", "blocked:capacity=1000"], Status("OK"))
    equal(["TAMIS.CREATE", "f", "blocked:capacity=1000"], Error("ERR item exists"))
    equal(["TAMIS.ADD", "f", "a", "b", "c"], 3)
    equal(["TAMIS.HAS", "f", "a", "x"], [yes, no])
    equal(["TAMIS.HAS", "none", "a"], Error("NOFILTER there is no filter at key 'none'"))
    equal(["TAMIS.HADD", "f", struct.pack("<3Q", 1, 2 << 60, 3 << 61)], 3)
    equal(["TAMIS.HHAS", "f", struct.pack("<4Q", 1, 2 << 60, 3 << 61, 77 << 50)], b"\x07")
    tap.check(len(c.do("TAMIS.SECRET", "f")) == 16, f"RESP{protocol} a keyed filter tells its secret")
    info = c.do("TAMIS.INFO", "f")
    tap.check(isinstance(info, dict if protocol == 3 else list), f"RESP{protocol} info is a map")
    image, at = b"", 0
    while True:
        at, total, piece = c.must("TAMIS.DUMP", "f", at, "COUNT", 100)
        image += piece
        if at == 0:
            break
    tap.equal(len(image), total, f"RESP{protocol} a dump is as long as it says")
    for at in range(0, total, 333):
        reply = c.must("TAMIS.LOAD", "g", at, total, image[at:at + 333])
        if at + 333 < total:
            tap.check(isinstance(c.do("TAMIS.HAS", "g", "a"), Error), "half a filter answers nothing")
    tap.equal(reply, total, f"RESP{protocol} a loaded filter is in place")
    equal(["TAMIS.HAS", "g", "a", "x"], [yes, no])
    c.close()


def main():
    with Server() as server:
        for protocol in (2, 3):
            shapes(server, protocol)
    return tap.end()


sys.exit(main())
