// SPDX-License-Identifier: Apache-2.0
#pragma once
// What keeps an ask from being tried, whatever is available: a stopped partition, the back-off and running slots of its
// application, its gang (S-340, G-030). For explanations; the planner's own test is is_considered().
//
// Pure: reads the partition. Thread: its owner.

#include <string>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/model/allocation.h"

namespace yk {

struct PartitionState;
struct UsageNode;

struct Obstacle {
    std::string code, object, text; // as in ExplainReason
    bool limit = false;             // true: a limit on running applications; false: the ask is held
};

[[nodiscard]] std::vector<Obstacle> obstacles_of(const PartitionState& state, const Allocation& ask, Instant now);

/// `user alice`, `group them`.
[[nodiscard]] std::string owner_text(const UsageNode& usage);

} // namespace yk
