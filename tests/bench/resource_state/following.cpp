// SPDX-License-Identifier: Apache-2.0
// rs-03, rs-05, rs-11, rs-12: a log that was written beforehand, what reading the cache costs, and what waits while the
// database is away.

#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/bench/resource_state/follower.h"
#include "tests/bench/resource_state/helper_process.h"
#include "tests/bench/resource_state/workloads.h"

namespace yk::bench {
namespace {

constexpr Duration kLimit = std::chrono::minutes{10};
constexpr int kHotTimes = 4; // that each row changes, when all are hot

/// Everything that is in the log is applied, and handlers were called for it.
Result<void> catch_up(Follower& follower, std::uint64_t events) {
    const auto is_done = [&] {
        return follower.manager().events().events >= events &&
               follower.deployments().reconciler().queue().size() == 0 &&
               follower.deployments().deliveries().queued() == 0;
    };
    return follower.run_until(is_done, kLimit);
}

/// Seconds for the events of a change of all rows, `times` times, by which the versions become `version`.
Result<double> apply_log(Follower& follower, std::size_t rows, std::uint64_t times) {
    const std::uint64_t before = follower.manager().events().events;
    const std::int64_t began = steady_ns();
    follower.manager().wake();
    YK_CHECKED(catch_up(follower, before + rows * times));
    return seconds_since(began);
}

} // namespace

/// Each row changes once, in an order that has nothing to do with that of their ids; then all of them four times.
Result<Figures> run_backlog_of_log(const RunPlace& place) {
    YK_TRY(database, place.databases.make(place.engine, Rows{place.rows}));
    return figures_apart([&]() -> Result<Figures> {
        HelperProcess once{[&] { return change_all(*database, 1); }};
        HelperProcess often{[&] { return change_all(*database, kHotTimes); }};
        YK_TRY(follower, Follower::open(*database, {}));
        YK_CHECKED(follower->start());
        YK_CHECKED(once.run());
        YK_TRY(distinct, apply_log(*follower, place.rows, 1));
        YK_CHECKED(often.run());
        YK_TRY(hot, apply_log(*follower, place.rows, kHotTimes));
        YK_CHECKED(follower->check(*database));
        const auto& counters = follower->deployments().reconciler().counters();
        if (counters.updated < 2 * place.rows)
            return Error::of(fmt::format("{} changes of {} were applied", counters.updated, 2 * place.rows));
        const auto rows = static_cast<double>(place.rows);
        return Figures{{"changes per second, each key once", rows / distinct},
                       {"events per second, each key four times", kHotTimes * rows / hot}};
    });
}

/// A cache belongs to one thread, so that one reads, and in the second part of the measurement applies, too: it takes
/// turns of a millisecond each.
Result<Figures> run_reads_of_cache(const RunPlace& place) {
    const Rows rows{place.rows};
    YK_TRY(database, place.databases.make(place.engine, rows));
    return figures_apart([&]() -> Result<Figures> {
        HelperProcess writer{[&] { return change_all(*database, 1); }};
        YK_TRY(follower, Follower::open(*database, {}));
        YK_CHECKED(follower->start());
        std::vector<std::string> ids;
        for (std::size_t at = 0; at < place.rows; ++at)
            ids.push_back(deployment_of(static_cast<std::uint32_t>(at * 982'451'653 % place.rows), rows).meta.id);
        std::size_t next = 0, missing = 0, reads = 0;
        const auto read_for = [&](std::int64_t ns) {
            for (const std::int64_t end = steady_ns() + ns; steady_ns() < end; reads += 256)
                for (int each = 0; each < 256; ++each) {
                    missing += follower->cache().get(ids[next]) == nullptr ? 1U : 0U;
                    next = next + 1 == ids.size() ? 0 : next + 1;
                }
        };
        std::int64_t began = steady_ns();
        read_for(2'000'000'000);
        const double alone = static_cast<double>(reads) / seconds_since(began);
        YK_CHECKED(writer.run());
        const std::uint64_t before = follower->manager().events().events;
        const auto updated = [&] { return follower->deployments().reconciler().counters().updated; };
        follower->manager().wake();
        reads = 0;
        began = steady_ns();
        while (updated() < place.rows && seconds_since(began) < 300) {
            for (const std::int64_t end = steady_ns() + 1'000'000; steady_ns() < end;)
                if (!follower->step()) break;
            read_for(1'000'000);
        }
        const double took = seconds_since(began);
        YK_CHECKED(catch_up(*follower, before + place.rows));
        YK_CHECKED(follower->check(*database));
        if (missing != 0) return Error::of(fmt::format("{} of the reads found nothing", missing));
        return Figures{{"Get per second, one thread", alone},
                       {"Get per second, beside changes", static_cast<double>(reads) / took},
                       {"changes per second beside them", static_cast<double>(place.rows) / took}};
    });
}

/// What is not returned to the system after use counts, too, if somebody has it still.
Result<Figures> run_queue_memory(const RunPlace& place) {
    YK_TRY(database, place.databases.make(place.engine, Rows{place.rows}));
    return figures_apart([&]() -> Result<Figures> {
        HelperProcess writer{[&] { return change_all(*database, 1); }};
        YK_TRY(follower, Follower::open(*database, {{}, false, false}));
        YK_CHECKED(follower->start());
        YK_CHECKED(writer.run());
        const auto& queue = follower->deployments().reconciler().queue();
        follower->store().is_away = true;
        const double before = heap_bytes();
        follower->manager().wake();
        YK_CHECKED(follower->run_until([&] { return queue.size() == place.rows; }, kLimit));
        const double waiting = (heap_bytes() - before) / static_cast<double>(place.rows);
        follower->store().is_away = false;
        YK_CHECKED(catch_up(*follower, place.rows));
        const double between = heap_bytes();
        IdleHandler late;
        follower->deployments().add_handler(late, {}, service::steady_instant()); // it gets all that is there
        const double owed = (heap_bytes() - between) / static_cast<double>(place.rows);
        YK_CHECKED(catch_up(*follower, place.rows));
        YK_CHECKED(follower->check(*database));
        return Figures{{"bytes for each waiting key", waiting}, {"bytes for each delivery, with its key", owed}};
    });
}

} // namespace yk::bench
