#pragma once
// Values as they are typed on the command line.

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/wire/value.h"
#include "ykctl/commands/failure.h"

namespace yk::cli {

/// Decimal, with an optional minus.
[[nodiscard]] Result<std::int64_t> parse_integer(const std::string& text);
/// A duration of config.md C-151 (`1h30m`, `250ms`), not negative, in whole milliseconds.
[[nodiscard]] Result<std::chrono::milliseconds> parse_milliseconds(const std::string& text);

/// `-R memory=64Gi,vcore=16` (config.md C-021: vcore in cores), given once or several times, as a resource map in
/// base units. Usage errors name the entry.
[[nodiscard]] Answer<wire::Value> parse_resources(const std::vector<std::string>& texts);

/// `key=value` texts as a map; `option` names the option in errors. A key twice is an error.
[[nodiscard]] Answer<wire::Value> parse_pairs(const std::vector<std::string>& texts, const std::string& option);

/// The names in comma lists, in order; empty ones are left out.
[[nodiscard]] std::vector<std::string> split_lists(const std::vector<std::string>& texts);

/// Each name once, where it stands first.
[[nodiscard]] std::vector<std::string> distinct(std::vector<std::string> names);

/// `USER[:GROUP,...]` as `{user, groups}`.
[[nodiscard]] wire::Value parse_user(const std::string& text);

/// The whole of a file, or of standard input for `-`. At most `limit` bytes.
[[nodiscard]] Answer<std::string> read_text(const std::string& path, std::istream& standard_input,
                                            std::size_t limit = std::size_t{256} << 20U);

/// Writes a file: whole, or nothing of it is changed. What went wrong names the file.
[[nodiscard]] std::optional<Failure> write_text(const std::string& path, const std::string& text);
/// The same for a text that comes bit by bit; a failure of `write` leaves the file as it was.
using WriteTo = std::function<std::optional<Failure>(std::ostream& out)>;
[[nodiscard]] std::optional<Failure> write_file(const std::string& path, const WriteTo& write);

/// A file as messages name it: `standard input` for `-`.
[[nodiscard]] std::string shown_name(const std::string& path);

/// `pattern` with its one `%d` or `%0Nd` replaced by `number`; checked beforehand with check_name_format().
[[nodiscard]] std::string numbered_name(const std::string& pattern, std::int64_t number);
[[nodiscard]] Answer<std::string> check_name_format(const std::string& pattern);

} // namespace yk::cli
