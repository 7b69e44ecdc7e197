// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/scaling_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "libcore/base/number.h"
#include "ykctl/client/context.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::array<const char*, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr const char* kMetricForm = "NAME=TARGET or NAME=TARGET:value, such as load=70";
constexpr const char* kScheduleForm = "[DAYS ]HH:MM=REPLICAS, such as 'mon-fri 08:00=10'";

Failure wrong(const char* option, const std::string& text, const std::string& why, const char* form) {
    return usage_error(fmt::format("{} {}: {}", option, text, why), {fmt::format("it is {}", form)});
}

/// Without a type it is the average of all replicas, which is what load is mostly measured by.
Answer<Value> metric_of(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return wrong("--metric", text, "no target", kMetricForm);
    std::string target = text.substr(equals + 1), type = "average";
    if (const std::size_t colon = target.find(':'); colon != std::string::npos) {
        type = target.substr(colon + 1);
        target.resize(colon);
    }
    if (type != "value" && type != "average")
        return wrong("--metric", text, "a metric is of type average or value", kMetricForm);
    const auto amount = parse_thousandths(target);
    if (!amount || *amount == 0)
        return wrong("--metric", text, "the target is a number above 0, of at most three decimals", kMetricForm);
    return Value{{"name", text.substr(0, equals)}, {"target", *amount}, {"type", type}};
}

std::optional<std::size_t> day_of(const std::string& text) {
    const auto* const found = std::find(kDays.begin(), kDays.end(), text);
    if (found == kDays.end()) return std::nullopt;
    return static_cast<std::size_t>(found - kDays.begin());
}

/// `mon,wed`, `mon-fri`, `fri-mon`; nullopt: no days.
std::optional<Value> days_of(const std::string& text) {
    Value days = Value::array();
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, end - at);
        const std::size_t dash = part.find('-');
        const auto first = day_of(part.substr(0, dash));
        const auto last = dash == std::string::npos ? first : day_of(part.substr(dash + 1));
        if (!first || !last) return std::nullopt;
        for (std::size_t day = *first;; day = (day + 1) % kDays.size()) {
            days.push_back(kDays[day]);
            if (day == *last) break;
        }
        at = end + 1;
    }
    return days;
}

Answer<Value> entry_of(const std::string& text) {
    const std::size_t blank = text.rfind(' '), equals = text.rfind('=');
    const std::size_t begin = blank == std::string::npos ? 0 : blank + 1;
    if (equals == std::string::npos || equals < begin) return wrong("--schedule", text, "no number", kScheduleForm);
    const auto replicas = to_number<std::int64_t>(text.substr(equals + 1));
    if (!replicas || *replicas < 0) return wrong("--schedule", text, "replicas are a number", kScheduleForm);
    Value entry{{"at", text.substr(begin, equals - begin)}, {"replicas", *replicas}};
    if (begin == 0) return entry;
    auto days = days_of(text.substr(0, blank));
    if (!days) return wrong("--schedule", text, "days are mon, tue, wed, thu, fri, sat, sun", kScheduleForm);
    entry["days"] = std::move(*days);
    return entry;
}

/// Days that follow one another as `mon-fri`, others as `mon,wed`.
std::string days_text(const Value& days) {
    std::string list;
    for (const auto& day : days) list += (list.empty() ? "" : ",") + (day.is_string() ? day.get<std::string>() : "");
    if (days.size() < 3) return list;
    std::string all;
    for (const char* day : kDays) all += (all.empty() ? "" : ",") + std::string{day};
    if (all.find(list) == std::string::npos) return list;
    return days.front().get<std::string>() + "-" + days.back().get<std::string>();
}

std::string metric_text(const Value& metric) {
    const std::int64_t target = number_of(metric, "target");
    std::string decimals = target % 1000 == 0 ? "" : fmt::format(".{:03}", target % 1000);
    while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
    const std::string source = text_of(metric, "source");
    const std::string of = source == "prometheus" ? " of " + text_of(metric, "url")
                           : source == "core"     ? " of core"
                                                  : "";
    return fmt::format("{}={}{}{}{}", text_of(metric, "name"), target / 1000, decimals,
                       text_of(metric, "type") == "value" ? ":value" : "", of);
}

std::string entry_text(const Value& entry) {
    const Value& days = member_of(entry, "days");
    return fmt::format("{}{}{}={}", days_text(days), days.empty() ? "" : " ", text_of(entry, "at"),
                       number_of(entry, "replicas"));
}

} // namespace

std::optional<std::int64_t> parse_thousandths(const std::string& text) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    std::string digits = text.substr(0, dot);
    std::string decimals = text.substr(std::min(dot + 1, text.size()));
    if (digits.size() + decimals.size() == 0 || decimals.size() > 3) return std::nullopt;
    decimals.resize(3, '0');
    digits += decimals;
    const bool are_digits =
        std::all_of(digits.begin(), digits.end(), [](char each) { return each >= '0' && each <= '9'; });
    return are_digits ? to_number<std::int64_t>(digits) : std::nullopt;
}

std::string fault_of_thousandths(const std::string& text) {
    const std::string amount = text.starts_with('-') ? text.substr(1) : text;
    const std::size_t dot = std::min(amount.find('.'), amount.size());
    const bool is_long = dot >= 16 && amount.find_first_not_of("0123456789") >= dot; // too long to be parsed
    const bool is_number = parse_thousandths(is_long ? amount.substr(dot - 1) : amount).has_value();
    return is_number ? "the value is from 0 to 9223372036854775.807" : "a number of at most three decimals is wanted";
}

Answer<std::string> policy_of(const std::vector<std::string>& metrics, const std::vector<std::string>& schedules) {
    Value policy = Value::object();
    for (const std::string& text : metrics) {
        YK_TRY(metric, metric_of(text));
        policy["metrics"].push_back(std::move(metric));
    }
    for (const std::string& text : schedules) {
        YK_TRY(entry, entry_of(text));
        policy["schedule"].push_back(std::move(entry));
    }
    return policy.dump(-1, ' ', false, Value::error_handler_t::replace);
}

std::string policy_summary(const std::string& policy) {
    const Value tree = Value::parse(policy, nullptr, false);
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    for (const auto& metric : member_of(tree, "metrics")) add(metric_text(metric));
    for (const auto& entry : member_of(tree, "schedule")) add(entry_text(entry));
    if (tree.is_object() && (tree.contains("up") || tree.contains("down"))) add("more rules");
    return text;
}

} // namespace yk::cli
