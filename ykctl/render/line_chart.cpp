// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/line_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace yk::cli {
namespace {

constexpr double kWidth = 760, kHeight = 420;
constexpr double kLeft = 62, kRight = 30, kTop = 44, kBottom = 52; // around the field of the curves
constexpr double kGapOfLegend = 150;                               // at most
constexpr std::array<const char*, 6> kColours{"#1f77b4", "#d9730d", "#2f9e44", "#9c36b5", "#c92a2a", "#0b7285"};

/// How far from the beginning of the axis the value is, as a share of its length.
double share_of(const ChartAxis& axis, double value) {
    const auto scaled = [&](double each) { return axis.is_logarithmic ? std::log(each) : each; };
    const double from = scaled(axis.ticks.front().first), to = scaled(axis.ticks.back().first);
    return (scaled(value) - from) / (to - from);
}

bool is_on(const ChartAxis& axis, double value) {
    return value >= axis.ticks.front().first && value <= axis.ticks.back().first;
}

double x_of(const LineChart& chart, double value) {
    return kLeft + share_of(chart.x, value) * (kWidth - kLeft - kRight);
}

double y_of(const LineChart& chart, double value) {
    return kHeight - kBottom - share_of(chart.y, value) * (kHeight - kTop - kBottom);
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
}

std::string line_of(const LineChart& chart, const ChartLine& line, const char* colour) {
    std::string points;
    for (const auto& [x, y] : line.points)
        if (is_on(chart.x, x) && is_on(chart.y, y))
            points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x_of(chart, x), y_of(chart, y));
    return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, colour);
}

} // namespace

std::string chart_svg(const LineChart& chart) {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<g fill=\"#222222\">\n",
        kWidth, kHeight);
    for (const auto& [value, text] : chart.y.ticks) {
        const double y = y_of(chart, value);
        svg += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#dddddd\"/>\n", kLeft, y, kWidth - kRight);
        svg += text_at(kLeft - 8, y + 4, "end", text);
    }
    for (const auto& [value, text] : chart.x.ticks) {
        const double x = x_of(chart, value);
        svg += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}\" stroke=\"#dddddd\"/>\n", x, kTop, kHeight - kBottom);
        svg += text_at(x, kHeight - kBottom + 18, "middle", text);
    }
    svg += text_at((kLeft + kWidth - kRight) / 2, kHeight - 12, "middle", chart.x.title);
    svg += text_at(kLeft, 18, "start", chart.title);
    const double gap = std::min(kGapOfLegend, (kWidth - kLeft) / static_cast<double>(chart.lines.size()));
    for (std::size_t at = 0; at < chart.lines.size(); ++at) {
        const char* const colour = kColours[at % kColours.size()];
        const double x = kLeft + gap * static_cast<double>(at);
        svg += fmt::format("<path d=\"M{:.1f} 32h20\" stroke=\"{}\" stroke-width=\"3\"/>\n", x, colour);
        svg += text_at(x + 26, 36, "start", chart.lines[at].name);
        svg += line_of(chart, chart.lines[at], colour);
    }
    return svg + "</g>\n</svg>\n";
}

} // namespace yk::cli
