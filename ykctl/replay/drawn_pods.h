// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pods drawn from a trace, by the experiment of "Beware of Fragmentation" (section 4 of
// docs/spec/devices-fragmentation.md): they arrive one by one and stay; one that finds no place is gone at once.

#include <cstdint>
#include <string>
#include <vector>

#include "ykctl/replay/curves.h"
#include "ykctl/replay/session.h"

namespace yk::replay {

/// All pods of the trace, shuffled, then any of them again and again, until the next one would ask for more GPUs than
/// kMostArrived.
[[nodiscard]] std::vector<TracePod> drawn(const Trace& trace, std::uint64_t seed);
/// Has the daemon place such pods on the nodes of the trace. It has to be one that schedules on request only.
/// `node_order`: see Session::open(). Returns what was in use after each per cent of the GPUs that was asked for.
[[nodiscard]] wire::CallResult<std::vector<CurvePoint>>
play_drawn(Session& session, const Trace& trace, const std::vector<TracePod>& pods, const std::string& node_order);

} // namespace yk::replay
