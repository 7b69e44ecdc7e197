#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A shell script drives a whole cluster by one-shot ykctl commands against a detached RM (I-387), and checks what each
# prints and its exit status. The daemon schedules by hand and has a virtual clock, so there is nothing to wait for.
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

# counts NUMBER ARGUMENT...: a list has so many elements
counts() {
    local wanted=$1 found
    shift
    checks=$((checks + 1))
    found=$(ykctl "$@" -o name | wc -l)
    [[ $found -eq $wanted ]] || fail "ykctl $* lists $found, not $wanted"
}

configuration() { # MAXIMUM_OF_A
    cat <<YAML
partitions:
- name: default
  placementrules:
  - name: provided
  queues:
  - name: root
    submitacl: "*"
    queues:
    - name: a
      resources: {guaranteed: {memory: 8Gi, vcore: 4}, max: {memory: 64Gi, vcore: $1}}
    - name: b
YAML
}

the_daemon() {
    says 'no RM is registered; ykctl rm register RMID makes one' status
    says 'answered 3 pings' ping -c 3
    says 'ykd .* at ipc://' version
    expect 4 'no RM is registered' node add n1 -R vcore=1
}

registration() {
    configuration 8 >"$work/queues.yaml"
    says 'queues.yaml: ok' config check "$work/queues.yaml"
    says 'ok' -s "$YKCTL_SOCKET" config check "$work/queues.yaml" # no RM: nothing runs that could refuse it
    says 'rm demo registered, partitions \[demo\]default' rm register demo --config "$work/queues.yaml"
    says '^demo +Running +detached +\[demo\]default' rm list
    says '^served: +detached' rm show
    json 'd["items"][0]["rmID"]' demo rm list -o json
    says '^demo$' rm list -o name
    says 'root.a|name: a' config show
    expect 4 "RM 'dmeo' is not registered; did you mean 'demo'" -r dmeo node add n9 -R vcore=1
}

nodes() {
    counts 0 node list
    says 'no nodes' node list
    says '^node n3 added$' node add --name-format n%d --count 3 -R memory=16Gi,vcore=8 -a si/rackname=r1
    expect 1 'node n2 refused: .*\(P_NODE_EXISTS\)' node add n2 -R vcore=1
    says '^n1 +Active +16Gi 8 vcore +- +16Gi 8 vcore +0% +0 +-$' node list
    says 'r1' node list -o wide
    json 'd["item"]["capacity"]["memory"]' 17179869184 node show n1 -o json
    expect 4 "node 'n9' not found" node show n9
    printf 'nodeID: n4\nschedulableResource: {memory: 1024, vcore: 100}\n---\nnodeID: n5\ncapacit: {}\n' >"$work/nodes.yaml"
    expect 2 "nodes.yaml:5:1: unknown field 'capacit' in NodeInfo" node add -f "$work/nodes.yaml"
    counts 3 node list # nothing of the file was sent
    sed -i '/^---/,$d' "$work/nodes.yaml"
    mkdir "$work/nodes" # a directory is its files
    echo '{"nodeID": "n4", "schedulableResource": {"memory": 1024}}' >"$work/nodes/a.jsonl"
    echo 'nodeID: n6' >"$work/nodes/b.yml"
    says '^node n6 added$' node add -f "$work/nodes"
    says '^node n4 removed$' node remove n4
    says '^node n6 removed$' node remove n6
    says '^node n4 added$' node add -f "$work/nodes.yaml"
    says '^node n4 updated$' node update n4 -R memory=2Ki,vcore=1
    json 'd["item"]["capacity"]' "{'memory': 2048, 'vcore': 1000}" node show n4 -o json
    says '^node n4 removed$' node remove n4
    expect 4 'node n4 refused: .*P_NODE_UNKNOWN' node drain n4
    expect 4 '^  which are there\?  ykctl node list$' node drain n4
    expect 4 '^  which are there\?  ykctl rm list$' -r zz node list
    expect 4 '^  which are there\?  ykctl partition list$' -p nope node list
    expect 4 '^  which are there\?  ykctl partition list$' -p nope queue list
}

applications() {
    says '^app web accepted in root.a$' app add web -q root.a -u kim:staff
    says '^app service accepted in root.b$' app add service -q root.b -u system:serviceaccount:ns:sa --group ns,batch --group all
    json 'd["item"]["user"], d["item"]["groups"]' "('system:serviceaccount:ns:sa', ['ns', 'batch', 'all'])" app show service -o json
    says '^app service removed$' app remove service
    expect 1 'app nowhere refused: .*\(P_' app add nowhere -q root.none
    expect 4 "app 'nowhere' has ended already: it is Rejected" app remove nowhere
    expect 1 'app web refused: .*\(P_APP_EXISTS\)' app add web -q root.a
    says '^web +New +root.a +kim' app list
    counts 1 app list
    counts 2 app list --state Rejected # a rejected duplicate is one too
    says '^groups|^user: +kim' app show web
    printf '[{"applicationID": "batch", "queueName": "root.b"}]' >"$work/apps.json"
    says '^app batch accepted in root.b$' app add -f "$work/apps.json"
}

rules_explained() {
    says '^user ann \(groups ann\) is placed in queue root.a$' explain placement --user ann --queue root.a
    says '^0 provided +CHOSEN +root.a$' explain placement --user ann --queue root.a
    says '^user ann \(groups dev, ops, qa\) is REJECTED$' explain placement --user ann --group dev,ops --group qa
    says '^0 provided +NO_MATCH +queue root.x does not exist and the rule may not create it$' \
        explain placement --user ann --queue root.x
    json 'd["item"]["verdict"]' PLACED explain placement --user ann --tag application.create.force=true -o json
    sed '/- name: provided/a\    create: true' "$work/queues.yaml" | sed 's/submitacl: .*/submitacl: " dev"/' >"$work/dynamic.yaml"
    says 'placed in queue root.x.y, made for it: root.x, root.x.y$' \
        explain placement --user ann --group dev --queue root.x.y -f "$work/dynamic.yaml"
    says '^0 provided +NO_ACCESS +submit access to queue root denied during create of: root.x$' \
        explain placement --user ann --queue root.x -f "$work/dynamic.yaml"
    expect 1 'a.b.*invalid queue name|invalid queue name.*a.b' explain placement --user ann --queue root.x \
        -f <(sed 's/name: b/name: a.b/' "$work/queues.yaml")
    says '^user - is REJECTED: empty user cannot resolve$' explain placement --user ''
    says '^queue root.a \(leaf\) is Active: it is in the configuration$' explain queue root.a
    says '^max +64Gi 8 vcore +root.a \(line 9\)$' explain queue root.a
    says '^submitacl +\* +root \(line 6\)$' explain queue root.a
    says '^max +.* the nodes of the partition$' explain queue root
    expect 4 'there is no queue root.none' explain queue root.none
    json '[r["name"] for r in d["data"][0]["rules"]]' "['provided', 'recovery']" dump rules -o json
}

asks_and_cycles() {
    says '^ask web-6 added$' ask add web --key web -n 6 -R memory=2Gi,vcore=2
    expect 4 'ask x refused: .*P_APP_UNKNOWN' ask add nobody --key x -R vcore=1
    expect 4 '^  which are there\?  ykctl app list$' ask add nobody --key x -R vcore=1
    counts 6 ask list
    says '^[0-9]+ cycles, 4 allocations' sched step 10
    counts 4 alloc list
    counts 2 ask list --app web
    says '^web-1 +web +n[123] +2Gi 2 vcore' alloc list
    json 'sorted(d["items"][0]["resource"].items())' "[('memory', 2147483648), ('vcore', 2000)]" alloc list -o json
    says '^web +Running' app list --pending
    says '^web-5 .*root.a' ask list -o wide
    says '^age:' ask show web-5
    expect 4 "ask 'web-9' not found" ask show web-9
}

queues() {
    says '^├─ a +8Gi 4 vcore +64Gi 8 vcore +8Gi 8 vcore +100% +4Gi 4 vcore$' queue tree
    says '^├─ a .* 2.00 +1/0/-' queue tree -o wide
    says '^└─ b +- +unlimited' queue tree
    says '^root.a +Active +leaf' queue list
    says '^headroom: +' queue show root.a
    counts 3 queue list
    # B11: those that live, as in app list, though two were rejected
    says "^default +demo +Active +3 +$(ykctl app list -o name | grep -c .) " partition list
    # B14: nothing is pending in root.b
    json 'd["item"]["currentPriority"]' None queue show root.b -o json
    says "^apps: +$(ykctl app list -o name | grep -c .)$" partition show default
}

explanations() {
    says '^app web \(queue root.a, user kim\) is BLOCKED_BY_LIMIT: Running; 2 of 6 asks pending, oldest ' explain app web
    says '^ 1\. QUEUE_MAX +root.a +max vcore 8, used 8, each ask needs 2 +blocks 2 asks' explain app web
    says '^ would help: a larger max of root.a, or the end of something that runs there$' explain app web
    says '^ask web-5 of app web .* is BLOCKED_BY_LIMIT; the app is Running' explain ask web-5
    json 'd["item"]["reasons"][0]["code"]' QUEUE_MAX explain ask web-5 --app web -o json
    says 'PLACED' explain ask web-1
    expect 4 "app 'wbe' not found" explain app wbe
    says '^ask huge added$' ask add batch --key huge -R vcore=64
    says 'IMPOSSIBLE' explain ask huge
    says '^ask huge removed$' ask remove huge
    expect 4 "ask 'huge' not found" ask remove huge
}

reload() {
    configuration 16 >"$work/new.yaml"
    expect 8 'root.a' config diff "$work/new.yaml"
    says '1 change' config reload --dry-run -f "$work/new.yaml"
    says 'configuration of demo reloaded' config reload -f "$work/new.yaml"
    says 'configuration of demo unchanged' config reload -f "$work/new.yaml"
    says 'no changes' config diff "$work/new.yaml"
    says '2 allocations' sched step 10
    counts 6 alloc list
    printf 'partitions: 5\n' >"$work/bad.yaml"
    expect 1 'error' config check "$work/bad.yaml"
    expect 1 'bad.yaml|E_CONFIG_INVALID' config reload -f "$work/bad.yaml"
    : >"$work/empty.yaml"
    expect 2 'empty.yaml: is empty' config reload -f "$work/empty.yaml"
    expect 2 'leave --config out' rm register demo --config "$work/empty.yaml"
    checks=$((checks + 1))
    if ykctl config diff "$work/empty.yaml" 2>&1 | grep -q -- --config; then fail 'a hint names an option that config diff lacks'; fi
    says '16 vcore' queue tree
}

releases() {
    says '^alloc web-1 released$' alloc release web-1 --reason 'by hand'
    counts 5 alloc list
    expect 4 "alloc 'web-1' not found" alloc release web-1
    says 'UpdateAllocation' rm log demo
    says '^node: +n' alloc show web-2
}

drains() {
    local node
    says '^node n1 draining: 1 allocation stays until it ends$' node drain n1
    says '^n1 +Draining' node list
    says '^node n1 draining' node drain n1 --reason 'disk is broken'
    says '^n1 +Draining .* disk is broken \(.+, 20[0-9-]+T[0-9:.]+Z\)$' node list
    json 'd["item"]["attributes"]["si/rackname"]' r1 node show n1 -o json # the others stay
    says '^node n1 undrained$' node undrain n1
    checks=$((checks + 1))
    if ykctl node list -o json | grep -q 'broken'; then fail 'an undrained node has a reason to be drained'; fi
    says '^n1 +Active' node list
    node=$(ykctl alloc list -o jsonl | head -1 | sed 's/.*"nodeId":"\([^"]*\)".*/\1/')
    expect 1 "node $node still has [0-9]+ allocation" node remove "$node"
    says "^node $node draining: [0-9]+ allocations? stays? until " node drain "$node"
    says "^$node +Draining" node list
}

many_asks() {
    /usr/bin/python3 -c 'for i in range(2500): print(f"""{{"allocationKey":"b{i}","applicationID":"batch","resourceAsk":{{"memory":1}}}}""")' |
        ykctl ask add -f - >"$work/out"
    checks=$((checks + 1))
    grep -q '^2500 asks added$' "$work/out" || fail "2500 asks: $(cat "$work/out")"
    counts 2500 ask list --app batch
    says '^2500 asks removed$' ask remove --app batch --all
    counts 0 ask list --app batch
}

same_key_twice() {
    says 'added' ask add web --key twin -R memory=1Mi
    says 'added' ask add batch --key twin -R memory=1Mi
    expect 2 "key 'twin' is in several applications: batch, web" ask show twin
    says '^app: +web' ask show twin --app web
    says 'ask twin removed' ask remove twin --app web
    says 'ask twin removed' ask remove twin --app batch
}

waiting() {
    expect 7 '1 ask not placed within 200ms' ask add batch --key late -R memory=1Mi --wait --timeout 200ms
    says '1 allocation' sched step 3
    expect 0 'ask late ' ask add batch --key late -R memory=1Mi # an update of what is placed
}

time_and_events() {
    says 'APP_ALLOC web web-1' events --object app/web
    json 'len([e for e in d["items"] if e["type"] != 3])' 0 events --type NODE -o json
    json 'd["item"]["now"] > 0' True clock show -o json
    says '^20' clock advance 30s
    says '"objectID":"n1"' events --since 0 -o jsonl --type NODE
}

dumps() {
    says 'undrained' node undrain n1 n2 n3
    ykctl dump all "$work/a.json" 2>/dev/null
    says 'no differences' dump diff "$work/a.json" "$work/a.json"
    expect 0 'all that is named is there' dump verify "$work/a.json"
    expect 0 'all that is named is there' dump verify
    expect 2 'is no dump of all' dump verify <(echo '{}')
    says 'drain' node drain n2
    ykctl dump all "$work/b.json" 2>/dev/null
    expect 8 'nodeID=n2.\.schedulable: true -> false' dump diff "$work/a.json" "$work/b.json"
    says '"what": "partitions"' dump partitions
    expect 2 "'node' is not one of .*did you mean 'nodes'" dump node
}

watching() {
    local status=0
    checks=$((checks + 1))
    timeout --preserve-status -s INT 1 "$bin/ykctl" node list --watch --interval 50ms >"$work/out" || status=$?
    [[ $status -eq 130 ]] || fail "--watch ended with $status"
    [[ $(grep -c '"change":"added"' "$work/out") -eq 3 ]] || fail "--watch on a pipe: $(cat "$work/out")"
}

several_rms() {
    says 'rm other registered' rm register other --config "$work/queues.yaml"
    expect 2 'several RMs are registered: demo, other' node add x -R vcore=1
    says 'node x added' -r other node add x -R vcore=1
    YKCTL_RM=other counts 1 node list
    says 'rm other deregistered' rm deregister other
}

# -p is an attribute of the node on the wire, where attributes replace each other
several_partitions() {
    { configuration 8; echo '- {name: gpu, queues: [{name: root, submitacl: "*", queues: [{name: a}]}]}'; } >"$work/two.yaml"
    says 'partitions \[two\]default, \[two\]gpu' rm register two --config "$work/two.yaml"
    says 'node g1 added' -r two -p gpu node add g1 -R vcore=1 -a si/rackname=r9
    says 'node g1 updated' -r two -p gpu node update g1 -R vcore=2
    says '^si/rackname: +r9' -r two -p gpu node show g1
    expect 4 'P_NODE_UNKNOWN' -r two -p default node drain g1
    expect 1 'P_PARTITION_CHANGE' -r two node update g1 -a si/node-partition=default
    says '^app solver accepted' -r two -p gpu app add solver -q root.a
    says '^app solver removed$' -r two app remove solver # found where it is, without -p
    expect 4 "app 'solver' not found" -r two app remove solver
    says 'node g1 drained' -r two node drain g1
    says ' two +gpu +NODE ' events
    says 'Z +gpu +QUEUE .* root.a' -r two events --type QUEUE
    checks=$((checks + 1))
    if ykctl -r two -p gpu events | grep -qE 'two|Z +gpu'; then fail 'events of one partition name it'; fi
    expect 4 'RM nope is not registered' -r nope events
    expect 4 'Partition not found: there is no partition nope' -p nope events
    expect 4 'Partition not found: there is no partition nope' -p nope events --follow
    says 'rm two deregistered' rm deregister two --force
    says ' QUEUE ' -r two events # is gone, and its events are kept
}

rm_is_registered() { ykctl rm list -o name | grep -qx "$1"; }

# a served RM: its stream is the process's, an admin may still act for it
served_rm() {
    "$bin/ykctl" rm serve shim --config "$work/queues.yaml" --count 1 >"$work/served" 2>/dev/null &
    local server=$!
    within_20_s "rm serve does not register" rm_is_registered shim
    says '^shim +Running +by a process' rm list
    says '^node s1 sent$' -r shim node add s1 -R vcore=1
    checks=$((checks + 1))
    wait "$server" || fail "rm serve ended with $?"
    grep -q 'accepted *s1' "$work/served" || fail "rm serve was not told of s1: $(cat "$work/served")"
    says 'rm shim deregistered' rm deregister shim --force
}

the_end() {
    expect 1 'E_BUSY_STATE' rm deregister demo
    says '^app web removed$' app remove web
    says '^app batch removed$' app remove batch
    counts 0 alloc list
    says '^node n3 removed$' node remove n1 n2 n3
    says 'rm demo deregistered' rm deregister
    says 'healthy' health
    says 'no RM is registered' status
}

expect 3 'cannot reach ykd at ipc://.*: no such socket' status
# shellcheck disable=SC2119 # the script has no arguments to hand on
start_ykd
for part in the_daemon registration nodes applications rules_explained asks_and_cycles queues explanations reload releases drains many_asks \
    same_key_twice waiting time_and_events dumps watching several_rms several_partitions served_rm the_end; do
    "$part"
done
kill -TERM "$daemon"
wait "$daemon" || fail "ykd ended with $? on SIGTERM"
daemon=
echo "$checks checks"
