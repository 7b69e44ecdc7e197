// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/workers.h"

#include <catch2/catch.hpp>

#include <future>
#include <new>

#include "tests/support/comes_true.h"

using namespace yk;
using namespace yk::testing;

TEST_CASE("A10 what a worker's task throws costs that task alone") {
    std::promise<std::string> reported;
    std::promise<void> next;
    Workers workers(1, [&](const char* what) { reported.set_value(what); });
    workers.post([] { throw std::bad_alloc(); });
    workers.post([&] { next.set_value(); });
    auto fault = reported.get_future();
    REQUIRE(fault.wait_for(kPatience) == std::future_status::ready);
    CHECK(fault.get() == std::bad_alloc().what());
    CHECK(next.get_future().wait_for(kPatience) == std::future_status::ready);
}
