// Gang scheduling: task groups and their counters, the swap of a placeholder for a real ask, its confirmation and every
// other way in which it ends, time-outs (G-001 to G-077).

#include <algorithm>

#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

constexpr std::string_view kApplicationCreated = "yunikorn.apache.org/creationTime";
constexpr std::string_view kTimedOut = "ResourceReservationTimeout"; // G-051
constexpr std::int64_t kNanosPerMilli = 1'000'000;

} // namespace

/// G-003, G-007.
void PartitionContext::configure_gang(Gang& gang, const ApplicationSpec& spec, Instant now) const {
    gang.hard = spec.gang_style == "Hard";
    const std::int64_t milliseconds = spec.execution_timeout_ms;
    const bool given = milliseconds > 0 && milliseconds <= INT64_MAX / kNanosPerMilli;
    gang.timeout = given ? Duration{milliseconds * kNanosPerMilli} : s_.settings.placeholder_timeout;
    const auto created = creation_time(find_tag(spec.tags, kApplicationCreated));
    if (!created || *created >= now) return;
    const Duration left{sat_sub(gang.timeout.count(), sat_sub(now.ns, created->ns))};
    gang.timeout = std::max(left, Duration{kNanosPerMilli});
}

// --- task groups
// ---------------------------------------------------------------------------------------------------------

TaskGroup& PartitionContext::task_group(Application& application, std::uint32_t name) {
    const auto [entry, is_new] = application.gang.groups.try_emplace(name, s_.allocations);
    if (is_new) {
        s_.texts.acquire(name);
        s_.ledger.add(Held::Names, kPerEntry);
    }
    return entry->second;
}

/// After each change of a task group: what its asks may do, and whether anything can be replaced.
void PartitionContext::task_group_changed(ApplicationId id, std::uint32_t name) {
    Gang& gang = s_.applications[id].gang;
    TaskGroup& group = gang.groups.find(name)->second;
    gang.stalled = false;
    orders_.touch(id);
    const auto listed = std::find(gang.ready.begin(), gang.ready.end(), &group);
    if (group.is_ready() != (listed != gang.ready.end()))
        group.is_ready() ? gang.ready.push_back(&group) : static_cast<void>(gang.ready.erase(listed));
    if (group.open != group.is_open()) {
        group.open = group.is_open();
        for (const GroupId asks : group.ask_groups) {
            s_.groups[asks].replaceable = group.open;
            planner_.notes().list_untouched(asks);
            orders_.touch(asks);
        }
    }
    if (group.count > 0 || !group.asks.empty()) return;
    gang.groups.erase(name);
    s_.texts.release(name);
    s_.ledger.take(Held::Names, kPerEntry);
}

void PartitionContext::list_gang_ask(AllocationId id) {
    const Allocation& ask = s_.allocations[id];
    task_group(s_.applications[ask.application], ask.task_group).asks.emplace(order_of(ask), id);
}

void PartitionContext::unlist_gang_ask(AllocationId id) {
    const Allocation& ask = s_.allocations[id];
    s_.applications[ask.application].gang.groups.find(ask.task_group)->second.asks.erase(order_of(ask));
}

/// G-024: a placeholder was made, pending or reported as placed.
void PartitionContext::count_placeholder(AllocationId id) {
    const Allocation& made = s_.allocations[id];
    TaskGroup& group = task_group(s_.applications[made.application], made.task_group);
    if (group.count++ == 0) group.min_resource = s_.resource_of(made);
    task_group_changed(made.application, made.task_group);
}

/// G-026: a placeholder goes. One that goes together with its partner was replaced.
void PartitionContext::count_placeholder_gone(AllocationId id) {
    const Allocation& gone = s_.allocations[id];
    TaskGroup& group = task_group(s_.applications[gone.application], gone.task_group);
    ++(gone.partner.valid() ? group.replaced : group.timed_out);
    task_group_changed(gone.application, gone.task_group);
}

/// A pending ask changes its task group; a placeholder takes its count along (G-025).
void PartitionContext::change_task_group(AllocationId id, std::uint32_t name) {
    Allocation& ask = s_.allocations[id];
    const std::uint32_t before = ask.task_group;
    ask.task_group = name;
    s_.texts.acquire(name);
    if (ask.is(Allocation::Placeholder)) {
        --task_group(s_.applications[ask.application], before).count;
        task_group_changed(ask.application, before);
        count_placeholder(id);
    }
    s_.texts.release(before);
}

/// A placeholder was placed: a real ask may take its place, or it times out.
void PartitionContext::hold_placeholder(AllocationId id, Instant now) {
    const Allocation& placed = s_.allocations[id];
    Application& application = s_.applications[placed.application];
    const bool waits =
        application.state == ApplicationState::Accepted || application.state == ApplicationState::Running;
    if (application.gang.free == 0 && waits) start_placeholder_timer(placed.application, now);
    task_group(application, placed.task_group).free.insert(id);
    ++application.gang.free;
    task_group_changed(placed.application, placed.task_group);
}

/// Section 5 no. 11: that an application announced another sum than its placeholders have, once: it would stay Accepted
/// without a word (G-006, G-011). Called when they are more than announced, and when their time is over.
void PartitionContext::tell_placeholder_sum(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    if (application.gang.sum_told) return;
    const auto why = placeholder_mismatch(application);
    if (!why) return;
    application.gang.sum_told = true;
    s_.tell({EventType::App,
             EventChange::None,
             EventDetail::None,
             application.id,
             {},
             "Application '" + application.id + "': " + why->text},
            now);
}

/// It can be replaced no more: it goes, or is on its way out.
void PartitionContext::let_placeholder_go(AllocationId id) {
    const Allocation& placed = s_.allocations[id];
    Gang& gang = s_.applications[placed.application].gang;
    gang.free -= static_cast<std::uint32_t>(gang.groups.find(placed.task_group)->second.free.erase(id));
    task_group_changed(placed.application, placed.task_group);
}

/// Marks an allocation as on its way out by `flag`, Released or Preempted. False, and nothing changes, when it already
/// is (S-166): the one guard between replacement, time-out and preemption.
bool PartitionContext::claim(AllocationId id, Allocation::Flag flag) {
    Allocation& allocation = s_.allocations[id];
    if (allocation.is(Allocation::Released) || allocation.is(Allocation::Preempted)) return false;
    allocation.mark(flag);
    s_.victims.node_changed(allocation.node);
    if (allocation.is(Allocation::Placeholder)) let_placeholder_go(id);
    return true;
}

// --- replacement (step 2)
// ------------------------------------------------------------------------------------------------

/// Whether a placeholder was given up for a real ask.
bool PartitionContext::replace_one(Instant now) {
    if (s_.placeholder_count == 0) return false;
    while (true) {
        const ApplicationId id = gang_planner_.find();
        if (!id.valid()) return false;
        const SwapPlan plan = gang_planner_.plan(s_.applications[id]);
        if (!plan.too_small.empty()) give_up_too_small(plan, now);
        if (plan.swaps()) {
            swap(plan, now);
            return true;
        }
        if (!plan.too_small.empty()) continue;
        if (!plan.to_ask.empty() && !s_.calls.full()) {
            call_predicates(plan.ask, plan.to_ask, true, now);
            continue;
        }
        s_.inquiries.slotless_gangs = s_.inquiries.slotless_gangs || !plan.to_ask.empty();
        if (plan.to_ask.empty() && !plan.waiting && s_.calls.options.predicates) rest_gang(id, now);
        s_.applications[id].gang.stalled = true;
        auto& stalled = s_.stalled_gangs;
        if (std::find(stalled.begin(), stalled.end(), id) == stalled.end()) stalled.push_back(id);
        orders_.touch(id);
    }
}

/// G-038.
void PartitionContext::give_up_too_small(const SwapPlan& plan, Instant now) {
    std::vector<AllocationId> gone;
    for (const auto& [placeholder, ask] : plan.too_small) {
        if (!claim(placeholder, Allocation::Released)) continue;
        gone.push_back(placeholder);
        const Allocation& held = s_.allocations[placeholder];
        const std::string message =
            "Task group '" + s_.texts.text(held.task_group) + "': ask '" + std::string{s_.allocations[ask].key.view()} +
            "' of " + s_.named(s_.resource_of(s_.allocations[ask])).text() + " is larger than placeholder '" +
            std::string{held.key.view()} + "' of " + s_.named(s_.resource_of(held)).text();
        s_.tell({EventType::Request, EventChange::None, EventDetail::None, held.key.view(),
                 s_.applications[held.application].id, message},
                now);
    }
    tell_leaving(gone, TerminationType::Timeout, "the placeholder is smaller than a real ask of its task group", now);
}

/// G-034 to G-036.
void PartitionContext::swap(const SwapPlan& plan, Instant now) {
    Allocation& real = s_.allocations[plan.ask];
    Allocation& placeholder = s_.allocations[plan.placeholder];
    const bool elsewhere = plan.node != placeholder.node;
    if (elsewhere) reserve_room(plan.ask, plan.node);
    if (real.reservation.valid()) drop_reservation(real.reservation, now);
    take_pending(plan.ask, now);
    claim(plan.placeholder, Allocation::Released); // the plan took a free one
    real.partner = plan.placeholder;
    placeholder.partner = plan.ask;
    real.mark(Allocation::Placed);
    real.mark(Allocation::InFlight);
    real.mark(Allocation::Checked, false);
    real.node = plan.node;
    real.bound = now;
    real.place.placed = {AllocationId::kNone, AllocationId::kNone};
    ++s_.applications[real.application].gang.in_flight;
    if (elsewhere) put_on_node(plan.ask, plan.node, now);
    tell_leaving({plan.placeholder}, TerminationType::PlaceholderReplaced,
                 "replaced by '" + std::string{real.key.view()} + "'", now);
}

bool PartitionContext::is_elsewhere(AllocationId real) const {
    const Allocation& half = s_.allocations[real];
    return half.node != s_.allocations[half.partner].node;
}

/// G-043: whether the real half can take the place when the placeholder goes.
bool PartitionContext::can_finish(AllocationId placeholder_id) const {
    const Allocation& placeholder = s_.allocations[placeholder_id];
    if (is_elsewhere(placeholder.partner)) return true;
    Resource room = s_.nodes[placeholder.node].available;
    room.add(s_.resource_of(placeholder));
    return fits(room, s_.resource_of(s_.allocations[placeholder.partner]));
}

/// G-037: the placeholder goes, the real one joins. The caller tells the RM of it.
AllocationId PartitionContext::finish_swap(AllocationId placeholder, EventDetail detail, Instant now) {
    const AllocationId id = s_.allocations[placeholder].partner;
    const bool elsewhere = is_elsewhere(id);
    const Instant asked = s_.allocations[placeholder].created;
    remove_allocation(placeholder, detail, now); // with its partner: counted as replaced
    Allocation& real = s_.allocations[id];
    Application& application = s_.applications[real.application];
    real.partner = {};
    real.mark(Allocation::InFlight, false);
    real.mark(Allocation::PlaceholderUsed);
    s_.victims.node_changed(real.node); // it may be a victim now
    real.created = asked;
    real.bound = now;
    --application.gang.in_flight;
    grow_queues(*application.queue, s_.resource_of(real));
    if (!elsewhere) put_on_node(id, real.node, now);
    put_in_application(id, now);
    ++s_.counters.allocated;
    return id;
}

/// The link goes: the real half has no node any more, the placeholder stays on its way out.
void PartitionContext::unlink_swap(AllocationId id, Instant now) {
    if (is_elsewhere(id)) take_from_node(id, now);
    Allocation& real = s_.allocations[id];
    s_.allocations[real.partner].partner = {};
    real.partner = {};
    --s_.applications[real.application].gang.in_flight;
}

/// G-043, G-074, G-075: the real ask is pending again.
void PartitionContext::undo_swap(AllocationId id, Instant now) {
    unlink_swap(id, now);
    Allocation& real = s_.allocations[id];
    real.mark(Allocation::Placed, false);
    real.mark(Allocation::InFlight, false);
    real.node = {};
    real.bound = {};
    add_pending(id, now);
}

/// G-044: the real ask goes.
void PartitionContext::cancel_in_flight(AllocationId id, bool timed_out, Instant now) {
    unlink_swap(id, now);
    tell_request_gone(id, timed_out, now);
    destroy_allocation(id);
}

/// A placeholder with its successor in flight is released: confirmed (G-037), or in another way (G-043).
void PartitionContext::release_swapped(AllocationId placeholder, const ReleaseSpec& spec, EventDetail detail,
                                       bool echoed, Instant now) {
    const ApplicationId application = s_.allocations[placeholder].application;
    const bool confirmed = spec.type == TerminationType::PlaceholderReplaced;
    AllocationId real;
    if (confirmed || can_finish(placeholder)) {
        real = finish_swap(placeholder, detail, now);
    } else {
        undo_swap(s_.allocations[placeholder].partner, now);
        remove_allocation(placeholder, detail, now);
    }
    settle(application, Gone::Placeholder, now);
    if (echoed && !confirmed) echo({std::string{spec.key}}, spec.application, spec.message);
    if (real.valid()) tell_new(real);
}

std::vector<AllocationId> PartitionContext::in_flight_of(const Application& application) const {
    std::vector<AllocationId> halves;
    if (application.gang.in_flight == 0) return halves;
    for (const AllocationId id : application.allocations)
        if (const AllocationId real = s_.allocations[id].partner; real.valid()) halves.push_back(real);
    std::sort(halves.begin(), halves.end(), [this](AllocationId a, AllocationId b) {
        return order_of(s_.allocations[a]) < order_of(s_.allocations[b]);
    });
    return halves;
}

// --- time-outs
// -----------------------------------------------------------------------------------------------------------

/// G-022. Placeholders that are on their way out wait for the RM, not for the time: they hold back no new timer.
void PartitionContext::start_placeholder_timer(ApplicationId id, Instant now) {
    Gang& gang = s_.applications[id].gang;
    if (gang.timer != 0) return;
    gang.timer = s_.next_token++;
    s_.timers.set(now + gang.timeout, TimerKind::Placeholders, id.index, gang.timer);
}

/// G-050, G-051. The order of what the RM is told: G-052.
void PartitionContext::placeholder_timer(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    application.gang.timer = 0;
    const bool runs =
        application.state == ApplicationState::Running || application.state == ApplicationState::Completing;
    const bool fails = !runs && application.gang.hard;
    tell_placeholder_sum(id, now);
    if (!runs) handle(id, fails ? ApplicationEvent::Fail : ApplicationEvent::Resume, kTimedOut, now);
    release_placeholders(id, fails, now);
    drop_timed_out_asks(id, fails, now);
    settle(id, Gone::Ask, now);
}

/// All placed placeholders that are not yet on their way out; `real`: and all other allocations.
void PartitionContext::release_placeholders(ApplicationId id, bool real, Instant now) {
    std::vector<AllocationId> leaving;
    const std::vector<AllocationId> placed = s_.applications[id].allocations;
    for (const AllocationId allocation : placed)
        if ((real || s_.allocations[allocation].is(Allocation::Placeholder)) && claim(allocation, Allocation::Released))
            leaving.push_back(allocation);
    tell_leaving(leaving, TerminationType::Timeout, "the placeholder timed out", now);
}

/// Pending placeholders, and with `real` all other asks: no confirmation is needed (G-051).
void PartitionContext::drop_timed_out_asks(ApplicationId id, bool real, Instant now) {
    const std::string application = s_.applications[id].id;
    std::vector<std::string> keys;
    if (real) {
        for (const AllocationId half : in_flight_of(s_.applications[id])) {
            keys.emplace_back(s_.allocations[half].key.view());
            cancel_in_flight(half, true, now);
        }
    }
    for (const AllocationId ask : pending_of(id)) {
        if (!real && !s_.allocations[ask].is(Allocation::Placeholder)) continue;
        keys.emplace_back(s_.allocations[ask].key.view());
        remove_ask(ask, true, now);
    }
    std::vector<ReleasedAllocation> released;
    released.reserve(keys.size());
    for (const std::string& key : keys)
        released.push_back({s_.full_name, application, key, TerminationType::Timeout, kTimedOut});
    if (!released.empty()) s_.callbacks.allocations_released(released);
}

/// One message to the RM, by key.
void PartitionContext::tell_leaving(std::vector<AllocationId> leaving, TerminationType type, std::string_view message,
                                    Instant now) {
    if (leaving.empty()) return;
    std::sort(leaving.begin(), leaving.end(), [this](AllocationId a, AllocationId b) {
        return s_.allocations[a].key.view() < s_.allocations[b].key.view();
    });
    std::vector<ReleasedAllocation> released;
    for (const AllocationId id : leaving) {
        const Allocation& each = s_.allocations[id];
        released.push_back({s_.full_name, s_.applications[each.application].id, each.key.view(), type, message});
        expect_confirmation(id, type, now);
    }
    s_.callbacks.allocations_released(released);
}

// --- the end (G-054, G-060 to G-062)
// -------------------------------------------------------------------------------------

/// What follows for an application when something of it is gone.
void PartitionContext::settle(ApplicationId id, Gone gone, Instant now) {
    const Application& application = s_.applications[id];
    if (application.state == ApplicationState::Resuming) {
        if (application.placeholders > application.gang.free) return; // some are on their way out
        handle(id, ApplicationEvent::Run, {}, now);
        return;
    }
    if (application.state == ApplicationState::Failing) {
        if (application.allocations.empty()) handle(id, ApplicationEvent::Fail, {}, now);
        return;
    }
    if (!application.pending.is_zero() || !application.allocated.is_zero() || application.gang.in_flight > 0) return;
    const bool held = application.placeholders > 0;
    if (held && gone != Gone::Allocation) return;
    const bool again = !held && (gone == Gone::Placeholder || gone == Gone::All);
    if (application.state == ApplicationState::Completing && !again) return; // its timer raises the next (S-152)
    handle(id, ApplicationEvent::Complete, {}, now);
}

} // namespace yk
