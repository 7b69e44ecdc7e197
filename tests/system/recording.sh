#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ykd --record, ykctl recording play and verify: what a shell did to a daemon, played again; a daemon that is killed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${YK_BIN:-$PWD/build/bin}
work=$(mktemp -d /tmp/yk-recording.XXXXXX)
daemon=
export NO_COLOR=1 XDG_CONFIG_HOME=$work YKCTL_SOCKET=ipc://$work/s
trap '[[ -z $daemon ]] || kill -KILL "$daemon" 2>/dev/null || true; rm -rf "$work"' EXIT

fail() {
    echo "$*" >&2
    exit 1
}
yk() { "$bin/ykctl" "$@"; }
expect() { # STATUS TEXT COMMAND...: what ykctl says, both ways
    local wanted=$1 text=$2 said status=0
    shift 2
    said=$(yk "$@" 2>&1) || status=$?
    [[ $status -eq $wanted ]] || fail "ykctl $* ended with $status, not $wanted: $said"
    grep -qF -- "$text" <<<"$said" || fail "ykctl $* does not say '$text': $said"
}
start() { # FLAG...
    "$bin/ykd" --listen "$YKCTL_SOCKET" "$@" 2>>"$work/log" &
    daemon=$!
    for _ in $(seq 200); do
        if yk ping >/dev/null 2>&1; then return; fi
        sleep 0.05
    done
    fail "ykd did not start: $(cat "$work/log")"
}
stop() { # SIGNAL
    kill "-$1" "$daemon"
    wait "$daemon" 2>/dev/null || true
    daemon=
}

# A day in the life of a small cluster.
start --record "$work/records/today"
expect 0 "recorded in" status
yk rm register shop --config docs/demo/queues.yaml >/dev/null
yk node add n --count 3 -R memory=16Gi,vcore=8 >/dev/null
yk app add web -q root.prod >/dev/null
yk app add report -q root.batch --task-group t=2:vcore=1 >/dev/null
yk ask add web --key web -n 4 -R memory=2Gi,vcore=2 --wait >/dev/null
yk ask add report --key report -n 6 -R memory=4Gi,vcore=2 >/dev/null
expect 1 "refused" app add nowhere -q root.nowhere
yk config reload -f docs/demo/queues-larger.yaml >/dev/null
yk node drain n-1 >/dev/null
yk app remove report >/dev/null
yk rm register other >/dev/null
yk rm register shop --config docs/demo/queues.yaml --force >/dev/null # again: a registration of its own
expect 0 " same" recording verify "$work/records/today" # while the daemon writes
stop KILL
[[ $(find "$work/records/today" -name '*.ykrec' | wc -l) -eq 3 ]] || fail "three registrations are not three recordings"
yk recording verify -o json "$work/records/today" >"$work/verdict"
[[ $(grep -c '"same": true' "$work/verdict") -eq 3 ]] || fail "not the same: $(cat "$work/verdict")"
yk recording play "$work/records/today" >"$work/once"
yk recording play "$work/records/today" >"$work/again"
cmp "$work/once" "$work/again"
grep -q '^N \[shop\]default web/web-1 on n-' "$work/once" || fail "no allocation: $(cat "$work/once")"
grep -q 'end of the registration' "$work/once" || fail "no end of a registration"
yk recording play -o jsonl "$work/records/today" >"$work/objects"
grep -q '"done":"3 nodes"' "$work/objects" || fail "no object for the nodes: $(head -20 "$work/objects")"
first=$(find "$work/records/today" -name '*.ykrec' | sort | head -1)
yk recording play --all --until 2 "$first" >"$work/two"
[[ $(grep -c "^# [0-9]* 2" "$work/two") -eq 2 ]] || fail "--until 2 is not two commands: $(cat "$work/two")"
expect 2 "--until wants a command's number" recording play --until 0 "$first"
expect 2 "-o jsonl" recording play -o json "$first"

# What is cut short is left out; what was said differently is shown.
head -c -5 "$first" >"$work/cut.ykrec"
expect 0 "it ends within a record or without an answer" recording verify "$work/cut.ykrec"
sed 's/web-1 on n-/web-1 on m-/' "$first" >"$work/other.ykrec"
expect 8 "+ N [shop]default web/web-1 on n-" recording verify "$work/other.ykrec"
expect 2 "is no recording of ykd" recording play docs/demo/queues.yaml
expect 2 "has no recording" recording verify "$work/records"
expect 2 "No such file" recording verify "$work/nothing"

# A registration of another daemon gets a file of its own; a directory that cannot be used ends the daemon.
start --record "$work/records/today"
yk rm register shop >/dev/null
stop TERM
[[ $(find "$work/records/today" -name '*.ykrec' | wc -l) -eq 4 ]] || fail "the second daemon made no recording"
touch "$work/file"
status=0
said=$("$bin/ykd" --listen "$YKCTL_SOCKET" --record "$work/file" 2>&1) || status=$?
[[ $status -eq 1 ]] || fail "a file as directory: $status"
grep -qF "directory for recordings $work/file" <<<"$said" || fail "a file as directory: $said"
