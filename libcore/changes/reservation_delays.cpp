// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/reservation_delays.h"

#include <algorithm>
#include <unordered_set>

namespace yk {

[[gnu::hot]] void ReservationDelays::update(GroupId id, Instant now) noexcept {
    AskGroup& group = state_.groups[id];
    const bool was = group.due;
    group.due = false;
    if (!group.first_free.valid() || state_.settings.reservations_disabled || state_.shapes[group.shape].is_pinned())
        return;
    const Instant at = state_.allocations[group.first_free].created + state_.settings.reservation_delay + Duration{1};
    group.due = at <= now;
    if (group.due != was) indexes_.mark_dirty(id);
    if (group.due || group.due_timer) return;
    group.due_timer = true;
    if (due_.empty() || due_.back().at <= at)
        due_.push_back({at, id});
    else
        late_due_.set(at, TimerKind::GroupDue, id.index);
}

void ReservationDelays::look_at_all(Instant now) noexcept {
    while (!due_.empty() && due_.front().at <= now) {
        const GroupId group = due_.front().group;
        due_.pop_front();
        look_at(group, now);
    }
    while (const std::optional<Timer> timer = late_due_.take_due(now)) look_at({timer->id}, now);
}

std::optional<Instant> ReservationDelays::next() const noexcept {
    std::optional<Instant> next = late_due_.next();
    if (!due_.empty() && (!next || due_.front().at < *next)) next = due_.front().at;
    return next;
}

void ReservationDelays::sweep() noexcept {
    if (due_.size() + late_due_.size() <= due_limit_) return;
    while (const auto late = late_due_.take_due({INT64_MAX})) due_.push_back({late->at, {late->id}});
    std::stable_sort(due_.begin(), due_.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    std::unordered_set<std::uint32_t> seen; // ids are used again: of several entries of a group one is kept
    std::erase_if(due_, [&](const Due& due) {
        return !state_.groups.alive(due.group) || !state_.groups[due.group].due_timer ||
               !seen.insert(due.group.index).second;
    });
    due_limit_ = 2 * due_.size() + kLeastDue;
}

void ReservationDelays::look_at(GroupId id, Instant now) noexcept {
    if (!state_.groups.alive(id) || !state_.groups[id].due_timer) return; // the group was removed
    state_.groups[id].due_timer = false;
    update(id, now);
}

} // namespace yk
