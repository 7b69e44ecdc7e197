// SPDX-License-Identifier: Apache-2.0
#pragma once
// YAML scalars as values, by the rules of C-005 to C-007, for every strict reader.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/config_yaml/tree.h"

namespace yk::config_yaml {

/// `true false yes no on off y n`, unquoted, in the spellings of YAML 1.1 (`Yes`, `YES`).
[[nodiscard]] std::optional<bool> to_bool(const Node& node);
/// Unquoted decimal digits only, up to 2^64 - 1.
[[nodiscard]] std::optional<std::uint64_t> to_unsigned(const Node& node);
/// An unquoted finite decimal number.
[[nodiscard]] std::optional<double> to_double(const Node& node);

/// ``cannot unmarshal !!str `bogus` into bool``: the original's text for a value of the wrong kind.
[[nodiscard]] std::string cannot_unmarshal(const Node& node, std::string_view go_type);

} // namespace yk::config_yaml
