// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes a failing command list short, and runs over files and seeds that the tests of random commands share.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/command_text.h"

namespace yk::testing {

/// Tells whether a command list still fails.
using Fails = std::function<bool(const std::vector<Command>&)>;

/// Drops commands, then elements of requests, as long as the rest still fails. The first command, the configuration,
/// stays. `fails` is asked in a child process, so that a crash counts as a failure and does no harm.
[[nodiscard]] std::vector<Command> shrink(std::vector<Command> commands, const Fails& fails);

/// True when `fails` says so or crashes.
[[nodiscard]] bool fails_in_child(const Fails& fails, const std::vector<Command>& commands);

/// The seeds to try: YK_ROUNDS of them (or `rounds`), from YK_SEED on (or from 1).
[[nodiscard]] std::vector<std::uint64_t> seeds(std::uint64_t rounds);

/// tests/property/regressions/*.txt: file name and commands, by name.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<Command>>> regressions(const std::string& source_dir);

} // namespace yk::testing
