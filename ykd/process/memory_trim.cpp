// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/memory_trim.h"

#include <algorithm>

#include <malloc.h>

#include "ykd/runtime/clears.h"

namespace yk::service {
namespace {

constexpr std::uint64_t kMuch = std::uint64_t{32} << 20; // bytes worth an attempt

} // namespace

MemoryTrim::MemoryTrim() {
    ::mallopt(M_MMAP_THRESHOLD, 1 << 20); // each of the two also ends the adaption of both limits to what is freed
    ::mallopt(M_TRIM_THRESHOLD, 2 << 20);
}

void MemoryTrim::Pace::tried(SteadyClock::time_point now) {
    next = now + pause;
    pause = std::min(2 * pause, longest);
}

bool MemoryTrim::take(bool short_of_memory, std::uint64_t resident, std::uint64_t held, SteadyClock::time_point now) {
    const std::uint64_t beside = resident - std::min(held, resident);
    least_beside_ = std::min(least_beside_, beside);
    const bool much = beside - least_beside_ > std::max(kMuch, resident / 4);
    if (!much) calm_.pause = calm_.shortest;
    const bool calm_due = much && now >= calm_.next, short_due = short_of_memory && now >= short_.next;
    if (!(calm_due || short_due) || taken_.exchange(true)) return false;
    if (calm_due) {
        if (calm_.pause == calm_.longest) least_beside_ = beside; // it does not shrink, so it is in use
        calm_.tried(now);
    }
    if (short_due) {
        if (resident + resident / 100 < resident_before_) short_.pause = short_.shortest;
        resident_before_ = resident;
        short_.tried(now);
    }
    return true;
}

void MemoryTrim::run() {
    const Clears at_the_end{taken_};
    ::malloc_trim(0);
}

} // namespace yk::service
