// SPDX-License-Identifier: Apache-2.0
// The drawing of an experiment.

#include <fmt/format.h>

#include "ykctl/render/line_chart.h"
#include "ykctl/replay/curves.h"

namespace yk::replay {
namespace {

constexpr int kFrom = 60, kStep = 10; // per cent; below, everything is placed by every policy

std::vector<std::pair<double, std::string>> ticks_to(int last) {
    std::vector<std::pair<double, std::string>> ticks;
    for (int percent = kFrom; percent <= last; percent += kStep)
        ticks.emplace_back(percent, fmt::format("{} %", percent));
    return ticks;
}

} // namespace

std::string experiment_svg(const Experiment& experiment) {
    cli::LineChart chart;
    chart.title = fmt::format("GPUs in use, of {} in {} nodes (mean of {} {})", experiment.gpus, experiment.nodes,
                              experiment.runs, experiment.runs == 1 ? "run" : "runs");
    chart.x = {"GPUs asked for, of all there are", ticks_to(static_cast<int>(kMostArrived))};
    chart.y = {{}, ticks_to(100)};
    for (const Curve& curve : experiment.curves) {
        cli::ChartLine line{curve.policy, {}};
        for (std::size_t at = 0; at < curve.points.size(); ++at)
            line.points.emplace_back(static_cast<double>(at), curve.points[at].allocated * 100);
        chart.lines.push_back(std::move(line));
    }
    return cli::chart_svg(chart);
}

} // namespace yk::replay
