// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/work_queue.h"

#include <set>

#include <catch2/catch.hpp>

namespace yk::rs {

using namespace std::chrono_literals;

namespace {

constexpr Reason kHigh{Priority::High, Cause::Live}, kLive{}, kLow{Priority::Low, Cause::Resync, true};

struct Queue {
    WorkQueue queue{{50ms, 60s}, 1};
    Instant now{0};

    void add(std::string_view id, const Reason& reason = kLive) { queue.add(id, reason, now); }
    std::string take() {
        const auto item = queue.take(now);
        CHECK(queue.check().empty());
        return item ? item->id : "";
    }
    /// Takes and ends one key after the other.
    std::string all() {
        std::string ids;
        for (std::string id = take(); !id.empty(); id = take()) {
            ids += id;
            queue.done(id);
        }
        return ids;
    }
};

} // namespace

TEST_CASE("rs R-072 a key is here once, and comes again if it was added while it was processed") {
    Queue test;
    test.add("a");
    test.add("a");
    test.add("b");
    CHECK(test.queue.size() == 2);
    CHECK(test.take() == "a");
    test.add("a");
    test.add("a");
    CHECK(test.take() == "b");
    CHECK(test.take().empty()); // nobody else gets it meanwhile
    CHECK(test.queue.contains("a"));
    test.queue.done("a");
    CHECK(test.take() == "a");
    test.queue.done("a");
    test.queue.done("b");
    CHECK(test.take().empty());
    CHECK(test.queue.size() == 0);
    CHECK_FALSE(test.queue.contains("a"));
}

TEST_CASE("rs R-072 of several reasons the most urgent counts, and a forced look stays forced") {
    Queue test;
    test.add("a", kLow);
    test.add("b");
    test.add("a", kHigh);
    const auto item = test.queue.take(test.now);
    REQUIRE(item.has_value());
    CHECK(item->id == "a");
    CHECK(item->reason.priority == Priority::High);
    CHECK(item->reason.cause == Cause::Live);
    CHECK(item->reason.forced);
    test.add("a");
    test.queue.done("a");
    CHECK(test.take() == "b");
    const auto again = test.queue.take(test.now);
    CHECK_FALSE(again->reason.forced); // that was for the look before
}

TEST_CASE("rs R-073 a million adds of one key cost one entry") {
    Queue test;
    for (int each = 0; each < 1'000'000; ++each) test.add("a");
    CHECK(test.queue.size() == 1);
    CHECK(test.queue.coalesced() == 999'999);
    CHECK(test.all() == "a");
}

TEST_CASE("rs R-074 urgent keys come first, but every eighth is of the least urgent class, and none waits for ever") {
    Queue test;
    for (const char* id : {"x", "y", "z"}) test.add(id, kLow);
    for (const char* id : {"a", "b", "c", "d", "e", "f", "g", "h"}) test.add(id);
    test.add("A", kHigh);
    CHECK(test.all() == "Aabcdefxghyz");
}

TEST_CASE("rs R-074 a key that has waited for 5 s counts as of the next class") {
    Queue test;
    test.add("x", kLow);
    test.now = test.now + 4s;
    test.add("a");
    test.now = test.now + 1s;
    test.add("b");
    CHECK(test.all() == "xab");
    test.add("x", kLow);
    test.now = test.now + 6s;
    test.add("A", kHigh);
    CHECK(test.all() == "Ax"); // by one class only
}

TEST_CASE("rs R-074 a stream of urgent keys starves nobody") {
    Queue test;
    test.add("low", kLow);
    test.add("live");
    std::set<std::string> seen;
    for (int each = 0; each < 20; ++each) {
        test.add("urgent" + std::to_string(each), kHigh);
        test.add("urgent+" + std::to_string(each), kHigh);
        const std::string id = test.take();
        seen.insert(id);
        test.queue.done(id);
    }
    CHECK(seen.contains("low"));
    CHECK(seen.contains("live"));
}

TEST_CASE("rs R-078 a key that fails comes again after a back-off, and a success begins anew") {
    Queue test;
    test.add("a");
    Duration longest{};
    for (unsigned failures = 0; failures < 12; ++failures) {
        const auto item = test.queue.take(test.now);
        REQUIRE(item.has_value());
        CHECK(item->failures == failures);
        test.queue.failed("a", test.now);
        CHECK(test.take().empty());
        const Instant due = test.queue.next_due().value();
        longest = std::max(longest, due - test.now);
        test.now = due;
    }
    CHECK(longest > 30s);
    CHECK(longest <= 60s);
    CHECK(test.all() == "a");
    test.add("a");
    CHECK(test.queue.take(test.now)->failures == 0);
}

TEST_CASE("rs R-075 a hot key that fails is tried at most once per shortest back-off") {
    Queue test;
    test.add("a");
    int tries = 0;
    for (; test.now < Instant{} + 10s; test.now = test.now + 1ms) {
        test.add("a");
        if (test.take() != "a") continue;
        ++tries;
        test.queue.failed("a", test.now);
    }
    CHECK(tries > 150);
    CHECK(tries <= 201); // 10 s / 50 ms
}

TEST_CASE("rs R-075 a key that only waits comes at once when it is added") {
    Queue test;
    test.add("a");
    CHECK(test.take() == "a");
    test.queue.again_after("a", 10s, test.now);
    CHECK(test.take().empty());
    CHECK(test.queue.next_due() == test.now + 10s);
    test.add("a");
    CHECK(test.all() == "a");
    test.add("a");
    CHECK(test.take() == "a");
    test.queue.again_after("a", 10s, test.now);
    test.now = test.now + 10s;
    CHECK(test.all() == "a");
}

TEST_CASE("rs R-078 a key that was not tried is queued as it was, before those that came meanwhile") {
    Queue test;
    test.add("a");
    CHECK(test.take() == "a");
    test.queue.failed("a", test.now);
    test.now = test.now + 1s;
    CHECK(test.take() == "a");
    test.add("b");
    test.queue.put_back("a");
    CHECK(test.queue.take(test.now)->failures == 1);
    CHECK(test.take() == "b");
}

TEST_CASE("rs R-158 whether all that was added up to a moment was done is known") {
    Queue test;
    CHECK(test.queue.done_before() > test.now);
    test.add("a");
    const Instant then = test.now;
    CHECK_FALSE(test.queue.done_before() > then);
    test.now = test.now + 1s;
    test.add("b");
    CHECK(test.take() == "a");
    CHECK_FALSE(test.queue.done_before() > then); // its row is being read
    test.queue.put_back("a");
    CHECK_FALSE(test.queue.done_before() > then);
    CHECK(test.take() == "a");
    test.queue.failed("a", test.now);
    CHECK_FALSE(test.queue.done_before() > then);
    test.now = test.now + 10s;
    CHECK(test.take() == "b");
    test.queue.done("b");
    CHECK(test.take() == "a"); // queued after its pause, but added before
    CHECK_FALSE(test.queue.done_before() > then);
    test.queue.again_after("a", 10s, test.now); // as its row was not the newest
    CHECK_FALSE(test.queue.done_before() > then);
    test.now = test.now + 10s;
    CHECK(test.take() == "a");
    test.add("a"); // once more, while it is read
    const Instant again = test.now;
    test.now = test.now + 1s;
    test.queue.done("a");
    CHECK(test.queue.done_before() > then);
    CHECK_FALSE(test.queue.done_before() > again);
    CHECK(test.take() == "a");
    test.queue.done("a");
    CHECK(test.queue.done_before() > test.now);
    CHECK(test.queue.check().empty());
}

TEST_CASE("a mark is settled when what was there was tried once") {
    Queue test;
    test.queue.mark();
    CHECK(test.queue.settled());
    for (const char* id : {"a", "b", "c"}) test.add(id);
    CHECK(test.take() == "a");
    test.queue.mark();
    test.add("d");
    test.queue.failed("a", test.now);
    CHECK(test.take() == "b");
    test.add("b");
    test.queue.put_back("b");
    CHECK_FALSE(test.queue.settled());
    CHECK(test.take() == "b");
    CHECK(test.take() == "c");
    test.queue.done("c");
    CHECK(test.take() == "d");
    CHECK_FALSE(test.queue.settled());
    test.queue.done("b");
    CHECK(test.queue.settled());
    test.queue.done("d");
    test.queue.clear();
    CHECK(test.queue.size() == 0);
    CHECK(test.queue.check().empty());
}

} // namespace yk::rs
