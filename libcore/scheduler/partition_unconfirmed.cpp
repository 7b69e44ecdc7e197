// Releases that the RM was asked for and has not confirmed: announced once more, and told of (section 5 no. 5 of the
// preemption specification).

#include <algorithm>

#include "libcore/scheduler/partition_context.h"

namespace yk {

bool PartitionContext::is_unconfirmed(const PartitionState::Announced& announced) const {
    if (!s_.allocations.alive(announced.id)) return false;
    const Allocation& allocation = s_.allocations[announced.id];
    return allocation.arrival == announced.arrival &&
           (allocation.is(Allocation::Released) || allocation.is(Allocation::Preempted));
}

/// The RM was just told to release the allocation.
void PartitionContext::expect_confirmation(AllocationId id, TerminationType type, Instant now) {
    if (s_.settings.release_confirm <= Duration::zero()) return;
    auto& announced = s_.announced;
    if (announced.size() >= s_.announced_limit) {
        announced.erase(std::remove_if(announced.begin(), announced.end(),
                                       [this](const auto& each) { return !is_unconfirmed(each); }),
                        announced.end());
        s_.announced_limit = std::max<std::size_t>(1024, 2 * announced.size());
    }
    if (!s_.confirm_timer) {
        s_.confirm_timer = true;
        s_.timers.set(now + s_.settings.release_confirm, TimerKind::Unconfirmed);
    }
    announced.push_back({id, s_.allocations[id].arrival, now, type});
}

void PartitionContext::announce_again(Instant now) {
    s_.confirm_timer = false;
    const Duration patience = s_.settings.release_confirm;
    auto& announced = s_.announced;
    std::vector<ReleasedAllocation> released;
    for (; !announced.empty() && announced.front().at + patience <= now; announced.pop_front()) {
        if (patience <= Duration::zero() || !is_unconfirmed(announced.front())) continue;
        const Allocation& allocation = s_.allocations[announced.front().id];
        const std::string& application = s_.applications[allocation.application].id;
        released.push_back({s_.full_name, application, allocation.key.view(), announced.front().type,
                            "the release was not confirmed, it is announced once more"});
        s_.tell({EventType::Request, EventChange::None, EventDetail::None, allocation.key.view(), application,
                 "The resource manager has not confirmed its release, which is announced once more",
                 &s_.resource_of(allocation)},
                now);
    }
    s_.counters.reannounced += released.size();
    if (!released.empty()) s_.callbacks.allocations_released(released);
    if (announced.empty()) return;
    s_.confirm_timer = true;
    s_.timers.set(announced.front().at + patience, TimerKind::Unconfirmed);
}

} // namespace yk
