#include "ykctl/commands/suggest.h"

#include <catch2/catch.hpp>

using namespace yk::cli;

TEST_CASE("did you mean: the nearest within two edits, or what begins so") {
    const std::vector<std::string> commands{"list", "show", "status", "scenario"};
    CHECK(did_you_mean("lst", commands) == "; did you mean 'list'?");
    CHECK(did_you_mean("statsu", commands) == "; did you mean 'status'?");
    CHECK(did_you_mean("scen", commands) == "; did you mean 'scenario'?");
    CHECK(did_you_mean("zzzz", commands).empty());
    CHECK(did_you_mean("", commands).empty());
    CHECK(did_you_mean("x", {}).empty());
}
