// SPDX-License-Identifier: Apache-2.0
#pragma once
// LineChart: curves as plain SVG on white, for a document.

#include <string>
#include <utility>
#include <vector>

namespace yk::cli {

/// From the first tick to the last.
struct ChartAxis {
    std::string title;
    std::vector<std::pair<double, std::string>> ticks; // ascending, at least two
    bool is_logarithmic = false;                       // all values are above 0 then
};

struct ChartLine {
    std::string name;
    std::vector<std::pair<double, double>> points; // those beyond the axes are left out
};

struct LineChart {
    std::string title; // what the vertical axis counts
    ChartAxis x, y;
    std::vector<ChartLine> lines;
};

/// The texts are taken as they are: they must not have characters that XML reserves.
[[nodiscard]] std::string chart_svg(const LineChart& chart);

} // namespace yk::cli
