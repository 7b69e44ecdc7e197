// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/suggest.h"

#include <catch2/catch.hpp>

using namespace yk::cli;

TEST_CASE("did you mean: the nearest within two edits, or what begins so") {
    const std::vector<std::string> commands{"list", "show", "status", "scenario"};
    CHECK(did_you_mean("lst", commands) == "; did you mean 'list'?");
    CHECK(did_you_mean("statsu", commands) == "; did you mean 'status'?");
    CHECK(did_you_mean("scen", commands) == "; did you mean 'scenario'?");
    CHECK(did_you_mean("zzzz", commands).empty());
    CHECK(did_you_mean("LIST", commands) == "; did you mean 'list'?");
    CHECK(did_you_mean("", commands).empty());
    CHECK(did_you_mean("x", {}).empty());
}

TEST_CASE("did you mean: not just any word of that length") {
    CHECK(did_you_mean("top", {"app", "ask", "rm"}).empty());
    CHECK(did_you_mean("shell", {"help", "sched", "show"}).empty());
    CHECK(did_you_mean("csh", {"bash", "zsh", "fish"}).empty());
    CHECK(did_you_mean("--http", {"--help", "--timeout"}).empty());
    CHECK(did_you_mean("--wach", {"--watch"}) == "; did you mean '--watch'?");
    CHECK(did_you_mean("dmeo", {"demo", "prod"}) == "; did you mean 'demo'?");
    CHECK(did_you_mean("nod", {"node", "rm"}) == "; did you mean 'node'?");
}

TEST_CASE("in any case: the word as it is spelt") {
    const std::vector<std::string> states{"New", "Running"};
    REQUIRE(find_in_any_case("rUNNING", states) != nullptr);
    CHECK(*find_in_any_case("rUNNING", states) == "Running");
    CHECK(find_in_any_case("Runnin", states) == nullptr);
}
