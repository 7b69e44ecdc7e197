#pragma once
// What keeps an ask from being looked at at all, whatever room there is: its partition, its application's back-off and
// slots, its gang (S-340, G-030). For explanations; the planner's own test is is_considered().

#include <string>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/objects/allocation.h"

namespace yk {

struct PartitionState;
struct UsageNode;

struct Obstacle {
    std::string code, object, text; // as in ExplainReason
    bool limit = false;             // a limit on running applications; else the ask is held
};

[[nodiscard]] std::vector<Obstacle> obstacles_of(const PartitionState& state, const Allocation& ask, Instant now);

/// `user alice`, `group them`.
[[nodiscard]] std::string owner_text(const UsageNode& usage);

} // namespace yk
