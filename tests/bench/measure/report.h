// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables a person reads, as Markdown for docs/benchmarks.md, and the same as JSON.

#include <string>
#include <vector>

#include "tests/bench/measure/charts.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

/// The runs of one workload at one level.
struct Row {
    std::string workload;
    std::string level;
    double reference = 0; // allocations per second of the reference; 0: not measured there
    std::vector<Sample> samples;
};

/// A ratio within one run, or another figure with a name: one value per run.
struct Figure {
    std::string workload;
    std::string name;
    std::vector<double> values;
    int digits = 2;
};

struct Series { // --scaling
    std::string name;
    std::string over; // what x counts
    std::vector<double> x;
    std::vector<double> ns;
    double exponent = 0;
};

struct Report {
    std::vector<Row> rows;
    std::vector<Figure> figures;
    std::vector<Series> series;
    std::vector<Chart> charts;      // written with --svg
    std::vector<std::string> notes; // what was left out and why
    bool has_failed = false;        // something was measured that was not right

    [[nodiscard]] bool is_empty() const { return rows.empty() && figures.empty() && series.empty() && notes.empty(); }
};

[[nodiscard]] std::string to_markdown(const Report& report);
[[nodiscard]] std::string to_json(const Report& report);

} // namespace yk::bench
