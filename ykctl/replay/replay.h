// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ykctl replay` and `ykctl replay gen`: a recorded cluster trace played against a daemon, and a small synthetic one.

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "protocol/client/client.h"
#include "ykctl/render/output.h"

namespace yk::replay {

struct ReplayOptions {
    std::string nodes_file; // CSV: sn, cpu_milli, memory_mib, gpu, model
    std::string pods_file;  // CSV: name, cpu_milli, memory_mib, num_gpu, gpu_milli, ..., creation_time, deletion_time
    std::string policy = "fair";             // of the nodes
    double speed = 0;                        // 0: all at once (`max`), without deletions; N: trace time divided by N
    bool spawn = false;                      // a private daemon
    bool keep = false;                       // the RM stays registered, so that it can be looked at
    cli::Format format = cli::Format::Table; // of the report; not Name
    bool progress = false;                   // a progress bar on `err` (for terminals)
    bool quiet = false;                      // no notes on `err`
    std::optional<std::chrono::milliseconds> away = {}; // so long the daemon may be away; nullopt: for ever
    std::string rm_id = "replay";                       // registered as a detached RM during the replay
    wire::ClientOptions client; // the running daemon; with `spawn` only its timeout and trace are used
};

/// Plays the trace and prints the report on `out`. An RM that is registered already is left alone, unless an earlier
/// replay left it. While the daemon is away it is dialled again; one that was restarted has to have the RM back
/// (ykd --state). Exit status as ykctl(1) has it: 0, 1 refused by the daemon or the RM is taken, 2 options, a daemon
/// that does not schedule by itself, or a trace that cannot be read (file:line on `err`), 3 daemon unreachable, or
/// back without the RM, 130
/// interrupted by a signal.
[[nodiscard]] int run_replay(const ReplayOptions& options, std::ostream& out, std::ostream& err);

struct GenerateOptions {
    std::string directory; // made if missing; gets nodes.csv and pods.csv
    std::int64_t nodes = 20;
    std::int64_t pods = 200;
    std::int64_t seed = 1;
};

/// Writes a synthetic trace; the same options give the same bytes. Exit status 0, or 2: options, or it cannot be
/// written.
[[nodiscard]] int generate_trace(const GenerateOptions& options, std::ostream& out, std::ostream& err);

} // namespace yk::replay
