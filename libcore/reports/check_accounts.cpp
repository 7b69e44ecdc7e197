// SPDX-License-Identifier: Apache-2.0
// The usage of users and groups and the budget of the RM, added up again from the objects.

#include <map>

#include "libcore/reports/at_end.h"
#include "libcore/reports/check_accounts.h"
#include "libcore/state/bytes.h"

namespace yk {

namespace {

/// Adds up the usage of users and groups from the applications, and compares.
class UsageCheck {
public:
    UsageCheck(const PartitionState& state, std::vector<std::string>& broken) : state_(state), broken_(broken) {}

    void run() {
        state_.applications.for_each([this](ApplicationId id) {
            sum_up(state_.applications[id]);
            check_held(id);
        });
        for (const auto* trackers : {&state_.users.users(), &state_.users.groups()})
            for (const auto& [name, tracker] : *trackers)
                for (const UsageNodeId id : tracker.nodes) check_node(name, tracker, id);
        state_.groups.for_each([this](GroupId id) { check_held(id); });
    }

private:
    struct Sum {
        Resource usage;
        std::uint32_t running = 0;
        std::uint32_t linked = 0;
    };

    void fail(const std::string& what) { broken_.push_back(state_.full_name + ": " + what); }

    void sum_up(const Application& application) {
        if (!application.user_usage.valid() && !application.allocations.empty())
            fail("application " + application.id + " uses something and is linked to no user");
        if (!application.in_running_set && !application.allocations.empty() &&
            application.state != ApplicationState::Failing)
            fail("application " + application.id + " uses something and is not in the running set");
        for (UsageNodeId node : {application.user_usage, application.group_usage})
            for (; node.valid(); node = state_.users[node].parent) {
                Sum& sum = sums_[node];
                sum.usage.add(application.allocated);
                sum.usage.add(application.placeholder);
                sum.running += application.in_running_set ? 1U : 0U;
                ++sum.linked;
            }
    }

    void check_held(ApplicationId id) {
        const Application& application = state_.applications[id];
        if (application.held_at.valid() &&
            state_.users[application.held_at].held->applications.at(application.held_position) != id)
            fail("application " + application.id + " is not held where it says");
    }

    void check_held(GroupId id) {
        const AskGroup& group = state_.groups[id];
        if (group.held_at.valid() && state_.users[group.held_at].held->groups.at(group.held_position) != id)
            fail("an ask group is not held where it says");
    }

    void check_node(const std::string& name, const UsageTracker& tracker, UsageNodeId id) {
        const UsageNode& node = state_.users[id];
        const Sum& sum = sums_[id];
        const std::string path{node.path};
        if (tracker.nodes.at(state_.users.position(tracker, path)) != id)
            fail("nodes of " + name + " are out of order");
        if (!node.usage.equals(sum.usage) && !is_at_end({&node.usage, &sum.usage}))
            fail("usage of " + name + " at " + path + " is not its applications'");
        if (node.running != sum.running) fail("running applications of " + name + " at " + path);
        if (node.linked != sum.linked) fail("linked applications of " + name + " at " + path);
        if (node.linked == 0 && !node.named && node.children == 0) fail("idle tracker " + name + " at " + path);
    }

    const PartitionState& state_;
    std::vector<std::string>& broken_;
    std::map<UsageNodeId, Sum> sums_;
};

} // namespace

void check_usage(const PartitionState& state, std::vector<std::string>& broken) {
    UsageCheck{state, broken}.run();
}

void check_budget(const PartitionState& state, std::vector<std::string>& broken) {
    std::uint64_t queues = 0,
                  names = state.tags.bytes() + state.texts.bytes() + state.group_lists.bytes() + state.users.bytes();
    state.queues.for_each([&](const Queue& queue) {
        if (queue.managed) return;
        ++queues;
        names += bytes_of(queue.path);
    });
    state.nodes.for_each([&](NodeId id) { names += bytes_of(state.nodes[id]); });
    std::map<std::uint32_t, std::uint32_t> uses; // of texts
    state.applications.for_each([&](ApplicationId id) {
        names += bytes_of(state.applications[id]);
        for (const auto& [name, group] : state.applications[id].gang.groups) ++uses[name];
    });
    state.allocations.for_each([&](AllocationId id) {
        names += bytes_of(state.allocations[id].key.view());
        if (state.allocations[id].task_group != 0) ++uses[state.allocations[id].task_group];
    });
    std::uint64_t charged = 0;
    for (const auto& [ask, inquiry] : state.inquiries.by_ask) {
        charged += inquiry.charged;
        if (inquiry.charged < inquiry.bytes())
            broken.push_back(state.full_name + ": an inquiry takes more than is counted");
    }
    if (charged != state.inquiries.charged) broken.push_back(state.full_name + ": bytes of inquiries");
    names += charged;
    for (const EndedApplication& ended : state.ended.completed()) names += bytes_of(ended);
    for (const auto& [serial, rejected] : state.ended.rejected()) names += bytes_of(rejected);
    names += state.recovery.quarantine.bytes() + state.recovery.tombstones.bytes() + state.recovery.booked.bytes();
    const Holdings counted =
        Holdings{}
            .plus(Held::Nodes, state.nodes.size())
            .plus(Held::Applications, state.applications.size())
            .plus(Held::Asks, state.allocations.size() + state.recovery.quarantine.objects().size())
            .plus(Held::Queues, queues)
            .plus(Held::Names, names);
    for (const Held what : kAllHeld)
        if (state.budget_meter.own().of(what) != counted.of(what))
            broken.push_back(state.full_name + ": the budget meter has " +
                             std::to_string(state.budget_meter.own().of(what)) + " " + std::string{name_of(what)} +
                             ", there are " + std::to_string(counted.of(what)));
    if (uses != state.texts.uses()) broken.push_back(state.full_name + ": uses of texts");
}

} // namespace yk
