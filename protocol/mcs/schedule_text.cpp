// SPDX-License-Identifier: Apache-2.0
#include "protocol/mcs/schedule_text.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "protocol/mcs/strict_json.h"

namespace yk::mcs {
namespace {

constexpr std::int64_t kMostNumber = std::int64_t{1} << 53; // that every reader of JSON knows exactly
constexpr std::size_t kMostVersions = 1'000, kMostEntries = 10'000;

// --- writing ---------------------------------------------------------------------------------------------------------

[[nodiscard]] Json json_of(const ApplicationSpec& spec) {
    Json json{{"partition", spec.partition}, {"queue", spec.queue}, {"user", spec.user}};
    if (!spec.groups.empty()) json["groups"] = spec.groups;
    if (!spec.tags.empty()) json["tags"] = spec.tags;
    return json;
}

[[nodiscard]] Json json_of(const ScheduleStatus::Version& version) {
    Json json{{"fromAttempt", version.from_attempt},
              {"priority", version.spec.priority},
              {"resource", version.spec.resource}};
    if (!version.spec.work.empty()) json["work"] = version.spec.work;
    return json;
}

// --- reading ---------------------------------------------------------------------------------------------------------

/// A text, which may be empty.
[[nodiscard]] Result<std::string> parse_any_text(const Json& json, std::string where) {
    if (!json.is_string()) return policy_fault(std::move(where), "must be a text");
    return json.get<std::string>();
}

[[nodiscard]] Result<std::string> parse_any_text(const Fields& fields, std::string_view name) {
    const Json* const found = fields.find(name);
    return found == nullptr ? Result<std::string>{std::string{}} : parse_any_text(*found, fields.path(name));
}

/// The members of an object, each read by `parse`; none: there is no such object.
template <class Value, class Parse>
[[nodiscard]] Result<std::map<std::string, Value, std::less<>>> parse_members(const Fields& fields,
                                                                              std::string_view name, Parse parse) {
    std::map<std::string, Value, std::less<>> members;
    const Json* const json = fields.find(name);
    if (json == nullptr) return members;
    if (!json->is_object() || json->size() > kMostEntries)
        return policy_fault(fields.path(name), "must be an object of at most 10000 members");
    for (const auto& [key, value] : json->items()) {
        YK_TRY(parsed, parse(value, fields.path(name) + '.' + key));
        members.emplace(key, std::move(parsed));
    }
    return members;
}

[[nodiscard]] Result<std::int64_t> parse_amount(const Json& json, std::string where) {
    if (!json.is_number_integer()) return policy_fault(std::move(where), "must be an integer");
    const bool is_too_large = json.is_number_unsigned() &&
                              json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (is_too_large) return policy_fault(std::move(where), "is too large");
    return json.get<std::int64_t>();
}

[[nodiscard]] Result<ApplicationSpec> parse_application(const Fields& all) {
    const Json* const json = all.find("application");
    if (json == nullptr) return policy_fault("application", "is missing");
    YK_TRY(fields, Fields::of(*json, "application", {"partition", "queue", "user", "groups", "tags"}));
    YK_TRY(partition, parse_any_text(fields, "partition"));
    YK_TRY(queue, parse_any_text(fields, "queue"));
    YK_TRY(user, parse_any_text(fields, "user"));
    const auto parse = [](const Json& each, std::string where) { return parse_any_text(each, std::move(where)); };
    YK_TRY(groups, parse_list<std::string>(fields, "groups", kMostEntries, parse));
    YK_TRY(tags, parse_members<std::string>(fields, "tags", parse));
    return ApplicationSpec{std::move(partition), std::move(queue), std::move(user),
                           std::move(groups).value_or(std::vector<std::string>{}), std::move(tags)};
}

[[nodiscard]] Result<ScheduleStatus::Version> parse_version(const Json& json, std::string where) {
    YK_TRY(fields, Fields::of(json, std::move(where), {"fromAttempt", "priority", "resource", "work"}));
    YK_TRY(from_attempt, fields.number("fromAttempt", 0, kMostNumber));
    YK_TRY(priority, fields.number("priority", std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max()));
    YK_TRY(resource, parse_members<std::int64_t>(fields, "resource", parse_amount));
    const auto parse = [](const Json& each, std::string of) { return parse_any_text(each, std::move(of)); };
    YK_TRY(work, parse_members<std::string>(fields, "work", parse));
    return ScheduleStatus::Version{from_attempt,
                                   {std::move(resource), static_cast<std::int32_t>(priority), std::move(work)}};
}

} // namespace

std::string schedule_status_text(const ScheduleStatus& status) {
    Json json{{"application", json_of(status.application)}, {"nextAttempt", status.next_attempt}};
    if (!status.message.empty()) json["message"] = status.message;
    for (const ScheduleStatus::Version& each : status.versions) json["versions"].push_back(json_of(each));
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ScheduleStatus> parse_schedule_status(std::string_view text) {
    YK_TRY(json, parse_strict(text));
    YK_TRY(fields, Fields::of(json, {}, {"application", "message", "nextAttempt", "versions"}));
    YK_TRY(application, parse_application(fields));
    YK_TRY(next_attempt, fields.number("nextAttempt", 0, kMostNumber));
    YK_TRY(message, parse_any_text(fields, "message"));
    YK_TRY(versions, parse_list<ScheduleStatus::Version>(fields, "versions", kMostVersions, parse_version));
    if (!versions || versions->empty()) return policy_fault("versions", "must have one at least");
    const auto is_before = [](const auto& a, const auto& b) { return a.from_attempt < b.from_attempt; };
    if (!std::is_sorted(versions->begin(), versions->end(), is_before))
        return policy_fault("versions", "must have the oldest first");
    return ScheduleStatus{std::move(application), *std::move(versions), next_attempt, std::move(message)};
}

} // namespace yk::mcs
