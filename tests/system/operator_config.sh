#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The operator's side of configuration, while work runs: C-440, C-443, C-445, C-462, C-469 (SIGHUP, --watch-config),
# C-471, C-473, B-04, B-06, B-07, B-12. Every change is made by ykctl or by a file, and every refusal changes nothing.
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

has_logged() { grep -qE -- "$1" "$work/log"; }
logged() { within_20_s "ykd did not log '$1'" has_logged "$1"; } # TEXT
active_max() { # of root.a, in thousandths of a core
    ykctl queue show root.a -o json | /usr/bin/python3 -c \
        'import json, sys; print(json.load(sys.stdin)["item"].get("maxResource", {}).get("vcore", "none"))'
}
is_max() { [[ $(active_max) == "$1" ]]; }
has_max() { # NUMBER: now
    checks=$((checks + 1))
    is_max "$1" || fail "root.a has max $(active_max), not $1"
}
gets_max() { within_20_s "root.a does not get max $1" is_max "$1"; } # NUMBER
configuration() { # MAXIMUM_OF_A [MORE_QUEUES]
    cat <<YAML
partitions:
- name: default
  queues:
  - name: root
    submitacl: "*"
    queues:
    - {name: a, resources: {max: {vcore: $1}}}
    ${2:-}
YAML
}

work_runs() {
    configuration 8 '- name: b' >"$work/queues.yaml"
    start_ykd --config "$work/queues.yaml" --watch-config
    says 'rm demo registered' rm register demo
    says 'node n1 added' node add n1 -R vcore=16
    says 'accepted' app add web -q root.a
    says 'accepted' app add batch -q root.b
    says '.' ask add web -R vcore=2 -n 3
    says '.' ask add batch -R vcore=2 -n 2
    says '.' sched step 10
}

what_a_reload_would_do() {
    configuration 4 '- name: c' >"$work/next.yaml"
    expect 8 'default root.c: leaf queue is added' config diff "$work/next.yaml"
    expect 8 'default root.b: queue drains' config diff "$work/next.yaml"
    expect 8 'root.a: .* are allocated, above the new maximum' config diff "$work/next.yaml"
    expect 8 'root.b: 1 application, which goes on' config diff "$work/next.yaml"
    says 'leaf queue is added' config reload --dry-run -f "$work/next.yaml"
    has_max 8000 # nothing was done
    configuration 8 '- {name: b, parent: true}' >"$work/type.yaml"
    expect 1 'it has 1 application, it cannot become a parent' config diff "$work/type.yaml"
    expect 1 'root.b has applications, it cannot become a parent' config reload -f "$work/type.yaml"
    expect 1 'type.yaml: error: the daemon refuses it: .*root.b has applications' config check "$work/type.yaml"
    expect 1 'the daemon refuses it: .*root.b has applications' -s "$YKCTL_SOCKET" config check "$work/type.yaml"
    says 'type.yaml: ok' config check --offline "$work/type.yaml"
    YKCTL_SOCKET='' says 'type.yaml: ok' config check "$work/type.yaml" # none is named, none is looked for
    YKCTL_SOCKET=ipc://$work/none says 'the daemon was not asked: cannot reach' config check "$work/type.yaml"
    expect 3 'cannot reach' -s "ipc://$work/none" config check "$work/type.yaml"
    checks=$((checks + 1))
    if ykctl config check "$work/type.yaml" | grep -q 'ok'; then fail 'what the daemon refuses is called ok'; fi
    logged 'configuration refused, the old one stays: .*root.b has applications'
    has_max 8000
}

reload_and_back() {
    says 'configuration of demo reloaded' config reload -f "$work/next.yaml"
    has_max 4000
    says 'Draining' queue show root.b
    says 'unchanged' config reload -f "$work/next.yaml"
    says 'yes +request of' config history
    says 'no +file ' config history
    says 'root.c: queue drains' config rollback --dry-run
    says 'reloaded' config rollback
    has_max 8000
    says 'Active' queue show root.b
    expect 4 'no configuration FFFF of RM demo is kept' config rollback FFFF
}

a_refusal_changes_nothing() {
    printf 'partitions: [{queues: [{name: a, resources: {max: {vcore: 12q}}}]}]\n' >"$work/bad.yaml"
    expect 1 'bad.yaml:1:.*12q' config check "$work/bad.yaml"
    expect 1 'update of configuration failed: .*12q' config reload -f "$work/bad.yaml" --extra log.level=debug
    logged 'RM demo: configuration refused, the old one stays: .*12q'
    says "last reload: +refused at 20[-0-9]+T.*, $work/bad.yaml:1:[0-9]+: .*12q" status
    says "\"lastReload\":.*\"ok\":false,\"reason\":\"$work/bad.yaml:1:" -o jsonl status
    configuration 12q '- {name: a}' >"$work/two.yaml" # two faults
    local file=$work/two.yaml command
    for command in "config reload -f" "config reload --dry-run -f" "config diff" "rm register demo --config" \
        "rm serve demo --config"; do
        # shellcheck disable=SC2086 # words of a command
        expect 1 "ykctl: .*$file:8:[0-9]+: .*duplicate child name" $command "$file"
        # shellcheck disable=SC2086
        expect 1 "^  $file:7:[0-9]+: error: .*12q" $command "$file"
        # shellcheck disable=SC2086
        expect 1 '"details":.*"line":8' -o json $command "$file"
    done
    expect 1 'standard input:8:' config diff - <"$file"
    says 'web' app list # the RM has all it had
    expect 2 "a file\?  ykctl config reload -f x.yaml" config reload x.yaml
    has_max 8000
    checks=$((checks + 1))
    if ykctl config show | grep -q log.level; then fail "a refused update left its extraConfig"; fi
}

warnings_are_shown() {
    configuration 8 '- {name: b, properties: {priority.ofset: "3"}}' >"$work/warn.yaml"
    says 'warning:.*priority.ofset' config reload -f "$work/warn.yaml"
    logged 'core.config: RM demo: .*priority.ofset'
    says 'reloaded' config rollback
}

extra_config() { # C-460: absent leaves, present replaces
    says 'unchanged|reloaded' config reload -f "$work/queues.yaml" --extra event.maxStreams=0 --extra x.y=z
    logged 'extraConfig: x.y: unknown key'
    expect 1 'streams' --timeout 1s events --follow
    says 'reloaded' config reload -f "$work/next.yaml"
    says '^# .*event.maxStreams' config show
    says 'reloaded' config reload -f "$work/queues.yaml" --extra log.core.config.level=debug
    checks=$((checks + 1))
    if ykctl config show | grep -q maxStreams; then fail "extraConfig was not replaced as a whole"; fi
}

canonical_form() {
    ykctl config show >"$work/shown.yaml"
    says 'ok' config check "$work/shown.yaml"
    says 'reloaded|unchanged' config reload -f "$work/shown.yaml"
    ykctl config show >"$work/again.yaml"
    checks=$((checks + 1))
    diff <(grep -v '^checksum' "$work/shown.yaml") <(grep -v '^checksum' "$work/again.yaml") || fail "config show is not stable"
    says 'no changes' config diff "$work/shown.yaml"
}

files() {
    says 'RM demo: new configuration is active' config reload --from-file
    has_max 8000
    says 'no changes' config diff
    configuration 5 '- name: b' >"$work/queues.yaml"
    kill -HUP "$daemon"
    gets_max 5000
    configuration 6 '- name: b' >"$work/new" && mv "$work/new" "$work/queues.yaml"
    gets_max 6000 # --watch-config
    says 'reloaded' config rollback
    expect 8 'root.a' config diff # with the daemon's file
    says 'RM demo: keeps its own' config reload
    says 'RM demo: new configuration is active' config reload --from-file
    has_max 6000
    cp "$work/bad.yaml" "$work/new" && mv "$work/new" "$work/queues.yaml"
    logged "$work/queues.yaml:1:.*12q"
    logged "reload failed: .*$work/queues.yaml is refused; RM demo: keeps its configuration"
    within_20_s "status does not show the refusal" shows_refusal
    says "reason\":\"$work/queues.yaml:1:" -o jsonl status
    expect 1 "$work/queues.yaml:1:[0-9]+: .*12q" config diff
    has_max 6000
    says 'reloaded|unchanged' config rollback
    says 'last reload: +[0-9.]+m?s ago' status
    says '.' --strict status
    says 'NAME|n1' node list # and work goes on
}

people() { # LIMITS_OF_A [QUEUES_BELOW_USERS [MORE_QUEUES]]: users get queues of their own below root.users
    cat <<YAML
partitions:
- name: default
  placementrules: [{name: provided}, {name: user, create: true, parent: {name: fixed, value: root.users}}]
  queues:
  - name: root
    submitacl: "*"
    queues:
    - {name: a, limits: [$1]}
    - {name: users, parent: true, queues: [${2:-}]}
    ${3:-}
YAML
}

what_a_reload_means_for_people() { # C-242, C-403, C-423, C-433
    people '' '' '- name: b' >"$work/people.yaml"
    says 'reloaded' config reload -f "$work/people.yaml"
    says 'accepted' app add a1 -q root.a -u alice:dev
    says 'accepted' app add b1 -q root.a -u bob:ops,dev
    says 'root.users.carol' app add c1 -u carol:web
    for app in a1 b1 c1; do says '.' ask add "$app" -R vcore=1; done
    says '.' sched step 10
    local dev='{limit: x, groups: [dev], maxresources: {vcore: 1}, maxapplications: 1}'
    people "$dev" '{name: carol, limits: [{limit: y, users: [carol], maxresources: {vcore: 500m}}]}' >"$work/limits.yaml"
    expect 8 '2 applications count for group dev instead of no group: a1, b1' config diff "$work/limits.yaml"
    expect 8 'root.a: group dev has \{.*vcore: 2\}, above the new limit \{vcore: 1\}; applications: a1, b1' \
        config diff "$work/limits.yaml"
    expect 8 'root.a: group dev runs 2 applications, above the new limit 1: a1, b1' config diff "$work/limits.yaml"
    expect 8 'root.users.carol: dynamic queue becomes managed' config diff "$work/limits.yaml"
    expect 8 'root.users.carol: user carol has .*, above the new limit \{vcore: 500m\}' config diff "$work/limits.yaml"
    says 'reloaded' config reload -f "$work/limits.yaml" # root.b drains, it has batch
    says 'dev +' group list
    expect 8 'root.b: draining queue becomes active again' config diff "$work/people.yaml"
    says 'reloaded' config reload -f "$work/people.yaml"
    for app in a1 b1 c1; do says 'removed' app remove "$app"; done
}
edit_and_why() { # annoyances: config edit, a message with a change, two of the history compared
    local before now
    export TMPDIR=$work
    configuration 21 >"$work/why.yaml"
    says 'reloaded' config reload -f "$work/why.yaml" -m 'more for a'
    before=$(ykctl config history -o name | head -1)
    EDITOR='sed -i s/21/22/' expect 0 'reloaded' config edit -m 'even "more"'
    has_max 22000
    now=$(ykctl config history -o name | head -1)
    says 'request of uid [0-9]+: even "more"' config history
    expect 8 '^default root.a: max \{vcore: 21\} -> \{vcore: 22\}$' config diff "$before" "$now"
    expect 8 '\{vcore: 22\} -> \{vcore: 21\}' config diff "$before"
    expect 8 '\{vcore: 22\} -> \{vcore: 21\}' config diff "$now" "$work/why.yaml"
    expect 0 'no changes' config diff "$now" "$now"
    expect 4 'no configuration abcdef .*is kept' config diff abcdef
    expect 2 'at most two' config diff a b c
    EDITOR=true expect 0 'nothing was changed' config edit
    EDITOR=false expect 2 'the editor failed' config edit
    EDITOR='sed -i s/22/-1/' expect 1 'what you wrote is in .*ykctl-.*yaml' config edit
    has_max 22000
    checks=$((checks + 1))
    [[ $(cat "$TMPDIR"/ykctl-*.yaml) == *-1* && $(stat -c %a "$TMPDIR"/ykctl-*.yaml) == 600 ]] || fail "the edited text is lost"
    says 'reloaded' config rollback -m 'too much'
    says 'back to [0-9A-F]+: too much' config history
}
shows_refusal() { ykctl status | grep -qE "^last reload: +refused at .*, $work/queues.yaml:1:[0-9]+: .*12q"; }

work_runs
what_a_reload_would_do
reload_and_back
a_refusal_changes_nothing
warnings_are_shown
extra_config
canonical_form
what_a_reload_means_for_people
edit_and_why
files
echo "$checks checks"
