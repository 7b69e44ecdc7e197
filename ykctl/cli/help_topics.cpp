// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/help_topics.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace yk::cli {
namespace {

constexpr Topic kTopics[] = {
    {"exit-codes", "what the exit code says", R"(Exit codes
  0    done
  1    understood, but refused or failed by the daemon
  2    the command line or an input file is wrong
  3    the daemon cannot be reached
  4    not found
  5    permission denied
  6    outcome unknown: the connection was lost, or the daemon ended, after a change was sent,
       or the daemon lost its database while it committed
  7    not what wait or --wait asked for within --timeout
  8    differences found (config diff, dump diff, dump verify, recording verify, mcs check, warnings of config check --strict)
  130  interrupted (--watch, --follow, rm serve, replay)
scenario run has its own: 0 all pass, 1 an expectation failed, 2 a file is wrong or no daemon.
)"},
    {"quantities", "how amounts are written with -R", R"(Quantities (-R memory=64Gi,vcore=16,gpu=4)
  digits and at most one suffix, no sign, no fraction (1500m for 1.5 cores, 1536Mi for 1.5Gi):
    k M G T P E      powers of 1000
    Ki Mi Gi Ti Pi Ei  powers of 1024
    m                a thousandth, for vcore only
  vcore counts cores: vcore=2 and vcore=2000m are the same. memory is in bytes. Any other name is a plain count.
  Tables show memory in binary units and vcore in cores; -o json has the exact integers (bytes, thousandths of a core).
  Files of -f hold messages: integers, in bytes and thousandths of a core, as -o json and -o yaml show them. Where one
  amount of a map is a text (memory: 64Gi), all of it is read as above: vcore: 16 beside it means 16 cores.
)"},
    {"output", "the forms of -o", R"(Output (-o FORM, YKCTL_OUTPUT)
  table  for people; may change
  wide   the same with more columns
  json   {"schema":1,"items":[...]} for lists, {"schema":1,"item":{...}} for one object; stable
  jsonl  one object per line
  yaml   as json
  name   one name per line
  Errors go to standard error; with -o json and jsonl as {"schema":1,"error":{code,name,message,path}}.
  --columns name,state and --sort-by used:desc choose columns and order of a list, --no-headers leaves the headings out
  and prints nothing about an empty list; a column's name is its heading with a dash for a blank: last-reason.
  A column may also be a path into the JSON of the list: .attributes.rack, .capacity.nvidia.com/gpu. There is no jsonpath
  and no template: -o json leaves nothing out, and jq does all that they would.
  --watch redraws a terminal; on a pipe it appends {"schema":1,"change":added|changed|removed,"item":{...}} per line.
  When the daemon goes away, --watch, events --follow, wait and ask add --wait say so on standard error and dial again.
)"},
    {"files", "the files of -f", R"(Files (-f FILE, - for standard input)
  The messages of the scheduler interface with their own field names: NodeInfo for node add, AddApplicationRequest for
  app add, AllocationAsk for ask add. YAML, JSON or JSON-lines; one message, a list, several documents, or the request
  ({nodes: [...]}, {new: [...]}, {asks: [...]}). An unknown field is an error with file, line and column.
  The whole file is checked before anything is sent; messages go out a thousand at a time.
    nodeID: n1
    action: CREATE                     # the default
    schedulableResource: {memory: 68719476736, vcore: 16000}
)"},
    {"environment", "variables and the client's file",
     R"(Where values come from: option, else --context, else environment, else the context in use, else file, else default
  YKCTL_CONTEXT is the context in use instead of that of ykctl context use.
  -s  YKCTL_SOCKET      -r  YKCTL_RM        -p  YKCTL_PARTITION   -o  YKCTL_OUTPUT
  --timeout  YKCTL_TIMEOUT    --color  YKCTL_COLOR, NO_COLOR
  --token-file  YKCTL_TOKEN_FILE    --tls-ca  YKCTL_TLS_CA
The file is $XDG_CONFIG_HOME/ykctl/config.yaml (~/.config/ykctl/config.yaml), a map with the keys
  socket, rm, partition, output, timeout, color, token-file, tls-ca
Without an address: /run/ykd/ykd.sock, $XDG_RUNTIME_DIR/ykd.sock, /tmp/ykd-UID/ykd.sock, the first that exists.
)"},
    {"reasons", "the reason codes of explain", R"(Reasons (ykctl explain)
  QUEUE_MAX           a queue on the path is at its maximum; that of root is what the nodes have: the cluster is full
  QUEUE_STOPPED       the queue takes nothing new
  QUEUE_MAX_APPS      the queue runs as many applications as it may
  APP_LIMIT           the user or the group runs as many applications as it may
  USER_LIMIT          the user is at a limit
  GROUP_LIMIT         the group is at a limit
  NODE_FIT            no node has enough free
  DEVICE_SHAPE        it wants neither a part of one device nor whole devices of any node
  DEVICE_CONFLICT     the nodes that would do have something that has not the devices it should have
  NODE_UNSCHEDULABLE  the nodes that would do are drained
  REQUIRED_NODE       the one node it must run on cannot take it
  RESERVED_OTHER      the nodes that would do are kept for other asks
  GANG                it takes the place of a placeholder, and that is not there or not gone yet; or the placeholders
                      of the application do not add up to what it announced
  SORT                others of its queue go first: how many, the first three, and what they are sorted by
  BACKOFF             tried too often; waits before the next attempt
  RM_PREDICATE        the RM said no, or has the last word
  PREEMPT_WAIT        what keeps it from preempting others now, or from whom it waits: victims that are on their way out,
                      a delay, a switch, a guarantee
  HELD                its queue, user or application is not in a state to run it
  IMPOSSIBLE          no node and no queue could ever hold it, or no node offers what it wants
Not in the way, but worth knowing:
  PLACED              it runs already, on this node
  RESERVED            this node is kept for it
  NODE_ORDER          it goes to this node and not to the emptiest, so that less is left idle that nobody can use
  SCHEDULABLE         it fits as it is, nobody has to be preempted
  REJECTED            what was said when the application was refused
The verdict is IMPOSSIBLE before HELD (stopped, backing off, or waiting for its placeholder), before BLOCKED_BY_LIMIT (of
a queue, a user or a group, in amounts or in applications), before WAITING (for nodes), before SCHEDULABLE.
)"},
    {"recovering", "after a restart: how an RM reports again what it has",
     R"(Recovering (after a restart of ykd or of an RM)
  What a process serves ykd does not keep. An RM that had something registers with a recovery, reports what exists, and
  says when that is all; until then nothing is placed for it. Detached RMs come back by themselves (ykd --state).
    ykctl rm register demo --recovery r1
    ykctl app add …; ykctl node add -f nodes.yaml      # nodes with their existingAllocations
    ykctl ask add …
    ykctl recovery list allocations                    # a look at what was restored
    ykctl recovery done --id r1 --as-restored          # or with the RM's own counts and digests
  The answer is running; or retry: report the rest and say done again with --attempt 2; or failed:
    ykctl recovery resolve retry     keep what there is, with new time limits
    ykctl recovery resolve reset     drop everything and begin anew
    ykctl recovery resolve accept    run with what there is; what is quarantined still counts on its nodes
    ykctl recovery resolve abort     deregister the RM
  How far it is:  ykctl status. What cannot be restored is in quarantine, until it heals:
    APP_UNKNOWN           an allocation before its application: when that is reported
    NODE_UNKNOWN          an allocation before its node: when that is reported
    APP_REJECTED          an allocation of a rejected application: when that is reported again and accepted
    QUEUE_INVALID         an application for which there is no queue: when the configuration has one
    NO_RESOURCE, NEGATIVE an allocation or node without or with a negative size: when it is reported rightly
    DUPLICATE_NODE        a node reported twice, with other contents: when it is removed, or reported as the first one
    PLACED_TWICE          an allocation on two nodes: when it is released
    PLACEHOLDER_NO_GROUP  a placeholder without a task group: when it is reported rightly
)"},
};

} // namespace

const Topic* find_topic(const std::string& name) {
    const auto* found =
        std::find_if(std::begin(kTopics), std::end(kTopics), [&](const Topic& topic) { return name == topic.name; });
    return found == std::end(kTopics) ? nullptr : found;
}

std::vector<std::string> topic_names() {
    std::vector<std::string> names;
    for (const auto& topic : kTopics) names.emplace_back(topic.name);
    return names;
}

std::string topics_text() {
    std::string text;
    for (const auto& topic : kTopics) text += fmt::format("  {:<14}{}\n", topic.name, topic.summary);
    return text;
}

} // namespace yk::cli
