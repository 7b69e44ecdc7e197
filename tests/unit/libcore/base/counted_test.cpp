#include <catch2/catch.hpp>

#include <cstdint>

#include "libcore/base/counted.h"

using namespace yk;

TEST_CASE("a count has its noun in the singular for 1 only") {
    CHECK(counted(1, "node") == "1 node");
    CHECK(counted(0U, "node") == "0 nodes");
    CHECK(counted(-1, "node") == "-1 nodes");
    CHECK(counted(UINT64_MAX, "pending ask") == "18446744073709551615 pending asks");
}
