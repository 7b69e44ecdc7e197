#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/testing-queues.md: its script and its scenario are cut out and run, say what the page shows, and fail for a
# configuration that is not as they want it.
set -euo pipefail
# shellcheck source=tests/system/page_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/page_support.bash"
page=docs/testing-queues.md
unset YKCTL_SOCKET # the script has its own

block() { # LANGUAGE NUMBER: of the blocks of that language
    awk -v language="$1" -v number="$2" '
        /^```/ { inside = $0 == "```" language && !inside && ++count == number; next }
        inside' "$page"
}

bin=$(cd "$bin" && pwd)
export PATH=$bin:$PATH YKD=$bin/ykd
block bash 1 >"$work/test-queues.sh"
mkdir -p "$work/queue-tests"
block yaml 1 >"$work/queue-tests/batch.yaml"
cp -r --parents docs/demo "$work"
cd "$work"

same() { # NUMBER SAID: as the console block shows; what it says of temporary folders is cut
    local shown
    shown=$(cd "$OLDPWD" && block console "$1" | tail -n +2)
    if [[ $shown != "$2" ]]; then
        diff <(echo "$shown") <(echo "$2") >&2 || true
        fail "$page shows something else"
    fi
}

said=$(bash test-queues.sh docs/demo/queues.yaml 2>&1) || fail "the script: $said"
same 1 "$said"
if said=$(bash test-queues.sh docs/demo/queues-larger.yaml 2>&1); then fail "it passes with a larger limit"; fi
grep -q '^FAIL: batch got 12 cores$' <<<"$said" || fail "it says: $said"

said=$(ykctl scenario run --spawn --config docs/demo/queues.yaml --junit result.xml queue-tests 2>&1) || fail "the scenario: $said"
same 2 "$said"
grep -q 'tests="1"' result.xml || fail "result.xml: $(cat result.xml)"
if ykctl scenario run --spawn --config docs/demo/queues-larger.yaml queue-tests >/dev/null 2>&1; then fail "it passes with a larger limit"; fi
