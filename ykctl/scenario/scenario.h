// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scenario file as plain structs (scenario.md), and its reader. A message to send is kept as its body, where the
// `repeat` of elements is not expanded yet; an expectation is kept as the tree of wanted values.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "protocol/wire/value.h"

namespace yk::scenario {

using wire::Value;

struct RmSettings {
    std::string rm_id = "rm:1";
    std::string policy_group = "default";
    std::string version = "1.0";
    bool confirm_releases = true;
    std::optional<std::map<std::string, std::string>> extra_config;
};

enum class Action { Register, Nodes, Applications, Asks, Releases, Config, Cycles, Wait, Expect };

/// The key of a step that names the action, such as `nodes`.
[[nodiscard]] std::string_view action_name(Action action);

struct Step {
    Action action = Action::Cycles;
    std::string rm;       // empty: the default RM
    bool refused = false; // of a call: it must be answered with an error
    Value message;        // of a call: the body, without rmID
    std::uint32_t cycles = 0;
    Duration duration{};   // of a wait, or `within` of an expectation
    std::string partition; // of an expectation
    Value wanted;          // of an expectation: key of the expect table -> wanted value
};

struct Scenario {
    std::string name, summary;
    bool manual_schedule = true;
    bool virtual_clock = false;
    RmSettings rm;
    std::optional<std::string> config; // registered before step 1
    std::vector<Step> steps;
};

/// Reads a scenario. The error's `where` is `file:line:column`.
[[nodiscard]] Result<Scenario> read_scenario(std::string_view text, std::string_view file);

/// Reads a scenario from a file.
[[nodiscard]] Result<Scenario> load_scenario(const std::string& path);

} // namespace yk::scenario
