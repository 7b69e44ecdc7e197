#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# man/ykd-protocol.7 says what docs/protocol.md says, and is sound mdoc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! diff -u man/ykd-protocol.7 <(/usr/bin/python3 docs/protocol_man.py); then
    echo "man/ykd-protocol.7 is out of date: docs/protocol_man.py > man/ykd-protocol.7"
    exit 1
fi
mandoc -T lint -W warning man/ykd-protocol.7
