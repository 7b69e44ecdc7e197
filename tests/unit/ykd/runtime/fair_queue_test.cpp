// SPDX-License-Identifier: Apache-2.0
// Whose turn it is, and who leaves whom free.

#include "ykd/runtime/fair_queue.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace yk;

namespace {

using TextQueue = FairQueue<std::string>;

/// Takes all that it may and is done with each at once.
std::string all_of(TextQueue& queue) {
    std::string text;
    while (const auto next = queue.take()) {
        text += (text.empty() ? "" : " ") + next->item;
        queue.done(next->source);
    }
    return text;
}

} // namespace

TEST_CASE("A8 clients of one identity take turns, each in its own order") {
    TextQueue queue;
    for (int i = 1; i <= 4; ++i) queue.push({"uid 1", 1}, "a" + std::to_string(i));
    queue.push({"uid 1", 2}, "b1");
    queue.push({"uid 1", 2}, "b2");
    queue.push({"uid 1", 3}, "c1");
    CHECK(all_of(queue) == "a1 b1 c1 a2 b2 a3 a4");
    CHECK(queue.clients() == 0);
}

TEST_CASE("A8 identities take turns, however many clients one of them has") {
    TextQueue queue;
    for (std::uint64_t client = 1; client <= 4; ++client) queue.push({"uid 1", client}, "a" + std::to_string(client));
    queue.push({"uid 2", 9}, "b1");
    queue.push({"uid 2", 9}, "b2");
    queue.push({}, "own");
    CHECK(all_of(queue) == "a1 b1 own a2 b2 a3 a4");
}

TEST_CASE("A8 who comes late is next") {
    TextQueue queue;
    for (int i = 1; i <= 3; ++i) queue.push({"uid 1", 1}, "a" + std::to_string(i));
    const auto first = queue.take();
    queue.push({"uid 2", 2}, "b");
    const auto second = queue.take();
    REQUIRE((first && second));
    CHECK(first->item == "a1");
    CHECK(second->item == "b");
    queue.done(first->source);
    queue.done(second->source);
    CHECK(all_of(queue) == "a2 a3");
}

TEST_CASE("A8 a client and an identity have so many at work, exactly, and the daemon as many as it needs") {
    TextQueue queue({1, 2});
    for (const std::uint64_t client : {1U, 2U, 3U})
        for (const char* number : {"1", "2"}) queue.push({"uid 1", client}, std::to_string(client) + number);
    for (const char* item : {"x", "y", "z"}) queue.push({}, item);
    std::vector<TextQueue::Taken> at_work;
    std::string text;
    while (auto next = queue.take()) {
        text += next->item + " ";
        at_work.push_back(std::move(*next));
    }
    CHECK(text == "11 x 21 y z ");
    queue.push({"uid 2", 4}, "other"); // another one is not kept waiting
    auto other = queue.take();
    REQUIRE(other);
    CHECK(other->item == "other");
    CHECK_FALSE(queue.take());
    queue.done(at_work[2].source); // of client 2: the next one of the identity may begin
    CHECK(queue.take()->item == "31");
    CHECK_FALSE(queue.take());
    queue.done(at_work[0].source);
    CHECK(queue.take()->item == "12"); // client 1 has none at work; that of client 3 is
    queue.done({"uid 1", 3});
    CHECK(queue.take()->item == "22");
}

TEST_CASE("A8 what is done leaves nothing behind") {
    TextQueue queue;
    for (std::uint64_t client = 0; client < 100; ++client)
        queue.push({"uid " + std::to_string(client % 7), client}, "x");
    CHECK(queue.clients() == 100);
    static_cast<void>(all_of(queue));
    CHECK(queue.clients() == 0);
}

TEST_CASE("A8 long items of an identity leave room for its short ones, and wait in the order of their client") {
    TextQueue queue({2, 3, 1});
    const auto add = [&queue](std::uint64_t client, bool is_long, const char* item) {
        queue.push({"uid 1", client, is_long}, item);
    };
    add(1, true, "long 1");
    add(2, true, "long 2");
    add(2, false, "behind it");
    add(3, false, "short");
    const auto first = queue.take();
    const auto second = queue.take();
    REQUIRE((first && second));
    CHECK(first->item == "long 1");
    CHECK(second->item == "short"); // not that of client 2, whose order is kept
    CHECK_FALSE(queue.take());
    queue.push({"uid 2", 9, true}, "of another identity");
    CHECK(queue.take()->item == "of another identity");
    queue.push({{}, 0, true}, "own");
    CHECK(queue.take()->item == "own"); // the daemon has no limit
    queue.done(second->source);
    CHECK_FALSE(queue.take()); // a short one that ended does not let a long one begin
    queue.done(first->source);
    CHECK(queue.take()->item == "long 2");
    CHECK(queue.take()->item == "behind it");
}

TEST_CASE("A8 an item is begun at once while nothing waits and its source has not enough at work") {
    TextQueue queue({1, 2, 1});
    const ItemSource first{"uid 1", 1}, second{"uid 1", 2}, third{"uid 1", 3};
    CHECK(queue.begin(first));
    CHECK_FALSE(queue.begin(first)); // its client has one at work
    CHECK(queue.begin(second));
    CHECK_FALSE(queue.begin(third)); // its identity has two
    CHECK(queue.begin({"uid 2", 4, true}));
    CHECK_FALSE(queue.begin({"uid 2", 5, true})); // one long one
    CHECK(queue.begin({"uid 2", 5}));
    for (int i = 0; i < 3; ++i) CHECK(queue.begin({})); // the daemon's own
    CHECK(queue.clients() == 5);
    queue.push(third, "waits");
    CHECK(queue.has_waiting());
    CHECK_FALSE(queue.begin({"uid 3", 6})); // others were there before
    queue.done(first);
    const auto taken = queue.take();
    REQUIRE(taken);
    CHECK(taken->item == "waits");
    CHECK_FALSE(queue.has_waiting());
    CHECK(queue.begin({"uid 3", 6}));
}

TEST_CASE("A8 what is begun at once and refused leaves nothing behind") {
    TextQueue queue({1, 2, 1});
    CHECK(queue.begin({"uid 1", 1}));
    CHECK_FALSE(queue.begin({"uid 1", 1}));
    queue.done({"uid 1", 1});
    CHECK(queue.clients() == 0);
    queue.push({"uid 1", 1}, "x");
    CHECK_FALSE(queue.begin({"uid 2", 2}));
    CHECK(all_of(queue) == "x");
    CHECK(queue.clients() == 0);
}
