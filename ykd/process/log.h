// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's loggers: names in a dotted hierarchy, with levels that extraConfig may change at any time (I-740,
// C-463). A thread of spdlog writes the lines to stderr, the journal's stderr or a file; the caller never waits for
// that.
//
// Thread: any, between start_log() and end_log().

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/spdlog.h>

#include "libcore/base/result.h"

namespace yk::service {

/// Opens the log. `target`: auto, journal, stderr or a file. To be called once, before the first log().
[[nodiscard]] Result<void> start_log(const std::string& target);
/// Writes the lines that wait. Nothing may be logged afterwards.
void end_log();

/// The logger of this name, such as `core.rmproxy`. Costs a lock and a search: not for what every cycle does.
[[nodiscard]] spdlog::logger& log(std::string_view name);

/// Logs a warning for each of `lines`, shortened, about `subject`; beyond ten only their number, since one request must
/// not fill the log.
void warn_of_each(std::string_view logger, std::string_view subject, const std::vector<std::string>& lines);

/// Opens the log file anew, if the log is a file: the old one may have been moved away (logrotate). If that fails, the
/// failure is logged, and the old file is written on.
void reopen_log();

/// Sets the levels from the keys `log.level` and `log.<name>.level`; other keys are ignored. `base` counts when there
/// is no log.level.
void set_log_levels(const std::map<std::string, std::string>& settings, std::string_view base);

/// The level of a logger: its own, or that of the nearest logger above it that has one; without a name the base level.
[[nodiscard]] std::string log_level(std::string_view logger = {});

/// The level in force for a logger, in the words of C-463.
[[nodiscard]] std::string log_level_of(std::string_view logger);

/// The logger in a key `log.<logger>.level`; nullopt: the key has another form (C-463).
[[nodiscard]] std::optional<std::string> logger_of(std::string_view key);

/// Parses a level: a name in lower or upper case, or a number from -1; nullopt: the text is none (C-463).
[[nodiscard]] std::optional<spdlog::level::level_enum> parse_level(std::string_view text);

} // namespace yk::service
