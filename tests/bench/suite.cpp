// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/suite.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>

#include <fmt/format.h>

#include "tests/bench/cases/churn.h"
#include "tests/bench/cases/dumps.h"
#include "tests/bench/cases/gang.h"
#include "tests/bench/cases/placing.h"
#include "tests/bench/cases/preempting.h"
#include "tests/bench/cases/reload.h"
#include "tests/bench/cases/side_by_side.h"
#include "tests/bench/measure/repeat.h"
#include "tests/bench/resource_state/suite.h"
#include "tests/bench/wire/bare.h"
#include "tests/bench/wire/load.h"
#include "tests/bench/wire/recovering.h"
#include "tests/bench/wire/wire.h"
#include "tests/bench/workloads/workloads.h"

namespace yk::bench {

namespace {

constexpr std::uint32_t kWireSteps = 10'000;

struct PlacingCase {
    std::string name;
    MakeWorkload make;
    double reference = 0; // allocations per second: the original's on such a machine, the middle of what was measured
};

MakeWorkload tree(TreeParameters parameters) {
    return [parameters] { return make_tree(parameters); };
}

TreeParameters large(NodeOrder order) { // W5
    TreeParameters p;
    p.nodes = 50'000;
    p.parents = 20;
    p.leaves = 50;
    p.applications = 10'000;
    p.asks = 1'000'000;
    p.order = order;
    return p;
}

TreeParameters limited(NodeOrder order) { // W10
    TreeParameters p;
    p.applications = 10'000;
    p.users = 10'000;
    p.groups = 1000;
    p.order = order;
    return p;
}

TreeParameters million(NodeOrder order) { // W2 1M
    TreeParameters p;
    p.asks = 1'000'000;
    p.node_percent = 300;
    p.order = order;
    return p;
}

void add_openb(std::vector<PlacingCase>& cases, const Options& options, Report& report) {
    for (const auto& [order, reference] :
         {std::pair{NodeOrder::Fair, 66.0}, std::pair{NodeOrder::BinPacking, 810.0},
          std::pair{NodeOrder::Fragmentation, 0.0}, std::pair{NodeOrder::Given, 0.0}}) {
        const std::string name = "W3 openb " + name_of(order);
        if (!options.wants_workload(name)) continue;
        auto made = make_openb(options.data, order);
        if (!made.ok()) {
            report.notes.push_back("W3 left out: " + made.error().text() + " (--data FOLDER)");
            return;
        }
        cases.push_back({name, [made] { return made.value(); }, reference});
    }
}

std::vector<PlacingCase> placing_cases(const Options& options, Report& report) {
    std::vector<PlacingCase> cases;
    const auto add = [&](PlacingCase each) {
        if (options.wants_workload(each.name)) cases.push_back(std::move(each));
    };
    add({"W1 two-queues", [] { return make_two_queues(5000, 10'000); }, 3855});
    for (const auto& [order, reference] :
         {std::pair{NodeOrder::Fair, 5580.0}, std::pair{NodeOrder::BinPacking, 2550.0}}) {
        TreeParameters small;
        small.order = order;
        add({"W2 50k " + name_of(order), tree(small), reference});
    }
    for (const NodeOrder order : {NodeOrder::Fair, NodeOrder::BinPacking})
        add({"W2 1M " + name_of(order), tree(million(order)), 0});
    add_openb(cases, options, report);
    for (const NodeOrder order : {NodeOrder::Fair, NodeOrder::BinPacking})
        add({"W5 large " + name_of(order), tree(large(order)), 0});
    for (const NodeOrder order : {NodeOrder::Fair, NodeOrder::BinPacking})
        add({"W10 limits " + name_of(order), tree(limited(order)), 0});
    return cases;
} // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it loses sight of a std::function that is moved on

/// What `value` says of `over` / what it says of `under`, run by run.
template <class Value>
void add_ratio(Report& report, const std::string& workload, const std::string& name, const Row& over, const Row& under,
               Value value, int digits = 2) {
    Figure figure{workload, name, {}, digits};
    for (std::size_t i = 0; i < std::min(over.samples.size(), under.samples.size()); ++i)
        figure.values.push_back(std::invoke(value, over.samples[i]) / std::invoke(value, under.samples[i]));
    report.figures.push_back(std::move(figure));
}

/// Processor time of one level / that of the other.
void add_ratio_of_levels(Report& report, const std::string& workload, const Row& over, const Row& under) {
    add_ratio(report, workload, over.level + " / " + under.level, over, under, &Sample::cpu_ns);
}

/// Measures once for the row; false when it failed, which is noted.
bool measure_into(Row& row, int run, Report& report, const std::function<Result<Sample>()>& measure) {
    std::fprintf(stderr, "%s %s, run %d\n", row.workload.c_str(), row.level.c_str(), run + 1);
    auto sample = repeated(measure);
    if (!sample.ok()) report.notes.push_back(row.workload + ": " + sample.error().text());
    if (sample.ok()) row.samples.push_back(sample.value());
    return sample.ok();
}

void run_case(const PlacingCase& each, const Options& options, Report& report) {
    std::vector<Row> rows;
    for (const Level level : {Level::Core, Level::Order, Level::Floor})
        if (options.wants_level(name_of(level))) rows.push_back({each.name, name_of(level), 0, {}});
    if (rows.empty()) return;
    Placing placing{each.make};
    if (const auto recorded = placing.record(); !recorded.ok()) {
        report.notes.push_back(each.name + ": " + recorded.error().text());
        return;
    }
    for (int run = 0; run < options.runs; ++run) {
        for (Row& row : rows) { // one run of each level after the other: what disturbs one disturbs its neighbours
            const Level level = row.level == "core" ? Level::Core : row.level == "order" ? Level::Order : Level::Floor;
            if (!measure_into(row, run, report, [&] { return placing.run(level); })) return;
        }
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t k = i + 1; k < rows.size(); ++k) add_ratio_of_levels(report, each.name, rows[i], rows[k]);
    if (rows.front().level == "core") rows.front().reference = each.reference;
    for (Row& row : rows) report.rows.push_back(std::move(row));
}

/// One, two and four RMs at once, in turns.
void run_rms_at_once(const Options& options, Report& report) {
    const std::string workload = "RMs at once";
    if (!options.wants_workload(workload)) return;
    std::vector<Row> rows;
    for (const std::uint32_t rms : {1U, 2U, 4U}) rows.push_back({fmt::format("{}, {}", workload, rms), "core", 0, {}});
    for (int run = 0; run < options.runs; ++run)
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (!measure_into(rows[i], run, report, [i] { return run_side_by_side(tree({}), 1U << i); })) return;
    for (std::size_t i = 1; i < rows.size(); ++i)
        add_ratio(report, rows[i].workload, "allocations per second / those of one", rows[i], rows[0], &Sample::rate);
    for (Row& row : rows) report.rows.push_back(std::move(row));
}

/// W4, with what a step costs more than without a backlog.
void run_backlogs(const Options& options, Report& report) {
    for (const bool until_idle : {false, true}) {
        const std::string suffix = until_idle ? ", until idle" : "";
        const std::vector<BacklogParameters> cases{
            {0, 1, 10'000, until_idle}, {100'000, 20, 10'000, until_idle}, {100'000, 500, 10'000, until_idle}};
        std::vector<Row> rows{{"W4 no backlog" + suffix, "core", 0, {}},
                              {"W4 100k of 20 shapes" + suffix, "core", 0, {}},
                              {"W4 100k of 500 shapes" + suffix, "core", 0, {}}};
        for (int run = 0; run < options.runs; ++run)
            for (std::size_t i = 0; i < rows.size(); ++i)
                if (!measure_into(rows[i], run, report, [&] { return run_backlog(cases[i]); })) return;
        for (std::size_t i = 1; i < rows.size(); ++i)
            add_ratio(report, rows[i].workload, "time / without backlog", rows[i], rows[0], &Sample::cpu_ns);
        for (Row& row : rows) report.rows.push_back(std::move(row));
    }
}

void run_churns(const Options& options, Report& report) { // W6
    for (const NodeOrder order : {NodeOrder::Fair, NodeOrder::BinPacking}) {
        Row row{"W6 churn " + name_of(order), "core", 0, {}};
        if (!options.wants_workload(row.workload)) continue;
        ChurnParameters churn;
        churn.tree.order = order;
        for (int run = 0; run < options.runs; ++run)
            if (!measure_into(row, run, report, [&] { return run_churn(churn); })) return;
        Figure idle{row.workload, "p99.9 of empty loops as long as the median, microseconds", {}};
        for (const Sample& sample : row.samples) idle.values.push_back(sample.idle_p999 * 1e6);
        report.figures.push_back(std::move(idle));
        report.rows.push_back(std::move(row));
    }
}

void run_preemptings(const Options& options, Report& report) { // W7
    const std::vector<std::pair<std::string, PreemptingParameters>> cases{
        {"W7 1k nodes", {1000, 5000, 50, false, 0, 0}},
        {"W7 10k nodes", {10'000, 5000, 50, false, 0, 0}},
        {"W7 10k nodes, opted out", {10'000, 5000, 50, true, 0, 0}},
        {"W7 10k nodes, 5k candidates", {10'000, 1000, 50, false, 5000, 0}},
        {"W7 5k nodes, 1k queues", {5000, 5000, 500, false, 0, 10}}};
    for (const auto& [name, parameters] : cases) {
        if (!options.wants_workload(name)) continue;
        Row row{name, "core", 0, {}};
        Figure rate{name, "decisions per second", {}, 0};
        Figure victims{name, "victims per placed ask", {}};
        Figure worst{name, "worst decision, milliseconds", {}};
        for (int run = 0; run < options.runs; ++run) {
            PreemptingSample last;
            const auto once = [&, p = parameters]() -> Result<Sample> {
                auto sample = run_preempting(p);
                if (!sample.ok()) return sample.error();
                last = sample.value();
                return last.sample;
            };
            if (!measure_into(row, run, report, once)) return;
            rate.values.push_back(1e9 / last.decision_ns());
            victims.values.push_back(static_cast<double>(last.victims) / static_cast<double>(last.sample.placed));
            worst.values.push_back(last.sample.worst * 1e3);
        }
        for (Figure* figure : {&rate, &victims, &worst}) report.figures.push_back(std::move(*figure));
        report.rows.push_back(std::move(row));
    }
}

void run_gangs(const Options& options, Report& report) { // W11
    std::vector<Row> rows;
    for (const Level level : {Level::Core, Level::Order})
        if (options.wants_level(name_of(level))) rows.push_back({"W11 gang", name_of(level), 0, {}});
    if (rows.empty() || !options.wants_workload("W11")) return;
    GangRun gang{{}};
    if (const auto recorded = gang.record(); !recorded.ok()) {
        report.notes.push_back(recorded.error().text());
        return;
    }
    for (int run = 0; run < options.runs; ++run)
        for (Row& row : rows)
            if (!measure_into(row, run, report,
                              [&] { return gang.run(row.level == "core" ? Level::Core : Level::Order); }))
                return;
    if (rows.size() == 2) add_ratio_of_levels(report, "W11 gang", rows[0], rows[1]);
    for (Row& row : rows) report.rows.push_back(std::move(row));
}

void run_reloads(const Options& options, Report& report) { // R1
    ReloadParameters groups;
    groups.users = 10'000;
    groups.groups = 1000;
    ReloadParameters moving = groups;
    moving.moving = 100'000;
    for (const auto& [name, parameters] : {std::pair{std::string{"R1 reload"}, ReloadParameters{}},
                                           {"R1 reload, groups", groups},
                                           {"R1 reload, groups change", moving}}) {
        if (!options.wants_workload(name)) continue;
        Row row{name, "core", 0, {}};
        Figure whole{name, "milliseconds in all", {}};
        Figure stopped{name, "milliseconds without scheduling", {}};
        for (int run = 0; run < options.runs; ++run) {
            if (!measure_into(row, run, report, [&, p = parameters] { return run_reload(p); })) return;
            whole.values.push_back(row.samples.back().seconds * 1e3);
            stopped.values.push_back(row.samples.back().pause * 1e3);
        }
        report.figures.push_back(std::move(whole));
        report.figures.push_back(std::move(stopped));
    }
}

void run_snapshots(const Options& options, Report& report) { // D1
    if (!options.wants_workload("D1")) return;
    ReloadParameters parameters;
    parameters.users = 10'000;
    parameters.groups = 1000;
    Row row{"D1 dumps", "core", 0, {}};
    std::vector<Figure> stops;
    stops.reserve(std::size(kDumps));
    for (const std::string_view dump : kDumps)
        stops.push_back({"D1 dumps", std::string{dump} + ": longest stop, milliseconds", {}});
    for (int run = 0; run < options.runs; ++run) {
        DumpsSample last;
        const auto once = [&]() -> Result<Sample> {
            auto sample = run_dumps(parameters);
            if (!sample.ok()) return sample.error();
            last = sample.value();
            return last.sample;
        };
        if (!measure_into(row, run, report, once)) return;
        for (std::size_t i = 0; i < stops.size(); ++i) stops[i].values.push_back(last.stops.at(i) * 1e3);
    }
    for (Figure& figure : stops) report.figures.push_back(std::move(figure));
}

std::string daemon_of(const Options& options) {
    const std::string beside = options.beside.substr(0, options.beside.rfind('/') + 1);
    return options.ykd.empty() ? beside + "ykd" : options.ykd;
}

void run_bulk(const PlacingCase& each, const Options& options, Report& report) {
    Row row{each.name, "wire", each.reference, {}};
    if (!options.wants_workload(each.name)) return;
    for (int run = 0; run < options.runs; ++run)
        if (!measure_into(row, run, report, [&] { return run_wire({daemon_of(options)}, each.make); })) return;
    report.rows.push_back(std::move(row));
}

void run_wires(const Options& options, Report& report) { // W1, W2 1M, W5 and W9 over ipc
    const std::string ykd = daemon_of(options);
    run_bulk({"W1 two-queues", [] { return make_two_queues(5000, 10'000); }, 3855}, options, report);
    run_bulk({"W2 1M fair", tree(million(NodeOrder::Fair)), 0}, options, report);
    run_bulk({"W5 large fair", tree(large(NodeOrder::Fair)), 0}, options, report);
    Row single{"W9 latency", "wire", 0, {}};
    Row bare{"W9 latency, bare nng", "wire", 0, {}};
    TreeParameters half; // W2's cluster, half full
    half.asks = asks_to_fill(half, 50) + kWireSteps;
    for (int run = 0; run < options.runs && options.wants_workload(single.workload); ++run) {
        if (!measure_into(single, run, report, [&] { return run_wire_latency({ykd}, tree(half), kWireSteps); })) break;
        if (!measure_into(bare, run, report, [] { return run_bare_round_trips(kWireSteps); })) break;
    }
    if (!bare.samples.empty())
        add_ratio(report, single.workload, "p50 / that of a bare nng round trip", single, bare, &Sample::p50);
    for (Row* row : {&single, &bare})
        if (!row->samples.empty()) report.rows.push_back(std::move(*row));
}

/// How latency grows with the load, of W2's cluster at 90 %.
void run_loads(const Options& options, Report& report) {
    constexpr std::array kShown{std::pair{"p50", &Sample::p50}, std::pair{"p99", &Sample::p99},
                                std::pair{"p99.9", &Sample::p999}};
    std::vector<cli::ChartLine> lines;
    for (const bool over_tcp : {false, true}) {
        const std::size_t first = lines.size();
        for (const auto& shown : kShown)
            lines.push_back({fmt::format("{} {}", over_tcp ? "tcp" : "ipc", shown.first), {}});
        for (const std::uint32_t per_second :
             {1000U, 2000U, 5000U, 10'000U, 20'000U, 50'000U, 100'000U, 200'000U, 500'000U}) {
            Row row{fmt::format("load {} {}/s", over_tcp ? "tcp" : "ipc", per_second), "wire", 0, {}};
            if (!options.wants_workload(row.workload)) continue;
            LoadParameters load;
            load.per_second = per_second;
            load.over_tcp = over_tcp;
            for (int run = 0; run < options.runs; ++run)
                if (!measure_into(row, run, report, [&] { return run_load(daemon_of(options), load); })) break;
            if (row.samples.empty()) break;
            for (std::size_t at = 0; at < kShown.size(); ++at) {
                std::vector<double> values;
                for (const Sample& sample : row.samples) values.push_back(sample.*kShown.at(at).second * 1e6);
                lines[first + at].points.emplace_back(per_second, median(values));
            }
            report.rows.push_back(std::move(row));
        }
    }
    std::erase_if(lines, [](const cli::ChartLine& line) { return line.points.size() < 2; });
    if (lines.empty()) return;
    const auto [least, most] = range_of(lines);
    report.charts.push_back({"load",
                             {"from when an ask was due to its allocation, microseconds",
                              decades("asks a second", 1000, 500'000), decades({}, least, most), lines}});
}

struct IdleCase {
    std::string name;
    std::function<Result<Sample>(const WireDaemon&)> measure;
};

std::vector<IdleCase> idle_cases(const Options& options, Report& report) {
    TreeParameters half;
    half.asks = asks_to_fill(half, 50) + kWireSteps;
    std::vector<IdleCase> cases{
        {"idle-mcs W1",
         [](const WireDaemon& daemon) { return run_wire(daemon, [] { return make_two_queues(5000, 10'000); }); }},
        {"idle-mcs W9", [half](const WireDaemon& daemon) { return run_wire_latency(daemon, tree(half), kWireSteps); }}};
    if (!options.wants_workload("idle-mcs W3")) return cases;
    auto made = make_openb(options.data, NodeOrder::BinPacking);
    if (!made.ok()) {
        report.notes.push_back("idle-mcs W3 left out: " + made.error().text() + " (--data FOLDER)");
        return cases;
    }
    // The client waits for all that it has asked for, and the whole trace is more than its cluster holds.
    constexpr std::size_t kThatFit = 4000;
    made.value().asks.resize(std::min(made.value().asks.size(), kThatFit));
    cases.push_back({"idle-mcs W3", [workload = std::move(made).value()](const WireDaemon& daemon) {
                         return run_wire(daemon, [&workload] { return workload; });
                     }});
    return cases;
}

/// What it costs the scheduler that the daemon keeps deployments, of which there are none: with them and without in
/// turns, and every other time the other way round, so that what becomes slower or faster by itself favours neither.
void run_idle_mcs(const Options& options, Report& report) {
    for (const IdleCase& each : idle_cases(options, report)) {
        if (!options.wants_workload(each.name)) continue;
        std::array<Row, 2> rows{Row{each.name + ", without", "wire", 0, {}}, Row{each.name, "wire", 0, {}}};
        for (int run = 0; run < options.runs; ++run)
            for (int turn = 0; turn < 2; ++turn) {
                const bool has_mcs = (run + turn) % 2 == 1;
                const WireDaemon daemon{daemon_of(options), true, has_mcs};
                if (!measure_into(rows.at(has_mcs ? 1 : 0), run, report, [&] { return each.measure(daemon); })) return;
            }
        add_ratio(report, each.name, "time / without mcs", rows[1], rows[0], &Sample::seconds, 3);
        for (Row& row : rows) report.rows.push_back(std::move(row));
    }
}

/// One figure of several runs, each of which `measure` makes.
void run_recovery_case(const std::string& name, const Options& options, Report& report,
                       const std::vector<std::pair<std::string, double Sample::*>>& figures,
                       const std::function<Result<Sample>()>& measure) {
    if (!options.wants_workload(name)) return;
    Row row{name, "wire", 0, {}};
    std::vector<Figure> taken;
    taken.reserve(figures.size());
    for (const auto& figure : figures) taken.push_back({name, figure.first, {}});
    for (int run = 0; run < options.runs; ++run) {
        if (!measure_into(row, run, report, measure)) return;
        for (std::size_t i = 0; i < figures.size(); ++i)
            taken[i].values.push_back(row.samples.back().*figures[i].second);
    }
    for (Figure& figure : taken) report.figures.push_back(std::move(figure));
}

void run_recoveries(const Options& options, Report& report) { // W8
    const std::string ykd = daemon_of(options);
    const std::vector<std::pair<std::string, RecoveryParameters>> sizes{
        {"W8 recovery, 100k allocations", {5000, 1000, 100'000}},
        {"W8 recovery, 1M allocations", {50'000, 1000, 1'000'000}}};
    for (const auto& [name, parameters] : sizes)
        run_recovery_case(name, options, report,
                          {{"seconds from registration to Running", &Sample::seconds},
                           {"seconds until all of it was read back", &Sample::pause},
                           {"processor seconds of ykd", &Sample::cpu_seconds}},
                          [&, p = parameters] { return run_recovery(ykd, p); });
    for (const auto& [name, owner] :
         {std::pair{"W8 restart, served", Owner::Served}, std::pair{"W8 restart, detached", Owner::Detached}})
        run_recovery_case(name, options, report, {{"seconds from SIGKILL to a new allocation", &Sample::seconds}},
                          [&, o = owner] {
                              return run_restart(ykd, {1000, 1000, 10'000}, o);
                          });
}

/// W1 for a detached RM, with books and without in turns.
void run_books(const Options& options, Report& report) {
    Row without{"W1 detached", "wire", 0, {}};
    Row with{"W1 detached, books", "wire", 0, {}};
    if (!options.wants_workload(without.workload)) return;
    const std::string ykd = daemon_of(options);
    for (int run = 0; run < options.runs; ++run)
        for (Row* row : {&without, &with})
            if (!measure_into(*row, run, report, [&] {
                    return run_wire_detached(
                        ykd, [] { return make_two_queues(5000, 10'000); }, row == &with);
                }))
                return;
    add_ratio(report, with.workload, "time / without books", with, without, &Sample::seconds);
    add_ratio(report, with.workload, "processor time of ykd / without books", with, without, &Sample::cpu_seconds);
    Figure written{with.workload, "milliseconds until all is in the books", {}};
    for (const Sample& sample : with.samples) written.values.push_back(sample.pause * 1e3);
    report.figures.push_back(std::move(written));
    for (Row* row : {&without, &with}) report.rows.push_back(std::move(*row));
}

} // namespace

bool Options::wants_workload(const std::string& name) const {
    return workloads.empty() || std::any_of(workloads.begin(), workloads.end(), [&](const std::string& wanted) {
               return name.compare(0, wanted.size(), wanted) == 0 &&
                      (name.size() == wanted.size() || name[wanted.size()] == ' ');
           });
}

bool Options::wants_level(const std::string& name) const {
    return levels.empty() || std::find(levels.begin(), levels.end(), name) != levels.end();
}

Report run_workloads(const Options& options) {
    Report report;
    for (const PlacingCase& each : placing_cases(options, report)) run_case(each, options, report);
    if (options.wants_level("core")) {
        run_rms_at_once(options, report);
        if (options.wants_workload("W4")) run_backlogs(options, report);
        run_churns(options, report);
        run_reloads(options, report);
        run_snapshots(options, report);
        run_preemptings(options, report);
    }
    run_gangs(options, report);
    if (options.wants_level("wire")) {
        run_wires(options, report);
        run_loads(options, report);
        run_books(options, report);
        run_recoveries(options, report);
    }
    if (options.workloads.empty()) return report;
    run_resource_state(options, daemon_of(options), report); // long: only by name
    if (options.wants_level("wire")) run_idle_mcs(options, report);
    return report;
}

} // namespace yk::bench
