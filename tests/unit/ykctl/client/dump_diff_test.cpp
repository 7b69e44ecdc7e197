// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/dump_diff.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

namespace {

std::string lines(const Value& before, const Value& after) {
    std::string text;
    for (const auto& difference : dump_differences(before, after)) text += difference_line(difference, {});
    return text;
}

} // namespace

TEST_CASE("equal dumps have no differences") {
    const Value dump{{"nodes", {{{"nodeID", "a"}, {"x", 1}}}}};
    CHECK(dump_differences(dump, dump).empty());
}

TEST_CASE("list elements are matched by what names them, whatever their place") {
    const Value before{{"nodes", {{{"nodeID", "a"}, {"x", 1}}, {{"nodeID", "b"}, {"x", 2}}}}};
    const Value after{{"nodes", {{{"nodeID", "c"}}, {{"nodeID", "b"}, {"x", 3}, {"y", true}}}}};
    CHECK(lines(before, after) == "- nodes[nodeID=a]: {\"nodeID\":\"a\",\"x\":1}\n"
                                  "~ nodes[nodeID=b].x: 2 -> 3\n"
                                  "+ nodes[nodeID=b].y: true\n"
                                  "+ nodes[nodeID=c]: {\"nodeID\":\"c\"}\n");
}

TEST_CASE("elements without a name, or with the same, are matched by their place") {
    CHECK(lines({{"l", {1, 2}}}, {{"l", {1, 3, 4}}}) == "~ l[1]: 2 -> 3\n+ l[2]: 4\n");
    const Value same{{{"nodeID", "a"}, {"x", 1}}, {{"nodeID", "a"}, {"x", 2}}};
    CHECK(lines(Value::array({same[0], same[1]}), Value::array({same[0], same[0]})) == "~ [1].x: 2 -> 1\n");
}

TEST_CASE("a change of type is one difference") {
    CHECK(lines({{"a", {{"b", 1}}}}, {{"a", 5}}) == "~ a: {\"b\":1} -> 5\n");
}
