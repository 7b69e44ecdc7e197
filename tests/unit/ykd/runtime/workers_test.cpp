// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/workers.h"

#include <catch2/catch.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
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

TEST_CASE("A8 a flood of one client leaves a worker to the others, and two identities do") {
    std::promise<void> go_on;
    const std::shared_future<void> gate = go_on.get_future().share();
    std::atomic<int> begun{0};
    std::promise<ItemSource> same, other;
    Workers workers(3, [](const char*) {});
    for (int i = 0; i < 100; ++i)
        workers.post({"uid 1", 1}, [&, gate] {
            ++begun;
            gate.wait();
        });
    workers.post({"uid 1", 2}, [&, gate] {
        same.set_value(Workers::source_at_work());
        gate.wait();
    });
    auto of_same = same.get_future();
    REQUIRE(of_same.wait_for(kPatience) == std::future_status::ready);
    CHECK(of_same.get().client == 2);
    workers.post({"uid 1", 3}, [&] { ++begun; }); // both that the identity may have are at work
    workers.post({"uid 2", 4}, [&] { other.set_value(Workers::source_at_work()); });
    auto of_other = other.get_future();
    REQUIRE(of_other.wait_for(kPatience) == std::future_status::ready);
    CHECK(of_other.get().identity == "uid 2");
    CHECK(begun == 1);
    CHECK(Workers::source_at_work().identity.empty());
    go_on.set_value();
    CHECK(comes_true([&] { return begun == 101; }));
}

TEST_CASE("A8 workers of low priority are nicer than who started them, whose own priority stays") {
    const auto niceness = [] { return ::getpriority(PRIO_PROCESS, 0); }; // of the calling thread, on Linux
    const int own = niceness();
    std::promise<int> normal, low;
    Workers workers(1, [](const char*) {});
    Workers long_workers(
        1, [](const char*) {}, LoopThread::Priority::Low);
    workers.post([&] { normal.set_value(niceness()); });
    long_workers.post([&] { low.set_value(niceness()); });
    CHECK(normal.get_future().get() == own);
    CHECK(low.get_future().get() == std::min(own + 10, 19));
    CHECK(niceness() == own);
}

TEST_CASE("A8 large messages of many clients leave a worker to the short ones of the same identity") {
    std::promise<void> go_on;
    const std::shared_future<void> gate = go_on.get_future().share();
    std::atomic<int> begun{0};
    std::promise<void> served;
    Workers workers(3, [](const char*) {});
    for (std::uint64_t client = 1; client <= 8; ++client)
        workers.post({"uid 1", client, true}, [&, gate] {
            ++begun;
            gate.wait();
        });
    REQUIRE(comes_true([&] { return begun == 1; }));
    workers.post({"uid 1", 9}, [&] { served.set_value(); });
    CHECK(served.get_future().wait_for(kPatience) == std::future_status::ready);
    CHECK(begun == 1);
    go_on.set_value();
    CHECK(comes_true([&] { return begun == 8; }));
}
