// The life of nodes (section 13) and the size of the partition that follows from them.

#include <algorithm>
#include <set>

#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

constexpr std::string_view kPartitionAttribute = "si/node-partition";

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

} // namespace

void PartitionContext::update_available(Node& node) {
    node.available = node.capacity;
    node.available.sub(node.allocated);
    node.available.sub(node.occupied);
    node.available.prune();
}

/// S-181.6: capacity is the sum of the nodes; root max is that, or not set when nothing is above zero.
/// The node has its new capacity already. A sum at the end of the integers (S-003) cannot be taken from: it is made
/// anew.
void PartitionContext::capacity_changed(const Resource& before, const Resource& after, Instant now) {
    bool at_end = false;
    s_.capacity.for_each([&at_end](ResourceId, std::int64_t amount) { at_end = at_end || amount == kMaxQuantity; });
    if (at_end) {
        s_.capacity = {};
        s_.nodes.for_each([this](NodeId id) { s_.capacity.add(s_.nodes[id].capacity); });
    } else {
        s_.capacity.sub(before);
        s_.capacity.add(after);
    }
    s_.capacity.prune();
    Limit max{s_.capacity.gt_zero() ? s_.capacity : Resource{}};
    if (max.same_as(s_.root->max)) return;
    s_.root->max = std::move(max);
    orders_.touch(*s_.root, true);
    orders_.rebuild_queues(); // fair max and pending shares of every queue follow the size of the cluster
    tell_limit(*s_.root, EventDetail::QueueMax, s_.root->max.unlimited() ? nullptr : &s_.root->max.bounds(), now);
}

std::optional<Refusal> PartitionContext::create_node(const NodeSpec& spec, Instant now) {
    const std::string id{spec.id};
    if (s_.state != ObjectState::Active)
        return Refusal{"partition " + s_.full_name + " is stopped, it takes no node " + id,
                       ElementCode::PartitionStopped};
    if (s_.nodes.find(spec.id).valid())
        return Refusal{"node " + id + " is existing in partition " + s_.full_name, ElementCode::NodeExists};
    if (any_negative(spec.capacity) || any_negative(spec.occupied))
        return Refusal{"node " + id + " has negative resources", ElementCode::Negative};
    const std::optional<Resource> capacity = to_resource(spec.capacity.value_or(Quantities{}));
    const std::optional<Resource> occupied = to_resource(spec.occupied.value_or(Quantities{}));
    if (!capacity || !occupied)
        return Refusal{"node " + id + ": a partition holds at most " + std::to_string(kMaxResourceTypes) +
                           " resource types",
                       ElementCode::Negative};
    if (auto refusal = refuse_existing(spec)) return refusal;
    if (auto refusal = refuse_claim("node " + id, claim_of(spec), !spec.existing.empty())) return refusal;
    const NodeId made = s_.nodes.add(spec.id);
    Node& node = s_.nodes[made];
    if (spec.attributes) node.attributes = attributes_of(*spec.attributes);
    s_.ledger.add(Held::Nodes);
    s_.ledger.add(Held::Names, bytes_of(node));
    node.capacity = *capacity;
    node.capacity.prune();
    node.reported = *occupied;
    node.reported.prune();
    node.occupied = node.reported;
    node.schedulable = spec.action != NodeAction::CreateDrain;
    update_available(node);
    capacity_changed({}, node.capacity, now);
    s_.tell({EventType::Node, EventChange::Add, EventDetail::None, node.id, {}, {}, &node.capacity}, now);
    s_.tell({EventType::Node,
             EventChange::Set,
             EventDetail::NodeSchedulable,
             node.id,
             {},
             node.schedulable ? "schedulable: true" : "schedulable: false"},
            now);
    for (const AskSpec& existing : spec.existing) {
        if (is_foreign(existing))
            place_foreign(existing, made, now);
        else
            place_reported(existing, s_.find_application(existing.application), made, false, now);
    }
    return std::nullopt;
}

/// S-481: all or nothing, so everything is tested before anything is done.
std::optional<Refusal> PartitionContext::refuse_existing(const NodeSpec& spec) {
    for (const AskSpec& existing : spec.existing) {
        const ApplicationId application = s_.find_application(existing.application);
        std::optional<Refusal> refusal =
            is_foreign(existing) ? refuse_foreign(existing) : refuse_ask(existing, application, false);
        if (!refusal && !is_foreign(existing)) refusal = refuse_known(existing, application, {}, spec.id);
        if (refusal)
            return Refusal{"node " + std::string{spec.id} + ": existing allocation: " + refusal->reason,
                           ElementCode::ExistingAllocation};
    }
    return std::nullopt;
}

void PartitionContext::announce_existing(const NodeSpec& spec) {
    std::set<std::pair<std::string_view, std::string_view>> told; // a key that is listed twice is one allocation
    for (const AskSpec& existing : spec.existing) {
        if (!told.emplace(existing.application, existing.key).second) continue;
        const ApplicationId application = s_.find_application(existing.application);
        if (!application.valid()) continue; // foreign
        if (const AllocationId id = s_.find_allocation(application, existing.key); id.valid()) tell_new(id);
    }
}

std::optional<Refusal> PartitionContext::change_node(const NodeSpec& spec, Instant now) {
    const NodeId id = s_.nodes.find(spec.id);
    const std::string name{spec.id};
    if (spec.action == NodeAction::Unset)
        return Refusal{"node " + name + ": the action is unknown", ElementCode::Action};
    if (!id.valid()) return Refusal{"failed to find node " + name, ElementCode::NodeUnknown};
    switch (spec.action) {
    case NodeAction::Drain: set_schedulable(id, false, now); return std::nullopt;
    case NodeAction::Schedulable: set_schedulable(id, true, now); return std::nullopt;
    case NodeAction::Decommission: remove_node(id, now); return std::nullopt;
    default: break;
    }
    if (any_negative(spec.capacity) || any_negative(spec.occupied))
        return Refusal{"node " + name + " has negative resources", ElementCode::Negative};
    if (!to_resource(spec.capacity.value_or(Quantities{})) || !to_resource(spec.occupied.value_or(Quantities{})))
        return Refusal{"node " + name + ": too many resource types", ElementCode::Negative};
    if (spec.attributes && bytes_of(*spec.attributes) > bytes_of(s_.nodes[id]) - bytes_of(name))
        if (auto refusal = refuse_claim("node " + name + " stays as it was",
                                        Holdings{}.plus(Held::Names, bytes_of(*spec.attributes)), false))
            return refusal;
    update_node(id, spec, now);
    return std::nullopt;
}

/// S-481, S-482, I-175.
void PartitionContext::update_node(NodeId id, const NodeSpec& spec, Instant now) {
    Node& node = s_.nodes[id];
    if (spec.attributes) {
        s_.ledger.take(Held::Names, bytes_of(node));
        node.attributes = attributes_of(*spec.attributes);
        s_.ledger.add(Held::Names, bytes_of(node));
    }
    if (spec.capacity) {
        Resource capacity = *to_resource(*spec.capacity);
        capacity.prune();
        if (!capacity.deep_equals(node.capacity)) {
            const Resource before = node.capacity;
            node.capacity = capacity;
            capacity_changed(before, capacity, now);
            s_.tell({EventType::Node, EventChange::Set, EventDetail::NodeCapacity, node.id, {}, {}, &node.capacity},
                    now);
        }
    }
    if (spec.occupied) {
        Resource reported = *to_resource(*spec.occupied);
        reported.prune();
        if (!reported.deep_equals(node.reported)) {
            node.occupied.sub(node.reported);
            node.occupied.add(reported);
            node.occupied.prune();
            node.reported = reported;
            s_.tell({EventType::Node, EventChange::Set, EventDetail::NodeOccupied, node.id, {}, {}, &node.occupied},
                    now);
        }
    }
    update_available(node);
    s_.nodes.touch(id, true);
}

void PartitionContext::set_schedulable(NodeId id, bool schedulable, Instant now) {
    Node& node = s_.nodes[id];
    if (node.schedulable == schedulable) return;
    node.schedulable = schedulable;
    s_.nodes.touch(id, true);
    s_.tell({EventType::Node,
             EventChange::Set,
             EventDetail::NodeSchedulable,
             node.id,
             {},
             schedulable ? "schedulable: true" : "schedulable: false"},
            now);
    if (!schedulable) drop_ordinary_reservations(id, now); // S-415
}

/// S-484.
void PartitionContext::remove_node(NodeId id, Instant now) {
    if (s_.nodes[id].schedulable) set_schedulable(id, false, now);
    const std::vector<ReservationId> held = s_.nodes[id].reservations;
    for (const ReservationId reservation : held) drop_reservation(reservation, now);
    std::vector<AllocationId> placed = s_.nodes[id].allocations;
    std::sort(placed.begin(), placed.end(), [this](AllocationId a, AllocationId b) {
        const Allocation& left = s_.allocations[a];
        const Allocation& right = s_.allocations[b];
        if (left.application != right.application)
            return s_.applications[left.application].id < s_.applications[right.application].id;
        return left.key.view() < right.key.view();
    });
    std::vector<std::pair<std::string, std::string>> lost; // application, key
    std::vector<AllocationId> confirmed;                   // real halves of replacements
    for (const AllocationId allocation : placed) {
        const Allocation& gone = s_.allocations[allocation];
        const ApplicationId application = gone.application;
        if (gone.is(Allocation::InFlight)) { // G-075: the RM does not know of it
            undo_swap(allocation, now);
            continue;
        }
        const Gone what = gone.is(Allocation::Placeholder) ? Gone::Placeholder : Gone::Allocation;
        lost.emplace_back(s_.applications[application].id, gone.key.view());
        if (gone.partner.valid() && !is_elsewhere(gone.partner)) undo_swap(gone.partner, now); // G-074
        if (gone.partner.valid())                                                              // G-073
            confirmed.push_back(finish_swap(allocation, EventDetail::AllocReplaced, now));
        else
            remove_allocation(allocation, EventDetail::AllocNodeRemoved, now);
        settle(application, what, now);
    }
    const std::vector<AllocationId> foreign = s_.nodes[id].foreign;
    for (const AllocationId allocation : foreign) forget_foreign(allocation);
    capacity_changed(std::exchange(s_.nodes[id].capacity, {}), {}, now);
    const std::string name = s_.nodes[id].id;
    s_.inquiries.forget_node(id);
    s_.ledger.take(Held::Nodes);
    s_.ledger.take(Held::Names, bytes_of(s_.nodes[id]));
    s_.nodes.remove(id);
    ++s_.counters.nodes_removed;
    s_.tell({EventType::Node, EventChange::Remove, EventDetail::NodeDecommission, name}, now);
    std::vector<ReleasedAllocation> released;
    released.reserve(lost.size());
    const std::string message = "node " + name + " removed";
    for (const auto& [application, key] : lost)
        released.push_back({s_.full_name, application, key, TerminationType::StoppedByRm, message});
    if (!released.empty()) s_.callbacks.allocations_released(released);
    for (const AllocationId real : confirmed) tell_new(real);
}

} // namespace yk
