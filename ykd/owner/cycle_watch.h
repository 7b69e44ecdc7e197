// SPDX-License-Identifier: Apache-2.0
#pragma once
// CycleWatch: measures how long cycles and the parts of cycles take: from the end of one part to the end of the next,
// which costs one reading of the clock for each. Stages are measured in one of kSampled cycles only, since two readings
// of the clock for each stage would slow every cycle down.
//
// Owner: RmOwner. Thread: the owner thread of the RM.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "libcore/ports/cycle.h"
#include "ykd/runtime/clock.h"
#include "ykd/runtime/tally.h"

namespace yk {

class CycleWatch final : public CycleObserver {
public:
    static constexpr std::uint32_t kSampled = 16;

    void start() { last_ = cycle_start_ = SteadyClock::now(); }
    void partition_done() override {
        const auto now = SteadyClock::now();
        partitions_.observe(now - last_);
        last_ = now;
    }
    bool wants_stages() override { return seen_++ % kSampled == 0; }
    void begin(Stage stage) override { begun_[static_cast<std::size_t>(stage)] = SteadyClock::now(); }
    void end(Stage stage) override {
        const auto at = static_cast<std::size_t>(stage);
        stages_[at].observe(SteadyClock::now() - begun_[at]);
    }
    void cycle_done() {
        cycles_.observe(last_ - cycle_start_);
        cycle_start_ = last_;
    }
    /// Adds what was measured since the last call to `into`.
    void take(Tally& into) {
        into.cycles.add(std::exchange(cycles_, {}));
        into.partitions.add(std::exchange(partitions_, {}));
        for (std::size_t i = 0; i < stages_.size(); ++i) into.stages[i].add(std::exchange(stages_[i], {}));
    }

private:
    SteadyClock::time_point last_, cycle_start_;
    Histogram cycles_, partitions_;
    std::uint32_t seen_ = 0;
    std::array<SteadyClock::time_point, kStages> begun_{};
    std::array<Histogram, kStages> stages_;
};

} // namespace yk
