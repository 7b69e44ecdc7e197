// SPDX-License-Identifier: Apache-2.0
#include "ykctl/rm/recovery.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::cli;
using namespace std::chrono_literals;

namespace {

std::string problem_of(const RecoveryOptions& options) {
    const auto request = recovery_request(options);
    REQUIRE_FALSE(request.ok());
    CHECK(request.error().exit == Exit::Usage);
    return request.error().message;
}

RecoveryOptions begun() {
    RecoveryOptions options;
    options.id = "r1";
    return options;
}

} // namespace

TEST_CASE("I-212 the options of a recovery") {
    CHECK(recovery_request({}).value() == std::nullopt);
    CHECK(recovery_request(begun()).value() ==
          si::RecoveryRequest{"r1", std::nullopt, std::nullopt, std::nullopt, true, {0}});
    RecoveryOptions options = begun();
    options.timeout = 1min;
    options.idle = 1s;
    options.no_force_applications = true;
    options.max_quarantined = 7;
    options.expected = {"nodes=3,asks=0", "allocations=9"};
    const auto request = recovery_request(options).value();
    CHECK(request == si::RecoveryRequest{"r1", si::RecoveryCounts{3, 0, 9, 0U}, 60, 1, false, {7}});
}

TEST_CASE("I-212 options of a recovery that are wrong") {
    RecoveryOptions alone;
    alone.max_quarantined = 1;
    CHECK(problem_of(alone).find("--max-quarantined") != std::string::npos);
    RecoveryOptions nameless;
    nameless.id = "";
    CHECK(problem_of(nameless).rfind("--recovery: ", 0) == 0);
    RecoveryOptions options = begun();
    options.timeout = 1500ms;
    CHECK(problem_of(options) == "--recovery-timeout: whole seconds, at least 1s");
    options.timeout = 0ms;
    CHECK(problem_of(options) == "--recovery-timeout: whole seconds, at least 1s");
    options = begun();
    options.idle = 1200000h;
    CHECK(problem_of(options) == "--recovery-idle: out of range (32 bits)");
    options = begun();
    options.max_quarantined = -1;
    CHECK(problem_of(options) == "--max-quarantined: from 0 (32 bits)");
    options = begun();
    options.expected = {"node=3"};
    CHECK(problem_of(options) ==
          "--expect: 'node' is not one of nodes, applications, allocations, asks; did you mean 'nodes'?");
    options.expected = {"nodes=-3"};
    CHECK(problem_of(options) == "--expect: nodes: not negative");
    options.expected = {"nodes"};
    CHECK(problem_of(options) == "--expect: 'nodes' is not KEY=VALUE");
    options.expected = {"nodes=1,nodes=2"};
    CHECK(problem_of(options) == "--expect: 'nodes' is given twice");
}
