// SPDX-License-Identifier: Apache-2.0
#pragma once
// PollPace: when a change log is asked again: at once when it has more, soon after it had something, and ever more
// rarely while it has nothing. Whoever knows of a commit says so by wake(), and waits for no pause (rs R-039). A value;
// no clock.

#include <algorithm>

#include "libcore/resource_state/backoff.h"

namespace yk::rs {

class PollPace {
public:
    /// Pauses from `base`, each twice as long as the one before, up to `most`.
    explicit PollPace(const BackoffRange& pauses) : pauses_(pauses), pause_(pauses.base) {}

    [[nodiscard]] Instant next() const { return next_; }
    void wake() {
        next_ = {};
        is_woken_ = true;
    }
    /// The log is being asked.
    void begin() { is_woken_ = false; }
    /// It has answered. A wake() meanwhile may be for what came after the answer, so it is asked once more.
    void ended(bool had_events, bool has_more, Instant now) {
        pause_ = had_events || is_woken_ ? pauses_.base : std::min(2 * pause_, pauses_.most);
        next_ = has_more || is_woken_ ? now : now + pause_;
    }

private:
    const BackoffRange pauses_;
    Duration pause_;
    Instant next_;
    bool is_woken_ = false;
};

} // namespace yk::rs
