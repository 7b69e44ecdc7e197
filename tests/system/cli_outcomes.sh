#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ask add says of each ask is what is so (B5): however many, sent again or not, in every form.
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

outcomes() { /usr/bin/python3 -c '
import collections, json, sys
items = json.load(sys.stdin)["items"]
print(sorted(collections.Counter(item["outcome"] for item in items).items()))
assert all(("nodeID" in item) == (item["outcome"] == "placed") for item in items), items'; }

answers() { ykctl ping >/dev/null 2>&1; }

is() { # WANTED FOUND WHAT
    checks=$((checks + 1))
    [[ $1 == "$2" ]] || fail "$3: '$2', not '$1'"
}

"${YKD:-$bin/ykd}" --listen "$YKCTL_SOCKET" 2>"$work/log" &
daemon=$!
within_20_s "ykd does not answer" answers
says 'rm a registered' rm register a
says 'node n added' node add n -R vcore=50
says 'app x accepted' app add x --tag namespace=t
is '50 asks placed
1450 asks added' "$(ykctl ask add x -n 1500 --key one -R vcore=1)" "1500 asks, room for 50"
says '50 allocations, 1450 pending asks' status
is "[('added', 150)]" "$(ykctl ask add x -n 150 --key two -R vcore=1 -o json | outcomes)" "asks without room"
says 'node m added' node add m -R vcore=3000
is "[('placed', 150)]" "$(ykctl ask add x -n 150 --key two -R vcore=1 -o json | outcomes)" "asks sent again that are placed"
says '^ask one-7 placed on ' ask add x --key one-7 -R vcore=1
expect 1 'ask bad refused' ask add x --key bad -R vcore=0
is '{"id":"three","outcome":"placed","nodeID":"m"}' "$(ykctl ask add x --key three -R vcore=1 -o jsonl)" "a line of JSON"
is 'schema: 1
items:
  - id: four
    outcome: placed
    nodeID: m' "$(ykctl ask add x --key four -R vcore=1 -o yaml)" "YAML"
is '2 1' "$(ykctl ask add x -n 2 --key five -R vcore=1 -o json | /usr/bin/python3 -c '
import json, sys
read = json.load(sys.stdin)
print(len(read["items"]), read["schema"])')" "a list of JSON"
kill -TERM "$daemon"
wait "$daemon" || fail "ykd ended with $? on SIGTERM"
daemon=
echo "$checks checks"
