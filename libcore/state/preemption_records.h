// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a partition remembers of preemption: which allocations are being released for which ask, which asks wait for
// their victims, and how attempts ended (P-024, P-072, P-079). Side tables, so that allocations without preemption pay
// nothing.
//
// Owner: PartitionState. Thread: the partition's owner. Changed by VictimMarks, Cycle and Planner only.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/model/ids.h"
#include "libcore/state/preemption_attempt.h"

namespace yk {

struct PreemptionRecords {
    /// A victim that is announced and not released yet. Its share of Queue::preempting is its size, so a resize changes
    /// both.
    struct Mark {
        AllocationId ask{}; // none: a quota, or an ask that waits no more
        Instant at;
    };
    /// An ask that has triggered and holds the reservation for it.
    struct Trigger {
        std::vector<AllocationId> victims; // not released yet
        std::uint64_t chosen = 0;          // with those that are released
        std::uint64_t token = 0;
    };
    struct LogEntry {
        PreemptionResult result{};
        std::uint32_t count = 0;
        Instant last;
    };

    std::map<AllocationId, Mark> marks;
    std::map<AllocationId, Trigger> triggers;
    std::map<AllocationId, std::vector<LogEntry>> logs;     // by ask
    std::map<AllocationId, PreemptionAttempt> attempts;     // the last one of each ask
    std::map<AllocationId, Instant> no_victim_emitted;      // the last event of each ask (P-097)
    std::map<std::uint32_t, std::deque<GroupId>> exhausted; // by leaf: groups that wait for its budget (P-022)
    std::uint64_t cycle = 0;
    std::optional<Instant> next_cycle;  // a timer is set that begins one by then
    std::optional<Instant> quota_timer; // when quotas are looked at next (P-110)

    void log(AllocationId ask, PreemptionResult result, Instant now) noexcept;
    [[nodiscard]] bool knows_asks() const noexcept {
        return !logs.empty() || !no_victim_emitted.empty() || !attempts.empty();
    }
    /// Drops what is kept for people about an ask that is placed or removed.
    void forget(AllocationId ask) noexcept;
};

} // namespace yk
