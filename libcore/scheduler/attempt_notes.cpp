#include "libcore/scheduler/attempt_notes.h"

#include <algorithm>

#include "libcore/scheduler/headroom.h"

namespace yk {

/// S-605. `verdict` follows the key.
void AttemptNotes::tell_room(const Allocation& ask, const std::string& verdict, const Limit& room, Instant now) {
    const Resource& wanted = s_.resource_of(ask);
    const std::string message = "Request '" + std::string{ask.key.view()} + "' " + verdict + " (requested " +
                                s_.named(wanted).text() + ", available " + s_.named(room.bounds()).text() + ")";
    s_.tell({EventType::Request, EventChange::None, EventDetail::None, ask.key.view(),
             s_.applications[ask.application].id, message, &wanted},
            now);
}

void AttemptNotes::tell_headroom(const Allocation& ask, bool fits_now, Instant now) {
    const Queue& leaf = *s_.applications[ask.application].queue;
    const std::string verdict = fits_now ? "fits again in queue '" : "does not fit in queue '";
    tell_room(ask, verdict + leaf.path + "'", leaf.headroom(), now);
}

void AttemptNotes::tell_user_limit(const Allocation& ask, bool fits_now, Instant now) {
    const Application& application = s_.applications[ask.application];
    Limit room = s_.users.headroom(application.user_usage);
    room.tighten(s_.users.headroom(application.group_usage));
    tell_room(ask, fits_now ? "fits in the available user quota" : "exceeds the available user quota", room, now);
}

/// S-113.
void AttemptNotes::attempted(Allocation& ask) {
    if (ask.is(Allocation::Attempted)) return;
    ask.mark(Allocation::Attempted);
    s_.worth_inspecting = true;
}

void AttemptNotes::passed_user_limit(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    attempted(ask);
    if (!ask.is(Allocation::UserFailed)) return;
    ask.mark(Allocation::UserFailed, false);
    tell_user_limit(ask, true, now);
}

void AttemptNotes::failed_user_limit(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    if (ask.is(Allocation::UserFailed)) return;
    ask.mark(Allocation::UserFailed);
    ask.mark(Allocation::UserLogged);
    tell_user_limit(ask, false, now);
}

void AttemptNotes::passed_headroom(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    attempted(ask);
    if (!ask.is(Allocation::QueueFailed)) return;
    ask.mark(Allocation::QueueFailed, false);
    tell_headroom(ask, true, now);
}

void AttemptNotes::failed_headroom(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    attempted(ask);
    if (ask.is(Allocation::QueueFailed)) return;
    ask.mark(Allocation::QueueFailed);
    ask.mark(Allocation::QuotaLogged);
    tell_headroom(ask, false, now);
}

/// The order of the attempts: user, queue, nodes (S-253).
AskGroup::Note AttemptNotes::headroom_note(const Application& application, const Shape& shape) const {
    if (s_.refusing_user_limit(application, shape.resource).valid()) return AskGroup::Note::User;
    return queue_verdict(s_, *application.queue, shape).quota ? AskGroup::Note::Queue : AskGroup::Note::Nodes;
}

void AttemptNotes::note_on(AllocationId id, AskGroup::Note why, Instant now) {
    if (why == AskGroup::Note::User) return failed_user_limit(id, now);
    passed_user_limit(id, now);
    if (why == AskGroup::Note::Queue)
        failed_headroom(id, now);
    else
        passed_headroom(id, now);
}

void AttemptNotes::note(AskGroup& group, AllocationId ask, AskGroup::Note why, Instant now) {
    if (why == AskGroup::Note::User) failed_user_limit(ask, now);
    if (why == AskGroup::Note::Queue) failed_headroom(ask, now);
    if (why == AskGroup::Note::User || why == AskGroup::Note::Queue) {
        AskGroup::Failures& failures = why == AskGroup::Note::User ? group.user_failures : group.queue_failures;
        failures.last = now;
        ++failures.count;
    }
    if (group.note == why) return;
    group.note = why;
    group.first_untouched = group.head; // the others of the group are passed over for another reason from now on
    list_untouched(s_.allocations[ask].group);
}

void AttemptNotes::touched(AskGroup& group, AllocationId ask) {
    if (group.first_untouched == ask) group.first_untouched = {s_.allocations[ask].place.pending.next};
}

void AttemptNotes::list_untouched(GroupId id) {
    AskGroup& group = s_.groups[id];
    if (group.in_untouched) return;
    if (s_.untouched.size() >= s_.untouched_limit) drop_ended_groups();
    group.in_untouched = true;
    s_.untouched.push_back(id);
}

/// Where every ask finds room, no walk ends without outcome, and nobody else takes groups off the list.
void AttemptNotes::drop_ended_groups() {
    const auto is_over = [this](GroupId id) {
        if (!s_.groups.alive(id) || !s_.groups[id].in_untouched) return true;
        s_.groups[id].in_untouched = false; // ids are used again: it stays once
        return false;
    };
    s_.untouched.erase(std::remove_if(s_.untouched.begin(), s_.untouched.end(), is_over), s_.untouched.end());
    for (const GroupId id : s_.untouched) s_.groups[id].in_untouched = true;
    s_.untouched_limit = std::max<std::size_t>(1024, 2 * s_.untouched.size());
}

void AttemptNotes::note_passed_over(Instant now) {
    std::vector<GroupId> later; // of applications that are not considered at all
    for (const GroupId id : s_.untouched) {
        if (!s_.groups.alive(id) || !s_.groups[id].in_untouched) continue;
        AskGroup& group = s_.groups[id];
        if (group.replaceable) { // not tried at all, so nothing is left behind; listed again when it is
            group.in_untouched = false;
            continue;
        }
        if (!is_considered(s_, s_.applications[group.application])) {
            later.push_back(id);
            continue;
        }
        group.in_untouched = false;
        if (!group.first_untouched.valid()) continue;
        group.note = headroom_note(s_.applications[group.application], s_.shapes[group.shape]);
        for (AllocationId ask = group.first_untouched; ask.valid(); ask = {s_.allocations[ask].place.pending.next})
            note_on(ask, group.note, now);
        group.first_untouched = {};
    }
    s_.untouched.swap(later);
}

/// S-605, I-601.
void AttemptNotes::tell_refusals(AllocationId id, Instant now) {
    Inquiry* inquiry = s_.inquiries.find(id);
    if (inquiry == nullptr || inquiry->failures.empty()) return;
    if (inquiry->told && now < *inquiry->told + s_.settings.predicate_event_interval) return;
    inquiry->told = now;
    const Allocation& ask = s_.allocations[id];
    std::string message = "Unschedulable request '" + std::string{ask.key.view()} + "'";
    for (const auto& [reason, count] : inquiry->failures)
        message +=
            (&reason == &inquiry->failures.begin()->first ? ": " : ", ") + reason + " (" + std::to_string(count) + "x)";
    s_.tell({EventType::Request, EventChange::None, EventDetail::None, ask.key.view(),
             s_.applications[ask.application].id, message, &s_.resource_of(ask)},
            now);
}

} // namespace yk
