# SPDX-License-Identifier: Apache-2.0
"""A whole resource manager: python3 minimal_rm.py [ADDRESS]. It adds two nodes and an application, prints where ten asks are placed,
releases them and leaves."""
import sys
import threading

from ykd import Application, Ask, Callbacks, Node, ResourceManager

GIB = 1 << 30


class Printing(Callbacks):
    def __init__(self):
        self.placed, self.all_placed = [], threading.Event()

    def allocated(self, allocation):
        print(f"{allocation.key} placed on {allocation.node_id}", flush=True)
        self.placed.append(allocation.key)
        if len(self.placed) == 10:
            self.all_placed.set()

    def released(self, release):
        print(f"{release.key} released", flush=True)

    def rejected(self, rejection):
        print(f"{rejection.what} rejected: {rejection.reason}", file=sys.stderr)


callbacks = Printing()
with ResourceManager(sys.argv[1] if len(sys.argv) > 1 else "ipc:///run/ykd/ykd.sock", "minimal", callbacks) as rm:
    rm.add_nodes(*(Node(f"node-{n}", {"memory": 16 * GIB, "vcore": 8000}) for n in range(2)))
    rm.add_applications(Application("app", queue="root.default", user="me", tags={"namespace": "default"}))
    rm.add_asks(*(Ask("app", f"ask-{n}", {"memory": GIB, "vcore": 1000}) for n in range(10)))
    callbacks.all_placed.wait(30)
    rm.release("app", *callbacks.placed)
    rm.leave()
print("left")
