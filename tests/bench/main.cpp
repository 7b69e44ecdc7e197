// SPDX-License-Identifier: Apache-2.0
// yk_bench: plays the workloads of docs/benchmarks.md and prints what they took.

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tests/bench/suite.h"
#include "ykctl/cli/values.h"

namespace {

/// False: it could not be written, which was said.
bool write_text(const std::string& path, const std::string& text) {
    const auto failure = yk::cli::write_text(path, text);
    if (failure) std::cerr << "yk_bench: " << failure->message << "\n";
    return !failure;
}

/// Those of a list with commas. One before a blank is part of a name, such as "R1 reload, groups".
void add_names(const std::string& list, std::vector<std::string>& names) {
    std::string::size_type begin = 0;
    for (auto at = list.find(','); at != std::string::npos; at = list.find(',', at + 1)) {
        if (list.substr(at + 1, 1) == " ") continue;
        names.push_back(list.substr(begin, at - begin));
        begin = at + 1;
    }
    names.push_back(list.substr(begin));
}

} // namespace

int main(int argc, char** argv) {
    yk::bench::Options options;
    std::string json, svg;
    CLI::App app{"Plays the workloads of docs/benchmarks.md and prints a table."};
    std::vector<std::string> workloads;
    app.add_option("--workload", workloads,
                   "only these: W1, W2, ... or the start of a name such as 'W2 50k'; rs-01 ... rs-16 (rs: all of "
                   "these) and idle-mcs are played only by name");
    app.add_option("--level", options.levels, "only these levels")
        ->delimiter(',')
        ->check(CLI::IsMember({"core", "order", "floor", "wire"}));
    app.add_flag("--scaling", options.scaling, "how cost grows with nodes and leaves, instead of the workloads");
    app.add_option("--runs", options.runs, "how often each figure is measured")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    app.add_option("--rows", options.rows, "Deployments of rs-01 ... rs-16; their other sizes are in proportion")
        ->check(CLI::Range(10'000, 10'000'000))
        ->capture_default_str();
    app.add_option("--json", json, "also write every figure to this file");
    app.add_option("--svg", svg, "also draw the curves, into files of this folder");
    app.add_option("--data", options.data, "folder with openb_*.csv, for W3")->capture_default_str();
    app.add_option("--ykd", options.ykd, "the daemon for level wire (default: ykd beside this program)");
    CLI11_PARSE(app, argc, argv);
    options.beside = argv[0];
    for (const std::string& list : workloads) add_names(list, options.workloads);

    const yk::bench::Report report =
        options.scaling ? yk::bench::run_scaling(options) : yk::bench::run_workloads(options);
    if (report.is_empty() && !report.has_failed) {
        std::cerr << "yk_bench: nothing has this name at this level; docs/benchmarks.md names the workloads\n";
        return 1;
    }
    std::cout << yk::bench::to_markdown(report);
    for (const yk::bench::Chart& chart : report.charts)
        if (!svg.empty() && !write_text(svg + "/" + chart.name + ".svg", yk::cli::chart_svg(chart.drawing))) return 1;
    if (!json.empty() && !write_text(json, yk::bench::to_json(report))) return 1;
    return report.has_failed ? 1 : 0;
}
