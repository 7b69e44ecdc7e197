#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A10 budgets: limits from the settings file and the command line, what a person is told, and that the other RMs go on
# (A10, no budget per RM).
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

held() { # WHAT WANTED: of RM greedy
    checks=$((checks + 1))
    local found
    found=$(ykctl rm list -o json | /usr/bin/python3 -c \
        'import json, sys; d = json.load(sys.stdin); print([(r["held"][sys.argv[1]], r["max"].get(sys.argv[1])) for r in d["items"] if r["rmID"] == "greedy"][0])' "$1")
    [[ $found == "$2" ]] || fail "greedy holds $found $1, not $2"
}

echo '{rmMaxNodes: 3, rmMaxAsks: 100, rmMaxNames: 0}' >"$work/ykd.conf"
cat >"$work/queues.yaml" <<YAML
partitions: [{name: default, placementrules: [{name: provided, create: true}], queues: [{name: root, submitacl: "*"}]}]
YAML
checks=$((checks + 1))
wrong=$("$bin/ykd" --listen "$YKCTL_SOCKET" --rm-max wheels=3 2>&1) && fail 'ykd took --rm-max wheels=3'
[[ $wrong == *'--rm-max wheels=3: nodes, applications, asks'* ]] || fail "ykd says: $wrong"
start_ykd --config "$work/queues.yaml" --settings "$work/ykd.conf" --rm-max nodes=2,queues=1
says 'greedy registered' rm register greedy
says 'modest registered' rm register modest
says 'added' -r greedy node add g --count 2 -R vcore=4
expect 1 'has 2 of at most 2 nodes \(rmMaxNodes of ykd.conf\).*P_NO_CAPACITY|P_NO_CAPACITY' -r greedy node add late -R vcore=4
says 'accepted' -r greedy app add a -q root.a
expect 1 'has 1 of at most 1 queues made by placement rules' -r greedy app add b -q root.b
says '100 asks' -r greedy ask add a -n 100 --key k -R vcore=1
expect 1 'has 100 of at most 100 asks and allocations' -r greedy ask add a --key more -R vcore=1
held nodes '(2, 2)'
held asks '(100, 100)'
held queues '(1, 1)'
held names '('"$(ykctl rm list -o json | grep -o '"names": *[0-9]*' | head -1 | grep -o '[0-9]*')"', None)'
says 'greedy .* (nodes|asks|queues) 100%' rm list -o wide
says 'RM greedy has 100 % of its asks \(rmMaxAsks 100\)' status
says 'added' -r modest node add m -R vcore=4
says 'accepted' -r modest app add c -q root.c
says 'removed' -r greedy app remove a
held asks '(0, 100)'
says 'accepted' -r greedy app add b -q root.a
echo "$checks checks"
