// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/workers.h"

#include <catch2/catch.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <string>
#include <thread>

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

TEST_CASE("work is done on the calling thread while nobody waits, in its turn otherwise") {
    std::promise<void> go_on;
    const std::shared_future<void> gate = go_on.get_future().share();
    std::atomic<int> begun{0};
    Workers workers(1, [](const char*) {});
    std::thread::id ran_on;
    ItemSource source;
    bool twice = true;
    REQUIRE(workers.run_here({"uid 1", 1}, [&] {
        ran_on = std::this_thread::get_id();
        source = Workers::source_at_work();
        twice = workers.run_here({"uid 1", 1}, [] {});
    }));
    CHECK_FALSE(twice); // one at a time of a client
    CHECK(ran_on == std::this_thread::get_id());
    CHECK(source.client == 1);
    CHECK(Workers::source_at_work().identity.empty());
    workers.post({"uid 1", 1}, [&, gate] {
        ++begun;
        gate.wait();
    });
    REQUIRE(comes_true([&] { return begun == 1; }));
    CHECK_FALSE(workers.run_here({"uid 1", 1}, [] {}));
    workers.post({"uid 2", 2}, [&] { ++begun; }); // it waits for the only worker
    CHECK_FALSE(workers.run_here({"uid 3", 3}, [] {}));
    go_on.set_value();
    REQUIRE(comes_true([&] { return begun == 2; }));
    CHECK(comes_true([&] { return workers.run_here({"uid 1", 1}, [] {}); }));
}

TEST_CASE("what waits for work that is done elsewhere begins after it") {
    Workers workers(1, [](const char*) {});
    std::promise<void> next;
    REQUIRE(workers.run_here({"uid 1", 1}, [&] {
        workers.post({"uid 1", 1}, [&] { next.set_value(); }); // a worker looks, and may not take it yet
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }));
    CHECK(next.get_future().wait_for(kPatience) == std::future_status::ready);
}

TEST_CASE("A10 what work throws that is done elsewhere costs that work alone") {
    std::string reported;
    Workers workers(1, [&](const char* what) { reported = what; });
    CHECK(workers.run_here({"uid 1", 1}, [] { throw std::bad_alloc(); }));
    CHECK(reported == std::bad_alloc().what());
    CHECK(workers.run_here({"uid 1", 1}, [] {}));
}

TEST_CASE("workers that stop wait for work that is done elsewhere, and take no more") {
    std::promise<void> begun, go_on;
    std::atomic<bool> done{false}, ran{false};
    Workers workers(1, [](const char*) {});
    std::thread receiver([&] {
        ran = workers.run_here({"uid 1", 1}, [&] {
            begun.set_value();
            go_on.get_future().wait();
            done = true;
        });
    });
    begun.get_future().wait();
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        go_on.set_value();
    });
    workers.stop();
    CHECK(done);
    CHECK_FALSE(workers.run_here({"uid 1", 1}, [] {}));
    receiver.join();
    later.join();
    CHECK(ran);
}
