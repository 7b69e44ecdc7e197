// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecoveryKind: the kinds of objects of which an RM and the core say how many they have, and one digest for
// each of them (interface.md 3.4).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/digest/recovery_digest.h"

namespace yk {

/// What is counted and compared. Pending asks are counted only.
enum class RecoveryKind : std::uint8_t { Nodes, Applications, Allocations };
inline constexpr std::array kRecoveryKinds{RecoveryKind::Nodes, RecoveryKind::Applications, RecoveryKind::Allocations};

/// `nodes`, `applications`, `allocations`.
[[nodiscard]] std::string_view name_of(RecoveryKind kind) noexcept;
/// nullopt: there is no kind of that name.
[[nodiscard]] std::optional<RecoveryKind> find_recovery_kind(std::string_view name) noexcept;

/// One sum for each kind.
using RecoveryDigests = std::array<recovery::Digest, kRecoveryKinds.size()>;

/// Identifies an object of a kind; what the kind does not have is empty.
struct RecoveryItem {
    std::string partition; // short
    std::string node, application, key;
    std::uint64_t hash = 0; // of its line (I-233)
};

} // namespace yk
