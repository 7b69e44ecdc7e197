// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/names.h"

#include <catch2/catch.hpp>

#include <array>

#include "libcore/config/filter.h"
#include "libcore/config/suggest.h"

using namespace yk::config;

TEST_CASE("C-041 queue names") {
    for (const std::string name : {"a", "9", "-", "a_b:c#d/e@f-9", "ROOT"}) CHECK(is_queue_name(name));
    CHECK(is_queue_name(std::string(64, 'x')));
    CHECK_FALSE(is_queue_name(std::string(65, 'x')));
    for (const std::string name : {"", "a.b", "a b", "a$", "a!", "a*", "\u00e4", "a\n"})
        CHECK_FALSE(is_queue_name(name));
}

TEST_CASE("C-090 user and group names") {
    for (const std::string name :
         {"user.last", "user@domain", "a$", "_", "_$", "system:serviceaccount:ns:sa", "a#b/c", "Bob-2"})
        CHECK(is_user_name(name));
    for (const std::string name : {"99test", "user space", "a!b", "", "$", "a$b", "a$$", "*", ".a", "\u00e4"})
        CHECK_FALSE(is_user_name(name));
    for (const std::string name : {"dev", "_x", "system:authenticated", "a.b", "a-b"}) CHECK(is_group_name(name));
    for (const std::string name : {"group@domain", "a#b", "9a", "g$", "", "*", "a/b"}) CHECK_FALSE(is_group_name(name));
}

TEST_CASE("C-300 rule names are identifiers") {
    for (const std::string name : {"user", "_", "a1", "Fixed"}) CHECK(is_identifier(name));
    for (const std::string name : {"", "1a", "us er", "a-b", "a.b"}) CHECK_FALSE(is_identifier(name));
}

TEST_CASE("C-305 a single filter entry is a name, an expression, or wrong") {
    const auto classify = [](const char* text) { return classify_filter_entry(text, is_user_name); };
    CHECK(classify("bob") == FilterEntry::Name);
    CHECK(classify("bob$") == FilterEntry::Name);
    for (const char* text : {"user*", "username$$", "^a", "a|b", "(a)", "[ab]", "*?"}) {
        INFO(text);
        CHECK(classify(text) == (std::string{text} == "*?" ? FilterEntry::Invalid : FilterEntry::Expression));
    }
    for (const char* text : {"test[test", "a b", "system:\\:x", "", "99test", "a\\.b ", "((", "(a{1000}){1000}"}) {
        INFO(text);
        CHECK(classify(text) == FilterEntry::Invalid);
    }
    CHECK(classify_filter_entry("g@h", is_group_name) == FilterEntry::Invalid);
    CHECK(classify_filter_entry("g@h*", is_group_name) == FilterEntry::Expression);
}

TEST_CASE("B-05 the nearest word: without regard to case, else at most two edits") {
    constexpr std::array<std::string_view, 4> known{"queues", "limits", "submitacl", "max"};
    CHECK(nearest("submitACL", known) == "submitacl");
    CHECK(nearest("SUBMITACL", known) == "submitacl");
    CHECK(nearest("queus", known) == "queues");
    CHECK(nearest("quues_", known) == "queues");
    CHECK(nearest("limits", known) == "limits");
    CHECK(nearest("qqqqs", known).empty());
    CHECK(nearest("ma", known) == "max");
    CHECK(nearest("m", known).empty()); // as far as it is long: anything would do
    CHECK(nearest("", known).empty());
    CHECK(nearest(std::string(100000, 'q'), known).empty());
}
