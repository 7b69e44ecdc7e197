#!/usr/bin/env bash
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

# A running daemon keeps the RM, for a look at it.
"$bin/ykd" --listen "ipc://$work/s" 2>"$work/log" &
daemon=$!
for _ in $(seq 200); do [[ -S $work/s ]] && break; sleep 0.02; done
ykctl -s "ipc://$work/s" -r kept replay "${trace[@]}" -o json >"$work/running.json"
check_report "$work/running.json" 'r["placed"] > 0'
ykctl -s "ipc://$work/s" -r kept node list -o name | grep -c . | grep -qx 5

# Bad input: file and line, and nothing is started.
printf 'sn,cpu_milli,memory_mib,gpu\nn-1,many,1,0\n' >"$work/bad.csv"
refused 2 "$work/bad.csv:2: cpu_milli" replay --spawn --nodes "$work/bad.csv" --pods "$work/t/pods.csv"
refused 2 "$work/none.csv" replay --spawn --nodes "$work/none.csv" --pods "$work/t/pods.csv"
refused 2 'policy' replay --spawn "${trace[@]}" --policy best
refused 2 'speed' replay --spawn "${trace[@]}" --speed 0
refused 3 "$work/nobody" -s "ipc://$work/nobody" replay "${trace[@]}"
