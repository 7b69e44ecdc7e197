// SPDX-License-Identifier: Apache-2.0
// The drawing of an experiment: plain SVG on white.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "ykctl/replay/curves.h"

namespace yk::replay {
namespace {

constexpr double kWidth = 760, kHeight = 420;
constexpr double kLeft = 62, kRight = 20, kTop = 44, kBottom = 52; // around the field of the curves
constexpr double kGapOfLegend = 150;
constexpr std::array<const char*, 6> kColours{"#1f77b4", "#d9730d", "#2f9e44", "#9c36b5", "#c92a2a", "#0b7285"};

/// The field: per cent to points of the drawing.
struct Field {
    int from, to; // per cent, along both axes

    [[nodiscard]] double x(double percent) const {
        return kLeft + (percent - from) / (to - from) * (kWidth - kLeft - kRight);
    }
    [[nodiscard]] double y(double percent, double most) const {
        return kHeight - kBottom - (percent - from) / (most - from) * (kHeight - kTop - kBottom);
    }
};

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
}

std::string line_of(const Curve& curve, const Field& field, double most, const char* colour) {
    std::string points;
    for (std::size_t at = 0; at < curve.points.size(); ++at) {
        const double arrived = static_cast<double>(at), allocated = curve.points[at].allocated * 100;
        if (arrived < field.from || allocated < field.from) continue;
        points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", field.x(arrived), field.y(allocated, most));
    }
    return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, colour);
}

} // namespace

std::string experiment_svg(const Experiment& experiment) {
    const Field field{60, static_cast<int>(kMostArrived)}; // below, everything is placed by every policy
    constexpr int kMost = 100, kStep = 10;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<g fill=\"#222222\">\n",
        kWidth, kHeight);
    for (int percent = field.from; percent <= kMost; percent += kStep) {
        const double y = field.y(percent, kMost);
        svg += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#dddddd\"/>\n", kLeft, y, kWidth - kRight);
        svg += text_at(kLeft - 8, y + 4, "end", fmt::format("{} %", percent));
    }
    for (int percent = field.from; percent <= field.to; percent += kStep) {
        const double x = field.x(percent);
        svg += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}\" stroke=\"#dddddd\"/>\n", x, kTop, kHeight - kBottom);
        svg += text_at(x, kHeight - kBottom + 18, "middle", fmt::format("{} %", percent));
    }
    svg += text_at((kLeft + kWidth - kRight) / 2, kHeight - 12, "middle", "GPUs asked for, of all there are");
    svg += text_at(kLeft, 18, "start",
                   fmt::format("GPUs in use, of {} in {} nodes (mean of {} {})", experiment.gpus, experiment.nodes,
                               experiment.runs, experiment.runs == 1 ? "run" : "runs"));
    for (std::size_t at = 0; at < experiment.curves.size(); ++at) {
        const char* const colour = kColours[at % kColours.size()];
        const double x = kLeft + kGapOfLegend * static_cast<double>(at);
        svg += fmt::format("<path d=\"M{:.1f} 32h20\" stroke=\"{}\" stroke-width=\"3\"/>\n", x, colour);
        svg += text_at(x + 26, 36, "start", experiment.curves[at].policy);
        svg += line_of(experiment.curves[at], field, kMost, colour);
    }
    return svg + "</g>\n</svg>\n";
}

} // namespace yk::replay
