#pragma once
// MemoryTrim: what was freed goes back to the system; the allocator keeps it for later, and most of it is of no use
// after a large application has gone. That is done when much was removed, and when memory is short also every second as
// long as it helps, since `maxMemory` is about what the process has. It stops who allocates meanwhile (for about 100 ms
// when a million small pieces were freed), so it is done no more often.
//
// Owner: Daemon. Thread: take() on one, run() on any.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "ykd/runtime/clock.h"

namespace yk::service {

class MemoryTrim {
public:
    /// Whether it is time, and none is under way: then run() must follow, once. `held`: about what all RMs have, in
    /// bytes.
    [[nodiscard]] bool take(bool short_of_memory, std::uint64_t held, SteadyClock::time_point now);
    /// `most`: maxMemory in bytes; less than a twentieth of that is not worth it when memory is short.
    void run(std::uint64_t most);

private:
    std::uint64_t held_most_ = 0; // since the last take() for that reason
    SteadyClock::time_point next_calm_{}, next_short_{};
    std::atomic<bool> taken_{false}; // who has it may touch the two below
    bool short_ = false;             // why it was taken
    SteadyClock::duration interval_ = std::chrono::seconds{1};
};

} // namespace yk::service
