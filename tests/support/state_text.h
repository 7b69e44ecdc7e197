// SPDX-License-Identifier: Apache-2.0
#pragma once
// The whole state of a core as text, made from its views: to compare two cores, or two runs of one. Works on
// ClusterContext and on anything with the queries of CoreViews. Types with the value 0 are left out of sums, so that
// only differences that mean something show. The flag of an attempt is left out: it may come late (S-114).

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "libcore/cluster/cluster_context.h"
#include "libcore/ports/view.h"
#include "libcore/reports/pages.h"
#include "libcore/reports/snapshot.h"

namespace yk::testing {

[[nodiscard]] std::string text_of(const PartitionView& partition);
[[nodiscard]] std::string text_of(const QueueView& queue); // with everything below it
[[nodiscard]] std::string text_of(const ApplicationView& application);
[[nodiscard]] std::string text_of(const NodeView& node);
[[nodiscard]] std::string text_of(const ReservationView& reservation);
[[nodiscard]] std::string text_of(const UsageView& usage);

/// The queries of state_text() to a core.
struct CoreViews {
    ClusterContext& core;

    [[nodiscard]] std::vector<std::string> partition_names() const { return core.partition_names(); }
    [[nodiscard]] std::optional<PartitionView> partition_view(const std::string& partition) const {
        return yk::partition_view(*core.read(partition));
    }
    [[nodiscard]] std::optional<QueueView> queue_view(const std::string& partition, const char* path,
                                                      bool subtree) const {
        return yk::queue_view(*core.read(partition), path, subtree);
    }
    [[nodiscard]] std::vector<ApplicationView> application_views(const std::string& partition, ApplicationList list,
                                                                 bool objects) const {
        return yk::application_views(*core.read(partition), list, objects);
    }
    [[nodiscard]] std::vector<NodeView> node_views(const std::string& partition, bool objects) const {
        return yk::node_views(*core.read(partition), objects);
    }
    [[nodiscard]] std::vector<ReservationView> reservation_views(const std::string& partition) const {
        return yk::reservation_views(*core.read(partition));
    }
    [[nodiscard]] std::vector<UsageView> user_views(const std::string& partition) const {
        return usage_views(*core.read(partition), false);
    }
    [[nodiscard]] std::vector<UsageView> group_views(const std::string& partition) const {
        return usage_views(*core.read(partition), true);
    }
};

template <class Views>
[[nodiscard]] std::string state_text(const Views& views) {
    std::string text;
    for (const std::string& name : views.partition_names()) {
        text += text_of(*views.partition_view(name));
        text += text_of(*views.queue_view(name, "root", true));
        for (const auto list : {ApplicationList::Active, ApplicationList::Completed, ApplicationList::Rejected})
            for (const ApplicationView& app : views.application_views(name, list, true)) text += text_of(app);
        for (const NodeView& node : views.node_views(name, true)) text += text_of(node);
        std::vector<std::string> reservations; // as a set: their order is free
        for (const ReservationView& r : views.reservation_views(name)) reservations.push_back(text_of(r));
        std::sort(reservations.begin(), reservations.end());
        for (const std::string& line : reservations) text += line;
        for (const UsageView& user : views.user_views(name)) text += "  user" + text_of(user);
        for (const UsageView& group : views.group_views(name)) text += "  group" + text_of(group);
    }
    return text;
}

[[nodiscard]] inline std::string state_text(ClusterContext& core) {
    return state_text(CoreViews{core});
}

} // namespace yk::testing
