#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# B1: an application whose asks do not fit into one message can be looked at, and removed, by every command.
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

# lines COUNT ARGUMENT...: so many lines on standard output
lines() {
    local wanted=$1 found
    shift
    checks=$((checks + 1))
    found=$(ykctl "$@" | wc -l)
    [[ $found -eq $wanted ]] || fail "ykctl $* prints $found lines, not $wanted"
}

queues=$work/queues.yaml
{
    printf 'partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: "*"\n        queues:\n'
    printf '          - name: default\n          - name: lab\n'
    for i in $(seq 1500); do printf '          - name: q%04d\n' "$i"; done
} >"$queues"
mkdir "$work/state"
start_ykd --max-message 2MiB --config "$queues" --state-dir "$work/state"
ykctl rm register demo --quiet
ykctl node add n1 -R vcore=3 --quiet
ykctl app add big -q root.default --quiet
ykctl app add small -q root.lab --quiet
ykctl ask add big -n 9003 -R vcore=1 --key k --quiet >/dev/null
ykctl sched step 5 --quiet
ykctl ask add small -n 4 -R vcore=1 --key s --quiet

# those that do not print them
says '^big +Running +root.default .* 3 +9000 ' app list
says '^small ' app list -q root.lab
json '[i["pendingAsks"] for i in d["items"]]' '[9000, 4]' app list -o json
lines 2 app list --pending -o name
says 'ask k-5000 of app big .*is WAITING' explain ask k-5000
says '^app: +big' ask show k-5000
says '^node: +n1' alloc show k-1
expect 4 "ask 'k-x' not found" ask show k-x
lines 4 alloc list
lines 3 alloc list --node n1 -o name
lines 4 ask list --app small -o name
expect 7 'ask k-5000 is there' wait ask/k-5000 --for gone --timeout 10ms

# those that do
lines 9005 ask list
lines 9004 ask list -o name
lines 9000 ask list --app big -o jsonl
json 'len({i["allocationKey"] for i in d["items"]})' 9004 ask list -o json
lines 9004 ask list --sort-by key --no-headers
[[ $(ykctl ask list --sort-by key --no-headers --columns key | head -1) == k-4 ]] || fail "sorted by key"
json '(len(d["item"]["requests"]), len(d["item"]["allocations"]), "brief" in d["item"])' '(9000, 3, False)' app show big -o json
says '... 8980 more:  ykctl ask list --app big' app show big
says '^k-9003 ' app show big -o wide
json 'sorted((a["applicationID"], len(a["requests"])) for a in d["data"])' "[('big', 9000), ('small', 4)]" dump apps
json 'len(d["data"]["applications"][0]["requests"])' 9000 dump all
json 'len(d["data"]["nodes"][0]["nodesInfo"][0]["allocations"])' 3 dump all
ykctl dump all "$work/d.json" 2>"$work/note"
grep -q 'bytes written to' "$work/note" || fail "the file is not named: $(cat "$work/note")"
says 'all that is named is there' dump verify "$work/d.json"

# what SIGUSR1 writes is the same
kill -USR1 "$daemon"
written() { compgen -G "$work/state/dump-*.json" >"$work/name"; }
within_20_s "the daemon writes its dump" written
says 'all that is named is there' dump verify "$(<"$work/name")"
compare='import json, sys; a, b = (json.load(open(f))["data"] for f in sys.argv[1:]); print([a[k] == b[k] for k in
("applications", "nodes")], len(b["queues"][0]["children"]), sorted(a) == sorted(b))'
said=$(/usr/bin/python3 -c "$compare" "$work/d.json" "$(<"$work/name")")
[[ $said == '[True, True] 1502 True' ]] || fail "the dump of SIGUSR1 differs: $said"

# a node with more allocations than one look takes along, and users
ykctl app add crowd -q root.lab --quiet
ykctl node add huge -R gpu=2000 --quiet
ykctl ask add crowd -n 1500 -R gpu=1 --key c --quiet >/dev/null
ykctl sched step 2000 --quiet
lines 1500 alloc list --node huge -o name
says "^huge .* 1500 +- " node list -o wide
says '^n1 .* 3 +1 ' node list -o wide
json '[(i["nodeID"], i.get("brief")) for i in d["items"]]' "[('huge', True), ('n1', None)]" node list -o json
json '(len(d["item"]["allocations"]), "brief" in d["item"])' "(1500, False)" node show huge -o json
[[ $(ykctl node show huge -o wide | grep -cE '^c-[0-9]+ ') -eq 1500 ]] || fail "node show huge does not list all"
[[ $(ykctl node show huge | grep -cE "^c-[0-9]+ ") -eq 20 ]] || fail "node show huge begins with more than 20"
expect 7 "node huge has 1500 allocations" wait node/huge --for empty --timeout 10ms
ykctl node update huge -a rack=r2 --quiet
lines 2 user list
ykctl app remove crowd --quiet
ykctl node remove huge --force --quiet

# queues and metrics
lines 1504 queue list
lines 1504 queue tree
json 'len(d["items"][0]["children"])' 1502 queue tree -o json
json 'len(d["data"][0]["children"])' 1502 dump queues
says '^└─ q1500 ' queue tree
says 'yunikorn_queue_app.*q1500' metrics
[[ $(ykctl metrics | grep '^# TYPE' | sort | uniq -d | wc -l) -eq 0 ]] || fail "a family stands there twice"

# removals: of many by few requests, and the node with more allocations than a message holds is not an empty one
ykctl node add many -R memory=1Gi --count 2500 --quiet >/dev/null
ykctl app add many-{1..1200} -q root.lab --quiet >/dev/null
requests() { ykctl metrics | sed -n 's/^yunikorn_requests_total{.*kind="Dump".*} //p' | awk '{n += $1} END {print n}'; }
before=$(requests)
expect 4 "node 'nobody' not found" node remove many-{1..2500} nobody
says '^2500 nodes removed$' node remove many-{1..2500}
says '^1200 apps removed$' app remove many-{1..1200}
checks=$((checks + 1))
[[ $(($(requests) - before)) -lt 30 ]] || fail "$before dumps before, $(requests) after"
says '^3 allocs released$' alloc release --app big --all
says '^0 allocs released$' alloc release --app big --all
json 'd["items"][0]["pendingAsks"]' 9000 app list -o json
says '^9000 asks removed$' ask remove --app big --all
json '(d["item"]["outcome"], d["item"]["count"])' "('removed', 4)" ask remove --app small --all -o json
ykctl ask add small -n 7000 -R vcore=1 --key t --quiet >/dev/null
says '^app small removed$' app remove small
expect 4 "app 'nobody' not found" ask remove --app nobody --all
says '^rm demo deregistered$' rm deregister
echo "$checks checks"
