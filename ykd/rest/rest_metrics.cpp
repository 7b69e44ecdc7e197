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

std::string rest_metrics(std::string text) {
    // A label of this name begins the list of labels; elsewhere it is a part of some value.
    constexpr std::string_view kLabel = "{partition=\"";
    std::string label; // with the name of the first partition, without the bracket
    for (std::size_t at = text.find(kLabel); at != std::string::npos; at = text.find(kLabel, at + 1)) {
        if (!label.empty() && text.compare(at + 1, label.size(), label) != 0) return text;
        const std::size_t end = text.find('"', at + kLabel.size());
        if (end == std::string::npos) return text;
        if (label.empty()) label = text.substr(at + 1, end - at);
    }
    if (label.empty()) return text;
    const std::string sought = '{' + label;
    std::size_t from = 0, to = 0; // what is kept of the text moves forward in it
    for (std::size_t at = text.find(sought); at != std::string::npos; at = text.find(sought, from)) {
        const std::size_t kept = at + 1 - from;
        std::char_traits<char>::move(text.data() + to, text.data() + from, kept);
        to += kept;
        from = at + sought.size();
        if (from < text.size() && text[from] == ',') ++from;
    }
    std::char_traits<char>::move(text.data() + to, text.data() + from, text.size() - from);
    text.resize(to + text.size() - from);
    return text;
}

void OwnMetrics::add(std::string_view page) {
    constexpr std::string_view kHelp = "# HELP ", kType = "# TYPE ";
    while (!page.empty()) {
        std::string_view line = page.substr(0, page.find('\n') + 1);
        if (line.empty()) line = page; // the last one has no end
        page.remove_prefix(line.size());
        std::string_view begin;
        if (line.starts_with(kHelp) || line.starts_with(kType)) {
            begin = line.substr(0, kHelp.size());
            line.remove_prefix(begin.size());
            const std::string_view family = line.substr(0, line.find(' '));
            if (family != family_) {
                family_ = family;
                own_ = own_name(family);
            }
        }
        if (!own_ || !line.starts_with(family_)) continue;
        shown_.append(begin).append(*own_).append(line.substr(family_.size()));
    }
}

} // namespace yk::service
