// SPDX-License-Identifier: Apache-2.0
#include "libcore/usage/user_group_manager.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace yk {

namespace {

using Changes = std::vector<UserGroupManager::LimitChange>;

void note_changes(const UsageLimits& before, const UsageLimits& after, const std::string& path, bool group,
                  Changes& changes) {
    for (const auto& [name, limit] : before)
        if (after.find(name) == after.end()) changes.push_back({name, path, group, true});
    for (const auto& [name, limit] : after) {
        const auto known = before.find(name);
        const bool same = known != before.end() && known->second.max.same_as(limit.max) &&
                          known->second.max_applications == limit.max_applications;
        if (!same) changes.push_back({name, path, group, false});
    }
}

Changes compare(const LimitTable& before, const LimitTable& after) {
    static const QueueLimits kNone;
    Changes changes;
    for (const auto& [path, limits] : before.queues()) {
        if (after.queues().find(path) != after.queues().end()) continue;
        note_changes(limits.users, {}, path, false, changes);
        note_changes(limits.groups, {}, path, true, changes);
    }
    for (const auto& [path, limits] : after.queues()) {
        const auto known = before.queues().find(path);
        const QueueLimits& old = known == before.queues().end() ? kNone : known->second;
        note_changes(old.users, limits.users, path, false, changes);
        note_changes(old.groups, limits.groups, path, true, changes);
    }
    return changes;
}

} // namespace

bool UsageNode::allows(const Resource& ask) const noexcept {
    if (limit == nullptr) return true;
    const Resource& max = limit->max.bounds();
    for (std::uint64_t left = ask.types() & max.types(); left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        const std::int64_t value = ask.get(id);
        if (value > 0 && value > sat_sub(max.get(id), usage.get(id))) return false;
    }
    return true;
}

// --- limits (C-420 to C-426) -----------------------------------------------------------------------------------------

Changes UserGroupManager::set_limits(LimitTable table) noexcept {
    Changes changes = compare(table_, table);
    const LimitTable before = std::exchange(table_, std::move(table)); // nodes point into it until set_limit()
    shrunk_ = true;
    for (const auto& [path, limits] : table_.queues()) {
        for (const auto& [name, limit] : limits.users) make_named(name, false, path);
        for (const auto& [name, limit] : limits.groups) make_named(name, true, path);
    }
    std::vector<UsageNodeId> all; // a parent's path comes before its children's
    for (const Trackers* trackers : {&users_, &groups_})
        for (const auto& [name, tracker] : *trackers) all.insert(all.end(), tracker.nodes.begin(), tracker.nodes.end());
    for (const UsageNodeId id : all) set_limit(nodes_[id]);
    for (const UsageNodeId id : all) {
        if (!nodes_.alive(id)) continue; // removed with its last child
        mark_grown(id);
        prune(id);
    }
    return changes;
}

void UserGroupManager::make_named(std::string_view name, bool group, std::string_view path) noexcept {
    if (name != kEverybody) find_or_make(tracker_of(name, group), path);
}

void UserGroupManager::set_limit(UsageNode& node) const noexcept {
    const UsageTracker& tracker = *node.tracker;
    const UsageLimit* limit =
        tracker.group ? table_.for_group(node.path, tracker.name) : table_.for_user(node.path, tracker.name);
    node.limit = limit;
    node.limited = limit != nullptr || (node.parent.valid() && nodes_[node.parent].limited);
    const auto queue = table_.queues().find(node.path);
    node.named = false;
    if (queue == table_.queues().end() || tracker.name == kEverybody) return;
    const UsageLimits& names = tracker.group ? queue->second.groups : queue->second.users;
    node.named = names.find(tracker.name) != names.end();
}

// --- nodes -----------------------------------------------------------------------------------------------------------

UsageTracker& UserGroupManager::tracker_of(std::string_view name, bool group) noexcept {
    Trackers& trackers = group ? groups_ : users_;
    const auto known = trackers.find(name);
    if (known != trackers.end()) return known->second;
    const auto made = trackers.emplace(std::string{name}, UsageTracker{{}, group, {}}).first;
    made->second.name = made->first;
    return made->second;
}

std::string_view PathTexts::acquire(std::string_view path) noexcept {
    const auto entry = uses_.try_emplace(std::string{path}, 0).first;
    ++entry->second;
    return entry->first;
}

void PathTexts::release(std::string_view path) noexcept {
    const auto entry = uses_.find(std::string{path});
    if (--entry->second == 0) uses_.erase(entry);
}

std::size_t UserGroupManager::position(const UsageTracker& tracker, std::string_view path) const noexcept {
    const auto at = std::lower_bound(tracker.nodes.begin(), tracker.nodes.end(), path,
                                     [this](UsageNodeId id, std::string_view to) { return nodes_[id].path < to; });
    return static_cast<std::size_t>(at - tracker.nodes.begin());
}

UsageNodeId UserGroupManager::find_or_make(UsageTracker& tracker, std::string_view path) noexcept {
    const std::size_t known = position(tracker, path);
    if (known < tracker.nodes.size() && nodes_[tracker.nodes[known]].path == path) return tracker.nodes[known];
    const std::string_view above = parent_path(path);
    const UsageNodeId parent = above.empty() ? UsageNodeId{} : find_or_make(tracker, above);
    const UsageNodeId id = nodes_.make();
    meter_.add(Held::Names, kPerEntry);
    UsageNode& node = nodes_[id];
    node.tracker = &tracker;
    node.parent = parent;
    node.path = paths_.acquire(path);
    tracker.nodes.insert(tracker.nodes.begin() + static_cast<std::ptrdiff_t>(position(tracker, path)), id);
    set_limit(node);
    if (parent.valid()) ++nodes_[parent].children;
    return id;
}

/// Restores invariant B from this node up: removes nodes that nothing needs.
void UserGroupManager::prune(UsageNodeId id) noexcept {
    while (id.valid()) {
        UsageNode& node = nodes_[id];
        if (node.linked > 0 || node.named || node.children > 0) return;
        UsageTracker& tracker = *node.tracker;
        const UsageNodeId parent = node.parent;
        if (parent.valid()) --nodes_[parent].children;
        tracker.nodes.erase(tracker.nodes.begin() + static_cast<std::ptrdiff_t>(position(tracker, node.path)));
        paths_.release(node.path);
        nodes_.destroy(id);
        meter_.take(Held::Names, kPerEntry);
        if (tracker.nodes.empty()) {
            Trackers& trackers = tracker.group ? groups_ : users_;
            trackers.erase(trackers.find(tracker.name));
            return;
        }
        id = parent;
    }
}

void UserGroupManager::mark_grown(UsageNodeId id) noexcept {
    UsageNode& node = nodes_[id];
    if (node.grew || !node.held) return;
    node.grew = true;
    grown_.push_back(id);
}

// --- applications ----------------------------------------------------------------------------------------------------

UsageNodeId UserGroupManager::find_or_make(std::string_view name, bool group, std::string_view path) noexcept {
    return find_or_make(tracker_of(name, group), path);
}

void UserGroupManager::join(UsageNodeId id, const UsageShare& share) noexcept {
    for (; id.valid(); id = nodes_[id].parent) {
        UsageNode& node = nodes_[id];
        node.usage.add(share.usage);
        node.running += share.running;
        node.linked += share.applications;
    }
}

void UserGroupManager::leave(UsageNodeId id, const UsageShare& share) noexcept {
    shrunk_ = true;
    for (UsageNodeId each = id; each.valid(); each = nodes_[each].parent) {
        UsageNode& node = nodes_[each];
        node.usage.sub(share.usage);
        node.usage.prune();
        node.running -= share.running;
        node.linked -= share.applications;
        mark_grown(each);
    }
    prune(id);
}

[[gnu::hot]] void UserGroupManager::increase(UsageNodeId id, const Resource& amount) noexcept {
    for (; id.valid(); id = nodes_[id].parent) nodes_[id].usage.add(amount);
}

void UserGroupManager::decrease(UsageNodeId id, const Resource& amount) noexcept {
    shrunk_ = true;
    for (; id.valid(); id = nodes_[id].parent) {
        nodes_[id].usage.sub(amount);
        nodes_[id].usage.prune();
        mark_grown(id);
    }
}

void UserGroupManager::enter_running(UsageNodeId id) noexcept {
    for (; id.valid(); id = nodes_[id].parent) ++nodes_[id].running;
}

void UserGroupManager::leave_running(UsageNodeId id) noexcept {
    shrunk_ = true;
    for (; id.valid(); id = nodes_[id].parent) {
        --nodes_[id].running;
        mark_grown(id);
    }
}

// --- questions -------------------------------------------------------------------------------------------------------

UsageNodeId UserGroupManager::refusing(UsageNodeId id, const Resource& ask) const noexcept {
    if (!id.valid() || !nodes_[id].limited) return {};
    for (; id.valid(); id = nodes_[id].parent)
        if (!nodes_[id].allows(ask)) return id;
    return {};
}

UsageNodeId UserGroupManager::without_slot(UsageNodeId id) const noexcept {
    if (!id.valid() || !nodes_[id].limited) return {};
    for (; id.valid(); id = nodes_[id].parent)
        if (!nodes_[id].has_slot()) return id;
    return {};
}

Limit UserGroupManager::headroom(UsageNodeId id) const noexcept {
    Limit left;
    for (; id.valid(); id = nodes_[id].parent)
        if (nodes_[id].limit != nullptr) left.tighten(nodes_[id].limit->max.headroom(nodes_[id].usage));
    return left;
}

} // namespace yk
