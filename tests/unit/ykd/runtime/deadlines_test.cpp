// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/deadlines.h"

#include <catch2/catch.hpp>

#include <future>
#include <vector>

#include "tests/support/comes_true.h"

using namespace yk;
using namespace yk::testing;

TEST_CASE("calls are made in the order of their times, also those that were asked for later") {
    // The thread may be anywhere when the first call is asked for; so may this one, which may come too late to tell.
    for (int conclusive = 0; conclusive < 50;) {
        std::vector<int> made;
        std::promise<void> done;
        Deadlines deadlines; // ends before what its calls refer to
        const auto start = SteadyClock::now();
        deadlines.call_at(start + std::chrono::milliseconds{3}, [&] { done.set_value(); });
        deadlines.call_at(start + std::chrono::milliseconds{2}, [&] { made.push_back(2); });
        deadlines.call_at(start, [&] { made.push_back(1); });
        if (SteadyClock::now() >= start + std::chrono::milliseconds{2}) continue;
        REQUIRE(done.get_future().wait_for(kPatience) == std::future_status::ready);
        CHECK(made == std::vector<int>{1, 2});
        ++conclusive;
    }
}

TEST_CASE("a cancelled call is not made, and what was made cannot be cancelled") {
    for (bool conclusive = false; !conclusive;) {
        std::promise<void> done;
        bool cancelled_was_made = false;
        Deadlines deadlines;
        const auto start = SteadyClock::now();
        const auto key = deadlines.call_at(start + std::chrono::milliseconds{2}, [&] { cancelled_was_made = true; });
        const auto last = deadlines.call_at(start + std::chrono::milliseconds{4}, [&] { done.set_value(); });
        const bool cancelled = deadlines.cancel(key);
        conclusive = SteadyClock::now() < start + std::chrono::milliseconds{2}; // else it may have been made before
        REQUIRE(done.get_future().wait_for(kPatience) == std::future_status::ready);
        CHECK((!conclusive || cancelled));
        CHECK(cancelled_was_made == !cancelled);
        CHECK_FALSE(deadlines.cancel(last));
    }
}

TEST_CASE("every() goes on until the end") {
    std::promise<void> third;
    int count = 0;
    Deadlines deadlines;
    deadlines.every(std::chrono::milliseconds{1}, [&] {
        if (++count == 3) third.set_value();
    });
    REQUIRE(third.get_future().wait_for(kPatience) == std::future_status::ready);
}
