// SPDX-License-Identifier: Apache-2.0
// --scaling: how the cost of one allocation grows with nodes and leaves, and the exponent that fits best.

#include <cstdio>

#include <fmt/format.h>

#include "tests/bench/cases/churn.h"
#include "tests/bench/cases/placing.h"
#include "tests/bench/cases/preempting.h"
#include "tests/bench/measure/repeat.h"
#include "tests/bench/suite.h"

namespace yk::bench {

namespace {

constexpr std::uint32_t kAsks = 40'000;
constexpr std::uint32_t kChurnSteps = 200'000;

using MeasurePoint = std::function<Result<Sample>()>;

struct Point {
    double ns = 0;        // processor time of one allocation
    double mebibytes = 0; // of memory, at most
};

/// The medians over the runs; nullopt when a run failed, which is noted.
std::optional<Point> point(const MeasurePoint& measure, const std::string& name, const Options& options,
                           Report& report) {
    std::vector<double> ns, mebibytes;
    for (int run = 0; run < options.runs; ++run) {
        std::fprintf(stderr, "%s, run %d\n", name.c_str(), run + 1);
        const auto sample = repeated(measure);
        if (!sample.ok()) {
            report.notes.push_back(name + ": " + sample.error().text());
            return std::nullopt;
        }
        ns.push_back(sample.value().cpu_ns());
        mebibytes.push_back(static_cast<double>(sample.value().peak_rss) / 1048576);
    }
    return Point{median(ns), median(mebibytes)};
}

/// `measure(x)` prepares the measurement of one point.
void add_series(Series series, const std::vector<std::uint32_t>& xs, const Options& options, Report& report,
                const std::function<MeasurePoint(std::uint32_t)>& measure) {
    double mebibytes = 0;
    for (const std::uint32_t x : xs) {
        const auto at = point(measure(x), fmt::format("{}, {} {}", series.name, x, series.over), options, report);
        if (!at) return;
        series.x.push_back(x);
        series.ns.push_back(at->ns);
        mebibytes = at->mebibytes;
    }
    series.exponent = fitted_exponent(series.x, series.ns);
    report.figures.push_back(
        {series.name, fmt::format("MiB resident at {} {}", xs.back(), series.over), {mebibytes}, 0});
    report.series.push_back(std::move(series));
}

MeasurePoint placing_point(const TreeParameters& tree) {
    auto placing = std::make_shared<Placing>([tree] { return make_tree(tree); }, Filing::Before);
    return [placing]() -> Result<Sample> {
        if (placing->asked() == 0) YK_CHECKED(placing->record());
        return placing->run(Level::Core);
    };
}

void add_placing_series(const Options& options, Report& report) {
    for (const NodeOrder order : {NodeOrder::Fair, NodeOrder::BinPacking, NodeOrder::Fragmentation}) {
        TreeParameters tree;
        tree.asks = kAsks;
        tree.order = order;
        add_series({"40,000 asks, " + name_of(order), "nodes", {}, {}},
                   {500, 1581, 5000, 15'811, 50'000, 158'114, 500'000}, options, report,
                   [tree](std::uint32_t nodes) mutable {
                       tree.nodes = nodes;
                       return placing_point(tree);
                   });
        tree.nodes = 5000;
        tree.parents = 0;
        add_series({"40,000 asks, " + name_of(order), "leaves", {}, {}}, {1, 10, 100, 1000}, options, report,
                   [tree](std::uint32_t leaves) mutable {
                       tree.leaves = leaves;
                       return placing_point(tree);
                   });
    }
}

void add_churn_series(NodeOrder order, std::uint32_t percent, std::uint32_t shapes, const Options& options,
                      Report& report) {
    ChurnParameters churn;
    churn.tree.order = order;
    churn.tree.shapes = shapes;
    churn.percent_full = percent;
    churn.steps = kChurnSteps;
    const std::string name = fmt::format("W6 {} % full {} shapes {}", percent, shapes, name_of(order));
    if (!options.wants_workload(name)) return;
    add_series({name, "nodes", {}, {}}, {500, 5000, 50'000}, options, report, [churn](std::uint32_t nodes) mutable {
        churn.tree.nodes = nodes;
        return [churn] { return run_churn(churn); };
    });
}

/// How the time of a step of W6 depends on how many asks wait, and on how full the cluster is.
void add_curves(NodeOrder order, const Options& options, Report& report) {
    ChurnParameters churn;
    churn.tree.order = order;
    churn.steps = kChurnSteps;
    if (options.wants_workload("depth")) {
        churn.percent_full = 50;
        add_series({"depth, " + name_of(order), "asks that wait", {}, {}},
                   {10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000}, options, report,
                   [churn](std::uint32_t waiting) mutable {
                       churn.waiting = waiting;
                       return [churn] { return run_churn(churn); };
                   });
    }
    if (!options.wants_workload("fill")) return;
    std::vector<std::uint32_t> percents{1, 10, 25, 50, 75, 90, 95};
    // Binpacking leaves nodes that have memory and no cores: it cannot be brought to 99 per cent.
    if (order != NodeOrder::BinPacking) percents.push_back(99);
    add_series({"fill, " + name_of(order), "per cent full", {}, {}}, percents, options, report,
               [churn](std::uint32_t percent) mutable {
                   churn.percent_full = percent;
                   return [churn] { return run_churn(churn); };
               });
}

/// What the series named `name, ...` say, one line each.
void add_chart(const std::string& name, const std::string& title, const cli::ChartAxis& x, Report& report) {
    std::vector<cli::ChartLine> lines;
    for (const Series& series : report.series) {
        if (!series.name.starts_with(name + ", ")) continue;
        cli::ChartLine line{series.name.substr(name.size() + 2), {}};
        for (std::size_t at = 0; at < series.x.size(); ++at) line.points.emplace_back(series.x[at], series.ns[at]);
        lines.push_back(std::move(line));
    }
    if (lines.empty()) return;
    report.charts.push_back({name, {title, x, from_zero({}, range_of(lines).second), lines}});
}

/// Time of one decision, of a fixed number of asks.
void add_preempting_series(const std::string& name, PreemptingParameters p, const Options& options, Report& report) {
    p.asks = 1000;
    add_series({"W7 " + name, "nodes", {}, {}}, {1000, 3162, 10'000}, options, report,
               [p](std::uint32_t nodes) mutable {
                   p.nodes = nodes;
                   return [p]() -> Result<Sample> {
                       const auto sample = run_preempting(p);
                       if (!sample.ok()) return sample.error();
                       Sample decisions = sample.value().sample; // per decision, not per placed ask
                       decisions.placed = sample.value().decisions;
                       return decisions;
                   };
               });
}

} // namespace

Report run_scaling(const Options& options) {
    Report report;
    if (options.wants_workload("W2")) add_placing_series(options, report);
    if (options.wants_workload("W7")) {
        add_preempting_series("20 shapes", {}, options, report);
        add_preempting_series("opted out", {0, 0, 50, true, 0, 0}, options, report);
        add_preempting_series("5,000 candidates", {0, 0, 50, false, 5000, 0}, options, report);
    }
    for (const NodeOrder order : {NodeOrder::Fair, NodeOrder::BinPacking}) add_curves(order, options, report);
    add_chart("depth", "release, ask and allocation, nanoseconds", decades("asks that wait besides", 10, 1e7), report);
    add_chart("fill", "release, ask and allocation, nanoseconds", from_zero("per cent of the memory in use", 100),
              report);
    for (const NodeOrder order : {NodeOrder::Fair, NodeOrder::BinPacking})
        for (const std::uint32_t percent : {90U, 95U})
            for (const std::uint32_t shapes : {20U, 1000U}) add_churn_series(order, percent, shapes, options, report);
    return report;
}

} // namespace yk::bench
