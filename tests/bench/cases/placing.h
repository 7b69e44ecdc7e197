// SPDX-License-Identifier: Apache-2.0
#pragma once
// Levels core, order and floor: everything is asked for at once, then placed.

#include <functional>
#include <memory>
#include <string>

#include "libcore/base/result.h"
#include "tests/bench/measure/isolate.h"
#include "tests/bench/measure/measure.h"
#include "tests/bench/workloads/workload.h"

namespace yk::bench {

using MakeWorkload = std::function<Workload()>;

enum class Level { Core, Order, Floor, Wire };

/// When the first cycle files the nodes in their order: in the time that is measured, or before it, as in a daemon
/// where they have been for long.
enum class Filing { Measured, Before };

[[nodiscard]] std::string name_of(Level level);

/// One workload with the sequence of placements that the core makes of it; order and floor commit the same sequence
/// with ask and node known.
class Placing {
public:
    explicit Placing(MakeWorkload make, Filing filing = Filing::Measured) : make_(std::move(make)), filing_(filing) {}
    /// Plays the workload once and notes every placement. Error: how the process ended.
    [[nodiscard]] Result<void> record();
    /// REQUIRES: record() succeeded; a level other than Wire.
    [[nodiscard]] Result<Sample> run(Level level) const;
    [[nodiscard]] std::uint32_t placed() const { return placed_; }
    [[nodiscard]] std::uint32_t asked() const { return asked_; }

private:
    struct Placement {
        std::uint32_t ask;
        std::uint32_t node;
    };
    class Recorder;
    [[nodiscard]] Sample run_core() const;
    [[nodiscard]] Sample run_known(Level level) const;

    MakeWorkload make_;
    Filing filing_; // of level core
    std::unique_ptr<Shared<Placement>> sequence_;
    std::uint32_t placed_ = 0;
    std::uint32_t asked_ = 0;
};

} // namespace yk::bench
