// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/resource_state/suite.h"

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/bench/resource_state/workloads.h"

namespace yk::bench {
namespace {

struct ResourceWorkload {
    const char* name;
    std::vector<Engine> engines;
    Result<Figures> (*run)(const RunPlace&);
};

std::vector<ResourceWorkload> resource_workloads() {
    const std::vector<Engine> sqlite{Engine::Sqlite}, postgres{Engine::Postgres};
    const std::vector<Engine> both{Engine::Sqlite, Engine::Postgres};
    return {{"rs-01", sqlite, run_cache_memory},
            {"rs-02", both, run_start},
            {"rs-03", sqlite, run_backlog_of_log},
            {"rs-04", both, run_live_writers},
            {"rs-05", postgres, run_backlog_of_log},
            {"rs-06", both, run_relay},
            {"rs-07", both, run_latency},
            {"rs-08", both, run_handlers},
            {"rs-09", both, run_resync},
            {"rs-10", sqlite, run_orphan_diff},
            {"rs-11", sqlite, run_reads_of_cache},
            {"rs-12", sqlite, run_queue_memory},
            {"rs-13", both, run_replicas},
            {"rs-14", both, run_takeover},
            {"rs-15", sqlite, run_reconciler},
            {"rs-16", both, run_evaluation}};
}

/// One line for each run as soon as it is over: what was measured stays if a later one ends the program.
void print_line(const ResourceWorkload& workload, const RunPlace& place, const Result<Figures>& measured) {
    nlohmann::ordered_json line{{"workload", workload.name},
                                {"database", name_of(place.engine)},
                                {"rows", place.rows},
                                {"valid", measured.ok()}};
    if (measured.ok())
        for (const auto& [name, value] : *measured) line["figures"][name] = value;
    else
        line["fault"] = measured.error().text();
    std::cout << line.dump() << std::endl;
}

void run_on(const ResourceWorkload& workload, const RunPlace& place, const Options& options, Report& report) {
    const std::string title = std::string{workload.name} + " " + name_of(place.engine);
    std::vector<Figure> figures;
    for (int run = 0; run < options.runs; ++run) {
        std::fprintf(stderr, "%s, run %d\n", title.c_str(), run + 1);
        const auto measured = workload.run(place);
        print_line(workload, place, measured);
        if (!measured.ok()) {
            report.has_failed = true;
            report.notes.push_back(title + " failed, and what it measured does not count: " + measured.error().text());
            return;
        }
        for (std::size_t at = 0; at < measured->size(); ++at) {
            if (run == 0) figures.push_back({title, (*measured)[at].first, {}});
            figures[at].values.push_back((*measured)[at].second);
        }
    }
    for (Figure& figure : figures) report.figures.push_back(std::move(figure));
}

} // namespace

void run_resource_state(const Options& options, const std::string& ykd, Report& report) {
    FilledDatabases databases;
    for (const ResourceWorkload& workload : resource_workloads()) {
        const bool is_wanted =
            options.wants_workload("rs " + std::string{workload.name}) || options.wants_workload(workload.name);
        for (const Engine engine : workload.engines) {
            if (!is_wanted) continue;
            if (const std::string why = why_missing(engine); !why.empty()) {
                report.notes.push_back(std::string{workload.name} + " " + why);
                continue;
            }
            run_on(workload, {engine, options.rows, ykd, databases}, options, report);
        }
    }
}

} // namespace yk::bench
