// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/properties.h"

#include <array>
#include <optional>
#include <string_view>

#include "libcore/base/number.h"
#include "libcore/config/duration.h"
#include "libcore/config/names.h"
#include "libcore/config/problem.h"
#include "libcore/config/suggest.h"

namespace yk::config {

namespace {

constexpr std::string_view kSortPolicy = "application.sort.policy";
constexpr std::string_view kPrioritySorting = "application.sort.priority";
constexpr std::string_view kPriorityPolicy = "priority.policy";
constexpr std::string_view kPriorityOffset = "priority.offset";
constexpr std::string_view kPreemptionPolicy = "preemption.policy";
constexpr std::string_view kPreemptionDelay = "preemption.delay";
constexpr std::string_view kPreemptionCharge = "preemption.charge";
constexpr std::string_view kLeastHarm = "preemption.leastharm";
constexpr std::string_view kVictimsPerMinute = "preemption.victims.perminute";
constexpr std::string_view kQuotaPreemptionDelay = "quota.preemption.delay";
constexpr std::string_view kQuotaRearm = "quota.preemption.rearm";
constexpr std::string_view kGangOrder = "application.gang.order";
constexpr std::string_view kBackoff = "application.unschedasks.backoff";
constexpr std::string_view kBackoffDelay = "application.unschedasks.backoff.delay";

template <class Integer>
std::optional<Integer> parse_integer(std::string_view text) {
    if (std::is_signed_v<Integer> && text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    return to_number<Integer>(text);
}

// One parser per key: each sets the member of `into` and returns whether the value was good.

bool set_sort_policy(QueueProperties& into, const std::string& value) {
    into.sort_policy = value == "fair" ? SortPolicy::Fair : SortPolicy::Fifo;
    return value == "fair" || value == "fifo" || value == "stateaware" || value.empty();
}

bool set_priority_sorting(QueueProperties& into, const std::string& value) {
    const std::string name = lower(value);
    into.priority_sorting = name != "disabled";
    return name == "enabled" || name == "disabled";
}

bool set_priority_policy(QueueProperties& into, const std::string& value) {
    const std::string name = lower(value);
    into.priority_policy = name == "fence" ? PriorityPolicy::Fence : PriorityPolicy::Default;
    return name == "fence" || name == "default" || name.empty();
}

bool set_priority_offset(QueueProperties& into, const std::string& value) {
    const auto offset = parse_integer<std::int32_t>(value);
    into.priority_offset = offset.value_or(0);
    return offset.has_value();
}

bool set_preemption_policy(QueueProperties& into, const std::string& value) {
    const std::string name = lower(value);
    into.preemption_policy = name == "fence"      ? PreemptionPolicy::Fence
                             : name == "disabled" ? PreemptionPolicy::Disabled
                                                  : PreemptionPolicy::Default;
    return name == "fence" || name == "disabled" || name == "default" || name.empty();
}

/// A bad value and one that is not above 0 give `fallback`.
bool set_delay(Duration& into, const std::string& value, Duration fallback) {
    const auto delay = parse_duration(value);
    const bool good = delay.ok() && *delay > Duration::zero();
    into = good ? *delay : fallback;
    return good || (delay.ok() && *delay == fallback);
}

bool set_preemption_delay(QueueProperties& into, const std::string& value) {
    return set_delay(into.preemption_delay, value, QueueProperties{}.preemption_delay);
}

bool set_quota_preemption_delay(QueueProperties& into, const std::string& value) {
    return set_delay(into.quota_preemption_delay, value, QueueProperties{}.quota_preemption_delay);
}

bool set_preemption_charge(QueueProperties& into, const std::string& value) {
    const std::string name = lower(value);
    into.preemption_charge = name == "ask" ? PreemptionCharge::Ask : PreemptionCharge::Victim;
    return name == "ask" || name == "victim";
}

/// `enabled` is on, anything else is off.
bool set_switch(bool& into, const std::string& value) {
    const std::string name = lower(value);
    into = name == "enabled";
    return into || name == "disabled";
}

bool set_least_harm(QueueProperties& into, const std::string& value) {
    return set_switch(into.least_harm, value);
}

bool set_victims_per_minute(QueueProperties& into, const std::string& value) {
    const auto count = parse_integer<std::uint64_t>(value);
    into.victims_per_minute = count.value_or(0);
    return count.has_value();
}

bool set_quota_rearm(QueueProperties& into, const std::string& value) {
    return set_switch(into.quota_rearm, value);
}

bool set_gang_order(QueueProperties& into, const std::string& value) {
    return set_switch(into.gang_order, value);
}

bool set_backoff(QueueProperties& into, const std::string& value) {
    const auto count = parse_integer<std::uint64_t>(value);
    into.backoff_count = count.value_or(0);
    return count.has_value();
}

bool set_backoff_delay(QueueProperties& into, const std::string& value) {
    return set_delay(into.backoff_delay, value, QueueProperties{}.backoff_delay);
}

struct Property {
    std::string_view key;
    bool (*set)(QueueProperties&, const std::string&);
    std::string_view expected;
    std::string_view fallback; // C-150; a parent always sorts fair
};

constexpr std::array<Property, 14> kProperties{{
    {kSortPolicy, set_sort_policy, "fifo or fair", "fifo"},
    {kPrioritySorting, set_priority_sorting, "enabled or disabled", "enabled"},
    {kPriorityPolicy, set_priority_policy, "default or fence", "default"},
    {kPriorityOffset, set_priority_offset, "a whole number from -2147483648 to 2147483647", "0"},
    {kPreemptionPolicy, set_preemption_policy, "default, fence or disabled", "default"},
    {kPreemptionDelay, set_preemption_delay, "a duration above 0, such as 30s", "30s"},
    {kPreemptionCharge, set_preemption_charge, "victim or ask", "victim"},
    {kLeastHarm, set_least_harm, "enabled or disabled", "disabled"},
    {kVictimsPerMinute, set_victims_per_minute, "a whole number, 0 for no limit", "0"},
    {kQuotaPreemptionDelay, set_quota_preemption_delay, "a duration, such as 30s, or 0 for off", "0s"},
    {kQuotaRearm, set_quota_rearm, "enabled or disabled", "disabled"},
    {kGangOrder, set_gang_order, "enabled or disabled", "disabled"},
    {kBackoff, set_backoff, "a whole number, 0 for off", "0"},
    {kBackoffDelay, set_backoff_delay, "a duration above 0, such as 30s", "30s"},
}};

void replace_if_present(PropertyMap& map, std::string_view key, std::string_view value) {
    if (const auto found = map.find(std::string{key}); found != map.end()) found->second = value;
}

std::string unknown_property(const std::string& key) {
    std::array<std::string_view, kProperties.size()> known{};
    for (std::size_t i = 0; i < known.size(); ++i) known[i] = kProperties[i].key;
    const std::string near = nearest(key, known);
    return "unknown property " + in_quotes(key) + (near.empty() ? "" : ", did you mean \"" + near + "\"?") +
           " (kept, without effect)";
}

} // namespace

PropertyMap inherit_properties(const PropertyMap& parent, const PropertyMap& own) {
    PropertyMap effective = parent;
    replace_if_present(effective, kPriorityPolicy, "default");
    replace_if_present(effective, kPriorityOffset, "0");
    if (derive_properties(parent, false).preemption_policy != PreemptionPolicy::Disabled)
        replace_if_present(effective, kPreemptionPolicy, "default");
    for (const auto& [key, value] : own) effective[key] = value;
    return effective;
}

QueueProperties derive_properties(const PropertyMap& effective, bool leaf) {
    QueueProperties derived;
    for (const auto& [key, value] : effective)
        for (const Property& property : kProperties)
            if (property.key == key) property.set(derived, value);
    if (!leaf) derived.sort_policy = SortPolicy::Fair;
    return derived;
}

std::optional<std::string_view> property_default(std::string_view key) {
    for (const Property& property : kProperties)
        if (property.key == key) return property.fallback;
    return std::nullopt;
}

std::string property_warning(const std::string& key, const std::string& value) {
    for (const Property& property : kProperties) {
        if (property.key != key) continue;
        if (property.key == kSortPolicy && value == "stateaware")
            return "application.sort.policy stateaware is deprecated, it means fifo; write fifo";
        QueueProperties scratch;
        if (property.set(scratch, value)) return {};
        return "bad value " + in_quotes(value) + " for property " + key + ", expected " +
               std::string{property.expected} + "; the default is used";
    }
    return unknown_property(key);
}

} // namespace yk::config
