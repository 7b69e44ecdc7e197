# SPDX-License-Identifier: Apache-2.0
"""What both flavours share: the protocol without input, output, clock or threads. Time is an argument, bytes go in and out.

frames, envelopes: bytes and messages. call, changes, session: requests, sequence numbers, connections that come and go.
books, outbox, items, recovery, manager: a resource manager.
"""
