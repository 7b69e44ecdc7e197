// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/mcs_runs.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "tests/support/mcs/instance_pair.h"
#include "tests/support/mcs/random_autoscaling.h"
#include "tests/support/mcs/random_scheduling.h"

namespace yk::sim {
namespace {

/// What runs came to, in sum: with zeros they would show nothing.
struct McsTotals {
    std::size_t epochs = 0;                                // of leases, in which something was written
    std::uint64_t fenced = 0;                              // writes of an instance that had lost its lease
    std::uint64_t writes = 0, failed_writes = 0, lost = 0; // of the Autoscaler alone: also events that were lost
};

/// One run; empty: all was well.
std::string play_scheduling(std::uint64_t seed, McsTotals& /*totals*/) {
    return testing::RandomScheduling{seed}.play();
}

std::string play_pair(std::uint64_t seed, McsTotals& totals) {
    testing::InstancePair pair{seed, true};
    std::string fault = pair.play();
    totals.epochs += pair.epochs();
    totals.fenced += pair.fenced();
    return fault;
}

std::string play_pair_without_faults(std::uint64_t seed, McsTotals& /*totals*/) {
    return testing::InstancePair{seed, false}.play();
}

std::string play_autoscaling(std::uint64_t seed, McsTotals& totals) {
    testing::RandomAutoscaling world{seed};
    std::string fault = world.play();
    totals.writes += world.writes_seen;
    totals.failed_writes += world.faults_seen;
    totals.lost += world.log.losses;
    return fault;
}

struct McsRun {
    const char* what;
    std::string (*play)(std::uint64_t seed, McsTotals& totals);
    double seconds = 0; // that all of them took
};

} // namespace

std::uint64_t run_mcs(std::uint64_t first, std::uint64_t last, bool trace) {
    using Clock = std::chrono::steady_clock;
    std::array runs{McsRun{"the Scheduler", play_scheduling}, McsRun{"two instances", play_pair},
                    McsRun{"two instances without faults", play_pair_without_faults},
                    McsRun{"the Autoscaler", play_autoscaling}};
    McsTotals totals;
    std::uint64_t failed = 0, played = 0;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        for (McsRun& run : runs) {
            if (trace) fmt::print("seed {}: {}\n", seed, run.what);
            const auto began = Clock::now();
            const std::string fault = run.play(seed, totals);
            run.seconds += std::chrono::duration<double>(Clock::now() - began).count();
            ++played;
            if (fault.empty()) continue;
            ++failed;
            fmt::print("seed {}, {}: {}\n  ykd_sim --mcs --seed {} plays it again\n", seed, run.what, fault, seed);
            std::fflush(stdout);
        }
    }
    fmt::print("the services of MCS: {} runs, {} failed; {} epochs, {} writes fenced; {} writes of the Autoscaler, {} "
               "of which failed, {} events lost\n",
               played, failed, totals.epochs, totals.fenced, totals.writes, totals.failed_writes, totals.lost);
    for (const McsRun& run : runs) fmt::print("    {}: {:.1f} s\n", run.what, run.seconds);
    return failed;
}

} // namespace yk::sim
