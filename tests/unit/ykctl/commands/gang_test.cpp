// SPDX-License-Identifier: Apache-2.0
#include "ykctl/commands/gang.h"

#include <catch2/catch.hpp>

using namespace yk::cli;

namespace {

std::string fault(GangOptions options) {
    const auto gang = parse_gang(options);
    return gang.ok() ? std::string{} : gang.error().message;
}

GangOptions groups(std::vector<std::string> texts) {
    GangOptions options;
    options.task_groups = std::move(texts);
    return options;
}

} // namespace

TEST_CASE("G-001 app add --task-group: what is sent is the sum over all placeholders, style and time-out") {
    GangOptions options = groups({"driver=1:memory=1Gi,vcore=1", "worker=10:memory=2Gi"});
    options.style = "hard";
    options.timeout = "30s";
    const auto gang = parse_gang(options);
    REQUIRE(gang.ok());
    REQUIRE(gang->groups.size() == 2);
    CHECK(gang->groups[1].name == "worker");
    CHECK(gang->groups[1].count == 10);
    CHECK(gang->hard);
    CHECK(gang->timeout_ms == 30'000);
    yk::si::AddApplicationRequest application;
    put_gang(application, *gang);
    REQUIRE(application.placeholder_ask);
    CHECK(*application.placeholder_ask == yk::si::Resources{{"memory", std::int64_t{21} << 30}, {"vcore", 1000}});
    CHECK(application.gang_scheduling_style == "Hard");
    CHECK(application.execution_timeout_milli_seconds == 30'000);
}

TEST_CASE(
    "G-003 G-007 without style and time-out: Soft, and the daemon's own time-out; without groups nothing is sent") {
    const auto gang = parse_gang(groups({"g=2:memory=1"}));
    REQUIRE(gang.ok());
    yk::si::AddApplicationRequest application;
    put_gang(application, *gang);
    CHECK(application.gang_scheduling_style == "Soft");
    CHECK(application.execution_timeout_milli_seconds == 0);
    yk::si::AddApplicationRequest plain;
    put_gang(plain, *parse_gang({}));
    CHECK_FALSE(plain.placeholder_ask);
    CHECK(plain.gang_scheduling_style.empty());
}

TEST_CASE("G-001 a task group that was typed wrong: the option, the text and what is missing") {
    for (const char* text : {"g", "=1:memory=1", "g=1", "g=0:memory=1", "g=x:memory=1", "g=1:", "g=9999999:memory=1"}) {
        CAPTURE(text);
        const std::string message = fault(groups({text}));
        CHECK(message.find("--task-group") != std::string::npos);
        CHECK(message.find(text) != std::string::npos);
    }
    CHECK(fault(groups({"g=1:memory=1", "g=2:memory=1"})).find("second time") != std::string::npos);
    CHECK(fault(groups({"g=1:memory=0"})).find("asks for nothing") != std::string::npos);
    CHECK(fault(groups({"g=1:memory=much"})).find("--task-group: g") != std::string::npos);
    GangOptions alone;
    alone.style = "soft";
    CHECK(fault(alone).find("need a --task-group") != std::string::npos);
    GangOptions late = groups({"g=1:memory=1"});
    late.timeout = "soon";
    CHECK(fault(late).find("--placeholder-timeout") != std::string::npos);
    late.timeout = "0s";
    CHECK(fault(late).find("more than 0") != std::string::npos);
}
