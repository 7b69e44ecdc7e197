// SPDX-License-Identifier: Apache-2.0
#pragma once
// SteadyClock: how much time has passed, for whoever waits; in a simulation as the simulator says.

#include <chrono>

#include "protocol/simulation/simulator.h"

namespace yk {

/// The clock of waits, polls, sessions and deadlines: always real time, also with a virtual scheduler clock.
struct SteadyClock {
    using rep = std::chrono::steady_clock::rep;
    using period = std::chrono::steady_clock::period;
    using duration = std::chrono::steady_clock::duration;
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr bool is_steady = true;

    [[nodiscard]] static time_point now() {
        if (const Simulator* const simulated = simulator()) [[unlikely]]
            return simulated->now();
        return std::chrono::steady_clock::now();
    }
};

} // namespace yk
