// SPDX-License-Identifier: Apache-2.0
#include "libcore/policies/placement_rule_kind.h"

#include <catch2/catch.hpp>

using namespace yk;

namespace {

QueueName name_of(std::string_view kind, std::string_view value, const Tags& tags = {}, std::string_view queue = {}) {
    const PlacementRuleKind* known = find_placement_rule_kind(kind);
    REQUIRE(known != nullptr);
    return known->name_for({"alice", queue, tags}, value);
}

} // namespace

TEST_CASE("C-326 user and fixed always have a name") {
    CHECK(name_of("user", {}).text == "alice");
    CHECK(name_of("fixed", "root.a").text == "root.a");
}

TEST_CASE("C-326 provided goes by the queue that was asked for") {
    CHECK(name_of("provided", {}, {}, "root.b").text == "root.b");
    const QueueName none = name_of("provided", {});
    CHECK_FALSE(none.found);
    CHECK(none.text == "no queue was asked for");
}

TEST_CASE("C-326 tag goes by the value of a tag, whose key counts in any case; an empty value is none") {
    CHECK(name_of("tag", "namespace", {{"other", "x"}, {"NameSpace", "Team"}}).text == "Team");
    const QueueName none = name_of("tag", "namespace", {{"namespace", ""}});
    CHECK_FALSE(none.found);
    CHECK(none.text == "the application has no tag namespace with a value");
}

TEST_CASE("C-301 kinds are found in any case, and only those that there are") {
    CHECK(find_placement_rule_kind("Tag") == find_placement_rule_kind("tag"));
    CHECK(find_placement_rule_kind("recovery") == nullptr);
    for (const PlacementRuleKind& kind : placement_rule_kinds()) {
        CHECK(find_placement_rule_kind(kind.name) == &kind);
        CHECK(kind.missing_value.empty() == kind.value_name.empty());
        if (kind.value_is_path) CHECK_FALSE(kind.value_name.empty());
    }
}
