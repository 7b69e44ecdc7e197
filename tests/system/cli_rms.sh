#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An RM that has something is not emptied by a registration (B4), its process may come and go (B4, B13), and a daemon that
# is dead, stopped or does not let in is called so (B10, B14). Names do not command the terminal (A10).
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"
server=

stop_server() { # SIGNAL
    kill "-$1" "$server"
    wait "$server" 2>/dev/null || true
    server=
}

# serve ARGUMENT...: rm serve in the background; its messages go to $work/told, its notes to $work/notes
serve() {
    "$bin/ykctl" rm serve "$@" >"$work/told" 2>"$work/notes" &
    server=$!
}

answers() { ykctl ping >/dev/null 2>&1; }
is_served() { ykctl rm list | grep -qE "^$1 +[A-Za-z]+ +$2 "; } # RM, by a process or by nobody
was_told() { grep -qE "$1" "$work/told"; }

an_rm_with_work() {
    says 'rm a registered, ' rm register a
    says 'node n added' node add n -R vcore=50
    says 'app x accepted' app add x --tag namespace=t
    says 'ask k-3 added' ask add x -n 3 --key k -R vcore=1
    says 'allocations' sched step 5
}

nothing_is_dropped_by_mistake() { # B4
    expect 1 'RM a has 1 node, 1 application and 3 allocations, which a registration would drop \(E_BUSY_STATE\)' rm register a
    says '1 node, 1 application, 3 allocations' status
    expect 1 'drop all of it:  --force      leave it as it is:  --if-not-registered' rm register a
    expect 1 'RM a is detached and has 1 node' rm serve a
    says 'rm a is registered already, nothing was changed' rm register a --if-not-registered
    says 'registered already; nothing was changed' rm serve a --if-not-registered
    says '1 node, 1 application, 3 allocations' status
    expect 2 'either --force or --if-not-registered' rm register a --force --if-not-registered
    says 'rm a registered anew, emptied' rm register a --force
    says '0 nodes, 0 applications, 0 allocations' status
    checks=$((checks + 1))
    grep -q 'RM a registers anew, which drops 1 node, 1 application and 3 allocations' "$work/log" ||
        fail "the log does not say what was lost"
    says 'rm a registered anew, emptied' rm register a # has nothing: as before
    says 'rm a deregistered' rm deregister a
}

a_process_goes_and_comes_back() { # B4, B13
    serve s
    within_20_s "rm serve does not register" is_served s 'by a process'
    ykctl -r s node add n1 -R vcore=50 >/dev/null
    within_20_s "the process is not told" was_told 'accepted *n1'
    expect 1 'RM s is served by another process and has 1 node' rm serve s
    stop_server KILL
    within_20_s "a process that was killed still serves" is_served s 'by nobody' # B13
    ykctl -r s node add n2 -R vcore=50 >/dev/null
    serve s
    within_20_s "what was told meanwhile is lost" was_told 'accepted *n2'
    within_20_s "the new process does not serve" is_served s 'by a process'
    checks=$((checks + 1))
    grep -q 'serving s again, with what it has' "$work/notes" || fail "rm serve does not say that it goes on: $(cat "$work/notes")"
    [[ $(ykctl -r s node list -o name | wc -l) -eq 2 ]] || fail "rm serve dropped the nodes"
    stop_server INT
    within_20_s "a process that was interrupted still serves" is_served s 'by nobody'
    serve s --force
    within_20_s "rm serve --force does not register" is_served s 'by a process'
    [[ $(ykctl -r s node list -o name | wc -l) -eq 0 ]] || fail "rm serve --force kept the nodes"
    stop_server TERM
    says 'rm s deregistered' rm deregister s --force
}

# within MS STATUS TEXT ARGUMENT...: as expect, in so many milliseconds of the clock
within() {
    local most=$1 begun
    shift
    begun=$(date +%s%N)
    expect "$@"
    local took=$((($(date +%s%N) - begun) / 1000000))
    [[ $took -lt $most ]] || fail "ykctl ${*:3} took $took ms"
}

a_daemon_that_does_not_answer() { # B14
    kill -STOP "$daemon"
    expect 3 'slow or stopped' --timeout 300ms status
    kill -CONT "$daemon"
    within_20_s "the daemon does not go on" answers
    expect 2 'nothing can be asked in no time' --timeout 0 status
}

somebody_who_is_not_let_in() { # B14
    [[ $(id -u) -eq 0 ]] || return 0
    chmod 0755 "$work"
    chmod 0666 "$work/s"
    setpriv --reuid 65534 --clear-groups "$bin/ykctl" ping >/dev/null 2>&1 && fail "uid 65534 is let in"
    checks=$((checks + 1))
    local status=0
    setpriv --reuid 65534 --clear-groups "$bin/ykctl" ping >"$work/out" 2>&1 || status=$?
    [[ $status -eq 5 ]] || fail "not let in ended with $status: $(cat "$work/out")"
    grep -q 'setting peers' "$work/out" || fail "no way out is named: $(cat "$work/out")"
}

names_that_turn_the_line() { # A10
    local name=$'x\xc2\x9b31m\xe2\x80\xae'
    ykctl rm register a >/dev/null
    ykctl node add "$name" -R "vcore=1,$name=1" >/dev/null
    for words in metrics 'dump all' 'node list' 'node list -o json' 'node list -o yaml' events "node show $name" \
        'partition show' 'config show' 'rm log'; do
        checks=$((checks + 1))
        # shellcheck disable=SC2086 # several words
        if ykctl $words | LC_ALL=C grep -qP '\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]'; then
            fail "ykctl $words hands what a terminal obeys on"
        fi
    done
    ykctl rm deregister a
}

a_dead_daemon() { # B10
    kill -KILL "$daemon"
    wait "$daemon" 2>/dev/null || true
    daemon=
    within 2000 3 'left over from one that ended' status
    within 2000 3 'refused' -s tcp://127.0.0.1:1 status
}

# shellcheck disable=SC2119 # the script has no arguments to hand on
start_ykd
for part in an_rm_with_work nothing_is_dropped_by_mistake a_process_goes_and_comes_back a_daemon_that_does_not_answer \
    somebody_who_is_not_let_in names_that_turn_the_line a_dead_daemon; do
    "$part"
done
echo "$checks checks"
