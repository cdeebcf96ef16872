#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""streams.py: the library and a second implementation make the same symbols, streams and differences."""
import ctypes
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path += [os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "tests", "python")]
import console
import tamis_stream

LIBRARY = ctypes.CDLL(os.environ.get("TAMIS_SO") or os.path.join(ROOT, "build", "libtamis.so"))


class Symbol(ctypes.Structure):
    _fields_ = [("sum", ctypes.c_uint64), ("check", ctypes.c_uint64), ("count", ctypes.c_int64)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("memory", ctypes.c_void_p), ("hash", ctypes.c_char_p),
                ("nonce", ctypes.c_char_p), ("is_one_way", ctypes.c_bool), ("symbols", ctypes.c_uint64),
                ("wants", ctypes.c_int), ("key_of", ctypes.c_void_p), ("hash_of", ctypes.c_void_p),
                ("ctx", ctypes.c_void_p), ("limits", ctypes.c_uint64 * 4)]


LIBRARY.tamis_session_output.restype = ctypes.c_size_t


def demand(status):
    if status:
        raise RuntimeError(f"status {status}")


def list_of(hashes):
    return (ctypes.c_uint64 * len(hashes))(*hashes)


def symbols(key, hashes, n):
    handle, made = ctypes.c_void_p(), (Symbol * n)()
    demand(LIBRARY.tamis_symbols_create(ctypes.byref(handle), list_of(hashes),
                                        ctypes.c_size_t(len(hashes)), key, None))
    demand(LIBRARY.tamis_symbols_next(handle, made, ctypes.c_size_t(n)))
    LIBRARY.tamis_symbols_free(handle)
    return [[s.sum, s.check, s.count] for s in made]


def stream(nonce, hashes, n):
    """The bytes of a stream that is written one way."""
    talk, buffer, data = ctypes.c_void_p(), ctypes.create_string_buffer(1000), b""
    options = Options(struct_size=ctypes.sizeof(Options), hash=b"xxh3", nonce=nonce, is_one_way=True, symbols=n)
    demand(LIBRARY.tamis_session_create(ctypes.byref(talk), 1, list_of(hashes), ctypes.c_size_t(len(hashes)),
                                     ctypes.byref(options)))
    while size := LIBRARY.tamis_session_output(talk, buffer, ctypes.c_size_t(1000)):
        data += buffer.raw[:size]
    LIBRARY.tamis_session_free(talk)
    return data


def main():
    tap, chance = console.Tap(), random.Random(8)
    for n in (0, 1, 2, 100, 3000):
        key, hashes = chance.randbytes(16), [chance.getrandbits(64) for _ in range(n)]
        tap.result(symbols(key, hashes, 3000) == tamis_stream.symbols(key, hashes, 3000),
                   f"3000 symbols of {n} hashes")
    own, theirs = ([chance.getrandbits(64) for _ in range(40)] for _ in range(2))
    both = [chance.getrandbits(64) for _ in range(500)]
    data = stream(chance.randbytes(16), both + theirs, 300)
    key, size, digest, found = tamis_stream.read(data)
    tap.result(size == 540 and len(found) == 300 and digest == tamis_stream.Keys(key).digest(both + theirs),
               "a stream one way: size, symbols, digest")
    tap.result(found == symbols(key, both + theirs, 300), "a stream one way: its symbols")
    tap.result(tamis_stream.peel(key, found, both + own) == (set(theirs), set(own), True),
               "a stream one way: what differs")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
