// SPDX-License-Identifier: Apache-2.0
#include "protocol/mcs/status_text.h"

#include <catch2/catch.hpp>

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

constexpr Instant kNow{1'000'000'000'000'000};

ScaleStatus full_status() {
    ScaleStatus status;
    status.conditions.able_to_scale = {true, "Ready", kNow - 60s};
    status.conditions.scaling_active = {true, "PolicyDecides", kNow - 60s};
    status.conditions.scaling_limited = {true, "MaxReplicas", kNow - 15s};
    status.conditions.stabilized = {false, "None", kNow - 60s};
    status.last_scaled = kNow - 60s;
    status.history.recommend(4, kNow - 30s);
    status.history.recommend(6, kNow - 15s);
    status.history.scaled(2, 6, kNow - 60s);
    return status;
}

std::string fault(std::string_view text) {
    const auto status = parse_status(text, kNow);
    return status.ok() ? "" : status.error().text();
}

} // namespace

TEST_CASE("rs R-119 a status has ages instead of times, and reads as what was written") {
    const ScaleStatus status = full_status();
    const std::string text = status_text(status, kNow);
    CHECK(text ==
          R"({"conditions":{"ableToScale":{"ageMs":60000,"is":true,"reason":"Ready"},)"
          R"("scalingActive":{"ageMs":60000,"is":true,"reason":"PolicyDecides"},)"
          R"("scalingLimited":{"ageMs":15000,"is":true,"reason":"MaxReplicas"},)"
          R"("stabilized":{"ageMs":60000,"is":false,"reason":"None"}},)"
          R"("events":[{"added":4,"ageMs":60000,"removed":0}],"lastScaledAgeMs":60000,)"
          R"("recommendations":[{"ageMs":30000,"highest":4,"lowest":4},{"ageMs":15000,"highest":6,"lowest":6}]})");
    const auto read = parse_status(text, kNow);
    REQUIRE(read.ok());
    CHECK(read->conditions == status.conditions);
    CHECK(read->conditions.scaling_limited.since == kNow - 15s);
    CHECK(read->last_scaled == status.last_scaled);
    CHECK(read->history.recommendations() == status.history.recommendations());
    CHECK(read->history.events() == status.history.events());
    CHECK(status_text({}, kNow) == "{}");
    CHECK(status_text(*parse_status("{}", kNow), kNow) == "{}");
}

TEST_CASE("rs R-121 what a condition says for people is kept with it, also when it was cut within a character") {
    ScaleStatus status;
    status.conditions.scaling_active = {false, "MetricsUnreadable", kNow, "metric a: gone"};
    const std::string text = status_text(status, kNow);
    CHECK(text == R"({"conditions":{"scalingActive":{"ageMs":0,"is":false,"message":"metric a: gone",)"
                  R"("reason":"MetricsUnreadable"}}})");
    CHECK(parse_status(text, kNow)->conditions.scaling_active.message == "metric a: gone");
    status.conditions.scaling_active.message = std::string(kLongestMessage, '\xc3');
    CHECK(parse_status(status_text(status, kNow), kNow).ok());
    CHECK(fault(R"({"conditions":{"stabilized":{"ageMs":0,"is":true,"reason":"x","message":5}}})") ==
          "conditions.stabilized.message: must be a text of at most 2000 bytes");
}

TEST_CASE("rs R-119 a status that is read by another clock is as old as it was when it was written") {
    const Instant elsewhere{5'000'000'000};
    const auto read = parse_status(status_text(full_status(), kNow), elsewhere);
    REQUIRE(read.ok());
    CHECK(read->history.recommendations().back().at == elsewhere - 15s);
    CHECK(read->last_scaled == elsewhere - 60s);
}

TEST_CASE("rs R-119 an age is never older than it was, and none is of the future") {
    ScaleStatus status;
    status.last_scaled = kNow - 1'999'999ns;
    CHECK(status_text(status, kNow) == R"({"lastScaledAgeMs":1})");
    status.last_scaled = kNow + 5s;
    CHECK(status_text(status, kNow) == R"({"lastScaledAgeMs":0})");
}

TEST_CASE("rs R-119 the longest history reads as what was written") {
    ScaleStatus status;
    for (int at = 1000; at > 0; --at) {
        status.history.recommend(kMaxQuantity - at, kNow - at * 1s);
        status.history.scaled(at % 2 == 0 ? 0 : kMaxQuantity, at % 2 == 0 ? kMaxQuantity : 0, kNow - at * 1s);
    }
    const std::string text = status_text(status, kNow);
    CHECK(text.size() < 16'384);
    const auto read = parse_status(text, kNow);
    REQUIRE(read.ok());
    CHECK(read->history.recommendations() == status.history.recommendations());
    CHECK(read->history.events() == status.history.events());
}

TEST_CASE("rs R-119 what is no status is refused with the field and what is allowed") {
    CHECK(fault("damaged").find("is no JSON") != std::string::npos);
    CHECK(fault(R"({"more":1})") ==
          "more: is not known here; known are conditions, lastScaledAgeMs, recommendations, events");
    CHECK(fault(R"({"lastScaledAgeMs":-1})").starts_with("lastScaledAgeMs: must be a whole number from 0"));
    CHECK(fault(R"({"conditions":{"stabilized":{"ageMs":1,"is":1,"reason":"None"}}})") ==
          "conditions.stabilized.is: must be true or false");
    CHECK(fault(R"({"conditions":[]})") == "conditions: must be an object");
    CHECK(fault(R"({"recommendations":[{"ageMs":1,"highest":1,"lowest":2}]})")
              .starts_with("recommendations[0].highest: must be a whole number from 2"));
    CHECK(fault(R"({"events":[{"added":1,"ageMs":1,"removed":0},{"added":1,"ageMs":2,"removed":0}]})") ==
          "events: must have the oldest entry first");
    CHECK(fault(R"({"events":[{"added":1,"ageMs":1}]})").starts_with("events[0].removed: must be"));
}

TEST_CASE("the texts of a scale are those of policies and statuses") {
    const JsonScaleTexts texts;
    CHECK(texts.policy_of("{}").ok());
    CHECK_FALSE(texts.policy_of("[]").ok());
    CHECK(texts.status_of(texts.text_of(full_status(), kNow), kNow)->conditions == full_status().conditions);
}

} // namespace yk::testing
