// SPDX-License-Identifier: Apache-2.0
// What a user may still use in a queue: the limits that hold on every level, with their headroom (B-09, I-354).

#include "libcore/reports/explain.h"

#include <algorithm>

namespace yk {

namespace {

bool may_create(const placement::Rule& rule) {
    return rule.creates();
}

/// Whether a placement rule could make the queue `path` below `above`; the recovery rule always exists (C-240).
bool could_be_made(const PartitionState& state, const Queue& above, std::string_view path) {
    if (above.leaf || above.state == ObjectState::Draining) return false;
    const auto& rules = state.rules.rules();
    return path == kRecoveryPath || std::any_of(rules.begin(), rules.end(), may_create);
}

/// Walks from one queue to the root, for a user and for the group that counts.
class UserExplainer {
public:
    UserExplainer(const PartitionState& state, UserExplanation& into) : state_(state), into_(into) {}

    void run(const std::vector<std::string>& groups) {
        const LimitTable& limits = state_.users.limits();
        into_.group = limits.group_of(into_.queue, groups);
        add_levels(into_.user, false);
        if (!into_.group.empty()) add_levels(into_.group, true);
        into_.verdict = !into_.reasons.empty() ? "BLOCKED_BY_LIMIT" : limited_ ? "WITHIN_LIMITS" : "UNLIMITED";
        if (!headroom_.unlimited()) into_.headroom = state_.map_of(headroom_.bounds());
    }

private:
    void add_levels(const std::string& name, bool group) {
        for (std::string_view path = into_.queue; !path.empty(); path = parent_path(path)) add(path, name, group);
    }

    void add(std::string_view path, const std::string& name, bool group) {
        const LimitTable& limits = state_.users.limits();
        const UsageLimit* limit = group ? limits.for_group(path, name) : limits.for_user(path, name);
        const UsageNode* node = find_usage(path, name, group);
        UsageLevelView level;
        level.queue = path;
        level.group = group;
        level.who = name;
        if (node != nullptr) level.used = state_.map_of(node->usage);
        if (node != nullptr) level.running = node->running;
        if (limit != nullptr) {
            level.entry = group || is_named(path, name) ? name : std::string{kEverybody};
            compare(*limit, node == nullptr ? Resource{} : node->usage, level);
        }
        // the queue that chose the group is the lowest with an entry for it (C-403)
        if (group && limit != nullptr && into_.group_from.empty()) into_.group_from = path;
        into_.levels.push_back(std::move(level));
    }

    void compare(const UsageLimit& limit, const Resource& used, UsageLevelView& level) {
        level.max_applications = limit.max_applications;
        limited_ = limited_ || limit.max_applications > 0 || !limit.max.unlimited();
        if (!limit.max.unlimited()) {
            const Limit left = limit.max.headroom(used);
            level.max = state_.map_of(limit.max.bounds());
            level.headroom = state_.map_of(left.bounds());
            headroom_.tighten(left);
            explain_amounts(level);
        }
        if (limit.max_applications > 0 && level.running >= limit.max_applications) // no slot is free (C-410)
            into_.reasons.push_back({"APP_LIMIT",
                                     level.queue,
                                     who(level) + " runs " + std::to_string(level.running) + " of at most " +
                                         std::to_string(limit.max_applications) +
                                         (limit.max_applications == 1 ? " application" : " applications"),
                                     {},
                                     {},
                                     {},
                                     0});
    }

    void explain_amounts(const UsageLevelView& level) {
        std::string text;
        for (const auto& [name, left] : *level.headroom) {
            if (left > 0) continue;
            const auto used = level.used.find(name);
            text += (text.empty() ? "" : "; ") + ("max " + name) + " " + std::to_string(level.max->at(name)) +
                    ", used " + std::to_string(used == level.used.end() ? 0 : used->second);
        }
        if (text.empty()) return;
        into_.reasons.push_back({level.group ? "GROUP_LIMIT" : "USER_LIMIT",
                                 level.queue,
                                 who(level) + ": " + text,
                                 {},
                                 level.used,
                                 level.max,
                                 0});
    }

    [[nodiscard]] static std::string who(const UsageLevelView& level) {
        return (level.group ? "group " : "user ") + level.who;
    }
    [[nodiscard]] bool is_named(std::string_view path, const std::string& user) const {
        const auto& queues = state_.users.limits().queues();
        const auto here = queues.find(path);
        return here != queues.end() && here->second.users.count(user) != 0;
    }
    /// The usage at the queue; nullptr: nothing is used at or below it, and no limit there names the user or group.
    [[nodiscard]] const UsageNode* find_usage(std::string_view path, const std::string& name, bool group) const {
        const auto& trackers = group ? state_.users.groups() : state_.users.users();
        const auto tracker = trackers.find(name);
        if (tracker == trackers.end()) return nullptr;
        const std::size_t at = state_.users.position(tracker->second, path);
        if (at >= tracker->second.nodes.size()) return nullptr;
        const UsageNode& node = state_.users[tracker->second.nodes[at]];
        return node.path == path ? &node : nullptr;
    }

    const PartitionState& state_;
    UserExplanation& into_;
    Limit headroom_;
    bool limited_ = false;
};

} // namespace

UserExplanation explain_user(const PartitionState& state, std::string_view user, const std::vector<std::string>& groups,
                             std::string_view path) {
    UserExplanation explanation;
    explanation.user = user;
    explanation.queue = path;
    const Queue* deepest = &state.queues.find_deepest(path);
    explanation.deepest = deepest->path;
    explanation.exists = deepest->path == path;
    explanation.found = explanation.exists || could_be_made(state, *deepest, path);
    if (explanation.found) UserExplainer{state, explanation}.run(groups);
    return explanation;
}

} // namespace yk
