// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/change_consumer.h"

#include <catch2/catch.hpp>

#include "tests/support/resource_state/world.h"

namespace yk::testing {

using namespace std::chrono_literals;
using rs::ChangeEvent;
using rs::RelistReason;

namespace {

/// A consumer whose batches come from the test.
struct ConsumerWorld {
    ConsumerWorld() { consumer.add(informer()); }

    void take(std::vector<ChangeEvent> events, std::vector<rs::Kind> unreadable = {}) {
        consumer.on_events({std::move(events), {"first", {{0, 0}}}, std::move(unreadable)}, world.now);
    }
    /// An event of the album "a" that stands at `at` and says that `previous` came before it.
    static ChangeEvent link(std::uint64_t previous, std::uint64_t at, std::size_t lane = 0) {
        return {rs::Kind{1}, "a", rs::Op::Update, {}, 0, lane, {0, at}, rs::Position{0, previous}};
    }
    [[nodiscard]] std::uint64_t relists(RelistReason reason) const {
        const auto found = consumer.counters().relists.find(reason);
        return found == consumer.counters().relists.end() ? 0 : found->second;
    }
    rs::Informer& informer() { return world.albums; }

    AlbumWorld world;
    rs::Settings settings;
    rs::ResourceChangeConsumer consumer{settings, world.notices};
};

} // namespace

TEST_CASE("an event that is missing in a lane is noticed at the next one, and repetitions are not") {
    ConsumerWorld test;
    test.take({test.link(3, 4), test.link(4, 5), test.link(7, 9, 1)});
    CHECK(test.relists(RelistReason::Chain) == 0);
    test.take({test.link(4, 5), test.link(3, 4)});
    CHECK(test.consumer.counters().repeated == 2);
    CHECK(test.relists(RelistReason::Chain) == 0);
    test.take({test.link(6, 7)});
    CHECK(test.relists(RelistReason::Chain) == 1);
    test.take({test.link(7, 8), test.link(9, 12, 1)});
    CHECK(test.relists(RelistReason::Chain) == 1);
    test.consumer.begin_chain();
    test.take({test.link(70, 80)});
    CHECK(test.relists(RelistReason::Chain) == 1);
    ChangeEvent unchained = test.link(0, 0);
    unchained.previous.reset();
    test.take({unchained});
    CHECK(test.consumer.counters().unchained == 1);
    CHECK(test.consumer.counters().events == 10);
}

TEST_CASE("rs R-055 a relist that the log announces is one of the kind") {
    ConsumerWorld test;
    test.take({{rs::Kind{1}, "*", rs::Op::Relist, {}, 0, 0, {0, 1}, {}}});
    CHECK(test.relists(RelistReason::Announced) == 1);
    CHECK(test.world.notices.count("relist album: announced") == 1);
    CHECK(test.informer().is_scanning());
    CHECK(test.world.albums.reconciler().queue().size() == 0); // "*" is no id
}

TEST_CASE("rs R-055 a relay announces relists of several kinds at one place, and an old one is not obeyed again") {
    ConsumerWorld test;
    const auto announce = [&](std::uint32_t kind, std::uint64_t previous, std::uint64_t at) {
        test.take({{rs::Kind{kind}, "*", rs::Op::Relist, {}, 0, 0, {0, at}, rs::Position{0, previous}}});
        return test.relists(RelistReason::Announced);
    };
    CHECK(announce(2, 4, 9) == 1); // of a kind that is not here
    CHECK(announce(1, 9, 9) == 2);
    test.take({test.link(9, 12)});
    CHECK(announce(1, 4, 9) == 2);
    CHECK(test.relists(RelistReason::Chain) == 0);
}

TEST_CASE("rs R-055, F-17 events that cannot be understood are a relist once a minute at most, and none is forgotten") {
    ConsumerWorld test;
    for (int each = 0; each < 600; ++each) {
        test.take({}, {rs::Kind{1}});
        test.world.now = test.world.now + 100ms;
        while (test.consumer.turn(test.world.now)) {
        }
    }
    CHECK(test.relists(RelistReason::Unreadable) == 2);
    CHECK(test.consumer.counters().unreadable == 600);
    test.take({}, {rs::Kind{1}});
    const auto due = test.consumer.next_due();
    REQUIRE(due.has_value());
    CHECK_FALSE(test.consumer.turn(*due - 1ns));
    CHECK(test.consumer.turn(*due));
    CHECK(test.relists(RelistReason::Unreadable) == 3);
    CHECK_FALSE(test.consumer.next_due().has_value());
}

TEST_CASE("events of kinds that nobody has are passed over") {
    ConsumerWorld test;
    test.take({{rs::Kind{9}, "a", rs::Op::Update, {}, 0, 0, {0, 1}, {}}});
    CHECK(test.consumer.counters().foreign == 1);
}

} // namespace yk::testing
