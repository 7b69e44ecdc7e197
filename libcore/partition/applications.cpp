// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/applications.h"

#include <algorithm>

#include "libcore/reports/snapshot.h"
#include "libcore/state/bytes.h"

namespace yk {

namespace {

/// The bytes that its names take, as if none of them was shared with other objects.
std::uint64_t most_bytes(const ApplicationSpec& spec) {
    std::uint64_t bytes = 2 * bytes_of(spec.id) + bytes_of(spec.user) + bytes_of(spec.tags); // the id is a key, too
    for (const std::string_view group : spec.groups) bytes += bytes_of(group);
    return bytes;
}

/// What the application and the queues that would be made for it take of the budget.
Holdings claim_of(const ApplicationSpec& spec, const LeafPlan& plan) {
    std::uint64_t queues = 0, bytes = most_bytes(spec);
    for (std::size_t end = plan.path.size(); end > plan.queue->path.size(); end = plan.path.rfind('.', end - 1)) {
        ++queues;
        bytes += bytes_of(std::string_view{plan.path}.substr(0, end));
    }
    return Holdings{}.plus(Held::Applications, 1).plus(Held::Queues, queues).plus(Held::Names, bytes);
}

constexpr std::string_view kTimedOut = "ResourceReservationTimeout"; // of placeholders (G-051)

} // namespace

void Applications::handle(ApplicationId id, ApplicationEvent event, std::string_view info, Instant now) {
    const std::optional<ApplicationState> to = application_states_.next(id, event);
    if (!to || !is_end(*to)) return application_states_.handle(id, event, info, now);
    application_states_.leave(id, *to);
    drop_asks(id, now);
    leave_queue(id, now);
    state_.applications[id].finished = now;
    application_states_.notify(id, event, info, now);
    end(id, now);
}

/// Moves it from the live to the ended applications (S-580).
void Applications::end(ApplicationId id, Instant now) {
    Application& application = state_.applications[id];
    EndedApplication ended;
    ended.serial = state_.next_token++;
    ended.state = application.state;
    ended.view = view_of(state_, application, false);
    ended.view.whole = true; // it has neither asks nor allocations
    ended.view.list = ApplicationList::Completed;
    EndedCounts& counts = state_.ended.counts_of(ended.view.queue);
    ++(ended.state == ApplicationState::Failed ? counts.failed : counts.completed);
    state_.timers.set(now + state_.settings.terminated_timeout, TimerKind::ApplicationEnd, 0, ended.serial);
    state_.events.application_ended(ended.view);
    for (auto* seconds : {&ended.view.used_seconds, &ended.view.preempted_seconds, &ended.view.placeholder_seconds})
        seconds->clear(); // only its last event has them (S-580, I-723)
    destroy(id);          // before keep(), so that its names do not count twice
    state_.ended.keep(std::move(ended));
}

void Applications::destroy(ApplicationId id) {
    const Application& removed = state_.applications[id];
    state_.budget_meter.take(Held::Applications);
    state_.budget_meter.take(Held::Names, bytes_of(removed));
    for (const auto& [name, group] : removed.gang.groups) state_.texts.release(name);
    state_.group_lists.release(removed.user_groups);
    state_.application_index.remove(id);
    state_.applications.destroy(id);
}

void Applications::expire(EndedApplication& ended, Instant now) {
    ended.state = ApplicationState::Expired;
    ended.view.state = text_of(ApplicationState::Expired);
    ended.view.state_log.emplace_back(now, ended.view.state);
    state_.callbacks.application_updated(
        {state_.full_name, ended.view.id, ended.view.state, now, text_of(ApplicationEvent::Expire)});
    state_.emit({EventType::App, EventChange::Set, EventDetail::AppExpired, ended.view.id}, now);
}

Result<std::string, Refusal> Applications::add(const ApplicationSpec& spec, Instant now) {
    auto added = try_add(spec, now);
    if (!added.ok()) reject(spec, added.error(), now);
    return added;
}

/// When it was submitted, by which applications are ordered. One that is restored keeps its time (I-225).
Instant Applications::submission_time(const ApplicationSpec& spec) {
    if (state_.recovering)
        if (const auto created = creation_time(find_tag(spec.tags, kApplicationCreated))) return *created;
    return state_.last_submitted;
}

Result<std::string, Refusal> Applications::try_add(const ApplicationSpec& spec, Instant now) {
    state_.emit({EventType::App, EventChange::Add, EventDetail::AppNew, spec.id}, now);
    // later than the last one, although the clock may stand still: applications of one request keep their order
    state_.last_submitted = std::max(now, state_.last_submitted + Duration{1});
    const std::string id{spec.id};
    const auto refuse = [](std::string reason, ElementCode code) { return Refusal{std::move(reason), code}; };
    if (!spec.user_fault.empty()) return refuse(std::string{spec.user_fault}, ElementCode::User);
    if (state_.state != ObjectState::Active)
        return refuse("partition " + state_.full_name + " is stopped cannot add a new application " + id,
                      ElementCode::PartitionStopped);
    if (state_.find_application(spec.id).valid())
        return refuse("adding application " + id + " to partition " + state_.full_name +
                          ", but application already existed",
                      ElementCode::AppExists);
    const placement::Outcome placed = state_.rules.place(spec, state_.queues);
    if (!placed.found())
        return refuse("failed to place application " + id + ": " + placed.reason, ElementCode::Placement);
    const std::optional<Resource> placeholder_ask = state_.to_resource(spec.placeholder_ask);
    LeafPlan plan = dynamic_queues_.plan_leaf(placed, spec);
    if (!placeholder_ask || plan.has_too_many_types) {
        auto refusal = too_many_types("application " + id, state_.most_types());
        return refuse(std::move(refusal.reason), refusal.code);
    }
    if (auto refusal = dynamic_queues_.refuse_gang(plan, spec, *placeholder_ask))
        return refuse(std::move(refusal->reason), refusal->code);
    if (auto refusal = admission_.refuse_claim("application " + id, claim_of(spec, plan), false))
        return refuse(std::move(refusal->reason), refusal->code);
    Queue& leaf = dynamic_queues_.commit_leaf(std::move(plan), now); // nothing after this can fail
    const ApplicationId made = state_.applications.make(state_.groups);
    Application& application = state_.applications[made];
    application.id = id;
    application.user = spec.user;
    application.user_groups = state_.group_lists.acquire(spec.groups);
    for (const Tag& tag : spec.tags) application.tags.emplace_back(tag.key, tag.value);
    state_.budget_meter.add(Held::Applications);
    state_.budget_meter.add(Held::Names, bytes_of(application));
    application.placeholder_ask = *placeholder_ask;
    task_groups_.configure(application.gang, spec, now);
    application.submitted = submission_time(spec);
    application.state_log.emplace_back(now, ApplicationState::New);
    application.queue = &leaf;
    application.queue_position = static_cast<std::uint32_t>(leaf.applications.size());
    leaf.applications.push_back(made);
    state_.application_index.add(made);
    ++state_.counters.submitted;
    state_.emit({EventType::Queue, EventChange::Add, EventDetail::QueueApp, leaf.path, spec.id}, now);
    return leaf.path;
}

void Applications::reject(const ApplicationSpec& spec, const Refusal& refusal, Instant now) {
    EndedApplication ended;
    ended.serial = state_.next_token++;
    ended.state = ApplicationState::Rejected;
    ApplicationView& view = ended.view;
    view.id = spec.id;
    view.queue = spec.queue;
    view.user = spec.user;
    view.groups.assign(spec.groups.begin(), spec.groups.end());
    view.state = text_of(ApplicationState::Rejected);
    view.rejected_message = refusal.reason;
    view.list = ApplicationList::Rejected;
    view.submitted = state_.last_submitted;
    view.finished = now;
    view.state_log = {{now, std::string{text_of(ApplicationState::New)}}, {now, view.state}};
    state_.timers.set(now + state_.settings.terminated_timeout, TimerKind::ApplicationEnd, 0, ended.serial);
    ++state_.counters.submitted;
    ++state_.counters.refused;
    // counted for the queue that was asked for, if it exists (I-510)
    const Queue* refused_by = state_.queues.find(spec.queue);
    ++state_.ended.counts_of(refused_by == nullptr ? std::string{} : refused_by->path).rejected;
    state_.emit({EventType::App, EventChange::Set, EventDetail::AppReject, spec.id, {}, refusal.reason}, now);
    state_.ended.keep_rejected(std::move(ended));
}

void Applications::drop_asks(ApplicationId id, Instant now) {
    for (const AllocationId half : placeholder_swaps_.in_flight_of(state_.applications[id]))
        placeholder_swaps_.cancel(half, false, now);
    if (state_.applications[id].pending_asks == 0) return;
    indexes_.refresh();
    for (const AllocationId ask : state_.pending_of(id)) pending_asks_.remove(ask, false, now);
}

std::vector<std::string> Applications::drop_allocations(ApplicationId id, EventDetail detail, Instant now) {
    Application& application = state_.applications[id];
    for (const AllocationId half : placeholder_swaps_.in_flight_of(application))
        placeholder_swaps_.cancel(half, false, now); // while their placeholders exist (G-070)
    std::vector<std::string> keys;
    std::vector<AllocationId> placed = application.allocations;
    std::sort(placed.begin(), placed.end(), [this](AllocationId a, AllocationId b) {
        return state_.allocations[a].key.view() < state_.allocations[b].key.view();
    });
    for (const AllocationId allocation : placed) {
        keys.emplace_back(state_.allocations[allocation].key.view());
        placements_.remove(allocation, detail, now);
    }
    return keys;
}

void Applications::leave_queue(ApplicationId id, Instant now) {
    Application& application = state_.applications[id];
    Queue& leaf = *application.queue;
    application_states_.set_allocating(application, false);
    if (application.slot.in_index()) leaf.application_index.erase(id.index);
    indexes_.forget(id);
    auto& members = leaf.applications;
    members[application.queue_position] = members.back();
    state_.applications[members.back()].queue_position = application.queue_position;
    members.pop_back();
    indexes_.mark_dirty(leaf);
    state_.slots_changed = true;
    user_limits_.unlink(id, now);
    state_.emit({EventType::Queue, EventChange::Remove, EventDetail::QueueApp, leaf.path, application.id}, now);
    state_.emit({EventType::App, EventChange::Remove, EventDetail::None, application.id}, now);
}

void Applications::remove(std::string_view name, Instant now) {
    const ApplicationId id = state_.find_application(name);
    if (!id.valid()) return;
    drop_asks(id, now);
    const std::vector<std::string> keys = drop_allocations(id, EventDetail::AllocCancel, now);
    Application& application = state_.applications[id];
    if (application.state == ApplicationState::Running)
        for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) --queue->running;
    leave_queue(id, now);
    const std::string removed = application.id;
    destroy(id);
    if (!keys.empty()) echo(keys, removed, "application " + removed + " removed");
}

void Applications::echo(std::string_view key, std::string_view application, std::string_view message) {
    const ReleasedAllocation released{state_.full_name, application, key, TerminationType::StoppedByRm, message};
    state_.callbacks.allocations_released({&released, 1});
}

void Applications::echo(const std::vector<std::string>& keys, std::string_view application, std::string_view message) {
    std::vector<ReleasedAllocation> released;
    released.reserve(keys.size());
    for (const std::string& key : keys)
        released.push_back({state_.full_name, application, key, TerminationType::StoppedByRm, message});
    state_.callbacks.allocations_released(released);
}

void Applications::placeholder_timer(ApplicationId id, Instant now) {
    Application& application = state_.applications[id];
    application.gang.timer = 0;
    const bool runs =
        application.state == ApplicationState::Running || application.state == ApplicationState::Completing;
    const bool fails = !runs && application.gang.hard;
    task_groups_.emit_placeholder_sum(id, now);
    if (!runs) handle(id, fails ? ApplicationEvent::Fail : ApplicationEvent::Resume, kTimedOut, now);
    release_placeholders(id, fails, now);
    drop_timed_out_asks(id, fails, now);
    settle(id, Removed::Ask, now);
}

/// Releases all placeholders that are not leaving already; `real`: all other allocations as well.
void Applications::release_placeholders(ApplicationId id, bool real, Instant now) {
    std::vector<AllocationId> leaving;
    const std::vector<AllocationId> placed = state_.applications[id].allocations;
    for (const AllocationId allocation : placed)
        if ((real || state_.allocations[allocation].is(Allocation::Placeholder)) &&
            task_groups_.claim(allocation, Allocation::Released))
            leaving.push_back(allocation);
    placeholder_swaps_.notify_leaving(leaving, TerminationType::Timeout, "the placeholder timed out", now);
}

/// Removes pending placeholders; `real`: all other asks as well. The RM need not confirm that (G-051).
void Applications::drop_timed_out_asks(ApplicationId id, bool real, Instant now) {
    const std::string application = state_.applications[id].id;
    std::vector<std::string> keys;
    if (real) {
        for (const AllocationId half : placeholder_swaps_.in_flight_of(state_.applications[id])) {
            keys.emplace_back(state_.allocations[half].key.view());
            placeholder_swaps_.cancel(half, true, now);
        }
    }
    indexes_.refresh();
    for (const AllocationId ask : state_.pending_of(id)) {
        if (!real && !state_.allocations[ask].is(Allocation::Placeholder)) continue;
        keys.emplace_back(state_.allocations[ask].key.view());
        pending_asks_.remove(ask, true, now);
    }
    std::vector<ReleasedAllocation> released;
    released.reserve(keys.size());
    for (const std::string& key : keys)
        released.push_back({state_.full_name, application, key, TerminationType::Timeout, kTimedOut});
    if (!released.empty()) state_.callbacks.allocations_released(released);
}

void Applications::settle(ApplicationId id, Removed removed, Instant now) {
    if (state_.recovering) return; // the rest of it may still come; Restoration::end() settles all
    const Application& application = state_.applications[id];
    if (application.state == ApplicationState::Resuming) {
        if (application.placeholders > application.gang.free) return; // some are still being released
        handle(id, ApplicationEvent::Run, {}, now);
        return;
    }
    if (application.state == ApplicationState::Failing) {
        if (application.allocations.empty()) handle(id, ApplicationEvent::Fail, {}, now);
        return;
    }
    if (!application.pending.is_zero() || !application.allocated.is_zero() || application.gang.in_flight > 0) return;
    const bool held = application.placeholders > 0;
    if (held && removed != Removed::Allocation) return;
    const bool again = !held && (removed == Removed::Placeholder || removed == Removed::All);
    if (application.state == ApplicationState::Completing && !again) return; // its timer completes it (S-152)
    handle(id, ApplicationEvent::Complete, {}, now);
}

void Applications::completing_timer(ApplicationId id, Instant now) {
    Application& application = state_.applications[id];
    application.timer = 0;
    if (application.placeholders == 0) {
        handle(id, ApplicationEvent::Complete, {}, now);
        return;
    }
    release_placeholders(id, false, now); // G-056: the last confirmation completes it
}

} // namespace yk
