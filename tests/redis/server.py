# SPDX-License-Identifier: MIT
"""Servers for tests: Debian's redis-server with the module, on loopback, gone when the test is.

TAMIS_REDIS names the module (default: build/tamis-redis.so), REDIS_SERVER another server program.
TAMIS_REDIS_PRELOAD names a library to load into the server, such as a sanitizer's: servers are then
shut down instead of killed, so that it can look for leaks, and must exit with 0.
"""
import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import resp

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from tap import Tap  # noqa: E402,F401

MODULE = os.environ.get("TAMIS_REDIS", os.path.join(ROOT, "build", "tamis-redis.so"))
PROGRAM = os.environ.get("REDIS_SERVER", "redis-server")
PRELOAD = os.environ.get("TAMIS_REDIS_PRELOAD")

_running = []


def free_port():
    """A free port, low enough that the cluster bus, 10,000 above, is a port too."""
    while True:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        if port < 55000:
            return port


def environment_for(other):
    """For a server program: a module with a sanitizer needs the sanitizer's library preloaded."""
    return dict(other, **({"LD_PRELOAD": PRELOAD} if PRELOAD else {}))


# The secret decides which non-members hit: with a random one, tests would fail now and then.
SECRET = "5e" * 16


class Server:
    """`arguments` are the module's; without a `secret` the server draws one."""

    def __init__(self, *options, module=MODULE, arguments=(), folder=None, port=None, environment=None,
                 program=PROGRAM, secret=SECRET):
        self.program = program
        self.port = port or free_port()
        self.folder = folder or tempfile.mkdtemp(prefix="tamis-redis-")
        self.owns_folder = folder is None
        self.options, self.module, self.arguments = options, module, arguments
        self.environment, self.secret = environment, secret
        self.process = None
        _running.append(self)
        self.start()

    def start(self):
        command = [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                   "--save", "", "--repl-diskless-sync-delay", "0", "--enable-debug-command", "local", "--logfile", self.log_path()]
        if self.module:
            command += ["--loadmodule", self.module, *map(str, self.arguments)]
            command += ["--tamis.secret", self.secret] if self.module == MODULE and self.secret else []
        command += map(str, self.options)
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=environment_for(self.environment or os.environ))
        self.wait()

    def log_path(self):
        return os.path.join(self.folder, f"log-{self.port}")

    def log(self):
        with open(self.log_path(), errors="replace") as file:
            return file.read()

    def wait(self, seconds=60):
        """Until it answers, and has loaded its files."""
        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.log()[-2000:]}")
            try:
                client = self.client()
            except OSError:
                return False
            reply = client.do("PING")
            client.close()
            return reply == "PONG"
        until(answers, seconds, "the server answers")

    def client(self, protocol=2, timeout=60):
        return resp.Client(self.port, protocol, timeout)

    def kill(self):
        """As in a crash: nothing is saved."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self):
        self.kill()
        self.start()

    def shut_down(self):
        """As an administrator would; it must exit with 0."""
        self.client().send(["SHUTDOWN", "NOSAVE", "FORCE"])
        code = self.process.wait(60)
        if code != 0:
            raise AssertionError(f"the server ended with {code}")

    def stop(self):
        try:
            if PRELOAD and self.process.poll() is None:
                self.shut_down()
        finally:
            self.remove()

    def remove(self):
        self.kill()
        if self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self in _running:
            _running.remove(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


@atexit.register
def _stop_all():
    for server in list(_running):
        server.stop()


def until(condition, seconds=30, what="it is so"):
    """Waits for a condition; the test fails after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s still not: {what}")
        time.sleep(0.01)


def replicate(primary, replica):
    """Makes `replica` follow `primary`, and waits until it has everything."""
    replica.client().must("REPLICAOF", "127.0.0.1", primary.port)
    in_step(primary, replica)


def info_field(client, section, name):
    """The text of one line of INFO, or None."""
    for line in client.must("INFO", section).decode().split("\r\n"):
        if line.startswith(name + ":"):
            return line.split(":", 1)[1]
    return None


def in_step(primary, replica, seconds=60):
    """Until the replica has all that the primary wrote."""
    p, r = primary.client(), replica.client()
    until(lambda: info_field(r, "replication", "master_link_status") == "up" and
          info_field(r, "replication", "slave_repl_offset") == info_field(p, "replication", "master_repl_offset"),
          seconds, "the replica is in step")
    p.close()
    r.close()
