// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "libcore/base/commonest.h"

using yk::commonest;

TEST_CASE("commonest: what was counted most, of equals the largest, of nothing the empty key") {
    CHECK(commonest(std::map<int, int>{{1, 2}, {5, 3}, {9, 1}}) == 5);
    CHECK(commonest(std::map<int, int>{{1, 3}, {5, 3}, {9, 1}}) == 5);
    CHECK(commonest(std::map<std::string, int>{}).empty());
}
