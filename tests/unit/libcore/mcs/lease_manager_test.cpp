// SPDX-License-Identifier: Apache-2.0
// Who leads, and until when, among instances that share a table of leases; with clocks that jump and a table that is
// away.
#include <catch2/catch.hpp>

#include "libcore/mcs/lease_manager.h"
#include "tests/support/mcs/memory_leases.h"

namespace yk::mcs {

using namespace std::chrono_literals;
using testing::MemoryLeases, testing::MemoryLeaseTable;

namespace {

/// A process with its manager, and what it was given to know: `a1` leads, `a?` does not know, `a-` has lost.
struct Instance {
    Instance(MemoryLeaseTable& table, const std::string& name, const std::vector<std::string>& leases = {"a"})
        : port(table, name),
          manager(port, {}, leases, 7,
                  [this](std::string_view lease, const std::optional<rs::Lease>& now_has, Instant) {
                      news += std::string{lease} + (!now_has            ? "- "
                                                    : now_has->is_valid ? std::to_string(now_has->epoch) + ' '
                                                                        : "? ");
                  }) {}
    void run(Instant now) {
        while (const auto call = manager.next_call(now)) {
            call->run();
            call->finish(now);
        }
        manager.turn(now);
    }
    [[nodiscard]] bool may_write(Instant now) const {
        const auto lease = manager.lease("a", now);
        return lease && lease->is_valid;
    }

    MemoryLeases port;
    LeaseManager manager;
    std::string news;
};

/// Two instances, a table, and time that passes for all.
struct Cluster {
    void pass(Duration time, Duration step = 100ms) {
        for (Duration passed{}; passed < time; passed += step) {
            now = now + step;
            table.wall += step;
            if (first_runs) first.run(now);
            second.run(now);
            CHECK_FALSE((first.may_write(now) && second.may_write(now)));
        }
    }

    MemoryLeaseTable table;
    Instance first{table, "first"}, second{table, "second"};
    Instant now{1'000'000'000'000};
    bool first_runs = true;
};

} // namespace

TEST_CASE("rs R-139, rs R-144 one instance leads; a clean stop lets another one take over within a second") {
    Cluster cluster;
    cluster.pass(60s);
    CHECK(cluster.first.news == "a1 ");
    CHECK(cluster.second.news.empty());
    cluster.first.manager.release();
    CHECK_FALSE(cluster.first.may_write(cluster.now)); // at once, before the table knows
    CHECK_FALSE(cluster.first.manager.is_released());
    CHECK(cluster.first.news == "a1 "); // what is heard of it may take long
    cluster.first.run(cluster.now);
    CHECK(cluster.first.news == "a1 a- ");
    CHECK(cluster.first.manager.is_released());
    CHECK(cluster.first.manager.next_due() == std::nullopt);
    cluster.pass(1s);
    CHECK(cluster.second.news == "a2 ");
    cluster.pass(60s);
    CHECK(cluster.first.news == "a1 a- "); // it does not come back
}

TEST_CASE("rs R-144 who hears of a release asks at once") {
    Cluster cluster;
    cluster.pass(3s);
    cluster.first.manager.release();
    cluster.first.run(cluster.now);
    cluster.second.manager.wake();
    cluster.second.run(cluster.now);
    CHECK(cluster.second.news == "a2 ");
}

TEST_CASE("rs R-046 a lease that is given up goes to another instance, or after a pause back") {
    Cluster cluster;
    cluster.pass(3s);
    cluster.first.manager.give_up("b", 5s, cluster.now); // not one of its leases
    CHECK(cluster.first.news == "a1 ");
    cluster.first.manager.give_up("a", 5s, cluster.now);
    CHECK(cluster.first.news == "a1 a- ");
    CHECK_FALSE(cluster.first.manager.lease("a", cluster.now).has_value());
    SECTION("another one waits for it") {
        cluster.pass(60s);
        CHECK(cluster.second.news == "a2 ");
        CHECK(cluster.first.news == "a1 a- ");
        cluster.second.manager.give_up("a", 5s, cluster.now);
        cluster.pass(2s);
        CHECK(cluster.first.news == "a1 a- a3 ");
    }
    SECTION("nobody else is there") {
        cluster.second.port.is_away = true;
        cluster.pass(4s);
        CHECK(cluster.first.news == "a1 a- ");
        cluster.first.manager.wake(); // some lease was released: this one is still not asked for
        cluster.first.run(cluster.now);
        CHECK(cluster.first.news == "a1 a- ");
        cluster.pass(3s);
        CHECK(cluster.first.news == "a1 a- a2 ");
        cluster.pass(60s);
        CHECK(cluster.first.may_write(cluster.now));
    }
    SECTION("the table is away: it runs out there") {
        cluster.first.port.is_away = true;
        cluster.pass(20s);
        CHECK(cluster.second.news == "a2 ");
    }
    SECTION("and then all are released") {
        cluster.first.manager.release();
        cluster.first.run(cluster.now);
        CHECK(cluster.first.manager.is_released());
        CHECK(cluster.first.news == "a1 a- ");
    }
}

TEST_CASE("rs R-142, F-41 who cannot reach the table stops after two thirds of a lease, before another one can lead") {
    Cluster cluster;
    cluster.pass(10s);
    cluster.first.port.is_away = true;
    cluster.pass(4s);
    CHECK(cluster.first.may_write(cluster.now));
    const auto due = cluster.first.manager.next_due();
    REQUIRE(due);
    CHECK(*due <= cluster.now + 1s); // it tries on
    cluster.pass(4s);
    CHECK_FALSE(cluster.first.may_write(cluster.now));
    CHECK(cluster.first.manager.lease("a", cluster.now)->epoch == 1);
    CHECK(cluster.first.news == "a1 a? ");
    SECTION("and leads again if nobody was faster") {
        cluster.first.port.is_away = false;
        cluster.pass(2s);
        CHECK(cluster.first.news == "a1 a? a1 ");
    }
    SECTION("and has lost if somebody was") {
        cluster.pass(7s);
        CHECK(cluster.second.news == "a2 ");
        cluster.first.port.is_away = false;
        cluster.pass(2s);
        CHECK(cluster.first.news == "a1 a? a- ");
    }
}

TEST_CASE("F-32 why the table cannot be written is known after some calls, and until one succeeds") {
    MemoryLeaseTable table;
    Instance instance{table, "me", {"a", "b"}};
    Instant now{1'000'000'000'000};
    const auto run_for = [&](Duration time) {
        for (const Instant end = now + time; now < end; now = now + 100ms) instance.run(now);
    };
    run_for(2s);
    CHECK(instance.manager.fault().empty());
    instance.port.is_away = true;
    instance.run(now);
    CHECK(instance.manager.fault().empty());
    run_for(10s);
    CHECK(instance.manager.fault() == "away");
    instance.port.is_away = false;
    run_for(2s);
    CHECK(instance.manager.fault().empty());
    CHECK(instance.may_write(now));
}

TEST_CASE("rs R-142 an answer that comes late says when it was asked for, not when it came") {
    MemoryLeaseTable table;
    Instance instance{table, "me"};
    const Instant began{1'000'000'000'000};
    const auto call = instance.manager.next_call(began);
    REQUIRE(call);
    CHECK(instance.manager.next_call(began) == nullptr); // one at a time
    call->run();
    call->finish(began + 11s);
    CHECK(instance.news.empty());
    CHECK_FALSE(instance.may_write(began + 11s));
    instance.run(began + 11s); // it is renewed at once
    CHECK(instance.news == "a1 ");
}

TEST_CASE("rs R-142, F-40 a process that was stopped does not write when it wakes, before it has asked") {
    Cluster cluster;
    cluster.pass(6s);
    cluster.first_runs = false;
    cluster.pass(60s);
    CHECK(cluster.second.news == "a2 ");
    CHECK_FALSE(cluster.first.may_write(cluster.now));
    cluster.first.run(cluster.now);
    CHECK(cluster.first.news == "a1 a- ");
}

TEST_CASE("rs R-143, F-35 a clock that was set back keeps nobody from taking over a lease that nobody renews") {
    Cluster cluster;
    cluster.pass(10s);
    SECTION("its holder lives: nothing happens") {
        cluster.table.wall -= 1h;
        cluster.pass(120s);
        CHECK(cluster.first.news == "a1 ");
        CHECK(cluster.second.news.empty());
    }
    SECTION("its holder is gone: it is taken when a lease has passed by the steady clock") {
        cluster.first_runs = false;
        cluster.table.wall -= 1h;
        cluster.pass(9s);
        CHECK(cluster.second.news.empty());
        cluster.pass(4s);
        CHECK(cluster.second.news == "a2 ");
    }
    SECTION("it was set back by little: the lease runs out by itself") {
        cluster.first_runs = false;
        cluster.table.wall -= 4s;
        cluster.pass(13s);
        CHECK(cluster.second.news.empty());
        cluster.pass(3s);
        CHECK(cluster.second.news == "a2 ");
    }
    SECTION("it was set forward: the lease may be taken early, and its old holder learns of it") {
        cluster.table.wall += 1h;
        cluster.second.manager.wake();
        cluster.second.run(cluster.now);
        CHECK(cluster.second.news == "a2 ");
        cluster.first.run(cluster.now + 6s);
        CHECK(cluster.first.news == "a1 a- ");
    }
}

TEST_CASE("rs R-143 a lease that is seized must still be the one that was seen") {
    Cluster cluster;
    cluster.pass(10s);
    cluster.first_runs = false;
    cluster.table.wall -= 1h;
    cluster.pass(9s);
    const auto seize = [&] {
        auto call = cluster.second.manager.next_call(cluster.now + 4s);
        REQUIRE(call);
        return call;
    };
    SECTION("its holder wakes and renews it in between") {
        const auto call = seize();
        cluster.first.run(cluster.now);
        call->run();
        call->finish(cluster.now + 4s);
        CHECK(cluster.second.news.empty());
    }
    SECTION("it does not") {
        const auto call = seize();
        call->run();
        call->finish(cluster.now + 4s);
        CHECK(cluster.second.news == "a2 ");
    }
}

TEST_CASE("rs R-144 a lease that arrives after the stop is released, too, and each lease is by itself") {
    MemoryLeaseTable table;
    Instance instance{table, "me", {"a", "b"}};
    const Instant now{1'000'000'000'000};
    const auto a = instance.manager.next_call(now);
    instance.run(now);
    CHECK(instance.news == "b1 ");
    instance.manager.release();
    CHECK_FALSE(instance.manager.is_released());
    a->run();
    a->finish(now);
    CHECK(table.rows["a"].holder == "me");
    instance.port.is_away = true;
    const auto lost = instance.manager.next_call(now);
    lost->run(); // fails, and runs out by itself
    lost->finish(now);
    instance.port.is_away = false;
    instance.run(now);
    CHECK(instance.manager.is_released());
    CHECK(instance.news == "b1 b- ");
    CHECK(table.rows["b"].holder.empty());
}

TEST_CASE("rs R-142 of several leases none is forgotten for another, however seldom a call is made") {
    MemoryLeaseTable table;
    Instance other{table, "other", {"a"}};
    Instance slow{table, "slow", {"a", "b", "c"}};
    Instant now{1'000'000'000'000};
    for (int second = 0; second < 120; ++second) {
        now = now + 1s;
        table.wall += 1s;
        other.run(now);
        if (const auto call = slow.manager.next_call(now)) { // one in a second, and `a` is asked for in each
            call->run();
            call->finish(now);
        }
        slow.manager.turn(now);
    }
    CHECK(slow.news == "b1 c1 ");
}

} // namespace yk::mcs
