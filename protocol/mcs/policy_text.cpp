// SPDX-License-Identifier: Apache-2.0
#include "protocol/mcs/policy_text.h"

#include <algorithm>
#include <array>

#include "libcore/base/number.h"
#include "protocol/mcs/strict_json.h"

namespace yk::mcs {
namespace {

constexpr std::size_t kMostMetrics = 16, kMostEntries = 64, kMostRates = 16, kMostLabels = 16;
constexpr std::int64_t kMostTarget = 1'000'000'000'000'000; // thousandths
constexpr std::int64_t kMostReplicas = 1'000'000'000;
constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::array<std::string_view, 3> kSources{"push", "core", "prometheus"};
constexpr std::array<std::string_view, 2> kMetricTypes{"value", "average"};
constexpr std::array<std::string_view, 2> kRateTypes{"replicas", "percent"};
constexpr std::array<std::string_view, 3> kSelects{"max", "min", "disabled"};
constexpr std::array<std::string_view, 3> kCoreMetrics{"pendingReplicas", "queueUsagePercent", "allocatedPercent"};

[[nodiscard]] std::int64_t whole_seconds(Duration duration) {
    return std::chrono::duration_cast<seconds>(duration).count();
}

// --- reading ---------------------------------------------------------------------------------------------------------

[[nodiscard]] Result<std::map<std::string, std::string>> parse_labels(const Fields& fields) {
    std::map<std::string, std::string> labels;
    const Json* const object = fields.find("labels");
    if (object == nullptr) return labels;
    if (!object->is_object() || object->size() > kMostLabels)
        return policy_fault(fields.path("labels"), "must be an object of at most 16 fields");
    for (const auto& [name, value] : object->items()) {
        const auto* const text = value.get_ptr<const std::string*>();
        if (text == nullptr || text->size() > 200)
            return policy_fault(fields.path("labels." + name), "must be a text of at most 200 bytes");
        labels.emplace(name, *text);
    }
    return labels;
}

/// What only one of the sources has (rs R-112).
[[nodiscard]] Result<void> parse_source(const Fields& fields, MetricTarget& metric) {
    const bool is_page = metric.source == MetricSource::Prometheus;
    for (const std::string_view name : {"url", "labels", "timeoutSeconds"})
        if (!is_page && fields.has(name)) return policy_fault(fields.path(name), "is only of the source prometheus");
    const bool is_known = std::find(kCoreMetrics.begin(), kCoreMetrics.end(), metric.name) != kCoreMetrics.end();
    if (metric.source == MetricSource::Core && !is_known)
        return policy_fault(fields.path("name"),
                            "of the source core must be one of pendingReplicas, queueUsagePercent, allocatedPercent");
    if (!is_page) return {};
    YK_TRY(url, fields.text("url"));
    if (!url.starts_with("http://") && !url.starts_with("https://"))
        return policy_fault(fields.path("url"), "must begin with http:// or https://");
    YK_TRY(labels, parse_labels(fields));
    YK_TRY(timeout, fields.number("timeoutSeconds", 1, 60, 2));
    metric.url = std::move(url);
    metric.labels = std::move(labels);
    metric.timeout = seconds{timeout};
    return {};
}

[[nodiscard]] Result<MetricTarget> parse_metric(const Json& json, std::string where) {
    YK_TRY(fields, Fields::of(json, std::move(where),
                              {"name", "source", "type", "target", "tolerancePermille", "maxAgeSeconds", "url",
                               "labels", "timeoutSeconds"}));
    YK_TRY(name, fields.text("name"));
    YK_TRY(source, fields.choice("source", {kSources[0], kSources[1], kSources[2]}, 0));
    YK_TRY(type, fields.choice("type", {kMetricTypes[0], kMetricTypes[1]}));
    YK_TRY(target, fields.number("target", 1, kMostTarget));
    YK_TRY(tolerance, fields.number("tolerancePermille", 0, 1000, 100));
    YK_TRY(max_age, fields.number("maxAgeSeconds", 1, 86'400, 90));
    MetricTarget metric;
    metric.name = std::move(name);
    metric.source = static_cast<MetricSource>(source);
    metric.type = static_cast<MetricType>(type);
    metric.target = target;
    metric.tolerance_permille = tolerance;
    metric.max_age = seconds{max_age};
    YK_CHECKED(parse_source(fields, metric));
    return metric;
}

[[nodiscard]] Result<std::uint8_t> parse_days(const Fields& fields) {
    YK_TRY(list, fields.list("days", kDays.size()));
    if (list == nullptr) return ScheduleEntry::kEveryDay;
    unsigned days = 0;
    for (const Json& each : *list) {
        const auto* const text = each.get_ptr<const std::string*>();
        const auto day = text == nullptr ? kDays.end() : std::find(kDays.begin(), kDays.end(), *text);
        if (day == kDays.end())
            return policy_fault(fields.path("days"), "must be of mon, tue, wed, thu, fri, sat, sun");
        days |= 1U << static_cast<unsigned>(day - kDays.begin());
    }
    if (days == 0) return policy_fault(fields.path("days"), "must have a day; leave it out for every day");
    return static_cast<std::uint8_t>(days);
}

[[nodiscard]] Result<std::uint16_t> parse_time(const Fields& fields) {
    YK_TRY(text, fields.text("at"));
    const std::string_view at = text;
    const bool is_formed = at.size() == 5 && at[2] == ':';
    const auto hour = is_formed ? to_number<unsigned>(at.substr(0, 2)) : std::nullopt;
    const auto minute = is_formed ? to_number<unsigned>(at.substr(3)) : std::nullopt;
    if (!hour || !minute || *hour > 23 || *minute > 59)
        return policy_fault(fields.path("at"), "must be a time from 00:00 to 23:59, in UTC");
    return static_cast<std::uint16_t>(*hour * 60 + *minute);
}

[[nodiscard]] Result<ScheduleEntry> parse_entry(const Json& json, std::string where) {
    YK_TRY(fields, Fields::of(json, std::move(where), {"days", "at", "replicas"}));
    YK_TRY(days, parse_days(fields));
    YK_TRY(minute, parse_time(fields));
    YK_TRY(replicas, fields.number("replicas", 0, kMostReplicas));
    return ScheduleEntry{days, minute, replicas};
}

[[nodiscard]] Result<RateRule> parse_rate(const Json& json, std::string where) {
    YK_TRY(fields, Fields::of(json, std::move(where), {"type", "value", "periodSeconds"}));
    YK_TRY(type, fields.choice("type", {kRateTypes[0], kRateTypes[1]}));
    YK_TRY(value, fields.number("value", 1, kMostReplicas));
    YK_TRY(period, fields.number("periodSeconds", 1, 1800, 15));
    return RateRule{static_cast<RateRule::Type>(type), value, seconds{period}};
}

[[nodiscard]] Result<DirectionRules> parse_rules(const Fields& all, std::string_view name, DirectionRules rules) {
    const Json* const json = all.find(name);
    if (json == nullptr) return rules;
    YK_TRY(fields, Fields::of(*json, std::string{name}, {"select", "windowSeconds", "rates"}));
    YK_TRY(select, fields.choice("select", {kSelects[0], kSelects[1], kSelects[2]}, 0));
    YK_TRY(window, fields.number("windowSeconds", 0, 3600, whole_seconds(rules.window)));
    YK_TRY(rates, parse_list<RateRule>(fields, "rates", kMostRates, parse_rate));
    rules.select = static_cast<DirectionRules::Select>(select);
    rules.window = seconds{window};
    if (rates) rules.rates = *std::move(rates);
    return rules;
}

/// Two metrics of one name could not be distinguished when a value comes.
[[nodiscard]] Result<void> check_names(const std::vector<MetricTarget>& metrics) {
    for (std::size_t at = 1; at < metrics.size(); ++at)
        for (std::size_t before = 0; before < at; ++before)
            if (metrics[at].name == metrics[before].name)
                return policy_fault(element("metrics", at) + ".name", "is that of another metric, too");
    return {};
}

// --- writing ---------------------------------------------------------------------------------------------------------

[[nodiscard]] Json json_of(const MetricTarget& metric) {
    const MetricTarget plain;
    Json json{{"name", metric.name},
              {"target", metric.target},
              {"type", kMetricTypes[static_cast<std::size_t>(metric.type)]}};
    if (metric.source != plain.source) json["source"] = kSources[static_cast<std::size_t>(metric.source)];
    if (metric.tolerance_permille != plain.tolerance_permille) json["tolerancePermille"] = metric.tolerance_permille;
    if (metric.max_age != plain.max_age) json["maxAgeSeconds"] = whole_seconds(metric.max_age);
    if (metric.source != MetricSource::Prometheus) return json;
    json["url"] = metric.url;
    if (!metric.labels.empty()) json["labels"] = metric.labels;
    if (metric.timeout != plain.timeout) json["timeoutSeconds"] = whole_seconds(metric.timeout);
    return json;
}

[[nodiscard]] Json json_of(const ScheduleEntry& entry) {
    const auto two = [](int number) { return std::string(number < 10 ? 1 : 0, '0') + std::to_string(number); };
    Json json{{"at", two(entry.minute / 60) + ':' + two(entry.minute % 60)}, {"replicas", entry.replicas}};
    if (entry.days == ScheduleEntry::kEveryDay) return json;
    for (std::size_t day = 0; day < kDays.size(); ++day)
        if ((entry.days >> day & 1) != 0) json["days"].push_back(kDays[day]);
    return json;
}

[[nodiscard]] Json json_of(const DirectionRules& rules) {
    Json rates = Json::array();
    for (const RateRule& each : rules.rates)
        rates.push_back({{"type", kRateTypes[static_cast<std::size_t>(each.type)]},
                         {"value", each.value},
                         {"periodSeconds", whole_seconds(each.period)}});
    return {{"rates", std::move(rates)},
            {"select", kSelects[static_cast<std::size_t>(rules.select)]},
            {"windowSeconds", whole_seconds(rules.window)}};
}

} // namespace

Result<ScalingPolicy> parse_policy(std::string_view text) {
    YK_TRY(json, parse_strict(text));
    YK_TRY(fields, Fields::of(json, {}, {"metrics", "schedule", "up", "down"}));
    YK_TRY(metrics, parse_list<MetricTarget>(fields, "metrics", kMostMetrics, parse_metric));
    YK_TRY(schedule, parse_list<ScheduleEntry>(fields, "schedule", kMostEntries, parse_entry));
    YK_TRY(up, parse_rules(fields, "up", default_up()));
    YK_TRY(down, parse_rules(fields, "down", default_down()));
    ScalingPolicy policy;
    if (metrics) policy.metrics = *std::move(metrics);
    if (schedule) policy.schedule = *std::move(schedule);
    policy.up = std::move(up);
    policy.down = std::move(down);
    YK_CHECKED(check_names(policy.metrics));
    return policy;
}

std::string policy_text(const ScalingPolicy& policy) {
    Json json = Json::object();
    for (const MetricTarget& each : policy.metrics) json["metrics"].push_back(json_of(each));
    for (const ScheduleEntry& each : policy.schedule) json["schedule"].push_back(json_of(each));
    if (policy.up != default_up()) json["up"] = json_of(policy.up);
    if (policy.down != default_down()) json["down"] = json_of(policy.down);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace yk::mcs
