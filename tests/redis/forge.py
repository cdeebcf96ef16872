# SPDX-License-Identifier: MIT
"""Dumps as the server makes them: taken apart, put together, and sealed with a valid checksum."""
import struct

END, SIGNED, UNSIGNED, FLOAT, DOUBLE, STRING = range(6)
MODULE_2 = 7
FOOTER = 10  # u16 version, u64 checksum

_table = []
for _n in range(256):
    for _ in range(8):
        _n = _n >> 1 ^ (0x95ac9329ac4bc9b5 if _n & 1 else 0)
    _table.append(_n)


def crc64(data):
    """CRC-64 with Jones's polynomial, reflected, starting at 0."""
    crc = 0
    for byte in data:
        crc = _table[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def length(n):
    n %= 2 ** 64
    if n < 64:
        return bytes([n])
    if n < 1 << 14:
        return bytes([0x40 | n >> 8, n & 255])
    return b"\x80" + struct.pack(">I", n) if n < 2 ** 32 else b"\x81" + struct.pack(">Q", n)


def read_length(data, at):
    first = data[at]
    if first >> 6 == 0:
        return first, at + 1
    if first >> 6 == 1:
        return (first & 63) << 8 | data[at + 1], at + 2
    if first == 0x80:
        return struct.unpack_from(">I", data, at + 1)[0], at + 5
    if first == 0x81:
        return struct.unpack_from(">Q", data, at + 1)[0], at + 9
    raise ValueError("a string of another encoding")


def type_id(name, encoding):
    """A type as a number: nine letters of six bits, and its encoding in ten."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    number = 0
    for letter in name:
        number = number << 6 | letters.index(letter)
    return number << 10 | encoding


def fields(*values):
    """Numbers, reals and strings, each after its type."""
    parts = []
    for value in values:
        if isinstance(value, bytes):
            parts.append(length(STRING) + length(len(value)) + value)
        elif isinstance(value, float):
            parts.append(length(DOUBLE) + struct.pack("<d", value))
        else:
            parts.append(length(UNSIGNED) + length(value))
    return b"".join(parts)


def sealed(body, version=10):
    data = body + struct.pack("<H", version)
    return data + struct.pack("<Q", crc64(data))


def dump(kind, values, encoding=None, version=10):
    """A value of a module type: `kind` is its number, or its name with an encoding."""
    number = type_id(kind, encoding) if isinstance(kind, str) else kind
    return sealed(bytes([MODULE_2]) + length(number) + fields(*values) + length(END), version)


def parse(data):
    """The number of the type, and its values, which the server must not have compressed."""
    number, at = read_length(data, 1)
    values = []
    while True:
        op, at = read_length(data, at)
        if op == END:
            return number, values
        if op == DOUBLE:
            values.append(struct.unpack_from("<d", data, at)[0])
            at += 8
            continue
        value, at = read_length(data, at)
        if op == STRING:
            value, at = data[at:at + value], at + value
        values.append(value)
