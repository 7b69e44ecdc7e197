#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --spawn: the private daemon and its directory are gone however ykctl ends; and the exit codes of scenario run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${YK_BIN:-$PWD/build/bin}
work=$(mktemp -d /tmp/yk-spawn.XXXXXX)
export NO_COLOR=1 XDG_CONFIG_HOME=$work YKD=$work/ykd
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# The daemon's process id and address, as a private daemon is started.
cat >"$YKD" <<SCRIPT
#!/bin/sh
echo "\$\$ \$2" >"$work/started"
exec "$bin/ykd" "\$@"
SCRIPT
chmod +x "$YKD"

gone() { # the daemon noted in $work/started and its directory
    local pid url directory
    read -r pid url <"$work/started"
    directory=$(dirname "${url#ipc://}")
    for _ in $(seq 250); do
        if [[ ! -e /proc/$pid && ! -e $directory ]]; then return; fi
        sleep 0.02
    done
    fail "left behind: process $pid or $directory ($1)"
}

cat >"$work/pass.yaml" <<'YAML'
name: passes
steps: [{register: {config: ""}}, {cycles: 1}, {expect: {allocations: 0}}]
YAML
cat >"$work/fail.yaml" <<'YAML'
name: fails
steps: [{register: {config: ""}}, {expect: {within: 10ms, allocations: 1}}]
YAML
cat >"$work/long.yaml" <<'YAML'
name: waits
schedule: auto
steps: [{register: {config: ""}}, {wait: 10m}]
YAML
cat >"$work/bad.yaml" <<'YAML'
name: bad
steps: [{pods: 1}]
YAML

run() { # STATUS OUTPUT FILE...
    local wanted=$1 text=$2 said status=0
    shift 2
    said=$("$bin/ykctl" scenario run "$@" 2>&1) || status=$?
    [[ $status -eq $wanted ]] || fail "scenario run $* ended with $status, not $wanted: $said"
    grep -qF -- "$text" <<<"$said" || fail "scenario run $* does not say '$text': $said"
}

run 0 "PASS $work/pass.yaml" --spawn "$work/pass.yaml"
gone 'passed'
run 1 '  step 2: allocations: wanted 1, found 0' --spawn "$work/fail.yaml" "$work/pass.yaml"
gone 'failed'
run 2 "$work/bad.yaml:2:10: unknown action \"pods\"" --spawn "$work/bad.yaml" "$work/fail.yaml"
run 2 "FAIL $work/fail.yaml" --spawn -j 2 "$work/bad.yaml" "$work/fail.yaml"
run 2 "$work/none.yaml" --spawn "$work/none.yaml"

# In file order, whatever is ready first.
order=$("$bin/ykctl" scenario run --spawn -j 3 "$work/fail.yaml" "$work/pass.yaml" "$work/fail.yaml" | grep -v '^ ' | cut -d' ' -f1 |
    tr '\n' ' ' || true)
[[ $order == 'FAIL PASS FAIL ' ]] || fail "not in file order: $order"

# Ended by a signal, and killed; often while the daemon is being started.
for signal in $(for _ in $(seq 15); do echo TERM HUP; done) KILL; do
    rm -f "$work/started"
    begin=$SECONDS
    "$bin/ykctl" scenario run --spawn "$work/long.yaml" >/dev/null 2>&1 &
    pid=$!
    until [[ -s $work/started || $((SECONDS - begin)) -gt 20 ]]; do :; done
    [[ -s $work/started ]] || fail "no private daemon was started"
    kill -"$signal" "$pid"
    wait "$pid" 2>/dev/null && fail "SIG$signal did not end ykctl"
    if [[ $signal == KILL ]]; then
        read -r started _ <"$work/started"
        for _ in $(seq 250); do [[ -e /proc/$started ]] || break; sleep 0.02; done
        [[ ! -e /proc/$started ]] || fail "the private daemon outlived a killed ykctl"
        rm -rf "$(sed 's/.*ipc:\/\///; s/\/[^\/]*$//' "$work/started")"
    else
        gone "SIG$signal"
    fi
done

# A daemon that cannot start says why.
printf '#!/bin/sh\necho "this one is broken" >&2\nexit 7\n' >"$YKD"
run 2 'this one is broken' --spawn "$work/pass.yaml"
run 2 'status 7' --spawn "$work/pass.yaml"
YKD=$work/nowhere run 2 "$work/nowhere" --spawn "$work/pass.yaml"

# A running daemon with another schedule or clock is not played.
"$bin/ykd" --listen "ipc://$work/s" 2>/dev/null &
daemon=$!
trap 'kill -TERM "$daemon" 2>/dev/null; wait "$daemon" || true; rm -rf "$work"' EXIT
for _ in $(seq 250); do [[ -S $work/s ]] && break; sleep 0.02; done
status=0
said=$("$bin/ykctl" -s "ipc://$work/s" scenario run "$work/pass.yaml" 2>&1) || status=$?
[[ $status -eq 2 ]] || fail "another schedule: ended with $status: $said"
grep -q 'schedule: manual' <<<"$said" || fail "another schedule: $said"
