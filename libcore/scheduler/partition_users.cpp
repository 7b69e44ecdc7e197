// What users and groups use and may use: linking applications, counting, limits (config.md sections 13 and 14).

#include <algorithm>
#include <unordered_map>

#include "libcore/scheduler/partition_context.h"

namespace yk {

// --- limits (C-420 to C-427)
// ---------------------------------------------------------------------------------------------

namespace {

/// The group that limits give the applications below each queue. Asks them once for each list of groups below each
/// queue with group limits: there may be 100,000 applications, and nothing is scheduled meanwhile.
class GroupsInForce {
public:
    GroupsInForce(const LimitTable& limits, const PartitionState& state)
        : limits_(limits), has_limits_(state.queues.size()) {
        for (const auto& [path, entry] : limits.queues())
            if (const Queue* queue = entry.groups.empty() ? nullptr : state.find_queue(path))
                has_limits_[queue->index] = true;
    }

    /// Whose limits decide for the applications of `queue`, when `above` does for those of its parent; nullptr: none.
    [[nodiscard]] const Queue* deciding(const Queue& queue, const Queue* above) const {
        return has_limits_[queue.index] ? &queue : above;
    }
    /// Empty: none. `deciding`: see there.
    [[nodiscard]] std::string_view group_of(const Queue* deciding, const GroupList* groups) {
        if (deciding == nullptr) return {};
        const auto [entry, is_new] = known_.try_emplace({deciding, groups});
        if (is_new) entry->second = limits_.group_of(deciding->path, *groups);
        return entry->second;
    }

private:
    struct Case {
        const Queue* queue;
        const GroupList* groups;
        bool operator==(const Case&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Case& each) const noexcept {
            return std::hash<const void*>{}(each.queue) * 31 + std::hash<const void*>{}(each.groups);
        }
    };

    const LimitTable& limits_;
    std::vector<bool> has_limits_; // by index of the queue: for groups
    std::unordered_map<Case, std::string_view, Hash> known_;
};

void add_to(UsageShare& share, const Application& application) {
    ++share.applications;
    share.running += application.in_running_set ? 1U : 0U;
    share.usage.add(application.allocated);
    share.usage.add(application.placeholder);
}

} // namespace

void PartitionContext::set_user_limits(const config::Partition& config, Instant now) {
    LimitTable table{config.root, s_.resources};
    const bool same_groups = table.same_groups(s_.users.limits());
    for (const auto& change : s_.users.set_limits(std::move(table)))
        s_.tell({EventType::UserGroup, change.removed ? EventChange::Remove : EventChange::Set,
                 change.group ? EventDetail::GroupLimit : EventDetail::UserLimit, change.name, change.path},
                now);
    s_.slots_changed = true;
    if (!same_groups) regroup(now);
}

/// C-423: applications that count for another group now, by queue, then by name.
void PartitionContext::regroup(Instant now) {
    struct Move {
        ApplicationId application;
        std::string_view group;
    };
    GroupsInForce in_force{s_.users.limits(), s_};
    std::vector<Move> moves;
    std::vector<ApplicationId> together; // from one node to one other
    const auto move_all = [&] {
        std::sort(moves.begin(), moves.end(), [this](const Move& a, const Move& b) {
            return s_.applications[a.application].id < s_.applications[b.application].id;
        });
        for (std::size_t i = 0; i < moves.size();) {
            const std::string_view group = moves[i].group;
            const UsageNodeId from = s_.applications[moves[i].application].group_usage;
            together.clear();
            for (; i < moves.size() && moves[i].group == group; ++i) {
                if (s_.applications[moves[i].application].group_usage != from) break;
                together.push_back(moves[i].application);
            }
            move_to_group(together, group, now);
        }
        moves.clear();
    };
    const auto visit = [&](const auto& self, const Queue& queue, const Queue* deciding) -> void {
        deciding = in_force.deciding(queue, deciding);
        for (const ApplicationId id : queue.applications) {
            const Application& application = s_.applications[id];
            if (!application.user_usage.valid()) continue;
            const std::string_view group = in_force.group_of(deciding, application.user_groups);
            if (group != s_.users.name_at(application.group_usage)) moves.push_back({id, group});
        }
        move_all();
        for (const auto& [name, child] : queue.children) self(self, *child, deciding);
    };
    visit(visit, *s_.root, nullptr);
}

// --- applications
// --------------------------------------------------------------------------------------------------------

void PartitionContext::link_users(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    if (application.user_usage.valid()) return;
    const std::string& path = application.queue->path;
    application.user_usage = s_.users.find_or_make(application.user, false, path);
    s_.users.join(application.user_usage, {1, 0, {}});
    const std::string_view group = s_.users.limits().group_of(path, *application.user_groups);
    if (!group.empty()) move_to_group({&id, 1}, group, now);
    s_.slots_changed = true;
}

void PartitionContext::unlink_users(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    if (!application.user_usage.valid()) return;
    orders_.let_go(application);
    leave_running_set(application);
    if (application.group_usage.valid()) move_to_group({&id, 1}, {}, now);
    s_.users.leave(application.user_usage, {1, 0, {}});
    application.user_usage = {};
}

/// C-403, C-423: applications of one queue that count for one group, or none, count for this one (empty: none) from now
/// on, with all that they use.
void PartitionContext::move_to_group(std::span<const ApplicationId> ids, std::string_view group, Instant now) {
    UsageShare share;
    for (const ApplicationId id : ids) {
        release_held(id);
        add_to(share, s_.applications[id]);
    }
    const Application& first = s_.applications[ids.front()];
    const UsageNodeId left = first.group_usage;
    const std::string before{s_.users.name_at(left)};
    if (left.valid()) s_.users.leave(left, share);
    const UsageNodeId node = group.empty() ? UsageNodeId{} : s_.users.find_or_make(group, true, first.queue->path);
    if (node.valid()) s_.users.join(node, share);
    for (const ApplicationId id : ids) {
        Application& application = s_.applications[id];
        application.group_usage = node;
        if (left.valid())
            s_.tell({EventType::UserGroup, EventChange::Remove, EventDetail::AppLink, before, application.id}, now);
        if (node.valid())
            s_.tell({EventType::UserGroup, EventChange::Set, EventDetail::AppLink, group, application.id}, now);
    }
}

/// What limits hold of the application is looked at again.
void PartitionContext::release_held(ApplicationId id) {
    Application& application = s_.applications[id];
    application.groups.for_each([this](std::uint32_t each) {
        AskGroup& asks = s_.groups[GroupId{each}];
        if (!asks.held_at.valid()) return;
        orders_.let_go(asks);
        orders_.touch(GroupId{each});
    });
    if (!application.held_at.valid()) return;
    orders_.let_go(application);
    orders_.touch(id);
}

void PartitionContext::leave_running_set(Application& application) {
    if (!application.in_running_set) return;
    application.in_running_set = false;
    s_.users.leave_running(application.user_usage);
    s_.users.leave_running(application.group_usage);
    s_.slots_changed = true;
}

// --- usage (C-406)
// -------------------------------------------------------------------------------------------------------

void PartitionContext::tell_usage(const Application& application, EventChange change, const Resource& amount,
                                  Instant now) {
    if (!s_.settings.events_enabled) return;
    const std::string_view path = application.queue->path;
    s_.tell({EventType::UserGroup, change, EventDetail::UserResource, application.user, path, {}, &amount}, now);
    if (!application.group_usage.valid()) return;
    const std::string_view group = s_.users[application.group_usage].tracker->name;
    s_.tell({EventType::UserGroup, change, EventDetail::GroupResource, group, path, {}, &amount}, now);
}

/// After the application's own totals grew.
void PartitionContext::use(ApplicationId id, const Resource& amount, Instant now) {
    Application& application = s_.applications[id];
    s_.users.increase(application.user_usage, amount);
    s_.users.increase(application.group_usage, amount);
    if (!application.in_running_set) {
        application.in_running_set = true;
        orders_.let_go(application);
        s_.users.enter_running(application.user_usage);
        s_.users.enter_running(application.group_usage);
        s_.slots_changed = true;
    }
    tell_usage(application, EventChange::Add, amount, now);
}

/// C-406: what waits for another place keeps the slot. `placeholder`: what went was one.
bool PartitionContext::keeps_user_slot(const Application& application, bool placeholder) {
    const bool ending =
        application.state == ApplicationState::Completing || application.state == ApplicationState::Failing;
    if (placeholder && ending && application.placeholders == 0) return false;
    return !application.allocations.empty() || !application.pending.is_zero() ||
           application.state == ApplicationState::Resuming;
}

/// After the application's own totals shrank.
void PartitionContext::give_back(ApplicationId id, const Resource& amount, bool placeholder, Instant now) {
    Application& application = s_.applications[id];
    s_.users.decrease(application.user_usage, amount);
    s_.users.decrease(application.group_usage, amount);
    if (!keeps_user_slot(application, placeholder)) leave_running_set(application);
    tell_usage(application, EventChange::Remove, amount, now);
}

/// S-456: no event.
void PartitionContext::change_use(const Application& application, const Resource& before, const Resource& after) {
    for (const UsageNodeId node : {application.user_usage, application.group_usage}) {
        s_.users.decrease(node, before);
        s_.users.increase(node, after);
    }
}

UsageNodeId PartitionState::refusing_user_limit(const Application& application, const Resource& ask) const {
    const UsageNodeId at = users.refusing(application.user_usage, ask);
    return at.valid() ? at : users.refusing(application.group_usage, ask);
}

UsageNodeId PartitionState::refusing_user_slot(const Application& application) const {
    if (!application.needs_user_slot()) return {};
    const UsageNodeId at = users.without_slot(application.user_usage);
    return at.valid() ? at : users.without_slot(application.group_usage);
}

// --- verification
// --------------------------------------------------------------------------------------------------------

namespace {

/// The invariants of UserGroupManager, from scratch.
class UsageCheck {
public:
    UsageCheck(const PartitionState& state, std::vector<std::string>& broken) : s_(state), broken_(broken) {}

    void run() {
        s_.applications.for_each([this](ApplicationId id) {
            sum_up(s_.applications[id]);
            check_held(id);
        });
        for (const auto* trackers : {&s_.users.users(), &s_.users.groups()})
            for (const auto& [name, tracker] : *trackers)
                for (const UsageNodeId id : tracker.nodes) check_node(name, tracker, id);
        s_.groups.for_each([this](GroupId id) { check_held(id); });
    }

private:
    struct Sum {
        Resource usage;
        std::uint32_t running = 0;
        std::uint32_t linked = 0;
    };

    void fail(const std::string& what) { broken_.push_back(s_.full_name + ": " + what); }

    void sum_up(const Application& application) {
        if (!application.user_usage.valid() && !application.allocations.empty())
            fail("application " + application.id + " uses something and is linked to no user");
        if (!application.in_running_set && !application.allocations.empty() &&
            application.state != ApplicationState::Failing)
            fail("application " + application.id + " uses something and is not in the running set");
        for (UsageNodeId node : {application.user_usage, application.group_usage})
            for (; node.valid(); node = s_.users[node].parent) {
                Sum& sum = sums_[node];
                sum.usage.add(application.allocated);
                sum.usage.add(application.placeholder);
                sum.running += application.in_running_set ? 1U : 0U;
                ++sum.linked;
            }
    }

    void check_held(ApplicationId id) {
        const Application& application = s_.applications[id];
        if (application.held_at.valid() &&
            s_.users[application.held_at].held->applications.at(application.held_position) != id)
            fail("application " + application.id + " is not held where it says");
    }

    void check_held(GroupId id) {
        const AskGroup& group = s_.groups[id];
        if (group.held_at.valid() && s_.users[group.held_at].held->groups.at(group.held_position) != id)
            fail("an ask group is not held where it says");
    }

    void check_node(const std::string& name, const UsageTracker& tracker, UsageNodeId id) {
        const UsageNode& node = s_.users[id];
        const Sum& sum = sums_[id];
        const std::string path{node.path};
        if (tracker.nodes.at(s_.users.position(tracker, path)) != id) fail("nodes of " + name + " are out of order");
        if (!node.usage.equals(sum.usage)) fail("usage of " + name + " at " + path + " is not its applications'");
        if (node.running != sum.running) fail("running applications of " + name + " at " + path);
        if (node.linked != sum.linked) fail("linked applications of " + name + " at " + path);
        if (node.linked == 0 && !node.named && node.children == 0) fail("idle tracker " + name + " at " + path);
    }

    const PartitionState& s_;
    std::vector<std::string>& broken_;
    std::map<UsageNodeId, Sum> sums_;
};

} // namespace

void PartitionContext::check_users(std::vector<std::string>& broken) const {
    UsageCheck{s_, broken}.run();
}

} // namespace yk
