#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One meaning of reload: SIGHUP, `ykctl config reload` and the unit's ExecReload do the same, with no RM, one or many
# (B2); a configuration that is not the file's on purpose is left alone, and named with the way back (B3); what is
# refused is logged once and bounded (B14, A6); the log file is opened anew (A10).
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

queues=$work/queues.yaml
configuration() { # MAXIMUM_OF_A
    echo "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a, resources: {max: {vcore: $1}}}]}]}]"
}
peers() { # ROLE of user 65534
    printf 'peers:\n- {uid: %s, role: admin}\n- {uid: 65534, role: %s}\n' "$(id -u)" "$1"
}
max_of() { # RM: of its root.a, in thousandths of a core
    ykctl queue show root.a -r "$1" -o json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["item"]["maxResource"]["vcore"])'
}
is_max() { [[ $(max_of "$1") == "$2" ]]; }
has_max() { # RM NUMBER
    checks=$((checks + 1))
    is_max "$1" "$2" || fail "root.a of $1 has max $(max_of "$1"), not $2"
}
log_lines() { grep -cE -- "$1" "$work/ykd.log" || true; } # TEXT
has_logged() { [[ $(log_lines "$1") -ge $2 ]]; }
logged() { within_20_s "ykd did not log '$1' ${2:-1} times" has_logged "$1" "${2:-1}"; } # TEXT [TIMES]
exec_reload() { # what the shipped unit does
    local line
    line=$(sed -n 's/^ExecReload=//p' ykd/packaging/ykd.service*)
    line=${line/*\/ykctl/$bin/ykctl}
    # shellcheck disable=SC2086 # words of a command
    ${line/ipc:\/\/\/run\/ykd\/ykd.sock/$YKCTL_SOCKET} 2>&1
}
unit_reload() { # STATUS TEXT
    local said status=0
    checks=$((checks + 1))
    said=$(exec_reload) || status=$?
    [[ $status -eq $1 ]] || fail "ExecReload ended with $status, not $1: $said"
    grep -qE -- "$2" <<<"$said" || fail "ExecReload does not say '$2': $said"
}

without_an_rm() { # B2
    unit_reload 0 'no RM is registered'
    says "peers and tokens reread" config reload
    says "$queues is good" config reload
    configuration 12q >"$queues"
    unit_reload 1 "reload failed: $queues:1:[0-9]+: .*12q"
    expect 1 '"ok":false' -o jsonl config reload
    kill -HUP "$daemon"
    logged "warning.* reload failed: .*$queues is refused; no RM is registered" 3
    checks=$((checks + 1))
    [[ $(log_lines "$queues:1:.*12q") -eq 3 ]] || fail "the reason is not logged once for each reload"
    configuration 8 >"$queues"
}

many_rms() { # B2
    says 'registered' rm register a
    says 'registered' rm register b
    configuration 7 >"$queues"
    unit_reload 0 'RM b: new configuration is active'
    has_max a 7000
    has_max b 7000
    says 'RM a: unchanged' config reload
    says '^RM a: would get another configuration' config reload --dry-run -r a <<<"$(configuration 6 >"$queues")"
    says 'max .*7.* -> .*6' config reload --dry-run
    has_max a 7000
    says 'RM a: new configuration is active' config reload -r a # this one alone
    has_max a 6000
    has_max b 7000
    configuration 5 >"$queues"
    kill -HUP "$daemon"
    within_20_s 'SIGHUP did not reload b' is_max b 5000
    has_max a 5000
}

peers_and_tokens() { # B2
    peers admin >"$work/ykd.conf"
    says 'peers and tokens reread' config reload
    logged 'reload: peers and tokens reread; RM a: unchanged; RM b: unchanged'
    echo 'peers: nonsense' >"$work/ykd.conf"
    expect 1 'reload failed: peers and tokens stay as they were: ' config reload
    says 'last reload: +peers and tokens: refused' status
    peers observer >"$work/ykd.conf"
}

what_differs_on_purpose() { # B3
    configuration 4 >"$work/own.yaml"
    says "a no longer follows $queues; back to the file: +ykctl config reload --from-file -r a" config reload -f "$work/own.yaml" -r a
    says '"notFollowed"' -o jsonl config rollback -r b
    configuration 77 >"$queues"
    kill -HUP "$daemon"
    logged "reload: .*; RM a: keeps its own \(request of [^)]*\), not $queues; back to the file: +ykctl config reload --from-file -r a; RM b: keeps its own \(back to [0-9A-F]{12}\), not $queues"
    has_max a 4000
    has_max b 7000
    says "^RM b: keeps its own \(back to .*--from-file -r b" config reload
    says "not the file's: +RM a: request of .*, not $queues; back to the file: +ykctl config reload --from-file -r a" status
    says "\"configFromFile\":false.*\"notFollowed\":\"$queues\"" -o jsonl status
    says 'registered' rm register c --config "$work/own.yaml"
    says "RM c: keeps its own \(registration\), not $queues" config reload
    logged 'RM b: configuration [0-9A-F]{12} is active \(back to [0-9A-F]{12}\)' # B14
    says 'RM a: new configuration is active' config reload --from-file -r a
    has_max a 77000
    has_max b 7000
    says 'RM c: new configuration is active' config reload --from-file
    has_max b 77000
    checks=$((checks + 1))
    if ykctl status | grep -q "not the file's"; then fail 'all follow the file, and status names one that does not'; fi
    expect 2 "or --from-file" config reload -f "$queues" --from-file
    expect 2 '\-\-extra needs' config reload --extra x.y=z
    says 'unchanged' config reload --from-file --extra event.maxStreams=7 -r a
}

one_of_two_refused() {
    says 'removed|deregistered|unregistered' rm deregister c
    says 'accepted' app add web -q root.a -r a
    sed 's/name: a, /name: a, parent: true, /' "$queues" >"$work/new" && mv "$work/new" "$queues"
    unit_reload 1 'reload failed: RM a keeps its configuration: .*root.a has applications'
    says 'RM b: unchanged' config reload -r b # it has none, and took it
    logged 'warning.* reload failed: .*RM a: keeps its configuration; RM b: new configuration'
    logged 'RM a: configuration refused, the old one stays: .*root.a has applications'
    configuration 8 >"$queues"
    unit_reload 0 'RM a: new configuration is active'
}

refusals_are_logged_once() { # B14, A6
    local before
    local before
    before=$(log_lines .)
    configuration 13q >"$work/bad.yaml"
    expect 1 '13q' config reload -f "$work/bad.yaml" -r a
    logged "RM a: configuration refused, the old one stays: $work/bad.yaml:1:.*13q"
    checks=$((checks + 1))
    [[ $(log_lines 13q) -eq 1 ]] || fail "a refusal is logged $(log_lines 13q) times: $(grep 13q "$work/ykd.log")"
    { configuration 8 && for i in $(seq 3000); do echo "unknown$i: x"; done; } >"$work/bad.yaml"
    before=$(log_lines .)
    expect 1 'unknown1' config reload --dry-run -f "$work/bad.yaml" -r a
    checks=$((checks + 1))
    [[ $(log_lines .) -eq $before ]] || fail "a dry run is logged: $(tail -n +$((before + 1)) "$work/ykd.log")"
    expect 1 'unknown1' config reload -f "$work/bad.yaml" -r a
    logged 'RM a: and [0-9]+ more'
    local extras=()
    for i in $(seq 400); do extras+=(--extra "nobody.knows.$i=x"); done
    says 'unchanged' config reload --from-file -r a "${extras[@]}"
    logged 'extraConfig: and 39[0-9] more'
    checks=$((checks + 1))
    [[ $(log_lines .) -lt $((before + 40)) ]] || fail "two bad requests wrote $(($(log_lines .) - before)) lines"
}

the_log_file_is_opened_anew() { # A10: logrotate without copytruncate
    mv "$work/ykd.log" "$work/ykd.log.1"
    kill -HUP "$daemon"
    logged 'reload: '
    rm "$work/ykd.log"
    says . config reload
    logged 'reload: '
}

configuration 8 >"$queues"
peers observer >"$work/ykd.conf"
start_ykd --settings "$work/ykd.conf" --config "$queues" --log-target "$work/ykd.log"
without_an_rm
many_rms
peers_and_tokens
what_differs_on_purpose
one_of_two_refused
refusals_are_logged_once
the_log_file_is_opened_anew
echo "$checks checks"
