// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/side_by_side.h"

#include <algorithm>
#include <latch>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "tests/bench/cases/cluster.h"

namespace yk::bench {

namespace {

/// Places the workload of one RM. The sample's `pause` is when it began, on the clock of wall_seconds().
Sample place_all(const MakeWorkload& make, std::latch& ready) {
    const Workload workload = make();
    CopyingCallbacks callbacks;
    Cluster cluster{workload, callbacks};
    const auto asks = static_cast<std::uint32_t>(workload.asks.size());
    cluster.submit(0, asks);
    ready.arrive_and_wait();
    Sample sample;
    sample.pause = wall_seconds();
    const Stopwatch watch;
    while (callbacks.made() < asks && cluster.cycle()) {
    }
    watch.stop(sample);
    sample.placed = callbacks.made();
    sample.asked = asks;
    return sample;
}

Sample place_everywhere(const MakeWorkload& make, std::uint32_t rms) {
    std::latch ready{rms};
    std::vector<Sample> samples(rms);
    std::vector<std::thread> owners;
    owners.reserve(rms);
    for (Sample& sample : samples) owners.emplace_back([&make, &ready, &sample] { sample = place_all(make, ready); });
    for (std::thread& owner : owners) owner.join();
    Sample all;
    double first = samples.front().pause, last = 0;
    for (const Sample& each : samples) {
        all.placed += each.placed;
        all.asked += each.asked;
        all.cpu_seconds += each.cpu_seconds;
        first = std::min(first, each.pause);
        last = std::max(last, each.pause + each.seconds);
    }
    all.seconds = last - first;
    all.peak_rss = peak_rss();
    return all;
}

} // namespace

Result<Sample> run_side_by_side(const MakeWorkload& make, std::uint32_t rms) {
    return isolated(fmt::format("{} RMs", rms), [&] { return place_everywhere(make, rms); });
}

} // namespace yk::bench
