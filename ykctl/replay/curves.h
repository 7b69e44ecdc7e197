// SPDX-License-Identifier: Apache-2.0
#pragma once
// Curves: what came of an experiment with a trace, as numbers, tables, JSON and a drawing.

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/wire/value.h"

namespace yk::replay {

/// Shares of all GPUs, once so much was asked for.
struct CurvePoint {
    double allocated = 0;
    double unusable = 0; // idle, and of use to nobody (F-022)
};

/// One policy.
struct Curve {
    std::string policy;
    std::vector<CurvePoint> points; // at 0, 1, 2 ... kMostArrived per cent asked for; of all runs the mean
    double deviation = 0;           // of what is allocated at the end, over the runs
};

inline constexpr std::size_t kMostArrived = 130; // per cent of the GPUs

struct Experiment {
    std::uint64_t nodes = 0;
    std::int64_t gpus = 0;
    std::int64_t seed = 0, runs = 0; // with this seed and those after it
    bool is_learnt = false;          // what is expected; else it is that of the trace
    std::vector<Curve> curves;
};

/// The mean of several runs of one policy.
[[nodiscard]] Curve curve_of(const std::string& policy, const std::vector<std::vector<CurvePoint>>& runs);

[[nodiscard]] std::string experiment_text(const Experiment& experiment);
[[nodiscard]] wire::Value experiment_value(const Experiment& experiment);
/// What is allocated against what was asked for, as a drawing.
[[nodiscard]] std::string experiment_svg(const Experiment& experiment);

} // namespace yk::replay
