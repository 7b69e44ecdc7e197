// The life of applications (S-140 to S-154, S-490 to S-493, S-580 to S-584).

#include <algorithm>

#include "libcore/scheduler/headroom.h"
#include "libcore/scheduler/leaf_plan.h"
#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

constexpr std::size_t kMaxStateLog = 200; // I-720

bool is_end(ApplicationState state) {
    return state == ApplicationState::Completed || state == ApplicationState::Failed;
}

} // namespace

// --- the state machine (S-142, S-143)
// -----------------------------------------------------------------------------------

void PartitionContext::handle(ApplicationId id, ApplicationEvent event, std::string_view info, Instant now) {
    Application& application = s_.applications[id];
    const ApplicationState from = application.state;
    const std::optional<ApplicationState> to = next_state(from, event);
    if (!to || *to == from) return; // an error changes nothing; no transition to the same state (S-141)
    application.timer = 0;
    if (from == ApplicationState::Running)
        for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) --queue->running;
    application.state = *to;
    enter_state(id, from, now);

    auto& log = application.state_log;
    if (log.size() == kMaxStateLog) log.erase(log.begin() + kMaxStateLog / 2);
    log.emplace_back(now, *to);
    const std::string_view message = info.empty() ? text_of(event) : info;
    s_.callbacks.application_updated({s_.full_name, application.id, text_of(*to), now, message});
    s_.tell({EventType::App, EventChange::Set, event_detail(*to), application.id, {}, info}, now);
    if (is_end(*to)) end_application(id, now);
}

void PartitionContext::enter_state(ApplicationId id, ApplicationState from, Instant now) {
    Application& application = s_.applications[id];
    if (application.state == ApplicationState::Accepted) ++s_.counters.accepted;
    if (application.state == ApplicationState::Running) {
        application.started = now;
        set_allocating(application, false);
        for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) ++queue->running;
    }
    if (application.state == ApplicationState::Completing) {
        application.timer = s_.next_token++;
        s_.timers.set(now + s_.settings.completing_timeout, TimerKind::ApplicationState, id.index, application.timer);
    }
    if (is_end(application.state)) {
        drop_asks(id, now);
        leave_queue(id, now);
        application.finished = now;
        return;
    }
    if (from == ApplicationState::Resuming && application.gang.free > 0) start_placeholder_timer(id, now);
    if (application.state == ApplicationState::Running || from == ApplicationState::Running) s_.slots_changed = true;
    if (application.state != ApplicationState::Accepted) orders_.let_go(application); // C-410 holds no others back
    link_users(id, now);
    orders_.touch(id);
    orders_.touch(*application.queue);
}

/// S-580: from the live to the terminated list.
void PartitionContext::end_application(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    EndedApplication ended;
    ended.serial = s_.next_token++;
    ended.state = application.state;
    ended.view = view_of(application, false);
    ended.view.whole = true; // it has neither asks nor allocations
    ended.view.list = ApplicationList::Completed;
    EndedCounts& counts = ended_counts_of(ended.view.queue);
    ++(ended.state == ApplicationState::Failed ? counts.failed : counts.completed);
    s_.timers.set(now + s_.settings.terminated_timeout, TimerKind::ApplicationEnd, 0, ended.serial);
    s_.events.application_ended(ended.view);
    for (auto* seconds : {&ended.view.used_seconds, &ended.view.preempted_seconds, &ended.view.placeholder_seconds})
        seconds->clear();    // S-580, I-723
    destroy_application(id); // its names make room
    keep_ended(std::move(ended));
}

void PartitionContext::destroy_application(ApplicationId id) {
    const Application& gone = s_.applications[id];
    s_.ledger.take(Held::Applications);
    s_.ledger.take(Held::Names, bytes_of(gone));
    for (const auto& [name, group] : gone.gang.groups) s_.texts.release(name);
    s_.group_lists.release(gone.user_groups);
    s_.application_ids.erase(gone.id);
    s_.applications.destroy(id);
}

void PartitionContext::expire(EndedApplication& ended, Instant now) {
    ended.state = ApplicationState::Expired;
    ended.view.state = text_of(ApplicationState::Expired);
    ended.view.state_log.emplace_back(now, ended.view.state);
    s_.callbacks.application_updated(
        {s_.full_name, ended.view.id, ended.view.state, now, text_of(ApplicationEvent::Expire)});
    s_.tell({EventType::App, EventChange::Set, EventDetail::AppExpired, ended.view.id}, now);
}

// --- submission (S-490)
// ---------------------------------------------------------------------------------------------------

Result<std::string, Refusal> PartitionContext::add_application(const ApplicationSpec& spec, Instant now) {
    s_.tell({EventType::App, EventChange::Add, EventDetail::AppNew, spec.id}, now);
    // Applications of one request keep the order of the list: the clock may stand still meanwhile.
    s_.last_submitted = std::max(now, s_.last_submitted + Duration{1});
    const std::string id{spec.id};
    const auto refuse = [&](std::string reason, ElementCode code) -> Refusal {
        Refusal refusal{std::move(reason), code};
        reject(spec, refusal, now);
        return refusal;
    };
    if (!spec.user_fault.empty()) return refuse(std::string{spec.user_fault}, ElementCode::User);
    if (s_.state != ObjectState::Active)
        return refuse("partition " + s_.full_name + " is stopped cannot add a new application " + id,
                      ElementCode::PartitionStopped);
    if (s_.find_application(spec.id).valid())
        return refuse("adding application " + id + " to partition " + s_.full_name +
                          ", but application already existed",
                      ElementCode::AppExists);
    const placement::Outcome placed = s_.rules.place(spec, s_);
    if (!placed.found())
        return refuse("failed to place application " + id + ": " + placed.reason, ElementCode::Placement);
    const std::optional<Resource> placeholder_ask = to_resource(spec.placeholder_ask);
    if (!placeholder_ask)
        return refuse("cannot fit application " + id + ": too many resource types", ElementCode::GangTooLarge);
    LeafPlan plan = plan_leaf(placed, spec);
    if (auto refusal = refuse_gang(plan, spec, *placeholder_ask))
        return refuse(std::move(refusal->reason), refusal->code);
    if (auto refusal = refuse_claim("application " + id, claim_of(spec, plan), false))
        return refuse(std::move(refusal->reason), refusal->code);
    Queue& leaf = commit_leaf(std::move(plan), now); // nothing after this can fail
    const ApplicationId made = s_.applications.make(s_.groups);
    Application& application = s_.applications[made];
    application.id = id;
    application.user = spec.user;
    application.user_groups = s_.group_lists.acquire(spec.groups);
    for (const Tag& tag : spec.tags) application.tags.emplace_back(tag.key, tag.value);
    s_.ledger.add(Held::Applications);
    s_.ledger.add(Held::Names, bytes_of(application));
    application.placeholder_ask = *placeholder_ask;
    configure_gang(application.gang, spec, now);
    application.submitted = s_.last_submitted;
    application.state_log.emplace_back(now, ApplicationState::New);
    application.queue = &leaf;
    application.queue_position = static_cast<std::uint32_t>(leaf.applications.size());
    leaf.applications.push_back(made);
    s_.application_ids.emplace(id, made);
    ++s_.counters.submitted;
    s_.tell({EventType::Queue, EventChange::Add, EventDetail::QueueApp, leaf.path, spec.id}, now);
    return leaf.path;
}

void PartitionContext::reject(const ApplicationSpec& spec, const Refusal& refusal, Instant now) {
    EndedApplication ended;
    ended.serial = s_.next_token++;
    ended.state = ApplicationState::Rejected;
    ApplicationView& view = ended.view;
    view.id = spec.id;
    view.queue = spec.queue;
    view.user = spec.user;
    view.groups.assign(spec.groups.begin(), spec.groups.end());
    view.state = text_of(ApplicationState::Rejected);
    view.rejected_message = refusal.reason;
    view.list = ApplicationList::Rejected;
    view.submitted = s_.last_submitted;
    view.finished = now;
    view.state_log = {{now, std::string{text_of(ApplicationState::New)}}, {now, view.state}};
    s_.timers.set(now + s_.settings.terminated_timeout, TimerKind::ApplicationEnd, 0, ended.serial);
    ++s_.counters.submitted;
    ++s_.counters.refused;
    const Queue* refused_by = s_.find_queue(spec.queue);
    ++ended_counts_of(refused_by == nullptr ? std::string{} : refused_by->path).rejected; // I-510
    s_.tell({EventType::App, EventChange::Set, EventDetail::AppReject, spec.id, {}, refusal.reason}, now);
    keep_rejected(std::move(ended));
}

// --- removal (S-493)
// -------------------------------------------------------------------------------------------------------

std::vector<AllocationId> PartitionContext::pending_of(ApplicationId id) const {
    std::vector<AllocationId> asks;
    orders_.refresh(); // a group that was just made is not in the index before
    s_.applications[id].groups.for_each([&](std::uint32_t group) {
        for (AllocationId ask = s_.groups[GroupId{group}].head; ask.valid();
             ask = {s_.allocations[ask].place.pending.next})
            asks.push_back(ask);
    });
    std::sort(asks.begin(), asks.end(), [this](AllocationId a, AllocationId b) {
        return order_of(s_.allocations[a]) < order_of(s_.allocations[b]);
    });
    return asks;
}

/// Those of a replacement in flight, too: to the RM they still are asks.
void PartitionContext::drop_asks(ApplicationId id, Instant now) {
    for (const AllocationId half : in_flight_of(s_.applications[id])) cancel_in_flight(half, false, now);
    if (s_.applications[id].pending_asks == 0) return;
    for (const AllocationId ask : pending_of(id)) remove_ask(ask, false, now);
}

std::vector<std::string> PartitionContext::drop_allocations(ApplicationId id, EventDetail detail, Instant now) {
    Application& application = s_.applications[id];
    for (const AllocationId half : in_flight_of(application)) cancel_in_flight(half, false, now); // G-070
    std::vector<std::string> keys;
    std::vector<AllocationId> placed = application.allocations;
    std::sort(placed.begin(), placed.end(), [this](AllocationId a, AllocationId b) {
        return s_.allocations[a].key.view() < s_.allocations[b].key.view();
    });
    for (const AllocationId allocation : placed) {
        keys.emplace_back(s_.allocations[allocation].key.view());
        remove_allocation(allocation, detail, now);
    }
    return keys;
}

void PartitionContext::leave_queue(ApplicationId id, Instant now) {
    Application& application = s_.applications[id];
    Queue& leaf = *application.queue;
    set_allocating(application, false);
    if (application.slot.in_index()) leaf.application_index.erase(id.index);
    orders_.forget(id);
    auto& members = leaf.applications;
    members[application.queue_position] = members.back();
    s_.applications[members.back()].queue_position = application.queue_position;
    members.pop_back();
    orders_.touch(leaf);
    s_.slots_changed = true;
    unlink_users(id, now);
    s_.tell({EventType::Queue, EventChange::Remove, EventDetail::QueueApp, leaf.path, application.id}, now);
    s_.tell({EventType::App, EventChange::Remove, EventDetail::None, application.id}, now);
}

void PartitionContext::remove_application(std::string_view name, Instant now) {
    const ApplicationId id = s_.find_application(name);
    if (!id.valid()) return;
    drop_asks(id, now);
    const std::vector<std::string> keys = drop_allocations(id, EventDetail::AllocCancel, now);
    Application& application = s_.applications[id];
    if (application.state == ApplicationState::Running)
        for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) --queue->running;
    leave_queue(id, now);
    const std::string gone = application.id;
    destroy_application(id);
    if (!keys.empty()) echo(keys, gone, "application " + gone + " removed");
}

// --- running slots (S-260 to S-265)
// ----------------------------------------------------------------------------------------

void PartitionContext::set_allocating(Application& application, bool on) {
    if (application.allocating_accepted == on) return;
    application.allocating_accepted = on;
    for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) {
        queue->allocating += on ? 1U : 0U;
        queue->allocating -= on ? 0U : 1U;
    }
    orders_.touch(*application.queue);
    s_.slots_changed = true;
}

void PartitionContext::tell_runnable(ApplicationId id, bool in_queue, bool by_quota, Instant now) {
    Application& application = s_.applications[id];
    const auto tell = [&](bool& told, bool runnable, EventDetail can, EventDetail cannot) {
        if (told == runnable) return;
        told = runnable;
        s_.tell({EventType::App, EventChange::None, runnable ? can : cannot, application.id}, now);
    };
    tell(application.runnable_in_queue, in_queue, EventDetail::AppRunnableQueue, EventDetail::AppCannotRunQueue);
    tell(application.runnable_by_quota, by_quota, EventDetail::AppRunnableQuota, EventDetail::AppCannotRunQuota);
}

/// After a walk without outcome every application with pending asks was considered (S-265).
void PartitionContext::tell_runnable_flags(Instant now) {
    if (!s_.slots_changed) return;
    s_.slots_changed = false;
    std::vector<ApplicationId> waiting;
    s_.applications.for_each([&](ApplicationId id) {
        if (s_.applications[id].pending.gt_zero()) waiting.push_back(id);
    });
    s_.sort_by_name(waiting);
    for (const ApplicationId id : waiting) {
        const Application& application = s_.applications[id];
        tell_runnable(id, has_slot(application), has_user_slot(s_, application), now);
    }
}

} // namespace yk
