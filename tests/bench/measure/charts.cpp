// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/measure/charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace yk::bench {

namespace {

/// `1,000,000`, `0.1`.
std::string number_text(double value) {
    if (value < 1) return fmt::format("{:g}", value);
    std::string text = fmt::format("{:.0f}", value);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
    return text;
}

} // namespace

cli::ChartAxis decades(std::string title, double least, double most) {
    cli::ChartAxis axis{std::move(title), {}, true};
    const int from = static_cast<int>(std::floor(std::log10(least)));
    const int to = std::max(from + 1, static_cast<int>(std::ceil(std::log10(most))));
    for (int exponent = from; exponent <= to; ++exponent) {
        const double value = std::pow(10, exponent);
        axis.ticks.emplace_back(value, number_text(value));
    }
    return axis;
}

cli::ChartAxis from_zero(std::string title, double most) {
    constexpr int kTicks = 5;
    double step = std::pow(10, std::floor(std::log10(most / kTicks)));
    for (const double factor : {2.0, 2.5, 2.0}) // 1, 2, 5, 10
        if (step * kTicks < most) step *= factor;
    cli::ChartAxis axis{std::move(title), {}};
    for (int at = 0; at <= kTicks; ++at) axis.ticks.emplace_back(at * step, number_text(at * step));
    return axis;
}

std::pair<double, double> range_of(const std::vector<cli::ChartLine>& lines) {
    std::pair<double, double> range{std::numeric_limits<double>::max(), 0};
    for (const cli::ChartLine& line : lines)
        for (const auto& point : line.points)
            range = {std::min(range.first, point.second), std::max(range.second, point.second)};
    return range;
}

} // namespace yk::bench
