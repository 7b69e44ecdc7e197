# SPDX-License-Identifier: Apache-2.0
"""The short form of tests/soak/proxied.py and histories.py: what an RM is told over a bad network and by overflowing streams."""
from daemon_support import check
from daemon_support.history import History
from daemon_support.short_soak import *


def item(number, **body):
    return {"n": number, "kind": "UpdateAllocation", "at": number, "body": body}


def placed(key, node="n1"):
    return {"new": [{"applicationID": "app", "allocationKey": key, "nodeID": node}]}


def released(key):
    return {"released": [{"applicationID": "app", "allocationKey": key}]}


def test_the_checker_of_histories_sees_what_is_wrong():
    first = [item(1, **placed("k1")), item(2, **placed("k2"))]
    for wrong, sentence in (([item(4)], "a gap"), ([first[1], first[1]], "a gap"), ([item(1, **placed("k9"))], "was another one"),
                            ([item(3, **placed("k1", "n2"))], "once more"), ([item(3, **released("k3"))], "was not placed"),
                            ([item(3), item(5)], "a gap")):
        history = History()
        history.begin(7)
        check(len(history.deliver(7, first)) == 2)
        check(history.deliver(7, first[1:]) == [], "a repetition is skipped")
        try:
            history.deliver(7, wrong)
        except AssertionError as fault:
            check(sentence in str(fault) or "came after" in str(fault), fault)
        else:
            raise AssertionError(f"not seen: {wrong}")
    try:
        history.begin(7)
    except AssertionError as fault:
        check("was there before" in str(fault), fault)
    else:
        raise AssertionError("a stream that was there before was not seen")


def test_a_bad_network():
    short("proxied", 400)


def test_what_rms_are_told_over_reconnects():
    short("histories", 200)


main(globals())
