#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The steps of docs/operations.md, each result checked, and nothing in the page that is not played here.
set -euo pipefail
# shellcheck source=tests/system/page_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/page_support.bash"
state=$work/state
config=$work/queues.yaml
settings=$work/ykd.conf
cp docs/demo/queues.yaml "$config"
mkdir "$state"
printf 'livenessTimeout: 1s\nsessionTtl: 3s\n' >"$settings"

# start_ykd ARGUMENT...
start_ykd() {
    "${starter[@]}" "$bin/ykd" --config "$config" --settings "$settings" --listen "$YKCTL_SOCKET" "$@" 2>>"$work/ykd.log" &
    daemon=$!
    local deadline=$((SECONDS + 20))
    until ykctl ping --quiet >/dev/null 2>&1; do
        kill -0 "$daemon" 2>/dev/null || fail "ykd ended: $(tail -3 "$work/ykd.log")"
        ((SECONDS < deadline)) || fail "ykd does not answer"
        sleep 0.05
    done
}
starter=(env)

end_ykd() { # SIGNAL
    kill "-$1" "$daemon"
    wait "$daemon" 2>/dev/null || true
    daemon=
}

# restart_ykd SIGNAL
restart_ykd() {
    end_ykd "$1"
    start_ykd --state "$state"
}

log_says() { # TEXT: within ten seconds; the log is written behind the daemon's back
    local deadline=$((SECONDS + 10))
    step=$((step + 1))
    until grep -qE -- "$1" "$work/ykd.log"; do
        ((SECONDS < deadline)) || fail "the log should say '$1'"
        sleep 0.05
    done
}

shop() {
    wants 0 'rm shop registered' ykctl rm register shop
    wants 0 'node n-2 added' ykctl node add n --count 2 -R memory=16Gi,vcore=8
    wants 0 'app web accepted' ykctl app add web -q root.prod
    wants 0 'web-3 placed' ykctl ask add web --key web -n 3 -R memory=2Gi,vcore=2 --wait
}

restart() {
    start_ykd --state "$state"
    shop
    restart_ykd TERM
    wants 0 'shop +Running +detached' ykctl status
    wants 0 'web-3 +web' ykctl alloc list
    log_says 'RM shop: running after .*2 nodes, 1 application, 3 allocations; 0 in quarantine'
    restart_ykd KILL
    counts 3 ykctl alloc list
}

changed_file() {
    cp docs/demo/queues-larger.yaml "$config"
    restart_ykd TERM
    log_says 'RM shop goes on with the configuration that was active, .*queues.yaml has changed since; ykctl config reload'
    wants 8 '^1 change' ykctl config diff "$config"
    wants 0 'RM shop: new configuration is active' ykctl config reload
}

# A file of settings or queues that the new program refuses is found before the old one ends.
upgrade() {
    wants 0 ': ok' "$bin/ykd" --check-config "$config" --settings "$settings"
    restart_ykd TERM
    wants 0 'shop +Running' ykctl rm list
    wants 0 'healthy' ykctl health
}

# What an older program finds that is started after a newer one.
rollback() {
    local books
    books=$(echo "$state"/books/shop-*.books)
    end_ykd TERM
    cp -a "$state" "$work/copy"
    set_version "$books" 99
    start_ykd --state "$state"
    wants 0 'version 99 of the books is unknown, 2 is known; start the ykd that wrote them, or move the file away' ykctl status
    wants 1 'version 99 of the books is unknown' ykctl rm register shop
    restart_with 2
    wants 0 'shop +Running' ykctl rm list
    restart_with 99
    mv "$books" "$work/away.books" # the file is moved away
    restart_ykd TERM
    shop
    end_ykd TERM
    rm -r "$state"
    mv "$work/copy" "$state" # the copy is put back
    start_ykd --state "$state"
    counts 3 ykctl alloc list
}
restart_with() { # VERSION of shop's books
    end_ykd TERM
    set_version "$books" "$1"
    start_ykd --state "$state"
}
set_version() { # FILE VERSION
    /usr/bin/python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = " + sys.argv[2])' "$@"
}

without_state() {
    end_ykd TERM
    start_ykd
    wants 0 'rm trial registered' ykctl rm register trial
    wants 0 'node x added' ykctl node add x -R memory=16Gi,vcore=8
    end_ykd TERM
    log_says 'RM trial is detached: its 1 node.* lost now; ykd --state DIR would keep them'
    start_ykd --state "$state"
    wants 0 '^shop +Running' ykctl rm list
}

# An RM that a process serves: gone, and back by itself after a restart of the daemon.
# The page shows it when it has read all of its stream (BACKLOG 0), which is a moment after it runs.
served_farm='farm +Running +by a process +[^ ]+ +0 +0 '
serve_farm() { # ARGUMENT...
    "$bin/ykctl" rm serve farm "$@" >"$work/farm.log" 2>&1 &
    other=$!
}

end_farm() {
    kill -KILL "$other"
    wait "$other" 2>/dev/null || true
}

lost() {
    serve_farm
    eventually "$served_farm" ykctl rm list
    end_farm
    eventually 'farm +Suspended +by nobody' ykctl rm list
    eventually 'farm +Lost +by nobody' ykctl rm list
    serve_farm --state "$work/lost.books" # its process is started again, and reports that it has nothing
    eventually "$served_farm" ykctl rm list
    end_farm
    wants 0 'deregistered' ykctl rm deregister farm --force
}

rehearse() {
    serve_farm --state "$work/farm.books"
    eventually "$served_farm" ykctl rm list
    wants 0 'node f1 sent' ykctl -r farm node add f1 -R memory=16Gi,vcore=8
    wants 0 'app job sent' ykctl -r farm app add job -q root.batch
    wants 0 'ask task (sent|placed on f1)' ykctl -r farm ask add job --key task -R vcore=2
    eventually 'task +job +f1' ykctl -r farm alloc list
    restart_ykd TERM
    eventually "$served_farm" ykctl rm list
    wants 0 'task +job +f1' ykctl -r farm alloc list
    step=$((step + 1))
    grep -q 'recovered: running' "$work/farm.log" || fail "rm serve should say that it recovered: $(cat "$work/farm.log")"
    kill -TERM "$other"
    wait "$other" || fail "rm serve ended with $? on SIGTERM"
    wants 0 'deregistered' ykctl rm deregister farm --force
}

damaged_books() {
    end_ykd KILL
    printf 'damage' | dd of="$(echo "$state"/books/shop-*.books)" bs=1 seek=4096 conv=notrunc status=none
    start_ykd --state "$state"
    wants 0 'the file is now .*damaged-' ykctl status
    shop
    wants 0 '^shop +Running' ykctl rm list
}

full_disk() {
    end_ykd TERM
    starter=(prlimit --fsize=100000:unlimited)
    start_ykd --state "$state"
    starter=(env)
    ykctl --timeout 3s ask add web --key filler -n 2000 -R memory=64Gi >/dev/null 2>&1 || true
    eventually 'the books of RM shop cannot be written since' ykctl status
    prlimit --pid "$daemon" --fsize=unlimited
    eventually 'web' ykctl app list
    log_says 'the books of RM shop are written again, nothing is missing'
    ykctl ask remove --all --app web >/dev/null
}

# fail_farm: an RM that reports other than it has, too often
fail_farm() {
    wants 0 'rm farm registered' ykctl rm register farm --recovery today
    wants 0 'node f1 added' ykctl -r farm node add f1 -R memory=16Gi,vcore=8
    wants 0 'farm: .*1 node' ykctl status
    wants 1 'retry' ykctl recovery 'done' farm --id today --nodes 2 --digest-nodes 0x1
    wants 0 'f1' ykctl recovery list nodes farm
    wants 1 'retry' ykctl recovery 'done' farm --id today --attempt 2 --nodes 2 --digest-nodes 0x1
    ykctl recovery 'done' farm --id today --attempt 3 --nodes 2 --digest-nodes 0x1 >/dev/null 2>&1 || true
    ykctl recovery 'done' farm --id today --attempt 4 --nodes 2 --digest-nodes 0x1 >/dev/null 2>&1 || true
    wants 1 'failed' ykctl recovery 'done' farm --id today --attempt 5 --nodes 2 --digest-nodes 0x1
    wants 0 'way out' ykctl status
}

failed() {
    local action
    for action in retry reset accept; do
        fail_farm
        wants 0 'Running' ykctl recovery resolve "$action" farm
        wants 0 'farm +Running' ykctl rm list
        wants 0 'f1' ykctl -r farm node list
        wants 0 'deregistered' ykctl rm deregister farm --force
    done
    fail_farm
    wants 0 'farm' ykctl recovery resolve abort farm
    wants 4 'not registered' ykctl rm show farm
}

silent() {
    kill -USR1 "$daemon"
    log_says 'state of every RM|RM shop: Running'
    step=$((step + 1))
    local deadline=$((SECONDS + 10))
    until compgen -G "$state/dump-*.json" >/dev/null; do
        ((SECONDS < deadline)) || fail 'there should be a dump'
        sleep 0.05
    done
}

restart
changed_file
upgrade
rollback
lost
rehearse
failed
damaged_books
full_disk
silent
without_state
stop_daemon
compare_with_page docs/operations.md Restart 'Other numbers'
echo "$step steps"
