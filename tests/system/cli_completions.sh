#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The committed completions are what `ykctl completion` prints, are sound scripts, and complete in bash and fish.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
ykctl=${YK_BIN:-$PWD/build/bin}/ykctl

fail() {
    echo "$*" >&2
    exit 1
}

declare -A files=([bash]=ykctl.bash [zsh]=_ykctl [fish]=ykctl.fish)
for shell in bash zsh fish; do
    file=completions/${files[$shell]}
    diff -u "$file" <("$ykctl" completion "$shell") || fail "$file is out of date: ykctl completion $shell > $file"
    if command -v "$shell" >/dev/null; then "$shell" -n "$file" || fail "$file is no sound $shell"; fi
done

# shellcheck source=/dev/null
source completions/ykctl.bash

# in_bash EXPECTED WORD...: what bash offers for the last word
in_bash() {
    local expected=$1
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _ykctl || true # compgen fails when it finds nothing
    [[ ${COMPREPLY[*]} == "$expected" ]] || fail "bash: '$*' offers '${COMPREPLY[*]}', not '$expected'"
}

in_bash 'node' ykctl no
in_bash 'add list show update drain undrain remove' ykctl node ''
in_bash '--watch' ykctl -s ipc:///x node ls --w
in_bash 'json jsonl' ykctl node ls --watch -o j
in_bash '/etc/hostname' ykctl rm serve --output /etc/hostn # of this command, not the form of output
in_bash 'Running Resuming Rejected' ykctl app list --state R
in_bash 'bash zsh fish' ykctl completion ''
in_bash '' ykctl replay gen --nodes '' # a number here, a file without gen
in_bash '/etc/hostname' ykctl replay --nodes /etc/hostn
in_bash 'add' ykctl --rm node node a # the value of an option is no command

# Names from the daemon, which are never taken for a command; and nothing, at once, without one.
folder=$(mktemp -d /tmp/yk.XXXXXX)
"${ykctl%ctl}d" --listen "$folder/s" 2>"$folder/log" &
pid=$!
# shellcheck disable=SC2064 # now
trap "kill $pid 2>/dev/null || true; rm -rf $folder" EXIT
PATH=${ykctl%/*}:$PATH
"$ykctl" -s "$folder/s" wait daemon >/dev/null
"$ykctl" -s "$folder/s" rm register a --quiet
# shellcheck disable=SC2016 # that is what it is called
for name in n-1 n-2 m 'n-$(touch hacked)'; do "$ykctl" -s "$folder/s" node add "$name" -R vcore=4 --quiet; done
"$ykctl" -s "$folder/s" app add job --tag namespace=team --quiet
"$ykctl" -s "$folder/s" ask add job --key k1 -R vcore=1 --quiet
# shellcheck disable=SC2016
in_bash 'n-$(touch hacked) n-1 n-2' ykctl -s "$folder/s" node show n-
[[ ! -e hacked ]] || fail "bash: a name was taken for a command"
in_bash 'm' ykctl --socket "$folder/s" node drain n-1 m
in_bash 'job' ykctl -s "$folder/s" alloc list --app j
in_bash 'root.team' ykctl -s "$folder/s" queue show root.
in_bash 'k1' ykctl -s "$folder/s" alloc show ''
in_bash 'default' ykctl -s "$folder/s" node list -p d
in_bash 'a' ykctl -s "$folder/s" rm show ''
in_bash 'node/m' ykctl -s "$folder/s" wait node/m
in_bash '' ykctl -s "$folder/s" node add '' # a new one
in_bash '' ykctl -s "$folder/none" node show ''

# The daemon's: what its --help has.
# shellcheck source=/dev/null
source completions/ykd.bash
COMP_WORDS=("${ykctl%ctl}d" --web)
COMP_CWORD=1
_ykd
[[ ${COMPREPLY[*]} == --web-root ]] || fail "bash: 'ykd --web' offers '${COMPREPLY[*]}'"
for file in completions/_ykd:zsh completions/ykd.fish:fish; do
    if command -v "${file#*:}" >/dev/null; then "${file#*:}" -n "${file%:*}" || fail "${file%:*} is no sound ${file#*:}"; fi
done

# in_fish EXPECTED LINE
in_fish() {
    local found
    # shellcheck disable=SC2016 # fish expands it
    found=$(fish -c 'source completions/ykctl.fish; complete -C $argv[1] | string replace -r "\t.*" "" | string join " "' \
        "$2") || true # string join of one is status 1
    [[ $found == "$1" ]] || fail "fish: '$2' offers '$found', not '$1'"
}

if command -v fish >/dev/null; then
    in_fish 'node' 'ykctl no'
    in_fish 'add drain list remove show undrain update' 'ykctl node '
    in_fish '--watch' 'ykctl -s ipc:///x node ls --w'
    in_fish 'json jsonl' 'ykctl node ls -o j'
    in_fish 'Rejected Resuming Running' 'ykctl app list --state R'
    # shellcheck disable=SC2016
    in_fish 'n-$(touch hacked) n-1 n-2' "ykctl -s $folder/s node show n-"
    in_fish 'job' "ykctl -s $folder/s alloc list --app j"
    [[ ! -e hacked ]] || fail "fish: a name was taken for a command"
fi
