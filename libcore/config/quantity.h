// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quantities of configuration text and the text form of resource maps (C-020 to C-025, S-030 to S-032).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/config/config.h"

namespace yk::config {

/// The one resource type whose unit is a thousandth: quantities without `m` are multiplied by 1000 (C-022).
inline constexpr std::string_view kVcore = "vcore";

/// The value of `text` for resource type `type`, in base units (milli-cores for vcore): 0 to 2^63 - 1.
/// Errors: `invalid quantity`, `invalid suffix`, `invalid quantity: overflow` (C-024), each followed by the text in
/// question and what would be right; `where` is empty.
[[nodiscard]] Result<std::int64_t> parse_quantity(std::string_view type, std::string_view text);

/// The shortest text without a multiplier that parse_quantity() turns into `value` again: `2000`, and for vcore `2` or
/// `1500m`. `value` is not negative.
[[nodiscard]] std::string quantity_text(std::string_view type, std::int64_t value);

/// As a person would write it, and exact: memory with the suffix that makes it shortest (`32Gi`, `600G`). `value` is
/// not negative.
[[nodiscard]] std::string written_quantity(std::string_view type, std::int64_t value);
/// `{memory: 32Gi, vcore: 1500m}`, types sorted by name.
[[nodiscard]] std::string written_resource(const ResourceMap& resource);

/// `map[memory:10 vcore:5]` in base units, types sorted by name; `map[]` when empty (S-032).
[[nodiscard]] std::string resource_text(const ResourceMap& resource);
/// As above; `nil resource` when absent.
[[nodiscard]] std::string resource_text(const std::optional<ResourceMap>& resource);

} // namespace yk::config
