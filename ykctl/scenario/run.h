// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ykctl scenario run`: plays scenario files (scenario.md) against a daemon.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/client/client.h"
#include "ykctl/scenario/report.h"

namespace yk::scenario {

struct ScenarioOptions {
    std::vector<std::string> files; // played and reported in this order
    bool spawn = false;             // a fresh private daemon per file
    int parallel = 1;               // files that are played at once; used only with `spawn`
    std::string config;             // of the files that have none; empty: the built-in one
    bool keep = false;              // leave the RMs and all they have where they are, for others to look at
    wire::ClientOptions client;     // the running daemon; with `spawn` only its timeout, strict and trace are used
};

/// Whether the reply to Hello lists this optional feature.
[[nodiscard]] bool has_feature(const wire::Value& hello, std::string_view name);

/// The scenario files that are meant: a folder stands for all *.yaml and *.yml in it and below, by name. An error names
/// a folder without one, or one that cannot be read.
[[nodiscard]] Result<std::vector<std::string>> files_in(const std::vector<std::string>& files_and_folders);

/// Plays every file, and hands on what came of each, in their order.
void run_scenarios(const ScenarioOptions& options, const std::function<void(FileResult)>& take);

} // namespace yk::scenario
