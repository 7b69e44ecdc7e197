// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/measure/repeat.h"

#include <algorithm>
#include <array>

namespace yk::bench {

namespace {

constexpr double kLeastWork = 0.5; // seconds

constexpr std::array kMeans{&Sample::seconds, &Sample::cpu_seconds, &Sample::bytes_per_ask, &Sample::bytes_per_placed,
                            &Sample::p50,     &Sample::p99,         &Sample::p999,          &Sample::idle_p999,
                            &Sample::pause};

void add(Sample& sum, const Sample& run) {
    for (const auto member : kMeans) sum.*member += run.*member;
    sum.peak_rss = std::max(sum.peak_rss, run.peak_rss);
    sum.worst = std::max(sum.worst, run.worst);
    sum.placed += run.placed;
    sum.asked += run.asked;
    sum.sound = sum.sound && run.sound;
}

} // namespace

Result<Sample> repeated(const std::function<Result<Sample>()>& measure) {
    auto first = measure();
    if (!first.ok()) return first;
    Sample sum = std::move(first).value();
    int runs = 1;
    for (; sum.seconds < kLeastWork; ++runs) {
        const auto again = measure();
        if (!again.ok()) return again.error();
        add(sum, *again);
    }
    for (const auto member : kMeans) sum.*member /= runs;
    sum.placed /= static_cast<std::uint64_t>(runs);
    sum.asked /= static_cast<std::uint64_t>(runs);
    return sum;
}

} // namespace yk::bench
