// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/bell.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;
using namespace std::chrono_literals;

namespace {

constexpr int kNone = -1;

SteadyClock::time_point after(SteadyClock::duration time) {
    return SteadyClock::now() + time;
}

/// A wait that must end by itself: a test that hangs says nothing.
constexpr SteadyClock::duration kLong = 60s;

} // namespace

TEST_CASE("a ring wakes whoever sleeps, and is not lost on one who does not sleep yet") {
    Bell bell;
    const auto began = SteadyClock::now();
    bell.ring();
    bell.ring();
    CHECK_FALSE(bell.wait_until(after(kLong), kNone));
    CHECK_FALSE(bell.wait_until(after(10ms), kNone)); // both rings were heard
    CHECK(SteadyClock::now() - began >= 10ms);
    std::thread other{[&bell] { bell.ring(); }};
    CHECK_FALSE(bell.wait_until(SteadyClock::time_point::max(), kNone));
    other.join();
    CHECK(SteadyClock::now() - began < kLong);
}

TEST_CASE("rs R-044 a socket that has something to be read wakes whoever sleeps") {
    Bell bell;
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    CHECK_FALSE(bell.wait_until(after(1ms), ends[0]));
    const auto began = SteadyClock::now();
    ssize_t written = 0;
    std::thread other{[&] { written = ::write(ends[1], "x", 1); }};
    CHECK(bell.wait_until(after(kLong), ends[0]));
    other.join();
    CHECK(written == 1);
    bell.ring();
    CHECK(bell.wait_until(after(kLong), ends[0])); // it was not read
    ::close(ends[1]);
    char byte = 0;
    REQUIRE(::read(ends[0], &byte, 1) == 1);
    CHECK(bell.wait_until(after(kLong), ends[0])); // nobody is at the other end, which has to be seen, too
    CHECK(SteadyClock::now() - began < kLong);
    ::close(ends[0]);
}
