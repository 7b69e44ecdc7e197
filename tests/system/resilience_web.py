# SPDX-License-Identifier: Apache-2.0
"""The short form of tests/soak/web_requests.py: random requests over HTTP beside polite ones."""
from daemon_support.short_soak import *


def test_random_requests_over_http():
    short("web_requests", 4000)


main(globals())
