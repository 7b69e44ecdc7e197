// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong with a configuration, as an error reply and as `problems` (B-03).

#include "libcore/config_yaml/load.h"
#include "protocol/wire/envelope.h"

namespace yk::service {

/// E_CONFIG_INVALID with the first error and its location in `details` {line, column, reason, source, problems}.
/// REQUIRES: !outcome.configuration.
[[nodiscard]] wire::ErrorReply config_error(const config_yaml::LoadOutcome& outcome);

/// All errors and warnings: [{line, column, path, message, severity}].
[[nodiscard]] wire::Value problems_value(const config_yaml::LoadOutcome& outcome);

/// Logs why a configuration is refused or warned of (B-04), one line for each of the first ten problems. `logged`: how
/// many of them, from the first on, were logged before.
void log_problems(std::string_view subject, const config_yaml::LoadOutcome& outcome, std::size_t logged = 0);

/// The first error, which is no warning; nullptr: there is none.
[[nodiscard]] const config::Problem* first_problem(const config_yaml::LoadOutcome& outcome);

} // namespace yk::service
