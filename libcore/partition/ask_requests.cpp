// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/ask_requests.h"

#include <algorithm>

#include "libcore/changes/requests.h"

namespace yk {

std::optional<Refusal> AskRequests::refuse_ask(const AskSpec& spec, ApplicationId id, bool node_unknown) {
    if (!id.valid())
        return Refusal{"failed to find application " + std::string{spec.application} + " for allocation key " +
                           quoted(spec.key) + " in partition " + state_.full_name,
                       ElementCode::AppUnknown};
    if (state_.applications[id].state == ApplicationState::Failing) // takes no new ask (S-148)
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
    if (!state_.to_resource(spec.resource)) return too_many_types(title_of(spec), state_.most_types());
    if (spec.max_allocations > 1)
        return Refusal{"repeated asks are not supported: " + title_of(spec) + " asks for " +
                           std::to_string(spec.max_allocations) + " allocations",
                       ElementCode::Repeat};
    return std::nullopt;
}

std::optional<Refusal> AskRequests::apply(const AskSpec& spec, Instant now) {
    if (state_.state == ObjectState::Stopped)
        return Refusal{"partition " + state_.full_name + " is stopped, it takes no allocation key " + quoted(spec.key),
                       ElementCode::PartitionStopped};
    if (is_foreign(spec)) return foreign_allocations_.apply(spec, now);
    const ApplicationId application = state_.find_application(spec.application);
    const NodeId node = spec.node.empty() ? NodeId{} : state_.nodes.find(spec.node);
    if (auto refusal = refuse_ask(spec, application, !spec.node.empty() && !node.valid())) return refusal;
    if (auto refusal = refuse_devices(spec, !spec.node.empty())) return refusal;
    if (auto refusal = refuse_known(spec, application, node, spec.node)) return refusal;
    const AllocationId known = state_.find_allocation(application, spec.key);
    // the size of a real half in flight stays until its swap has ended (S-456)
    if (known.valid() && state_.allocations[known].is(Allocation::InFlight) &&
        !state_.resource_of(state_.allocations[known]).equals(*state_.to_resource(spec.resource)))
        return Refusal{title_of(spec) + " cannot be resized while its replacement of a placeholder is not confirmed",
                       ElementCode::IdentityChange};
    if (auto refusal = admission_.refuse_ask_claim(spec, application, known, node.valid())) return refusal;
    if (node.valid())
        place_reported(spec, application, node, true, now);
    else if (!known.valid())
        add_ask(spec, application, now);
    else if (state_.allocations[known].is(Allocation::Placed))
        placements_.resize(known, spec, now);
    else
        pending_asks_.replace(known, spec, now);
    return std::nullopt;
}

std::optional<Refusal> AskRequests::refuse_known(const AskSpec& spec, ApplicationId application, NodeId node,
                                                 std::string_view reported_on) const {
    const AllocationId known = state_.find_allocation(application, spec.key);
    if (!known.valid()) return std::nullopt;
    const Allocation& object = state_.allocations[known];
    if (object.is(Allocation::Placeholder) != spec.placeholder)
        return Refusal{title_of(spec) + " cannot change its placeholder flag", ElementCode::IdentityChange};
    if (object.is(Allocation::Placed) && !reported_on.empty() && object.node != node)
        return Refusal{title_of(spec) + " is placed on node " + quoted(state_.nodes[object.node].id) +
                           ", it cannot be reported on node " + quoted(reported_on),
                       ElementCode::NodeMismatch};
    return std::nullopt;
}

void AskRequests::place_reported(const AskSpec& spec, ApplicationId application, NodeId node, bool notify,
                                 Instant now) {
    const AllocationId known = state_.find_allocation(application, spec.key);
    if (!known.valid()) {
        add_existing(spec, application, node, notify, now);
        return;
    }
    if (state_.allocations[known].is(Allocation::Placed)) {
        placements_.resize(known, spec, now);
        return;
    }
    if (const ReservationId held = state_.allocations[known].reservation; held.valid())
        reservations_.drop(held, now); // it has its node (S-415)
    const Resource size = *state_.to_resource(spec.resource);
    const Shape& asked = state_.shapes[state_.allocations[known].shape];
    const std::string required = asked.required_node;
    const bool as_asked = spec.devices.empty() && asked.resource.equals(size);
    const ShapeId resized =
        state_.shapes.acquire(size, required, as_asked ? asked.devices : stated_devices(state_, spec));
    const Allocation& waiting = state_.allocations[known];
    pending_asks_.reshape(known, resized, waiting.priority, waiting.task_group, now); // the size only (S-451)
    placements_.reserve_capacity(known, node);
    placements_.place(known, node, notify, now, said_devices(state_, spec)); // without a test of limits (S-455)
    quota_preemption_.forced(*state_.applications[application].queue, now);
}

/// Adds a new ask; an application that is New or Completing runs again (S-452).
void AskRequests::add_ask(const AskSpec& spec, ApplicationId id, Instant now) {
    const ApplicationState state = state_.applications[id].state;
    if (state == ApplicationState::New || state == ApplicationState::Completing)
        application_states_.handle(id, ApplicationEvent::Run, {}, now);
    const AllocationId ask = pending_asks_.make(spec, id, pending_asks_.shape_of(spec), now);
    pending_asks_.add(ask, now);
    state_.emit({EventType::App,
                 EventChange::Add,
                 EventDetail::AppRequest,
                 state_.applications[id].id,
                 spec.key,
                 {},
                 &state_.resource_of(state_.allocations[ask])},
                now);
}

/// Adds an allocation that exists already. That is a fact, so limits are not tested (S-454).
void AskRequests::add_existing(const AskSpec& spec, ApplicationId id, NodeId node, bool notify, Instant now) {
    const AllocationId made = pending_asks_.make(spec, id, pending_asks_.shape_of(spec), now);
    placements_.grow_queues(*state_.applications[id].queue, state_.resource_of(state_.allocations[made]));
    placements_.put_on_node(made, node, now, said_devices(state_, spec));
    if (state_.applications[id].state == ApplicationState::New)
        application_states_.handle(id, ApplicationEvent::Run, {}, now);
    placements_.put_in_application(made, now);
    ++state_.counters.restored;
    quota_preemption_.forced(*state_.applications[id].queue, now);
    if (notify) placements_.notify_new(made);
}

} // namespace yk
