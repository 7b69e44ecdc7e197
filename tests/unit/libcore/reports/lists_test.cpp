// SPDX-License-Identifier: Apache-2.0
// B1: lists of what is there, in pieces of any size, while things come and go (libcore/reports/lists.cpp).

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <set>

#include "libcore/reports/pages.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

Cluster busy() {
    Cluster c{"[{name: a, parent: true, queues: [{name: x}, {name: y}]}, {name: a-b}, {name: b}]"};
    c.nodes(2, "vcore:3")
        .application("one", "root.a.x")
        .application("two", "root.a.y")
        .application("three", "root.a-b");
    c.asks("one", 30, "vcore:1").cycles(10);
    c.asks("two", 5, "vcore:1").asks("three", 3, "vcore:1");
    return c;
}

using Keys = std::vector<std::string>;

template <class Page>
Keys all_keys(
    const Page& page, std::size_t size, const std::function<void(std::size_t)>& between = [](std::size_t) {}) {
    Keys keys;
    ViewCursor place;
    for (std::size_t budget = 0, pages = 0; budget == 0; ++pages) {
        if (pages > 0) between(pages);
        budget = size;
        for (const auto& view : page(place, budget)) keys.push_back(view.key);
        REQUIRE(pages < 1000);
    }
    return keys;
}

Keys asks(Cluster& c, const ObjectFilter& filter, std::size_t size) {
    return all_keys([&](ViewCursor& place,
                        std::size_t& budget) { return ask_page(*c.core().read("default"), filter, place, budget); },
                    size);
}

Keys allocations(Cluster& c, const ObjectFilter& filter, std::size_t size) {
    return all_keys(
        [&](ViewCursor& place, std::size_t& budget) {
            return allocation_page(*c.core().read("default"), filter, place, budget);
        },
        size);
}

} // namespace

TEST_CASE("B1: asks and allocations are the same in pieces of any size") {
    Cluster c = busy();
    for (const std::size_t size : {1U, 2U, 7U, 1000U}) {
        CAPTURE(size);
        CHECK(asks(c, {}, size).size() == 32);
        CHECK(allocations(c, {}, size).size() == 6);
        CHECK(asks(c, {"one", "", "", "", ""}, size).size() == 24);
        CHECK(asks(c, {"", "", "", "root.a", ""}, size).size() == 29);
        CHECK(asks(c, {"", "", "", "root.a-b", ""}, size) == Keys{"three-0", "three-1", "three-2"});
        CHECK(asks(c, {"", "two-4", "", "", ""}, size) == Keys{"two-4"});
        CHECK(asks(c, {"one", "two-4", "", "", ""}, size).empty());
        CHECK(asks(c, {"none", "", "", "", ""}, size).empty());
        CHECK(asks(c, {"", "", "", "", "running"}, size).size() == 24);
        CHECK(allocations(c, {"", "", "n-1", "", ""}, size).size() == 3);
        CHECK(allocations(c, {"two", "", "", "", ""}, size).empty());
        CHECK(allocations(c, {"", "", "nowhere", "", ""}, size).empty());
    }
}

TEST_CASE("B1: what is there from the first piece to the last is listed exactly once") {
    Cluster c = busy();
    const auto page = [&](ViewCursor& place, std::size_t& budget) {
        return ask_page(*c.core().read("default"), {}, place, budget);
    };
    const Keys keys = all_keys(page, 4, [&](std::size_t pages) {
        c.release("one", "one-" + std::to_string(6 + 2 * pages)).ask("two", "late-" + std::to_string(pages), "vcore:1");
    });
    const std::set<std::string> once(keys.begin(), keys.end());
    CHECK(once.size() == keys.size());
    for (int i = 7; i < 30; i += 2) CHECK(once.count("one-" + std::to_string(i)) == 1);
    CHECK(once.count("three-2") == 1);
}

TEST_CASE("B1: a place behind a part of a piece goes on with the rest, also where an index led to it") {
    Cluster c = busy();
    const ObjectFilter two{"two", "", "", "", ""};
    ViewCursor place;
    std::size_t budget = 100;
    const auto first = ask_page(*c.core().read("default"), two, place, budget);
    REQUIRE(first.size() == 5);
    ViewCursor behind;
    behind.next = first[1].next;
    budget = 100;
    const auto rest = ask_page(*c.core().read("default"), two, behind, budget);
    REQUIRE(rest.size() == 3);
    CHECK(rest.front().key == first[2].key);
    CHECK(rest.front().queue == "root.a.y");
}

TEST_CASE("B1: queues one by one are those of the tree, whichever is gone") {
    Cluster c = busy();
    const auto list = [&](std::size_t size, const std::string& after) {
        Keys paths;
        ViewCursor place;
        place.after = after;
        for (std::size_t budget = 0; budget == 0;) {
            budget = size;
            for (const QueueView& view : queue_page(*c.core().read("default"), place, budget))
                paths.push_back(view.path);
        }
        return paths;
    };
    const Keys all{"root", "root.a", "root.a.x", "root.a.y", "root.a-b", "root.b"};
    for (const std::size_t size : {1U, 2U, 100U}) CHECK(list(size, "") == all);
    CHECK(list(100, "root.a.x") == Keys{"root.a.y", "root.a-b", "root.b"});
    CHECK(list(100, "root.a.w") == Keys{"root.a.x", "root.a.y", "root.a-b", "root.b"});
    CHECK(list(100, "root.a.y.z") == Keys{"root.a-b", "root.b"});
    CHECK(list(100, "root.aa.x") == Keys{"root.b"});
    CHECK(list(100, "root.b").empty());
}

TEST_CASE("B1: a roster finds the applications that are still there") {
    Cluster c = busy();
    ApplicationRoster roster;
    ViewCursor place;
    std::size_t budget = 100;
    add_to_roster(*c.core().read("default"), ApplicationList::Active, place, budget, {}, roster);
    std::sort(roster.begin(), roster.end());
    REQUIRE(roster.size() == 3);
    CHECK(roster[1].first == "three");
    const auto at = [&](std::size_t i, std::size_t most) {
        return application_at(*c.core().read("default"), ApplicationList::Active, roster[i].second, most);
    };
    CHECK(at(1, kAllObjects)->asks.size() == 3);
    CHECK_FALSE(at(1, 2)->whole);
    CHECK(at(1, 2)->pending_asks == 3);
    c.remove("three");
    CHECK_FALSE(at(1, kAllObjects));
    CHECK(at(2, 0)->id == "two");
}

TEST_CASE("an application shows how long its oldest ask waits, whatever its shape") {
    Cluster c{"[{name: a}]"};
    c.nodes(1, "vcore:1").application("one");
    const auto oldest = [&] {
        ViewCursor place;
        std::size_t budget = 9;
        const auto page = application_page(*c.core().read("default"), ApplicationList::Active, 0, place, budget);
        return page.at(0).oldest_pending;
    };
    CHECK_FALSE(oldest());
    c.advance(std::chrono::seconds{5}).ask("one", "large", "vcore:9", "prio=1");
    const Instant first = c.now();
    c.advance(std::chrono::seconds{5}).ask("one", "urgent", "vcore:8", "prio=5");
    CHECK(oldest() == first);
    c.release("one", "large");
    CHECK(oldest() == c.now());
}

TEST_CASE("B1: the allocations of an application go, its asks stay") {
    Cluster c = busy();
    c.play("alloc release app=one type=1 keep=1");
    CHECK(c.allocations_of("one") == 0);
    CHECK(c.app("one").pending_asks == 24);
    CHECK(c.state_of("one") == "Running");
}

} // namespace yk::testing
