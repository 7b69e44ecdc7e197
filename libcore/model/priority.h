// SPDX-License-Identifier: Apache-2.0
#pragma once
// Priorities of requests in different queues, compared. What a queue publishes to the order of its
// parent is Queue::published_priority.
//
// Thread: the owner of the queues. Cost: the depth of the queues.

#include <cstdint>

#include "libcore/model/queue.h"

namespace yk {

/// The priority of a request of `leaf` as seen inside `at`, before the policy of `at` itself: an offset of a queue
/// below adds to it, a fence below replaces it by its offset. Not clamped. REQUIRES: `at` is `leaf` or an ancestor of
/// it.
[[nodiscard]] std::int64_t effective_priority(std::int32_t priority, const Queue& leaf, const Queue& at) noexcept;

/// The deepest queue that both are in; one of them when it is an ancestor of the other.
/// REQUIRES: both belong to one partition.
[[nodiscard]] const Queue& lowest_common_ancestor(const Queue& a, const Queue& b) noexcept;

} // namespace yk
