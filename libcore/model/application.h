// SPDX-License-Identifier: Apache-2.0
#pragma once
// Application: its asks, allocations, totals and state (S-102).
//
// Owner: PartitionContext's slab. Thread: the partition's owner. Changed by PartitionContext only; the totals follow
// S-180 and are verified by check_partition().

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/list_slot.h"
#include "libcore/model/application_state.h"
#include "libcore/model/ask_group.h"
#include "libcore/model/gang.h"
#include "libcore/model/group_lists.h"
#include "libcore/resources/share.h"
#include "libcore/resources/sum.h"

namespace yk {

class Queue;

struct Application {
    explicit Application(Slab<AskGroup>& slab) : groups(GroupTraits{&slab}) {}

    std::string id;
    std::string user;
    std::vector<std::pair<std::string, std::string>> tags;
    Queue* queue = nullptr;
    std::uint32_t queue_position = 0; // in the leaf's list of applications

    ApplicationState state = ApplicationState::New;
    std::vector<std::pair<Instant, ApplicationState>> state_log; // every state entered (I-720)
    Instant submitted;                                           // or earlier: its oldest ask (S-103)
    std::optional<Instant> started;
    std::optional<Instant> finished;
    std::uint64_t timer = 0; // the state timer that counts; 0: none (S-150)

    Sum pending;     // the sums are the Ledger's
    Sum allocated;   // real allocations
    Sum placeholder; // placeholder allocations
    Sum peak;        // the most that either has been (S-184)
    Resource placeholder_ask;
    GroupIndex groups;
    std::uint32_t pending_asks = 0;
    std::uint32_t tried_asks = 0;    // of them: those that a cycle has tried (S-113)
    std::uint32_t reported_asks = 0; // of these: reported as outstanding (S-520)
    std::uint32_t answered = 0;      // of those pending: with an answer of the RM that was not looked at yet (I-377)
    std::vector<AllocationId> allocations;
    std::uint32_t placeholders = 0;          // among them
    std::vector<ReservationId> reservations; // oldest first
    Gang gang;

    // order in the leaf (S-212)
    IndexSlot slot{};
    Shares usage; // as last filed in the order (S-213)
    ListSlot dirty{};
    bool allocating_accepted = false;     // in the sets of S-262
    bool runnable_in_queue = true;        // as last emitted (S-265)
    std::optional<Instant> backoff_until; // the last deadline (S-345)
    bool backing_off = false;             // until then
    bool tried_this_cycle = false;        // tried in this cycle, with back-off (S-345)

    // what its user and group use (config.md section 13); linked when it gets its first ask or allocation
    const GroupList* user_groups = nullptr; // of GroupLists
    UsageNodeId user_usage{};
    UsageNodeId group_usage{};       // none: no group tracking (C-403)
    bool in_running_set = false;     // of its user and group (C-406)
    bool runnable_by_quota = true;   // as last emitted (S-265)
    UsageNodeId held_at{};           // the limit that does not let it run now (C-410)
    std::uint32_t held_position = 0; // in that node's list

    // resource-seconds (S-033): instance type -> used, preempted, placeholder
    std::map<std::string, std::array<Resource, 3>, std::less<>> seconds;

    /// The priority of its first ask; the lowest value when none is pending (S-222).
    [[nodiscard]] std::int32_t ask_priority() const noexcept {
        const AskOrder* first = groups.front();
        return first != nullptr ? first->priority : INT32_MIN;
    }
    /// Whether maxApplications of its queues holds it back unless a slot is free (S-260, S-261).
    [[nodiscard]] bool needs_slot() const noexcept {
        return state == ApplicationState::Accepted && !allocating_accepted;
    }
    /// Whether the limit of running applications of its user and group may hold it back (C-410).
    [[nodiscard]] bool needs_user_slot() const noexcept {
        return state == ApplicationState::Accepted && !in_running_set;
    }
};

/// How many asks and allocations it has.
[[nodiscard]] inline std::size_t objects_of(const Application& application) noexcept {
    return application.pending_asks + application.allocations.size();
}
/// Whether a snapshot that shows at most `most` objects of one application shows those of this one. 0: of none.
[[nodiscard]] inline bool is_within(const Application& application, std::size_t most) noexcept {
    return most > 0 && objects_of(application) <= most;
}

} // namespace yk
