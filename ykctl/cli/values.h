// SPDX-License-Identifier: Apache-2.0
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
#include "protocol/si/messages.h"
#include "ykctl/cli/failure.h"

namespace yk::cli {

/// A decimal integer, with an optional minus.
[[nodiscard]] Result<std::int64_t> parse_integer(const std::string& text);
/// A duration of config.md C-151 (`1h30m`, `250ms`), not negative, in whole milliseconds.
[[nodiscard]] Result<std::chrono::milliseconds> parse_milliseconds(const std::string& text);

/// `-R memory=64Gi,vcore=16` (config.md C-021: vcore in cores), given once or several times, as a resource map in
/// base units. Usage errors name the entry.
[[nodiscard]] Answer<si::Resources> parse_resources(const std::vector<std::string>& texts);

/// The devices of a node: `nvidia.com/gpu=8x1000`, eight of 1000 each; `=4x1000+4x500`, four and four. Lists of them
/// with commas.
[[nodiscard]] Answer<si::DeviceSizes> parse_device_sizes(const std::vector<std::string>& texts);
/// The devices that an ask states: `nvidia.com/gpu=2x500`.
[[nodiscard]] Answer<si::DevicesMap> parse_devices(const std::vector<std::string>& texts);

/// `key=value` texts as a map; `option` names the option in errors. A key twice is an error.
[[nodiscard]] Answer<si::StringMap> parse_pairs(const std::vector<std::string>& texts, const std::string& option);

/// Gives `key` a value, in place of the one that it may have.
void put_pair(si::StringMap& pairs, const std::string& key, std::string value);

/// The names in comma-separated lists, in order, without empty ones.
[[nodiscard]] std::vector<std::string> split_lists(const std::vector<std::string>& texts);

/// The names without repetitions, each where it occurs first.
[[nodiscard]] std::vector<std::string> distinct(std::vector<std::string> names);

/// The user who runs this program, who owns what it submits unless -u is given.
[[nodiscard]] std::string login_name();
/// `USER[:GROUP,...]`.
[[nodiscard]] si::UserGroupInformation parse_user(const std::string& text);

/// The whole of a file, or of standard input for `-`. At most `limit` bytes.
[[nodiscard]] Answer<std::string> read_text(const std::string& path, std::istream& standard_input,
                                            std::size_t limit = std::size_t{256} << 20U);

/// Writes a file completely, or leaves it as it was. The failure names the file.
[[nodiscard]] std::optional<Failure> write_text(const std::string& path, const std::string& text);
/// The same for a text that `write` produces step by step; a failure of `write` leaves the file as it was.
using WriteTo = std::function<std::optional<Failure>(std::ostream& out)>;
[[nodiscard]] std::optional<Failure> write_file(const std::string& path, const WriteTo& write);

/// The name of a file in messages: `standard input` for `-`.
[[nodiscard]] std::string shown_name(const std::string& path);

/// `pattern` with its one `%d` or `%0Nd` replaced by `number`; checked beforehand with check_name_format().
[[nodiscard]] std::string numbered_name(const std::string& pattern, std::int64_t number);
/// The pattern itself if it has at most one `%d` or `%0Nd` and no other `%`.
[[nodiscard]] Answer<std::string> check_name_format(const std::string& pattern);

} // namespace yk::cli
