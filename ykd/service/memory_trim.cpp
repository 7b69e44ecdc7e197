#include "ykd/service/memory_trim.h"

#include <algorithm>

#include <malloc.h>

#include "ykd/runtime/clears.h"
#include "ykd/service/memory_guard.h"

namespace yk::service {
namespace {

using std::chrono::seconds;
constexpr SteadyClock::duration kCalmInterval = seconds{10}, kShortest = seconds{1}, kLongest = seconds{8};
constexpr std::uint64_t kMuch = std::uint64_t{32} << 20;

} // namespace

bool MemoryTrim::take(bool short_of_memory, std::uint64_t held, SteadyClock::time_point now) {
    held_most_ = std::max(held_most_, held);
    const bool much_went = held_most_ - held > std::max(kMuch, held_most_ / 4) && now >= next_calm_;
    if (!much_went && !(short_of_memory && now >= next_short_)) return false;
    if (taken_.exchange(true)) return false;
    short_ = !much_went;
    next_short_ = now + interval_;
    if (much_went) {
        held_most_ = held;
        next_calm_ = now + kCalmInterval;
    }
    return true;
}

void MemoryTrim::run(std::uint64_t most) {
    const Clears at_the_end{taken_};
    if (short_) {
        const std::uint64_t before = resident_memory();
        const struct mallinfo2 heap = ::mallinfo2();
        if (before > heap.uordblks + heap.hblkhd + most / 20) ::malloc_trim(0);
        const bool gained = resident_memory() + most / 100 < before;
        interval_ = gained ? kShortest : std::min(2 * interval_, kLongest);
    } else {
        ::malloc_trim(0);
    }
}

} // namespace yk::service
