#!/usr/bin/env bash
# The operator's side of configuration, while work runs: C-440, C-443, C-445, C-462, C-469 (SIGHUP, --watch-config),
# C-471, C-473, B-04, B-06, B-07, B-12. Every change is made by ykctl or by a file, and every refusal changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${YK_BIN:-$PWD/build/bin}
work=$(mktemp -d /tmp/yk-op.XXXXXX)
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
expect() { # STATUS TEXT ARGUMENT...: ykctl ends so and says a line that matches TEXT
    local wanted=$1 text=$2 said status=0
    shift 2
    checks=$((checks + 1))
    said=$(ykctl "$@" 2>&1) || status=$?
    [[ $status -eq $wanted ]] || fail "ykctl $* ended with $status, not $wanted: $said"
    grep -qE -- "$text" <<<"$said" || fail "ykctl $* does not say '$text': $said"
}
says() { expect 0 "$@"; }
logged() { # TEXT: within 20 s
    local deadline=$((SECONDS + 20))
    checks=$((checks + 1))
    until grep -qE -- "$1" "$work/log"; do
        ((SECONDS < deadline)) || fail "ykd did not log '$1'"
        sleep 0.05
    done
}
active_max() { # of root.a, in thousandths of a core
    ykctl queue show root.a -o json | /usr/bin/python3 -c \
        'import json, sys; print(json.load(sys.stdin)["item"].get("maxResource", {}).get("vcore", "none"))'
}
has_max() { # NUMBER: now
    checks=$((checks + 1))
    [[ $(active_max) == "$1" ]] || fail "root.a has max $(active_max), not $1"
}
gets_max() { # NUMBER: within 20 s
    local deadline=$((SECONDS + 20))
    until [[ $(active_max) == "$1" ]]; do
        ((SECONDS < deadline)) || fail "root.a has max $(active_max), not $1"
        sleep 0.05
    done
}
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

start_daemon() { # ARGUMENT...
    "$bin/ykd" --listen "$YKCTL_SOCKET" --manual-schedule --clock virtual "$@" 2>"$work/log" &
    daemon=$!
    local deadline=$((SECONDS + 20))
    until ykctl ping --quiet >/dev/null 2>&1; do
        kill -0 "$daemon" 2>/dev/null || fail "ykd ended"
        ((SECONDS < deadline)) || fail "ykd does not answer"
        sleep 0.05
    done
}

work_runs() {
    configuration 8 '- name: b' >"$work/queues.yaml"
    start_daemon --config "$work/queues.yaml" --watch-config
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
    says 'reloaded' config reload # without a text: the daemon's file
    has_max 8000
    configuration 5 '- name: b' >"$work/queues.yaml"
    kill -HUP "$daemon"
    gets_max 5000
    configuration 6 '- name: b' >"$work/new" && mv "$work/new" "$work/queues.yaml"
    gets_max 6000 # --watch-config
    cp "$work/bad.yaml" "$work/new" && mv "$work/new" "$work/queues.yaml"
    logged 'RM demo keeps its configuration: .*12q'
    has_max 6000
    says 'NAME|n1' node list # and work goes on
}

work_runs
what_a_reload_would_do
reload_and_back
a_refusal_changes_nothing
warnings_are_shown
extra_config
canonical_form
files
echo "$checks checks"
