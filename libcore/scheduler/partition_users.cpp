// What users and groups use and may use: linking applications, counting, limits (config.md sections 13 and 14).

#include <algorithm>
#include <unordered_map>

#include "libcore/scheduler/partition_context.h"

namespace yk {

// --- limits (C-420 to C-427)
// ---------------------------------------------------------------------------------------------

namespace {

/// Finds the applications that a reload lets count for another group (C-423). Asks the limits once for each list of
/// groups below each queue with group limits: there may be 100,000 applications, and nothing is scheduled meanwhile.
class GroupChanges {
public:
    GroupChanges(const LimitTable& before, const LimitTable& after, const PartitionState& state)
        : before_(before), after_(after), nearest_(state.queues.size(), nullptr) {
        for (const LimitTable* table : {&before, &after})
            for (const auto& [path, limits] : table->queues())
                if (const Queue* queue = limits.groups.empty() ? nullptr : state.find_queue(path))
                    nearest_[queue->index] = queue;
        spread(*state.root, nullptr);
    }

    [[nodiscard]] bool changes(const Application& application) {
        const Queue* queue = nearest_[application.queue->index];
        if (queue == nullptr || application.user_groups.empty()) return false;
        const auto known = changed_.find({queue, &application.user_groups});
        if (known != changed_.end()) return known->second;
        const bool differs = before_.group_of(queue->path, application.user_groups) !=
                             after_.group_of(queue->path, application.user_groups);
        changed_.emplace(Case{queue, &application.user_groups}, differs);
        return differs;
    }

private:
    struct Case {
        const Queue* queue; // the nearest with group limits
        const std::vector<std::string>* groups;
        bool operator==(const Case& other) const { return queue == other.queue && *groups == *other.groups; }
    };
    struct Hash {
        std::size_t operator()(const Case& each) const noexcept {
            std::size_t sum = each.queue->index;
            for (const std::string& group : *each.groups) sum = sum * 31 + std::hash<std::string>{}(group);
            return sum;
        }
    };

    void spread(const Queue& queue, const Queue* above) {
        const Queue*& here = nearest_[queue.index];
        if (here == nullptr) here = above;
        for (const auto& [name, child] : queue.children) spread(*child, here);
    }

    const LimitTable& before_;
    const LimitTable& after_;
    std::vector<const Queue*> nearest_; // by index
    std::unordered_map<Case, bool, Hash> changed_;
};

} // namespace

/// Of all applications that are linked, by name.
std::vector<ApplicationId> PartitionContext::with_other_group(const LimitTable& wanted) const {
    if (wanted.same_groups(s_.users.limits())) return {};
    GroupChanges reload{s_.users.limits(), wanted, s_};
    std::vector<ApplicationId> list;
    s_.applications.for_each([&](ApplicationId id) {
        const Application& application = s_.applications[id];
        if (application.user_usage.valid() && reload.changes(application)) list.push_back(id);
    });
    s_.sort_by_name(list);
    return list;
}

void PartitionContext::set_user_limits(const config::Partition& config, Instant now) {
    LimitTable table{config.root, s_.resources};
    const std::vector<ApplicationId> moving = with_other_group(table);
    for (const auto& change : s_.users.set_limits(std::move(table)))
        s_.tell({EventType::UserGroup, change.removed ? EventChange::Remove : EventChange::Set,
                 change.group ? EventDetail::GroupLimit : EventDetail::UserLimit, change.name, change.path},
                now);
    s_.slots_changed = true;
    for (const ApplicationId id : moving) choose_group(id, now);
}

// --- applications
// --------------------------------------------------------------------------------------------------------

void PartitionContext::link_users(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    if (application.user_usage.valid()) return;
    application.user_usage = s_.users.link(application.user, false, application.queue->path);
    choose_group(id, now);
    s_.slots_changed = true;
}

void PartitionContext::unlink_users(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    if (!application.user_usage.valid()) return;
    orders_.let_go(application);
    leave_running_set(application);
    leave_group_tracker(application, now);
    s_.users.unlink(application.user_usage);
    application.user_usage = {};
}

/// C-403, C-423: the application counts for the group that the limits in force give it, with all it uses.
void PartitionContext::choose_group(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    const std::string path = application.queue->path;
    const std::string_view group = s_.users.limits().group_of(path, application.user_groups);
    const std::string_view before =
        application.group_usage.valid() ? s_.users[application.group_usage].tracker->name : std::string_view{};
    if (group == before) return;
    application.groups.for_each([this](std::uint32_t each) { // what is held may be held by the old group
        orders_.let_go(s_.groups[GroupId{each}]);
        orders_.touch(GroupId{each});
    });
    orders_.let_go(application);
    orders_.touch(id);
    leave_group_tracker(application, now);
    if (group.empty()) return;
    application.group_usage = s_.users.link(group, true, path);
    s_.users.increase(application.group_usage, application.allocated);
    s_.users.increase(application.group_usage, application.placeholder);
    if (application.in_running_set) s_.users.enter_running(application.group_usage);
    s_.tell({EventType::UserGroup, EventChange::Set, EventDetail::AppLink, group, application.id}, now);
}

void PartitionContext::leave_group_tracker(Application& application, Instant now) {
    if (!application.group_usage.valid()) return;
    s_.users.decrease(application.group_usage, application.allocated);
    s_.users.decrease(application.group_usage, application.placeholder);
    if (application.in_running_set) s_.users.leave_running(application.group_usage);
    const std::string group{s_.users[application.group_usage].tracker->name};
    s_.users.unlink(application.group_usage);
    application.group_usage = {};
    s_.tell({EventType::UserGroup, EventChange::Remove, EventDetail::AppLink, group, application.id}, now);
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

/// After the application's own totals shrank.
void PartitionContext::give_back(ApplicationId id, const Resource& amount, Instant now) {
    Application& application = s_.applications[id];
    s_.users.decrease(application.user_usage, amount);
    s_.users.decrease(application.group_usage, amount);
    if (application.allocations.empty() && application.state != ApplicationState::Resuming)
        leave_running_set(application);
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

/// The invariants of UserGroupManager, from scratch.
void PartitionContext::check_users(std::vector<std::string>& broken) const {
    struct Sum {
        Resource usage;
        std::uint32_t running = 0;
        std::uint32_t linked = 0;
    };
    std::map<UsageNodeId, Sum> sums;
    const auto fail = [&](const std::string& what) { broken.push_back(s_.full_name + ": " + what); };
    s_.applications.for_each([&](ApplicationId id) {
        const Application& application = s_.applications[id];
        if (!application.user_usage.valid() && !application.allocations.empty())
            fail("application " + application.id + " uses something and is linked to no user");
        for (UsageNodeId node : {application.user_usage, application.group_usage})
            for (; node.valid(); node = s_.users[node].parent) {
                Sum& sum = sums[node];
                sum.usage.add(application.allocated);
                sum.usage.add(application.placeholder);
                sum.running += application.in_running_set ? 1U : 0U;
                ++sum.linked;
            }
        if (application.held_at.valid() &&
            s_.users[application.held_at].held->applications.at(application.held_position) != id)
            fail("application " + application.id + " is not held where it says");
    });
    for (const auto* trackers : {&s_.users.users(), &s_.users.groups()})
        for (const auto& [name, tracker] : *trackers)
            for (const UsageNodeId id : tracker.nodes) {
                const UsageNode& node = s_.users[id];
                const Sum& sum = sums[id];
                const std::string path{node.path};
                if (tracker.nodes.at(s_.users.position(tracker, path)) != id)
                    fail("nodes of " + name + " are out of order");
                if (!node.usage.equals(sum.usage))
                    fail("usage of " + name + " at " + path + " is not its applications'");
                if (node.running != sum.running) fail("running applications of " + name + " at " + path);
                if (node.linked != sum.linked) fail("linked applications of " + name + " at " + path);
                if (node.linked == 0 && !node.named && node.children == 0) fail("idle tracker " + name + " at " + path);
            }
    s_.groups.for_each([&](GroupId id) {
        const AskGroup& group = s_.groups[id];
        if (group.held_at.valid() && s_.users[group.held_at].held->groups.at(group.held_position) != id)
            fail("an ask group is not held where it says");
    });
}

} // namespace yk
