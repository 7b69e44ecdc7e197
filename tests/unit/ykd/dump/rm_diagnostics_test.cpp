// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/rm_diagnostics.h"

#include <catch2/catch.hpp>

using namespace yk::service;

namespace {

std::string error_of(const Value& value) {
    return value.is_object() && value.contains("Error") ? value["Error"].get<std::string>() : std::string{};
}

} // namespace

TEST_CASE("I-435 the state of an RM is any JSON") {
    CHECK(diagnostics_value(R"({"pods": [1, -2, 2.5, null, true, "x"]})", 1000) ==
          Value{{"pods", {1, -2, 2.5, nullptr, true, "x"}}});
    CHECK(diagnostics_value("7", 1000) == Value(7));
}

TEST_CASE("I-435 what cannot be passed on is replaced by the reason") {
    CHECK(error_of(diagnostics_value("", 1000)) == "the state is no JSON text");
    CHECK(error_of(diagnostics_value("{\"a\": 1} 2", 1000)) == "the state is no JSON text");
    CHECK(error_of(diagnostics_value("\"\xff\"", 1000)) == "the state is no JSON text");
    CHECK(error_of(diagnostics_value("\"0123456789\"", 10)) == "the state has 11 bytes, there is room for 10");
    const std::string deep = std::string(25, '[') + std::string(25, ']');
    CHECK(error_of(diagnostics_value(deep, 1000)).find("nested deeper than 24") != std::string::npos);
    CHECK(error_of(diagnostics_value(std::string(1'000'000, '['), 1000)).find("nested deeper") != std::string::npos);
    CHECK(error_of(diagnostics_value(R"(["[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "\"[[[[["])", 1000)).empty());
}
