// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reservation: keeps a node free for one ask (S-105, S-400). Made and dropped by
// changes/reservations.cpp only, which also changes the four objects that know of it: ask, application, node, leaf
// queue.

#include "libcore/base/time.h"
#include "libcore/model/ids.h"

namespace yk {

struct Reservation {
    AllocationId ask{};
    ApplicationId application{};
    NodeId node{};
    Instant since;
    std::uint64_t sequence = 0; // grows with each one made; the oldest is tried first (S-410)
    bool stalled = false;       // known not to be fulfilled until something changes
    bool by_headroom = false;   // stalled because a headroom does not allow it

    [[nodiscard]] std::uint64_t generation() const noexcept { return sequence; }
};

} // namespace yk
