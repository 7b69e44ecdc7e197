#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ykctl replay: a generated trace against private and running daemons, its report, and how bad files are refused.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${YK_BIN:-$PWD/build/bin}
work=$(mktemp -d /tmp/yk-replay.XXXXXX)
export NO_COLOR=1 XDG_CONFIG_HOME=$work TMPDIR=$work YKD=$bin/ykd
daemon=

clean_up() {
    local status=$?
    if [[ -n $daemon ]] && kill -TERM "$daemon" 2>/dev/null; then wait "$daemon" || true; fi
    rm -rf "$work"
    exit "$status"
}
trap clean_up EXIT

ykctl() { "$bin/ykctl" "$@"; }

fail() {
    echo "$*" >&2
    exit 1
}

# refused STATUS TEXT ARGUMENT...: ykctl ends so and says TEXT
refused() {
    local wanted=$1 text=$2 said status=0
    shift 2
    said=$(ykctl "$@" 2>&1) || status=$?
    [[ $status -eq $wanted ]] || fail "ykctl $* ended with $status, not $wanted: $said"
    grep -qF -- "$text" <<<"$said" || fail "ykctl $* does not say '$text': $said"
}

check_report() { # FILE EXPRESSION...: python expressions over the report `r` that must be true
    /usr/bin/python3 - "$@" <<'PYTHON'
import json, sys
with open(sys.argv[1]) as file:
    r = json.load(file)
for expression in sys.argv[2:]:
    if not eval(expression):
        sys.exit(f"{expression} does not hold: {r}")
PYTHON
}

trace=(--nodes "$work/t/nodes.csv" --pods "$work/t/pods.csv")
ykctl replay gen "$work/t" --nodes 5 --pods 100 --seed 7
ykctl replay gen "$work/again" --nodes 5 --pods 100 --seed 7
cmp "$work/t/pods.csv" "$work/again/pods.csv"
cmp "$work/t/nodes.csv" "$work/again/nodes.csv"

# All at once: what does not fit is pending, each pod with its reason.
for policy in fair binpacking; do
    ykctl replay --spawn "${trace[@]}" --policy "$policy" -o json >"$work/$policy.json"
    check_report "$work/$policy.json" 'r["nodes"] == 5' 'r["pods"] == 100' 'r["placed"] + r["pending"] == 100' \
        '0 < r["placed"] < 100' 'sum(r["reasons"].values()) == r["pending"]' \
        'set(r["utilisation"]) == {"vcore", "memory", "gpu"}' 'all(0 < u <= 1 for u in r["utilisation"].values())' \
        '0 <= r["time_to_place"]["p50"] <= r["time_to_place"]["p99"] < 60'
done
ykctl replay --spawn "${trace[@]}" >"$work/table"
grep -q 'root.ls' "$work/table"
grep -q 'PENDING BECAUSE' "$work/table"

# In trace time every pod ends; nothing is in use afterwards.
ykctl replay --spawn "${trace[@]}" --speed 100000 -o json >"$work/timed.json"
check_report "$work/timed.json" 'r["placed"] + r["pending"] == 100' 'all(u == 0 for u in r["utilisation"].values())' \
    'sum(r["reasons"].values()) == r["pending"]'

# A running daemon: the RM goes at the end, unless it is to be kept for a look at it.
"$bin/ykd" --listen "ipc://$work/s" 2>"$work/log" &
daemon=$!
for _ in $(seq 200); do [[ -S $work/s ]] && break; sleep 0.02; done
export YKCTL_SOCKET=ipc://$work/s
ykctl replay "${trace[@]}" -o json >"$work/running.json"
check_report "$work/running.json" 'r["placed"] > 0' 'r["samples"][-1]["placed"] == r["placed"]' \
    'set(r["samples"][-1]["queues"]["root.ls"]) == {"vcore", "memory", "gpu"}' \
    'all(a["queues"] != b["queues"] for a, b in zip(r["samples"], r["samples"][1:]))'
[[ -z $(ykctl rm list -o name) ]] || fail "replay left $(ykctl rm list -o name) behind"
ykctl -r kept replay "${trace[@]}" --keep -o yaml >"$work/running.yaml"
grep -qx 'nodes: 5' "$work/running.yaml" || fail "no YAML: $(head -3 "$work/running.yaml")"
ykctl -r kept node list -o name | grep -c . | grep -qx 5
[[ $(ykctl -r kept replay "${trace[@]}" -o jsonl | wc -l) == 1 ]] || fail "what a replay left is not its own again"
[[ -z $(ykctl rm list -o name) ]] || fail "replay left $(ykctl rm list -o name) behind"

# What is somebody else's is left alone.
ykctl --quiet rm register mine
ykctl --quiet -r mine node add n-1 -R memory=1Gi
refused 1 "RM 'mine' is registered already" -r mine replay "${trace[@]}"
YKCTL_RM=mine refused 1 'rm deregister mine' replay "${trace[@]}"
[[ $(ykctl -r mine node list -o name) == n-1 ]] || fail 'replay dropped the nodes of an RM'
ykctl --quiet rm deregister mine --force

# Interrupted, it deregisters as well.
"$bin/ykctl" replay "${trace[@]}" --speed 0.001 >"$work/out" 2>"$work/err" &
pid=$!
for _ in $(seq 500); do [[ $(ykctl rm list -o name) == replay ]] && break; sleep 0.02; done
[[ $(ykctl rm list -o name) == replay ]] || fail "no replay to interrupt: $(cat "$work/err")"
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
[[ $status -eq 130 ]] || fail "interrupted, replay ended with $status: $(cat "$work/err")"
[[ -z $(ykctl rm list -o name) ]] || fail 'an interrupted replay stays registered'

# A daemon that waits to be stepped places nothing by itself.
"$bin/ykd" --listen "ipc://$work/m" --manual-schedule 2>"$work/log-manual" &
manual=$!
for _ in $(seq 200); do [[ -S $work/m ]] && break; sleep 0.02; done
refused 2 'start ykd without --manual-schedule' -s "ipc://$work/m" replay "${trace[@]}"
kill -TERM "$manual"
wait "$manual" || true

# Bad input: file and line, and nothing is started.
printf 'sn,cpu_milli,memory_mib,gpu\nn-1,many,1,0\n' >"$work/bad.csv"
refused 2 "$work/bad.csv:2: cpu_milli" replay --spawn --nodes "$work/bad.csv" --pods "$work/t/pods.csv"
refused 2 "$work/none.csv" replay --spawn --nodes "$work/none.csv" --pods "$work/t/pods.csv"
refused 2 'policy' replay --spawn "${trace[@]}" --policy best
for speed in 0 -1 fast 2x inf nan; do refused 2 'a number above 0' replay --spawn "${trace[@]}" "--speed=$speed"; done
refused 2 'a report has no -o name' replay --spawn "${trace[@]}" -o name
refused 3 "$work/nobody" -s "ipc://$work/nobody" replay "${trace[@]}"
