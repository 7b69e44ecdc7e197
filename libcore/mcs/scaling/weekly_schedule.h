// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a weekly schedule says at a moment. The week is that of UTC and begins on Monday (rs R-110).

#include <cstddef>
#include <optional>
#include <span>

#include "libcore/base/time.h"
#include "libcore/mcs/scaling/scaling_policy.h"

namespace yk::mcs {

/// The entry that began last at the time `wall` of the calendar, before midnight or last week if need be; of several
/// that began together the one with the most replicas. nullopt: the schedule is empty.
[[nodiscard]] std::optional<std::size_t> entry_at(std::span<const ScheduleEntry> schedule, Instant wall);

} // namespace yk::mcs
