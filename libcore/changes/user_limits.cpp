// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/user_limits.h"

#include <algorithm>

namespace yk {

namespace {

/// The group that the limits choose for the applications of each queue. Looks it up once for each list of groups below
/// each queue with group limits: there may be 100,000 applications, and nothing is scheduled meanwhile.
class GroupsInForce {
public:
    GroupsInForce(const LimitTable& limits, const PartitionState& state)
        : limits_(limits), has_limits_(state.queues.size()) {
        for (const auto& [path, entry] : limits.queues())
            if (const Queue* queue = entry.groups.empty() ? nullptr : state.queues.find(path))
                has_limits_[queue->index] = true;
    }

    /// The queue whose limits decide for the applications of `queue`; `above`: the one for its parent; nullptr: none.
    [[nodiscard]] const Queue* deciding(const Queue& queue, const Queue* above) const {
        return has_limits_[queue.index] ? &queue : above;
    }
    /// The group; empty: none. `deciding`: from deciding().
    [[nodiscard]] std::string_view group_of(const Queue* deciding, const GroupList* groups) {
        if (deciding == nullptr) return {};
        const Case asked{deciding, groups};
        if (last_ != nullptr && last_->first == asked) return last_->second; // another application of the same user
        const auto [entry, is_new] = known_.try_emplace(asked);
        if (is_new) entry->second = limits_.group_of(deciding->path, *groups);
        last_ = &*entry;
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
    std::vector<bool> has_limits_; // by index of the queue: whether it has limits for groups
    std::unordered_map<Case, std::string_view, Hash> known_;
    const std::pair<const Case, std::string_view>* last_ = nullptr; // of these
};

/// An application, and whose limits for groups decide for it.
struct Member {
    ApplicationId application;
    const Queue* queue;
    const Queue* deciding;
};

void add_members(const Queue& queue, const Queue* above, const GroupsInForce& in_force, std::vector<Member>& members) {
    const Queue* const deciding = in_force.deciding(queue, above);
    for (const ApplicationId id : queue.applications) members.push_back({id, &queue, deciding});
    for (const auto& [name, child] : queue.children) add_members(*child, deciding, in_force, members);
}

/// All applications, by queue.
std::vector<Member> members_of(const PartitionState& state, const GroupsInForce& in_force) {
    std::vector<Member> members;
    members.reserve(state.applications.size());
    add_members(state.queues.root(), nullptr, in_force, members);
    return members;
}

/// Has what is looked at soon after member `i` brought near, since applications lie anywhere in memory: one of them
/// and, when it is there, its name.
void prefetch_after(std::size_t i, const std::vector<Member>& members, const PartitionState& state) {
    constexpr std::size_t kNames = 8, kApplications = 16; // members ahead
    if (i + kApplications < members.size()) state.applications.prefetch(members[i + kApplications].application);
    if (i + kNames < members.size()) __builtin_prefetch(state.applications[members[i + kNames].application].id.data());
}

void add_to(UsageShare& share, const Application& application) {
    ++share.applications;
    share.running += application.in_running_set ? 1U : 0U;
    share.usage.add(application.allocated);
    share.usage.add(application.placeholder);
}

} // namespace

void UserLimits::set(const config::Partition& config, Instant now) noexcept {
    LimitTable table{config.root, state_.resources};
    const bool same_groups = table.same_groups(state_.users.limits());
    for (const auto& change : state_.users.set_limits(std::move(table)))
        state_.emit({EventType::UserGroup, change.removed ? EventChange::Remove : EventChange::Set,
                     change.group ? EventDetail::GroupLimit : EventDetail::UserLimit, change.name, change.path},
                    now);
    state_.slots_changed = true;
    if (!same_groups) regroup(now);
}

/// Moves applications that count for another group now, by queue, then by name (C-423). Cost: all applications.
void UserLimits::regroup(Instant now) noexcept {
    GroupsInForce in_force{state_.users.limits(), state_};
    const std::vector<Member> members = members_of(state_, in_force);
    std::vector<GroupMove> moves; // of one queue
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto& [id, queue, deciding] = members[i];
        if (i > 0 && queue != members[i - 1].queue) move_all(moves, now);
        prefetch_after(i, members, state_);
        const Application& application = state_.applications[id];
        if (!application.user_usage.valid()) continue;
        const std::string_view group = in_force.group_of(deciding, application.user_groups);
        if (group != state_.users.name_at(application.group_usage))
            moves.push_back({id, application.id, application.group_usage, group});
    }
    move_all(moves, now);
}

/// Makes the moves of applications of one queue, in order of names, and empties the list.
void UserLimits::move_all(std::vector<GroupMove>& moves, Instant now) noexcept {
    const auto by_name = [](const GroupMove& a, const GroupMove& b) { return a.name < b.name; };
    if (!std::is_sorted(moves.begin(), moves.end(), by_name)) std::sort(moves.begin(), moves.end(), by_name);
    for (auto first = moves.begin(); first != moves.end();) {
        const auto other = std::find_if(first, moves.end(), [&first](const GroupMove& each) {
            return each.group != first->group || each.from != first->from;
        });
        move_to_group({first, other}, now);
        first = other;
    }
    moves.clear();
}

void UserLimits::link(ApplicationId id, Instant now) noexcept {
    Application& application = state_.applications[id];
    if (application.user_usage.valid()) return;
    const std::string& path = application.queue->path;
    application.user_usage = state_.users.find_or_make(application.user, false, path);
    state_.users.join(application.user_usage, {1, 0, {}});
    const std::string_view group = state_.users.limits().group_of(path, *application.user_groups);
    if (!group.empty()) move_to_group(id, group, now);
    state_.slots_changed = true;
}

void UserLimits::unlink(ApplicationId id, Instant now) noexcept {
    Application& application = state_.applications[id];
    if (!application.user_usage.valid()) return;
    indexes_.let_go(application);
    leave_running_set(application);
    if (application.group_usage.valid()) move_to_group(id, {}, now);
    state_.users.leave(application.user_usage, {1, 0, {}});
    application.user_usage = {};
}

/// Lets applications of one queue that count for the same group, or none, count for another one, or none, from now on,
/// with all that they use (C-403, C-423).
void UserLimits::move_to_group(std::span<const GroupMove> moves, Instant now) noexcept {
    UsageShare share;
    for (const GroupMove& move : moves) {
        release_held(move.application);
        add_to(share, state_.applications[move.application]);
    }
    const auto& [first, name, left, group] = moves.front();
    const std::string before{state_.users.name_at(left)};
    if (left.valid()) state_.users.leave(left, share);
    const std::string& path = state_.applications[first].queue->path;
    const UsageNodeId node = group.empty() ? UsageNodeId{} : state_.users.find_or_make(group, true, path);
    if (node.valid()) state_.users.join(node, share);
    for (const GroupMove& move : moves) {
        state_.applications[move.application].group_usage = node;
        if (left.valid())
            state_.emit({EventType::UserGroup, EventChange::Remove, EventDetail::AppLink, before, move.name}, now);
        if (node.valid())
            state_.emit({EventType::UserGroup, EventChange::Set, EventDetail::AppLink, group, move.name}, now);
    }
}

/// The same for one application.
void UserLimits::move_to_group(ApplicationId id, std::string_view group, Instant now) noexcept {
    const Application& application = state_.applications[id];
    const GroupMove move{id, application.id, application.group_usage, group};
    move_to_group({&move, 1}, now);
}

/// Releases what limits hold of the application: it is tested anew.
void UserLimits::release_held(ApplicationId id) noexcept {
    Application& application = state_.applications[id];
    application.groups.for_each([this](std::uint32_t each) {
        AskGroup& asks = state_.groups[GroupId{each}];
        if (!asks.held_at.valid()) return;
        indexes_.let_go(asks);
        indexes_.mark_dirty(GroupId{each});
    });
    if (!application.held_at.valid()) return;
    indexes_.let_go(application);
    indexes_.mark_dirty(id);
}

void UserLimits::leave_running_set(Application& application) noexcept {
    if (!application.in_running_set) return;
    application.in_running_set = false;
    state_.users.leave_running(application.user_usage);
    state_.users.leave_running(application.group_usage);
    state_.slots_changed = true;
}

[[gnu::hot]] void UserLimits::emit_usage(const Application& application, EventChange change, const Resource& amount,
                                         Instant now) noexcept {
    if (!state_.settings.events_enabled) return;
    const std::string_view path = application.queue->path;
    state_.emit({EventType::UserGroup, change, EventDetail::UserResource, application.user, path, {}, &amount}, now);
    if (!application.group_usage.valid()) return;
    const std::string_view group = state_.users[application.group_usage].tracker->name;
    state_.emit({EventType::UserGroup, change, EventDetail::GroupResource, group, path, {}, &amount}, now);
}

void UserLimits::use(ApplicationId id, const Resource& amount, Instant now) noexcept {
    Application& application = state_.applications[id];
    state_.users.increase(application.user_usage, amount);
    state_.users.increase(application.group_usage, amount);
    if (!application.in_running_set) {
        application.in_running_set = true;
        indexes_.let_go(application);
        state_.users.enter_running(application.user_usage);
        state_.users.enter_running(application.group_usage);
        state_.slots_changed = true;
    }
    emit_usage(application, EventChange::Add, amount, now);
}

/// Whether the application keeps its slot after a release: it has allocations, pending asks, or is Resuming (C-406).
/// `placeholder`: what was released was one.
bool UserLimits::keeps_user_slot(const Application& application, bool placeholder) noexcept {
    const bool ending =
        application.state == ApplicationState::Completing || application.state == ApplicationState::Failing;
    if (placeholder && ending && application.placeholders == 0) return false;
    return !application.allocations.empty() || !application.pending.is_zero() ||
           application.state == ApplicationState::Resuming;
}

void UserLimits::give_back(ApplicationId id, const Resource& amount, bool placeholder, Instant now) noexcept {
    Application& application = state_.applications[id];
    state_.users.decrease(application.user_usage, amount);
    state_.users.decrease(application.group_usage, amount);
    if (!keeps_user_slot(application, placeholder)) leave_running_set(application);
    emit_usage(application, EventChange::Remove, amount, now);
}

void UserLimits::change_use(const Application& application, const Resource& before, const Resource& after) noexcept {
    for (const UsageNodeId node : {application.user_usage, application.group_usage}) {
        state_.users.decrease(node, before);
        state_.users.increase(node, after);
    }
}

} // namespace yk
