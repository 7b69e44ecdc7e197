// SPDX-License-Identifier: Apache-2.0
#pragma once
// QuotaPreemption: when a queue is due to give back what it uses above its max, and the run that preempts it (section
// 3.10 of docs/spec/preemption-gang-priority.md, C-383 to C-386). Which victims: preemption/quota.h.
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/victim_marks.h"
#include "libcore/state/partition_state.h"

namespace yk {

class QuotaPreemption {
public:
    QuotaPreemption(PartitionState& state, VictimMarks& victim_marks) : state_(state), victim_marks_(victim_marks) {}
    QuotaPreemption(const QuotaPreemption&) = delete;
    QuotaPreemption& operator=(const QuotaPreemption&) = delete;

    /// A configuration was applied: the queue becomes due after its delay, or is not due any more (P-101). The root
    /// becomes due by forced() only.
    void configured(Queue& queue, const Limit& before, Duration delay_before, Instant now) noexcept;
    /// Usage of the leaf grew by what the RM reported: queues that are above their max now become due (P-102).
    void forced(Queue& leaf, Instant now) noexcept;
    /// The timer: looks at all queues and preempts in those that are due (P-110).
    void check(Instant now) noexcept;

private:
    void set_quota_due(Queue& queue, std::optional<Instant> at, Instant now) noexcept;
    void wait_for_quota(Instant now) noexcept;
    void check_quota_below(Queue& queue, Instant now) noexcept;
    void arm_quota_again(Queue& queue, Instant now) noexcept;
    void run_quota(Queue& queue, Instant now) noexcept;

    PartitionState& state_;
    VictimMarks& victim_marks_;
};

} // namespace yk
