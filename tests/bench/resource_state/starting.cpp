// SPDX-License-Identifier: Apache-2.0
// rs-01 and rs-02: what the rows cost in memory, and how long it takes until they are there.

#include <chrono>
#include <fstream>
#include <string>

#include "tests/bench/resource_state/follower.h"
#include "tests/bench/resource_state/workloads.h"

namespace yk::bench {
namespace {

/// A line of /proc/self/status, MiB.
double resident_mib(const std::string& line) {
    std::ifstream status{"/proc/self/status"};
    std::string name;
    for (double kib = 0; status >> name;)
        if (name == line + ":" && status >> kib) return kib / 1024;
    return 0;
}

} // namespace

/// Deployments alone, in the cache and its index by name.
Result<Figures> run_cache_memory(const RunPlace& place) {
    YK_TRY(database, place.databases.make(place.engine, Rows{place.rows}));
    return figures_apart([&]() -> Result<Figures> {
        YK_TRY(follower, Follower::open(*database, {{}, false, false}));
        const double before = heap_bytes();
        YK_CHECKED(follower->start());
        const double heap = (heap_bytes() - before) / static_cast<double>(place.rows);
        const double own = resident_mib("RssAnon"), all = resident_mib("VmRSS");
        YK_CHECKED(follower->check(*database));
        return Figures{{"bytes of heap for each Deployment", heap},
                       {"MiB resident, without mapped files", own},
                       {"MiB resident in all", all}};
    });
}

/// From the opening of the database until the caches have everything; before the handlers get it.
Result<Figures> run_start(const RunPlace& place) {
    YK_TRY(database, place.databases.make(place.engine, Rows{place.rows}));
    YK_TRY(warm, figures_apart([&]() -> Result<Figures> { // the pages are in the memory of the machine afterwards
               YK_TRY(digest, digest_of(*database));
               return Figures{{"rows", static_cast<double>(digest.rows)}};
           }));
    static_cast<void>(warm);
    return figures_apart([&]() -> Result<Figures> {
        const std::int64_t began = steady_ns();
        YK_TRY(follower, Follower::open(*database, {{}, true, true}));
        const auto is_running = [&] { return follower->manager().is_running(); };
        YK_CHECKED(follower->run_until(is_running, std::chrono::minutes{5}));
        const double synced = static_cast<double>(steady_ns() - began) * 1e-9;
        YK_CHECKED(follower->start());
        const double handled = static_cast<double>(steady_ns() - began) * 1e-9;
        YK_CHECKED(follower->check(*database));
        return Figures{{"seconds to Synced", synced}, {"seconds until a handler had all of it", handled}};
    });
}

} // namespace yk::bench
