// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/own_metric_name.h"

#include <array>
#include <utility>

namespace yk::service {
namespace {

constexpr std::string_view kOriginal = "yunikorn_", kOwn = "ykd_";

/// Names that another prefix alone does not put right.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kRenamed{{
    {"yunikorn_queue_container", "ykd_queue_containers_total"},
    {"yunikorn_queue_app", "ykd_queue_applications"},
    {"yunikorn_scheduler_application_total", "ykd_scheduler_applications"},
    {"mcs_writer_batch_size_sum", "mcs_writes_total"},
    {"mcs_writer_batch_size_count", "mcs_write_transactions_total"},
}};
constexpr std::string_view kEvents = "event_total_"; // and what became of them: counters

} // namespace

std::optional<std::string> own_metric_name(std::string_view family) {
    for (const auto& [original, own] : kRenamed)
        if (family == original) return std::string(own);
    if (!family.starts_with(kOriginal)) return std::string(family);
    const std::string_view name = family.substr(kOriginal.size());
    // in seconds; with the resource as label; with the queue as label
    for (const std::string_view end : {"_milliseconds", "_node_usage_total", "_queue_container"})
        if (name.ends_with(end)) return std::nullopt;
    std::string own{kOwn};
    if (!name.starts_with(kEvents)) return own.append(name);
    return own.append("event_").append(name.substr(kEvents.size())).append("_total");
}

} // namespace yk::service
