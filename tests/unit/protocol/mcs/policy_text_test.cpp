// SPDX-License-Identifier: Apache-2.0
#include "protocol/mcs/policy_text.h"

#include <catch2/catch.hpp>

namespace yk::testing {

using namespace mcs;

namespace {

std::string fault(std::string_view text) {
    const auto policy = parse_policy(text);
    return policy.ok() ? "" : policy.error().text();
}

} // namespace

TEST_CASE("rs R-112, rs R-118 a policy's text is canonical, and reads as what was written") {
    const char* const texts[] = {
        "{}",
        R"({"metrics":[{"name":"load","target":70000,"type":"average"}]})",
        R"({"metrics":[{"maxAgeSeconds":30,"name":"pendingReplicas","source":"core","target":1,)"
        R"("tolerancePermille":0,"type":"value"}]})",
        R"({"metrics":[{"labels":{"job":"web"},"name":"rps","source":"prometheus","target":100,)"
        R"("timeoutSeconds":5,"type":"value","url":"http://localhost:9090/metrics"}]})",
        R"({"schedule":[{"at":"08:05","days":["mon","fri"],"replicas":10},{"at":"18:00","replicas":0}]})",
        R"({"down":{"rates":[{"periodSeconds":60,"type":"percent","value":10}],"select":"min","windowSeconds":0},)"
        R"("up":{"rates":[],"select":"disabled","windowSeconds":60}})",
    };
    for (const char* const text : texts) {
        INFO(text);
        const auto policy = parse_policy(text);
        REQUIRE(policy.ok());
        CHECK(policy_text(*policy) == text);
    }
    CHECK(*parse_policy("{}") == ScalingPolicy{});
    CHECK(policy_text(*parse_policy(R"( {"up":{"windowSeconds":0}, "metrics":[], "down":{"select":"max"}} )")) == "{}");
}

TEST_CASE("rs R-112, rs R-159 what is wrong in a policy is named with what is allowed") {
    const auto metric = [](std::string_view fields) {
        return fault(R"({"metrics":[{"name":"load","type":"value",)" + std::string{fields} + "}]}");
    };
    CHECK(metric(R"("target":0)") == "metrics[0].target: must be a whole number from 1 to 1000000000000000");
    CHECK(metric(R"("target":18446744073709551615)") ==
          "metrics[0].target: must be a whole number from 1 to 1000000000000000");
    CHECK(metric(R"("target":1.5)") == "metrics[0].target: must be a whole number from 1 to 1000000000000000");
    CHECK(metric(R"("target":1,"tolerancePermille":1001)") ==
          "metrics[0].tolerancePermille: must be a whole number from 0 to 1000");
    CHECK(metric(R"("target":1,"url":"http://x")") == "metrics[0].url: is only of the source prometheus");
    CHECK(metric(R"("target":1,"source":"core")") ==
          "metrics[0].name: of the source core must be one of pendingReplicas, queueUsagePercent, allocatedPercent");
    CHECK(metric(R"("target":1,"source":"prometheus","url":"ftp://x")") ==
          "metrics[0].url: must begin with http:// or https://");
    CHECK(metric(R"("target":1,"target":2)") == R"(has the field "target" twice)");
    CHECK(fault(R"({"metrics":[{"name":"a","target":1}]})") == "metrics[0].type: must be one of value, average");
    CHECK(fault(R"({"metrics":[{"name":"a","target":1,"type":"value"},{"name":"a","target":1,"type":"value"}]})") ==
          "metrics[1].name: is that of another metric, too");
    CHECK(fault(R"({"metric":[]})") == "metric: is not known here; known are metrics, schedule, up, down");
    CHECK(fault(R"({"schedule":[{"at":"24:00","replicas":1}]})") ==
          "schedule[0].at: must be a time from 00:00 to 23:59, in UTC");
    CHECK(fault(R"({"schedule":[{"at":"-1:00","replicas":1}]})") ==
          "schedule[0].at: must be a time from 00:00 to 23:59, in UTC");
    CHECK(fault(R"({"schedule":[{"at":"08:00","days":[],"replicas":1}]})") ==
          "schedule[0].days: must have a day; leave it out for every day");
    CHECK(fault(R"({"down":{"rates":[{"type":"percent","value":0}]}})") ==
          "down.rates[0].value: must be a whole number from 1 to 1000000000");
    CHECK(fault(R"({"up":{"windowSeconds":3601}})") == "up.windowSeconds: must be a whole number from 0 to 3600");
    CHECK(fault(R"({"up":[]})") == "up: must be an object");
    CHECK(fault("[]") == "must be an object");
    CHECK(fault(std::string(100, '[') + std::string(100, ']')) == "is nested more than 8 deep");
    CHECK(fault(std::string(32'000, '[') + std::string(32'000, ']')) == "is nested more than 8 deep");
    std::string objects;
    for (int each = 0; each < 10'000; ++each) objects += R"({"a":)";
    CHECK(fault(objects + "1" + std::string(10'000, '}')) == "is nested more than 8 deep");
    CHECK(fault(objects).starts_with("is no JSON: "));
    CHECK(fault(std::string(70'000, ' ')) == "is longer than 65536 bytes");
    CHECK(fault("{").starts_with("is no JSON: line 1, column 2: "));
    CHECK(fault("{\n nothing}").starts_with("is no JSON: line 2, column 3: syntax error"));
    CHECK(fault("").starts_with("is no JSON: "));
}

} // namespace yk::testing
