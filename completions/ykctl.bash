# Made by `ykctl completion bash`; do not edit.
# shellcheck shell=bash disable=SC2207,SC2034
# Names from the daemon that the line means. They are compared, never expanded: a name may look like a command.
_ykctl_names() {
    local -a typed=() given=()
    local i name
    read -ra typed <<<"${COMP_LINE-${COMP_WORDS[*]}}" # COMP_WORDS has addresses in pieces
    if [[ -n $cur ]]; then unset 'typed[-1]'; fi
    for ((i = 1; i + 1 < ${#typed[@]}; i++)); do
        case ${typed[i]} in
        -s|--socket|-r|--rm|-p|--partition|--token-file|--tls-ca|--context) given+=("${typed[i]}" "${typed[i+1]}") ;;
        esac
    done
    while IFS= read -r name; do
        if [[ $name == "$cur"* ]]; then COMPREPLY+=("$name"); fi
    done < <("${COMP_WORDS[0]}" "${given[@]}" names "$1" 2>/dev/null)
}
_ykctl() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} place='' word i skip=no
    local words='' options='' files=no kind=''
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [ $skip = yes ]; then skip=no; continue; fi
        case $word in
            --after|--allocations|--app|--applications|--asks|--attempt|--attribute|--bucket|--color|--columns|--command|--config|--config-store|--context|--count|--db|--delete-mode|--devices|--digest-allocations|--digest-applications|--digest-nodes|--env|--expect|--experiment|--extra|--family|--file|--first|--for|--from|--gang-style|--grace|--grep|--group|--hook-timeout|--id|--interval|--junit|--keep|--key|--kind|--lines|--max|--max-commands|--max-quarantined|--message|--metric|--min|--mode|--name-format|--node|--nodes|--object|--on|--output|--parallel|--partition|--placeholder-timeout|--pods|--policy|--policy-group|--priority|--queue|--reason|--recovery|--recovery-idle|--recovery-timeout|--refuse|--replica|--replicas|--required-node|--resources|--restart|--rm|--runs|--schedule|--seed|--selector|--since|--socket|--sort-by|--speed|--state|--state-dump|--svg|--tag|--task-group|--timeout|--tls-ca|--token-file|--type|--until|--user|--who|-R|-a|-c|-f|-j|-l|-m|-n|-o|-p|-q|-r|-s|-u) skip=yes; continue ;;
        esac
        case "$place:$word" in
            ':status') place='status' ;;
            ':ping') place='ping' ;;
            ':health') place='health' ;;
            ':version') place='version' ;;
            ':rm') place='rm' ;;
            ':recovery') place='recovery' ;;
            ':node') place='node' ;;
            ':queue') place='queue' ;;
            ':app'|':application') place='app' ;;
            ':ask') place='ask' ;;
            ':alloc'|':allocation') place='alloc' ;;
            ':deployment'|':deploy') place='deployment' ;;
            ':mcs') place='mcs' ;;
            ':apply') place='apply' ;;
            ':diff') place='diff' ;;
            ':delete') place='delete' ;;
            ':partition') place='partition' ;;
            ':cluster') place='cluster' ;;
            ':user') place='user' ;;
            ':group') place='group' ;;
            ':config') place='config' ;;
            ':context') place='context' ;;
            ':explain') place='explain' ;;
            ':scenario') place='scenario' ;;
            ':replay') place='replay' ;;
            ':recording') place='recording' ;;
            ':dump') place='dump' ;;
            ':events') place='events' ;;
            ':top') place='top' ;;
            ':audit') place='audit' ;;
            ':metrics') place='metrics' ;;
            ':log') place='log' ;;
            ':wait') place='wait' ;;
            ':sched') place='sched' ;;
            ':clock') place='clock' ;;
            ':whoami') place='whoami' ;;
            ':can-i') place='can-i' ;;
            ':completion') place='completion' ;;
            ':help') place='help' ;;
            'rm:register') place='rm register' ;;
            'rm:list'|'rm:ls') place='rm list' ;;
            'rm:show') place='rm show' ;;
            'rm:log') place='rm log' ;;
            'rm:deregister') place='rm deregister' ;;
            'rm:serve') place='rm serve' ;;
            'recovery:done') place='recovery done' ;;
            'recovery:list'|'recovery:ls') place='recovery list' ;;
            'recovery:resolve') place='recovery resolve' ;;
            'node:add') place='node add' ;;
            'node:list'|'node:ls') place='node list' ;;
            'node:show') place='node show' ;;
            'node:update') place='node update' ;;
            'node:drain') place='node drain' ;;
            'node:undrain') place='node undrain' ;;
            'node:remove'|'node:rm') place='node remove' ;;
            'queue:list'|'queue:ls') place='queue list' ;;
            'queue:tree') place='queue tree' ;;
            'queue:show') place='queue show' ;;
            'app:add') place='app add' ;;
            'app:list'|'app:ls') place='app list' ;;
            'app:show') place='app show' ;;
            'app:remove'|'app:rm') place='app remove' ;;
            'ask:add') place='ask add' ;;
            'ask:list'|'ask:ls') place='ask list' ;;
            'ask:show') place='ask show' ;;
            'ask:remove'|'ask:rm') place='ask remove' ;;
            'alloc:list'|'alloc:ls') place='alloc list' ;;
            'alloc:show') place='alloc show' ;;
            'alloc:release') place='alloc release' ;;
            'deployment:create') place='deployment create' ;;
            'deployment:list'|'deployment:ls') place='deployment list' ;;
            'deployment:show'|'deployment:describe') place='deployment show' ;;
            'deployment:logs') place='deployment logs' ;;
            'deployment:apply') place='deployment apply' ;;
            'deployment:wait') place='deployment wait' ;;
            'deployment:watch') place='deployment watch' ;;
            'deployment:set') place='deployment set' ;;
            'deployment:scale') place='deployment scale' ;;
            'deployment:autoscale') place='deployment autoscale' ;;
            'deployment:metric') place='deployment metric' ;;
            'deployment:pause') place='deployment pause' ;;
            'deployment:resume') place='deployment resume' ;;
            'deployment:delete'|'deployment:rm') place='deployment delete' ;;
            'mcs:status') place='mcs status' ;;
            'mcs:resync') place='mcs resync' ;;
            'mcs:reconcile') place='mcs reconcile' ;;
            'mcs:inspect') place='mcs inspect' ;;
            'mcs:dead-letters') place='mcs dead-letters' ;;
            'mcs:retry') place='mcs retry' ;;
            'mcs:bump-epoch') place='mcs bump-epoch' ;;
            'mcs:check') place='mcs check' ;;
            'mcs:node') place='mcs node' ;;
            'mcs node:create') place='mcs node create' ;;
            'mcs node:list'|'mcs node:ls') place='mcs node list' ;;
            'mcs node:set') place='mcs node set' ;;
            'mcs node:drain') place='mcs node drain' ;;
            'mcs node:undrain') place='mcs node undrain' ;;
            'mcs node:delete') place='mcs node delete' ;;
            'partition:list'|'partition:ls') place='partition list' ;;
            'partition:show') place='partition show' ;;
            'cluster:fragmentation') place='cluster fragmentation' ;;
            'user:list'|'user:ls') place='user list' ;;
            'user:show') place='user show' ;;
            'group:list'|'group:ls') place='group list' ;;
            'group:show') place='group show' ;;
            'config:show') place='config show' ;;
            'config:check'|'config:validate') place='config check' ;;
            'config:diff') place='config diff' ;;
            'config:reload') place='config reload' ;;
            'config:edit') place='config edit' ;;
            'config:history') place='config history' ;;
            'config:rollback') place='config rollback' ;;
            'config:view-client') place='config view-client' ;;
            'context:add') place='context add' ;;
            'context:use') place='context use' ;;
            'context:list'|'context:ls') place='context list' ;;
            'context:remove'|'context:rm') place='context remove' ;;
            'explain:app') place='explain app' ;;
            'explain:ask') place='explain ask' ;;
            'explain:preemption') place='explain preemption' ;;
            'explain:node') place='explain node' ;;
            'explain:user') place='explain user' ;;
            'explain:config') place='explain config' ;;
            'explain:queue') place='explain queue' ;;
            'explain:placement') place='explain placement' ;;
            'scenario:run') place='scenario run' ;;
            'replay:gen') place='replay gen' ;;
            'recording:play') place='recording play' ;;
            'recording:verify') place='recording verify' ;;
            'dump:diff') place='dump diff' ;;
            'dump:verify') place='dump verify' ;;
            'log:level') place='log level' ;;
            'sched:step') place='sched step' ;;
            'clock:show') place='clock show' ;;
            'clock:advance') place='clock advance' ;;
        esac
    done
    case "$place:$prev" in
        'rm register:--config') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'rm serve:--config') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'rm serve:--config-store') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'rm serve:--state-dump') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'rm serve:--state') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'rm serve:--output') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'rm serve:--restart') COMPREPLY=($(compgen -W 'never on-failure always' -- "$cur")); return ;;
        'node add:-f'|'node add:--file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'app add:-q'|'app add:--queue') _ykctl_names 'queue'; return ;;
        'app add:-u'|'app add:--user') _ykctl_names 'user'; return ;;
        'app add:--gang-style') COMPREPLY=($(compgen -W 'hard soft' -- "$cur")); return ;;
        'app add:-f'|'app add:--file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'app list:--state') COMPREPLY=($(compgen -W 'New Accepted Running Resuming Completing Completed Failing Failed Rejected Expired' -- "$cur")); return ;;
        'app list:-q'|'app list:--queue') _ykctl_names 'queue'; return ;;
        'ask add:--required-node') _ykctl_names 'node'; return ;;
        'ask add:-f'|'ask add:--file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'ask list:--app') _ykctl_names 'app'; return ;;
        'ask show:--app') _ykctl_names 'app'; return ;;
        'ask remove:--app') _ykctl_names 'app'; return ;;
        'alloc list:--app') _ykctl_names 'app'; return ;;
        'alloc list:--node') _ykctl_names 'node'; return ;;
        'alloc list:-q'|'alloc list:--queue') _ykctl_names 'queue'; return ;;
        'alloc show:--app') _ykctl_names 'app'; return ;;
        'alloc release:--app') _ykctl_names 'app'; return ;;
        'deployment create:-q'|'deployment create:--queue') _ykctl_names 'queue'; return ;;
        'deployment create:-u'|'deployment create:--user') _ykctl_names 'user'; return ;;
        'deployment create:--restart') COMPREPLY=($(compgen -W 'never on-failure always' -- "$cur")); return ;;
        'deployment create:--delete-mode') COMPREPLY=($(compgen -W 'cascade owners orphan' -- "$cur")); return ;;
        'deployment create:--policy') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'deployment list:-q'|'deployment list:--queue') _ykctl_names 'queue'; return ;;
        'deployment apply:-f'|'deployment apply:--file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'deployment wait:--for') COMPREPLY=($(compgen -W 'placed deleted' -- "$cur")); return ;;
        'deployment watch:--from') COMPREPLY=($(compgen -W 'list now' -- "$cur")); return ;;
        'deployment set:-q'|'deployment set:--queue') _ykctl_names 'queue'; return ;;
        'deployment set:-u'|'deployment set:--user') _ykctl_names 'user'; return ;;
        'deployment set:--restart') COMPREPLY=($(compgen -W 'never on-failure always' -- "$cur")); return ;;
        'deployment set:--delete-mode') COMPREPLY=($(compgen -W 'cascade owners orphan' -- "$cur")); return ;;
        'deployment autoscale:--policy') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'deployment delete:--mode') COMPREPLY=($(compgen -W 'cascade owners orphan' -- "$cur")); return ;;
        'apply:-f'|'apply:--file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'diff:-f'|'diff:--file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'delete:-f'|'delete:--file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'config reload:-f'|'config reload:--file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'explain ask:--app') _ykctl_names 'app'; return ;;
        'explain preemption:--app') _ykctl_names 'app'; return ;;
        'explain placement:--user') _ykctl_names 'user'; return ;;
        'explain placement:-f'|'explain placement:--file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'scenario run:--config') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'scenario run:--junit') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'replay:--nodes') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'replay:--pods') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'replay:--policy') COMPREPLY=($(compgen -W 'fair binpacking fragmentation' -- "$cur")); return ;;
        'replay:--experiment') COMPREPLY=($(compgen -W 'fgd' -- "$cur")); return ;;
        'replay:--svg') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        'events:--type') COMPREPLY=($(compgen -W 'REQUEST APP NODE QUEUE USERGROUP RM' -- "$cur")); return ;;
        'wait:--app') _ykctl_names 'app'; return ;;
        *':--context') _ykctl_names 'context'; return ;;
        *':-r'|*':--rm') _ykctl_names 'rm'; return ;;
        *':-p'|*':--partition') _ykctl_names 'partition'; return ;;
        *':-o'|*':--output') COMPREPLY=($(compgen -W 'table wide json jsonl yaml name' -- "$cur")); return ;;
        *':--color') COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
        *':--token-file') COMPREPLY=($(compgen -f -- "$cur")); return ;;
        *':--tls-ca') COMPREPLY=($(compgen -f -- "$cur")); return ;;
    esac
    case $prev in
        --after|--allocations|--app|--applications|--asks|--attempt|--attribute|--bucket|--color|--columns|--command|--config|--config-store|--context|--count|--db|--delete-mode|--devices|--digest-allocations|--digest-applications|--digest-nodes|--env|--expect|--experiment|--extra|--family|--file|--first|--for|--from|--gang-style|--grace|--grep|--group|--hook-timeout|--id|--interval|--junit|--keep|--key|--kind|--lines|--max|--max-commands|--max-quarantined|--message|--metric|--min|--mode|--name-format|--node|--nodes|--object|--on|--output|--parallel|--partition|--placeholder-timeout|--pods|--policy|--policy-group|--priority|--queue|--reason|--recovery|--recovery-idle|--recovery-timeout|--refuse|--replica|--replicas|--required-node|--resources|--restart|--rm|--runs|--schedule|--seed|--selector|--since|--socket|--sort-by|--speed|--state|--state-dump|--svg|--tag|--task-group|--timeout|--tls-ca|--token-file|--type|--until|--user|--who|-R|-a|-c|-f|-j|-l|-m|-n|-o|-p|-q|-r|-s|-u) return ;;
    esac
    case $place in
        '')
            words='status ping health version rm recovery node queue app ask alloc deployment mcs apply diff delete partition cluster user group config context explain scenario replay recording dump events top audit metrics log wait sched clock whoami can-i completion help'
            options='-h --help -s --socket --context -r --rm -p --partition -o --output --columns --sort-by --no-headers --timeout --color --token-file --tls-ca --quiet -v --verbose --strict --trace-wire'
            kind=''
            files=no ;;
        'status')
            words=''
            options='-h --help -w --watch --interval'
            kind=''
            files=no ;;
        'ping')
            words=''
            options='-h --help -c --count --wait'
            kind=''
            files=no ;;
        'health')
            words=''
            options='-h --help --invariants -w --watch --interval'
            kind=''
            files=no ;;
        'version')
            words=''
            options='-h --help --client'
            kind=''
            files=no ;;
        'rm')
            words='register list show log deregister serve'
            options='-h --help'
            kind=''
            files=no ;;
        'rm register')
            words=''
            options='-h --help --policy-group --config --extra --force --if-not-registered --recovery --recovery-timeout --recovery-idle --no-force-applications --max-quarantined --expect --no-confirm --keep'
            kind=''
            files=no ;;
        'rm list')
            words=''
            options='-h --help --state -w --watch --interval'
            kind=''
            files=no ;;
        'rm show')
            words=''
            options='-h --help -w --watch --interval'
            kind='rm'
            files=no ;;
        'rm log')
            words=''
            options='-h --help --after --count'
            kind='rm'
            files=no ;;
        'rm deregister')
            words=''
            options='-h --help --force'
            kind='rm'
            files=no ;;
        'rm serve')
            words=''
            options='-h --help --policy-group --config --extra --force --if-not-registered --recovery --recovery-timeout --recovery-idle --no-force-applications --max-quarantined --expect --no-confirm --count --refuse --config-store --state-dump --state --exec --grace --output --restart --max-commands --on --hook-timeout'
            kind=''
            files=no ;;
        'recovery')
            words='done list resolve'
            options='-h --help'
            kind=''
            files=no ;;
        'recovery done')
            words=''
            options='-h --help --id --attempt --as-restored --nodes --applications --allocations --asks --digest-nodes --digest-applications --digest-allocations'
            kind='rm'
            files=no ;;
        'recovery list')
            words='nodes applications allocations'
            options='-h --help --bucket -w --watch --interval'
            kind=''
            files=no ;;
        'recovery resolve')
            words='retry reset accept abort'
            options='-h --help'
            kind=''
            files=no ;;
        'node')
            words='add list show update drain undrain remove'
            options='-h --help'
            kind=''
            files=no ;;
        'node add')
            words=''
            options='-h --help -R --resources --devices -a --attribute --drained --if-not-exists --count --name-format --first -f --file'
            kind=''
            files=no ;;
        'node list')
            words=''
            options='-h --help --state -l --selector -w --watch --interval'
            kind='node'
            files=no ;;
        'node show')
            words=''
            options='-h --help -w --watch --interval'
            kind='node'
            files=no ;;
        'node update')
            words=''
            options='-h --help -R --resources --devices -a --attribute'
            kind='node'
            files=no ;;
        'node drain')
            words=''
            options='-h --help --reason'
            kind='node'
            files=no ;;
        'node undrain')
            words=''
            options='-h --help'
            kind='node'
            files=no ;;
        'node remove')
            words=''
            options='-h --help --force'
            kind='node'
            files=no ;;
        'queue')
            words='list tree show'
            options='-h --help'
            kind=''
            files=no ;;
        'queue list')
            words=''
            options='-h --help --state -l --selector -w --watch --interval'
            kind='queue'
            files=no ;;
        'queue tree')
            words=''
            options='-h --help -w --watch --interval'
            kind=''
            files=no ;;
        'queue show')
            words=''
            options='-h --help -w --watch --interval'
            kind='queue'
            files=no ;;
        'app')
            words='add list show remove'
            options='-h --help'
            kind=''
            files=no ;;
        'app add')
            words=''
            options='-h --help -q --queue -u --user --group --tag --task-group --gang-style --placeholder-timeout --if-not-exists -f --file'
            kind=''
            files=no ;;
        'app list')
            words=''
            options='-h --help --state -q --queue --pending --all -w --watch --interval'
            kind='app'
            files=no ;;
        'app show')
            words=''
            options='-h --help -w --watch --interval'
            kind='app'
            files=no ;;
        'app remove')
            words=''
            options='-h --help'
            kind='app'
            files=no ;;
        'ask')
            words='add list show remove'
            options='-h --help'
            kind=''
            files=no ;;
        'ask add')
            words=''
            options='-h --help -R --resources --devices -n --count --key --priority --required-node --task-group --placeholder --may-preempt --preemptable --tag --if-not-exists -f --file --wait'
            kind='app'
            files=no ;;
        'ask list')
            words=''
            options='-h --help --app -l --selector -w --watch --interval'
            kind=''
            files=no ;;
        'ask show')
            words=''
            options='-h --help --app -w --watch --interval'
            kind='ask'
            files=no ;;
        'ask remove')
            words=''
            options='-h --help --app --all'
            kind='ask'
            files=no ;;
        'alloc')
            words='list show release'
            options='-h --help'
            kind=''
            files=no ;;
        'alloc list')
            words=''
            options='-h --help --app --node -q --queue -l --selector -w --watch --interval'
            kind=''
            files=no ;;
        'alloc show')
            words=''
            options='-h --help --app -w --watch --interval'
            kind='alloc'
            files=no ;;
        'alloc release')
            words=''
            options='-h --help --app --all --reason'
            kind='alloc'
            files=no ;;
        'deployment')
            words='create list show logs apply wait watch set scale autoscale metric pause resume delete'
            options='-h --help'
            kind=''
            files=no ;;
        'deployment create')
            words=''
            options='-h --help --replicas -R --resources -q --queue -u --user --group --priority --tag --command --env --restart --delete-mode --min --max --metric --schedule --policy --id --adopt --wait'
            kind=''
            files=no ;;
        'deployment list')
            words=''
            options='-h --help -q --queue --state -l --selector -w --watch --interval'
            kind='deployment'
            files=no ;;
        'deployment show')
            words=''
            options='-h --help -w --watch --interval'
            kind='deployment'
            files=no ;;
        'deployment logs')
            words=''
            options='-h --help --replica --attempt --lines -f --follow'
            kind='deployment'
            files=no ;;
        'deployment apply')
            words=''
            options='-h --help -f --file --dry-run --force'
            kind=''
            files=no ;;
        'deployment wait')
            words=''
            options='-h --help --for'
            kind='deployment'
            files=no ;;
        'deployment watch')
            words=''
            options='-h --help --from'
            kind='deployment'
            files=no ;;
        'deployment set')
            words=''
            options='-h --help -R --resources -q --queue -u --user --group --priority --tag --command --env --restart --delete-mode --wait'
            kind='deployment'
            files=no ;;
        'deployment scale')
            words=''
            options='-h --help --wait'
            kind='deployment'
            files=no ;;
        'deployment autoscale')
            words=''
            options='-h --help --min --max --metric --schedule --policy'
            kind='deployment'
            files=no ;;
        'deployment metric')
            words=''
            options='-h --help --replica'
            kind='deployment'
            files=no ;;
        'deployment pause')
            words=''
            options='-h --help'
            kind='deployment'
            files=no ;;
        'deployment resume')
            words=''
            options='-h --help'
            kind='deployment'
            files=no ;;
        'deployment delete')
            words=''
            options='-h --help --mode --wait'
            kind='deployment'
            files=no ;;
        'mcs')
            words='status resync reconcile inspect dead-letters retry bump-epoch check node'
            options='-h --help'
            kind=''
            files=no ;;
        'mcs status')
            words=''
            options='-h --help -w --watch --interval'
            kind=''
            files=no ;;
        'mcs resync')
            words='deployment deploymentscale deploymentschedule node all'
            options='-h --help --wait'
            kind=''
            files=no ;;
        'mcs reconcile')
            words='deployment deploymentscale deploymentschedule node'
            options='-h --help'
            kind=''
            files=no ;;
        'mcs inspect')
            words='deployment deploymentscale deploymentschedule node'
            options='-h --help'
            kind=''
            files=no ;;
        'mcs dead-letters')
            words=''
            options='-h --help -w --watch --interval'
            kind=''
            files=no ;;
        'mcs retry')
            words='deployment deploymentscale deploymentschedule node all'
            options='-h --help'
            kind=''
            files=no ;;
        'mcs bump-epoch')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
        'mcs check')
            words=''
            options='-h --help --db --repair'
            kind=''
            files=no ;;
        'mcs node')
            words='create list set drain undrain delete'
            options='-h --help'
            kind=''
            files=no ;;
        'mcs node create')
            words=''
            options='-h --help -R --resources -a --attribute --local'
            kind=''
            files=no ;;
        'mcs node list')
            words=''
            options='-h --help --state -l --selector -w --watch --interval'
            kind='mcs node'
            files=no ;;
        'mcs node set')
            words=''
            options='-h --help -R --resources -a --attribute'
            kind='mcs node'
            files=no ;;
        'mcs node drain')
            words=''
            options='-h --help'
            kind='mcs node'
            files=no ;;
        'mcs node undrain')
            words=''
            options='-h --help'
            kind='mcs node'
            files=no ;;
        'mcs node delete')
            words=''
            options='-h --help'
            kind='mcs node'
            files=no ;;
        'apply')
            words=''
            options='-h --help -f --file --dry-run'
            kind=''
            files=no ;;
        'diff')
            words=''
            options='-h --help -f --file'
            kind=''
            files=no ;;
        'delete')
            words=''
            options='-h --help -f --file --force'
            kind=''
            files=no ;;
        'partition')
            words='list show'
            options='-h --help'
            kind=''
            files=no ;;
        'partition list')
            words=''
            options='-h --help -w --watch --interval'
            kind='partition'
            files=no ;;
        'partition show')
            words=''
            options='-h --help -w --watch --interval'
            kind='partition'
            files=no ;;
        'cluster')
            words='fragmentation'
            options='-h --help'
            kind=''
            files=no ;;
        'cluster fragmentation')
            words=''
            options='-h --help --nodes -w --watch --interval'
            kind=''
            files=no ;;
        'user')
            words='list show'
            options='-h --help'
            kind=''
            files=no ;;
        'user list')
            words=''
            options='-h --help -w --watch --interval'
            kind='user'
            files=no ;;
        'user show')
            words=''
            options='-h --help -w --watch --interval'
            kind='user'
            files=no ;;
        'group')
            words='list show'
            options='-h --help'
            kind=''
            files=no ;;
        'group list')
            words=''
            options='-h --help -w --watch --interval'
            kind='group'
            files=no ;;
        'group show')
            words=''
            options='-h --help -w --watch --interval'
            kind='group'
            files=no ;;
        'config')
            words='show check diff reload edit history rollback view-client'
            options='-h --help'
            kind=''
            files=no ;;
        'config show')
            words=''
            options='-h --help --go-json'
            kind=''
            files=no ;;
        'config check')
            words=''
            options='-h --help --offline'
            kind=''
            files=yes ;;
        'config diff')
            words=''
            options='-h --help'
            kind=''
            files=yes ;;
        'config reload')
            words=''
            options='-h --help -f --file --from-file --extra -m --message --dry-run'
            kind=''
            files=no ;;
        'config edit')
            words=''
            options='-h --help -m --message'
            kind=''
            files=no ;;
        'config history')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
        'config rollback')
            words=''
            options='-h --help -m --message --dry-run'
            kind='checksum'
            files=no ;;
        'config view-client')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
        'context')
            words='add use list remove'
            options='-h --help'
            kind=''
            files=no ;;
        'context add')
            words=''
            options='-h --help --replace'
            kind=''
            files=no ;;
        'context use')
            words=''
            options='-h --help --none'
            kind='context'
            files=no ;;
        'context list')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
        'context remove')
            words=''
            options='-h --help'
            kind='context'
            files=no ;;
        'explain')
            words='app ask preemption node user config queue placement'
            options='-h --help'
            kind=''
            files=no ;;
        'explain app')
            words=''
            options='-h --help -w --watch --interval'
            kind='app'
            files=no ;;
        'explain ask')
            words=''
            options='-h --help --app -w --watch --interval'
            kind='ask'
            files=no ;;
        'explain preemption')
            words=''
            options='-h --help --app -w --watch --interval'
            kind='ask'
            files=no ;;
        'explain node')
            words=''
            options='-h --help -w --watch --interval'
            kind='node'
            files=no ;;
        'explain user')
            words=''
            options='-h --help --group -w --watch --interval'
            kind=''
            files=no ;;
        'explain config')
            words=''
            options='-h --help'
            kind='queue'
            files=no ;;
        'explain queue')
            words=''
            options='-h --help'
            kind='queue'
            files=no ;;
        'explain placement')
            words=''
            options='-h --help --user --group --tag --queue -f --file'
            kind=''
            files=no ;;
        'scenario')
            words='run'
            options='-h --help'
            kind=''
            files=no ;;
        'scenario run')
            words=''
            options='-h --help --spawn --config --junit --keep -j --parallel'
            kind=''
            files=yes ;;
        'replay')
            words='gen'
            options='-h --help --nodes --pods --policy --speed --spawn --keep --experiment --seed --runs --learnt --svg --learn'
            kind=''
            files=no ;;
        'replay gen')
            words=''
            options='-h --help --nodes --pods --seed'
            kind=''
            files=yes ;;
        'recording')
            words='play verify'
            options='-h --help'
            kind=''
            files=no ;;
        'recording play')
            words=''
            options='-h --help --until --all'
            kind=''
            files=yes ;;
        'recording verify')
            words=''
            options='-h --help'
            kind=''
            files=yes ;;
        'dump')
            words='diff verify'
            options='-h --help'
            kind=''
            files=yes ;;
        'dump diff')
            words=''
            options='-h --help'
            kind=''
            files=yes ;;
        'dump verify')
            words=''
            options='-h --help'
            kind=''
            files=yes ;;
        'events')
            words=''
            options='-h --help --follow --since --object --type'
            kind=''
            files=no ;;
        'top')
            words=''
            options='-h --help --interval --once'
            kind=''
            files=no ;;
        'audit')
            words=''
            options='-h --help -n --count --who --kind --since --refused -w --watch --interval'
            kind=''
            files=no ;;
        'metrics')
            words=''
            options='-h --help --grep --family'
            kind=''
            files=no ;;
        'log')
            words='level'
            options='-h --help'
            kind=''
            files=no ;;
        'log level')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
        'wait')
            words=''
            options='-h --help --for --app'
            kind='object'
            files=no ;;
        'sched')
            words='step'
            options='-h --help'
            kind=''
            files=no ;;
        'sched step')
            words=''
            options='-h --help --until'
            kind=''
            files=no ;;
        'clock')
            words='show advance'
            options='-h --help'
            kind=''
            files=no ;;
        'clock show')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
        'clock advance')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
        'whoami')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
        'can-i')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
        'completion')
            words='bash zsh fish'
            options='-h --help'
            kind=''
            files=no ;;
        'help')
            words=''
            options='-h --help'
            kind=''
            files=no ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options -h --help -s --socket --context -r --rm -p --partition -o --output --columns --sort-by --no-headers --timeout --color --token-file --tls-ca --quiet -v --verbose --strict --trace-wire" -- "$cur"))
    else
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        if [ -n "$kind" ]; then _ykctl_names "$kind"; fi
        if [ $files = yes ]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
    fi
}
complete -o filenames -F _ykctl ykctl
