// SPDX-License-Identifier: Apache-2.0
#include "protocol/mcs/status_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/mcs/policy_text.h"
#include "protocol/mcs/strict_json.h"

namespace yk::mcs {
namespace {

constexpr std::int64_t kMostAge = std::int64_t{10} * 365 * 24 * 3600 * 1000; // milliseconds
constexpr std::int64_t kMostReplicas = kMaxQuantity;

using Place = std::pair<const char*, Condition ScaleConditions::*>;
constexpr std::array kConditions{
    Place{"ableToScale", &ScaleConditions::able_to_scale}, Place{"scalingActive", &ScaleConditions::scaling_active},
    Place{"scalingLimited", &ScaleConditions::scaling_limited}, Place{"stabilized", &ScaleConditions::stabilized}};

// --- writing ---------------------------------------------------------------------------------------------------------

[[nodiscard]] std::int64_t age_of(Instant at, Instant now) {
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - at).count();
    return std::clamp<std::int64_t>(age, 0, kMostAge);
}

[[nodiscard]] Json json_of(const ScaleConditions& conditions, Instant now) {
    Json json = Json::object();
    for (const auto& [name, place] : kConditions) {
        const Condition& each = conditions.*place;
        if (each.reason.empty()) continue;
        json[name] = {{"is", each.is_true}, {"reason", each.reason}, {"ageMs", age_of(each.since, now)}};
        if (!each.message.empty()) json[name]["message"] = each.message;
    }
    return json;
}

// --- reading ---------------------------------------------------------------------------------------------------------

[[nodiscard]] Result<Instant> parse_age(const Fields& fields, std::string_view name, Instant now) {
    YK_TRY(age, fields.number(name, 0, kMostAge));
    return now - std::chrono::milliseconds{age};
}

/// What is cut within a character may have grown when it was written.
[[nodiscard]] Result<std::string> parse_message(const Fields& fields) {
    const Json* const json = fields.find("message");
    if (json == nullptr) return std::string{};
    const auto* const text = json->get_ptr<const std::string*>();
    if (text == nullptr || text->size() > 4 * kLongestMessage)
        return policy_fault(fields.path("message"), "must be a text of at most 2000 bytes");
    return *text;
}

[[nodiscard]] Result<Condition> parse_condition(const Json& json, std::string where, Instant now) {
    YK_TRY(fields, Fields::of(json, std::move(where), {"is", "reason", "ageMs", "message"}));
    const Json* const is_true = fields.find("is");
    if (is_true == nullptr || !is_true->is_boolean()) return policy_fault(fields.path("is"), "must be true or false");
    YK_TRY(reason, fields.text("reason"));
    YK_TRY(since, parse_age(fields, "ageMs", now));
    YK_TRY(message, parse_message(fields));
    return Condition{is_true->get<bool>(), std::move(reason), since, std::move(message)};
}

[[nodiscard]] Result<ScaleConditions> parse_conditions(const Fields& all, Instant now) {
    ScaleConditions conditions;
    const Json* const json = all.find("conditions");
    if (json == nullptr) return conditions;
    YK_TRY(fields,
           Fields::of(*json, "conditions",
                      {kConditions[0].first, kConditions[1].first, kConditions[2].first, kConditions[3].first}));
    for (const auto& [name, place] : kConditions) {
        const Json* const each = fields.find(name);
        if (each == nullptr) continue;
        YK_TRY(condition, parse_condition(*each, fields.path(name), now));
        conditions.*place = std::move(condition);
    }
    return conditions;
}

[[nodiscard]] Result<Recommendation> parse_recommendation(const Json& json, std::string where, Instant now) {
    YK_TRY(fields, Fields::of(json, std::move(where), {"ageMs", "lowest", "highest"}));
    YK_TRY(at, parse_age(fields, "ageMs", now));
    YK_TRY(lowest, fields.number("lowest", 0, kMostReplicas));
    YK_TRY(highest, fields.number("highest", lowest, kMostReplicas));
    return Recommendation{at, lowest, highest};
}

[[nodiscard]] Result<ScaleEvent> parse_event(const Json& json, std::string where, Instant now) {
    YK_TRY(fields, Fields::of(json, std::move(where), {"ageMs", "added", "removed"}));
    YK_TRY(at, parse_age(fields, "ageMs", now));
    YK_TRY(added, fields.number("added", 0, kMostReplicas));
    YK_TRY(removed, fields.number("removed", 0, kMostReplicas));
    return ScaleEvent{at, added, removed};
}

/// The list, the oldest entry first.
template <class Entry, class Parse>
[[nodiscard]] Result<std::vector<Entry>> parse_history(const Fields& fields, std::string_view name, Instant now,
                                                       Parse parse) {
    YK_TRY(list, parse_list<Entry>(fields, name, ScaleHistory::kMostEntries, [&](const Json& json, std::string where) {
               return parse(json, std::move(where), now);
           }));
    std::vector<Entry> entries = std::move(list).value_or(std::vector<Entry>{});
    const auto is_older = [](const Entry& a, const Entry& b) { return a.at < b.at; };
    if (!std::is_sorted(entries.begin(), entries.end(), is_older))
        return policy_fault(fields.path(name), "must have the oldest entry first");
    return entries;
}

} // namespace

std::string status_text(const ScaleStatus& status, Instant now) {
    Json json = Json::object();
    Json conditions = json_of(status.conditions, now);
    if (!conditions.empty()) json["conditions"] = std::move(conditions);
    if (status.last_scaled) json["lastScaledAgeMs"] = age_of(*status.last_scaled, now);
    for (const Recommendation& each : status.history.recommendations())
        json["recommendations"].push_back(
            {{"ageMs", age_of(each.at, now)}, {"lowest", each.lowest}, {"highest", each.highest}});
    for (const ScaleEvent& each : status.history.events())
        json["events"].push_back({{"ageMs", age_of(each.at, now)}, {"added", each.added}, {"removed", each.removed}});
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ScaleStatus> parse_status(std::string_view text, Instant now) {
    YK_TRY(json, parse_strict(text));
    YK_TRY(fields, Fields::of(json, {}, {"conditions", "lastScaledAgeMs", "recommendations", "events"}));
    ScaleStatus status;
    YK_TRY(conditions, parse_conditions(fields, now));
    status.conditions = std::move(conditions);
    if (fields.has("lastScaledAgeMs")) {
        YK_TRY(last_scaled, parse_age(fields, "lastScaledAgeMs", now));
        status.last_scaled = last_scaled;
    }
    YK_TRY(recommendations, parse_history<Recommendation>(fields, "recommendations", now, parse_recommendation));
    YK_TRY(events, parse_history<ScaleEvent>(fields, "events", now, parse_event));
    status.history = {std::move(recommendations), std::move(events)};
    return status;
}

Result<ScalingPolicy> JsonScaleTexts::policy_of(std::string_view text) const {
    return parse_policy(text);
}
std::string JsonScaleTexts::text_of(const ScaleStatus& status, Instant now) const {
    return status_text(status, now);
}
Result<ScaleStatus> JsonScaleTexts::status_of(std::string_view text, Instant now) const {
    return parse_status(text, now);
}

} // namespace yk::mcs
