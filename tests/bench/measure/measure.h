// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clocks, samples and the few statistics of a report.

#include <cstdint>
#include <vector>

namespace yk::bench {

/// One run of one measurement. Trivial: it crosses a process boundary in shared memory. What was not measured is 0.
struct Sample {
    double seconds = 0;     // wall time of the timed part
    double cpu_seconds = 0; // processor time of the measuring thread in it: what other processes take does not count
    std::uint64_t placed = 0;
    std::uint64_t asked = 0;
    std::uint64_t peak_rss = 0;  // bytes, of the whole process
    double bytes_per_ask = 0;    // heap in use, per pending ask
    double bytes_per_placed = 0; // heap in use, per allocation
    double p50 = 0;              // latencies in seconds, from ask to allocation
    double p99 = 0;
    double p999 = 0;
    double worst = 0;
    double idle_p999 = 0; // of empty loops as long as the median, see idle_p999()
    double pause = 0;     // longest step of release, ask and allocation
    bool sound = false;   // the core's own check found nothing

    [[nodiscard]] double rate() const { return seconds > 0 ? static_cast<double>(placed) / seconds : 0; }
    [[nodiscard]] double ns() const { return placed > 0 ? seconds * 1e9 / static_cast<double>(placed) : 0; }
    [[nodiscard]] double cpu_ns() const { return placed > 0 ? cpu_seconds * 1e9 / static_cast<double>(placed) : 0; }
};

/// Runs from construction to stop().
class Stopwatch {
public:
    Stopwatch();
    void stop(Sample& sample) const;

private:
    double wall_;
    double cpu_;
};

/// Seconds on the monotonic clock.
[[nodiscard]] double wall_seconds();
/// Peak resident set of this process, bytes.
[[nodiscard]] std::uint64_t peak_rss();
/// 0 of nothing.
[[nodiscard]] double median(std::vector<double> values);
/// Sets the latencies of `sample` from `seconds`, which it reorders.
void set_latencies(Sample& sample, std::vector<float>& seconds);
/// p99.9 of the time of `count` loops that do nothing for `seconds` each: what the machine itself adds (timer
/// interrupts, other processes).
[[nodiscard]] double idle_p999(double seconds, std::size_t count);
/// The exponent e of y = c * x^e that fits best (least squares of the logarithms).
[[nodiscard]] double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

} // namespace yk::bench
