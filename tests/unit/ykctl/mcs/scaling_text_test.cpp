// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/scaling_text.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::cli;

namespace {

/// The policy, or why there is none.
std::string policy(const std::vector<std::string>& metrics, const std::vector<std::string>& schedules = {}) {
    const auto made = policy_of(metrics, schedules);
    return made.ok() ? *made : made.error().message;
}

} // namespace

TEST_CASE("rs R-112 a metric is its name and its target, an average unless it says otherwise") {
    CHECK(policy({"load=70"}) == R"({"metrics":[{"name":"load","target":70000,"type":"average"}]})");
    CHECK(policy({"p99=0.25:value"}) == R"({"metrics":[{"name":"p99","target":250,"type":"value"}]})");
    CHECK(policy({"a=1:average", "b=2"}).find(R"({"name":"b","target":2000)") != std::string::npos);
    CHECK(policy({"load"}) == "--metric load: no target");
    CHECK(policy({"=70"}) == "--metric =70: no target");
    CHECK(policy({"load=70:most"}) == "--metric load=70:most: a metric is of type average or value");
    for (const char* target : {"", "0", "-1", "1.2345", "x", "1e3", "9999999999999999999"})
        CHECK(policy({std::string{"load="} + target}).find("the target is a number above 0") != std::string::npos);
}

TEST_CASE("rs R-110 hours of the week are days, a time and a number") {
    CHECK(policy({}, {"08:00=10"}) == R"({"schedule":[{"at":"08:00","replicas":10}]})");
    CHECK(policy({}, {"mon,wed 08:00=0"}) == R"({"schedule":[{"at":"08:00","replicas":0,"days":["mon","wed"]}]})");
    CHECK(policy({}, {"sat-mon 08:00=1"}) ==
          R"({"schedule":[{"at":"08:00","replicas":1,"days":["sat","sun","mon"]}]})");
    CHECK(policy({}, {"mon-fri 08:00"}) == "--schedule mon-fri 08:00: no number");
    CHECK(policy({}, {"08:00=-1"}) == "--schedule 08:00=-1: replicas are a number");
    for (const char* days : {"noon", "mon-", "-fri", "mon,", "mon-tue-wed", ""})
        CHECK(policy({}, {std::string{days} + " 08:00=1"}).find("days are mon, tue") != std::string::npos);
}

TEST_CASE("rs R-113 numbers are thousandths, without a floating point") {
    CHECK(parse_thousandths("0") == 0);
    CHECK(parse_thousandths(".5") == 500);
    CHECK(parse_thousandths("5.") == 5000);
    CHECK(parse_thousandths("12.034") == 12034);
    for (const char* text : {"", ".", "-1", "+1", "1.2.3", "1,5", " 1", "0x1", "99999999999999999"})
        CHECK_FALSE(parse_thousandths(text));
    for (const char* text : {"-5", "-0.5", "9223372036854775807", "9223372036854775.808", "99999999999999999.5"})
        CHECK(fault_of_thousandths(text) == "the value is from 0 to 9223372036854775.807");
    CHECK(parse_thousandths("9223372036854775.807") == INT64_MAX);
    for (const char* text : {"", ".", "-", "--1", "1.2.3", "1,5", "0x1", "1.2345", "99999999999999999.1234", "x"})
        CHECK(fault_of_thousandths(text) == "a number of at most three decimals is wanted");
}

TEST_CASE("rs R-159 a policy is shown as it would be typed") {
    const auto shown = [](const std::vector<std::string>& metrics, const std::vector<std::string>& schedules) {
        return policy_summary(policy(metrics, schedules));
    };
    CHECK(shown({"load=70", "p99=0.25:value", "q=1.5"}, {}) == "load=70; p99=0.25:value; q=1.5");
    CHECK(shown({}, {"mon-fri 08:00=10", "mon,wed 20:30=2", "00:00=1"}) ==
          "mon-fri 08:00=10; mon,wed 20:30=2; 00:00=1");
    CHECK(policy_summary("{}").empty());
    CHECK(policy_summary("no JSON").empty());
    CHECK(policy_summary(R"({"metrics":[{"name":"a","target":1}],"down":{"select":"disabled"}})") ==
          "a=0.001; more rules");
    CHECK(policy_summary(R"({"metrics":[{"name":"a","target":1000,"type":"value","source":"core"},)"
                         R"({"name":"b","target":1000,"source":"prometheus","url":"http://h/"}]})") ==
          "a=1:value of core; b=1 of http://h/");
    CHECK(policy_summary(R"({"metrics":7,"schedule":["x"]})") == "=0; =0"); // of another program: no harm
}
