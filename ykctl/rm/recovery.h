// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of a registration that begins a recovery (I-212). The commands that end one are in recovery.cpp.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/si/messages.h"
#include "ykctl/cli/command.h"

namespace yk::cli {

/// The options as typed.
struct RecoveryOptions {
    std::optional<std::string> id;
    std::optional<std::chrono::milliseconds> timeout, idle;
    bool no_force_applications = false;
    std::optional<std::int64_t> max_quarantined;
    std::vector<std::string> expected; // `nodes=3,applications=1`
};

void define_recovery_options(Command command, RecoveryOptions& options);

/// What the options ask for; nullopt when no recovery is to begin. Usage errors name the option.
[[nodiscard]] Answer<std::optional<si::RecoveryRequest>> recovery_request(const RecoveryOptions& options);

} // namespace yk::cli
