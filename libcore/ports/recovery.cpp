// SPDX-License-Identifier: Apache-2.0
#include "libcore/ports/recovery.h"

#include <array>

namespace yk {

namespace {

constexpr std::array<std::string_view, kQuarantineReasons> kReasons{
    // in the order of QuarantineReason
    "APP_UNKNOWN", "NODE_UNKNOWN",   "APP_REJECTED", "QUEUE_INVALID",       "NO_RESOURCE",
    "NEGATIVE",    "DUPLICATE_NODE", "PLACED_TWICE", "PLACEHOLDER_NO_GROUP"};

} // namespace

std::string_view text_of(QuarantineReason reason) noexcept {
    return kReasons[static_cast<std::size_t>(reason)];
}

recovery::Digest RecoveryView::restored(RecoveryKind kind) const {
    recovery::Digest sum;
    for (const auto& [name, partition] : partitions) sum.add(partition.restored[static_cast<std::size_t>(kind)]);
    return sum;
}

std::uint64_t RecoveryView::pending_asks() const {
    std::uint64_t sum = 0;
    for (const auto& [name, partition] : partitions) sum += partition.pending_asks;
    return sum;
}

} // namespace yk
