#pragma once
// The daemon's loggers: a dotted hierarchy with levels that extraConfig may change at any time (I-740, C-463), writing
// to stderr, the journal's stderr or a file without ever blocking the caller.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/spdlog.h>

#include "libcore/base/result.h"

namespace yk::service {

/// `target`: auto, journal, stderr or a file. Once, before the first log().
[[nodiscard]] Result<void> start_log(const std::string& target);
/// Writes out what waits. Nothing may be logged afterwards.
void end_log();

/// `core.rmproxy`, `wire.session`, ... Any thread; cheap enough for everything but the hot path.
[[nodiscard]] spdlog::logger& log(std::string_view name);

/// Warns of each of `lines`, shortened, about `subject`; of more than ten only how many there are, for what one request
/// sends must not fill the log.
void warn_of_each(std::string_view logger, std::string_view subject, const std::vector<std::string>& lines);

/// Opens the file anew that start_log() was given, if it was one: the old one may have been moved away (logrotate).
/// What cannot be opened is logged, and the old file is written on.
void reopen_log();

/// `log.level` and `log.<name>.level`; the rest of the map is not looked at. `base` stands in for an absent log.level.
void set_log_levels(const std::map<std::string, std::string>& settings, std::string_view base);

/// The level of a logger: its own or that of the nearest above it; without a name that of those which have none.
[[nodiscard]] std::string log_level(std::string_view logger = {});

/// The level in force for a logger, in the words of C-463.
[[nodiscard]] std::string log_level_of(std::string_view logger);

/// The logger that `log.<logger>.level` is about; nothing when the key has another form (C-463).
[[nodiscard]] std::optional<std::string> logger_of(std::string_view key);

/// C-463: a name in lower or upper case or a number from -1; nothing for other texts.
[[nodiscard]] std::optional<spdlog::level::level_enum> parse_level(std::string_view text);

} // namespace yk::service
