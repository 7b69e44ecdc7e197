# SPDX-License-Identifier: Apache-2.0
# What the demos share: a private daemon in a folder of its own, and commands shown as one would type them.
# Read by the scripts beside it, which stand in the root of the repository by then.
bin=${YK_BIN:-$PWD/build/bin}
work=$(mktemp -d /tmp/yk-demo.XXXXXX)
export YKCTL_SOCKET=ipc://$work/ykd.sock YKCTL_COLOR=${YKCTL_COLOR:-always}
daemon=

start_daemon() { # ARGUMENT...: of ykd
    "$bin/ykd" --listen "$YKCTL_SOCKET" --log-level warn "$@" 2>>"$work/ykd.log" &
    daemon=$!
    wait_for_daemon
}

stop_daemon() {
    if [[ -n $daemon ]]; then
        kill -TERM "$daemon" 2>/dev/null || true
        wait "$daemon" || true
        daemon=
    fi
}

clean_up() {
    local status=$?
    stop_daemon
    if [[ $status -ne 0 && -s $work/ykd.log ]]; then sed 's/^/ykd: /' "$work/ykd.log" >&2; fi
    rm -rf "$work"
    exit "$status"
}
trap clean_up EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

show() { # ykctl ARGUMENT...: the command as one would type it, then what it says
    local word line='$ ykctl'
    for word in "$@"; do
        case $word in *[!A-Za-z0-9_=.,:/@%+-]*) line+=" '$word'" ;; *) line+=" $word" ;; esac
    done
    printf '%s\n' "$line"
    "$bin/ykctl" "$@"
}

wait_for_daemon() { # at most 10 s
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        if "$bin/ykctl" ping >/dev/null 2>&1; then return; fi
        kill -0 "$daemon" 2>/dev/null || break
        sleep 0.1
    done
    echo "demo: ykd did not start" >&2
    return 1
}

until_true() { # WHAT COMMAND...: waits until the command succeeds, at most a minute
    local what=$1 tries
    shift
    for ((tries = 0; tries < 600; tries++)); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    echo "demo: $what did not come" >&2
    return 1
}
