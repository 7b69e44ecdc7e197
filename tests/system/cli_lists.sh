#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lists as a script wants them (--columns, --sort-by, --no-headers), and wait.
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

# prints EXPECTED ARGUMENT...: exactly this on standard output
prints() {
    local wanted=$1 found
    shift
    checks=$((checks + 1))
    found=$(ykctl "$@")
    [[ $found == "$wanted" ]] || fail "ykctl $* prints '$found', not '$wanted'"
}

start_ykd --log-level info
ykctl rm register demo >"$work/out"
prints "" node list --no-headers
ykctl node add --name-format n%d --count 11 -R memory=8Gi,vcore=4 --quiet
ykctl node update n2 -R memory=512Mi,vcore=4 --quiet
ykctl app add web -q root.default --tag namespace=team --quiet

[[ $(ykctl node list --no-headers --columns NAME --sort-by capacity | head -1) == n2 ]] || fail "sorted by capacity"
[[ $(ykctl node list --no-headers --columns name --sort-by name:desc | head -1) == n11 ]] || fail "sorted by name"
[[ $(ykctl node list -o name --sort-by name | sed -n 2p) == n2 ]] || fail "sorted names"
[[ $(ykctl node list --columns name,last --no-headers 2>&1 | head -1) == *"there is no column 'last'; there are name, state"* ]] ||
    fail "an unknown column"
expect 2 "did you mean 'state'" node list --columns stat
expect 2 "only tables have columns" node list --columns name -o json
expect 2 "for lists" queue tree --sort-by queue
[[ $(ykctl queue tree --no-headers | wc -l) -eq $(($(ykctl queue tree | wc -l) - 1)) ]] || fail "the tree without headings"

# wait
says "app web is New" wait app/web --for state=New
expect 7 "app web is New still, after 0s|after 100ms" wait app/web --for state=Running --timeout 100ms
expect 4 "app 'wbe' not found" wait app/wbe --for state=Running
expect 4 "node 'n77' not found" wait node/n77 --for empty
says "node n77 is gone" wait node/n77 --for gone
expect 2 "'job/web' is not KIND/NAME" wait job/web --for gone
expect 2 "is no state of app; did you mean 'Running'" wait app/web --for state=Runing
expect 2 "is no condition of node" wait node/n1 --for placed
expect 2 "ask has no state" wait ask/a --for state=Running
expect 2 "--app goes with" wait node/n1 --for empty --app web
expect 2 "for what[?]  --for CONDITION" wait node/n1
says "rm demo is Running" wait rm/demo --for state=running
says '"is": "is empty"' wait node/n1 --for empty -o json

ykctl wait ask/a --for placed --timeout 20s >"$work/early" 2>&1 || status=$?
[[ ${status:-0} -eq 4 ]] || fail "an ask that is not there: ${status:-0}"
ykctl ask add web --key a -R vcore=1 --quiet
ykctl wait ask/a --for placed --timeout 20s >"$work/placed" &
waiting=$!
ykctl sched step 1 --quiet
wait "$waiting" || fail "wait ended with $?"
grep -qE '^ask a is on n' "$work/placed" || fail "wait says $(cat "$work/placed")"
node=$(ykctl alloc list --no-headers --columns node)
expect 7 "node $node has 1 allocation still" wait "node/$node" --for empty --timeout 50ms
ykctl wait "node/$node" --for empty --timeout 20s >"$work/empty" &
waiting=$!
ykctl wait alloc/a --for gone --app web --timeout 20s >"$work/gone" &
second=$!
ykctl alloc release a --quiet
wait "$waiting" || fail "wait ended with $?"
wait "$second" || fail "wait ended with $?"
ykctl clock advance 30s >"$work/now"
says "app web is Completed" wait app/web --for state=Completed,Failed
says "app web is gone" wait app/web --for gone
for _ in $(seq 20); do says "app web is gone" wait app/web --for gone --timeout 20s; done # more than there are event streams
expect 1 "app web is Completed and stays so" wait app/web --for state=Running --timeout 20s
echo "$checks checks"
