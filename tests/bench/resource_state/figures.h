// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one run of a workload of resource state comes to: numbers with names.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "tests/bench/resource_state/bench_database.h"

namespace yk::bench {

using Figures = std::vector<std::pair<std::string, double>>;

/// Where a workload runs, and how large it is.
struct RunPlace {
    Engine engine;
    std::size_t rows; // Deployments; other sizes are in proportion to 1,000,000 of them
    std::string ykd;  // the daemon
    FilledDatabases& databases;

    /// `of_million` in proportion, but at least `least`.
    [[nodiscard]] std::size_t scaled(std::size_t of_million, std::size_t least = 1) const {
        return std::max(least, of_million * rows / 1'000'000);
    }
};

/// Runs `measure` in a process of its own.
[[nodiscard]] Result<Figures> figures_apart(const std::function<Result<Figures>()>& measure);

/// Of the heap, in use.
[[nodiscard]] double heap_bytes();
/// What SQLite has of them: mostly pages of databases, of which each connection keeps at most 64 MiB.
[[nodiscard]] double sqlite_bytes();

/// So many of a hundred values are not above it; 0 of none. It reorders them.
[[nodiscard]] double percentile_of(std::vector<double>& values, double percent);

} // namespace yk::bench
