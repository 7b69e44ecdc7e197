// SPDX-License-Identifier: Apache-2.0
#pragma once
// W11: applications whose placeholders are placed, replaced by real asks and finished. Levels core and order.

#include <cstdint>
#include <memory>

#include "libcore/base/result.h"
#include "tests/bench/cases/placing.h"
#include "tests/bench/measure/isolate.h"

namespace yk::bench {

struct GangParameters {
    std::uint32_t nodes = 5000;
    std::uint32_t applications = 1000;
    std::uint32_t members = 100; // placeholders, and as many real asks
};

/// One gang workload with what the core makes of it; level order commits the same placements and swaps with ask, node
/// and placeholder known. Timed: the cycles, or the commits; not the RM's requests and confirmations in between.
class GangRun {
public:
    explicit GangRun(const GangParameters& parameters) : p_(parameters) {}
    [[nodiscard]] Result<void> record();
    /// REQUIRES: record() succeeded. Sample: `placed` placeholders and real asks.
    [[nodiscard]] Result<Sample> run(Level level) const;

private:
    struct Step {
        std::uint32_t ask;
        std::uint32_t placeholder; // that it takes the place of; a placeholder: itself
        std::uint32_t node;
    };
    class Player;

    GangParameters p_;
    std::unique_ptr<Shared<Step>> steps_;
};

} // namespace yk::bench
