// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/measure/measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace yk::bench {

namespace {

double clock_seconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double percentile(std::vector<float>& values, double part) {
    const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

} // namespace

Stopwatch::Stopwatch() : wall_(wall_seconds()), cpu_(clock_seconds(CLOCK_THREAD_CPUTIME_ID)) {}

void Stopwatch::stop(Sample& sample) const {
    sample.cpu_seconds = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_;
    sample.seconds = wall_seconds() - wall_;
}

double wall_seconds() {
    return clock_seconds(CLOCK_MONOTONIC);
}

std::uint64_t peak_rss() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void set_latencies(Sample& sample, std::vector<float>& seconds) {
    if (seconds.empty()) return;
    sample.p50 = percentile(seconds, 0.50);
    sample.p99 = percentile(seconds, 0.99);
    sample.p999 = percentile(seconds, 0.999);
    sample.worst = *std::max_element(seconds.begin(), seconds.end());
}

double idle_p999(double seconds, std::size_t count) {
    std::vector<float> times;
    times.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double start = wall_seconds();
        double now = start;
        while (now - start < seconds) now = wall_seconds();
        times.push_back(static_cast<float>(now - start));
    }
    return times.empty() ? 0 : percentile(times, 0.999);
}

double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y) {
    const auto n = static_cast<double>(x.size());
    double sx = 0;
    double sy = 0;
    double sxx = 0;
    double sxy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double lx = std::log(x[i]);
        const double ly = std::log(y[i]);
        sx += lx;
        sy += ly;
        sxx += lx * lx;
        sxy += lx * ly;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

} // namespace yk::bench
