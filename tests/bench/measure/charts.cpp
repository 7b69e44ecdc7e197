// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/measure/charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace yk::bench {

namespace {

/// `10M`, `50k`, `2000`, `0.1`.
std::string number_text(double value) {
    if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
    return value >= 1e4 ? fmt::format("{:g}k", value / 1e3) : fmt::format("{:g}", value);
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
    constexpr int kMostTicks = 6;
    double step = std::pow(10, std::floor(std::log10(most / kMostTicks)));
    for (const double factor : {2.0, 2.5, 2.0}) // 1, 2, 5, 10
        if (step * kMostTicks < most) step *= factor;
    cli::ChartAxis axis{std::move(title), {}};
    const int ticks = static_cast<int>(std::ceil(most / step));
    for (int at = 0; at <= ticks; ++at) axis.ticks.emplace_back(at * step, number_text(at * step));
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
