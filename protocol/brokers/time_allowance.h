// SPDX-License-Identifier: Apache-2.0
#pragma once
// TimeAllowance: what several questions to a broker may take together. Each has a limit of its own, but a broker that
// answers all of them slowly would keep a thread with other work for as long as their sum.

#include <algorithm>

#include "libcore/base/time.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::rs {

class TimeAllowance {
public:
    /// The next questions take no longer than this together. Before the first call there is no such limit.
    void begin(Duration all) { until_ = SteadyClock::now() + SteadyClock::duration{all}; }
    /// The limit of the next one, which at other times is `most`. Never nothing, since some would wait for ever then.
    [[nodiscard]] Duration left(Duration most) const {
        if (until_ == SteadyClock::time_point::max()) return most;
        return std::clamp(Duration{until_ - SteadyClock::now()}, std::min(kLeast, most), most);
    }

private:
    static constexpr Duration kLeast = std::chrono::milliseconds{10};

    SteadyClock::time_point until_ = SteadyClock::time_point::max();
};

} // namespace yk::rs
