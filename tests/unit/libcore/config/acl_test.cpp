// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/acl.h"

#include <catch2/catch.hpp>

using namespace yk::config;

namespace {

using Names = std::set<std::string, std::less<>>;

struct Row {
    const char* text;
    Names users;
    Names groups;
    bool everyone;
};

} // namespace

TEST_CASE("C-131 C-132 evaluation of ACL texts") {
    const Row rows[] = {{"", {}, {}, false},
                        {" ", {}, {}, false},
                        {"u1,u2", {"u1", "u2"}, {}, false},
                        {"u1,u2 ", {"u1", "u2"}, {}, false},
                        {"u1 g1,g2", {"u1"}, {"g1", "g2"}, false},
                        {" g1,g2", {}, {"g1", "g2"}, false},
                        {"*", {}, {}, true},
                        {"* ", {}, {}, true},
                        {" *", {}, {}, true},
                        {"* g1", {}, {}, true},
                        {"u1 *", {}, {}, true},
                        {"u1,*", {"u1"}, {}, false},
                        {"u1 g1 ", {"u1"}, {"g1"}, false}, // one blank behind the groups is allowed (C-132)
                        {" g1 ", {}, {"g1"}, false},       // the same without users (C-132)
                        {"u1,u1,u2", {"u1", "u2"}, {}, false}};
    for (const Row& row : rows) {
        INFO('\'' << row.text << '\'');
        const auto acl = parse_acl(row.text);
        REQUIRE(acl.ok());
        CHECK(acl->users == row.users);
        CHECK(acl->groups == row.groups);
        CHECK(acl->everyone == row.everyone);
    }
}

TEST_CASE("C-130 more than two fields are refused") {
    for (const std::string text : {" a b ", "  ", "u  g", "a b c", "u g  ", "* * *"}) {
        INFO('\'' << text << '\'');
        const auto acl = parse_acl(text);
        REQUIRE_FALSE(acl.ok());
        CHECK_THAT(acl.error().message, Catch::StartsWith("multiple spaces found in ACL: '" + text + "'"));
    }
}

TEST_CASE("C-133 names that are not legal are dropped and told") {
    std::vector<std::string> dropped;
    const auto acl = parse_acl("9a,system:serviceaccount:ns:sa,,b!c g@h,system:authenticated", &dropped);
    REQUIRE(acl.ok());
    CHECK(acl->users == Names{"system:serviceaccount:ns:sa"});
    CHECK(acl->groups == Names{"system:authenticated"});
    CHECK(dropped == std::vector<std::string>{"9a", "", "b!c", "g@h"});
}

TEST_CASE("C-134 access: everyone, the user, or one of the groups, exact and case-sensitive") {
    const std::vector<std::string_view> groups{"dev", "ops"};
    const auto allows = [&](const char* text, const char* user) { return parse_acl(text)->allows(user, groups); };
    CHECK(allows("*", "bob"));
    CHECK(allows("*", ""));
    CHECK(allows("bob", "bob"));
    CHECK_FALSE(allows("bob", "Bob"));
    CHECK_FALSE(allows("bob", ""));
    CHECK(allows("eve ops", "bob"));
    CHECK_FALSE(allows("eve OPS,qa", "bob"));
    CHECK_FALSE(allows("", "bob"));
    CHECK_FALSE(Acl{}.lets_somebody_in());
    CHECK(parse_acl(" dev")->lets_somebody_in());
}
