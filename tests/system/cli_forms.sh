#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every list and every object in every form of -o; what is left over of the command tree: user, group, help, --trace-wire.
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

start_ykd --log-level info
{
    ykctl rm register demo
    ykctl node add n --count 2 -R memory=8Gi,vcore=4
    ykctl app add web -q root.default -u kim:staff --tag namespace=team
    ykctl ask add web --key k -n 3 -R memory=1Gi,vcore=2
    ykctl sched step 10
    ykctl ask add web --key huge -R vcore=100
    ykctl sched step 10
} >"$work/out"

# read_as FORM: standard input is what -o FORM promises
read_as() {
    /usr/bin/python3 -c '
import json, sys
form, text = sys.argv[1], sys.stdin.read()
if form == "jsonl":
    [json.loads(line) for line in text.splitlines() if line]
elif form == "json":
    whole = json.loads(text)
    assert whole["schema"] == 1 and ("items" in whole or "item" in whole), whole
else:
    lines = text.splitlines()
    assert lines[0] == "schema: 1" and lines[1].split(":")[0] in ("items", "item"), text' "$1"
}

for what in "rm list" "node list" "queue list" "queue tree" "app list" "ask list" "alloc list" "partition list" "user list" \
    "group list" "config history" "events" "metrics" "status" "rm show" "node show n-1" "queue show root.team" "app show web" \
    "ask show huge" "alloc show k-1" "partition show default" "user show kim" "explain ask huge" "explain app web" \
    "explain queue root.team" "health" "ping" "log level"; do
    # shellcheck disable=SC2086
    for form in table wide json jsonl yaml name; do
        checks=$((checks + 1))
        said=$(ykctl $what -o $form 2>&1) || fail "ykctl $what -o $form: $said"
        [[ -n $said || $form == jsonl || $form == name ]] || fail "ykctl $what -o $form says nothing"
        case $form in json | jsonl | yaml) read_as $form <<<"$said" || fail "ykctl $what -o $form: $said" ;; esac
    done
done

says "^user: +kim" user show kim
expect 4 "user 'kin' not found" user show kin
expect 4 "group 'none' not found" group show none
says '^all +info +-$' log level # --log-level, no setting
says '^core.config +debug +yes$' log level core.config debug
says '^core.config +debug +yes$' log level
says '^wire +info +-$' log level wire
says '^wire +warn +yes$' log level wire warn
says '^wire.session +warn +-$' log level wire.session # its parent's
says '^core.config +debug +yes$' log level core.config # stays
expect 4 "there is no logger 'core.confg'; did you mean 'core.config'" log level core.confg
expect 4 'ykctl log level all debug' log level debug
expect 2 "'loud' is not one of" log level wire loud

says "powers of 1024" help quantities
says "exit code|Exit codes" help exit-codes
expect 2 "did you mean" help quantites
expect 0 "Hello" --trace-wire ping
echo "$checks checks"
