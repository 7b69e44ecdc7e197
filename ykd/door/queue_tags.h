#pragma once
// The tags of an application that set limits of its dynamic leaf (C-237). They hold JSON, which the core does not know.

#include <optional>
#include <string_view>

#include "protocol/si/messages.h"

namespace yk {

inline constexpr std::string_view kQuotaTag = "namespace.resourcequota";
inline constexpr std::string_view kGuaranteedTag = "namespace.resourceguaranteed";
inline constexpr std::string_view kMaxAppsTag = "namespace.resourcemaxapps";

/// `{"resources":{"vcore":{"value":111}}}`, base units. nullopt: it is not of this form, or not positive.
[[nodiscard]] std::optional<si::Resources> parse_resource_tag(std::string_view json);
/// Unsigned decimal above 0.
[[nodiscard]] std::optional<std::uint64_t> parse_count_tag(std::string_view text);

} // namespace yk
