#include "ykd/runtime/clock.h"

namespace yk {
namespace {

struct Anchor {
    std::chrono::system_clock::time_point wall = std::chrono::system_clock::now();
    SteadyClock::time_point steady = SteadyClock::now();
};

const Anchor& anchor() {
    static const Anchor kAtStart;
    return kAtStart;
}

} // namespace

Instant real_now() {
    const Anchor& start = anchor();
    const Duration since = SteadyClock::now() - start.steady;
    const Duration wall = start.wall.time_since_epoch();
    return Instant{(wall + since).count()};
}

} // namespace yk
