// SPDX-License-Identifier: Apache-2.0
// Requests of the RM: asks, placements, releases, applications (scheduling.md sections 10 to 16).

#include <algorithm>
#include <charconv>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

constexpr std::string_view kRequiredNode = "yunikorn.apache.org/requiredNode";

std::string_view tag_of(const Tags& tags, std::string_view key) {
    for (const Tag& tag : tags)
        if (tag.key == key) return tag.value;
    return {};
}

bool has_tag(const Tags& tags, std::string_view key) {
    return std::any_of(tags.begin(), tags.end(), [key](const Tag& tag) { return tag.key == key; });
}

Amounts amounts_of(const Quantities& quantities) {
    Amounts amounts;
    for (const Quantity& q : quantities) amounts[std::string(q.name)] = q.value;
    return amounts;
}

std::vector<std::pair<std::string, std::string>> owned(const Tags& tags) {
    std::vector<std::pair<std::string, std::string>> copy;
    for (const Tag& tag : tags) copy.emplace_back(tag.key, tag.value);
    return copy;
}

/// S-110: decimal seconds; absent or not a number: now.
Instant created_at(const Tags& tags, Instant now) {
    const std::string_view text = tag_of(tags, "creationTime");
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return now;
    return {seconds * 1'000'000'000};
}

std::map<std::string, DevicePart> stated_of(const AskSpec& spec) {
    std::map<std::string, DevicePart> stated;
    for (const DevicesSpec& each : spec.devices)
        if (each.on.empty()) stated[std::string{each.name}] = {each.count, each.each};
    return stated;
}

std::map<std::string, std::map<std::int64_t, std::int64_t>> said_of(const AskSpec& spec) {
    std::map<std::string, std::map<std::int64_t, std::int64_t>> said;
    for (const DevicesSpec& each : spec.devices)
        for (const DeviceAmount& on : each.on) said[std::string{each.name}][on.index] = on.amount;
    return said;
}

void take_over(Ask& ask, const AskSpec& spec) {
    ask.stated = stated_of(spec);
    ask.resource = amounts_of(spec.resource);
    ask.priority = spec.priority;
    ask.tags = owned(spec.tags);
    ask.required_node = tag_of(spec.tags, kRequiredNode);
    ask.task_group = spec.task_group;
    ask.originator = spec.originator;
    ask.allow_preempt_self = spec.allow_preempt_self;
    ask.allow_preempt_other = spec.allow_preempt_other;
}

/// The detail of the event about an allocation that ended (S-600).
EventDetail detail_of(TerminationType type) {
    switch (type) {
    case TerminationType::Timeout: return EventDetail::AllocTimeout;
    case TerminationType::PreemptedByScheduler: return EventDetail::AllocPreempt;
    case TerminationType::PlaceholderReplaced: return EventDetail::AllocReplaced;
    case TerminationType::Unknown:
    case TerminationType::StoppedByRm: break;
    }
    return EventDetail::AllocCancel;
}

EventDetail request_detail_of(TerminationType type) {
    return type == TerminationType::Timeout ? EventDetail::RequestTimeout : EventDetail::RequestCancel;
}

/// Whether the RM is notified of a release that it asked for (S-472).
bool is_echoed(TerminationType type) {
    return type == TerminationType::Unknown || type == TerminationType::StoppedByRm;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

} // namespace

// --- asks and placements (section 11) -------------------------------------------------------------------------------

/// S-450 and I-141, in order.
std::optional<Refusal> Partition::refusal_of(const AskSpec& spec, bool placed) {
    const Application* app = find(std::string(spec.application));
    const Amounts size = amounts_of(spec.resource);
    if (app == nullptr) return Refusal{ElementCode::AppUnknown, "failed to find application"};
    if (app->state == State::Failing) return Refusal{ElementCode::AppTerminal, "Failing"};
    if (spec.placeholder && spec.task_group.empty()) return Refusal{ElementCode::PlaceholderGroup, "task group"};
    if (!spec.node.empty() && nodes_.count(std::string(spec.node)) == 0)
        return Refusal{ElementCode::NodeUnknown, "failed to find node"};
    if (is_zero(size)) return Refusal{ElementCode::NoResource, "no resources"};
    if (has_negative(size)) return Refusal{ElementCode::Negative, "negative resources"};
    if (spec.max_allocations > 1) return Refusal{ElementCode::Repeat, "repeated asks are not supported"};
    return refused_devices(spec, placed);
}

/// What an ask states is what it asks for; what it names is on a node, each device once (F-003, F-006).
std::optional<Refusal> Partition::refused_devices(const AskSpec& spec, bool placed) const {
    const Amounts size = amounts_of(spec.resource);
    for (const DevicesSpec& each : spec.devices) {
        const auto wanted = size.find(std::string{each.name});
        const std::int64_t amount = wanted == size.end() ? 0 : wanted->second;
        bool right = !each.on.empty() || (each.count >= 1 && each.count <= 64 && each.each >= 1);
        std::int64_t sum = each.on.empty() ? each.count * each.each : 0;
        std::set<std::uint32_t> seen;
        for (const DeviceAmount& on : each.on) {
            right = right && placed && on.index < 64 && on.amount >= 1 && seen.insert(on.index).second;
            sum += on.amount;
        }
        if (!right || sum != amount) return Refusal{ElementCode::Devices, "devices"};
    }
    return std::nullopt;
}

std::optional<Refusal> Partition::ask(const AskSpec& spec, Instant now, bool with_echo) {
    if (has_tag(spec.tags, "foreign")) return foreign(spec, now);
    if (auto refusal = refusal_of(spec, !spec.node.empty())) return refusal;
    Application* app = find(std::string(spec.application));
    if (!spec.node.empty()) return existing(*app, spec, now, with_echo);

    const auto known = app->requests.find(std::string(spec.key));
    if (known != app->requests.end()) { // S-451, without node
        Ask& ask = known->second;
        if (ask.placeholder != spec.placeholder) return Refusal{ElementCode::IdentityChange, "placeholder"};
        if (!ask.allocated && tag_of(spec.tags, kRequiredNode) != ask.required_node)
            unreserve(app->id, ask.key, now); // kept for another kind of ask (S-401)
        if (ask.allocated) {
            resize_placed(*app, ask, spec);
            return std::nullopt;
        }
        const bool other = !equals(ask.resource, amounts_of(spec.resource)) || ask.stated != stated_of(spec);
        Ask wanted = ask;
        take_over(wanted, spec);
        const Reservation* held = reservation_of(*app, ask.key);
        // too large for the node (S-415)
        if (other && held != nullptr && !could_take(nodes_.at(held->node), wanted)) unreserve(app->id, ask.key, now);
        take_over(ask, spec);
        return std::nullopt;
    }
    // a new ask makes it run (S-452)
    if (app->state == State::New || app->state == State::Completing) raise(*app, AppEvent::Run, now);
    Ask ask;
    ask.key = spec.key;
    take_over(ask, spec);
    ask.placeholder = spec.placeholder;
    ask.created = created_at(spec.tags, now);
    ask.arrival = ++arrivals_;
    // an older ask moves the time of submission back (S-103)
    if (ask.created < app->arrived) app->submitted = std::min(app->submitted, ask.created);
    app->requests[ask.key] = ask;
    learn(ask);
    event(EventType::App, app->id, EventChange::Add, EventDetail::AppRequest, now, ask.key, ask.resource);
    return std::nullopt;
}

/// A placement that the RM reports: S-451 with node, S-454, S-455.
std::optional<Refusal> Partition::existing(Application& app, const AskSpec& spec, Instant now, bool with_echo) {
    const std::string key(spec.key), node(spec.node);
    const auto known = app.requests.find(key);
    if (known != app.requests.end() && known->second.placeholder != spec.placeholder)
        return Refusal{ElementCode::IdentityChange, "placeholder"};
    if (known != app.requests.end() && known->second.allocated) {
        if (known->second.node != node) return Refusal{ElementCode::NodeMismatch, "another node"};
        resize_placed(app, known->second, spec);
        return std::nullopt;
    }
    if (known == app.requests.end()) {
        Ask ask;
        ask.key = key;
        take_over(ask, spec);
        ask.placeholder = spec.placeholder;
        ask.created = created_at(spec.tags, now);
        ask.arrival = ++arrivals_;
        if (ask.created < app.arrived) app.submitted = std::min(app.submitted, ask.created);
        app.requests[key] = ask;
        learn(ask);
    } else {
        unreserve(app.id, key, now); // it needs no reservation any more (S-455)
        Ask& ask = known->second;
        const bool as_asked = spec.devices.empty() && equals(ask.resource, amounts_of(spec.resource));
        if (!as_asked) ask.stated = stated_of(spec);
        if (!equals(ask.resource, amounts_of(spec.resource))) ask.resource = amounts_of(spec.resource);
    }
    app.requests.at(key).said = said_of(spec);
    place(app, app.requests.at(key), node, now);
    app.requests.at(key).said.clear();
    if (with_echo) announce(app, app.requests.at(key));
    return std::nullopt;
}

/// Node, state, usage of the user, application: the order of the events (S-330, I-600).
void Partition::place(Application& app, Ask& ask, const std::string& node, Instant now) {
    const DevicesByType better = better_devices(nodes_.at(node), ask); // before the node has the ask
    ask.allocated = true;
    ask.node = node;
    ask.bound = now;
    ask.trigger = 0;
    ask.holds.clear();
    take_devices(nodes_.at(node), ask, ask.holds, true, better);
    event(EventType::Node, node, EventChange::Add, EventDetail::NodeAlloc, now, ask.key, ask.resource);
    if (app.state == State::New) raise(app, AppEvent::Run, now);
    raise_peak(app);
    if (!ask.placeholder) raise(app, AppEvent::Run, now);
    app.counted_running = true; // counts for the limits of its user from now on (C-406)
    usage_event(app, EventChange::Add, ask.resource, now);
    event(EventType::App, app.id, EventChange::Add, EventDetail::AppAlloc, now, ask.key, ask.resource);
    unreserve(app.id, ask.key, now);
}

void Partition::announce(const Application& app, const Ask& ask) {
    const Resource amounts = resource_of(ask.resource);
    NewAllocation made;
    Tags tags;
    for (const auto& [key, value] : ask.tags) tags.push_back({key, value});
    made.partition = name_;
    made.application = app.id;
    made.key = ask.key;
    made.node = ask.node;
    made.queue = app.queue;
    made.task_group = ask.task_group;
    made.resource = {&amounts, &ports_.names};
    made.tags = tags;
    made.priority = ask.priority;
    made.placeholder = ask.placeholder;
    made.originator = ask.originator;
    ports_.callbacks.allocation_made(made);
}

/// Peaks of real allocations and of placeholders, kept in one value (S-184).
void Partition::raise_peak(Application& app) {
    app.max_used = cmax(cmax(app.max_used, allocated(app, false)), allocated(app, true));
}

/// An allocation is changed in place, whatever the limits (S-456). It gets devices for its size: those that the RM
/// says, else the same as before where they are enough.
void Partition::resize_placed(Application& app, Ask& ask, const AskSpec& spec) {
    const Amounts size = amounts_of(spec.resource);
    const bool same = equals(ask.resource, size); // also if only zeros differ (S-457)
    if (same && spec.devices.empty()) return;
    Node& node = nodes_.at(ask.node);
    DevicesByType before;
    for (const DeviceHold& each : ask.holds) before[each.type].insert(each.on.begin(), each.on.end());
    ask.holds.clear();
    settle_devices(node);
    ask.resource = size;
    ask.stated = stated_of(spec);
    ask.said = said_of(spec);
    take_devices(node, ask, ask.holds, true, before);
    ask.said.clear();
    if (!same) raise_peak(app);
}

/// An allocation that the core only counts as occupied (section 16).
std::optional<Refusal> Partition::foreign(const AskSpec& spec, Instant now) {
    const std::string key(spec.key), node(spec.node);
    const Amounts size = amounts_of(spec.resource);
    if (node.empty()) return Refusal{ElementCode::NodeUnknown, "foreign request"};
    if (nodes_.count(node) == 0) return Refusal{ElementCode::NodeUnknown, "failed to find node"};
    if (has_negative(size)) return Refusal{ElementCode::Negative, "negative resources"};
    if (auto refusal = refused_devices(spec, true)) return refusal;
    Node& target = nodes_.at(node);
    const Amounts before = occupied(target);
    const bool is_new = target.foreign.count(key) == 0;
    if (is_new) release_foreign(key, now); // it may move from another node
    target.foreign[key].holds.clear();
    settle_devices(target);
    Foreign& made = target.foreign[key];
    made.resource = size;
    made.stated = stated_of(spec);
    made.arrival = ++arrivals_;
    Ask as_ask;
    as_ask.resource = size;
    as_ask.stated = made.stated;
    as_ask.said = said_of(spec);
    std::vector<DeviceHold> holds;
    take_devices(target, as_ask, holds, false);
    target.foreign[key].holds = holds;
    if (is_new) event(EventType::Node, node, EventChange::Add, EventDetail::NodeAlloc, now, key, size);
    occupied_event(target, before, now);
    return std::nullopt;
}

/// No such key: ignored; no callback either way (S-502).
void Partition::release_foreign(const std::string& key, Instant now) {
    for (auto& [id, node] : nodes_) {
        const auto known = node.foreign.find(key);
        if (known == node.foreign.end()) continue;
        const Amounts before = occupied(node), size = known->second.resource;
        node.foreign.erase(known);
        settle_devices(node);
        event(EventType::Node, id, EventChange::Remove, EventDetail::NodeAlloc, now, key, size);
        occupied_event(node, before, now);
    }
}

void Partition::occupied_event(const Node& node, const Amounts& before, Instant now) {
    if (occupied(node) != before)
        event(EventType::Node, node.id, EventChange::Set, EventDetail::NodeOccupied, now, {}, occupied(node));
}

// --- releases (section 12) ------------------------------------------------------------------------------------------

void Partition::remove_request(Application& app, const std::string& key, EventDetail detail, Instant now) {
    unreserve(app.id, key, now);
    const Amounts size = app.requests.at(key).resource;
    app.requests.erase(key);
    event(EventType::App, app.id, EventChange::Remove, detail, now, key, size);
}

/// C-406, after an allocation is gone.
bool Partition::leaves_running_set(const Application& app, bool placeholder_gone) const {
    const bool ending = app.state == State::Completing || app.state == State::Failing;
    if (placeholder_gone && ending && allocated(app, true).empty()) return true;
    const bool nothing_left = allocated(app, false).empty() && allocated(app, true).empty() && is_zero(pending(app));
    return nothing_left && app.state != State::Resuming;
}

/// S-472 up to the node; the event of the request record and the state follow by the caller.
void Partition::remove_allocation(Application& app, const std::string& key, EventDetail detail, Instant now) {
    const Ask ask = app.requests.at(key);
    app.requests.erase(key);
    settle_devices(nodes_.at(ask.node));
    if (ask.preempted) victim_gone(ask, now);
    usage_event(app, EventChange::Remove, ask.resource, now);
    if (leaves_running_set(app, ask.placeholder)) app.counted_running = false;
    event(EventType::App, app.id, EventChange::Remove, detail, now, key, ask.resource);
    event(EventType::Node, ask.node, EventChange::Remove, EventDetail::NodeAlloc, now, key, ask.resource);
}

void Partition::release_ask(const ReleaseSpec& spec, Instant now) {
    Application* app = find(std::string(spec.application));
    if (app == nullptr || spec.type == TerminationType::Timeout) return;
    std::vector<std::string> keys;
    for (const Ask* ask : sorted_asks(*app))
        if (spec.key.empty() || spec.key == ask->key) keys.push_back(ask->key);
    for (const std::string& key : keys) remove_request(*app, key, request_detail_of(spec.type), now);
    if (!keys.empty()) complete_after_ask(*app, now);
}

void Partition::release(const ReleaseSpec& spec, Instant now) {
    if (spec.application.empty()) return release_foreign(std::string(spec.key), now);
    Application* app = find(std::string(spec.application));
    if (app == nullptr) return;
    if (spec.key.empty()) return release_all(*app, spec, now);
    const std::string key(spec.key), id = app->id;
    const auto known = app->requests.find(key);
    if (known == app->requests.end()) return;
    if (!known->second.allocated) {
        if (spec.type == TerminationType::Timeout) return;
        remove_request(*app, key, request_detail_of(spec.type), now);
        complete_after_ask(*app, now);
        return;
    }
    const Amounts size = known->second.resource;
    remove_allocation(*app, key, detail_of(spec.type), now);
    event(EventType::App, id, EventChange::Remove, request_detail_of(spec.type), now, key, size);
    complete_after_allocation(*app, now);
    if (is_echoed(spec.type)) report_released({{id, key}});
}

/// Allocations, then asks, with one echo for all (S-470, I-158).
void Partition::release_all(Application& app, const ReleaseSpec& spec, Instant now) {
    std::vector<std::pair<std::string, std::string>> gone;
    std::vector<std::string> asks;
    for (const auto& [key, ask] : app.requests)
        if (ask.allocated) gone.emplace_back(app.id, key);
    if (!spec.keep_asks)
        for (const Ask* ask : sorted_asks(app)) asks.push_back(ask->key);
    for (const auto& [id, key] : gone) {
        const Amounts size = app.requests.at(key).resource;
        remove_allocation(app, key, detail_of(spec.type), now);
        event(EventType::App, id, EventChange::Remove, request_detail_of(spec.type), now, key, size);
    }
    complete_after_allocation(app, now); // also when there was none (S-146)
    for (const std::string& key : asks) remove_request(app, key, request_detail_of(spec.type), now);
    if (!asks.empty()) complete_after_ask(app, now);
    if (is_echoed(spec.type)) report_released(gone);
}

// --- applications (section 14) --------------------------------------------------------------------------------------

std::optional<Refusal> Partition::add_application(const ApplicationSpec& spec, Instant now) {
    auto app = std::make_unique<Application>();
    app->id = spec.id;
    app->user = spec.user;
    for (const std::string_view group : spec.groups) app->groups.emplace_back(group);
    app->queue = lower(spec.queue);
    // unqualified names are below the root (C-324)
    if (app->queue != "root" && app->queue.rfind("root.", 0) != 0) app->queue = "root." + app->queue;
    // S-103: created one after another, also within a request, so that fifo follows the order of the list
    app->arrived = now;
    last_created_ = app->submitted = std::max(now, last_created_ + Duration{1});
    app->log.emplace_back(now, State::New);
    event(EventType::App, app->id, EventChange::Add, EventDetail::AppNew, now);

    std::optional<Refusal> refusal;
    const auto queue = queues_.find(app->queue);
    if (applications_.count(app->id) != 0)
        refusal = Refusal{ElementCode::AppExists, "already existed"};
    else if (queue == queues_.end() || !queue->second.leaf)
        refusal = Refusal{ElementCode::Placement, "failed to place"};
    else
        for (std::string path = app->queue; !path.empty(); path = queues_.at(path).parent)
            if (queues_.at(path).draining) refusal = Refusal{ElementCode::Placement, "failed to place"};
    if (refusal) {
        raise(*app, AppEvent::Reject, now, refusal->reason);
        rejected_[app->id] = std::move(app);
        return refusal;
    }
    queue->second.applications.insert(app->id);
    event(EventType::Queue, app->queue, EventChange::Add, EventDetail::QueueApp, now, app->id);
    applications_[app->id] = std::move(app);
    return std::nullopt;
}

std::string Partition::queue_of(const std::string& application) const {
    return applications_.at(application)->queue;
}

/// Asks and reservations, then allocations, and the application itself (S-493).
void Partition::remove_application(const std::string& id, Instant now) {
    Application* app = find(id);
    if (app == nullptr) return;
    std::vector<std::pair<std::string, std::string>> gone;
    std::vector<std::string> asks;
    for (const auto& [key, ask] : app->requests)
        if (ask.allocated) gone.emplace_back(id, key);
    for (const Ask* ask : sorted_asks(*app)) asks.push_back(ask->key);
    for (const std::string& key : asks) remove_request(*app, key, EventDetail::RequestCancel, now);
    for (const auto& [owner, key] : gone) {
        const Amounts size = app->requests.at(key).resource;
        remove_allocation(*app, key, EventDetail::AllocCancel, now);
        event(EventType::App, owner, EventChange::Remove, EventDetail::RequestCancel, now, key, size);
    }
    leave_queue(*app, now);
    applications_.erase(id);
    report_released(gone);
}

} // namespace yk::reference
