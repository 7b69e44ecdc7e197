#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A deployment is not moved to a queue that the core would refuse: what runs stays (rs R-159).
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

cat >"$work/queues.yaml" <<'YAML'
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: a}
          - {name: b}
YAML
mkdir -m 700 "$work/state"
echo 'mcs: {enabled: true}' >"$work/settings"
start_ykd --settings "$work/settings" --state "$work/state" --config "$work/queues.yaml"
running() { [[ $(ykctl mcs status -o name) == running ]]; }
within_20_s "MCS does not run" running
says '^node n1 created$' mcs node create n1 -R vcore=8
says '^deployment web created$' deployment create web --replicas 2 -q root.a -R vcore=1 -u ann
runs() { ykctl sched step 10 >"$work/step" && ykctl deployment list --no-headers | tr -s ' ' | grep -q '^web root.a 2 2 0 Scheduled '; }
within_20_s "web does not run" runs
refused='web stays as it is, since it would not be placed in queue root.typo: .*root.typo'
expect 1 "$refused" deployment set web -q root.typo --priority 9
expect 1 'why\?  ykctl -r mcs explain placement --user ann --queue root.typo' deployment set web -q root.typo
ykctl deployment show web -o yaml | sed 's/root\.a$/root.typo/' >"$work/typo.yaml"
expect 1 "$refused" deployment apply -f "$work/typo.yaml" --dry-run
expect 1 "$refused" deployment apply -f "$work/typo.yaml"
json 'd["item"]["version"], d["item"]["queue"], d["item"]["schedule"]["placed"]' "(1, 'root.a', 2)" deployment show web -o json
says '^deployment web changed$' deployment set web -q root.b
json 'd["item"]["queue"]' root.b deployment show web -o json
kill -TERM "$daemon"
wait "$daemon" || fail "ykd ended with $? on SIGTERM"
daemon=
echo "$checks checks"
