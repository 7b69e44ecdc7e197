#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ykctl deployment and mcs: what they say and how they end (rs R-157, rs R-159).
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

wide() { ykctl deployment list -o wide --no-headers | tr -s ' '; }
shows() { wide | grep -qE -- "$1"; } # a line of the list matches, once the Autoscaler was there
comes_to() { ykctl sched step 10 >"$work/step" && shows "$1"; }

start_ykd
expect 1 'this ykd keeps no deployments.*mcs: .enabled: true.' deployment list
expect 1 'this ykd keeps no deployments' mcs status
kill -TERM "$daemon"
wait "$daemon" || fail "ykd ended with $?"

mkdir -m 700 "$work/state"
echo 'mcs: {enabled: true, maxReplicas: 50, autoscaler: {period: 1s}}' >"$work/settings"
start_ykd --settings "$work/settings" --state "$work/state"
running() { [[ $(ykctl mcs status -o name) == running ]]; }
within_20_s "MCS does not run" running
says '^no deployments$' deployment list
says '^deployment web created$' deployment create web --replicas 3 -q root.a -R memory=1Gi,vcore=500m -u ann:staff,ops --tag team=a
within_20_s "web has no schedule" shows '^web root.a 3 0 3 Scheduling '
says '^deployment api created$' deployment create api --id the-api -u bob
within_20_s "api has no scale" shows '^api - 1 0 1 Scheduling .* the-api bob 1 vcore ManualReplicas$'
json 'd["items"][1]["resource"]' "{'memory': 1073741824, 'vcore': 500}" deployment list -o json
json '[one["name"] for one in d["items"]]' "['web']" deployment list -q root -o json
says '^web$' deployment list -q root.a -o name
expect 1 'known by the name web \(E_BAD_STATE\)$' deployment create web
expect 1 'known by the name web ' deployment create web --id mine
expect 1 'it has 300 bytes, of at most 200' deployment create "$(printf 'n%.0s' {1..300})"
expect 1 'nothing but blanks' deployment create ' '
expect 1 'control character' deployment create $'web\xe2\x80\xae'
expect 2 'no command to have variables' deployment create b --env A=1
expect 1 '51 replicas: 0 to 50 are allowed' deployment scale web 51
expect 2 'not negative' deployment scale web -- -1
expect 2 'cascade' deployment create b --delete-mode all
expect 4 'there is no deployment "nobody"' deployment show nobody
expect 4 'which are there\?  ykctl deployment list' deployment delete nobody
says '^deployment web scaled to 5$' deployment scale web 5
within_20_s "web was not scaled" shows '^web root.a 5 0 '
says '^replicas: +5 desired, 0 placed \(ManualReplicas\)$' deployment show web
says '^ 1\. +IMPOSSIBLE +default +the partition has no node ' deployment show web
expect 2 'what is its capacity' mcs node create n1
says '^no nodes$' mcs node list
says '^node n1 created$' mcs node create n1 -R memory=3Gi,vcore=8 -a rack=4
expect 1 'n1' mcs node create n1 -R vcore=8
within_20_s "web does not run" comes_to '^web root.a 5 3 2 Scheduling '
says '^state: +Scheduling$' deployment show web
says '^n1 +default +schedulable +3Gi 8 vcore ' mcs node list
says '^n1$' -p default mcs node list -o name
says '^no nodes in partition gpu$' -p gpu mcs node list
says '^web$' -p default deployment list -o name
says '^no deployments in partition gpu$' -p gpu deployment list
json 'd["items"]' '[]' -p gpu deployment list -o json
says ' AGE +PARTITION +ID ' deployment list -o wide
says '^scheduler: +RM mcs is running: 2 deployments with replicas, 1 node$' mcs status
expect 2 'what is to change' mcs node set n1
says '^  show, describe  ' deployment --help
says '^node n1 changed$' mcs node set n1 -R memory=4Gi,vcore=8
within_20_s "the larger node is not used" comes_to '^web root.a 5 4 1 Scheduling '
says '^node n1 drained$' mcs node drain n1
says '^n1 +default +draining ' mcs node list
says '^node n1 undrained$' mcs node undrain n1
expect 4 'which are there\?  ykctl mcs node list' mcs node drain nobody
says '^node n2 created$' mcs node create n2 -R memory=1Gi,vcore=8
within_20_s "the second node is not used" comes_to '^web root.a 5 5 0 Scheduled '
expect 0 '^deployment web scaled to 5$' deployment scale web 5 --wait
expect 7 'deployment slow has 0 of 2 replicas placed after 300ms' deployment create slow --replicas 2 --wait --timeout 300ms
stepping() { while :; do
    sleep 0.2
    ykctl sched step 10 >"$work/step" || return
done; }
stepping &
steps=$!
expect 0 '^deployment slow scaled to 1$' deployment scale slow 1 --wait
expect 0 '^deployment slow deleted$' deployment delete slow --wait
expect 4 'there is no deployment "slow"' deployment delete slow --wait
kill "$steps"
says '^user: +ann \(staff, ops\)$' deployment describe web
says '^AbleToScale +true ' deployment show web
json 'd["item"]["scale"]["desired"]' 5 deployment show web -o json
says '^scaling: +0 to 50, 5 by hand$' deployment show web
expect 2 'what is to change' deployment set web
expect 2 'either a number of replicas or a policy' deployment create b --replicas 2 --metric load=70
expect 1 'what is to decide\?' deployment autoscale web --min 1
expect 2 '--metric load: no target' deployment autoscale web --metric load
expect 2 'beside it' deployment autoscale web --metric load=7 --policy x
says '^deployment web autoscaled$' deployment autoscale web --min 2 --max 8 --metric load=70 --schedule 'mon-fri 00:00=3'
says '^scaling: +2 to 8, by load=70; mon-fri 00:00=3$' deployment show web
expect 1 "'weight' is no metric" deployment metric web weight=7
expect 2 'such as load=70' deployment metric web load
expect 2 '=3: the name of the metric is missing: METRIC=VALUE, such as load=70$' deployment metric web =3
expect 2 'from 0 to 9223372036854775.807' deployment metric web load=-5
expect 2 'from 0 to 9223372036854775.807' deployment metric web load=9223372036854775807
says '^deployment web takes load=490$' deployment metric web load=490
within_20_s "the metric does not count" comes_to '^web root.a 7 [0-9]+ '
says '^deployment web paused$' deployment pause web
says '^scaling: .* \(paused\)$' deployment show web
says '^deployment web resumed$' deployment resume web
echo '{"schedule": [{"at": "00:00", "replicas": 9}]}' >"$work/policy"
says '^deployment web autoscaled$' deployment autoscale web --max 20 --policy "$work/policy"
within_20_s "the schedule does not count" shows '^web root.a 9 '
ykctl deployment list -o yaml >"$work/all.yaml" # policies are in it, and go back in
says '^deployment web unchanged$' deployment apply -f "$work/all.yaml"
says '^deployment web autoscaled$' deployment autoscale web --schedule '00:00=8'
expect 1 'deployment web: it is at version [0-9]+, and the file is of version [0-9]+: somebody changed it since' \
    deployment apply -f "$work/all.yaml"
says '^deployment web changed$' deployment apply -f "$work/all.yaml" --force
says '^scaling: +2 to 20, by 00:00=9$' deployment show web
expect 1 'is no JSON: line 1, column 3: ' deployment autoscale web --policy - <<<'{nothing}'
expect 1 'body.policy.schedule' deployment autoscale web --policy - <<<'{"schedule": [{"at": "99:00", "replicas": 9}]}'
says '^deployment web changed$' deployment set web -R memory=1Gi,vcore=250m --tag team=b --priority 3
expect 7 'deployment web has' deployment set web --priority 4 --wait --timeout 1ms
json 'd["item"]["resource"]["vcore"], d["item"]["tags"]["team"], d["item"]["queue"]' "(250, 'b', 'root.a')" deployment show web -o json
says '^deployment web scaled to 5$' deployment scale web 5
within_20_s "a number does not count" comes_to '^web root.a 5 5 0 Scheduled '
expect 0 '^$' --quiet deployment scale the-api 2
ykctl deployment show web -o yaml >"$work/web.yaml"
says '^deployment web unchanged$' deployment apply -f "$work/web.yaml"
ykctl deployment show web -o json | says '^deployment web unchanged$' deployment apply -f -
ykctl deployment list -o yaml >"$work/all.yaml"
says '^deployment api unchanged$' deployment apply -f "$work/all.yaml"
sed -i 's/^\( *\)replicas: 5$/\1replicas: 4/; s/team: b/team: c/' "$work/web.yaml"
says '^  replicas: 5 -> 4$' deployment apply -f "$work/web.yaml" --dry-run
says '^deployment web would be changed$' deployment apply -f "$work/web.yaml" --dry-run
json 'd["item"]["replicas"], d["item"]["tags"]["team"]' "(5, 'b')" deployment show web -o json
json 'd["items"][0]["outcome"], len(d["items"][0]["changes"])' "('changed', 2)" deployment apply -f "$work/web.yaml" -o json
json 'd["item"]["replicas"], d["item"]["tags"]["team"]' "(4, 'c')" deployment show web -o json
says '^deployment web unchanged$' deployment apply -f "$work/web.yaml"
printf 'name: new\nuser: ann\nreplicas: 0\npolicy: {metrics: [{name: load, type: average, target: 70000}]}\n---\nname: web\nreplicas: 5\n' \
    >"$work/two.yaml"
says '^deployment new would be created$' deployment apply -f "$work/two.yaml" --dry-run
says '^deployment new created$' deployment apply -f "$work/two.yaml"
json 'd["item"]["replicas"], d["item"]["generation"], "load" in d["item"]["policy"]' '(0, 1, True)' deployment show new -o json
says '^deployment left created$' deployment create left --id left-id --replicas 0
expect 0 'take it over:  ykctl deployment create NAME --id left-id --adopt$' deployment delete left --mode orphan
says '^deployment taken created$' deployment create taken --id left-id --replicas 0 --adopt
says '^deployment taken deleted$' deployment delete taken
expect 2 'behind -- nothing is an option; those stand before it$' deployment create -- taken --replicas 0
says '^deployment new unchanged$' deployment apply -f "$work/two.yaml"
sed -i 's/^replicas: 0/replica: 0/' "$work/two.yaml"
expect 2 "two.yaml:3:1: unknown field 'replica'" deployment apply -f "$work/two.yaml"
printf 'name: first\nuser: ann\nreplicas: 0\n---\nname: ""\nreplicas: 0\n' >"$work/nameless.yaml"
expect 2 'nameless.yaml:5:7: name is empty$' deployment apply -f "$work/nameless.yaml"
sed -i '/^name: ""/d' "$work/nameless.yaml"
expect 2 'nameless.yaml:5:1: Deployment lacks name$' deployment apply -f "$work/nameless.yaml"
expect 4 'there is no deployment "first"' deployment show first # nothing was changed
expect 2 'deployments\?  ykctl deployment apply -f FILE' apply -f "$work/two.yaml"
for outcome in changed unchanged; do # limits alone are no policy
    says "^deployment web $outcome\$" deployment apply -f - <<<'{name: web, policy: {up: {windowSeconds: 60}}, replicas: 5}'
done
expect 1 'the name web belongs to the deployment with the id ' deployment apply -f - <<<'{name: web, id: other, replicas: 5}'
expect 1 'the id the-api belongs to the deployment api,' deployment apply -f - <<<'{name: web, id: the-api, replicas: 5}'
expect 1 '2 more of the file were not tried' deployment apply -f - <<<'[{name: web, replicas: 51}, {name: b}, {name: c}]'
expect 2 'holds no deployment' deployment apply -f - <<<'# nothing'
expect 1 'deployment web: body.replicas: 51 replicas: 2 to 20 are allowed' deployment apply -f - <<<'{name: web, replicas: 51}'
within_20_s "what was applied does not count" comes_to '^web root.a 5 5 0 Scheduled '
expect 0 '^$' deployment wait web
expect 7 'deployment web is there after 1ms' deployment wait web --for deleted --timeout 1ms
says '^deployment new deleted$' deployment delete new
expect 0 '^$' deployment wait new --for deleted
expect 4 'there is no deployment "new"' deployment wait new
says '^deployment api deleted$' deployment delete the-api
says '^no dead letters$' mcs dead-letters
says '^no dead letter here to try again$' mcs retry
expect 2 'deploymentscale' mcs retry rows
says '^resync of all begun$' mcs resync
expect 0 '^resync of node begun$' mcs resync node --wait
expect 0 '^resync of all begun$' mcs resync --wait
says '^the change log has another name: every daemon reads all rows anew$' mcs bump-epoch
relisted() { ykctl metrics --family mcs_relists | grep -q '^mcs_relists_total{reason="epoch"} [1-9]'; }
within_20_s "not all rows are read anew for another name of the change log" relisted
says '^deployment web is looked at$' mcs reconcile deployment web
expect 2 'ID' mcs reconcile node
expect 4 'there is no deployment "nosuch"' mcs reconcile deployment nosuch
in_sync() { ykctl mcs inspect "$@" | grep -q '^verdict: *in sync$'; }
for kind in deployment deploymentscale deploymentschedule; do within_20_s "$kind web is not in sync" in_sync "$kind" web; done
within_20_s "node n1 is not in sync" in_sync node n1
says '^database: +version [0-9]+ .uid .*content [0-9a-f]{16}.$' mcs inspect deployment web
says '^autoscaler +done +0$' mcs inspect deployment web
json 'd["item"]["cache"] == d["item"]["database"], d["item"]["verdict"]' "(True, 'in sync')" mcs inspect node n1 -o json
expect 4 'there is no deploymentscale "nobody"' mcs inspect deploymentscale nobody
expect 2 'deploymentscale' mcs inspect rows web
says '^mcs: +running$' mcs status
says '^deployment +1 ' mcs status
says '^autoscaler +yes +1$' mcs status
json 'd["item"]["limits"]["replicas"]' 50 mcs status -o json
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null || true
start_ykd --settings "$work/settings" --state "$work/state"
within_20_s "web is not there after a kill" shows '^web root.a 5 5 0 Scheduled '
says '^node n2 deleted$' mcs node delete n2
within_20_s "what ran on a node that has gone still runs" comes_to '^web root.a 5 4 1 '
says '^deployment web deleted$' deployment rm web
says '^no deployments$' deployments
kill -TERM "$daemon"
wait "$daemon" || fail "ykd ended with $? on SIGTERM"
daemon=
echo "$checks checks"
