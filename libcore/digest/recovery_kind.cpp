// SPDX-License-Identifier: Apache-2.0
#include "libcore/digest/recovery_kind.h"

namespace yk {

namespace {

constexpr std::array<std::string_view, kRecoveryKinds.size()> kKinds{"nodes", "applications", "allocations"};

} // namespace

std::string_view name_of(RecoveryKind kind) noexcept {
    return kKinds[static_cast<std::size_t>(kind)];
}

std::optional<RecoveryKind> find_recovery_kind(std::string_view name) noexcept {
    for (const RecoveryKind kind : kRecoveryKinds)
        if (name_of(kind) == name) return kind;
    return std::nullopt;
}

} // namespace yk
