// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/reference_partition.h"

#include <algorithm>

namespace yk::reference {

std::string Queue::property(const std::string& key) const {
    const auto found = properties.find(key);
    return found == properties.end() ? std::string{} : found->second;
}

std::string text_of(State state) {
    switch (state) {
    case State::New: return "New";
    case State::Accepted: return "Accepted";
    case State::Running: return "Running";
    case State::Resuming: return "Resuming";
    case State::Completing: return "Completing";
    case State::Completed: return "Completed";
    case State::Failing: return "Failing";
    case State::Failed: return "Failed";
    case State::Rejected: return "Rejected";
    case State::Expired: return "Expired";
    }
    return "";
}

std::optional<State> next_state(State from, AppEvent event) {
    static const std::map<std::pair<State, AppEvent>, State> table{
        {{State::New, AppEvent::Run}, State::Accepted},
        {{State::New, AppEvent::Fail}, State::Failing},
        {{State::New, AppEvent::Resume}, State::Resuming},
        {{State::New, AppEvent::Reject}, State::Rejected},
        {{State::Accepted, AppEvent::Run}, State::Running},
        {{State::Accepted, AppEvent::Complete}, State::Completing},
        {{State::Accepted, AppEvent::Fail}, State::Failing},
        {{State::Accepted, AppEvent::Resume}, State::Resuming},
        {{State::Running, AppEvent::Run}, State::Running},
        {{State::Running, AppEvent::Complete}, State::Completing},
        {{State::Running, AppEvent::Fail}, State::Failing},
        {{State::Resuming, AppEvent::Run}, State::Accepted},
        {{State::Completing, AppEvent::Run}, State::Running},
        {{State::Completing, AppEvent::Complete}, State::Completed},
        {{State::Failing, AppEvent::Fail}, State::Failed},
        {{State::Completed, AppEvent::Expire}, State::Expired},
        {{State::Failed, AppEvent::Expire}, State::Expired},
        {{State::Rejected, AppEvent::Expire}, State::Expired},
    };
    const auto found = table.find({from, event});
    return found == table.end() ? std::nullopt : std::optional<State>(found->second);
}

namespace {

/// The name of an event, which is the message of the update that it causes (S-142).
std::string name_of(AppEvent event) {
    switch (event) {
    case AppEvent::Run: return "runApplication";
    case AppEvent::Complete: return "completeApplication";
    case AppEvent::Fail: return "failApplication";
    case AppEvent::Resume: return "resumeApplication";
    case AppEvent::Reject: return "rejectApplication";
    case AppEvent::Expire: return "expireApplication";
    }
    return "";
}

EventDetail detail_of(State state) {
    switch (state) {
    case State::New: return EventDetail::AppNew;
    case State::Accepted: return EventDetail::AppAccepted;
    case State::Running: return EventDetail::AppRunning;
    case State::Resuming: return EventDetail::AppResuming;
    case State::Completing: return EventDetail::AppCompleting;
    case State::Completed: return EventDetail::AppCompleted;
    case State::Failing: return EventDetail::AppFailing;
    case State::Failed: return EventDetail::AppFailed;
    case State::Rejected: return EventDetail::AppReject;
    case State::Expired: return EventDetail::AppExpired;
    }
    return EventDetail::None;
}

} // namespace

Partition::Partition(std::string full_name, Ports& ports, Instant now)
    : name_(std::move(full_name)),
      ports_(ports),
      next_sweep_(now + ports.settings.queue_clean_interval),
      next_purge_(now + ports.settings.expired_purge_interval) {}

// --- ports ----------------------------------------------------------------------------------------------------------

Resource Partition::resource_of(const Amounts& amounts) {
    Resource resource;
    for (const auto& [type, value] : amounts) resource.set(ports_.names.intern(type), value);
    return resource;
}

void Partition::event(EventType type, const std::string& object, EventChange change, EventDetail detail, Instant now,
                      const std::string& reference, const Maybe& resource) {
    if (!ports_.settings.events_enabled) return;
    EventRecord record;
    record.type = type;
    record.change = change;
    record.detail = detail;
    record.at = now;
    record.partition = name_;
    record.object = object;
    record.reference = reference;
    Resource amounts;
    if (resource) {
        amounts = resource_of(*resource);
        record.resource = {&amounts, &ports_.names};
    }
    ports_.events.record(record);
}

void Partition::root_max_event(const Maybe& before, Instant now) {
    const Maybe after = max_of(queues_.at("root"));
    if (after != before) event(EventType::Queue, "root", EventChange::Set, EventDetail::QueueMax, now, {}, after);
}

void Partition::report_released(const std::vector<std::pair<std::string, std::string>>& keys) {
    if (keys.empty()) return;
    std::vector<ReleasedAllocation> released;
    for (const auto& [app, key] : keys) released.push_back({name_, app, key, TerminationType::StoppedByRm, {}});
    ports_.callbacks.allocations_released(released);
}

// --- the application's states (S-140 to S-146) ----------------------------------------------------------------------

Application* Partition::find(const std::string& app) {
    const auto found = applications_.find(app);
    return found == applications_.end() ? nullptr : found->second.get();
}

bool Partition::raise(Application& app, AppEvent what, Instant now, const std::string& info) {
    const auto to = next_state(app.state, what);
    if (!to) return false;
    if (*to == app.state) return true; // a transition to the same state is none (S-141)
    app.timer.reset();
    if (app.state == State::New && what != AppEvent::Reject) track(app, now);
    app.state = *to;
    enter(app, now);
    app.log.emplace_back(now, app.state);
    const std::string state = text_of(app.state), message = info.empty() ? name_of(what) : info;
    if (app.state != State::Rejected) ports_.callbacks.application_updated({name_, app.id, state, now, message});
    event(EventType::App, app.id, EventChange::Set, detail_of(app.state), now);
    return true;
}

/// What happens on the way into a state (S-143).
void Partition::enter(Application& app, Instant now) {
    if (app.state == State::Running) {
        app.started = now;
        app.allocating = false;
    } else if (app.state == State::Completing) {
        app.timer = Timer{now + ports_.settings.completing_timeout, AppEvent::Complete};
    } else if (app.state == State::Rejected) {
        app.timer = Timer{now + ports_.settings.terminated_timeout, AppEvent::Expire};
        app.finished = now;
    } else if (app.state == State::Completed || app.state == State::Failed) {
        app.timer = Timer{now + ports_.settings.terminated_timeout, AppEvent::Expire};
        leave_queue(app, now);
        app.requests.clear();
        app.finished = now;
        auto node = applications_.extract(app.id);
        terminated_.push_back(std::move(node.mapped()));
    }
}

void Partition::leave_queue(Application& app, Instant now) {
    queues_.at(app.queue).applications.erase(app.id);
    app.allocating = false;
    untrack(app, now);
    event(EventType::Queue, app.queue, EventChange::Remove, EventDetail::QueueApp, now, app.id);
    event(EventType::App, app.id, EventChange::Remove, EventDetail::None, now);
}

/// S-146, after an ask is gone.
void Partition::complete_after_ask(Application& app, Instant now) {
    if (app.state == State::Failing || app.state == State::Completing) return;
    if (is_zero(pending(app)) && is_zero(allocated(app, false)) && is_zero(allocated(app, true)))
        raise(app, AppEvent::Complete, now);
}

/// S-146, after a real allocation is gone.
void Partition::complete_after_allocation(Application& app, Instant now) {
    if (is_zero(pending(app)) && is_zero(allocated(app, false))) raise(app, AppEvent::Complete, now);
}

// --- timers ---------------------------------------------------------------------------------------------------------

std::vector<Application*> Partition::with_timer() {
    std::vector<Application*> all;
    for (const auto& [id, app] : applications_) all.push_back(app.get());
    for (const auto& app : terminated_) all.push_back(app.get());
    for (const auto& [id, app] : rejected_) all.push_back(app.get());
    all.erase(std::remove_if(all.begin(), all.end(), [](const Application* app) { return !app->timer; }), all.end());
    return all;
}

Instant Partition::next_timer() const {
    Instant next = std::min(next_sweep_, next_purge_);
    for (const Application* app : const_cast<Partition*>(this)->with_timer()) next = std::min(next, app->timer->due);
    return next;
}

void Partition::fire_timers(Instant now) {
    halve_what_was_learnt(now);
    while (next_timer() <= now) {
        const Instant due = next_timer();
        for (Application* app : with_timer()) {
            if (!app->timer || app->timer->due != due) continue;
            const AppEvent what = app->timer->event;
            app->timer.reset();
            raise(*app, what, now);
        }
        if (next_sweep_ == due) {
            next_sweep_ = due + ports_.settings.queue_clean_interval;
            sweep(now);
        }
        if (next_purge_ == due) {
            next_purge_ = due + ports_.settings.expired_purge_interval;
            const auto gone = [](const auto& app) { return app->state == State::Expired; };
            terminated_.erase(std::remove_if(terminated_.begin(), terminated_.end(), gone), terminated_.end());
            for (auto it = rejected_.begin(); it != rejected_.end();)
                it = gone(it->second) ? rejected_.erase(it) : std::next(it);
        }
    }
}

// --- reservations ---------------------------------------------------------------------------------------------------

std::vector<Reservation> Partition::reservations_of(const Application& app) const {
    std::vector<Reservation> found;
    for (const Reservation& r : reservations_)
        if (r.application == app.id) found.push_back(r);
    return found;
}

std::vector<Reservation> Partition::reservations_on(const std::string& node) const {
    std::vector<Reservation> found;
    for (const Reservation& r : reservations_)
        if (r.node == node) found.push_back(r);
    return found;
}

const Reservation* Partition::reservation_of(const Application& app, const std::string& key) const {
    for (const Reservation& r : reservations_)
        if (r.application == app.id && r.key == key) return &r;
    return nullptr;
}

bool Partition::is_required(const Reservation& reservation) const {
    return !applications_.at(reservation.application)->requests.at(reservation.key).required_node.empty();
}

void Partition::reserve(Application& app, const Ask& ask, const Node& node, Instant now) {
    reservations_.push_back({app.id, ask.key, node.id, now});
    event(EventType::Node, node.id, EventChange::Add, EventDetail::NodeReservation, now, ask.key, ask.resource);
}

void Partition::unreserve(const std::string& app, const std::string& key, Instant now) {
    for (auto it = reservations_.begin(); it != reservations_.end(); ++it) {
        if (it->application != app || it->key != key) continue;
        const Amounts size = applications_.at(app)->requests.at(key).resource;
        const std::string node = it->node;
        reservations_.erase(it);
        applications_.at(app)->requests.at(key).trigger = 0; // it may choose victims again (P-079)
        event(EventType::Node, node, EventChange::Remove, EventDetail::NodeReservation, now, key, size);
        return;
    }
}

} // namespace yk::reference
