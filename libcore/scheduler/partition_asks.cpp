// Asks, reported placements and releases (S-450 to S-475, section 16).

#include <algorithm>

#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

constexpr std::string_view kForeign = "foreign";

bool any_negative(const Quantities& quantities) {
    return std::any_of(quantities.begin(), quantities.end(), [](const Quantity& q) { return q.value < 0; });
}

std::string quoted(std::string_view text) {
    return "'" + std::string{text} + "'";
}

/// An ask, or what a release is about. Made for refusals only: it is not cheap beside what is accepted.
template <class Spec>
std::string title_of(const Spec& spec) {
    return "allocation key " + quoted(spec.key) + " of application " + quoted(spec.application);
}

Refusal too_many_types(const std::string& what) {
    return {what + ": a partition holds at most " + std::to_string(kMaxResourceTypes) + " resource types",
            ElementCode::NoResource};
}

EventDetail removal_detail(TerminationType type) {
    switch (type) {
    case TerminationType::Timeout: return EventDetail::AllocTimeout;
    case TerminationType::PreemptedByScheduler: return EventDetail::AllocPreempt;
    case TerminationType::PlaceholderReplaced: return EventDetail::AllocReplaced;
    default: return EventDetail::AllocCancel; // unknown too
    }
}

/// S-472: a release of these types is the RM's own and is echoed; the others confirm what the core asked for.
bool is_echoed(TerminationType type) {
    return type != TerminationType::Timeout && type != TerminationType::PreemptedByScheduler;
}

} // namespace

bool PartitionContext::is_foreign(const AskSpec& spec) {
    return std::any_of(spec.tags.begin(), spec.tags.end(), [](const Tag& tag) { return tag.key == kForeign; });
}

std::optional<Resource> PartitionContext::to_resource(const Quantities& quantities) {
    Resource amounts;
    for (const Quantity& quantity : quantities) {
        const ResourceId id = s_.resources.intern(quantity.name);
        if (id == ResourceNames::npos) return std::nullopt;
        amounts.set(id, quantity.value);
    }
    return amounts;
}

// --- asks -----------------------------------------------------------------------------------------------------------

/// S-450, I-141 for everything that does not depend on what exists under the key.
std::optional<Refusal> PartitionContext::refuse_ask(const AskSpec& spec, ApplicationId id, bool node_unknown) {
    if (!id.valid())
        return Refusal{"failed to find application " + std::string{spec.application} + " for allocation key " +
                           quoted(spec.key) + " in partition " + s_.full_name,
                       ElementCode::AppUnknown};
    if (s_.applications[id].state == ApplicationState::Failing) // S-148
        return Refusal{"application " + std::string{spec.application} + " is in state Failing and takes no new " +
                           title_of(spec),
                       ElementCode::AppTerminal};
    if (spec.placeholder && spec.task_group.empty())
        return Refusal{"placeholder without task group name: " + title_of(spec), ElementCode::PlaceholderGroup};
    if (node_unknown)
        return Refusal{"failed to find node " + std::string{spec.node} + " for " + title_of(spec),
                       ElementCode::NodeUnknown};
    const bool zero =
        std::all_of(spec.resource.begin(), spec.resource.end(), [](const Quantity& q) { return q.value == 0; });
    if (zero) return Refusal{title_of(spec) + " asks for no resources", ElementCode::NoResource};
    if (any_negative(spec.resource))
        return Refusal{title_of(spec) + " asks for negative resources", ElementCode::Negative};
    if (!to_resource(spec.resource)) return too_many_types(title_of(spec));
    if (spec.max_allocations > 1)
        return Refusal{"repeated asks are not supported: " + title_of(spec) + " asks for " +
                           std::to_string(spec.max_allocations) + " allocations",
                       ElementCode::Repeat};
    return std::nullopt;
}

std::optional<Refusal> PartitionContext::apply_ask(const AskSpec& spec, Instant now) {
    if (s_.state == ObjectState::Stopped)
        return Refusal{"partition " + s_.full_name + " is stopped, it takes no allocation key " + quoted(spec.key),
                       ElementCode::PartitionStopped};
    if (is_foreign(spec)) return apply_foreign(spec, now);
    const ApplicationId application = s_.find_application(spec.application);
    const NodeId node = spec.node.empty() ? NodeId{} : s_.nodes.find(spec.node);
    if (auto refusal = refuse_ask(spec, application, !spec.node.empty() && !node.valid())) return refusal;
    if (auto refusal = refuse_known(spec, application, node, spec.node)) return refusal;
    const AllocationId known = s_.find_allocation(application, spec.key);
    if (known.valid() && s_.allocations[known].is(Allocation::InFlight) &&
        !s_.resource_of(s_.allocations[known]).equals(*to_resource(spec.resource))) // S-456
        return Refusal{title_of(spec) + " cannot be resized while its replacement of a placeholder is not confirmed",
                       ElementCode::IdentityChange};
    if (auto refusal = refuse_ask_claim(spec, application, known, node.valid())) return refusal;
    if (node.valid())
        place_reported(spec, application, node, true, now);
    else if (!known.valid())
        add_ask(spec, application, now);
    else if (s_.allocations[known].is(Allocation::Placed))
        resize_allocation(known, *to_resource(spec.resource), now);
    else
        replace_pending(known, spec, now);
    return std::nullopt;
}

/// What speaks against a message for a key that exists (I-143, I-147). `reported_on`: the name of the node that it is
/// reported on, empty: on none. `node`: that node; none while it is being made.
std::optional<Refusal> PartitionContext::refuse_known(const AskSpec& spec, ApplicationId application, NodeId node,
                                                      std::string_view reported_on) const {
    const AllocationId known = s_.find_allocation(application, spec.key);
    if (!known.valid()) return std::nullopt;
    const Allocation& object = s_.allocations[known];
    if (object.is(Allocation::Placeholder) != spec.placeholder)
        return Refusal{title_of(spec) + " cannot change its placeholder flag", ElementCode::IdentityChange};
    if (object.is(Allocation::Placed) && !reported_on.empty() && object.node != node)
        return Refusal{title_of(spec) + " is placed on node " + quoted(s_.nodes[object.node].id) +
                           ", it cannot be reported on node " + quoted(reported_on),
                       ElementCode::NodeMismatch};
    return std::nullopt;
}

/// S-451, right column: what is not known is added, what waits is placed, what is placed is resized.
void PartitionContext::place_reported(const AskSpec& spec, ApplicationId application, NodeId node, bool tell,
                                      Instant now) {
    const AllocationId known = s_.find_allocation(application, spec.key);
    if (!known.valid()) {
        add_existing(spec, application, node, tell, now);
        return;
    }
    if (s_.allocations[known].is(Allocation::Placed)) {
        resize_allocation(known, *to_resource(spec.resource), now);
        return;
    }
    if (const ReservationId held = s_.allocations[known].reservation; held.valid())
        drop_reservation(held, now); // S-415
    const std::string required = s_.shapes[s_.allocations[known].shape].required_node;
    const ShapeId resized = s_.shapes.acquire(*to_resource(spec.resource), required);
    const Allocation& waiting = s_.allocations[known];
    reshape_pending(known, resized, waiting.priority, waiting.task_group, now); // the size only (S-451)
    reserve_room(known, node);
    place(known, node, tell, now); // S-455
    quota_forced(*s_.applications[application].queue, now);
}

/// S-452.
void PartitionContext::add_ask(const AskSpec& spec, ApplicationId id, Instant now) {
    const ApplicationState state = s_.applications[id].state;
    if (state == ApplicationState::New || state == ApplicationState::Completing)
        handle(id, ApplicationEvent::Run, {}, now);
    const AllocationId ask = make_allocation(spec, id, shape_of(spec), now);
    add_pending(ask, now);
    s_.tell({EventType::App,
             EventChange::Add,
             EventDetail::AppRequest,
             s_.applications[id].id,
             spec.key,
             {},
             &s_.resource_of(s_.allocations[ask])},
            now);
}

/// S-454: a fact cannot be refused for being too large, so nothing is tested.
void PartitionContext::add_existing(const AskSpec& spec, ApplicationId id, NodeId node, bool tell, Instant now) {
    const AllocationId made = make_allocation(spec, id, shape_of(spec), now);
    grow_queues(*s_.applications[id].queue, s_.resource_of(s_.allocations[made]));
    put_on_node(made, node, now);
    if (s_.applications[id].state == ApplicationState::New) handle(id, ApplicationEvent::Run, {}, now);
    put_in_application(made, now);
    ++s_.counters.restored;
    quota_forced(*s_.applications[id].queue, now);
    if (tell) tell_new(made);
}

/// S-451: the message replaces the ask; create time and arrival stay (I-143).
void PartitionContext::replace_pending(AllocationId id, const AskSpec& spec, Instant now) {
    Allocation& ask = s_.allocations[id];
    const TagSetId tags = s_.tags.acquire(spec.tags);
    s_.tags.release(ask.tags);
    ask.tags = tags;
    ask.mark(Allocation::Originator, spec.originator);
    ask.mark(Allocation::PreemptSelf, spec.allow_preempt_self);
    if (s_.inquiries.find(id) != nullptr) { // what its RM said was about another ask
        forget_inquiry(id);
        parking_changed(id, now);
    }
    if (ask.is(Allocation::PreemptOther) != spec.allow_preempt_other) {
        ask.mark(Allocation::PreemptOther, spec.allow_preempt_other);
        s_.groups[ask.group].preemptors += spec.allow_preempt_other ? 1U : ~0U;
        checks_.changed(id, now);
    }
    const std::uint32_t task_group = s_.texts.acquire(spec.task_group);
    reshape_pending(id, shape_of(spec), spec.priority, task_group, now);
    s_.texts.release(task_group);
}

/// Gives a pending ask another shape, whose use it takes over, priority and task group.
void PartitionContext::reshape_pending(AllocationId id, ShapeId shape, std::int32_t priority, std::uint32_t task_group,
                                       Instant now) {
    Allocation& ask = s_.allocations[id];
    if (shape == ask.shape && priority == ask.priority && task_group == ask.task_group) {
        s_.shapes.release(shape);
        return;
    }
    if (ask.reservation.valid()) { // a reservation for what the node cannot hold, or on another required node, is void
        const Node& node = s_.nodes[s_.reservations[ask.reservation].node];
        const Shape& wanted = s_.shapes[shape];
        const bool elsewhere = wanted.required_node != s_.shapes[ask.shape].required_node;
        if (elsewhere || !fits(node.capacity, wanted.resource)) drop_reservation(ask.reservation, now);
    }
    take_pending(id, now);
    const ReservationId kept = ask.reservation;
    if (kept.valid()) unlist_reserved(id);
    if (ask.is(Allocation::Triggered)) change_promised(ask, false);
    s_.shapes.release(ask.shape);
    ask.shape = shape;
    ask.priority = priority;
    if (task_group != ask.task_group) change_task_group(id, task_group);
    if (ask.is(Allocation::Triggered)) change_promised(ask, true);
    if (kept.valid()) {
        s_.shapes[shape].reserved.push_back(id);
        orders_.wake(kept);
    }
    add_pending(id, now);
}

/// S-456, S-457: no callback, no event, no test.
void PartitionContext::resize_allocation(AllocationId id, const Resource& size, Instant now) {
    Allocation& placed = s_.allocations[id];
    const Resource before = s_.resource_of(placed);
    if (before.equals(size)) return;
    Application& application = s_.applications[placed.application];
    change_use(application, before, size);
    Node& node = s_.nodes[placed.node];
    Resource& total = placed.is(Allocation::Placeholder) ? application.placeholder : application.allocated;
    for (Resource* amount : {&total, &node.allocated}) {
        amount->sub(before);
        amount->add(size);
        amount->prune();
    }
    application.peak.max_with(total);
    shrink_queues(*application.queue, before);
    grow_queues(*application.queue, size);
    application.queue->lowest_placed = std::min(application.queue->lowest_placed, placed.priority);
    if (placed.is(Allocation::Preempted)) { // P-075: the mark follows the size
        for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) {
            queue->preempting.sub(before);
            queue->preempting.add(size);
            queue->preempting.prune();
        }
    }
    quota_forced(*application.queue, now);
    update_available(node);
    s_.nodes.touch(placed.node, true);
    const std::string required = s_.shapes[placed.shape].required_node;
    const ShapeId shape = s_.shapes.acquire(size, required);
    s_.shapes.release(placed.shape);
    placed.shape = shape;
    orders_.touch(placed.application);
}

// --- releases -------------------------------------------------------------------------------------------------------

/// S-471: the request record goes; what follows for the application is the caller's.
void PartitionContext::remove_ask(AllocationId id, bool timed_out, Instant now) {
    const Allocation& ask = s_.allocations[id];
    if (ask.reservation.valid()) drop_reservation(ask.reservation, now);
    take_pending(id, now);
    tell_request_gone(id, timed_out, now);
    destroy_allocation(id);
}

void PartitionContext::tell_request_gone(AllocationId id, bool timed_out, Instant now) {
    const Allocation& gone = s_.allocations[id];
    s_.tell({EventType::App,
             EventChange::Remove,
             timed_out ? EventDetail::RequestTimeout : EventDetail::RequestCancel,
             s_.applications[gone.application].id,
             gone.key.view(),
             {},
             &s_.resource_of(gone)},
            now);
}

/// S-472 for one placed allocation: application, node, queue, record.
void PartitionContext::remove_allocation(AllocationId id, EventDetail detail, Instant now) {
    const ApplicationId owner = s_.allocations[id].application;
    take_from_application(id, detail, now);
    take_from_node(id, now);
    shrink_queues(*s_.applications[owner].queue, s_.resource_of(s_.allocations[id]));
    tell_request_gone(id, detail == EventDetail::AllocTimeout, now);
    destroy_allocation(id);
}

std::optional<Refusal> PartitionContext::release(const ReleaseSpec& spec, bool asks_only, Instant now) {
    if (spec.application.empty()) return release_foreign(spec, now);
    const ApplicationId application = s_.find_application(spec.application);
    if (!application.valid())
        return Refusal{"application " + quoted(spec.application) + " is unknown", ElementCode::AppUnknown};
    if (asks_only && spec.type == TerminationType::Timeout) return std::nullopt; // confirms what the core did (I-155)
    if (spec.key.empty()) {
        release_all(application, spec, asks_only, now);
        return std::nullopt;
    }
    const AllocationId id = s_.find_allocation(application, spec.key);
    const auto unknown = [&spec] { return Refusal{title_of(spec) + " is unknown", ElementCode::UnknownAllocation}; };
    if (!id.valid()) return unknown();
    const Allocation& object = s_.allocations[id];
    const bool in_flight = object.is(Allocation::InFlight); // to the RM it still is a pending ask
    const bool placed = object.is(Allocation::Placed) && !in_flight;
    if (spec.type == TerminationType::PlaceholderReplaced && !object.is(Allocation::Placeholder)) // I-163
        return Refusal{"allocation key " + quoted(spec.key) + " is no placeholder that was replaced",
                       ElementCode::NoReplacement};
    if (asks_only && placed) return unknown(); // never touches an allocation
    if (!placed) {
        if (spec.type == TerminationType::Timeout) return std::nullopt;
        in_flight ? cancel_in_flight(id, false, now) : remove_ask(id, false, now);
        settle(application, Gone::Ask, now);
        return std::nullopt;
    }
    if (object.partner.valid()) {
        release_swapped(id, spec, removal_detail(spec.type), is_echoed(spec.type), now);
        return std::nullopt;
    }
    const Gone gone = object.is(Allocation::Placeholder) ? Gone::Placeholder : Gone::Allocation;
    remove_allocation(id, removal_detail(spec.type), now);
    settle(application, gone, now);
    if (is_echoed(spec.type)) echo({std::string{spec.key}}, spec.application, spec.message);
    return std::nullopt;
}

/// S-470: all allocations, then all asks unless they are to stay; one echo. That nothing was there to release counts as
/// well (S-146).
void PartitionContext::release_all(ApplicationId id, const ReleaseSpec& spec, bool asks_only, Instant now) {
    std::vector<std::string> keys;
    if (!asks_only) keys = drop_allocations(id, removal_detail(spec.type), now);
    const bool keeps_asks = !asks_only && spec.keep_asks;
    if (keeps_asks && keys.empty()) return;
    if (!keeps_asks) drop_asks(id, now);
    settle(id, asks_only ? Gone::Ask : keeps_asks ? Gone::Allocation : Gone::All, now);
    if (!keys.empty() && is_echoed(spec.type)) echo(keys, spec.application, spec.message);
}

void PartitionContext::echo(const std::vector<std::string>& keys, std::string_view application,
                            std::string_view message) {
    std::vector<ReleasedAllocation> released;
    released.reserve(keys.size());
    for (const std::string& key : keys)
        released.push_back({s_.full_name, application, key, TerminationType::StoppedByRm, message});
    s_.callbacks.allocations_released(released);
}

// --- foreign allocations (section 16) -------------------------------------------------------------------------------

std::optional<Refusal> PartitionContext::refuse_foreign(const AskSpec& spec) {
    const std::string what = "foreign allocation key " + quoted(spec.key);
    if (any_negative(spec.resource)) return Refusal{what + " has negative resources", ElementCode::Negative};
    if (!to_resource(spec.resource)) return too_many_types(what);
    return std::nullopt;
}

std::optional<Refusal> PartitionContext::apply_foreign(const AskSpec& spec, Instant now) {
    if (spec.node.empty())
        return Refusal{"foreign request: allocation key " + quoted(spec.key) + " names no node",
                       ElementCode::NodeUnknown};
    const NodeId node = s_.nodes.find(spec.node);
    if (!node.valid())
        return Refusal{"failed to find node " + std::string{spec.node} + " for foreign allocation key " +
                           quoted(spec.key),
                       ElementCode::NodeUnknown};
    if (auto refusal = refuse_foreign(spec)) return refusal;
    const auto known = s_.foreign.find(std::string{spec.key});
    if (auto refusal = refuse_ask_claim(spec, {}, known == s_.foreign.end() ? AllocationId{} : known->second, true))
        return refusal;
    place_foreign(spec, node, now);
    return std::nullopt;
}

/// S-501: a known key is replaced; on another node it moves.
void PartitionContext::place_foreign(const AskSpec& spec, NodeId node_id, Instant now) {
    Node& node = s_.nodes[node_id];
    const Resource before = node.occupied;
    bool resized = false;
    if (const auto known = s_.foreign.find(std::string{spec.key}); known != s_.foreign.end()) {
        resized = s_.allocations[known->second].node == node_id;
        if (resized)
            forget_foreign(known->second);
        else
            drop_foreign(known->second, now);
    }
    const AllocationId id = make_allocation(spec, {}, shape_of(spec), now);
    Allocation& made = s_.allocations[id];
    made.mark(Allocation::Foreign);
    made.mark(Allocation::Static, find_tag(spec.tags, kForeign) == "static");
    made.mark(Allocation::Placed);
    made.node = node_id;
    made.bound = now;
    made.place.placed.on_node = static_cast<std::uint32_t>(node.foreign.size());
    node.foreign.push_back(id);
    s_.foreign[std::string{spec.key}] = id;
    const Resource& size = s_.resource_of(made);
    node.occupied.add(size);
    node.occupied.prune();
    update_available(node);
    s_.nodes.touch(node_id, true);
    if (!resized)
        s_.tell({EventType::Node, EventChange::Add, EventDetail::NodeAlloc, node.id, made.key.view(), {}, &size}, now);
    if (!node.occupied.equals(before))
        s_.tell({EventType::Node, EventChange::Set, EventDetail::NodeOccupied, node.id, {}, {}, &node.occupied}, now);
}

/// Forgets it, and says so.
void PartitionContext::drop_foreign(AllocationId id, Instant now) {
    Node& node = s_.nodes[s_.allocations[id].node];
    const std::string key{s_.allocations[id].key.view()};
    const Resource size = s_.resource_of(s_.allocations[id]);
    forget_foreign(id);
    s_.tell({EventType::Node, EventChange::Remove, EventDetail::NodeAlloc, node.id, key, {}, &size}, now);
    if (!size.is_zero())
        s_.tell({EventType::Node, EventChange::Set, EventDetail::NodeOccupied, node.id, {}, {}, &node.occupied}, now);
}

void PartitionContext::forget_foreign(AllocationId id) {
    const Allocation& gone = s_.allocations[id];
    Node& node = s_.nodes[gone.node];
    const std::uint32_t at = gone.place.placed.on_node;
    node.foreign[at] = node.foreign.back();
    s_.allocations[node.foreign[at]].place.placed.on_node = at;
    node.foreign.pop_back();
    node.occupied.sub(s_.resource_of(gone));
    node.occupied.prune();
    update_available(node);
    s_.nodes.touch(gone.node, true);
    s_.foreign.erase(std::string{gone.key.view()});
    destroy_allocation(id);
}

std::optional<Refusal> PartitionContext::release_foreign(const ReleaseSpec& spec, Instant now) {
    const auto known = s_.foreign.find(std::string{spec.key});
    if (known == s_.foreign.end())
        return Refusal{"foreign allocation key " + quoted(spec.key) + " is unknown", ElementCode::UnknownAllocation};
    drop_foreign(known->second, now);
    return std::nullopt;
}

} // namespace yk
