// The scheduling cycle of a partition and what time brings (S-300 to S-305, S-150 to S-153, S-560, S-583).

#include <algorithm>
#include <unordered_set>

#include "libcore/scheduler/outstanding.h"
#include "libcore/scheduler/partition_context.h"

namespace yk {

// --- the cycle
// -------------------------------------------------------------------------------------------------------------

CycleOutcome PartitionContext::cycle(Instant now) {
    CycleOutcome outcome;
    if (s_.state == ObjectState::Stopped || s_.root->max.unlimited() || s_.pending_asks == 0) return outcome;
    orders_.sweep_shapes();
    look_at_all_due(now);
    planner_.begin_cycle(now);
    if (!s_.inquiries.by_ask.empty()) wake_inquiries(now);
    if (s_.reservations.size() > 0) {
        Plan plan = plan_reserved(now);
        for (; plan.kind == Plan::Kind::Evict; plan = plan_reserved(now)) { // P-093: no result, the step goes on
            commit_victims(plan, now);
            ++outcome.changes;
        }
        outcome.allocations = execute(plan, now) ? 1 : 0;
    }
    if (outcome.allocations == 0 && replace_one(now)) outcome.allocations = 1;
    if (outcome.allocations > 0) {
        outcome.changes += drop_planned(now);
        return outcome;
    }
    const Plan plan = plan_regular(now);
    outcome.allocations = execute(plan, now) ? 1 : 0;
    outcome.changes += drop_planned(now) + (plan && plan.kind != Plan::Kind::Allocate ? 1 : 0);
    if (!plan) {
        planner_.notes().note_passed_over(now);
        tell_runnable_flags(now);
    }
    return outcome;
}

/// Commits a plan. Whether it placed something.
bool PartitionContext::execute(const Plan& plan, Instant now) {
    if (!plan) return false;
    const Allocation& ask = s_.allocations[plan.ask];
    const ApplicationId owner = ask.application;
    reserve_room(plan.ask, plan.node);
    tell_runnable(owner, true, true, now);
    if (s_.shapes[ask.shape].is_pinned()) drop_ordinary_reservations(plan.node, now); // S-432
    const bool allocate = plan.kind == Plan::Kind::Allocate;
    if (!allocate && ask.is(Allocation::Parked)) begin_round(plan.ask, now);
    if (allocate)
        place(plan.ask, plan.node, true, now);
    else if (plan.kind == Plan::Kind::Preempt)
        commit_victims(plan, now);
    else
        make_reservation(plan.ask, plan.node, now);
    Application& application = s_.applications[owner];
    if (application.state == ApplicationState::Accepted) { // S-262
        set_allocating(application, true);
        orders_.touch(owner);
    }
    return allocate;
}

/// S-413, at the end of the cycle: what it frees is for the next one.
std::uint32_t PartitionContext::drop_planned(Instant now) {
    std::uint32_t dropped = 0;
    for (const auto& [id, sequence] : planner_.to_drop()) {
        if (!s_.reservations.alive(id) || s_.reservations[id].sequence != sequence) continue;
        drop_reservation(id, now);
        ++dropped;
    }
    planner_.forget_drops();
    return dropped;
}

// --- timers
// ----------------------------------------------------------------------------------------------------------------

std::optional<Instant> PartitionContext::next_timer() const {
    std::optional<Instant> next = s_.timers.next();
    const auto sooner = [&next](std::optional<Instant> at) {
        if (at && (!next || *at < *next)) next = at;
    };
    sooner(s_.late_due.next());
    if (!s_.due.empty()) sooner(s_.due.front().at);
    return next;
}

bool PartitionContext::fire_timer(Instant now) {
    look_at_all_due(now); // only knowledge: the order among other timers does not show
    const std::optional<Timer> timer = s_.timers.take_due(now);
    if (timer) fire(*timer, now);
    return timer.has_value();
}

void PartitionContext::look_at_all_due(Instant now) {
    while (!s_.due.empty() && s_.due.front().at <= now) {
        const GroupId group = s_.due.front().group;
        s_.due.pop_front();
        look_at_due(group, now);
    }
    while (const std::optional<Timer> timer = s_.late_due.take_due(now)) look_at_due({timer->id}, now);
}

/// Whether there still is what the timer was set for.
bool PartitionContext::counts(const Timer& timer) {
    const ApplicationId application{timer.id};
    const ReservationId reservation{timer.id};
    switch (timer.kind) {
    case TimerKind::ApplicationState:
        return s_.applications.alive(application) && s_.applications[application].timer == timer.token;
    case TimerKind::ApplicationEnd: return find_ended(timer.token) != nullptr;
    case TimerKind::Placeholders:
        return s_.applications.alive(application) && s_.applications[application].gang.timer == timer.token;
    case TimerKind::BackOff: // set again meanwhile: the later one counts
        return s_.applications.alive(application) && s_.applications[application].backing_off &&
               *s_.applications[application].backoff_until <= timer.at;
    case TimerKind::ReservationAge:
    case TimerKind::NoVictim:
        return s_.reservations.alive(reservation) && s_.reservations[reservation].sequence == timer.token;
    case TimerKind::PreemptionCheck: return s_.groups.alive({timer.id}) && s_.groups[{timer.id}].checks;
    case TimerKind::PreemptionUnplaced: {
        const auto trigger = s_.preemption.triggers.find({timer.id});
        return trigger != s_.preemption.triggers.end() && trigger->second.token == timer.token;
    }
    case TimerKind::InquiryRest: {
        const Inquiry* inquiry = s_.inquiries.find({timer.id});
        return inquiry != nullptr && inquiry->resting && inquiry->token == timer.token;
    }
    default: return true; // of the partition, one at a time
    }
}

/// What ran out without effect is forgotten, and the memory of what went is given back, when it is much.
void PartitionContext::sweep() {
    s_.allocations.give_back();
    s_.groups.give_back();
    s_.applications.give_back();
    s_.reservations.give_back();
    s_.keys.give_back();
    s_.group_index.give_back();
    s_.nodes.give_back();
    s_.tags.give_back();
    s_.users.give_back();
    if (s_.timers.sweep_due()) s_.timers.sweep([this](const Timer& timer) { return counts(timer); });
    if (s_.due.size() + s_.late_due.size() <= s_.due_limit) return;
    while (const auto late = s_.late_due.take_due({INT64_MAX})) s_.due.push_back({late->at, {late->id}});
    std::stable_sort(s_.due.begin(), s_.due.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    std::unordered_set<std::uint32_t> seen; // the slot of a group that went may be another one's: one look is enough
    std::erase_if(s_.due, [&](const PartitionState::Due& due) {
        return !s_.groups.alive(due.group) || !s_.groups[due.group].due_timer || !seen.insert(due.group.index).second;
    });
    s_.due_limit = 2 * s_.due.size() + PartitionState::kLeastDue;
}

void PartitionContext::fire(const Timer& timer, Instant now) {
    if (!counts(timer)) return;
    const ApplicationId application{timer.id};
    switch (timer.kind) {
    case TimerKind::ApplicationState: completing_timer(application, now); return;
    case TimerKind::ApplicationEnd: expire(*find_ended(timer.token), now); return;
    case TimerKind::Placeholders: placeholder_timer(application, now); return;
    case TimerKind::BackOff:
        s_.applications[application].backing_off = false;
        orders_.touch(application);
        return;
    case TimerKind::GroupDue: return; // kept in late_due
    case TimerKind::ReservationAge: s_.aged.push_back({{timer.id}, timer.token}); return;
    case TimerKind::CleanQueues:
        clean_queues(now);
        s_.timers.set(now + s_.settings.queue_clean_interval, TimerKind::CleanQueues);
        return;
    case TimerKind::PreemptionCheck: checks_.update({timer.id}, now); return;
    case TimerKind::PreemptionUnplaced: unplaced_timer({timer.id}, now); return;
    case TimerKind::QuotaCheck: check_quotas(now); return;
    case TimerKind::NoVictim: orders_.wake({timer.id}); return;
    case TimerKind::Unconfirmed: announce_again(now); return;
    case TimerKind::InquiryRest: begin_round({timer.id}, now); return;
    case TimerKind::PurgeExpired:
        purge_expired();
        s_.timers.set(now + s_.settings.expired_purge_interval, TimerKind::PurgeExpired);
        return;
    case TimerKind::Inspect:
        report_outstanding();
        s_.timers.set(now + s_.settings.inspection_interval, TimerKind::Inspect);
        return;
    }
}

/// S-152.
void PartitionContext::completing_timer(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    application.timer = 0;
    if (application.placeholders == 0) {
        handle(id, ApplicationEvent::Complete, {}, now);
        return;
    }
    release_placeholders(id, false, now); // G-056: the last confirmation completes it
}

/// Among those that ended or were refused; nullptr: it is forgotten.
EndedApplication* PartitionContext::find_ended(std::uint64_t serial) {
    const auto ended = std::lower_bound(s_.ended.begin(), s_.ended.end(), serial,
                                        [](const EndedApplication& each, std::uint64_t s) { return each.serial < s; });
    if (ended != s_.ended.end() && ended->serial == serial) return &*ended;
    const auto rejected = s_.rejected.find(serial);
    return rejected == s_.rejected.end() ? nullptr : &rejected->second;
}

/// S-583.
void PartitionContext::purge_expired() {
    const auto expired = [](const EndedApplication& ended) { return ended.state == ApplicationState::Expired; };
    for (const EndedApplication& each : s_.ended)
        if (expired(each)) s_.ledger.take(Held::Names, bytes_of(each));
    std::erase_if(s_.ended, expired);
    for (auto each = s_.rejected.begin(); each != s_.rejected.end();)
        each = expired(each->second) ? forget_rejected(each) : std::next(each);
}

/// S-520: once per ask, ever.
void PartitionContext::report_outstanding() {
    if (!s_.worth_inspecting || s_.state == ObjectState::Stopped || s_.pending_asks == 0) return;
    orders_.refresh();
    s_.worth_inspecting = false;
    for (const AllocationId id : OutstandingAsks{s_}.find()) {
        Allocation& ask = s_.allocations[id];
        Application& application = s_.applications[ask.application];
        ask.mark(Allocation::ScaleUp);
        ++application.reported_asks;
        s_.callbacks.ask_outstanding(application.id, ask.key.view(), "waiting for cluster resources"); // I-055
    }
}

void PartitionContext::look_at_due(GroupId id, Instant now) {
    if (!s_.groups.alive(id) || !s_.groups[id].due_timer) return; // the group is gone
    s_.groups[id].due_timer = false;
    update_due(id, now);
}

} // namespace yk
