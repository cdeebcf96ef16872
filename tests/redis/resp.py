# SPDX-License-Identifier: MIT
"""A client for RESP2 and RESP3 that shows replies as they came, with their types.

Client libraries convert replies for their users; tests of shapes need to see the shapes.
"""
import socket


class Error(str):
    """An error reply, also inside an array."""


class Status(str):
    """A simple string, as +OK."""


class Map(dict):
    """A map of RESP3."""


class Client:
    def __init__(self, port, protocol=2, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", 1 << 16)
        if protocol == 3:
            self.do("HELLO", 3)

    def close(self):
        self.file.close()
        self.socket.close()

    def do(self, *words):
        """Sends one command and returns its reply; errors are returned, not raised."""
        self.send(words)
        return self.read()

    def must(self, *words):
        """The same for commands that must not fail."""
        reply = self.do(*words)
        if isinstance(reply, Error):
            raise AssertionError(f"{words}: {reply}")
        return reply

    def pipeline(self, commands):
        """Sends all, then reads all replies."""
        self.socket.sendall(b"".join(packed(words) for words in commands))
        return [self.read() for _ in commands]

    def send(self, words):
        self.socket.sendall(packed(words))

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return Status(rest.decode("utf-8", "surrogateescape"))
        if kind == b"-":
            return Error(rest.decode("utf-8", "surrogateescape"))
        if kind == b":":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        if kind in b"$=":
            return self.read_bytes(int(rest))
        if kind in b"*~>":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        if kind == b"%":
            return Map((key(self.read()), self.read()) for _ in range(int(rest)))
        raise AssertionError(f"a reply that nobody knows: {line!r}")

    def read_bytes(self, size):
        if size < 0:
            return None
        data = self.file.read(size + 2)
        if len(data) != size + 2:
            raise ConnectionError("the server closed the connection")
        return data[:-2]


def key(reply):
    return reply.decode() if isinstance(reply, bytes) else reply


def packed(words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogateescape")
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)
