// SPDX-License-Identifier: Apache-2.0
#include "libcore/planning/attempt_log.h"

#include <algorithm>

#include "libcore/planning/headroom.h"

namespace yk {

/// Emits that the ask does not fit, or fits again; `verdict` follows the key in the message (S-605).
void AttemptLog::emit_no_node(const Allocation& ask, const std::string& verdict, const Limit& available, Instant now) {
    const Resource& wanted = state_.resource_of(ask);
    const std::string message = "Request '" + std::string{ask.key.view()} + "' " + verdict + " (requested " +
                                state_.named(wanted).text() + ", available " + state_.named(available.bounds()).text() +
                                ")";
    state_.emit({EventType::Request, EventChange::None, EventDetail::None, ask.key.view(),
                 state_.applications[ask.application].id, message, &wanted},
                now);
}

void AttemptLog::emit_headroom(const Allocation& ask, bool fits_now, Instant now) {
    const Queue& leaf = *state_.applications[ask.application].queue;
    const std::string verdict = fits_now ? "fits again in queue '" : "does not fit in queue '";
    emit_no_node(ask, verdict + leaf.path + "'", leaf.headroom(), now);
}

void AttemptLog::emit_user_limit(const Allocation& ask, bool fits_now, Instant now) {
    const Application& application = state_.applications[ask.application];
    Limit headroom = state_.users.headroom(application.user_usage);
    headroom.tighten(state_.users.headroom(application.group_usage));
    emit_no_node(ask, fits_now ? "fits in the available user quota" : "exceeds the available user quota", headroom,
                 now);
}

/// Sets the flag that the ask was tried; asks that were never tried are not reported as outstanding (S-113).
void AttemptLog::attempted(Allocation& ask) {
    if (ask.is(Allocation::Attempted)) return;
    YK_ASSUME(ask.group.valid(), "what is tried is pending");
    ask.mark(Allocation::Attempted);
    ++state_.applications[ask.application].tried_asks;
    state_.worth_inspecting = true;
}

[[gnu::hot]] void AttemptLog::passed_user_limit(AllocationId id, Instant now) {
    Allocation& ask = state_.allocations[id];
    attempted(ask);
    if (!ask.is(Allocation::UserFailed)) return;
    ask.mark(Allocation::UserFailed, false);
    emit_user_limit(ask, true, now);
}

void AttemptLog::failed_user_limit(AllocationId id, Instant now) {
    Allocation& ask = state_.allocations[id];
    if (ask.is(Allocation::UserFailed)) return;
    ask.mark(Allocation::UserFailed);
    ask.mark(Allocation::UserLogged);
    emit_user_limit(ask, false, now);
}

[[gnu::hot]] void AttemptLog::passed_headroom(AllocationId id, Instant now) {
    Allocation& ask = state_.allocations[id];
    attempted(ask);
    if (!ask.is(Allocation::QueueFailed)) return;
    ask.mark(Allocation::QueueFailed, false);
    emit_headroom(ask, true, now);
}

void AttemptLog::failed_headroom(AllocationId id, Instant now) {
    Allocation& ask = state_.allocations[id];
    attempted(ask);
    if (ask.is(Allocation::QueueFailed)) return;
    ask.mark(Allocation::QueueFailed);
    ask.mark(Allocation::QuotaLogged);
    emit_headroom(ask, false, now);
}

/// The order of the attempts: user, queue, nodes (S-253).
AskGroup::Note AttemptLog::headroom_note(const Application& application, const Shape& shape) const {
    if (state_.refusing_user_limit(application, shape.resource).valid()) return AskGroup::Note::User;
    return queue_verdict(state_, *application.queue, shape).quota ? AskGroup::Note::Queue : AskGroup::Note::Nodes;
}

void AttemptLog::note_on(AllocationId id, AskGroup::Note why, Instant now) {
    if (why == AskGroup::Note::User) return failed_user_limit(id, now);
    passed_user_limit(id, now);
    if (why == AskGroup::Note::Queue)
        failed_headroom(id, now);
    else
        passed_headroom(id, now);
}

void AttemptLog::note(AskGroup& group, AllocationId ask, AskGroup::Note why, Instant now) {
    if (why == AskGroup::Note::User) failed_user_limit(ask, now);
    if (why == AskGroup::Note::Queue) failed_headroom(ask, now);
    if (why == AskGroup::Note::User || why == AskGroup::Note::Queue) {
        AskGroup::Failures& failures = why == AskGroup::Note::User ? group.user_failures : group.queue_failures;
        failures.last = now;
        ++failures.count;
    }
    if (group.note == why) return;
    group.note = why;
    group.first_unreported = group.head; // from now on the others of the group fail for this reason, too
    list_unreported(state_.allocations[ask].group);
}

void AttemptLog::tried(AskGroup& group, AllocationId ask) {
    if (group.first_unreported == ask) group.first_unreported = {state_.allocations[ask].links.pending.next};
}

void AttemptLog::list_unreported(GroupId id) noexcept {
    AskGroup& group = state_.groups[id];
    if (group.is_listed_unreported) return;
    if (unreported_.size() >= unreported_limit_) drop_ended_groups();
    group.is_listed_unreported = true;
    unreported_.push_back(id);
}

/// Drops groups that have ended from the list. While every walk places something, note_passed_over() does not run, and
/// nothing else would bound the list.
void AttemptLog::drop_ended_groups() noexcept {
    const auto is_over = [this](GroupId id) {
        if (!state_.groups.alive(id) || !state_.groups[id].is_listed_unreported) return true;
        state_.groups[id].is_listed_unreported = false; // ids are used again: of two entries one stays
        return false;
    };
    unreported_.erase(std::remove_if(unreported_.begin(), unreported_.end(), is_over), unreported_.end());
    for (const GroupId id : unreported_) state_.groups[id].is_listed_unreported = true;
    unreported_limit_ = std::max<std::size_t>(1024, 2 * unreported_.size());
}

void AttemptLog::note_passed_over(Instant now) {
    std::vector<GroupId> later; // their applications are not considered now: they stay on the list
    for (const GroupId id : unreported_) {
        if (!state_.groups.alive(id) || !state_.groups[id].is_listed_unreported) continue;
        AskGroup& group = state_.groups[id];
        if (group.replaceable) { // never tried by the walk; it is listed again when it can be
            group.is_listed_unreported = false;
            continue;
        }
        if (!is_considered(state_, state_.applications[group.application])) {
            later.push_back(id);
            continue;
        }
        group.is_listed_unreported = false;
        if (!group.first_unreported.valid()) continue;
        group.note = headroom_note(state_.applications[group.application], state_.shapes[group.shape]);
        for (AllocationId ask = group.first_unreported; ask.valid(); ask = {state_.allocations[ask].links.pending.next})
            note_on(ask, group.note, now);
        group.first_unreported = {};
    }
    unreported_.swap(later);
}

/// Emits the reasons with their counts, sorted (S-605, I-601).
void AttemptLog::emit_refusals(AllocationId id, Instant now) {
    Inquiry* inquiry = state_.inquiries.find(id);
    if (inquiry == nullptr || inquiry->failures.empty()) return;
    if (inquiry->last_emitted && now < *inquiry->last_emitted + state_.settings.predicate_event_interval) return;
    inquiry->last_emitted = now;
    const Allocation& ask = state_.allocations[id];
    std::string message = "Unschedulable request '" + std::string{ask.key.view()} + "'";
    for (const auto& [reason, count] : inquiry->failures)
        message +=
            (&reason == &inquiry->failures.begin()->first ? ": " : ", ") + reason + " (" + std::to_string(count) + "x)";
    state_.emit({EventType::Request, EventChange::None, EventDetail::None, ask.key.view(),
                 state_.applications[ask.application].id, message, &state_.resource_of(ask)},
                now);
}

} // namespace yk
