// SPDX-License-Identifier: Apache-2.0
#pragma once
// Allocation: an ask and, once placed, the allocation it became: one object, one key (S-110, S-166).
//
// Owner: PartitionContext's slab. Thread: the partition's owner. About a hundred bytes, since a million may wait: what
// equal asks share (size, required node) is in the Shape, tags are interned.
// A pending ask is linked into its AskGroup; a placed one stands in the lists of its application and node.

#include <cstddef>
#include <cstdint>

#include "libcore/base/inline_text.h"
#include "libcore/base/time.h"
#include "libcore/model/ids.h"
#include "libcore/model/tag_sets.h"

namespace yk {

struct Allocation {
    enum Flag : std::uint32_t {
        Placed = 1U << 0,
        Placeholder = 1U << 1,
        Originator = 1U << 2,
        PreemptSelf = 1U << 3,  // allowPreemptSelf
        PreemptOther = 1U << 4, // allowPreemptOther
        Foreign = 1U << 5,
        Static = 1U << 6,           // foreign, never preemptable
        Attempted = 1U << 7,        // S-113 schedulingAttempted
        QueueFailed = 1U << 8,      // the last attempt failed the queue headroom
        QuotaLogged = 1U << 9,      // `Not enough queue quota` is in its log (S-114)
        ScaleUp = 1U << 10,         // reported as outstanding (S-520)
        HasRequest = 1U << 11,      // has a request record
        UserFailed = 1U << 12,      // the last attempt failed the user headroom (C-409)
        UserLogged = 1U << 13,      // `Not enough user quota` is in its log
        Released = 1U << 14,        // the RM was asked to release it; excludes Preempted (S-166)
        Preempted = 1U << 15,       // announced as a victim and not released yet
        InFlight = 1U << 16,        // real half of a replacement: placed, but not yet its application's (G-040)
        PlaceholderUsed = 1U << 17, // replaced a placeholder
        Triggered = 1U << 18,       // pending: victims were chosen for it, it holds the reservation (P-072)
        Checked = 1U << 19,         // pending: `bound` is the time of its last attempt to preempt (P-023)
        Parked = 1U << 20,          // pending: waits for its RM's answer, or for the next round (I-377, I-379)
        Refused = 1U << 21          // and parked: no node is left that its RM has not refused
    };

    InlineText key;
    ApplicationId application{};
    ShapeId shape{};
    // The next 16 bytes share a line of the cache: of the asks beside one that is placed no others are looked at.
    // pending: the neighbours in the group; placed: the positions in the lists of application and node
    union {
        struct {
            std::uint32_t previous;
            std::uint32_t next;
        } pending;
        struct {
            std::uint32_t in_application;
            std::uint32_t on_node;
        } placed;
    } links{{Id<Allocation>::kNone, Id<Allocation>::kNone}};
    ReservationId reservation{}; // pending only
    std::uint32_t flags = 0;

    GroupId group{}; // pending only
    NodeId node{};   // placed only
    std::int32_t priority = 0;
    std::uint32_t task_group = 0; // text id, 0: none
    Instant created;              // as the RM declares it, else when it came (S-110)
    Instant bound;                // placed: since when; pending and Checked: the last attempt to preempt
    std::uint64_t arrival = 0;    // its number in the order of arrival (S-223)
    TagSetId tags{};
    AllocationId partner{}; // the other half of a replacement in flight (G-034)

    [[nodiscard]] std::uint64_t generation() const noexcept { return arrival; }
    [[nodiscard]] bool is(Flag flag) const noexcept { return (flags & flag) != 0; }
    void mark(Flag flag, bool on = true) noexcept {
        flags = on ? flags | flag : flags & ~static_cast<std::uint32_t>(flag);
    }
};
static_assert(offsetof(Allocation, links) % 16 == 0 && sizeof(Allocation) % 16 == 0, "see above links");

/// The order of asks within an application: priority, age, arrival (S-223).
struct AskOrder {
    std::int32_t priority = 0; // higher first
    Instant created;
    std::uint64_t arrival = 0;

    friend bool operator<(const AskOrder& a, const AskOrder& b) noexcept {
        if (a.priority != b.priority) return a.priority > b.priority;
        if (a.created != b.created) return a.created < b.created;
        return a.arrival < b.arrival;
    }
};

[[nodiscard]] inline AskOrder order_of(const Allocation& ask) noexcept {
    return {ask.priority, ask.created, ask.arrival};
}

} // namespace yk
