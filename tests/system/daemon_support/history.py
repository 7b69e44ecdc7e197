# SPDX-License-Identifier: Apache-2.0
"""What a resource manager was told, checked against interface.md 4.8: numbers without a gap, in order; what comes again is what
came before, to the byte; a new stream only after a registration. And against sense: nothing is placed that is
placed, nothing released that is not."""
import collections

import msgpack

from daemon_support import check


class History:
    def __init__(self):
        self.epoch, self.epochs, self.handled = None, set(), 0
        self.seen = {}  # n: the bytes of what came and was not acknowledged
        self.held = {}  # (application, key): node; what the daemon says it has placed
        self.counts = collections.Counter()

    def begin(self, epoch, boot=None):
        """After a registration with the daemon that calls itself `boot`."""
        check((boot, epoch) not in self.epochs, "the stream", epoch, "was there before")
        self.epochs.add((boot, epoch))
        self.epoch, self.handled, self.seen, self.held = epoch, 0, {}, {}
        self.counts["streams"] += 1

    def deliver(self, epoch, items):
        """The items of a reply that were not handled before; they count as handled from now on."""
        check(epoch == self.epoch, "a reply of stream", epoch, "in stream", self.epoch)
        self.arrive(items)
        fresh = [item for item in items if item["n"] > self.handled]
        for item in fresh:
            self.follow(item["kind"], item["body"])
            self.handled = item["n"]
        return fresh

    def arrive(self, items):
        """Also of a reply that the RM loses before it handles it."""
        for number, item in enumerate(items, items[0]["n"] if items else 0):
            check(item["n"] == number, "a gap: after", number - 1, "came", item["n"])
            data = msgpack.packb(item)
            if number in self.seen:
                check(self.seen[number] == data, "item", number, "came again and was another one")
                self.counts["repeated items"] += 1
            else:
                check(number == max(self.seen, default=self.handled) + 1, "item", number, "came after",
                      max(self.seen, default=self.handled))
                self.seen[number] = data
                self.counts["items"] += 1

    def acknowledge(self, number):
        """No more than this is known to be forgotten by the daemon: it may not come again."""
        self.seen = {n: data for n, data in self.seen.items() if n > number}

    def follow(self, kind, body):
        if kind != "UpdateAllocation":
            return
        for one in body.get("new", []):
            name = one["applicationID"], one["allocationKey"]
            check(name not in self.held, name, "is placed on", self.held.get(name), "and once more on", one["nodeID"])
            self.held[name] = one["nodeID"]
        for one in body.get("released", []):
            name = one["applicationID"], one["allocationKey"]
            check(name in self.held, name, "is released and was not placed")
            del self.held[name]
