// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/curves.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ykctl/render/table.h"

namespace yk::replay {
namespace {

using wire::Value;

constexpr std::size_t kShownStep = 10; // per cent asked for, from row to row

double percent(double share) {
    return share * 100;
}

} // namespace

Curve curve_of(const std::string& policy, const std::vector<std::vector<CurvePoint>>& runs) {
    Curve curve{policy, std::vector<CurvePoint>(kMostArrived + 1), 0};
    const auto count = static_cast<double>(runs.size());
    for (const std::vector<CurvePoint>& run : runs)
        for (std::size_t at = 0; at < std::min(run.size(), curve.points.size()); ++at) {
            curve.points[at].allocated += run[at].allocated / count;
            curve.points[at].unusable += run[at].unusable / count;
        }
    double squares = 0;
    for (const std::vector<CurvePoint>& run : runs)
        squares += std::pow(run.back().allocated - curve.points.back().allocated, 2);
    curve.deviation = runs.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
    return curve;
}

std::string experiment_text(const Experiment& experiment) {
    std::string text =
        cli::fields_text({{"nodes", fmt::format("{}, with {} GPUs", experiment.nodes, experiment.gpus)},
                          {"runs", fmt::format("{}, from seed {} on", experiment.runs, experiment.seed)},
                          {"expected", experiment.is_learnt ? "learnt from what arrived" : "the pods of the trace"}},
                         {});
    cli::Table sums{{{"POLICY"},
                     {"AT 100 %", cli::Align::Right},
                     {"AT 130 %", cli::Align::Right},
                     {"DEVIATION", cli::Align::Right},
                     {"UNUSABLE AT 100 %", cli::Align::Right}}};
    for (const Curve& each : experiment.curves)
        sums.add({each.policy, fmt::format("{:.2f}", percent(each.points[100].allocated)),
                  fmt::format("{:.2f}", percent(each.points[kMostArrived].allocated)),
                  fmt::format("{:.2f}", percent(each.deviation)),
                  fmt::format("{:.2f}", percent(each.points[100].unusable))});
    text += "\nGPUs in use, in per cent of all, when so much was asked for\n" + sums.text({});
    std::vector<cli::Heading> headings{{"ARRIVED", cli::Align::Right}};
    for (const Curve& each : experiment.curves) headings.push_back({each.policy, cli::Align::Right});
    cli::Table table{std::move(headings)};
    for (std::size_t at = kShownStep; at <= kMostArrived; at += kShownStep) {
        std::vector<std::string> row{fmt::format("{} %", at)};
        for (const Curve& each : experiment.curves)
            row.push_back(fmt::format("{:.2f}", percent(each.points[at].allocated)));
        table.add(std::move(row));
    }
    return text + "\n" + table.text({});
}

Value experiment_value(const Experiment& experiment) {
    Value curves = Value::array();
    for (const Curve& each : experiment.curves) {
        Value points = Value::array();
        for (std::size_t at = 0; at < each.points.size(); ++at)
            points.push_back({{"arrived", static_cast<double>(at) / 100},
                              {"allocated", each.points[at].allocated},
                              {"unusable", each.points[at].unusable}});
        curves.push_back({{"policy", each.policy}, {"deviation", each.deviation}, {"points", std::move(points)}});
    }
    return {{"schema", 1},
            {"experiment", "fgd"},
            {"nodes", experiment.nodes},
            {"gpus", experiment.gpus},
            {"seed", experiment.seed},
            {"runs", experiment.runs},
            {"learnt", experiment.is_learnt},
            {"curves", std::move(curves)}};
}

} // namespace yk::replay
