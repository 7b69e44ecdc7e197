// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdint>

#include "libcore/base/pluralize.h"

using namespace yk;

TEST_CASE("a count has its noun in the singular for 1 only") {
    CHECK(pluralize(1, "node") == "1 node");
    CHECK(pluralize(0U, "node") == "0 nodes");
    CHECK(pluralize(-1, "node") == "-1 nodes");
    CHECK(pluralize(UINT64_MAX, "pending ask") == "18446744073709551615 pending asks");
}
