// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/take_turns.h"

#include "ykd/mcs/transport/mcs_clock.h"

namespace yk::service {
namespace {

constexpr Duration kTurnTime = std::chrono::milliseconds{4};

} // namespace

bool take_turns(rs::StateManager& manager, Instant now) {
    bool has_turned = false;
    for (Instant at = now; at - now < kTurnTime && manager.turn(at); at = steady_instant()) has_turned = true;
    return has_turned;
}

} // namespace yk::service
