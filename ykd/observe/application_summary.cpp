// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/application_summary.h"

#include <fmt/format.h>

#include "protocol/wire/value.h"

namespace yk::service {
namespace {

using Seconds = std::map<std::string, ResourceMapView>;

std::int64_t ms_of(const std::optional<Instant>& at) {
    return at ? at->ns / 1'000'000 : 0;
}

/// `TrackedResource{instanceType:resource=value,..}`, sorted.
std::string tracked(const Seconds& seconds) {
    std::string list;
    for (const auto& [instance, resource] : seconds)
        for (const auto& [name, value] : resource)
            list += fmt::format("{}{}:{}={}", list.empty() ? "" : ",", instance, name, value);
    return "TrackedResource{" + list + "}";
}

wire::Value tracked_value(const Seconds& seconds) {
    wire::Value value = wire::Value::object();
    for (const auto& [instance, resource] : seconds)
        for (const auto& [name, amount] : resource) value[instance][name] = amount;
    return value;
}

} // namespace

std::string summary_line(const ApplicationView& application, const std::string& rm_id) {
    return fmt::format("YK_APP_SUMMARY: ApplicationID={} SubmissionTime={} StartTime={} FinishTime={} User={} Queue={} "
                       "State={} RmID={} "
                       "ResourceUsage={} PreemptedResource={} PlaceholderResource={}",
                       application.id, ms_of(application.submitted), ms_of(application.started),
                       ms_of(application.finished), application.user, application.queue, application.state, rm_id,
                       tracked(application.used_seconds), tracked(application.preempted_seconds),
                       tracked(application.placeholder_seconds));
}

std::string summary_json(const ApplicationView& application, const std::string& rm_id) {
    const wire::Value summary{{"ApplicationID", application.id},
                              {"SubmissionTime", ms_of(application.submitted)},
                              {"StartTime", ms_of(application.started)},
                              {"FinishTime", ms_of(application.finished)},
                              {"User", application.user},
                              {"Queue", application.queue},
                              {"State", application.state},
                              {"RmID", rm_id},
                              {"ResourceUsage", tracked_value(application.used_seconds)},
                              {"PreemptedResource", tracked_value(application.preempted_seconds)},
                              {"PlaceholderResource", tracked_value(application.placeholder_seconds)}};
    return summary.dump(-1, ' ', false, wire::Value::error_handler_t::replace);
}

} // namespace yk::service
