#pragma once
// Reservation: keeps a node free for one ask (S-105, S-400). Made and dropped in one place
// (scheduler/reservations.cpp), which also changes the four places that know of it: ask, application, node, leaf queue.

#include "libcore/base/time.h"
#include "libcore/objects/ids.h"

namespace yk {

struct Reservation {
    AllocationId ask{};
    ApplicationId application{};
    NodeId node{};
    Instant since;
    std::uint64_t sequence = 0; // S-410: oldest first, made in this order
    bool stalled = false;       // known not to be fulfilled until something changes
    bool by_headroom = false;   // stalled because a headroom does not allow it
};

} // namespace yk
