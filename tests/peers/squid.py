#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The other side of squid.sh: a real Squid on loopback, and small HTTP servers around it.

    squid.py SQUID PEER FOLDER fetch BITS_PER_ENTRY TIMES   Squid caches random addresses and builds
                                 its digest anew every second; TIMES times we fetch it, find every
                                 address in it, and make the same bytes from the store keys that
                                 Squid logs
    squid.py SQUID PEER FOLDER serve TIMES URLS   a digest that we made is served as that of a
                                 neighbour; Squid fetches it and says for each of URLS addresses
                                 whether the neighbour has it. A Squid fetches one digest a minute,
                                 so there is a new Squid each time

Squid runs in the foreground under this program, which ends it. FOLDER is for its files."""
import hashlib
import http.client
import http.server
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time

squid, peer, folder, verb = sys.argv[1:5]
numbers = [int(x) for x in sys.argv[5:]]
root = os.environ.get("SQUID_ROOT", "")  # where its package was unpacked, when not at /
dice = random.Random(f"{verb} {numbers}")
DIGEST = "/squid-internal-periodic/store_digest"


def give_up(why):
    print(why)
    for name in ("cache.log", "squid.out"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            print(f"{name}:", *open(path, errors="replace").read().splitlines()[-15:], sep="\n    ")
    sys.exit(1)


# ---- Servers ----


class Answer(http.server.BaseHTTPRequestHandler):
    """Any address is a page that may be kept; of a neighbour, the digest is ours."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        # Squid may ask for a neighbour's digest by way of the other.
        asked = re.search(r":(\d+)" + DIGEST + "$", self.path)
        owner = servers[int(asked[1])] if asked else self.server
        digest = owner.digest if self.path.endswith(DIGEST) else None
        body = b"a page" if digest is None else digest
        self.send_response(200)
        kind = "text/plain" if digest is None else "application/cache-digest"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        may_keep = digest is not None or verb == "fetch"
        self.send_header("Cache-Control", "public, max-age=86400" if may_keep else "no-store")
        now = time.time()
        self.send_header("Last-Modified", self.date_time_string(now - 86400))
        self.send_header("Expires", self.date_time_string(now + 86400))
        self.end_headers()
        # Squid 5.7 said MISS for every key of digests of about 1000 bytes that came in one piece,
        # and answered rightly when header, control block and bits came one by one.
        parts = [body] if digest is None else [body[:128], body[128:]]
        for part in parts:
            time.sleep(0.3 if digest is not None else 0)
            self.wfile.write(part)
        owner.fetched += digest is not None

    def log_message(self, *_):
        pass


servers = {}


def serve(digest=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    server.digest, server.fetched = digest, 0
    servers[server.server_port] = server
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# ---- Squid ----


class Squid:
    def __init__(self, more):
        self.port = free_port()
        for name in ("cache.log", "access.log"):
            if os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))
        share = f"{root}/usr/share/squid"
        lines = [
            f"http_port 127.0.0.1:{self.port}", "visible_hostname peers.test", "pinger_enable off",
            "icp_port 0", "htcp_port 0", "snmp_port 0", "http_access allow all", "cache_mem 8 MB",
            "memory_cache_shared off", "shutdown_lifetime 0 seconds", "netdb_filename none",
            f"pid_filename {folder}/squid.pid", f"cache_log {folder}/cache.log",
            f"access_log stdio:{folder}/access.log", f"coredump_dir {folder}",
            f"mime_table {share}/mime.conf", f"icon_directory {share}/icons"]
        if root:
            lines += [f"error_directory {share}/errors/templates",
                      f"unlinkd_program {root}/usr/lib/squid/unlinkd"]
        if os.geteuid() == 0:
            lines.append("cache_effective_user nobody")
        self.conf = os.path.join(folder, "squid.conf")
        with open(self.conf, "w") as f:
            f.write("\n".join(lines + more) + "\n")
        self.out = open(os.path.join(folder, "squid.out"), "w")
        if any(line.startswith("cache_dir") for line in more):
            subprocess.run([squid, "-N", "-z", "-f", self.conf], stdout=self.out, stderr=self.out)
        self.process = subprocess.Popen([squid, "-N", "-f", self.conf], stdout=self.out,
                                        stderr=self.out)
        self.wait_for(self.answers, "Squid does not start")

    def wait_for(self, is_there, why, seconds=40):
        end = time.time() + seconds
        while not is_there():
            if time.time() > end or self.process.poll() is not None:
                give_up(why)
            time.sleep(0.2)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def get(self, address):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        link.request("GET", address)
        reply = link.getresponse()
        body = reply.read()
        link.close()
        return reply.status, body

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


# ---- Both ways ----


def ask_peer(verb, lines):
    done = subprocess.run([peer, verb], input="\n".join(lines) + "\n", capture_output=True, text=True)
    if done.returncode:
        give_up(done.stdout[-2000:] + done.stderr)
    return done.stdout


def address(port, i):
    return f"http://127.0.0.1:{port}/{i}/{'%x' % dice.getrandbits(4 * dice.randrange(1, 60))}?q={i}"


def logged_builds():
    """The store keys of each digest that Squid built, as section 71 of its log lists them."""
    with open(os.path.join(folder, "cache.log"), errors="replace") as f:
        builds = f.read().split("storeDigestRebuildStart: rebuild")[1:]
    return [re.findall(r"storeDigestAdd: added entry, key: ([0-9A-F]{32})", b) for b in builds]


def header_of(digest):
    capacity, count = (int.from_bytes(digest[i:i + 4], "big") for i in (4, 8))
    return capacity, count, digest[20]


def case_of(digest, keys, cached):
    """As peer.c takes it: all addresses are in it, and the keys make the same bytes."""
    capacity, _, bits = header_of(digest)
    return ["case squid:store_keys=1",
            f"spec squid:capacity={capacity},bits_per_entry={bits},store_keys=1",
            *(f"add {key.lower()}" for key in keys), f"bytes {digest.hex()}",
            *(f"ask 1 {url.encode().hex()}" for url in cached), "end"]


def fetch(per_entry, times):
    site = serve()
    os.mkdir(f"{folder}/cache")
    os.chmod(f"{folder}/cache", 0o777)
    proxy = Squid(["digest_generation on", f"digest_bits_per_entry {per_entry}",
                   "digest_rebuild_period 1 second", "digest_rewrite_period 1 second",
                   "debug_options ALL,1 71,6", f"cache_dir ufs {folder}/cache 100 1 2"])
    cached, lines = [], []

    def is_whole():
        """All addresses are in the digest: those of the cache's own icons come on top."""
        status, digest = proxy.get(DIGEST)
        if status != 200 or len(digest) < 128 or header_of(digest)[1] <= len(cached):
            return False
        keys = [k for k in logged_builds() if len(k) == header_of(digest)[1]]
        wanted = {hashlib.md5(b"\1" + url.encode()).hexdigest().upper() for url in cached}
        if not keys or not wanted <= set(keys[-1]):
            return False
        lines.extend(case_of(digest, keys[-1], cached))
        return True

    try:
        for _ in range(times):
            for i in range(dice.choice((1, 3, 10, 60, 200))):
                url = address(site.server_port, i)
                if proxy.get(url)[0] != 200:
                    give_up(f"Squid does not get {url}")
                cached.append(url)
            proxy.wait_for(is_whole, "the digest never became whole")
        print(f"{len(cached)} addresses,", ask_peer("check", lines).strip())
    finally:
        proxy.end()


def wish(asked, i):
    """Squid does not use a digest with more than 65 % of its bits set, which is about four keys in each 16 bits."""
    keys = [url for url in asked if dice.random() < dice.choice((0, 0.1, 0.5, 0.9))]
    keys += [address(80, j) for j in range(dice.choice((0, 1, 10, 1000)))]
    dice.shuffle(keys)
    if i == 0:
        keys = []
    capacity = max(1, int(len(keys) * dice.choice((1, 1, 1.5))))
    return ["case squid", f"spec squid:capacity={capacity},bits_per_entry={dice.randrange(5, 21)}",
            *(f"add {k.encode().hex()}" for k in keys),
            *(f"ask 0 {k.encode().hex()}" for k in asked), "end"]


def serve_one(site, asked, number):
    """One digest of ours beside one Squid: how many answers, hits and requests that went by it."""
    made = ask_peer("make", wish(asked, number))
    neighbour = serve(bytes.fromhex(re.search(r"^bytes (\w+)$", made, re.M)[1]))
    expected = re.findall(r"^ask (\d)", made, re.M)
    proxy = Squid(["debug_options ALL,1 15,4", "digest_generation off",
                   "never_direct allow all",
                   f"cache_peer 127.0.0.1 parent {site.server_port} 0 name=site no-query no-digest "
                   "no-netdb-exchange",
                   f"cache_peer 127.0.0.1 parent {neighbour.server_port} 0 name=ours no-query "
                   "no-netdb-exchange"])
    at = 0

    def said(url):
        """What section 15 of the log says about the neighbour, once the digest is there."""
        nonlocal at
        proxy.get(url)
        with open(os.path.join(folder, "cache.log"), errors="replace") as f:
            f.seek(at)
            found = re.findall(r"peerNoteDigestLookup: peer \S+, lookup: LOOKUP_(HIT|MISS)", f.read())
            at = f.tell()
        return found[-1] if found else None

    try:
        proxy.wait_for(lambda: said(address(site.server_port, 0)), "the digest was not fetched and used", 20)
        for url, answer in zip(asked, expected):
            squids = said(url)
            if squids != ("HIT" if answer == "1" else "MISS"):
                give_up(f"digest {number}, {url}: Squid says {squids}, we say {answer}")
    finally:
        proxy.end()
        neighbour.shutdown()
        neighbour.server_close()
    with open(os.path.join(folder, "access.log")) as f:
        used = f.read().count("CD_PARENT_HIT/")
    hits = expected.count("1")
    if neighbour.fetched != 1 or used < hits:
        give_up(f"{neighbour.fetched} digests were fetched, {used} of {hits} hits went by them")
    return len(expected), hits, used


def serve_ours(times, urls):
    site = serve()
    asked = [address(site.server_port, i) for i in range(urls)]
    sums = [sum(x) for x in zip(*(serve_one(site, asked, i) for i in range(times)))]
    print("%d digests that Squid fetched, %d answers, %d of them hits; %d requests went to the "
          "neighbour for it" % (times, *sums))


if verb == "fetch":
    fetch(*numbers)
else:
    serve_ours(*numbers)
