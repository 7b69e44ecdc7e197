// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ykctl scenario run`: plays scenario files (scenario.md) against a daemon.

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/client/client.h"

namespace yk::scenario {

struct ScenarioOptions {
    std::vector<std::string> files; // played and reported in this order
    bool spawn = false;             // a fresh private daemon per file
    int parallel = 1;               // files that are played at once; used only with `spawn`
    bool keep = false;              // leave the RMs and all they have where they are, for others to look at
    wire::ClientOptions client;     // the running daemon; with `spawn` only its timeout, strict and trace are used
};

/// Whether the reply to Hello lists this optional feature.
[[nodiscard]] bool has_feature(const wire::Value& hello, std::string_view name);

/// Plays every file. `out` gets a PASS or FAIL line per file and the unmet expectations, `err` malformed files and
/// unreachable daemons. Returns the exit status of scenario.md: 0 all pass, 1 an expectation failed, 2 a file is
/// malformed or a daemon cannot be reached.
[[nodiscard]] int run_scenarios(const ScenarioOptions& options, std::ostream& out, std::ostream& err);

} // namespace yk::scenario
