#pragma once
// MemoryTrim: what was freed goes back to the system; the allocator keeps it for later, and most of it is of no use
// after a large application, a large message or a resource manager has gone. That is done when the process has much
// more beside what the RMs hold than it had, and when memory is short also as long as it helps, since `maxMemory` is
// about what the process has. It stops who allocates meanwhile (for about 100 ms when a million small pieces were
// freed), so it is done ever more seldom while it is in vain.
//
// Owner: Daemon. Thread: take() on one, run() on any.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "ykd/runtime/clock.h"

namespace yk::service {

class MemoryTrim {
public:
    /// Tells the allocator to hand large pieces back at once; by itself it comes to keep up to 64 MiB for each thread,
    /// also at malloc_trim(), after the first large message.
    MemoryTrim();

    /// Whether it is time, and none is under way: then run() must follow, once. `resident`: what the process has;
    /// `held`: about what all RMs have of it; both in bytes.
    [[nodiscard]] bool take(bool short_of_memory, std::uint64_t resident, std::uint64_t held,
                            SteadyClock::time_point now);
    void run();

private:
    /// When the same is tried again: after twice the time, up to the longest.
    struct Pace {
        std::chrono::seconds shortest, longest, pause = shortest;
        SteadyClock::time_point next{};

        void tried(SteadyClock::time_point now);
    };

    Pace calm_{std::chrono::seconds{10}, std::chrono::seconds{160}},
        short_{std::chrono::seconds{1}, std::chrono::seconds{8}};
    std::uint64_t least_beside_ = UINT64_MAX; // the RMs: what it went down to
    std::uint64_t resident_before_ = 0;       // the last one for want of memory
    std::atomic<bool> taken_{false};
};

} // namespace yk::service
