#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `ykctl explain node`, `explain user` and `explain config` against a running daemon (I-354, B-09, C-403, C-410, C-460 to
# C-468): what they say, their machine form, and how they end.
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

# json FILTER EXPECTED ARGUMENT...: python expression over the explained item `d`
json() {
    local expression=$1 wanted=$2 found
    shift 2
    checks=$((checks + 1))
    found=$(ykctl explain "$@" -o json | /usr/bin/python3 -c \
        'import json, sys; d = json.load(sys.stdin)["item"]; print(eval(sys.argv[1]))' "$expression")
    [[ $found == "$wanted" ]] || fail "ykctl explain $*: $expression is '$found', not '$wanted'"
}

cluster() {
    cat >"$work/queues.yaml" <<YAML
partitions:
- name: default
  placementrules:
  - {name: provided, create: true}
  limits:
  - {limit: all, users: ["*"], maxresources: {vcore: 100}}
  queues:
  - name: root
    submitacl: "*"
    properties: {application.sort.policy: fair, priority.offset: "5"}
    queues:
    - name: team
      parent: true
      resources: {max: {vcore: 12}}
      properties: {preemption.delay: 10s}
      childtemplate: {maxapplications: 7, resources: {max: {vcore: 6}}, inheritproperties: true, applytoexisting: true}
      limits:
      - {limit: kim, users: [kim], maxresources: {vcore: 4}}
      - {limit: staff, groups: [staff], maxapplications: 1}
    - name: Prod
      adminacl: "ops"
      resources:
        max: {vcore: 8, memory: 32Gi}
YAML
    cat >"$work/ykd.conf" <<YAML
extraConfig: {event.maxStreams: "7", service.placeholderTimeout: soon, log.core.level: warn}
YAML
    start_ykd --config "$work/queues.yaml" --settings "$work/ykd.conf"
    expect 4 'no RM is registered' explain config root
    says 'rm demo registered' rm register demo
    says 'node n1 added' node add n1 -R memory=16Gi,vcore=8
    says 'accepted' app add web -q root.team.web -u kim:staff
    says '.' ask add web --key k -R vcore=2 -n 2
    says '.' sched step 10
}

users() {
    says '^user kim in queue root.team.web is BLOCKED_BY_LIMIT; counts for group staff \(limits of root.team\)$' \
        explain user kim root.team.web --group dev,staff
    says '^ 1\. USER_LIMIT +root.team +max vcore 4, used 4$' explain user kim root.team.web
    says '^ 2\. APP_LIMIT +root.team +group staff runs 1 of at most 1 application$' explain user kim root.team.web --group staff
    says '^root.team +user kim +kim +4 vcore +4 vcore +0 vcore +1/-$' explain user kim root.team.web
    says '^root +user kim +\* +100 vcore +4 vcore +96 vcore +1/-$' explain user kim root.team.web
    says '^root.team +group staff +staff +unlimited +4 vcore +unlimited +1/1$' explain user kim root.team.web --group staff
    says '^headroom of all levels: 0 vcore$' explain user kim root.team.web
    says '^user ann in queue root.team.ann \(not made yet\) is WITHIN_LIMITS; counts for no group$' explain user ann root.Team.ann
    json 'd["details"]["headroom"]["vcore"]' 100000 user ann root.prod
    json '[l["queue"] for l in d["details"]["levels"]]' "['root.prod', 'root']" user ann root.prod
    expect 4 'there is no queue root.prod.x, and no rule could make it; the deepest on this path is root.prod' \
        explain user ann root.prod.x
    expect 1 'queue: a queue path begins with root|begins with root' explain user ann team
    expect 1 "invalid queue name.*got 'a b'" explain user ann 'root.a b'
    expect 2 'PATH' explain user ann
}

nodes() {
    says 'node n2 added' node add n2 -R memory=16Gi,vcore=8
    says '^node n2 is IDLE; no ask is pending that could go there$' explain node n2
    says '^capacity: +16Gi 8 vcore$' explain node n1
    says 'accepted' app add big -q root.prod
    says '.' ask add big --key b -R vcore=7,memory=1Gi
    says '.' ask add big --key huge -R vcore=9
    says '^ 1\. NODE_FIT +n1 +of 2 pending asks 0 fit now, 1 would not even if the node were empty; 2 lack vcore +blocks 2 asks$' \
        explain node n1
    json 'd["verdict"]' SHORT node n1
    # B12: a type that nobody has makes no node full, and is told with what may have been meant
    says '.' ask add big --key typo -R vcores=1
    says '^node n2 is SCHEDULABLE; 3 pending asks could go there' explain node n2
    says '1 lacks vcores, which the node does not have' explain node n1
    says '^ask typo of app big .* is IMPOSSIBLE' explain ask typo --app big
    says '^ 1\. IMPOSSIBLE +default +no node offers vcores, did you mean vcore\? +blocks 1 ask$' explain ask typo --app big
    says '^ask typo of app big .* is NOT_ALLOWED' explain preemption typo --app big
    says 'nobody will ever go for it' explain preemption typo --app big
    says 'removed' ask remove typo --app big
    json 'd["details"]["applications"]' "[{'applicationID': 'web', 'allocations': 2}]" node n1
    says 'drain' node drain n2
    says '^node n2 is DRAINING; 2 pending asks could go there, 1 fits now$' explain node n2
    says '^ 1\. NODE_UNSCHEDULABLE +n2 +drained: it takes only asks that require it +blocks 1 ask$' explain node n2
    expect 4 'there is no node n9' explain node n9
    says '.' ask add big --key typo -R vcores=1
    says '.' sched step 5
    says '^typo .*No node offers vcores, did you mean vcore\?$' ask list
    says 'removed' ask remove typo --app big
}

places() {
    local line
    line=$(grep -n 'memory: 32Gi' "$work/queues.yaml" | cut -d: -f1)
    says '^root.prod.resources.max.memory is SET$' explain config root.prod.resources.max.memory
    says "^at: +$work/queues.yaml:$line:33$" explain config root.prod.resources.max.memory
    says '^written: +32Gi$' explain config 'partitions[0].queues[0].queues[1].resources.max.memory'
    says '^in force: +memory 32Gi$' explain config root.PROD.resources.max.memory
    says '^written: +\{vcore: 8, memory: 32Gi\}$|^written: +\{memory: 32Gi, vcore: 8\}$' explain config root.prod.resources.max
    json '(d["verdict"], d["details"]["inForce"], d["details"]["from"][:25])' "('INHERITED', '*', 'root (line 8)')" config root.prod.submitacl
    json '(d["verdict"], d["details"]["from"])' "('SET', 'root.prod (line 20)')" config root.prod.adminacl
    json '(d["verdict"], d["details"]["inForce"])' "('INHERITED', 'fair')" config root.prod.properties.application.sort.policy
    says 'from: +reset for children of root \(line 8\)' explain config root.prod.properties.priority.offset
    json '(d["verdict"], d["details"]["inForce"])' "('DEFAULT', '30s')" config root.prod.properties.preemption.delay
    json '(d["verdict"], d["details"]["inForce"])' "('TEMPLATE', {'vcore': 6000})" config root.team.web.resources.max.vcore
    json '(d["verdict"], d["details"]["inForce"])' "('TEMPLATE', 7)" config root.team.web.maxapplications
    # what a template inherits, where it is given, and what tags have set (B-10)
    json '(d["verdict"], d["details"]["inForce"])' "('SET', True)" config root.team.childtemplate.applytoexisting
    says '^property preemption.delay +10s +inherited from root.team \(line 12\)$' explain queue root.team.web
    says '^property priority.offset +0 +reset for children of root \(line 8\)$' explain queue root.team.web
    says '^childtemplate +maxapplications 7, max 6 vcore, applytoexisting, inheritproperties +root.team \(line 12\)$' explain queue root.team
    says '^child template: +of root.team: .*, applied to existing queues, properties inherited$' queue show root.team
    says 'accepted' app add tagged -q root.team.tagged -u kim:staff --tag namespace.resourcemaxapps=3
    says '^maxapplications +3 +tags of an application$' explain queue root.team.tagged
    says '^max +6 vcore +childtemplate of root.team' explain queue root.team.tagged
    sed 's/max: {vcore: 6}/max: {vcore: 3}/; s/maxapplications: 7/maxapplications: 9/' "$work/queues.yaml" >"$work/less.yaml"
    expect 8 'root.team.web: max \{vcore: 6\} -> \{vcore: 3\}, by the childtemplate of root.team' config diff "$work/less.yaml"
    expect 8 'root.team.web: \{vcore: 4\} are allocated, above the new maximum \{vcore: 3\}' config diff "$work/less.yaml"
    expect 8 'root.team.web: maxapplications 7 -> 9, by the childtemplate' config diff "$work/less.yaml"
    checks=$((checks + 1))
    if ykctl config diff "$work/less.yaml" | grep 'root.team.tagged: maxapplications'; then fail 'tags do not win'; fi
    json '(d["verdict"], d["details"]["effectiveMax"])' "('SET', {'vcore': 8000})" config root.prod.resources.max.vcore
    json 'd["verdict"]' NOT_SET config root.prod.resources.guaranteed.memory
    json 'd["details"]["path"]' 'partitions[0].limits[0].maxresources.vcore' config 'root.limits[0].maxresources.vcore'
    json '(d["verdict"], d["details"]["inForce"])' "('DEFAULT', 'true')" config preemption.enabled
    expect 4 'queue root.prod has no queue and no key "submitAcl", did you mean "submitacl"' explain config root.prod.submitAcl
    expect 4 'queue root has no queue and no key "prdo", did you mean "prod"' explain config root.prdo.submitacl
    expect 4 'unknown property "priority.ofset", did you mean "priority.offset"' explain config root.prod.properties.priority.ofset
    expect 4 'has 1 entries, counted from 0' explain config 'partitions[1]'
    expect 4 'the configuration has no partition gpu' -p gpu explain config root
    says '^rm demo|configuration' config reload -f <(sed 's/32Gi/16Gi/' "$work/queues.yaml") # now of a request
    says '^at: +line '"$line"', column 33 of the configuration \(request of ' explain config root.prod.resources.max.memory
    says '^in force: +memory 16Gi$' explain config root.prod.resources.max.memory
}

settings() {
    json '(d["verdict"], d["details"]["inForce"], d["details"]["value"])' "('SET', '7', '7')" config event.maxStreams
    says "^from: +extraConfig of the settings file $work/ykd.conf$" explain config event.maxStreams
    json '(d["verdict"], d["details"]["inForce"])' "('IGNORED', '15m0s')" config service.placeholderTimeout
    says "^warning: +service.placeholderTimeout: bad value 'soon'" explain config service.placeholderTimeout
    json '(d["verdict"], d["details"]["inForce"], d["details"]["from"])' "('DEFAULT', '10s', 'default')" config service.queueCleanInterval
    says '^to change: +at once' explain config service.queueCleanInterval
    says '^from: +log.core.level \(extraConfig of the settings file' explain config log.core.scheduler.level
    json '(d["verdict"], d["details"]["inForce"])' "('DEFAULT', 'mycluster')" config service.clusterId
    says '^to change: +ykd carries it for the resource manager' explain config service.clusterId
    json 'd["details"]["inForce"]' true config service.enableConfigHotRefresh
    expect 4 'there is no setting event.maxStream, did you mean event.maxStreams' explain config event.maxStream
    expect 4 'there is no setting rooot.a' explain config rooot.a
}

for part in cluster users nodes places settings; do
    "$part"
done
echo "$checks checks passed"
