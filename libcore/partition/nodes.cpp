// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/nodes.h"

#include <algorithm>

#include "libcore/changes/requests.h"
#include "libcore/state/bytes.h"

namespace yk {

namespace {

constexpr std::size_t kFirstAllocations = 4; // of a new node: placing as many there requests no memory

bool any_negative(const std::optional<Quantities>& quantities) {
    if (!quantities) return false;
    return std::any_of(quantities->begin(), quantities->end(), [](const Quantity& q) { return q.value < 0; });
}

std::vector<std::pair<std::string, std::string>> attributes_of(const Tags& tags) {
    std::vector<std::pair<std::string, std::string>> attributes;
    for (const Tag& tag : tags)
        if (tag.key != kPartitionAttribute) attributes.emplace_back(tag.key, tag.value);
    std::sort(attributes.begin(), attributes.end());
    return attributes;
}

/// What the budget counts for the devices of the request.
std::uint64_t bytes_of_devices(const NodeSpec& spec) {
    return spec.devices ? spec.devices->size() * kDeviceKindBytes : 0;
}

/// Whether the node has these devices, and no others.
bool has_devices(const PartitionState& state, const Node& node, const std::vector<DeviceListSpec>& devices) {
    const std::size_t kinds = node.devices ? node.devices->kinds().size() : 0;
    return kinds == devices.size() && std::all_of(devices.begin(), devices.end(), [&](const DeviceListSpec& each) {
               const DeviceKind* const kind = node.devices->find(state.resources.find(each.name));
               return kind != nullptr && kind->listed == each.sizes.size() &&
                      std::equal(each.sizes.begin(), each.sizes.end(), kind->devices.begin(),
                                 [](std::int64_t size, const Device& device) { return device.size == size; });
           });
}

} // namespace

/// The capacity of the partition is the sum of its nodes; the root's max is the same, or unset if no amount is above
/// zero (S-181.6). Called after the node has its new capacity. A saturated sum cannot be subtracted from: it is added
/// up anew (S-003).
void Nodes::capacity_changed(const Resource& before, const Resource& after, Instant now) {
    bool at_end = false;
    state_.capacity.for_each([&at_end](ResourceId, std::int64_t amount) { at_end = at_end || amount == kMaxQuantity; });
    if (at_end) {
        state_.capacity = {};
        state_.nodes.for_each([this](NodeId id) { state_.capacity.add(state_.nodes[id].capacity); });
    } else {
        state_.capacity.sub(before);
        state_.capacity.add(after);
    }
    state_.capacity.prune();
    Limit max{state_.capacity.gt_zero() ? state_.capacity : Resource{}};
    if (max.same_as(state_.queues.root().max)) return;
    state_.queues.root().max = std::move(max);
    indexes_.mark_dirty(state_.queues.root(), true);
    indexes_.rebuild_queues(); // fair max and pending shares of every queue follow the size of the cluster
    queues_.emit_limit(state_.queues.root(), EventDetail::QueueMax,
                       state_.queues.root().max.unlimited() ? nullptr : &state_.queues.root().max.bounds(), now);
}

bool Nodes::is_same(const NodeSpec& spec) {
    const NodeId id = state_.nodes.find(spec.id);
    if (!id.valid()) return false;
    const auto pruned = [this](const std::optional<Quantities>& amounts) {
        std::optional<Resource> resource = state_.to_resource(amounts.value_or(Quantities{}));
        if (resource) resource->prune();
        return resource;
    };
    const auto capacity = pruned(capacity_of(spec)), occupied = pruned(spec.occupied);
    const Node& node = state_.nodes[id];
    return capacity && has_devices(state_, node, spec.devices.value_or(std::vector<DeviceListSpec>{})) && occupied &&
           capacity->equals(node.capacity) && occupied->equals(node.reported) &&
           (spec.attributes ? attributes_of(*spec.attributes) : decltype(node.attributes){}) == node.attributes;
}

std::optional<Refusal> Nodes::create(const NodeSpec& spec, std::span<const AskSpec> existing, Instant now) {
    const std::string id{spec.id};
    if (state_.state != ObjectState::Active)
        return Refusal{"partition " + state_.full_name + " is stopped, it takes no node " + id,
                       ElementCode::PartitionStopped};
    if (state_.nodes.find(spec.id).valid())
        return Refusal{"node " + id + " is existing in partition " + state_.full_name, ElementCode::NodeExists};
    if (auto refusal = refuse_amounts(spec, nullptr, "")) return refusal;
    if (auto refusal = refuse_existing(spec.id, existing)) return refusal;
    // a node that brings something is a fact, also when that is restored afterwards
    if (auto refusal = admission_.refuse_claim("node " + id, claim_of(spec, existing), !spec.existing.empty()))
        return refusal;
    const NodeId made = state_.nodes.add(spec.id);
    Node& node = state_.nodes[made];
    node.allocations.reserve(kFirstAllocations);
    if (spec.attributes) node.attributes = attributes_of(*spec.attributes);
    set_devices(made, spec);
    state_.budget_meter.add(Held::Nodes);
    state_.budget_meter.add(Held::Names, bytes_of(node));
    node.reported = *state_.to_resource(spec.occupied.value_or(Quantities{}));
    node.reported.prune();
    node.schedulable = spec.action != NodeAction::CreateDrain;
    state_.ledger.set_capacity(node, *state_.to_resource(capacity_of(spec)));
    state_.ledger.add_occupied(node, node.reported);
    emit_schedulable(node, now);
    capacity_changed({}, node.capacity, now);
    state_.emit({EventType::Node,
                 EventChange::Add,
                 EventDetail::None,
                 node.id,
                 {},
                 state_.event_message.empty() ? "Node added to the scheduler" : state_.event_message,
                 &node.capacity},
                now);
    for (const AskSpec& each : existing) {
        if (is_foreign(each))
            foreign_allocations_.place(each, made, now);
        else
            ask_requests_.place_reported(each, state_.find_application(each.application), made, false, now);
    }
    return std::nullopt;
}

/// Why the amounts or the devices of a request cannot be. `what`: what becomes of the node then. Types that are new are
/// known from now on.
std::optional<Refusal> Nodes::refuse_amounts(const NodeSpec& spec, const Node* node, const char* what) {
    const std::string name = "node " + std::string{spec.id};
    if (any_negative(spec.capacity) || any_negative(spec.occupied))
        return Refusal{name + " has negative resources", ElementCode::Negative};
    if (auto refusal = refuse_devices(state_, spec, node)) return refusal;
    if (!state_.to_resource(capacity_of(spec)) || !state_.to_resource(spec.occupied.value_or(Quantities{})))
        return too_many_types(name + what, state_.most_types());
    return std::nullopt;
}

/// Why one of the allocations that the node brings is refused. All are tested before anything is changed (S-481).
std::optional<Refusal> Nodes::refuse_existing(std::string_view node, std::span<const AskSpec> existing) {
    for (const AskSpec& each : existing) {
        const ApplicationId application = state_.find_application(each.application);
        std::optional<Refusal> refusal =
            is_foreign(each) ? foreign_allocations_.refuse(each) : ask_requests_.refuse_ask(each, application, false);
        if (!refusal && !is_foreign(each)) refusal = refuse_devices(each, true);
        if (!refusal && !is_foreign(each)) refusal = ask_requests_.refuse_known(each, application, {}, node);
        if (refusal)
            return Refusal{"node " + std::string{node} + ": existing allocation: " + refusal->reason,
                           ElementCode::ExistingAllocation};
    }
    return std::nullopt;
}

void Nodes::announce_existing(const NodeSpec& spec) {
    std::set<std::pair<std::string_view, std::string_view>> announced; // a key that is listed twice is one allocation
    for (const AskSpec& existing : spec.existing) {
        if (!announced.emplace(existing.application, existing.key).second) continue;
        const ApplicationId application = state_.find_application(existing.application);
        if (!application.valid()) continue; // foreign
        if (const AllocationId id = state_.find_allocation(application, existing.key); id.valid())
            placements_.notify_new(id);
    }
}

std::optional<Refusal> Nodes::change(const NodeSpec& spec, Instant now) {
    const NodeId id = state_.nodes.find(spec.id);
    const std::string name{spec.id};
    if (spec.action == NodeAction::Unset)
        return Refusal{"node " + name + ": the action is unknown", ElementCode::Action};
    if (!id.valid()) return Refusal{"failed to find node " + name, ElementCode::NodeUnknown};
    switch (spec.action) {
    case NodeAction::Drain: set_schedulable(id, false, now); return std::nullopt;
    case NodeAction::Schedulable: set_schedulable(id, true, now); return std::nullopt;
    case NodeAction::Decommission: remove(id, now); return std::nullopt;
    default: break;
    }
    if (auto refusal = refuse_amounts(spec, &state_.nodes[id], " stays as it was")) return refusal;
    const std::uint64_t bytes = (spec.attributes ? bytes_of(*spec.attributes) : 0) + bytes_of_devices(spec);
    if (bytes > bytes_of(state_.nodes[id]) - bytes_of(name))
        if (auto refusal = admission_.refuse_claim("node " + name + " stays as it was",
                                                   Holdings{}.plus(Held::Names, bytes), false))
            return refusal;
    update_node(id, spec, now);
    return std::nullopt;
}

/// The devices of the request, and the groups of its attribute. A resource that the list does not name has none.
void Nodes::set_devices(NodeId id, const NodeSpec& spec) {
    Node& node = state_.nodes[id];
    if (spec.devices && !node.devices && !spec.devices->empty()) node.devices = std::make_unique<NodeDevices>();
    if (node.devices)
        node.devices->set_groups(
            parse_device_groups(node.attribute(kDeviceGroups)).value_or(std::vector<DeviceMask>{}));
    if (spec.devices) {
        state_.expected.devices_changed();
        std::uint64_t named = 0;
        for (const DeviceListSpec& each : *spec.devices) {
            const ResourceId type = state_.resources.find(each.name);
            named |= std::uint64_t{1} << type;
            const bool is_new = node.devices->find(type) == nullptr;
            node.devices->set_kind(type, each.sizes);
            if (is_new) hand_out_devices(id, type);
        }
        if (node.devices)
            for (ResourceId type = 0; type < state_.resources.size(); ++type)
                if ((named >> type & 1) == 0) node.devices->remove_kind(type);
        if (named == 0) node.devices.reset();
    }
}

/// Gives devices to what is on the node already, now that the resource comes in devices there.
void Nodes::hand_out_devices(NodeId id, ResourceId type) {
    Node& node = state_.nodes[id];
    const auto hand_out = [&](std::vector<AllocationId> list, bool is_ours) {
        std::sort(list.begin(), list.end(), [this](AllocationId a, AllocationId b) {
            return state_.allocations[a].arrival < state_.allocations[b].arrival;
        });
        for (const AllocationId each : list)
            node.devices->take(type, owner_of(each), state_.shapes[state_.allocations[each].shape].device_ask(), {},
                               is_ours);
    };
    hand_out(node.allocations, true);
    hand_out(node.foreign, false);
    for (const Quarantine::Serial serial : state_.recovery.quarantine.on_node(node.id))
        if (const QuarantinedObject& waiting = state_.recovery.quarantine.objects().at(serial);
            waiting.occupies.valid())
            node.devices->take(type, owner_in_quarantine(serial), {waiting.size, kNothingStated}, {}, false);
}

/// Replaces what the request names: attributes, devices, capacity, reported occupied resources (S-481, S-482, I-175).
void Nodes::update_node(NodeId id, const NodeSpec& spec, Instant now) {
    Node& node = state_.nodes[id];
    if (spec.attributes || spec.devices) {
        state_.budget_meter.take(Held::Names, bytes_of(node));
        if (spec.attributes) node.attributes = attributes_of(*spec.attributes);
        set_devices(id, spec);
        state_.budget_meter.add(Held::Names, bytes_of(node));
    }
    if (spec.capacity || spec.devices) {
        Resource capacity = *state_.to_resource(capacity_of(spec));
        if (!spec.capacity) {
            Resource whole = node.capacity;
            capacity.for_each([&whole](ResourceId type, std::int64_t amount) { whole.set(type, amount); });
            capacity = whole;
        }
        capacity.prune();
        const Resource before = node.capacity;
        const bool is_other = !capacity.deep_equals(before);
        if (is_other || spec.devices) state_.ledger.set_capacity(node, capacity); // what lost devices hold may differ
        if (is_other) {
            capacity_changed(before, capacity, now);
            state_.emit({EventType::Node, EventChange::Set, EventDetail::NodeCapacity, node.id, {}, {}, &node.capacity},
                        now);
        }
    }
    if (spec.occupied) {
        Resource reported = *state_.to_resource(*spec.occupied);
        reported.prune();
        if (!reported.deep_equals(node.reported)) {
            state_.ledger.take_occupied(node, node.reported);
            state_.ledger.add_occupied(node, reported);
            node.reported = reported;
            state_.emit({EventType::Node, EventChange::Set, EventDetail::NodeOccupied, node.id, {}, {}, &node.occupied},
                        now);
        }
    }
    state_.nodes.mark_dirty(id, true);
}

void Nodes::emit_schedulable(const Node& node, Instant now) {
    const char* const message = node.schedulable ? "schedulable: true" : "schedulable: false";
    state_.emit({EventType::Node, EventChange::Set, EventDetail::NodeSchedulable, node.id, {}, message}, now);
}

void Nodes::set_schedulable(NodeId id, bool schedulable, Instant now) {
    Node& node = state_.nodes[id];
    if (node.schedulable == schedulable) return;
    node.schedulable = schedulable;
    state_.nodes.mark_dirty(id, true);
    emit_schedulable(node, now);
    if (!schedulable) reservations_.drop_ordinary(id, now); // nothing new is placed there (S-415)
}

void Nodes::remove(NodeId id, Instant now) {
    if (state_.nodes[id].schedulable) set_schedulable(id, false, now);
    const std::vector<ReservationId> held = state_.nodes[id].reservations;
    for (const ReservationId reservation : held) reservations_.drop(reservation, now);
    std::vector<AllocationId> placed = state_.nodes[id].allocations;
    std::sort(placed.begin(), placed.end(), [this](AllocationId a, AllocationId b) {
        const Allocation& left = state_.allocations[a];
        const Allocation& right = state_.allocations[b];
        if (left.application != right.application)
            return state_.applications[left.application].id < state_.applications[right.application].id;
        return left.key.view() < right.key.view();
    });
    std::vector<std::pair<std::string, std::string>> lost; // application, key
    std::vector<AllocationId> confirmed;                   // real halves of replacements
    for (const AllocationId allocation : placed) {
        const Allocation& leaving = state_.allocations[allocation];
        const ApplicationId application = leaving.application;
        if (leaving.is(Allocation::InFlight)) { // the RM does not know of it (G-075)
            placeholder_swaps_.undo(allocation, now);
            continue;
        }
        const Applications::Removed what = leaving.is(Allocation::Placeholder) ? Applications::Removed::Placeholder
                                                                               : Applications::Removed::Allocation;
        lost.emplace_back(state_.applications[application].id, leaving.key.view());
        if (leaving.partner.valid() && !placeholder_swaps_.is_elsewhere(leaving.partner))
            placeholder_swaps_.undo(leaving.partner, now); // both halves were on this node (G-074)
        if (leaving.partner.valid())                       // the real half is on another one (G-073)
            confirmed.push_back(placeholder_swaps_.finish(allocation, EventDetail::AllocReplaced, now));
        else
            placements_.remove(allocation, EventDetail::AllocNodeRemoved, now);
        applications_.settle(application, what, now);
    }
    const std::vector<AllocationId> foreign = state_.nodes[id].foreign;
    for (const AllocationId allocation : foreign) foreign_allocations_.forget(allocation);
    capacity_changed(std::exchange(state_.nodes[id].capacity, {}), {}, now);
    const std::string name = state_.nodes[id].id;
    state_.inquiries.forget_node(id);
    if (state_.nodes[id].devices) state_.expected.devices_changed();
    state_.budget_meter.take(Held::Nodes);
    state_.budget_meter.take(Held::Names, bytes_of(state_.nodes[id]));
    state_.nodes.remove(id);
    ++state_.counters.nodes_removed;
    state_.emit({EventType::Node,
                 EventChange::Remove,
                 EventDetail::NodeDecommission,
                 name,
                 {},
                 "Node removed from the scheduler"},
                now);
    std::vector<ReleasedAllocation> released;
    released.reserve(lost.size());
    const std::string message = "node " + name + " removed";
    for (const auto& [application, key] : lost)
        released.push_back({state_.full_name, application, key, TerminationType::StoppedByRm, message});
    if (!released.empty()) state_.callbacks.allocations_released(released);
    for (const AllocationId real : confirmed) placements_.notify_new(real);
}

/// What the node takes of the budget, with all that it brings and that is not known yet.
Holdings Nodes::claim_of(const NodeSpec& spec, std::span<const AskSpec> existing) const {
    std::uint64_t asks = 0, bytes = bytes_of(spec.id) + bytes_of_devices(spec);
    if (spec.attributes) bytes += bytes_of(*spec.attributes);
    for (const AskSpec& each : existing) {
        const bool foreign = is_foreign(each);
        const bool known = foreign
                               ? foreign_allocations_.has(each.key)
                               : state_.find_allocation(state_.find_application(each.application), each.key).valid();
        asks += known ? 0U : 1U;
        if (foreign || !known) bytes += most_bytes(each);
    }
    return Holdings{}.plus(Held::Nodes, 1).plus(Held::Asks, asks).plus(Held::Names, bytes);
}

} // namespace yk
