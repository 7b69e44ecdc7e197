#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tour of README.md by one-shot commands, each result checked, and nothing in the README that is not played here.
set -euo pipefail
# shellcheck source=tests/system/page_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/page_support.bash"

start_daemon() { # CONFIG
    wants 3 'is it running' ykctl status
    wants 0 ': ok' "$bin/ykd" --check-config "$1"
    "$bin/ykd" --config "$1" --listen "$YKCTL_SOCKET" 2>"$work/ykd.log" &
    daemon=$!
    eventually 'no RM is registered' ykctl status
}

submit() {
    wants 0 'rm tour registered' ykctl rm register tour
    wants 0 'node n-3 added' ykctl node add n --count 3 -R memory=16Gi,vcore=8
    wants 0 'app web accepted in root.prod' ykctl app add web -q root.prod
    wants 0 'app report accepted in root.batch' ykctl app add report -q root.batch
    wants 0 'ask web-4 placed on n-1' ykctl ask add web --key web -n 4 -R memory=2Gi,vcore=2 --wait
    wants 0 'ask report-6' ykctl ask add report --key report -n 6 -R memory=4Gi,vcore=2
}

look() {
    counts 8 ykctl alloc list
    counts 2 ykctl ask list
    wants 0 'batch .* 8 vcore .* 8 vcore +100%' ykctl queue tree
    wants 0 'n-2 +Active +16Gi 8 vcore +10Gi 6 vcore' ykctl node list
    wants 0 'web-2 +web +n-2' ykctl alloc list
    wants 0 'Not enough queue quota' ykctl ask list
    wants 0 'QUEUE_MAX +root.batch' ykctl explain ask report-6
}

reload() {
    wants 8 '^1 change' ykctl config diff docs/demo/queues-larger.yaml
    wants 0 'reloaded' ykctl config reload -f docs/demo/queues-larger.yaml
    counts 10 ykctl alloc list
    wants 0 'no pending asks' ykctl ask list
}

change() {
    wants 0 'node n-1 draining: 4 allocations stay until they end' ykctl node drain n-1
    wants 0 'n-1 +Draining' ykctl node list
    wants 0 'app report removed' ykctl app remove report
    counts 4 ykctl alloc list
    wants 0 'ask huge added' ykctl ask add web --key huge -R memory=64Gi,vcore=4
    wants 0 'IMPOSSIBLE' ykctl explain ask huge
    wants 0 'APP_RUNNING web' ykctl events --object app/web
}

teams() {
    wants 0 'teams.yaml: ok' ykctl config check docs/demo/teams.yaml
    wants 0 'rm teams registered' ykctl rm register teams
    wants 0 'node n-2 added' ykctl node add n --count 2 -R memory=16Gi,vcore=8
    wants 0 'made for it: root.research.ann' ykctl explain placement --user ann --group research --tag team=research
    wants 0 'user +NO_ACCESS' ykctl explain placement --user eve --group sales --tag team=research
    wants 1 'P_PLACEMENT' ykctl app add intruder -u eve:sales --tag team=research
    wants 0 'accepted in root.research.ann' ykctl app add study -u ann:research --tag team=research
    wants 0 's-3 placed' ykctl ask add study --key s -n 3 -R vcore=2 --wait
    wants 0 'more added' ykctl ask add study --key more -R vcore=2
    wants 0 'accepted in root.research.ben' ykctl app add thesis -u ben:research --tag team=research
    wants 0 't-2 placed' ykctl ask add thesis --key t -n 2 -R vcore=2 --wait
    wants 0 'USER_LIMIT +root.research +max vcore 6, used 6' ykctl explain ask more
    wants 0 'root.research +6 vcore +6 vcore' ykctl user show ann
    wants 0 'research +10 vcore +12 vcore +2/- +-' ykctl group list
    wants 0 'ann +6 vcore +unlimited +1/- +root.research +' ykctl user list
    wants 0 'max +10 vcore +childtemplate of root.research' ykctl explain queue root.research.ann
}

larger_and_back() {
    wants 8 '^1 change' ykctl config diff docs/demo/teams-larger.yaml
    wants 0 'reloaded' ykctl config reload -f docs/demo/teams-larger.yaml
    eventually 'no pending asks' ykctl ask list
    wants 0 'research +12 vcore +12 vcore' ykctl group list
    wants 0 'yes +request of uid' ykctl config history
    wants 0 'user ann has .vcore: 8., above the new limit .vcore: 6.' ykctl config rollback --dry-run
    wants 0 'reloaded' ykctl config rollback
    wants 0 'root.research +8 vcore +6 vcore' ykctl user show ann
}

gang() {
    wants 0 'rm stories registered' ykctl rm register stories
    wants 0 'node n-2 added' ykctl node add n --count 2 -R memory=16Gi,vcore=8
    wants 0 'placeholder workers-ph-2 placed on n-1' ykctl app add spark -q root.batch --task-group workers=3:memory=4Gi,vcore=2 --gang-style hard
    counts 3 ykctl alloc list
    wants 0 'worker-3 placed on n-1' ykctl ask add spark --key worker -n 3 --task-group workers -R memory=4Gi,vcore=2 --wait
    wants 0 'workers +4Gi 2 vcore +3 +3 +0' ykctl app show spark
    wants 0 'removed' ykctl app remove spark
}

urgent() {
    wants 0 'accepted' ykctl app add study -q root.lab
    wants 0 's-4 placed' ykctl ask add study --key s -n 4 -R memory=4Gi,vcore=4 --preemptable --wait
    wants 0 'accepted' ykctl app add urgent -q root.lab
    wants 0 'late added' ykctl ask add study --key late -R memory=4Gi,vcore=4 --preemptable
    wants 0 'now added' ykctl ask add urgent --key now --priority 10 -R memory=4Gi,vcore=4
    wants 0 'released' ykctl alloc release s-1 --app study
    eventually 'now +urgent +n-1' ykctl alloc list
    wants 0 '^late +study .*The cluster is full' ykctl ask list
}

promise() {
    wants 0 'accepted' ykctl app add shop -q root.web
    wants 0 'front placed on n-1' ykctl ask add shop --key front -R memory=4Gi,vcore=4 --may-preempt --wait
    wants 0 'lab .* 12Gi 12 vcore .*4Gi 4 vcore' ykctl queue tree
    wants 0 'PLACED' ykctl explain preemption front
}

start_services() { # [SETTINGS]
    mkdir -p "$work/state"
    chmod 700 "$work/state"
    "$bin/ykd" --state "$work/state" --settings "${1:-docs/demo/services.conf}" --listen "$YKCTL_SOCKET" 2>"$work/ykd.log" &
    daemon=$!
    eventually 'RM mcs is running' ykctl mcs status
}

services() {
    wants 0 'node n1 created' ykctl mcs node create n1 -R memory=16Gi,vcore=8
    wants 0 'created' ykctl deployment create web --replicas 3 -R memory=4Gi,vcore=2
    eventually 'web +- +3 +3 +0 +Scheduled' ykctl deployment list
    wants 0 'scaled to 6' ykctl deployment scale web 6
    eventually 'web +- +6 +4 +2 +Scheduling' ykctl deployment list
    wants 0 'NODE_FIT .*1 lack memory, 1 lack vcore' ykctl deployment show web
    wants 0 'node n2 created' ykctl mcs node create n2 -R memory=16Gi,vcore=8
    eventually 'web +- +6 +6 +0 +Scheduled' ykctl deployment list
    wants 0 'node n1 deleted' ykctl mcs node delete n1
    wants 0 'n2 +default +schedulable' ykctl mcs node list
    eventually 'web +- +6 +4 +2 +Scheduling' ykctl deployment list
    kill -KILL "$daemon"
    wait "$daemon" 2>/dev/null || true
    start_services
    eventually 'web +- +6 +4 +2 +Scheduling' ykctl deployment list
}

# typed STATUS TEXT LINE: as wants, for a line with quotes and files as somebody types it whose home is the work folder.
typed() {
    local wanted=$1 text=$2 line=$3 said status=0
    step=$((step + 1))
    said=$(HOME=$work && eval "$line" 2>&1) || status=$?
    [[ $status -eq $wanted ]] || fail "$line should end with $wanted and ended with $status: $said"
    grep -qE -- "$text" <<<"$said" || fail "$line should say '$text' and says: $said"
    played "$said" "$line"
}

# shellcheck disable=SC2016 # what the quotes hold is for the shell of the page, and for that of the replicas
local_services() {
    typed 0 '' 'echo "mcs: {enabled: true, local: {enabled: true, users: [$(id -un)], queues: [root.services]}}" >~/ykd-local.conf'
    if [[ $(id -u) -eq 0 ]]; then sed -i 's/}}$/, runAs: nobody}}/' "$work/ykd-local.conf"; fi
    stop_daemon
    start_services "$work/ykd-local.conf"
    wants 0 'node n2 deleted' ykctl mcs node delete n2
    wants 0 'deployment web deleted' ykctl deployment delete web
    wants 0 'node here created' ykctl mcs node create here --local -R memory=8Gi,vcore=4
    typed 0 'deployment api created' \
        'ykctl deployment create api -q root.services --replicas 3 --command '\''echo port $((8000 + MCS_REPLICA)); exec sleep infinity'\'
    eventually 'api +root.services +3 +3 +0 +Scheduled +[0-9]' ykctl deployment list
    local replica
    for replica in 0 1 2; do eventually "^$replica: port 800$replica\$" ykctl deployment logs api; done
}

# The page names the file as somebody would who began in the work folder.
cat() { command cat "$work/$1"; }

batch() {
    "$bin/ykctl" rm serve lab --exec --state "$work/lab.books" --output "$work/lab.out" >"$work/lab.items" 2>"$work/lab.notes" &
    lab=$!
    eventually 'lab +Running' ykctl rm list
    wants 0 'node n-2' ykctl node add n --count 2 -R memory=16Gi,vcore=8
    wants 0 'app report' ykctl app add report -q root.batch
    wants 0 'ask day-3' ykctl ask add report --key day -n 3 -R memory=4Gi,vcore=2 --tag command=docs/demo/measure.sh
    eventually 'day-2 on n-2, with 4294967296' cat lab.out/report+day-2.log
    eventually 'no allocations' ykctl alloc list
    kill -TERM "$lab"
    wait "$lab" || fail "rm serve ended with $? on SIGTERM"
    lab=
}

# The port of the page may be taken here.
curl() { command curl "${@//127.0.0.1:9080/127.0.0.1:$port}"; }

dashboards() {
    local port
    port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    "$bin/ykd" --config docs/demo/queues.yaml --listen "$YKCTL_SOCKET" --http "127.0.0.1:$port" 2>"$work/ykd.log" &
    daemon=$!
    eventually 'no RM is registered' ykctl status
    wants 0 'rm lab registered' ykctl rm register lab
    wants 0 '"clusterId":"lab"' curl -s http://127.0.0.1:9080/ws/v1/partitions
    wants 0 'yunikorn_scheduler_node\{state="active"\} 0' curl -s http://127.0.0.1:9080/ws/v1/metrics
    wants 0 '"objectID":"root"' curl -s http://127.0.0.1:9080/ws/v1/events/batch
}

lab=
start_daemon docs/demo/queues.yaml
submit
look
reload
change
stop_daemon
start_daemon docs/demo/teams.yaml
teams
larger_and_back
stop_daemon
start_daemon docs/demo/stories.yaml
gang
urgent
promise
stop_daemon
start_services
services
local_services
stop_daemon
start_daemon docs/demo/queues.yaml
batch
stop_daemon
dashboards
stop_daemon
compare_with_page README.md 'A tour' Under
echo "$step steps"
