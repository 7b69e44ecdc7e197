// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run of a reconciler's pass over a cache: it looks at some entries, and the next run goes on where it stopped, so
// that no run takes long, however much is in the cache (rs R-105).

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace yk::mcs {

struct PassLimits {
    std::size_t entries = 10'000; // that one run looks at
    std::size_t findings = 1'000; // that one run repairs; whoever repairs counts it down
};

/// look(const T&) for entries from `next` on; each has one finding at most. True: the end was reached, and the next
/// call begins anew.
template <class Cache, class Look>
[[nodiscard]] bool look_through(const Cache& cache, std::uint32_t& next, PassLimits& left, Look&& look) {
    while (left.entries > 0 && left.findings > 0 && next < cache.end()) {
        const std::size_t most = std::min(left.entries, left.findings);
        next = cache.for_each_from(next, most, [&](const auto& object) {
            --left.entries;
            look(*object);
        });
    }
    if (next < cache.end()) return false;
    next = 0;
    return true;
}

/// What came of one type of finding since the start (rs R-106).
struct FindingCounters {
    std::uint64_t found = 0;
    std::uint64_t repaired = 0; // the write succeeded
};

} // namespace yk::mcs
