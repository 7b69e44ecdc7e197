// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which measurements there are, and playing those that were asked for.

#include <cstddef>
#include <string>
#include <vector>

#include "tests/bench/measure/report.h"

namespace yk::bench {

struct Options {
    std::vector<std::string> workloads; // empty: all
    std::vector<std::string> levels;    // empty: all
    bool scaling = false;
    int runs = 5;
    std::size_t rows = 1'000'000; // Deployments in the workloads of resource state
    std::string data = "../shared/data";
    std::string ykd;    // empty: beside `beside`
    std::string beside; // path of this program

    [[nodiscard]] bool wants_workload(const std::string& name) const;
    [[nodiscard]] bool wants_level(const std::string& name) const;
};

[[nodiscard]] Report run_workloads(const Options& options);
[[nodiscard]] Report run_scaling(const Options& options);

} // namespace yk::bench
