// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/page/change_feed.h"

#include <catch2/catch.hpp>
#include <string>

using namespace yk::service;
using yk::wire::Value;

namespace {

Value event(int type, const std::string& object, const std::string& reference = {}) {
    return {{"type", type}, {"objectID", object}, {"referenceID", reference}};
}

} // namespace

TEST_CASE("events come down to the names of what they are about") {
    ChangedNames names;
    CHECK(names.is_empty());
    for (const Value& one : {event(1, "ask", "app-1"), event(2, "app-2", "alloc"), event(2, "app-2"), event(3, "n1"),
                             event(4, "root.a"), event(5, "somebody")})
        names.add(one);
    CHECK_FALSE(names.is_empty());
    CHECK(names.value() ==
          Value{{"applications", {"app-1", "app-2"}}, {"nodes", {"n1"}}, {"queues", {"root.a"}}, {"more", false}});
}

TEST_CASE("of many names some are told, and that there are more") {
    ChangedNames names;
    for (std::size_t number = 0; number < ChangedNames::kMost; ++number)
        names.add(event(3, "n" + std::to_string(number)));
    names.add(event(3, "n0"));
    CHECK(names.value()["more"] == false);
    names.add(event(3, "another"));
    CHECK(names.value()["more"] == true);
    CHECK(names.value()["nodes"].size() == ChangedNames::kMost);
}

TEST_CASE("that something was lost is news by itself") {
    ChangedNames names;
    names.lose();
    CHECK_FALSE(names.is_empty());
    CHECK(names.value()["more"] == true);
}
