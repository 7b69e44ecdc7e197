// SPDX-License-Identifier: Apache-2.0
// Curves as a drawing: where a value stands on its axis.

#include "ykctl/render/line_chart.h"

#include <catch2/catch.hpp>

namespace yk::cli {
namespace {

LineChart chart() {
    LineChart chart;
    chart.title = "what";
    chart.x = {"asks", {{10, "10"}, {100, "100"}, {1000, "1,000"}}, true};
    chart.y = {{}, {{0, "0"}, {50, "50"}}};
    chart.lines = {{"one", {{10, 0}, {100, 25}, {1000, 50}, {10'000, 10}, {500, 51}}}};
    return chart;
}

} // namespace

TEST_CASE("a logarithmic axis gives each power of ten the same length; what is beyond the axes is left out") {
    const std::string svg = chart_svg(chart());
    CHECK(svg.find("<polyline points=\"62.0,368.0 396.0,206.0 730.0,44.0\"") != std::string::npos);
    for (const char* text : {">what</text>", ">asks</text>", ">1,000</text>", ">one</text>"})
        CHECK(svg.find(text) != std::string::npos);
}

} // namespace yk::cli
