// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/placements.h"

#include <algorithm>
#include <tuple>

#include "libcore/base/check.h"
#include "libcore/changes/requests.h"
#include "libcore/state/allocated_devices.h"

namespace yk {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000; // nanoseconds

/// Removes entry `at` of a list whose members know their position, in O(1).
template <class List, class Position>
void swap_out(List& list, std::uint32_t at, Position&& position_of) {
    list[at] = list.back();
    position_of(list[at]) = at;
    list.pop_back();
}

} // namespace

void Placements::resize(AllocationId id, const AskSpec& spec, Instant now) noexcept {
    Allocation& placed = state_.allocations[id];
    const Resource before = state_.resource_of(placed), size = *state_.to_resource(spec.resource);
    if (before.equals(size) && spec.devices.empty()) return;
    const std::string required = state_.shapes[placed.shape].required_node;
    const ShapeId shape = state_.shapes.acquire(size, required, stated_devices(state_, spec));
    state_.shapes.release(placed.shape);
    placed.shape = shape;
    move_to_devices(id, spec);
    if (before.equals(size)) return;
    Application& application = state_.applications[placed.application];
    user_limits_.change_use(application, before, size);
    Node& node = state_.nodes[placed.node];
    const bool placeholder = placed.is(Allocation::Placeholder);
    state_.ledger.resize(application, node, before, size, placeholder);
    shrink_queues(*application.queue, before);
    grow_queues(*application.queue, size);
    application.queue->lowest_placed = std::min(application.queue->lowest_placed, placed.priority);
    if (placed.is(Allocation::Preempted)) { // what is preempting follows the size (P-075)
        state_.ledger.resize_preempting(application, before, size);
    }
    quota_preemption_.forced(*application.queue, now);
    state_.nodes.mark_dirty(placed.node, true);
    indexes_.mark_dirty(placed.application);
}

/// Gives a placed allocation devices for its size: those that the RM says, else the same as before where that is
/// enough.
void Placements::move_to_devices(AllocationId id, const AskSpec& spec) noexcept {
    const Allocation& placed = state_.allocations[id];
    Node& node = state_.nodes[placed.node];
    if (!node.devices || placed.is(Allocation::InFlight)) return; // the RM does not know of the real half yet
    const std::vector<DeviceUse> before = node.devices->of(owner_of(id));
    node.devices->give_back(owner_of(id));
    node.devices->take(owner_of(id), state_.shapes[placed.shape].device_ask(), said_devices(state_, spec), true,
                       before);
    state_.nodes.mark_dirty(placed.node, true);
}

void Placements::remove(AllocationId id, EventDetail detail, Instant now) noexcept {
    const ApplicationId owner = state_.allocations[id].application;
    take_from_application(id, detail, now);
    take_from_node(id, now);
    shrink_queues(*state_.applications[owner].queue, state_.resource_of(state_.allocations[id]));
    pending_asks_.emit_request_removed(id, detail == EventDetail::AllocTimeout, now);
    pending_asks_.destroy(id);
}

[[gnu::hot]] void Placements::reserve_capacity(AllocationId ask, NodeId node) {
    const auto reserve_one = [](auto& list) {
        if (list.size() == list.capacity()) list.reserve(list.size() * 2 + 4);
    };
    reserve_one(state_.nodes[node].allocations);
    reserve_one(state_.applications[state_.allocations[ask].application].allocations);
    indexes_.reserve_capacity();
}

[[gnu::hot]] void Placements::place(AllocationId id, NodeId node, bool notify, Instant now,
                                    std::span<const DeviceUse> said) noexcept {
    YK_ASSUME(state_.nodes[node].allocations.size() < state_.nodes[node].allocations.capacity(),
              "reserve_capacity() was called");
    const Allocation& ask = state_.allocations[id];
    const ReservationId reservation = ask.reservation;
    const Application& application = state_.applications[ask.application];
    YK_ASSUME(application.allocations.size() < application.allocations.capacity(), "reserve_capacity() was called");
    Queue& leaf = *application.queue;
    if (ask.is(Allocation::Triggered))
        victim_marks_.end_trigger(id, reservation.valid() && state_.reservations[reservation].node == node, now);
    if (state_.preemption.knows_asks()) state_.preemption.attempts.erase(id);
    pending_asks_.take(id, now);
    put_on_node(id, node, now, said);
    grow_queues(leaf, state_.resource_of(ask));
    put_in_application(id, now);
    if (reservation.valid()) reservations_.drop(reservation, now);
    if (state_.recovering) { // it was decided before, as that of an allocation whose ask came later (I-228)
        ++state_.counters.restored;
    } else {
        ++state_.counters.allocated;
        ++leaf.placed_count;
    }
    if (notify) notify_new(id);
}

[[gnu::hot]] void Placements::put_on_node(AllocationId id, NodeId node_id, Instant now,
                                          std::span<const DeviceUse> said) noexcept {
    Allocation& placed = state_.allocations[id];
    Node& node = state_.nodes[node_id];
    const Resource& size = state_.resource_of(placed);
    placed.node = node_id;
    placed.bound = now;
    placed.mark(Allocation::Placed);
    placed.mark(Allocation::Checked, false);
    placed.links.placed.on_node = static_cast<std::uint32_t>(node.allocations.size());
    node.allocations.push_back(id);
    std::string devices;
    if (node.devices) {
        const ShapeBoards* const boards = state_.nodes.boards();
        const std::optional<DeviceUse> better =
            boards != nullptr ? boards->better_device(node_id, placed.shape) : std::nullopt;
        node.devices->take(owner_of(id), state_.shapes[placed.shape].device_ask(), said, true,
                           better ? std::span{&*better, 1} : std::span<const DeviceUse>{});
        devices = devices_text(state_, node, owner_of(id));
    }
    state_.ledger.add_to_node(node, size);
    state_.nodes.mark_dirty(node_id, false);
    state_.emit({EventType::Node, EventChange::Add, EventDetail::NodeAlloc, node.id, placed.key.view(), devices, &size},
                now);
}

[[gnu::hot]] void Placements::put_in_application(AllocationId id, Instant now) noexcept {
    Allocation& placed = state_.allocations[id];
    const ApplicationId owner = placed.application;
    Application& application = state_.applications[owner];
    const Resource& size = state_.resource_of(placed);
    const bool placeholder = placed.is(Allocation::Placeholder);
    placed.links.placed.in_application = static_cast<std::uint32_t>(application.allocations.size());
    application.allocations.push_back(id);
    if (placeholder) task_groups_.hold(id, now);
    state_.ledger.add_to_application(application, size, placeholder);
    Queue& leaf = *application.queue;
    leaf.lowest_placed = std::min(leaf.lowest_placed, placed.priority);
    application.placeholders += placeholder ? 1U : 0U;
    state_.placeholder_count += placeholder ? 1U : 0U;
    ++state_.allocation_count;
    const bool runs =
        !placeholder || application.placeholder.equals(application.placeholder_ask); // all of them (S-145)
    if (runs && application.state != ApplicationState::Running)
        application_states_.handle(owner, ApplicationEvent::Run, {}, now);
    if (!placeholder && application.state == ApplicationState::Accepted) // out of Resuming (G-013)
        application_states_.handle(owner, ApplicationEvent::Run, {}, now);
    user_limits_.use(owner, size, now);
    indexes_.mark_dirty(owner);
    if (placeholder && !fits(application.placeholder_ask, application.placeholder))
        task_groups_.emit_placeholder_sum(owner, now);
    state_.emit({EventType::App, EventChange::Add, EventDetail::AppAlloc, application.id, placed.key.view(), {}, &size},
                now);
}

void Placements::grow_queues(Queue& leaf, const Resource& amount) noexcept {
    state_.ledger.add_to_queues(leaf, amount);
    indexes_.mark_dirty(leaf);
}

void Placements::shrink_queues(Queue& leaf, const Resource& amount) noexcept {
    state_.ledger.take_from_queues(leaf, amount);
    indexes_.path_grew(leaf);
}

void Placements::take_from_node(AllocationId id, Instant now) noexcept {
    const Allocation& leaving = state_.allocations[id];
    Node& node = state_.nodes[leaving.node];
    const Resource& size = state_.resource_of(leaving);
    swap_out(node.allocations, leaving.links.placed.on_node,
             [this](AllocationId other) -> std::uint32_t& { return state_.allocations[other].links.placed.on_node; });
    if (node.devices) node.devices->give_back(owner_of(id));
    state_.ledger.take_from_node(node, size);
    state_.nodes.mark_dirty(leaving.node, true);
    state_.emit({EventType::Node, EventChange::Remove, EventDetail::NodeAlloc, node.id, leaving.key.view(), {}, &size},
                now);
}

/// Removes it from the application: totals, resource-seconds, usage of users, event. The caller removes it from node
/// and queues and destroys it (S-472).
void Placements::take_from_application(AllocationId id, EventDetail detail, Instant now) noexcept {
    const Allocation& leaving = state_.allocations[id];
    const ApplicationId owner = leaving.application;
    Application& application = state_.applications[owner];
    const Resource& size = state_.resource_of(leaving);
    const bool placeholder = leaving.is(Allocation::Placeholder);
    note_seconds(leaving, now);
    if (leaving.is(Allocation::Preempted)) victim_marks_.forget(id, now);
    if (placeholder) task_groups_.let_go(id);
    swap_out(
        application.allocations, leaving.links.placed.in_application,
        [this](AllocationId other) -> std::uint32_t& { return state_.allocations[other].links.placed.in_application; });
    state_.ledger.take_from_application(application, size, placeholder);
    application.placeholders -= placeholder ? 1U : 0U;
    state_.placeholder_count -= placeholder ? 1U : 0U;
    if (application.placeholders == 0) application.gang.timer = 0; // no placeholder can time out (G-022)
    --state_.allocation_count;
    ++state_.counters.released;
    ++application.queue->released_count;
    user_limits_.give_back(owner, size, placeholder, now);
    indexes_.mark_dirty(owner);
    state_.emit({EventType::App, EventChange::Remove, detail, application.id, leaving.key.view(), {}, &size}, now);
}

/// Adds the resource-seconds of the allocation to its application, by instance type of the node. A type whose name the
/// budget does not allow counts as unknown (S-033).
void Placements::note_seconds(const Allocation& allocation, Instant now) noexcept {
    const std::int64_t seconds = (now - allocation.bound).count() / kSecond;
    Application& application = state_.applications[allocation.application];
    std::string_view type = state_.nodes[allocation.node].instance_type();
    auto entry = application.seconds.find(type);
    if (entry == application.seconds.end()) {
        const Holdings claim = Holdings{}.plus(Held::Names, bytes_of(type) + kPerEntry);
        if (state_.budget_meter.shortage(claim, false)) type = kUnknownInstanceType;
        bool is_new = false;
        std::tie(entry, is_new) = application.seconds.try_emplace(std::string{type});
        if (is_new) state_.budget_meter.add(Held::Names, bytes_of(entry->first) + kPerEntry);
    }
    auto& totals = entry->second;
    const std::size_t kind = allocation.is(Allocation::Preempted) ? 1 : allocation.is(Allocation::Placeholder) ? 2 : 0;
    Resource& total = totals[kind];
    if (seconds == 0) return; // no entry of 0 (S-007)
    state_.resource_of(allocation).for_each([&](ResourceId id, std::int64_t value) {
        total.set(id, sat_add(total.get(id), sat_mul(value, seconds)));
    });
}

[[gnu::hot]] void Placements::notify_new(AllocationId id) noexcept {
    const Allocation& placed = state_.allocations[id];
    const Application& application = state_.applications[placed.application];
    const Tags& tags = state_.tags.tags(placed.tags);
    const Node& node = state_.nodes[placed.node];
    const std::vector<AllocatedDevice> devices = allocated_devices(state_, node, owner_of(id));
    state_.callbacks.allocation_made({state_.full_name,
                                      application.id,
                                      placed.key.view(),
                                      node.id,
                                      application.queue->path,
                                      state_.texts.text(placed.task_group),
                                      state_.named(state_.resource_of(placed)),
                                      {tags.data(), tags.size()},
                                      placed.priority,
                                      devices,
                                      placed.is(Allocation::Placeholder),
                                      placed.is(Allocation::Originator),
                                      placed.is(Allocation::PreemptSelf),
                                      placed.is(Allocation::PreemptOther)});
}

} // namespace yk
