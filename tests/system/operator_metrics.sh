#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an operator sees of a running daemon: metrics (I-500 to I-517), health (5.6), history (I-700), rules (C-475),
# summaries of ended applications (I-721).
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

metric() { # LINE: the metrics hold exactly this line
    checks=$((checks + 1))
    ykctl metrics >"$work/metrics"
    grep -qxF -- "$1" "$work/metrics" || fail "no metric '$1': $(grep -F -- "${1%%[ \{]*}" "$work/metrics" | head -20)"
}

cat >"$work/queues.yaml" <<'YAML'
partitions:
- name: default
  placementrules: [{name: provided}, {name: tag, value: namespace, create: true}]
  queues:
  - name: root
    submitacl: "*"
    queues:
    - {name: a, resources: {max: {vcore: 8}}, maxapplications: 3}
    - {name: b}
YAML
start_ykd --summary-json --legacy-queue-metrics --settings <(echo 'historyInterval: 100ms')

says '^healthy$' health # before anything is registered
says 'registered' rm register demo --config "$work/queues.yaml"
says 'added' node add --name-format n%d --count 2 -R vcore=8
says 'accepted' app add web -q root.a
says 'accepted' app add idle -q root.b
expect 1 'refused' app add lost -q root.none
says '.' ask add web -R vcore=2 -n 3
says '.' sched step 10
says '.' alloc release --app web --all

metric 'yunikorn_scheduler_container_allocation_attempt_total{state="allocated"} 3'
metric 'yunikorn_scheduler_container_allocation_attempt_total{state="released"} 3'
metric 'yunikorn_scheduler_application_submission_total{result="new"} 3'
metric 'yunikorn_scheduler_application_submission_total{result="rejected"} 1'
metric 'yunikorn_scheduler_application_total{state="completing"} 1'
metric 'yunikorn_scheduler_node{state="active"} 2'
metric 'yunikorn_scheduler_vcore_node_usage_total{range="[0,10%]"} 2'
metric '# TYPE yunikorn_scheduler_scheduling_cycle_milliseconds histogram'
metric '# TYPE yunikorn_scheduler_node_sorting_latency_milliseconds histogram'
metric 'yunikorn_scheduler_trynode_latency_seconds_count 0'
metric 'yunikorn_scheduler_trynode_evaluation_milliseconds_count 1' # of the first cycle: one in sixteen is measured
metric 'yunikorn_scheduler_trypreemption_latency_seconds_count 0'
metric 'yunikorn_queue_app{partition="[demo]default",queue="root.a",state="completing"} 1'
metric 'yunikorn_queue_app{partition="[demo]default",queue="",state="rejected"} 1'
metric 'yunikorn_queue_container{partition="[demo]default",queue="root.a",state="released"} 3'
metric 'yunikorn_root_a_queue_container{state="allocated"} 3'
metric 'yunikorn_queue_resource{partition="[demo]default",queue="root.a",state="max",resource="vcore"} 8000'
metric 'yunikorn_queue_resource{partition="[demo]default",queue="root.a",state="maxRunningApps",resource="apps"} 3'
metric 'yunikorn_queue_resource{partition="[demo]default",queue="root.a",state="allocated",resource="vcore"} 0'
metric 'yunikorn_rm_state{rm="demo",state="Running"} 1'
metric 'yunikorn_requests_total{kind="RegisterResourceManager",result="ok"} 1'
metric 'yunikorn_rm_request_seconds_count{kind="RegisterResourceManager"} 1'

# I-509: a limit that is gone has no series; I-500: one HELP and TYPE per family, no line twice
sed -i 's/resources: {max: {vcore: 8}}, //' "$work/queues.yaml"
says 'reloaded' config reload -f "$work/queues.yaml"
checks=$((checks + 1))
ykctl metrics >"$work/metrics"
if grep -q 'queue="root.a",state="max",' "$work/metrics"; then fail "the removed limit still has a series"; fi
doubled=$(sed 's/ [^ ]*$//' "$work/metrics" | sort | uniq -d)
[[ -z $doubled ]] || fail "series or headings twice: $doubled"
says '^yunikorn_rm_state' metrics --grep 'rm_state.*Running'
expect 2 'grep' metrics --grep '('
checks=$((checks + 1))
[[ $(ykctl metrics --family yunikorn_queue -o name | sort -u | wc -l) -eq 4 ]] ||
    fail "--family: $(ykctl metrics --family yunikorn_queue -o name)"

# health, rules, history, events
says 'Queue usage +ok' health
says 'Failed nodes +ok' health
checks=$((checks + 1))
ykctl health -o json | grep -q '"Healthy": *true' || fail "health as JSON"
says '"tagName": *"namespace"' dump rules
has_history() { ykctl dump history | grep -q totalContainers; }
within_20_s "no history" has_history
says 'web' events --object app/web
says '.' -p default events --type NODE

# I-721: when the completing timeout is over
says '.' clock advance 31s
has_summaries() {
    grep -q 'YK_APP_SUMMARY: ApplicationID=web .*ResourceUsage=TrackedResource{' "$work/log" &&
        grep -q '"ApplicationID":"web"' "$work/log"
}
within_20_s "no summary of web" has_summaries
metric 'yunikorn_queue_app_total{partition="[demo]default",queue="root.a",state="completed"} 1'
says '.' rm deregister --force # counters stay
metric 'yunikorn_scheduler_container_allocation_attempt_total{state="allocated"} 3'
echo "$checks checks"
