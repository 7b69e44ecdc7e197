// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_metrics.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
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

/// Our name of a family; nullopt: it is there in another form.
std::optional<std::string> own_name(std::string_view family) {
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

} // namespace

std::string rest_metrics(const std::string& text) {
    constexpr std::string_view kLabel = "partition=\"";
    std::string first, shown;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = text.find(kLabel, at);
        // A label of this name begins the list of labels; elsewhere it is a part of some value.
        const bool is_label = begin != std::string::npos && begin > 0 && text[begin - 1] == '{';
        const std::size_t end = begin == std::string::npos ? begin : text.find('"', begin + kLabel.size());
        if (end == std::string::npos) return shown + text.substr(at);
        const std::string name = text.substr(begin, end - begin);
        if (is_label && !first.empty() && first != name) return text;
        if (is_label) first = name;
        const bool has_more = text[end + 1] == ',';
        shown += text.substr(at, (is_label ? begin : end + 1) - at);
        at = end + 1 + (is_label && has_more ? 1 : 0);
    }
    return shown;
}

std::string own_metrics(const std::string& text) {
    constexpr std::string_view kHelp = "# HELP ", kType = "# TYPE ";
    std::string shown;
    shown.reserve(text.size());
    std::string_view family; // of the lines that follow its head
    std::optional<std::string> own;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
        std::string_view line = std::string_view(text).substr(at, end + 1 - at);
        at = end + 1;
        std::string_view begin;
        if (line.starts_with(kHelp) || line.starts_with(kType)) {
            begin = line.substr(0, kHelp.size());
            line.remove_prefix(begin.size());
            family = line.substr(0, line.find(' '));
            own = own_name(family);
        }
        if (!own || !line.starts_with(family)) continue;
        shown.append(begin).append(*own).append(line.substr(family.size()));
    }
    return shown;
}

} // namespace yk::service
