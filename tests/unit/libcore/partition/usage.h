// SPDX-License-Identifier: Apache-2.0
#pragma once
// Submitting for users and groups, and reading what is tracked of them.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "libcore/reports/pages.h"
#include "tests/support/cluster.h"

namespace yk::testing {

inline void submit(Cluster& c, const std::string& id, const std::string& queue, const std::string& user,
                   const std::string& groups = {}) {
    c.play(fmt::format("apps new id={} queue={} user={} groups={}", id, queue, user, groups));
}

inline Lines names(const std::vector<UsageView>& views) {
    Lines names;
    for (const UsageView& view : views) names.push_back(view.name);
    return names;
}

inline Lines users(Cluster& c) {
    return names(usage_views(*c.core().read("default"), false));
}

inline Lines groups(Cluster& c) {
    return names(usage_views(*c.core().read("default"), true));
}

inline const UsageView* find(const std::vector<UsageView>& views, const std::string& name) {
    for (const UsageView& view : views)
        if (view.name == name) return &view;
    return nullptr;
}

/// What is tracked at one queue; nothing of anything when there is no such place.
inline UsageQueueView at(const UsageQueueView& from, const std::string& path) {
    if (from.path == path) return from;
    for (const UsageQueueView& child : from.children)
        if (UsageQueueView found = at(child, path); found.path == path) return found;
    return {};
}

inline UsageQueueView of_user(Cluster& c, const std::string& name, const std::string& path) {
    const auto views = usage_views(*c.core().read("default"), false);
    const UsageView* view = find(views, name);
    return view == nullptr ? UsageQueueView{} : at(view->root, path);
}

inline UsageQueueView of_group(Cluster& c, const std::string& name, const std::string& path) {
    const auto views = usage_views(*c.core().read("default"), true);
    const UsageView* view = find(views, name);
    return view == nullptr ? UsageQueueView{} : at(view->root, path);
}

/// The group that an application counts for; empty: none.
inline std::string group_of(Cluster& c, const std::string& user, const std::string& app) {
    const auto views = usage_views(*c.core().read("default"), false);
    const UsageView* view = find(views, user);
    if (view == nullptr || view->groups.count(app) == 0) return {};
    return view->groups.at(app);
}

} // namespace yk::testing
