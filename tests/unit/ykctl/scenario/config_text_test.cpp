// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/config_text.h"

#include <catch2/catch.hpp>

#include <string>

namespace yk::scenario {
namespace {

config_yaml::NodePtr parse(const std::string& text) {
    config::Report report;
    auto node = config_yaml::parse_tree(text, report);
    CHECK_FALSE(report.has_errors());
    REQUIRE(node != nullptr);
    return node;
}

bool same(const config_yaml::Node& a, const config_yaml::Node& b) {
    if (a.kind != b.kind || a.scalar != b.scalar || a.items.size() != b.items.size() ||
        a.members.size() != b.members.size())
        return false;
    // A plain text that can be nothing but a text may be written in quotes.
    const bool is_text = a.quoted || a.scalar.empty() || a.scalar.find_first_of(" \n:#@%~*<") != std::string::npos;
    if (!is_text && b.quoted) return false;
    if (a.quoted && !b.quoted) return false;
    for (std::size_t i = 0; i < a.items.size(); ++i)
        if (!same(*a.items[i], *b.items[i])) return false;
    for (std::size_t i = 0; i < a.members.size(); ++i)
        if (a.members[i].key != b.members[i].key || !same(*a.members[i].value, *b.members[i].value)) return false;
    return true;
}

TEST_CASE("scenario.md: a map given as config is written out as it stands") {
    const std::string text =
        GENERATE("a: {b: [1, 010, 0x10, 1_000, yes, ~, '', \"x\\ty\"]}", "acl: '*'", "acl: \"*\"",
                 "a: []\nb: {}\nc: [[], {}, [[1]]]", "a: |\n  two\n  lines\nb: >\n  one\n\n  two\n",
                 "a: first\n  second\n\n  third", "vcore: 500m\nmax: 1.5\nempty:\n",
                 "'a: b': c # d\n\"quote\\\"\": \"back\\\\slash\"", "key with blanks: a, b ]", "a: &x {b: 1}\nc: *x",
                 "u: \"\\u00e4\\u263a\"", "a: !mine null\nb: !!null null\nc: !!int 12\nd: !!str ~\n!k ~: Null",
                 "a: !s\nb: !t \"x: y\"\nc: user@domain\nd: 8:30", "- 1\n- - 2\n  - 3\n- a: 1\n  b: 2");
    CAPTURE(text);
    const auto node = parse(text);
    const std::string written = to_yaml(*node);
    CAPTURE(written);
    CHECK(same(*node, *parse(written)));
}

} // namespace
} // namespace yk::scenario
