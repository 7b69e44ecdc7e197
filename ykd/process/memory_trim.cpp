// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/memory_trim.h"

#include <algorithm>

#include <malloc.h>

#include "ykd/runtime/clears.h"

namespace yk::service {
namespace {

constexpr std::uint64_t kMuch = std::uint64_t{20} << 20; // bytes worth an attempt

} // namespace

MemoryTrim::MemoryTrim() {
    ::mallopt(M_MMAP_THRESHOLD, 1 << 20); // each of the two also ends the adaption of both limits to what is freed
    ::mallopt(M_TRIM_THRESHOLD, 2 << 20);
}

void MemoryTrim::Pace::tried(SteadyClock::time_point now) {
    next = now + pause;
    pause = std::min(2 * pause, longest);
}

bool MemoryTrim::take(bool short_of_memory, std::uint64_t own, std::uint64_t held, SteadyClock::time_point now) {
    const std::uint64_t beside = own - std::min(held, own);
    least_beside_ = std::min(least_beside_, beside);
    const bool much = beside - least_beside_ > std::max(kMuch, own / 4);
    most_held_ = std::max(most_held_, held);
    const bool let_go = most_held_ - held > std::max(kMuch, most_held_ / 2); // work that comes and goes is less
    if (!much || let_go) calm_.pause = calm_.shortest;
    if (let_go) {
        most_held_ = held;
        calm_.next = std::min(calm_.next, now + calm_.shortest);
    }
    const bool calm_due = much && now >= calm_.next, short_due = short_of_memory && now >= short_.next;
    if (!(calm_due || short_due) || taken_.exchange(true)) return false;
    if (calm_due) {
        if (calm_.pause == calm_.longest) least_beside_ = beside; // it does not shrink, so it is in use
        calm_.tried(now);
    }
    if (short_due) {
        if (own + own / 100 < own_before_) short_.pause = short_.shortest;
        own_before_ = own;
        short_.tried(now);
    }
    return true;
}

void MemoryTrim::run() {
    const Clears at_the_end{taken_};
    ::malloc_trim(0);
}

} // namespace yk::service
