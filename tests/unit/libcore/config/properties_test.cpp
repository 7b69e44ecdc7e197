// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/properties.h"

#include <catch2/catch.hpp>

using namespace yk::config;
using namespace std::chrono_literals;

namespace {

QueueProperties of(const char* key, const char* value) {
    return derive_properties({{key, value}}, true);
}

bool is_doubted(const char* key, const char* value) {
    return !property_warning(key, value).empty();
}

} // namespace

TEST_CASE("C-150 P section 5 no. 6, 7, 8, 10, 12: properties of preemption and gangs beyond the original's") {
    CHECK(of("preemption.charge", "Ask").preemption_charge == PreemptionCharge::Ask);
    CHECK(of("preemption.charge", "all").preemption_charge == PreemptionCharge::Victim);
    CHECK(of("preemption.leastharm", "ENABLED").least_harm);
    CHECK(of("preemption.victims.perminute", "12").victims_per_minute == 12);
    CHECK(of("preemption.victims.perminute", "-1").victims_per_minute == 0);
    CHECK(of("quota.preemption.rearm", "enabled").quota_rearm);
    CHECK_FALSE(of("quota.preemption.rearm", "yes").quota_rearm);
    CHECK(of("application.gang.order", "enabled").gang_order);
    for (const char* key : {"preemption.charge", "preemption.leastharm", "preemption.victims.perminute",
                            "quota.preemption.rearm", "application.gang.order"}) {
        CAPTURE(key);
        CHECK(is_doubted(key, "often"));
    }
    CHECK_FALSE(is_doubted("preemption.charge", "victim"));
    CHECK_FALSE(is_doubted("quota.preemption.rearm", "disabled"));
}

TEST_CASE("C-150 defaults") {
    CHECK(derive_properties({}, true) == QueueProperties{});
    const QueueProperties defaults;
    CHECK(defaults.sort_policy == SortPolicy::Fifo);
    CHECK(defaults.priority_sorting);
    CHECK(defaults.preemption_delay == 30s);
    CHECK(defaults.quota_preemption_delay == 0s);
    CHECK(defaults.backoff_count == 0);
    CHECK(defaults.backoff_delay == 30s);
}

TEST_CASE("C-150 application.sort.policy is case-sensitive and falls back to fifo") {
    const char* key = "application.sort.policy";
    CHECK(of(key, "fair").sort_policy == SortPolicy::Fair);
    for (const char* value : {"fifo", "", "stateaware", "FAIR", "Fifo", "lifo"})
        CHECK(of(key, value).sort_policy == SortPolicy::Fifo);
    for (const char* value : {"fifo", "", "fair"}) CHECK_FALSE(is_doubted(key, value));
    for (const char* value : {"FAIR", "lifo"}) CHECK(is_doubted(key, value));
    CHECK_THAT(property_warning(key, "stateaware"), Catch::Contains("deprecated"));
}

TEST_CASE("C-152 a parent always sorts fair") {
    CHECK(derive_properties({{"application.sort.policy", "fifo"}}, false).sort_policy == SortPolicy::Fair);
    CHECK(derive_properties({}, false).sort_policy == SortPolicy::Fair);
}

TEST_CASE("C-150 application.sort.priority, any case") {
    const char* key = "application.sort.priority";
    CHECK_FALSE(of(key, "disabled").priority_sorting);
    CHECK_FALSE(of(key, "DISABLED").priority_sorting);
    for (const char* value : {"enabled", "Enabled", "off", ""}) CHECK(of(key, value).priority_sorting);
    CHECK_FALSE(is_doubted(key, "Enabled"));
    CHECK(is_doubted(key, "off"));
}

TEST_CASE("C-150 priority.policy and priority.offset") {
    CHECK(of("priority.policy", "Fence").priority_policy == PriorityPolicy::Fence);
    for (const char* value : {"default", "", "bogus"})
        CHECK(of("priority.policy", value).priority_policy == PriorityPolicy::Default);
    CHECK(is_doubted("priority.policy", "bogus"));
    CHECK_FALSE(is_doubted("priority.policy", ""));

    CHECK(of("priority.offset", "-2147483648").priority_offset == std::numeric_limits<std::int32_t>::min());
    CHECK(of("priority.offset", "2147483647").priority_offset == 2147483647);
    CHECK(of("priority.offset", "+5").priority_offset == 5);
    for (const char* value : {"2147483648", "-2147483649", "1.5", "", "ten", "+-5", "5 "}) {
        CHECK(of("priority.offset", value).priority_offset == 0);
        CHECK(is_doubted("priority.offset", value));
    }
}

TEST_CASE("C-150 preemption.policy, any case") {
    const char* key = "preemption.policy";
    CHECK(of(key, "FENCE").preemption_policy == PreemptionPolicy::Fence);
    CHECK(of(key, "Disabled").preemption_policy == PreemptionPolicy::Disabled);
    for (const char* value : {"default", "", "bogus"})
        CHECK(of(key, value).preemption_policy == PreemptionPolicy::Default);
    CHECK(is_doubted(key, "bogus"));
}

TEST_CASE("C-150 delays: above 0, else the fallback") {
    CHECK(of("preemption.delay", "1m40s").preemption_delay == 100s);
    CHECK(of("quota.preemption.delay", "15s").quota_preemption_delay == 15s);
    CHECK(of("application.unschedasks.backoff.delay", "50ms").backoff_delay == 50ms);
    for (const char* value : {"0", "0s", "-5s", "10", "xxxx", ""}) {
        INFO(value);
        CHECK(of("preemption.delay", value).preemption_delay == 30s);
        CHECK(of("quota.preemption.delay", value).quota_preemption_delay == 0s);
        CHECK(of("application.unschedasks.backoff.delay", value).backoff_delay == 30s);
        CHECK(is_doubted("preemption.delay", value));
    }
    CHECK_FALSE(is_doubted("quota.preemption.delay", "0"));
    CHECK(is_doubted("quota.preemption.delay", "-5s"));
    CHECK_FALSE(is_doubted("preemption.delay", "30s"));
}

TEST_CASE("C-150 application.unschedasks.backoff is an unsigned 64 bit number") {
    const char* key = "application.unschedasks.backoff";
    CHECK(of(key, "18446744073709551615").backoff_count == std::numeric_limits<std::uint64_t>::max());
    for (const char* value : {"18446744073709551616", "-1", "+1", "x", ""}) CHECK(of(key, value).backoff_count == 0);
    CHECK(is_doubted(key, "-1"));
    CHECK_FALSE(is_doubted(key, "0"));
}

TEST_CASE("B-04 an unknown property is kept, and doubted with a suggestion") {
    CHECK_THAT(property_warning("priority.ofset", "1"), Catch::Contains("did you mean \"priority.offset\"?"));
    CHECK_THAT(property_warning("key", "value"), Catch::StartsWith("unknown property \"key\" (kept"));
    CHECK(inherit_properties({{"key", "value"}}, {}).at("key") == "value");
}

TEST_CASE("C-155 the example of inheritance") {
    const PropertyMap parent{{"priority.policy", "fence"},
                             {"priority.offset", "100"},
                             {"preemption.policy", "fence"},
                             {"quota.preemption.delay", "15s"},
                             {"key", "value"}};
    const PropertyMap expected{{"priority.policy", "default"},
                               {"priority.offset", "0"},
                               {"preemption.policy", "default"},
                               {"quota.preemption.delay", "15s"},
                               {"key", "value"}};
    CHECK(inherit_properties(parent, {}) == expected);
}

TEST_CASE("C-153 disabled preemption is inherited, replaced entries appear only if the parent has them") {
    CHECK(inherit_properties({}, {}).empty());
    CHECK(inherit_properties({{"preemption.policy", "Disabled"}}, {}).at("preemption.policy") == "Disabled");
    CHECK(inherit_properties({{"preemption.policy", "bogus"}}, {}).at("preemption.policy") == "default");
    const PropertyMap own{{"priority.offset", "7"}, {"preemption.policy", "fence"}};
    const PropertyMap effective =
        inherit_properties({{"priority.offset", "3"}, {"preemption.policy", "disabled"}}, own);
    CHECK(effective == own);
}

TEST_CASE("C-154 sort policy and delays are inherited") {
    const PropertyMap parent{{"application.sort.policy", "fair"}, {"preemption.delay", "5s"}};
    const QueueProperties leaf = derive_properties(inherit_properties(parent, {}), true);
    CHECK(leaf.sort_policy == SortPolicy::Fair);
    CHECK(leaf.preemption_delay == 5s);
}

TEST_CASE("C-150 I-354 the default of each property as text is what a queue without it has") {
    for (const char* key :
         {"application.sort.policy", "application.sort.priority", "priority.policy", "priority.offset",
          "preemption.policy", "preemption.delay", "preemption.charge", "preemption.leastharm",
          "preemption.victims.perminute", "quota.preemption.delay", "quota.preemption.rearm", "application.gang.order",
          "application.unschedasks.backoff", "application.unschedasks.backoff.delay"}) {
        INFO(key);
        const auto fallback = property_default(key);
        REQUIRE(fallback.has_value());
        CHECK(property_warning(key, std::string{*fallback}).empty());
        CHECK(derive_properties({{key, std::string{*fallback}}}, true) == derive_properties({}, true));
    }
    CHECK_FALSE(property_default("priority.ofset").has_value());
}
