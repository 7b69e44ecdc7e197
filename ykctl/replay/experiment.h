// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ykctl replay --experiment fgd`: how full policies get a cluster of GPUs; and `ykctl replay --learn`.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "protocol/client/client.h"
#include "ykctl/render/output.h"

namespace yk::replay {

struct ExperimentOptions {
    std::string nodes_file, pods_file;       // as those of ReplayOptions
    std::vector<std::string> policies;       // empty: all
    std::int64_t seed = 1;                   // of the first run
    std::int64_t runs = 1;                   // each with the next seed; figures are their mean
    bool is_learnt = false;                  // what is expected; else it is that of the trace
    std::string svg_file;                    // empty: no drawing
    cli::Format format = cli::Format::Table; // not Name
    bool progress = false;                   // on `err`
    wire::ClientOptions client;              // its timeout and trace
};

/// Plays pods drawn from the trace against private daemons and prints how much of the GPUs each policy used. Exit
/// status as that of run_replay().
[[nodiscard]] int run_experiment(const ExperimentOptions& options, std::ostream& out, std::ostream& err);

/// Prints which asks the pods of the trace let expect, for `nodesortpolicy.fragmentation.workload` of a configuration.
/// Exit status 0, or 2: they cannot be read.
[[nodiscard]] int print_expected(const std::string& pods_file, std::ostream& out, std::ostream& err);

} // namespace yk::replay
