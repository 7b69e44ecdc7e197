#include "ykd/runtime/deadlines.h"

#include <catch2/catch.hpp>

#include <future>
#include <vector>

#include "tests/support/comes_true.h"

using namespace yk;
using namespace yk::testing;

TEST_CASE("calls are made in the order of their times, also those that were asked for later") {
    for (int round = 0; round < 50; ++round) { // the thread may be anywhere when the first call is asked for
        Deadlines deadlines;
        std::vector<int> made;
        std::promise<void> done;
        const auto start = SteadyClock::now();
        deadlines.call_at(start + std::chrono::milliseconds{3}, [&] { done.set_value(); });
        deadlines.call_at(start + std::chrono::milliseconds{2}, [&] { made.push_back(2); });
        deadlines.call_at(start, [&] { made.push_back(1); });
        REQUIRE(done.get_future().wait_for(kPatience) == std::future_status::ready);
        CHECK(made == std::vector<int>{1, 2});
    }
}

TEST_CASE("a cancelled call is not made, and what was made cannot be cancelled") {
    Deadlines deadlines;
    std::promise<void> done;
    bool cancelled_was_made = false;
    const auto start = SteadyClock::now();
    const auto key = deadlines.call_at(start + std::chrono::milliseconds{2}, [&] { cancelled_was_made = true; });
    const auto last = deadlines.call_at(start + std::chrono::milliseconds{4}, [&] { done.set_value(); });
    CHECK(deadlines.cancel(key));
    REQUIRE(done.get_future().wait_for(kPatience) == std::future_status::ready);
    CHECK_FALSE(cancelled_was_made);
    CHECK_FALSE(deadlines.cancel(last));
}

TEST_CASE("every() goes on until the end") {
    Deadlines deadlines;
    std::promise<void> third;
    int count = 0;
    deadlines.every(std::chrono::milliseconds{1}, [&] {
        if (++count == 3) third.set_value();
    });
    REQUIRE(third.get_future().wait_for(kPatience) == std::future_status::ready);
}
