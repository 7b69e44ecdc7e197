// SPDX-License-Identifier: Apache-2.0
// B-09, I-354: what a user may still use below a queue: level by level, and for which group.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/reports/explain.h"
#include "tests/unit/libcore/partition/usage.h"

namespace yk::testing {

namespace {

UserExplanation explain(Cluster& c, const std::string& user, const std::string& path,
                        const std::vector<std::string>& groups = {}) {
    return explain_user(*c.core().read("default"), user, groups, path);
}

/// `queue who entry` of each level, with `; ` between; a `-` for no entry.
std::string levels_of(const UserExplanation& explanation) {
    std::string text;
    for (const UsageLevelView& level : explanation.levels)
        text += fmt::format("{}{} {}{} {}", text.empty() ? "" : "; ", level.queue, level.group ? "group " : "",
                            level.who, level.entry.empty() ? "-" : level.entry);
    return text;
}

std::string reasons_of(const UserExplanation& explanation) {
    std::string text;
    for (const ExplainReason& reason : explanation.reasons)
        text += fmt::format("{}{} {}", text.empty() ? "" : "; ", reason.code, reason.object);
    return text;
}

/// bob may use 8 of root.p, everybody 3 of root.p.a; the group dev may use 6 of root.p and run 1 application.
Cluster limited() {
    Cluster c{"[{name: p, limits: [{users: [bob], maxresources: {vcore: 8m}}, {groups: [dev], maxresources: {vcore: "
              "6m}, maxapplications: 1}], queues: [{name: a, limits: [{users: ['*'], maxresources: {vcore: 3m}}]}]}, "
              "{name: free}]"};
    c.nodes(1, "vcore:100");
    return c;
}

} // namespace

TEST_CASE("B-09 C-402 a user that uses nothing yet: the entry that decides on each level, up to the root") {
    Cluster c = limited();
    const UserExplanation bob = explain(c, "bob", "root.p.a");
    CHECK(bob.found);
    CHECK(bob.exists);
    CHECK(bob.verdict == "WITHIN_LIMITS");
    CHECK(levels_of(bob) == "root.p.a bob *; root.p bob bob; root bob -");
    REQUIRE(bob.levels.size() == 3);
    CHECK(bob.levels[0].max == Map{{"vcore", 3}});
    CHECK(bob.levels[0].headroom == Map{{"vcore", 3}});
    CHECK(bob.levels[0].used.empty());
    CHECK_FALSE(bob.levels[2].max.has_value());
    CHECK(bob.headroom == Map{{"vcore", 3}}); // C-408: the least of all
    CHECK(bob.group.empty());
    CHECK(reasons_of(bob).empty());
    const UserExplanation ann = explain(c, "ann", "root.p.a");
    CHECK(levels_of(ann) == "root.p.a ann *; root.p ann -; root ann -");
    CHECK(users(c) == Lines{"bob"}); // the question made nobody (traps of section 13)
}

TEST_CASE("B-09 C-403 C-405 the group is chosen by the lowest queue that knows one, and counts at all levels") {
    Cluster c = limited();
    const UserExplanation bob = explain(c, "bob", "root.p.a", {"ops", "dev"});
    CHECK(bob.group == "dev");
    CHECK(bob.group_from == "root.p");
    CHECK(levels_of(bob) == "root.p.a bob *; root.p bob bob; root bob -; root.p.a group dev -; root.p group dev dev; "
                            "root group dev -");
    CHECK(explain(c, "bob", "root.p.a", {"ops"}).group.empty());
    CHECK(explain(c, "bob", "root.free", {"dev"}).group.empty());
    Cluster everybody{
        "[{name: a, limits: [{groups: [dev], maxapplications: 5}, {groups: ['*'], maxapplications: 3}]}]"};
    const UserExplanation other = explain(everybody, "bob", "root.a", {"ops"});
    CHECK(other.group == "*");
    CHECK(other.group_from == "root.a");
    REQUIRE(other.levels.size() == 4);
    CHECK(other.levels[2].max_applications == 3);
    CHECK(explain(everybody, "bob", "root.a").group.empty()); // without groups not even *
}

TEST_CASE("B-09 C-408 C-410 what is used, what is left, and what nothing is left of") {
    Cluster c = limited();
    submit(c, "x", "root.p.a", "bob", "dev");
    c.existing("x", "1", "vcore:3", "n-0");
    const UserExplanation bob = explain(c, "bob", "root.p.a", {"dev"});
    CHECK(bob.verdict == "BLOCKED_BY_LIMIT");
    CHECK(reasons_of(bob) == "USER_LIMIT root.p.a; APP_LIMIT root.p");
    REQUIRE(bob.levels.size() == 6);
    CHECK(bob.levels[0].used == Map{{"vcore", 3}});
    CHECK(bob.levels[0].headroom == Map{{"vcore", 0}});
    CHECK(bob.levels[0].running == 1);
    CHECK(bob.levels[1].headroom == Map{{"vcore", 5}});
    CHECK(bob.levels[4].headroom == Map{{"vcore", 3}});
    CHECK(bob.levels[4].max_applications == 1);
    CHECK(bob.headroom == Map{{"vcore", 0}});
    CHECK(bob.reasons[0].text == "user bob: max vcore 3, used 3");
    CHECK(bob.reasons[0].used == Map{{"vcore", 3}});
    CHECK(bob.reasons[0].limit == Map{{"vcore", 3}});
    CHECK(bob.reasons[1].text == "group dev runs 1 of at most 1 application");
    c.existing("x", "2", "vcore:4", "n-0"); // C-413: reported, so it goes above
    CHECK(explain(c, "bob", "root.p.a", {"dev"}).levels[0].headroom == Map{{"vcore", -4}});
    CHECK(reasons_of(explain(c, "bob", "root.p.a", {"dev"})) ==
          "USER_LIMIT root.p.a; GROUP_LIMIT root.p; APP_LIMIT root.p");
    CHECK(explain(c, "ann", "root.p.a", {"dev"}).levels[0].headroom == Map{{"vcore", 3}}); // an own budget
}

TEST_CASE("B-09 C-412 without limits nothing is limited") {
    Cluster c = limited();
    submit(c, "x", "root.free", "ann");
    c.existing("x", "1", "vcore:3", "n-0");
    const UserExplanation ann = explain(c, "ann", "root.free");
    CHECK(ann.verdict == "UNLIMITED");
    CHECK_FALSE(ann.headroom.has_value());
    CHECK(ann.levels[0].used == Map{{"vcore", 3}});
    CHECK(levels_of(ann) == "root.free ann -; root ann -");
}

TEST_CASE("B-09 a queue that is not there yet, and one that never can be") {
    Cluster fixed = limited();
    const UserExplanation none = explain(fixed, "bob", "root.p.b");
    CHECK_FALSE(none.found); // no rule makes queues
    CHECK(none.deepest == "root.p");
    CHECK(none.levels.empty());
    CHECK(explain(fixed, "bob", "root.@recovery@").found); // a forced application could go there (C-345)
    Cluster c{"[{name: p, parent: true, limits: [{users: [bob], maxresources: {vcore: 8m}}]}, {name: a}]",
              {},
              "placementrules: [{name: provided, create: true}]"};
    const UserExplanation made = explain(c, "bob", "root.p.team.bob");
    CHECK(made.found);
    CHECK_FALSE(made.exists);
    CHECK(made.deepest == "root.p");
    CHECK(levels_of(made) == "root.p.team.bob bob -; root.p.team bob -; root.p bob bob; root bob -");
    CHECK_FALSE(explain(c, "bob", "root.a.b").found); // below a leaf
    CHECK(explain(c, "bob", "root.a.b").deepest == "root.a");
    CHECK(c.core().read("none") == nullptr);
}

} // namespace yk::testing
