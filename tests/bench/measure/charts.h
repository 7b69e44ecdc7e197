// SPDX-License-Identifier: Apache-2.0
#pragma once
// The axes of the drawings that a report has (--svg).

#include <string>
#include <vector>

#include "ykctl/render/line_chart.h"

namespace yk::bench {

/// A drawing, and the name of its file without the ending.
struct Chart {
    std::string name;
    cli::LineChart drawing;
};

/// Logarithmic, from the power of ten below `least` to the one above `most`. REQUIRES: both are above 0.
[[nodiscard]] cli::ChartAxis decades(std::string title, double least, double most);
/// From 0 to a round number above `most`. REQUIRES: it is above 0.
[[nodiscard]] cli::ChartAxis from_zero(std::string title, double most);
/// The least and the largest value of all points, of their second numbers.
[[nodiscard]] std::pair<double, double> range_of(const std::vector<cli::ChartLine>& lines);

} // namespace yk::bench
