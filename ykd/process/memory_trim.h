// SPDX-License-Identifier: Apache-2.0
#pragma once
// MemoryTrim: returns freed memory to the system. The allocator keeps freed memory for later, and most of it is of no
// use after a large application, a large message or a resource manager was removed. It is returned when the process has
// much more memory beside what the RMs hold than it had; and while memory is short also as long as that helps, since
// `maxMemory` limits what the process has. Threads that allocate meanwhile are blocked (for about 100 ms after a
// million small blocks were freed), so the pauses between attempts grow while they are in vain, and are short again
// when the RMs have let go of most that they held.
//
// Owner: Daemon. Thread: take() on one, run() on any.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "ykd/runtime/clock.h"

namespace yk::service {

class MemoryTrim {
public:
    /// Makes the allocator return large blocks at once; by itself, after the first large message, it keeps up to 64 MiB
    /// for each thread, also at malloc_trim().
    MemoryTrim();

    /// Whether memory is to be returned now, and no run() is under way; if so, run() must be called once. `own`: the
    /// bytes that the process has (own_memory()); `held`: about how many of them the RMs hold.
    [[nodiscard]] bool take(bool short_of_memory, std::uint64_t own, std::uint64_t held, SteadyClock::time_point now);
    /// Returns the memory; takes up to some 100 ms.
    void run();

private:
    /// When the next attempt is made: after twice the former pause, up to the longest.
    struct Pace {
        std::chrono::seconds shortest, longest, pause = shortest;
        SteadyClock::time_point next{};

        void tried(SteadyClock::time_point now);
    };

    Pace calm_{std::chrono::seconds{10}, std::chrono::seconds{160}},
        short_{std::chrono::seconds{1}, std::chrono::seconds{8}};
    std::uint64_t least_beside_ = UINT64_MAX; // the RMs: the least seen, in bytes
    std::uint64_t most_held_ = 0;             // since they last let go of much
    std::uint64_t own_before_ = 0;            // the last attempt while memory was short
    std::atomic<bool> taken_{false};          // run() is under way or about to be
};

} // namespace yk::service
