# SPDX-License-Identifier: MIT
"""Servers to measure: each alone with a module, stopped after the run; and a client for them."""
import os
import signal
import subprocess
import sys
import tempfile
import time
from socket import create_connection, socket

BUILD = os.environ.get("B", "build")
SERVER = os.environ.get("REDIS_SERVER", "redis-server")
MODULE = os.environ.get("TAMIS_REDIS", os.path.join(BUILD, "tamis-redis.so"))
TOOLS = os.path.join(BUILD, "bench", "redis")
LOAD = os.path.join(TOOLS, "load")


class Client:
    def __init__(self, port):
        self.socket = create_connection(("127.0.0.1", port), timeout=600)
        self.input = self.socket.makefile("rb", 1 << 20)

    def ask(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            parts += [b"$%d\r\n" % len(word), word, b"\r\n"]
        self.socket.sendall(b"".join(parts))
        return self.read()

    def read(self):
        line = self.input.readline()[:-2]
        kind, text = line[:1], line[1:]
        if kind == b"-":
            raise RuntimeError(text.decode("utf-8", "replace"))
        if kind == b":":
            return int(text)
        if kind == b"$":
            return None if text == b"-1" else self.input.read(int(text) + 2)[:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(text))]
        return text


def on_processor(number):
    if number is None or os.cpu_count() < 2:
        return None
    return lambda: os.sched_setaffinity(0, {number})


class Server:
    def __init__(self, module, options=(), processor=None):
        self.folder = tempfile.TemporaryDirectory(prefix="tamis-bench-")
        with socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder.name, "--save", "",
                   "--loglevel", "warning", "--logfile", os.path.join(self.folder.name, "log"),
                   "--loadmodule", os.path.abspath(module), *options]
        self.process = subprocess.Popen(command, preexec_fn=on_processor(processor), stdout=subprocess.DEVNULL)
        for _ in range(500):
            try:
                self.client = Client(self.port)
                return
            except OSError:
                time.sleep(0.02)
                if self.process.poll() is not None:
                    break
        with open(os.path.join(self.folder.name, "log")) as log:
            sys.exit("the server did not start:\n" + log.read())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.folder.cleanup()


def machine():
    with open("/proc/cpuinfo") as info:
        name = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "?")
    version = subprocess.run([SERVER, "--version"], stdout=subprocess.PIPE, text=True).stdout.split()
    return dict(processor=name, processors=os.cpu_count(), server=" ".join(version[:3]))
