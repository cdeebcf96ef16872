# SPDX-License-Identifier: MIT
"""Servers for tests: a cluster of its own for each program, gone when the program is.

The server's programs are copied beside the extension into a tree of their own, where PostgreSQL finds its files by where it
is: so tests install nothing, and need not be root. Where they are root, the server runs as nobody, since it refuses to be root.

TAMIS_POSTGRES names the directory with tamis.so (default: build/postgres), PG_CONFIG a pg_config. TAMIS_POSTGRES_PRELOAD is a
library to load into the server, such as a sanitizer's."""
import atexit
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from tap import Tap  # noqa: E402,F401

BUILT = os.environ.get("TAMIS_POSTGRES", os.path.join(ROOT, "build", "postgres"))
COMMAND = os.environ.get("TAMIS", os.path.join(ROOT, "build", "tamis"))
PRELOAD = os.environ.get("TAMIS_POSTGRES_PRELOAD")
PG_CONFIG = os.environ.get("PG_CONFIG", "pg_config")
SOURCES = os.path.join(ROOT, "engines", "postgres")
IS_ROOT = os.geteuid() == 0
_servers = []


def config(name):
    return subprocess.run([PG_CONFIG, name], capture_output=True, text=True, check=True).stdout.strip()


def why_not():
    """Why these tests cannot run here; None when they can."""
    if not shutil.which(PG_CONFIG):
        return "PostgreSQL's pg_config is not installed"
    if not os.path.exists(os.path.join(config("--bindir"), "initdb")):
        return "PostgreSQL's server is not installed"
    if not os.path.exists(os.path.join(BUILT, "tamis.so")):
        return f"{BUILT}/tamis.so was not built"
    return None


def skip_unless_possible():
    if why_not():
        tap = Tap()
        tap.skip("PostgreSQL", why_not())
        sys.exit(tap.end())


def as_nobody():
    """Arguments of subprocess for programs that refuse to be root."""
    if not IS_ROOT:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


class Error(Exception):
    """What the server said."""


class Session:
    """A psql that stays: what it is told runs in one session of the server."""

    def __init__(self, server, database="postgres", user=None):
        self.server = server
        self.process = subprocess.Popen(
            [server.program("psql"), "-XAqt", "-F", "\t", "-P", "null=NULL", "-v", "VERBOSITY=default", "-h", server.folder,
             "-d", database, "-U", user or server.user],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def send(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def lines(self, text):
        """What is printed, line by line, with errors and notices among it."""
        self.send(text.rstrip().rstrip(";") + "\n;\n\\echo =done=\n" if not text.startswith("\\") else text + "\n\\echo =done=\n")
        return self.rest()

    def rest(self):
        got = []
        for line in self.process.stdout:
            if line == "=done=\n":
                return got
            got.append(line.rstrip("\n"))
        raise Error("the connection is gone: " + " / ".join(got))

    def rows(self, text):
        got = self.lines(text)
        if any(re.match(r"(ERROR|FATAL|PANIC):|server closed|psql:", line) for line in got):
            raise Error("\n".join(got))
        return [tuple(line.split("\t")) for line in got if line]

    def one(self, text):
        rows = self.rows(text)
        if len(rows) != 1 or len(rows[0]) != 1:
            raise Error(f"not one value: {rows[:5]!r}")
        return rows[0][0]

    def error(self, text):
        """The sentence of the error that is expected."""
        try:
            rows = self.rows(text)
        except Error as e:
            return str(e)
        raise AssertionError(f"no error: {rows[:3]!r} by {text}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Server:
    """A cluster, with the extension's files in its tree. `settings` go to postgresql.conf."""

    def __init__(self, settings=(), folder=None, environment=None):
        self.user = "nobody" if IS_ROOT else pwd.getpwuid(os.geteuid()).pw_name
        self.folder = folder or tempfile.mkdtemp(prefix="tamis-pg-")
        self.environment = environment or {}
        self.data = os.path.join(self.folder, "data")
        self.filters = os.path.join(self.folder, "filters")
        self.settings = list(settings)
        _servers.append(self)
        if IS_ROOT:
            shutil.chown(self.folder, "nobody")
        self.copy_programs()
        self.run("mkdir", self.filters)
        self.make_cluster()

    def copy_programs(self):
        """Everything in its place relative to the others, so that the server finds it."""
        bindir, libdir, sharedir = config("--bindir"), config("--pkglibdir"), config("--sharedir")
        self.tree = os.path.join(self.folder, "tree")
        leave = shutil.ignore_patterns("bitcode", "pgxs", "llvmjit*")
        for path in (bindir, libdir, sharedir):
            shutil.copytree(path, self.tree + path, ignore=leave, dirs_exist_ok=True)
        self.bin = self.tree + bindir
        shutil.copy(os.path.join(BUILT, "tamis.so"), self.tree + libdir)
        for name in os.listdir(SOURCES):
            if name.endswith((".sql", ".control")):
                shutil.copy(os.path.join(SOURCES, name), self.tree + sharedir + "/extension")

    def program(self, name):
        return os.path.join(self.bin, name)

    def run(self, *command, **more):
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False, **as_nobody(), **more)
        if done.returncode:
            raise Error(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    def make_cluster(self):
        self.run(self.program("initdb"), "-D", self.data, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        self.configure(self.settings)

    def configure(self, settings):
        """Appends to postgresql.conf, which the next start reads."""
        always = ["listen_addresses = ''", f"unix_socket_directories = '{self.folder}'", "fsync = on", "shared_buffers = 32MB",
                  "logging_collector = off", "jit = off", "max_connections = 30"]
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write("\n".join([*always, *settings]) + "\n")

    def log_path(self):
        return os.path.join(self.folder, "log")

    def log(self):
        with open(self.log_path(), errors="replace", encoding="utf-8") as file:
            return file.read()

    def start(self):
        environment = {**os.environ, **self.environment, **({"LD_PRELOAD": PRELOAD} if PRELOAD else {})}
        environment.pop("LC_ALL", None)
        self.run(self.program("pg_ctl"), "start", "-w", "-t", "60", "-D", self.data, "-l", self.log_path(), env=environment)
        return self

    def stop(self, how="fast"):
        self.run(self.program("pg_ctl"), "stop", "-w", "-t", "60", "-m", how, "-D", self.data)

    def pid(self):
        with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
            return int(file.readline())

    def kill(self):
        """As in a crash: no process of the server gets to do anything."""
        pid = self.pid()
        os.kill(pid, signal.SIGSTOP)  # so that it starts no others
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
        all_of = [pid, *map(int, children.stdout.split())]
        for each in all_of:
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for each in all_of:  # else their shared memory is still in use
            state = ["ps", "-o", "stat=", "-p", str(each)]
            while subprocess.run(state, capture_output=True, text=True, check=False).stdout.strip()[:1] not in ("", "Z"):
                pass
        # Where nobody waits for it, its process id is still one, and it seems to run.
        os.remove(os.path.join(self.data, "postmaster.pid"))
        os.remove(os.path.join(self.folder, ".s.PGSQL.5432.lock"))

    def session(self, database="postgres", user=None):
        return Session(self, database, user)

    def with_extension(self):
        """A session in which the extension is made."""
        session = self.session()
        session.rows("CREATE EXTENSION tamis")
        return session

    def command(self, *arguments, stdin=None):
        """The command tamis, in the directory of filters."""
        done = subprocess.run([COMMAND, *arguments], input=stdin, capture_output=True, text=True, cwd=self.filters, check=False)
        if done.returncode > 1:
            raise Error(done.stderr)
        for name in os.listdir(self.filters):
            if IS_ROOT:
                os.chown(os.path.join(self.filters, name), pwd.getpwnam("nobody").pw_uid, -1, follow_symlinks=False)
        return done.stdout

    def remove(self):
        if os.path.exists(os.path.join(self.data, "postmaster.pid")):
            try:
                self.stop("immediate")
            except Error:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)
        if self in _servers:
            _servers.remove(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


@atexit.register
def _remove_all():
    for server in list(_servers):
        server.remove()
