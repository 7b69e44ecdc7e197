// SPDX-License-Identifier: Apache-2.0
// The timers of a partition, and the upkeep after each request (S-150 to S-153, S-560, S-583).

#include "libcore/partition/partition_context.h"
#include "libcore/planning/outstanding.h"

namespace yk {

std::optional<Instant> PartitionContext::next_timer() const {
    std::optional<Instant> next = state_.timers.next();
    const auto sooner = [&next](std::optional<Instant> at) {
        if (at && (!next || *at < *next)) next = at;
    };
    sooner(reservation_delays_.next());
    return next;
}

bool PartitionContext::fire_timer(Instant now) {
    reservation_delays_.look_at_all(now);
    const std::optional<Timer> timer = state_.timers.take_due(now);
    if (timer) fire(*timer, now);
    return timer.has_value();
}

/// Whether what the timer was set for still exists.
bool PartitionContext::counts(const Timer& timer) {
    const ApplicationId application{timer.id};
    switch (timer.kind) {
    case TimerKind::ApplicationState:
        return state_.applications.alive(application) && state_.applications[application].timer == timer.token;
    case TimerKind::ApplicationEnd: return state_.ended.find(timer.token) != nullptr;
    case TimerKind::Placeholders:
        return state_.applications.alive(application) && state_.applications[application].gang.timer == timer.token;
    case TimerKind::BackOff: // if it was set again, the later one counts
        return state_.applications.alive(application) && state_.applications[application].backing_off &&
               *state_.applications[application].backoff_until <= timer.at;
    case TimerKind::ReservationAge:
    case TimerKind::NoVictim: return state_.reservations.find({{timer.id}, timer.token}) != nullptr;
    case TimerKind::PreemptionCheck: return state_.groups.alive({timer.id}) && state_.groups[{timer.id}].checks;
    case TimerKind::PreemptionUnplaced: {
        const auto trigger = state_.preemption.triggers.find({timer.id});
        return trigger != state_.preemption.triggers.end() && trigger->second.token == timer.token;
    }
    case TimerKind::InquiryRest: {
        const Inquiry* inquiry = state_.inquiries.find({timer.id});
        return inquiry != nullptr && inquiry->resting && inquiry->token == timer.token;
    }
    case TimerKind::HalveWorkload: return timer.token == halving_;
    default: return true; // timers of the partition itself
    }
}

/// Each part decides by itself whether there is enough to return.
void PartitionContext::sweep() {
    state_.allocations.give_back();
    state_.groups.give_back();
    state_.applications.give_back();
    state_.reservations.give_back();
    state_.application_index.give_back();
    state_.asks.give_back();
    state_.nodes.give_back();
    state_.tags.give_back();
    state_.users.give_back();
    if (state_.timers.sweep_due()) state_.timers.sweep([this](const Timer& timer) { return counts(timer); });
    reservation_delays_.sweep();
}

void PartitionContext::fire(const Timer& timer, Instant now) {
    if (!counts(timer)) return;
    const ApplicationId application{timer.id};
    switch (timer.kind) {
    case TimerKind::ApplicationState: applications_.completing_timer(application, now); return;
    case TimerKind::ApplicationEnd: applications_.expire(*state_.ended.find(timer.token), now); return;
    case TimerKind::Placeholders: applications_.placeholder_timer(application, now); return;
    case TimerKind::BackOff:
        state_.applications[application].backing_off = false;
        indexes_.mark_dirty(application);
        return;
    case TimerKind::GroupDue: return; // these are kept by ReservationDelays
    case TimerKind::ReservationAge: state_.aged.add({{timer.id}, timer.token}); return;
    case TimerKind::CleanQueues:
        queues_.clean(now);
        state_.timers.set(now + state_.settings.queue_clean_interval, TimerKind::CleanQueues);
        return;
    case TimerKind::PreemptionCheck: checks_.update({timer.id}, now); return;
    case TimerKind::PreemptionUnplaced: victim_marks_.unplaced_timer({timer.id}, now); return;
    case TimerKind::QuotaCheck: quota_preemption_.check(now); return;
    case TimerKind::NoVictim: indexes_.wake({timer.id}); return;
    case TimerKind::Unconfirmed: unconfirmed_releases_.announce_again(now); return;
    case TimerKind::InquiryRest: parked_asks_.begin_round({timer.id}, now); return;
    case TimerKind::HalveWorkload:
        state_.expected.halve();
        state_.timers.set(now + state_.expected.half_life(), TimerKind::HalveWorkload, 0, halving_);
        return;
    case TimerKind::PurgeExpired:
        state_.ended.purge_expired();
        state_.timers.set(now + state_.settings.expired_purge_interval, TimerKind::PurgeExpired);
        return;
    case TimerKind::Inspect:
        report_outstanding();
        state_.timers.set(now + state_.settings.inspection_interval, TimerKind::Inspect);
        return;
    }
}

/// Notifies the RM of asks that could run in a larger cluster, once per ask (S-520, I-055).
void PartitionContext::report_outstanding() {
    if (!state_.worth_inspecting || state_.state == ObjectState::Stopped || state_.pending_asks == 0) return;
    indexes_.refresh();
    state_.worth_inspecting = false;
    for (const AllocationId id : OutstandingAsks{state_}.find()) {
        Allocation& ask = state_.allocations[id];
        Application& application = state_.applications[ask.application];
        ask.mark(Allocation::ScaleUp);
        ++application.reported_asks;
        state_.callbacks.ask_outstanding(application.id, ask.key.view(), "waiting for cluster resources");
    }
}

} // namespace yk
