// SPDX-License-Identifier: Apache-2.0
// Snapshots of applications, nodes and usage, page by page; see lists.cpp for the others.

#include "libcore/reports/pages.h"

#include <algorithm>
#include <limits>

#include "libcore/reports/snapshot.h"

namespace yk {

namespace {

/// The snapshot of one tracker, without applications.
class UsageSnapshot {
public:
    UsageSnapshot(const UsageTracker& tracker, const PartitionState& state) : tracker_(tracker), state_(state) {}

    [[nodiscard]] UsageView make() const {
        UsageView view;
        view.name = tracker_.name;
        view.root = make("root");
        return view;
    }

private:
    [[nodiscard]] UsageQueueView make(std::string_view path) const {
        const UsageNode& node = state_.users[tracker_.nodes.at(state_.users.position(tracker_, path))];
        UsageQueueView view;
        view.path = path;
        view.usage = state_.map_of(node.usage);
        if (node.limit != nullptr && !node.limit->max.unlimited()) view.max = state_.map_of(node.limit->max.bounds());
        view.max_applications = node.limit != nullptr ? node.limit->max_applications : 0;
        const std::string prefix = view.path + ".";
        for (std::size_t i = state_.users.position(tracker_, prefix); i < tracker_.nodes.size(); ++i) {
            const std::string_view below = state_.users[tracker_.nodes[i]].path;
            if (below.compare(0, prefix.size(), prefix) != 0) break;
            if (below.find('.', prefix.size()) == std::string_view::npos) view.children.push_back(make(below));
        }
        return view;
    }

    const UsageTracker& tracker_;
    const PartitionState& state_;
};

void add_trackers(const PartitionState& state, bool groups, std::string_view only, ViewCursor& cursor,
                  std::size_t& budget, UsagePage& page) {
    const auto& trackers = groups ? state.users.groups() : state.users.users();
    for (auto each = only.empty() ? trackers.upper_bound(cursor.after) : trackers.find(only); each != trackers.end();
         ++each) {
        if (budget == 0) return;
        budget -= std::min(budget, 1 + each->second.nodes.size());
        page.views.push_back(UsageSnapshot{each->second, state}.make());
        cursor.after = each->first;
        if (!only.empty()) break;
    }
    cursor.named = true;
}

void add_links(const PartitionState& state, bool groups, std::string_view only, ViewCursor& cursor, std::size_t& budget,
               UsagePage& page) {
    state.applications.for_each([&](ApplicationId id) {
        if (id.index < cursor.next || budget == 0) return;
        const Application& application = state.applications[id];
        cursor.next = id.index + std::uint64_t{1};
        const UsageNodeId leaf = groups ? application.group_usage : application.user_usage;
        if (!leaf.valid()) return;
        const std::string_view name = state.users[leaf].tracker->name;
        if (!only.empty() && name != only) return;
        --budget;
        UsageLinkView& link = page.links.emplace_back();
        link.tracker = name;
        link.application = application.id;
        link.queue = application.queue->path;
        if (!groups && application.group_usage.valid()) link.group = state.users[application.group_usage].tracker->name;
        link.running = application.in_running_set;
    });
}

} // namespace

// --- applications and nodes -----------------------------------------------------------------------------------------

std::vector<ApplicationView> application_page(const PartitionState& state, ApplicationList list, std::size_t most,
                                              ViewCursor& cursor, std::size_t& budget) {
    std::vector<ApplicationView> page;
    if (list == ApplicationList::Active) {
        state.applications.for_each([&](ApplicationId id) {
            if (id.index < cursor.next || budget == 0) return;
            const Application& application = state.applications[id];
            page.push_back(view_of(state, application, is_within(application, most)));
            cursor.next = id.index + std::uint64_t{1};
            budget -= std::min(budget, page.back().whole ? 1 + objects_of(application) : 1);
        });
        return page;
    }
    const auto add = [&](const EndedApplication& ended) {
        if (ended.serial < cursor.next || budget == 0) return;
        page.push_back(ended.view);
        cursor.next = ended.serial + 1;
        --budget;
    };
    if (list == ApplicationList::Completed)
        for (const EndedApplication& ended : state.ended.completed()) add(ended);
    else
        for (const auto& [serial, ended] : state.ended.rejected()) add(ended);
    return page;
}

std::vector<NodeView> node_page(const PartitionState& state, std::size_t most, ViewCursor& cursor,
                                std::size_t& budget) {
    std::vector<NodeView> page;
    state.nodes.until_after(cursor.after, [&](NodeId id) {
        const Node& node = state.nodes[id];
        page.push_back(view_of(state, node, is_within(node, most)));
        budget -= std::min(budget, 1 + (page.back().whole ? objects_of(node) : 0));
        return budget == 0;
    });
    if (!page.empty()) cursor.after = page.back().id;
    return page;
}

// --- users and groups (C-476) ---------------------------------------------------------------------------------------

UsagePage usage_page(const PartitionState& state, bool groups, std::string_view only, ViewCursor& cursor,
                     std::size_t& budget) {
    UsagePage page;
    page.groups = groups;
    if (!cursor.named) add_trackers(state, groups, only, cursor, budget, page);
    if (cursor.named) add_links(state, groups, only, cursor, budget, page);
    return page;
}

std::vector<ChargedApplicationView> charged_page(const PartitionState& state, ViewCursor& cursor, std::size_t& budget) {
    std::vector<ChargedApplicationView> page;
    state.applications.for_each([&](ApplicationId id) {
        if (id.index < cursor.next || budget == 0) return;
        const Application& application = state.applications[id];
        cursor.next = id.index + std::uint64_t{1};
        if (!application.user_usage.valid()) return;
        ChargedApplicationView& view = page.emplace_back();
        view.id = application.id;
        view.queue = application.queue->path;
        view.user = application.user;
        view.groups = *application.user_groups;
        if (application.group_usage.valid()) view.group = state.users[application.group_usage].tracker->name;
        view.usage = state.map_of(application.allocated);
        for (const auto& [type, amount] : state.map_of(application.placeholder)) view.usage[type] += amount;
        view.running = application.in_running_set;
        budget -= std::min(budget, 1 + view.groups.size());
    });
    return page;
}

std::vector<UsageView> usage_views(const PartitionState& state, bool groups) {
    ViewCursor cursor;
    std::size_t budget = std::numeric_limits<std::size_t>::max();
    UsagePage all = usage_page(state, groups, {}, cursor, budget);
    join_usage(all);
    return std::move(all.views);
}

} // namespace yk
