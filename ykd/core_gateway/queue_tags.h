// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tags of an application that set limits of the dynamic leaf it is placed in (C-237). Resource tags hold JSON,
// which the core does not know, so they are parsed before it gets them.

#include <optional>
#include <string_view>

#include "protocol/si/messages.h"

namespace yk {

inline constexpr std::string_view kQuotaTag = "namespace.resourcequota";
inline constexpr std::string_view kGuaranteedTag = "namespace.resourceguaranteed";
inline constexpr std::string_view kMaxAppsTag = "namespace.resourcemaxapps";

/// Parses `{"resources":{"vcore":{"value":111}}}`, amounts in base units. nullopt: the text is not of this form, or no
/// amount is above 0.
[[nodiscard]] std::optional<si::Resources> parse_resource_tag(std::string_view json);
/// Parses an unsigned decimal number; nullopt: it is none, or 0.
[[nodiscard]] std::optional<std::uint64_t> parse_count_tag(std::string_view text);

} // namespace yk
