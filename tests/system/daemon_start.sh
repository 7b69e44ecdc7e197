#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How ykd starts, and how it refuses to: each refusal names the thing and the way out, with the documented exit status.
set -euo pipefail
ykd=$YK_BIN/ykd
folder=$(mktemp -d /tmp/yk.XXXXXX)
pids=()
end() {
    for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap end EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

refused() { # STATUS TEXT ARGUMENTS...: ykd ends with STATUS and says TEXT
    local status=$1 text=$2 said code=0
    shift 2
    said=$(timeout 20 "$ykd" "$@" 2>&1) || code=$?
    [[ $code -eq $status ]] || fail "ykd $*: exit status $code, wanted $status: $said"
    [[ $said == *"$text"* ]] || fail "ykd $*: wanted '$text' in: $said"
}
started() { # SOCKET ARGUMENTS...
    local socket=$1
    shift
    "$ykd" --listen "ipc://$socket" "$@" 2>>"$folder/log" &
    pids+=($!)
    for _ in $(seq 2000); do
        if [[ -S $socket ]] && nngcat --req --dial "ipc://$socket" --data x --recv-timeout 5 >/dev/null 2>&1; then return 0; fi
        kill -0 "${pids[-1]}" 2>/dev/null || fail "ykd ended: $(cat "$folder/log")"
        sleep 0.01
    done
    fail "ykd does not answer on $socket"
}

# The address
refused 1 "the directory $folder/none is not usable" --listen "ipc://$folder/none/s"
echo precious >"$folder/file"
refused 1 "something that is no socket is in its place" --listen "ipc://$folder/file"
[[ $(cat "$folder/file") == precious ]] || fail "the file in the socket's place was touched"
refused 1 "the system's limit for sockets is 107" --listen "ipc://$folder/$(printf 'x%.0s' {1..120})"
refused 1 "addresses are /PATH, ipc://PATH" --listen abstract://ykd
refused 1 "addresses are /PATH, ipc://PATH" --listen nonsense
refused 1 "unencrypted tcp beyond this machine" --listen tcp://0.0.0.0:0
refused 1 "give --tls-cert and --tls-key" --listen tls+tcp://127.0.0.1:0
refused 1 "there is no group nosuchgroup" --listen "ipc://$folder/g" --socket-group nosuchgroup

# A second daemon, a stale socket
started "$folder/s"
[[ $(stat -c %a "$folder/s") == 600 ]] || fail "the socket's mode is $(stat -c %a "$folder/s"), not 600"
for _ in 1 2 3; do
    refused 1 "another process, probably an ykd, is serving it" --listen "ipc://$folder/s"
done
"$YK_BIN/ykctl" -s "ipc://$folder/s" ping >/dev/null || fail "the first daemon does not answer after a second was started"
kill -KILL "${pids[-1]}"
wait "${pids[-1]}" 2>/dev/null || true
[[ -S $folder/s ]] || fail "no stale socket was left, so nothing is tested"
started "$folder/s" --socket-mode 0660 --pidfile "$folder/pid"
[[ $(stat -c %a "$folder/s") == 660 ]] || fail "--socket-mode was not taken"
[[ $(cat "$folder/pid") == "${pids[-1]}" ]] || fail "--pidfile was not written"
kill -TERM "${pids[-1]}"
wait "${pids[-1]}" || fail "exit status $? after TERM"
[[ ! -e $folder/s && ! -e $folder/pid ]] || fail "socket or pid file were left behind"

# A path without its scheme, and a line for whoever waits until it listens
refused 2 "--ready-fd 99: no descriptor of this number is open for writing" --ready-fd 99
refused 2 "--ready-fd x: the number of a descriptor is wanted" --ready-fd x
refused 2 "--ready-fd 0: no descriptor of this number is open for writing" --ready-fd 0 <"$folder/file"
mkfifo "$folder/ready"
"$ykd" --listen "$folder/s" --ready-fd 7 7>"$folder/ready" 2>>"$folder/log" &
pids+=($!)
[[ $(timeout 20 cat "$folder/ready") == ready ]] || fail "--ready-fd: no line came, or the descriptor was not closed"
"$YK_BIN/ykctl" -s "$folder/s" --timeout 1s ping >/dev/null || fail "it said ready and does not answer"
(cd "$folder" && "$YK_BIN/ykctl" -s ./s ping >/dev/null) || fail "a path that begins with ./ is no address"
kill -TERM "${pids[-1]}"
wait "${pids[-1]}" || fail "exit status $? after TERM"

# Configuration and settings
printf 'partitions:\n  - name: default\n    queues:\n      - name: root\n        maxapplication: 3\n' >"$folder/wrong.yaml"
refused 78 "$folder/wrong.yaml:5:9" --listen "ipc://$folder/s" --config "$folder/wrong.yaml"
refused 78 "did you mean" --check-config "$folder/wrong.yaml"
refused 78 "$folder/wrong.yaml:5:9" --check-config --config "$folder/wrong.yaml"
refused 78 "cannot read $folder/missing.yaml" --check-config "$folder/missing.yaml"
"$ykd" --dump-default-config >"$folder/default.yaml"
refused 0 "$folder/default.yaml: ok" --check-config "$folder/default.yaml"
echo 'maxSession: 5' >"$folder/ykd.conf"
refused 78 "$folder/ykd.conf:1:1: unknown key \"maxSession\", did you mean \"maxSessions\"?" --settings "$folder/ykd.conf"
printf 'maxSession: 5\nlivenessTimeout: x\n' >"$folder/ykd.conf"
refused 78 "$folder/ykd.conf:1:1: unknown key" --settings "$folder/ykd.conf"
refused 78 "ykd: $folder/ykd.conf:2:18: livenessTimeout" --settings "$folder/ykd.conf"
refused 78 "cannot read the settings file $folder/missing" --settings "$folder/missing"
echo 'rm *' >"$folder/tokens"
chmod 600 "$folder/tokens"
refused 78 "$folder/tokens:1: a token line is" --listen "ipc://$folder/s" --tokens "$folder/tokens"
chmod 644 "$folder/tokens"
refused 78 "closed to others" --listen "ipc://$folder/s" --tokens "$folder/tokens"
refused 78 "$folder/none: cannot read the token file: No such file" --listen "ipc://$folder/s" --tokens "$folder/none"
refused 78 "$folder/none: cannot read the certificate: No such file" --listen "ipc://$folder/s" \
    --tls-cert "$folder/none" --tls-key "$folder/none"
refused 78 "$folder/file: TLS refuses the certificate or its key" --listen "ipc://$folder/s" \
    --tls-cert "$folder/file" --tls-key "$folder/file"
refused 78 "cannot read $folder/none: No such file" --listen "ipc://$folder/s" --config "$folder/none"
refused 1 "cannot write the pid file $folder/none/pid: No such file" --listen "ipc://$folder/s" --pidfile "$folder/none/pid"
[[ ! -e $folder/s ]] || fail "it listened before the pid file was looked at"
refused 1 "the directory $folder/none is not usable: No such file" --listen "ipc://$folder/s" --log-target "$folder/none/log"
[[ ! -e $folder/none ]] || fail "--log-target made a directory"
refused 1 "$folder/file/log" --listen "ipc://$folder/s" --log-target "$folder/file/log"

refused 1 "the state directory $folder/none cannot be used: No such file" --listen "ipc://$folder/s" --state-dir "$folder/none"
refused 1 "the state directory $folder/file is no directory" --listen "ipc://$folder/s" --state-dir "$folder/file"
echo "stateDir: $folder/none" >"$folder/ykd.conf"
refused 1 "the state directory $folder/none cannot be used" --listen "ipc://$folder/s" --settings "$folder/ykd.conf"
STATE_DIRECTORY=$folder/none refused 1 "the state directory $folder/none cannot be used" --listen "ipc://$folder/s"

# Directories of others (A9, A10)
mkdir -m 0777 "$folder/open" # without the sticky bit: as open as /tmp, and more
ln -s "$folder/file" "$folder/open/log"
refused 1 "is a symbolic link in $folder/open, where everybody may write" --listen "ipc://$folder/s" --log-target "$folder/open/log"
[[ $(cat "$folder/file") == precious ]] || fail "the log went through a link of somebody else's"
stranger=64321
if [[ $(id -u) -eq 0 ]] && setpriv --reuid "$stranger" --clear-groups "$ykd" --version >/dev/null 2>&1; then
    mkdir -m 0777 "/tmp/ykd-$stranger"
    said=$(setpriv --reuid "$stranger" --clear-groups env -u XDG_RUNTIME_DIR timeout 20 "$ykd" 2>&1) && fail "it listens in /tmp/ykd-$stranger of root"
    rmdir "/tmp/ykd-$stranger"
    [[ $said == *"/tmp/ykd-$stranger is not a directory of yours alone"* ]] || fail "ykd says: $said"
fi

# Usage
refused 2 "unknown option '--lisen'; did you mean --listen?" --lisen ipc:///x
refused 2 "unknown option '--confg'; did you mean --config?" x --confg
refused 2 "unknown option '--confg'; did you mean --config?" --confg=x
refused 2 "unexpected argument 'stray'" stray
refused 2 "see ykd --help" stray
refused 2 "--listen needs a value: --listen URL" --listen
refused 2 "--pidfile is given more than once" --pidfile a --pidfile b
refused 2 "--max-sessions x: a whole number is wanted" --max-sessions x
refused 2 "--max-sessions -1: a whole number is wanted" --max-sessions=-1
refused 2 "--clock virtul: real or virtual is wanted; did you mean virtual?" --clock virtul
refused 2 "nothing to check; name a FILE or --config" --check-config
: >"$folder/ykd.conf"
refused 0 "$folder/ykd.conf: ok" --check-config --settings "$folder/ykd.conf"
refused 2 "an octal mode" --socket-mode 999
refused 2 "--max-message" --max-message 1TB
refused 2 "--max-sessions: at least 1" --max-sessions 0
refused 2 "--clock" --clock lunar
refused 2 "--log-level loud" --log-level loud
refused 0 "ykd 0" --version
refused 0 "--manual-schedule" --help
