// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/unconfirmed_releases.h"

namespace yk {

const Allocation* UnconfirmedReleases::find_unconfirmed(const Announced& announced) const noexcept {
    const Allocation* allocation = state_.allocations.find(announced.allocation);
    if (allocation == nullptr) return nullptr;
    return allocation->is(Allocation::Released) || allocation->is(Allocation::Preempted) ? allocation : nullptr;
}

void UnconfirmedReleases::expect(AllocationId id, TerminationType type, Instant now) noexcept {
    if (state_.settings.release_confirm <= Duration::zero()) return;
    auto& announced = announced_;
    if (announced.size() >= announced_limit_) {
        std::erase_if(announced, [this](const Announced& each) { return find_unconfirmed(each) == nullptr; });
        announced_limit_ = std::max<std::size_t>(1024, 2 * announced.size());
    }
    if (!timer_set_) {
        timer_set_ = true;
        state_.timers.set(now + state_.settings.release_confirm, TimerKind::Unconfirmed);
    }
    announced.push_back({state_.allocations.ref(id), now, type});
}

void UnconfirmedReleases::announce_again(Instant now) noexcept {
    timer_set_ = false;
    const Duration patience = state_.settings.release_confirm;
    auto& announced = announced_;
    std::vector<ReleasedAllocation> released;
    for (; !announced.empty() && announced.front().at + patience <= now; announced.pop_front()) {
        const Allocation* allocation = find_unconfirmed(announced.front());
        if (patience <= Duration::zero() || allocation == nullptr) continue;
        const std::string& application = state_.applications[allocation->application].id;
        released.push_back({state_.full_name, application, allocation->key.view(), announced.front().type,
                            "the release was not confirmed, it is announced once more"});
        state_.emit({EventType::Request, EventChange::None, EventDetail::None, allocation->key.view(), application,
                     "The resource manager has not confirmed its release, which is announced once more",
                     &state_.resource_of(*allocation)},
                    now);
    }
    state_.counters.reannounced += released.size();
    if (!released.empty()) state_.callbacks.allocations_released(released);
    if (announced.empty()) return;
    timer_set_ = true;
    state_.timers.set(announced.front().at + patience, TimerKind::Unconfirmed);
}

} // namespace yk
