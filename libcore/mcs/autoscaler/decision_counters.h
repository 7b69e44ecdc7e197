// SPDX-License-Identifier: Apache-2.0
#pragma once
// DecisionCounters: how often the Autoscaler decided for more, for fewer and for as many replicas, and what decided
// (rs R-152). A decision that could not be written counts again when it is made again.
//
// Owner: Autoscaler. Thread: its owner's.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "libcore/mcs/scaling/evaluate.h"

namespace yk::mcs {

class DecisionCounters {
public:
    struct Line {
        std::string_view direction; // up, down, none
        std::string_view reason;    // name_of(Decision)
        std::uint64_t count = 0;
    };

    void add(std::int64_t before, std::int64_t after, Decision decision) {
        const std::size_t direction = after > before ? 0 : after < before ? 1 : 2;
        ++counts_.at(direction).at(static_cast<std::size_t>(decision));
    }
    /// Those that were made at least once.
    [[nodiscard]] std::vector<Line> lines() const {
        constexpr std::array<std::string_view, 3> kDirections{"up", "down", "none"};
        std::vector<Line> lines;
        for (std::size_t direction = 0; direction < counts_.size(); ++direction)
            for (std::size_t decision = 0; decision < kDecisions; ++decision)
                if (const std::uint64_t count = counts_.at(direction).at(decision); count > 0)
                    lines.push_back({kDirections.at(direction), name_of(static_cast<Decision>(decision)), count});
        return lines;
    }

private:
    static constexpr std::size_t kDecisions = static_cast<std::size_t>(Decision::Unreadable) + 1;

    std::array<std::array<std::uint64_t, kDecisions>, 3> counts_{};
};

} // namespace yk::mcs
