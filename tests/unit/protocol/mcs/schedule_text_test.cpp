// SPDX-License-Identifier: Apache-2.0
#include "protocol/mcs/schedule_text.h"

#include <catch2/catch.hpp>

namespace yk::testing {

using namespace mcs;

namespace {

ScheduleStatus full_status() {
    ScheduleStatus status;
    status.application = {"gpu", "root.a", "ann", {"staff", "web"}, {{"team", "blue"}, {"empty", ""}}};
    status.versions = {{0, {{{"memory", 1'000'000}, {"vcore", 500}}, -7}},
                       {3, {{{"vcore", 1}}, 0, {{"command", "true"}, {"env.A", "b"}}}}};
    status.next_attempt = 5;
    status.message = "queue \"root.a\" is full";
    return status;
}

std::string fault(std::string_view text) {
    const auto status = parse_schedule_status(text);
    return status.ok() ? "" : status.error().text();
}

} // namespace

TEST_CASE("rs R-126 the status of a schedule reads as what was written") {
    const ScheduleStatus status = full_status();
    const std::string text = schedule_status_text(status);
    CHECK(text ==
          R"({"application":{"groups":["staff","web"],"partition":"gpu","queue":"root.a",)"
          R"("tags":{"empty":"","team":"blue"},"user":"ann"},"message":"queue \"root.a\" is full","nextAttempt":5,)"
          R"("versions":[{"fromAttempt":0,"priority":-7,"resource":{"memory":1000000,"vcore":500}},)"
          R"({"fromAttempt":3,"priority":0,"resource":{"vcore":1},"work":{"command":"true","env.A":"b"}}]})");
    const auto read = parse_schedule_status(text);
    REQUIRE(read.ok());
    CHECK(*read == status);
    CHECK(schedule_status_text(*read) == text);
}

TEST_CASE("rs R-126 what is no such status is refused with its place") {
    CHECK(fault("") != "");
    CHECK(fault("[]") != "");
    CHECK(fault(R"({"nextAttempt":0})") == "application: is missing");
    const std::string application = R"({"application":{},"nextAttempt":0,"versions":)";
    CHECK(fault(application + "[]}") == "versions: must have one at least");
    CHECK(fault(application + R"([{"fromAttempt":2,"priority":0},{"fromAttempt":1,"priority":0}]})") ==
          "versions: must have the oldest first");
    CHECK(fault(application + R"([{"fromAttempt":-1,"priority":0}]})").starts_with("versions[0].fromAttempt: "));
    CHECK(fault(application + R"([{"fromAttempt":0,"priority":0,"resource":{"vcore":1.5}}]})") ==
          "versions[0].resource.vcore: must be an integer");
    CHECK(fault(application + R"([{"fromAttempt":0,"priority":0,"resource":{"v":18446744073709551615}}]})") ==
          "versions[0].resource.v: is too large");
    CHECK(fault(application + R"([{"fromAttempt":0,"priority":0,"color":1}]})") != "");
    CHECK(fault(R"({"application":{"tags":{"a":1}},"nextAttempt":0,"versions":[]})") ==
          "application.tags.a: must be a text");
}

} // namespace yk::testing
