# SPDX-License-Identifier: MIT
"""Clusters for tests: primaries and replicas on loopback, and what happens to them.

Nothing happens by itself. A node that is silent for a second, which any may be on a busy machine,
causes no election: the test says when a replica takes over, unless it measures elections. It can
also keep clients from learning anything for a while, so that nothing depends on timing.
"""
import contextlib
import os
import re
import signal
import tempfile

from resp import Error
from server import Server, until

SLOTS = 16384


class Cluster:
    def __init__(self, primaries, replicas, timeout=1000, options=(), elects=False):
        self.folder = tempfile.mkdtemp(prefix="tamis-cluster-")
        self.timeout, self.options, self.elects = timeout, options, elects
        self.nodes = [self.new_server() for _ in range(primaries * (1 + replicas))]
        for epoch, node in enumerate(self.nodes):
            node.client().must("CLUSTER", "SET-CONFIG-EPOCH", epoch + 1)
        for i, node in enumerate(self.nodes[:primaries]):
            start, end = i * SLOTS // primaries, (i + 1) * SLOTS // primaries - 1
            node.client().must("CLUSTER", "ADDSLOTSRANGE", start, end)
        until(self.have_met, 60, "all have met")
        for i, node in enumerate(self.nodes[primaries:]):
            self.replicate(node, self.nodes[i % primaries])
        self.wait()

    def new_server(self):
        port_folder = tempfile.mkdtemp(prefix="node-", dir=self.folder)
        return Server("--cluster-enabled", "yes", "--cluster-node-timeout", self.timeout,
                      "--cluster-replica-no-failover", "no" if self.elects else "yes", "--repl-diskless-sync-delay", 0,
                      "--repl-ping-replica-period", 1, *self.options, folder=port_folder)

    def have_met(self):
        """Introduces all nodes to each other, rather than wait for gossip; and again to those given
        up, after a second without a handshake."""
        is_done = True
        for node in self.alive():
            lines = self.lines(node)
            known = {int(re.search(r":(\d+)@", line).group(1)) for line in lines}
            for other in self.alive():
                if other.port not in known:
                    node.client().must("CLUSTER", "MEET", "127.0.0.1", other.port)
                    is_done = False
            is_done = is_done and not any("handshake" in line for line in lines)
        return is_done

    def stop(self):
        for node in self.nodes:
            if node.process.poll() is None:
                node.process.send_signal(signal.SIGCONT)
            node.stop()
        os.system(f"rm -rf '{self.folder}'")

    def address(self, *indices):
        return ",".join(f"127.0.0.1:{self.nodes[i].port}" for i in indices or range(len(self.nodes)))

    @staticmethod
    def lines(node):
        return node.client().must("CLUSTER", "NODES").decode().split("\n")[:-1]

    @staticmethod
    def name(node):
        return node.client().must("CLUSTER", "MYID").decode()

    def replicate(self, replica, primary):
        name = self.name(primary)
        client = replica.client()
        until(lambda: client.do("CLUSTER", "REPLICATE", name) == "OK", 60, "the node has a primary")
        until(lambda: b"master_link_status:up" in client.must("INFO", "replication"), 60, "the replica follows")

    def alive(self):
        return [node for node in self.nodes if node.process.poll() is None]

    def wait(self):
        """Until all live nodes agree who serves which slots, and all replicas are counted."""
        def is_well():
            views, alive = set(), {node.port for node in self.alive()}
            for node in self.alive():
                client = node.client()
                if b"cluster_state:ok" not in client.must("CLUSTER", "INFO"):
                    return False
                flags = [line.split()[2] for line in self.lines(node)]
                if any("?" in flag or "handshake" in flag for flag in flags):
                    return False
                replicas = sum("slave" in flag and "fail" not in flag.split(",") for flag in flags)
                # CLUSTER SLOTS lacks a replica that has not reported its offset yet.
                ranges = client.must("CLUSTER", "SLOTS")
                told = {replica[2] for r in ranges for replica in r[3:]}
                if len(told) != replicas:
                    return False
                views.add(tuple(sorted((start, end, primary[1]) for start, end, primary, *_ in ranges)))
            return len(views) == 1 and {port for view in views for *_, port in view} <= alive
        until(is_well, 60, "the cluster is healthy")

    def primary_of(self, slot):
        """The live node that serves the slot, as the first live node to name one sees it."""
        for node in self.alive():
            for start, end, primary, *_ in node.client().must("CLUSTER", "SLOTS"):
                found = [n for n in self.alive() if n.port == primary[1]]
                if start <= slot <= end and found:
                    return found[0]
        return None

    def is_primary(self, node):
        return any("myself,master" in line for line in self.lines(node))

    def replica_of(self, primary):
        name = self.name(primary)
        for line in self.lines(primary):
            words = line.split()
            if "slave" in words[2] and words[3] == name:
                port = int(words[1].split("@")[0].split(":")[1])
                return next(n for n in self.nodes if n.port == port)
        return None

    def take_over(self, replica):
        """The replica of a dead primary becomes the primary: by an election, or as if by one."""
        if not self.elects:
            replica.client().must("CLUSTER", "FAILOVER", "TAKEOVER")
        until(lambda: self.is_primary(replica), 60, "the replica is the primary")
        self.wait()

    @contextlib.contextmanager
    def maps_stay(self):
        """Clients are refused the map of slots, and keep the one they have."""
        def allow(mark):
            for node in self.alive():
                node.client().must("ACL", "SETUSER", "default", mark + "cluster|slots")
        allow("-")
        try:
            yield
        finally:
            allow("+")

    def maps_requested(self):
        """How often live nodes were asked for the map."""
        found = (re.search(rb"cmdstat_cluster\|slots:calls=(\d+)", node.client().must("INFO", "commandstats"))
                 for node in self.alive())
        return sum(int(calls.group(1)) for calls in found if calls)

    def slots_of(self, node):
        return [slot for start, end, primary, *_ in node.client().must("CLUSTER", "SLOTS")
                if primary[1] == node.port for slot in range(start, end + 1)]

    def move(self, slots, source, target, between=lambda slot: None):
        """Moves slots with their keys; calls `between` when those of one have moved."""
        from_client, to_client = source.client(), target.client()
        from_name, to_name = self.name(source), self.name(target)

        def all_of(client, commands):
            for command, reply in zip(commands, client.pipeline(commands)):
                if isinstance(reply, Error):
                    raise AssertionError(f"{command}: {reply}")

        def move_some(some):
            all_of(to_client, [["CLUSTER", "SETSLOT", slot, "IMPORTING", from_name] for slot in some])
            all_of(from_client, [["CLUSTER", "SETSLOT", slot, "MIGRATING", to_name] for slot in some])
            for slot in some:
                keys = from_client.must("CLUSTER", "GETKEYSINSLOT", slot, 1000)
                for key in keys:
                    from_client.must("MIGRATE", "127.0.0.1", target.port, key, 0, 30000)
                if keys:
                    between(slot)
            all_of(to_client, [["CLUSTER", "SETSLOT", slot, "NODE", to_name] for slot in some])
            all_of(from_client, [["CLUSTER", "SETSLOT", slot, "NODE", to_name] for slot in some])
        for start in range(0, len(slots), 100):
            move_some(slots[start:start + 100])

    def join(self):
        """A new node, without slots."""
        node = self.new_server()
        self.nodes.append(node)
        until(self.have_met, 60, "all know the new node")
        self.wait()
        return node
