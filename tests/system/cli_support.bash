# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the tests share that drive a private ykd by ykctl: sourced, not run. It goes to the root of the repository, makes a
# work folder that is gone in the end, and points ykctl at a socket in there.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
bin=${YK_BIN:-$PWD/build/bin}
work=$(mktemp -d /tmp/yk.XXXXXX)
export YKCTL_SOCKET=ipc://$work/s NO_COLOR=1 XDG_CONFIG_HOME=$work
daemon=
checks=0

clean_up() {
    local status=$?
    if [[ -n $daemon ]] && kill -TERM "$daemon" 2>/dev/null; then wait "$daemon" || true; fi
    if [[ $status -ne 0 && -s $work/log ]]; then sed 's/^/ykd: /' "$work/log" | tail -20 >&2; fi
    rm -rf "$work"
    exit "$status"
}
trap clean_up EXIT

ykctl() { "$bin/ykctl" "$@"; }

fail() {
    echo "check $checks: $*" >&2
    exit 1
}

# start_ykd ARGUMENT...: a daemon that schedules by hand and has a virtual clock, so that there is nothing to wait for
start_ykd() {
    "${YKD:-$bin/ykd}" --listen "$YKCTL_SOCKET" --manual-schedule --clock virtual "$@" 2>"$work/log" &
    daemon=$!
    local deadline=$((SECONDS + 20))
    until ykctl ping --quiet >/dev/null 2>&1; do
        kill -0 "$daemon" 2>/dev/null || fail "ykd ended"
        ((SECONDS < deadline)) || fail "ykd does not answer"
        sleep 0.05
    done
}

# expect STATUS TEXT ARGUMENT...: ykctl ends so, and its output has a line that matches TEXT (extended regular expression)
expect() {
    local wanted=$1 text=$2 said status=0
    shift 2
    checks=$((checks + 1))
    said=$(ykctl "$@" 2>&1) || status=$?
    [[ $status -eq $wanted ]] || fail "ykctl $* ended with $status, not $wanted: $said"
    grep -qE -- "$text" <<<"$said" || fail "ykctl $* does not say '$text': $said"
}

# says TEXT ARGUMENT...: as expect, with success
says() { expect 0 "$@"; }

# json EXPRESSION EXPECTED ARGUMENT...: a Python expression of `d`, the document that ykctl prints
json() {
    local expression=$1 wanted=$2 found
    shift 2
    checks=$((checks + 1))
    found=$(ykctl "$@" | /usr/bin/python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' \
        "$expression")
    [[ $found == "$wanted" ]] || fail "ykctl $*: $expression is '$found', not '$wanted'"
}

# within_20_s WHAT COMMAND...: the command succeeds at last, or the test fails with WHAT
within_20_s() {
    local what=$1 deadline=$((SECONDS + 20))
    shift
    checks=$((checks + 1))
    until "$@"; do
        ((SECONDS < deadline)) || fail "$what"
        sleep 0.05
    done
}
