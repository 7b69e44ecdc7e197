// SPDX-License-Identifier: Apache-2.0
#include "ykd/core_gateway/queue_tags.h"

#include <catch2/catch.hpp>

using namespace yk;

TEST_CASE("C-237 the JSON of a resource tag") {
    using Resources = si::Resources;
    CHECK(parse_resource_tag(R"({"resources":{"vcore":{"value":111},"memory":{"value":1000}}})") ==
          Resources{{"vcore", 111}, {"memory", 1000}});
    CHECK(parse_resource_tag(R"({"resources":{"vcore":{"value":1},"gpu":{"value":0},"x":{}},"more":[1]})") ==
          Resources{{"vcore", 1}, {"gpu", 0}, {"x", 0}});
    for (const char* bad :
         {"", "vcore=3", "{", "[]", "null", "3", "{}", R"({"resources":{}})", R"({"resources":[1]})",
          R"({"resources":{"vcore":{"value":0}}})", R"({"resources":{"vcore":{"value":-1},"m":{"value":5}}})",
          R"({"resources":{"vcore":{"value":1.5}}})", R"({"resources":{"vcore":{"value":"1"}}})",
          R"({"resources":{"vcore":3}})", R"({"resources":{"vcore":{"value":9223372036854775808}}})",
          R"({"resources":{"vcore":{"value":1}}} x)"}) {
        INFO(bad);
        CHECK_FALSE(parse_resource_tag(bad));
    }
}

TEST_CASE("C-237 a tag with a number of applications") {
    CHECK(parse_count_tag("4") == 4U);
    CHECK(parse_count_tag("18446744073709551615") == UINT64_MAX);
    for (const char* bad : {"", "0", "-4", "+4", "4.0", "x", "18446744073709551616", "4 "}) {
        INFO(bad);
        CHECK_FALSE(parse_count_tag(bad));
    }
}
