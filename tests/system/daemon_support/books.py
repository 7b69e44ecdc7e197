# SPDX-License-Identifier: Apache-2.0
"""What a resource manager knows of its objects, counted and summed up as interface.md 3.4 says, written from that text
alone: nothing of it is shared with the daemon."""
MASK = (1 << 64) - 1


def line_hash(line):
    z = 0xcbf29ce484222325
    for byte in line.encode():
        z = (z ^ byte) * 0x100000001b3 & MASK
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
    z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
    return z ^ z >> 31


def resources(amounts):
    return ",".join(f"{name}={value}" for name, value in sorted(amounts.items()) if value)


class Books:
    """Nodes, applications and allocations by their ids; `digest` and `expected` are the fields of RecoveryDone."""

    def __init__(self, partition="default"):
        self.partition, self.lines = partition, {"nodes": {}, "applications": {}, "allocations": {}}

    def node(self, node, amounts, schedulable=True):
        self.lines["nodes"][node] = f"N\t{self.partition}\t{node}\t{resources(amounts)}\t{int(schedulable)}\n"

    def application(self, app):
        self.lines["applications"][app] = f"A\t{self.partition}\t{app}\n"

    def allocation(self, app, key, node, amounts, placeholder=False):
        self.lines["allocations"][app, key] = (
            f"L\t{self.partition}\t{app}\t{key}\t{node}\t{resources(amounts)}\t{int(placeholder)}\n")

    def forget(self, kind, what):
        del self.lines[kind][what]

    @property
    def digest(self):
        return {kind: sum(map(line_hash, lines.values())) & MASK for kind, lines in self.lines.items()}

    @property
    def expected(self):
        return {kind: len(lines) for kind, lines in self.lines.items()}

    def buckets(self, kind):
        """256 sums of eight bytes."""
        sums = [0] * 256
        for name, line in self.lines[kind].items():
            ids = "\t".join((self.partition, *((name,) if isinstance(name, str) else name)))
            bucket = line_hash(ids) >> 56
            sums[bucket] = sums[bucket] + line_hash(line) & MASK
        return b"".join(one.to_bytes(8, "big") for one in sums)
