// SPDX-License-Identifier: Apache-2.0
#include "libcore/usage/limit_table.h"

#include <algorithm>

#include "libcore/config/names.h"

namespace yk {

namespace {

Limit limit_of(const std::optional<config::ResourceMap>& map, ResourceNames& resources) {
    Resource bounds;
    for (const auto& [name, value] : map.value_or(config::ResourceMap{}))
        if (const ResourceId id = resources.intern(name); id != ResourceNames::npos) bounds.set(id, value);
    return Limit{bounds.is_zero() ? Resource{} : bounds}; // all zero limits nothing (C-408)
}

const UsageLimit* find(const UsageLimits& limits, std::string_view name) {
    const auto entry = limits.find(name);
    return entry == limits.end() ? nullptr : &entry->second;
}

bool same_order(const UsageLimits& a, const UsageLimits& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& left, const auto& right) {
        return left.first == right.first && left.second.order == right.second.order;
    });
}

} // namespace

std::string_view parent_path(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

LimitTable::LimitTable(const config::Queue& root, ResourceNames& resources) {
    add(root, "root", resources);
}

void LimitTable::add(const config::Queue& queue, const std::string& path, ResourceNames& resources) {
    if (!queue.limits.empty()) {
        QueueLimits& here = queues_[path];
        std::uint32_t order = 0;
        for (const config::Limit& limit : queue.limits) {
            UsageLimit one{limit_of(limit.max_resources, resources), limit.max_applications, 0};
            for (const auto& [names, into] : {std::pair{&limit.users, &here.users}, {&limit.groups, &here.groups}})
                for (const std::string& name : *names) {
                    one.order = order++;
                    into->emplace(name, one);
                }
        }
    }
    for (const config::Queue& child : queue.children) add(child, path + "." + config::lower(child.name), resources);
}

const QueueLimits* LimitTable::at(std::string_view path) const {
    const auto entry = queues_.find(path);
    return entry == queues_.end() ? nullptr : &entry->second;
}

const UsageLimit* LimitTable::for_user(std::string_view path, std::string_view user) const {
    const QueueLimits* here = at(path);
    if (here == nullptr) return nullptr;
    const UsageLimit* named = find(here->users, user);
    return named != nullptr ? named : find(here->users, kEverybody);
}

const UsageLimit* LimitTable::for_group(std::string_view path, std::string_view group) const {
    const QueueLimits* here = at(path);
    return here == nullptr ? nullptr : find(here->groups, group);
}

std::string_view LimitTable::group_of(std::string_view path, const std::vector<std::string>& groups) const noexcept {
    if (groups.empty() || queues_.empty()) return {};
    for (; !path.empty(); path = parent_path(path)) {
        const QueueLimits* here = at(path);
        if (here == nullptr) continue;
        auto chosen = here->groups.end();
        for (const std::string& group : groups) {
            const auto entry = group == kEverybody ? here->groups.end() : here->groups.find(group);
            if (entry == here->groups.end()) continue;
            if (chosen == here->groups.end() || entry->second.order < chosen->second.order) chosen = entry;
        }
        if (chosen == here->groups.end()) chosen = here->groups.find(kEverybody);
        if (chosen != here->groups.end()) return chosen->first;
    }
    return {};
}

bool LimitTable::same_groups(const LimitTable& other) const {
    const auto with_groups = [](const LimitTable& table) {
        std::vector<std::pair<std::string_view, const UsageLimits*>> list;
        for (const auto& [path, limits] : table.queues_)
            if (!limits.groups.empty()) list.emplace_back(path, &limits.groups);
        return list;
    };
    const auto mine = with_groups(*this);
    const auto theirs = with_groups(other);
    return std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(), [](const auto& a, const auto& b) {
        return a.first == b.first && same_order(*a.second, *b.second);
    });
}

} // namespace yk
