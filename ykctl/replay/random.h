// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "libcore/base/check.h"

namespace yk::replay {

/// SplitMix64 with integers only, which gives the same numbers on every machine. The distributions of the standard
/// library do not promise that.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /// A number from 0 to `bound` - 1.
    std::uint64_t below(std::uint64_t bound) {
        YK_ASSUME(bound > 0, "a number below 0 does not exist");
        return next() % bound; // NOLINT(clang-analyzer-core.DivideZero): assumed above
    }

private:
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31U);
    }

    std::uint64_t state_;
};

} // namespace yk::replay
