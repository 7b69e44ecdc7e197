// SPDX-License-Identifier: Apache-2.0
#include "libcore/policies/node_sort_policy.h"

#include <catch2/catch.hpp>

using namespace yk;

TEST_CASE("S-230 fair prefers the emptier node, binpacking the fuller one") {
    const NodeSortPolicy* fair = find_node_sort_policy("fair");
    const NodeSortPolicy* binpacking = find_node_sort_policy("binpacking");
    REQUIRE(fair != nullptr);
    REQUIRE(binpacking != nullptr);
    CHECK(fair->score({0.2}) < fair->score({0.7}));
    CHECK(binpacking->score({0.7}) < binpacking->score({0.2}));
}

TEST_CASE("C-380 without a word in the configuration it is fair; names are as they are written") {
    CHECK(default_node_sort_policy().name == "fair");
    CHECK(find_node_sort_policy("Fair") == nullptr);
    CHECK(find_node_sort_policy("") == nullptr);
    CHECK(node_sort_policy_names() == "fair, binpacking, fragmentation");
}

TEST_CASE("S-230 each policy is found by its own name") {
    for (const NodeSortPolicy& policy : node_sort_policies()) CHECK(find_node_sort_policy(policy.name) == &policy);
}
