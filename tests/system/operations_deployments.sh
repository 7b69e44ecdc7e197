#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The steps of docs/operations.md that are about deployments, each result checked, and nothing there that is not played here.
set -euo pipefail
# shellcheck source=tests/system/page_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/page_support.bash"
state=$work/state
settings=$work/ykd.conf
mkdir -m 700 "$state"
printf 'mcs: {enabled: true}\n' >"$settings"

start_ykd() {
    "$bin/ykd" --state "$state" --settings "$settings" --listen "$YKCTL_SOCKET" 2>>"$work/ykd.log" &
    daemon=$!
    local deadline=$((SECONDS + 20))
    until ykctl ping --quiet >/dev/null 2>&1; do
        kill -0 "$daemon" 2>/dev/null || fail "ykd ended: $(tail -3 "$work/ykd.log")"
        ((SECONDS < deadline)) || fail "ykd does not answer"
        sleep 0.05
    done
}

end_ykd() { # SIGNAL
    kill "-$1" "$daemon"
    wait "$daemon" 2>/dev/null || true
    daemon=
}

sql() { # STATEMENT: by somebody else than ykd
    /usr/bin/python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=20) as base: base.execute(sys.argv[2])' "$state/mcs.db" "$1"
}

restart() {
    start_ykd
    eventually 'no deployments' ykctl deployment list
    wants 0 'node n1 created' ykctl mcs node create n1 -R memory=16Gi,vcore=8
    wants 0 'deployment web created' ykctl deployment create web --replicas 3 -R vcore=2 --wait
    end_ykd KILL
    start_ykd
    eventually 'web .* 3 +3 +0 +Scheduled' ykctl deployment list
}

copy() {
    end_ykd TERM
    cp -a "$state/mcs.db" "$work/copy.db"
    start_ykd
    eventually 'web .* 3 +3 +0 +Scheduled' ykctl deployment list
}

dead_letters() {
    sql "CREATE TRIGGER refuses BEFORE INSERT ON deployment_scale BEGIN SELECT RAISE(ABORT, 'not this one'); END"
    wants 0 'deployment api created' ykctl deployment create api --id api-1
    eventually 'api-1 .*not this one' ykctl mcs dead-letters
    eventually 'degraded: .*dead-letters' ykctl status
    sql 'DROP TRIGGER refuses'
    wants 0 'retry|tried' ykctl mcs retry
    eventually 'no dead letters' ykctl mcs dead-letters
    eventually 'api .* 1 +1 +0 +Scheduled' ykctl deployment list
}

damaged() {
    end_ykd TERM
    printf 'damage' | dd of="$state/mcs.db" bs=1 conv=notrunc status=none
    start_ykd
    eventually 'degraded: .*MCS has failed' ykctl status
    wants 1 'MCS has failed' ykctl deployment list
    end_ykd TERM
    rm -f "$state/mcs.db" "$state/mcs.db-wal" "$state/mcs.db-shm"
    cp -a "$work/copy.db" "$state/mcs.db" # the copy is put back
    wants 0 '' ykctl mcs check --db "sqlite:$state/mcs.db"
    start_ykd
    eventually 'web .* 3 +3 +0 +Scheduled' ykctl deployment list
}

restart
copy
dead_letters
damaged
stop_daemon
if [[ ${1:-} == show ]]; then cat "$work/played"; else compare_with_page docs/operations.md Deployments 'nothing'; fi
echo "$step steps"
