# SPDX-License-Identifier: Apache-2.0
"""What waits until a recovery is over: nobody is preempted and no placeholder is replaced for an RM that is Recovering or
Failed (I-222, I-252); and what the state of the daemon is meanwhile."""
from daemon_support import *
from daemon_support.recovering import *

PROMISED = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: lab
          - name: web
            properties: {preemption.delay: 1s}
            resources: {guaranteed: {vcore: 10m}}
"""


def released(items):
    return [(one["allocationKey"], one["terminationType"]) for one in listed(items, ALLOCATION, "released")]


def goes_on(rm, daemon, failing):
    """What the RM hears from the moment when it runs, in a minute; before that it hears nothing, as often as it is tried."""
    if failing:
        rm.books.application("never")
        for attempt in range(1, 6):
            rm.done(attempt)
        rm.told()
    check(rm.state() == (FAILED if failing else RECOVERING))
    items = rm.placed_by(daemon) + rm.advance(60) + rm.placed_by(daemon)
    check(items == [], "nothing is decided for it yet", items)
    if failing:
        daemon.client().change("ResolveRecovery", {"rmID": "rm:1", "action": "accept", "impersonate": True})
    else:
        check(rm.done()["result"] == "running")
    check(rm.state() == RUNNING)
    return rm.told() + rm.step() + rm.advance(5) + rm.step()


def test_nobody_is_preempted():  # I-222, I-252
    for failing in (False, True):
        with Daemon(*BY_HAND) as daemon:
            rm = Recovering(daemon, config=PROMISED)
            rm.node("n1", vcore=20)
            rm.application("low", queueName="root.lab")
            rm.application("high", queueName="root.web")
            for key in ("a1", "a2"):
                rm.allocation(key, app="low", preemptionPolicy={"allowPreemptSelf": True})
            rm.asks({"applicationID": "high", "allocationKey": "now", "preemptionPolicy": {"allowPreemptOther": True}})
            gone = released(goes_on(rm, daemon, failing))
            check(len(gone) == 1 and gone[0][1] == 3, "one of the two has to go then", gone)


def test_no_placeholder_is_replaced():  # I-222, I-252
    for failing in (False, True):
        with Daemon(*BY_HAND) as daemon:
            rm = Recovering(daemon)
            rm.node("n1")
            rm.application("gang", placeholderAsk={"vcore": 10})
            rm.books.allocation("gang", "ph", "n1", SIZE, True)
            rm.send(ALLOCATION, allocations=[{"allocationKey": "ph", "applicationID": "gang", "nodeID": "n1", "resourcePerAlloc": SIZE,
                                              "placeholder": True, "taskGroupName": "g"}])
            rm.asks({"applicationID": "gang", "allocationKey": "real", "taskGroupName": "g"})
            gone = released(goes_on(rm, daemon, failing))
            check(gone == [("ph", 4)], gone)
            placed = rm.release(applicationID="gang", allocationKey="ph", terminationType=4)
            check([one["allocationKey"] for one in listed(placed, ALLOCATION, "new")] == ["real"], placed)


def test_the_daemon_is_what_the_worst_of_its_rms_is():  # I-200
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        state = lambda: {client.get("Ping")["state"], client.get("Status")["state"], client.get("Health", {"run": True})["DaemonState"]}
        check(state() == {0}, "New", state())
        first = Recovering(daemon, rm="a")
        last = failed(daemon, rm="z")
        check(state() == {FAILED}, "one is Recovering, another Failed", state())
        client.change("ResolveRecovery", {"rmID": "z", "action": "accept"})
        check(state() == {RECOVERING} and last.state() == RUNNING, state())
        check(first.done()["result"] == "running" and state() == {RUNNING}, state())


main(globals())
