#pragma once
// The whole state of a core as text, made from its views: to compare two cores, or two runs of one. Works on
// ClusterContext and on anything with the same queries. Types with the value 0 are left out of sums, so that only
// differences that mean something show. The flag of an attempt is left out: it may come late (S-114).

#include <algorithm>
#include <string>
#include <vector>

#include "libcore/scheduler/view.h"

namespace yk::testing {

[[nodiscard]] std::string text_of(const PartitionView& partition);
[[nodiscard]] std::string text_of(const QueueView& queue); // with everything below it
[[nodiscard]] std::string text_of(const ApplicationView& application);
[[nodiscard]] std::string text_of(const NodeView& node);
[[nodiscard]] std::string text_of(const ReservationView& reservation);
[[nodiscard]] std::string text_of(const UsageView& usage);

template <class Core>
[[nodiscard]] std::string state_text(const Core& core) {
    std::string text;
    for (const std::string& name : core.partition_names()) {
        text += text_of(*core.partition_view(name));
        text += text_of(*core.queue_view(name, "root", true));
        for (const auto list : {ApplicationList::Active, ApplicationList::Completed, ApplicationList::Rejected})
            for (const ApplicationView& app : core.application_views(name, list, true)) text += text_of(app);
        for (const NodeView& node : core.node_views(name, true)) text += text_of(node);
        std::vector<std::string> reservations; // as a set: their order is free
        for (const ReservationView& r : core.reservation_views(name)) reservations.push_back(text_of(r));
        std::sort(reservations.begin(), reservations.end());
        for (const std::string& line : reservations) text += line;
        for (const UsageView& user : core.user_views(name)) text += "  user" + text_of(user);
        for (const UsageView& group : core.group_views(name)) text += "  group" + text_of(group);
    }
    return text;
}

} // namespace yk::testing
