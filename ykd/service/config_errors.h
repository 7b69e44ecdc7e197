#pragma once
// What is wrong with a configuration, as an error reply and as `problems` (B-03).

#include "libcore/config_yaml/load.h"
#include "protocol/wire/envelope.h"

namespace yk::service {

/// E_CONFIG_INVALID with the first error and its place in `details` {line, column, reason, source, problems}.
/// REQUIRES: !outcome.configuration.
[[nodiscard]] wire::ErrorReply config_error(const config_yaml::LoadOutcome& outcome);

/// [{line, column, path, message, severity}]
[[nodiscard]] wire::Value problems_value(const config_yaml::LoadOutcome& outcome);

/// Logs what a configuration is warned of (B-04) or refused for, a line for each of the first ten. `said`: so many were
/// logged already.
void log_problems(std::string_view subject, const config_yaml::LoadOutcome& outcome, std::size_t said = 0);

/// The first error of a load that failed; nullptr when it did not.
[[nodiscard]] const config::Problem* first_problem(const config_yaml::LoadOutcome& outcome);

} // namespace yk::service
