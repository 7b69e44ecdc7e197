#pragma once
// MemoryTrim: what was freed goes back to the system; the allocator keeps it for later, and most of it is of no use
// after a large application has gone. When memory is short it is looked at every second, since `maxMemory` is about
// what the process has; else every ten seconds, and given back when it is much. It stops who allocates meanwhile (about
// a millisecond for 10 MB that go back), so it is done less often after it was in vain.
//
// Owner: Daemon. Thread: take() on any, run() on the one that follows it.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "ykd/runtime/clock.h"

namespace yk::service {

class MemoryTrim {
public:
    /// Whether it is time for a look, and none is under way: then run() must follow, once.
    [[nodiscard]] bool take(bool short_of_memory, SteadyClock::time_point now);
    /// Looks, and gives back what is more than a part of what is in use; of `most` bytes (`maxMemory`) when it is
    /// short.
    void run(std::uint64_t most);

private:
    struct Pace {
        SteadyClock::duration shortest, longest, interval = shortest;
        SteadyClock::time_point next{};
    };
    [[nodiscard]] Pace& pace() noexcept { return short_ ? when_short_ : when_calm_; }

    std::atomic<bool> taken_{false}; // who has it may touch the others
    bool short_ = false;             // of the look under way
    Pace when_short_{std::chrono::seconds{1}, std::chrono::seconds{8}};
    Pace when_calm_{std::chrono::seconds{10}, std::chrono::minutes{10}};
};

} // namespace yk::service
