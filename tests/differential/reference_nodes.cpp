// SPDX-License-Identifier: Apache-2.0
// Nodes (scheduling.md section 13).

#include <algorithm>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

Amounts amounts_of(const std::optional<Quantities>& quantities) {
    Amounts amounts;
    if (!quantities) return amounts;
    for (const Quantity& q : *quantities) amounts[std::string(q.name)] = q.value;
    return amounts;
}

std::vector<std::pair<std::string, std::string>> owned(const std::optional<Tags>& tags) {
    std::vector<std::pair<std::string, std::string>> copy;
    if (!tags) return copy;
    for (const Tag& tag : *tags) copy.emplace_back(tag.key, tag.value);
    return copy;
}

} // namespace

Amounts capacity_of(const NodeSpec& spec) {
    Amounts capacity = amounts_of(spec.capacity);
    if (!spec.devices) return capacity;
    for (const DeviceListSpec& each : *spec.devices) {
        std::int64_t sum = 0;
        for (const std::int64_t size : each.sizes) sum += size;
        capacity[std::string{each.name}] = sum;
    }
    return capacity;
}

/// The sums of devices are the capacity (F-001).
std::optional<Refusal> Partition::refused_devices(const NodeSpec& spec, const Node* node) const {
    const Amounts given = amounts_of(spec.capacity), summed = capacity_of(spec);
    if (spec.capacity && spec.devices)
        for (const DeviceListSpec& each : *spec.devices) {
            const auto known = given.find(std::string{each.name});
            if (known != given.end() && known->second != summed.at(known->first))
                return Refusal{ElementCode::Devices, "in all, but a capacity of"};
        }
    if (spec.devices || !spec.capacity || node == nullptr) return std::nullopt;
    for (const auto& [type, devices] : node->devices) {
        std::int64_t sum = 0;
        for (const Device& each : devices) sum += each.size;
        const auto known = given.find(type);
        if ((known == given.end() ? 0 : known->second) != sum)
            return Refusal{ElementCode::Devices, "without new devices"};
    }
    return std::nullopt;
}

/// Refuses a node that exists, that has negative amounts, or whose allocations cannot be taken over (S-480).
std::optional<Refusal> Partition::create_node(const NodeSpec& spec, Instant now) {
    const std::string id(spec.id);
    if (nodes_.count(id) != 0) return Refusal{ElementCode::NodeExists, "existing"};
    if (has_negative(amounts_of(spec.capacity)) || has_negative(amounts_of(spec.occupied)))
        return Refusal{ElementCode::Negative, "negative"};
    if (auto refusal = refused_devices(spec, nullptr)) return refusal;
    for (AskSpec allocation : spec.existing) { // S-481: all or nothing, and no event for a rejected node
        allocation.node = {};
        bool refused = refusal_of(allocation, true).has_value();
        // what is placed on another node cannot be on this one (I-147)
        if (Application* app = find(std::string(allocation.application)); app != nullptr) {
            const auto known = app->requests.find(std::string(allocation.key));
            refused = refused || (known != app->requests.end() &&
                                  (known->second.placeholder != allocation.placeholder || known->second.allocated));
        }
        if (refused) return Refusal{ElementCode::ExistingAllocation, "existing allocation"};
    }
    const Maybe before = max_of(queues_.at("root"));
    Node& node = nodes_[id];
    node.id = id;
    node.attributes = owned(spec.attributes);
    node.capacity = prune(capacity_of(spec));
    if (spec.devices) set_devices(node, *spec.devices);
    node.reported = prune(amounts_of(spec.occupied));
    node.schedulable = spec.action == NodeAction::Create;
    event(EventType::Node, id, EventChange::Set, EventDetail::NodeSchedulable, now);
    root_max_event(before, now);
    event(EventType::Node, id, EventChange::Add, EventDetail::None, now, {}, node.capacity);
    for (AskSpec allocation : spec.existing) {
        allocation.node = spec.id; // an RM need not say it again
        ask(allocation, now, false);
    }
    return std::nullopt;
}

void Partition::echo_existing(const NodeSpec& spec) {
    for (const AskSpec& allocation : spec.existing) {
        const Application* app = find(std::string(allocation.application));
        announce(*app, app->requests.at(std::string(allocation.key)));
    }
}

std::optional<Refusal> Partition::change_node(const NodeSpec& spec, Instant now) {
    const auto found = nodes_.find(std::string(spec.id));
    if (spec.action == NodeAction::Unset) return Refusal{ElementCode::Action, "action"};
    if (found == nodes_.end()) return Refusal{ElementCode::NodeUnknown, "unknown node"};
    Node& node = found->second;
    switch (spec.action) {
    case NodeAction::Update:
        if (auto refusal = refused_devices(spec, &node)) return refusal;
        update_node(node, spec, now);
        break;
    case NodeAction::Drain: set_schedulable(node, false, now); break;
    case NodeAction::Schedulable: set_schedulable(node, true, now); break;
    case NodeAction::Decommission: decommission(node.id, now); break;
    case NodeAction::Unset:
    case NodeAction::Create:
    case NodeAction::CreateDrain: break;
    }
    return std::nullopt;
}

/// What the request names replaces what was; the partition of a node never changes (S-482, S-481, I-175).
void Partition::update_node(Node& node, const NodeSpec& spec, Instant now) {
    if (spec.attributes) node.attributes = owned(spec.attributes);
    if (spec.devices) set_devices(node, *spec.devices);
    Amounts wanted = spec.capacity ? Amounts{} : node.capacity;
    for (const auto& [type, amount] : capacity_of(spec)) wanted[type] = amount;
    wanted = prune(wanted);
    if ((spec.capacity || spec.devices) && wanted != node.capacity) {
        const Maybe before = max_of(queues_.at("root"));
        node.capacity = wanted;
        root_max_event(before, now);
        event(EventType::Node, node.id, EventChange::Set, EventDetail::NodeCapacity, now, {}, node.capacity);
    }
    if (spec.occupied) {
        const Amounts before = occupied(node);
        node.reported = prune(amounts_of(spec.occupied));
        occupied_event(node, before, now);
    }
}

void Partition::set_schedulable(Node& node, bool schedulable, Instant now) {
    if (node.schedulable == schedulable) return;
    node.schedulable = schedulable;
    event(EventType::Node, node.id, EventChange::Set, EventDetail::NodeSchedulable, now);
    if (schedulable) return;
    // a drained node keeps the reservations of asks that can run nowhere else (S-415)
    for (const Reservation& r : reservations_on(node.id))
        if (!is_required(r)) unreserve(r.application, r.key, now);
}

/// S-484. `id` by value: callers name it by the node itself.
void Partition::decommission(const std::string id, Instant now) {
    Node& node = nodes_.at(id);
    if (node.schedulable) event(EventType::Node, id, EventChange::Set, EventDetail::NodeSchedulable, now);
    node.schedulable = false;
    for (const Reservation& r : reservations_on(id)) unreserve(r.application, r.key, now);
    std::vector<std::pair<std::string, std::string>> gone; // application, key
    for (const auto& [app_id, app] : applications_)
        for (const auto& [key, ask] : app->requests)
            if (ask.allocated && ask.node == id) gone.emplace_back(app_id, key);
    for (const auto& [app_id, key] : gone) {
        Application& app = *applications_.at(app_id);
        const Amounts size = app.requests.at(key).resource;
        remove_allocation(app, key, EventDetail::AllocNodeRemoved, now);
        event(EventType::App, app_id, EventChange::Remove, EventDetail::RequestCancel, now, key, size);
        complete_after_allocation(app, now);
    }
    const Maybe before = max_of(queues_.at("root"));
    workload_changed_ = workload_changed_ || !nodes_.at(id).devices.empty();
    nodes_.erase(id);
    root_max_event(before, now);
    event(EventType::Node, id, EventChange::Remove, EventDetail::NodeDecommission, now);
    report_released(gone);
}

} // namespace yk::reference
