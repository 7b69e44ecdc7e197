// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes that the budget of the RM counts for the names of one object of a partition.

#include <cstdint>

#include "libcore/state/partition_state.h"

namespace yk {

/// Without the names that the object shares with others: those are counted where they are stored.
[[nodiscard]] std::uint64_t bytes_of(const Node& node);
[[nodiscard]] std::uint64_t bytes_of(const Application& application);

} // namespace yk
