"""Clusters for tests: primaries and replicas on loopback, and what happens to them."""
import os
import signal
import tempfile

from resp import Error
from server import Server, until

SLOTS = 16384


class Cluster:
    def __init__(self, primaries, replicas, timeout=1000, options=()):
        self.folder = tempfile.mkdtemp(prefix="tamis-cluster-")
        self.timeout, self.options = timeout, options
        self.nodes = [self.new_server() for _ in range(primaries * (1 + replicas))]
        for epoch, node in enumerate(self.nodes):
            node.client().must("CLUSTER", "SET-CONFIG-EPOCH", epoch + 1)
        for i, node in enumerate(self.nodes[:primaries]):
            start, end = i * SLOTS // primaries, (i + 1) * SLOTS // primaries - 1
            node.client().must("CLUSTER", "ADDSLOTSRANGE", start, end)
        for node in self.nodes: # everybody, so that nobody has to wait for gossip
            client = node.client()
            for other in self.nodes:
                if other is not node:
                    client.must("CLUSTER", "MEET", "127.0.0.1", other.port)
        until(lambda: all(len(self.lines(n)) == len(self.nodes) for n in self.nodes), 20, "all have met")
        for i, node in enumerate(self.nodes[primaries:]):
            self.replicate(node, self.nodes[i % primaries])
        self.wait()

    def new_server(self):
        port_folder = tempfile.mkdtemp(prefix="node-", dir=self.folder)
        return Server("--cluster-enabled", "yes", "--cluster-node-timeout", self.timeout,
                      "--repl-diskless-sync-delay", 0, "--repl-ping-replica-period", 1, *self.options, folder=port_folder)

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
        until(lambda: client.do("CLUSTER", "REPLICATE", name) == "OK", 20, "the node has a primary")
        until(lambda: b"master_link_status:up" in client.must("INFO", "replication"), 20, "the replica follows")

    def alive(self):
        return [node for node in self.nodes if node.process.poll() is None]

    def wait(self):
        """Until all who live agree that all slots are served, and all replicas are counted."""
        def is_well():
            for node in self.alive():
                client = node.client()
                if b"cluster_state:ok" not in client.must("CLUSTER", "INFO"):
                    return False
                flags = [line.split()[2] for line in self.lines(node)]
                if any("?" in flag or "handshake" in flag for flag in flags):
                    return False
                replicas = sum("slave" in flag and "fail" not in flag for flag in flags)
                # A replica that has not told its offset yet is not among those of CLUSTER SLOTS.
                told = {replica[2] for r in client.must("CLUSTER", "SLOTS") for replica in r[3:]}
                if len(told) != replicas:
                    return False
            return True
        until(is_well, 30, "the cluster is well")

    def primary_of(self, slot):
        """Who serves the slot now, as most of those who live see it."""
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

    def slots_of(self, node):
        return [slot for start, end, primary, *_ in node.client().must("CLUSTER", "SLOTS")
                if primary[1] == node.port for slot in range(start, end + 1)]

    def move(self, slots, source, target, between=lambda slot: None):
        """Moves slots with what is in them; `between` is called when the keys of one are there already."""
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
        """A new node, which has no slots yet."""
        node = self.new_server()
        self.nodes.append(node)
        node.client().must("CLUSTER", "MEET", "127.0.0.1", self.alive()[0].port)
        until(lambda: all(any(str(node.port) in line and "handshake" not in line for line in self.lines(n))
                          for n in self.alive()), 20, "all know the new node")
        self.wait()
        return node
