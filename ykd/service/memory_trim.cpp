#include "ykd/service/memory_trim.h"

#include <algorithm>

#include <malloc.h>

#include "ykd/service/memory_guard.h"

namespace yk::service {
namespace {

constexpr std::uint64_t kCalmSlack = std::uint64_t{32} << 20; // the program itself, and what a busy minute needs again

} // namespace

bool MemoryTrim::take(bool short_of_memory, SteadyClock::time_point now) {
    if (taken_.exchange(true)) return false;
    short_ = short_of_memory;
    if (now < pace().next) {
        taken_ = false;
        return false;
    }
    pace().next = now + pace().interval;
    return true;
}

void MemoryTrim::run(std::uint64_t most) {
    const std::uint64_t before = resident_memory();
    const struct mallinfo2 heap = ::mallinfo2();
    const std::uint64_t used = heap.uordblks + heap.hblkhd;
    const std::uint64_t slack = short_ ? most / 20 : std::max(kCalmSlack, used / 4);
    if (before > used + slack) {
        ::malloc_trim(0);
        const bool in_vain = resident_memory() + slack / 5 > before;
        pace().interval = in_vain ? std::min(2 * pace().interval, pace().longest) : pace().shortest;
    }
    taken_ = false;
}

} // namespace yk::service
