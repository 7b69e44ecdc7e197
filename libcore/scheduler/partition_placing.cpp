// Asks and allocations: being made, waiting, being placed and taken back, with every total that follows (S-180, S-330).

#include <algorithm>

#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

constexpr std::string_view kRequiredNode = "yunikorn.apache.org/requiredNode";
constexpr std::string_view kCreationTime = "creationTime";
constexpr std::int64_t kSecond = 1'000'000'000;

std::uint32_t group_hash(ApplicationId application, ShapeId shape, std::int32_t priority, std::uint32_t task_group) {
    return mix_hash(std::uint64_t{application.index} << 32 | shape.index,
                    std::uint64_t{task_group} << 32 | static_cast<std::uint32_t>(priority));
}

/// Takes entry `at` out of a list whose members know their position.
template <class List, class Position>
void swap_out(List& list, std::uint32_t at, Position&& position_of) {
    list[at] = list.back();
    position_of(list[at]) = at;
    list.pop_back();
}

} // namespace

// --- objects
// -------------------------------------------------------------------------------------------------------------

ShapeId PartitionContext::shape_of(const AskSpec& spec) {
    const std::optional<Resource> size = to_resource(spec.resource); // the caller has tested it
    return s_.shapes.acquire(*size, find_tag(spec.tags, kRequiredNode));
}

AllocationId PartitionContext::make_allocation(const AskSpec& spec, ApplicationId application, ShapeId shape,
                                               Instant now) {
    const AllocationId id = s_.allocations.make();
    Allocation& made = s_.allocations[id];
    made.key.assign(spec.key);
    s_.ledger.add(Held::Asks);
    s_.ledger.add(Held::Names, bytes_of(spec.key));
    made.application = application;
    made.shape = shape;
    made.priority = spec.priority;
    made.created = creation_time(find_tag(spec.tags, kCreationTime)).value_or(now);
    made.arrival = s_.next_arrival++;
    made.tags = s_.tags.acquire(spec.tags);
    made.task_group = s_.texts.acquire(spec.task_group);
    made.mark(Allocation::Placeholder, spec.placeholder);
    made.mark(Allocation::Originator, spec.originator);
    made.mark(Allocation::PreemptSelf, spec.allow_preempt_self);
    made.mark(Allocation::PreemptOther, spec.allow_preempt_other);
    if (!application.valid()) return id;
    s_.keys.insert(mix_hash(application.index, spec.key), id);
    if (spec.placeholder) count_placeholder(id);
    Application& owner = s_.applications[application];
    const Instant arrived = owner.state_log.front().first;
    if (made.created < arrived && made.created < owner.submitted) { // S-103
        owner.submitted = made.created;
        orders_.touch(application);
    }
    return id;
}

void PartitionContext::destroy_allocation(AllocationId id) {
    const Allocation& gone = s_.allocations[id];
    if (!gone.is(Allocation::Foreign) && s_.preemption.knows_asks()) s_.preemption.forget(id);
    if (s_.inquiries.attempts > 0) s_.inquiries.forget_victim(id);
    if (gone.is(Allocation::Placeholder) && gone.application.valid()) count_placeholder_gone(id);
    if (gone.application.valid()) s_.keys.erase(mix_hash(gone.application.index, gone.key.view()), id);
    s_.tags.release(gone.tags);
    s_.texts.release(gone.task_group);
    s_.shapes.release(gone.shape);
    s_.ledger.take(Held::Asks);
    s_.ledger.take(Held::Names, bytes_of(gone.key.view()));
    s_.allocations.destroy(id);
}

// --- waiting
// -------------------------------------------------------------------------------------------------------------

void PartitionContext::add_pending(AllocationId id, Instant now) {
    const Allocation& ask = s_.allocations[id];
    Application& application = s_.applications[ask.application];
    const Resource& size = s_.resource_of(ask);
    application.pending.add(size);
    application.pending.prune();
    ++application.pending_asks;
    application.reported_asks += ask.is(Allocation::ScaleUp) ? 1U : 0U;
    ++s_.pending_asks;
    for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) {
        queue->pending.add(size);
        queue->pending.prune();
    }
    const bool grouped = ask.task_group != 0 && !ask.is(Allocation::Placeholder);
    if (grouped) list_gang_ask(id);
    join_group(id, now);
    if (grouped) task_group_changed(ask.application, ask.task_group);
}

void PartitionContext::take_pending(AllocationId id, Instant now) {
    leave_group(id, now);
    const Allocation& ask = s_.allocations[id];
    if (ask.task_group != 0 && !ask.is(Allocation::Placeholder)) {
        unlist_gang_ask(id);
        task_group_changed(ask.application, ask.task_group);
    }
    Application& application = s_.applications[ask.application];
    const Resource& size = s_.resource_of(ask);
    application.pending.sub(size);
    application.pending.prune();
    --application.pending_asks;
    application.reported_asks -= ask.is(Allocation::ScaleUp) ? 1U : 0U;
    --s_.pending_asks;
    for (Queue* queue = application.queue; queue != nullptr; queue = queue->parent) {
        queue->pending.sub(size);
        if (queue->pending.has_negative()) { // S-182
            ++s_.counters.corrections;
            queue->pending.clamp();
        }
        queue->pending.prune();
    }
    orders_.touch(ask.application);
}

void PartitionContext::join_group(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    const std::uint32_t task_group = ask.is(Allocation::Placeholder) ? 0 : ask.task_group;
    const std::uint32_t hash = group_hash(ask.application, ask.shape, ask.priority, task_group);
    GroupId group = s_.group_index.find(hash, [&](GroupId known) {
        const AskGroup& other = s_.groups[known];
        return s_.settings.shortcuts.groups && other.application == ask.application && other.shape == ask.shape &&
               other.priority == ask.priority && other.task_group == task_group;
    });
    if (!group.valid()) {
        group = s_.groups.make();
        s_.groups[group].application = ask.application;
        s_.groups[group].shape = ask.shape;
        s_.groups[group].priority = ask.priority;
        s_.groups[group].task_group = task_group;
        if (task_group != 0) {
            TaskGroup& gang = this->task_group(s_.applications[ask.application], task_group);
            gang.ask_groups.push_back(group);
            s_.groups[group].replaceable = gang.open;
        }
        s_.group_index.insert(hash, group);
        if (s_.shapes.add_group(ask.shape)) orders_.shape_appeared(ask.shape);
    }
    ask.group = group;
    group_insert(s_.groups[group], id, s_.allocations);
    update_due(group, now);
    checks_.joined(id, now);
    planner_.notes().list_untouched(group);
    orders_.touch(group);
}

void PartitionContext::leave_group(AllocationId id, Instant now) {
    Allocation& ask = s_.allocations[id];
    const GroupId group_id = ask.group;
    AskGroup& group = s_.groups[group_id];
    if (!s_.inquiries.by_ask.empty()) forget_inquiry(id);
    checks_.leaving(id);
    group_erase(group, id, s_.allocations);
    ask.group = {};
    if (group.count > 0) {
        update_due(group_id, now);
        if (group.checks) checks_.update(group_id, now);
        orders_.touch(group_id);
        return;
    }
    s_.group_index.erase(group_hash(group.application, group.shape, group.priority, group.task_group), group_id);
    if (group.task_group != 0) {
        auto& members = task_group(s_.applications[group.application], group.task_group).ask_groups;
        members.erase(std::find(members.begin(), members.end(), group_id));
    }
    if (group.slot.in_index()) s_.applications[group.application].groups.erase(group_id.index);
    orders_.touch(group.application);
    orders_.forget(group_id);
    s_.shapes.remove_group(group.shape);
    s_.groups.destroy(group_id);
}

/// Keeps `due` of a group: its first free ask is older than the reservation delay (S-403).
void PartitionContext::update_due(GroupId id, Instant now) {
    AskGroup& group = s_.groups[id];
    const bool was = group.due;
    group.due = false;
    if (!group.first_free.valid() || s_.settings.reservations_disabled || s_.shapes[group.shape].is_pinned()) return;
    const Instant at = s_.allocations[group.first_free].created + s_.settings.reservation_delay + Duration{1};
    group.due = at <= now;
    if (group.due != was) orders_.touch(id);
    if (group.due || group.due_timer) return;
    group.due_timer = true;
    if (s_.due.empty() || s_.due.back().at <= at)
        s_.due.push_back({at, id});
    else
        s_.late_due.set(at, TimerKind::GroupDue, id.index);
}

// --- placing (S-330)
// -----------------------------------------------------------------------------------------------------

/// The last step that may request memory: commit appends to these lists only.
void PartitionContext::reserve_room(AllocationId ask, NodeId node) {
    const auto room = [](auto& list) {
        if (list.size() == list.capacity()) list.reserve(list.size() * 2 + 4);
    };
    room(s_.nodes[node].allocations);
    room(s_.applications[s_.allocations[ask].application].allocations);
    orders_.reserve_room();
}

void PartitionContext::place(AllocationId id, NodeId node, bool tell, Instant now) {
    const Allocation& ask = s_.allocations[id];
    const ReservationId reservation = ask.reservation;
    Queue& leaf = *s_.applications[ask.application].queue;
    if (ask.is(Allocation::Triggered))
        end_trigger(id, reservation.valid() && s_.reservations[reservation].node == node, now);
    if (s_.preemption.knows_asks()) s_.preemption.attempts.erase(id);
    take_pending(id, now);
    put_on_node(id, node, now);
    grow_queues(leaf, s_.resource_of(ask));
    put_in_application(id, now);
    if (reservation.valid()) drop_reservation(reservation, now);
    ++s_.counters.allocated;
    ++leaf.placed_count;
    if (tell) tell_new(id);
}

void PartitionContext::put_on_node(AllocationId id, NodeId node_id, Instant now) {
    Allocation& placed = s_.allocations[id];
    Node& node = s_.nodes[node_id];
    const Resource& size = s_.resource_of(placed);
    placed.node = node_id;
    placed.bound = now;
    placed.mark(Allocation::Placed);
    placed.mark(Allocation::Checked, false);
    placed.place.placed.on_node = static_cast<std::uint32_t>(node.allocations.size());
    node.allocations.push_back(id);
    node.allocated.add(size);
    node.available.sub(size);
    node.available.prune();
    s_.nodes.touch(node_id, false);
    s_.tell({EventType::Node, EventChange::Add, EventDetail::NodeAlloc, node.id, placed.key.view(), {}, &size}, now);
}

void PartitionContext::put_in_application(AllocationId id, Instant now) {
    Allocation& placed = s_.allocations[id];
    const ApplicationId owner = placed.application;
    Application& application = s_.applications[owner];
    const Resource& size = s_.resource_of(placed);
    const bool placeholder = placed.is(Allocation::Placeholder);
    placed.place.placed.in_application = static_cast<std::uint32_t>(application.allocations.size());
    application.allocations.push_back(id);
    if (placeholder) hold_placeholder(id, now);
    Resource& total = placeholder ? application.placeholder : application.allocated;
    total.add(size);
    application.peak.max_with(total);
    Queue& leaf = *application.queue;
    leaf.lowest_placed = std::min(leaf.lowest_placed, placed.priority);
    application.placeholders += placeholder ? 1U : 0U;
    s_.placeholder_count += placeholder ? 1U : 0U;
    ++s_.allocation_count;
    const bool runs = !placeholder || application.placeholder.equals(application.placeholder_ask); // S-145
    if (runs && application.state != ApplicationState::Running) handle(owner, ApplicationEvent::Run, {}, now);
    if (!placeholder && application.state == ApplicationState::Accepted) // out of Resuming (G-013)
        handle(owner, ApplicationEvent::Run, {}, now);
    use(owner, size, now);
    orders_.touch(owner);
    if (placeholder && !fits(application.placeholder_ask, application.placeholder)) tell_placeholder_sum(owner, now);
    s_.tell({EventType::App, EventChange::Add, EventDetail::AppAlloc, application.id, placed.key.view(), {}, &size},
            now);
}

void PartitionContext::grow_queues(Queue& leaf, const Resource& amount) {
    for (Queue* queue = &leaf; queue != nullptr; queue = queue->parent) queue->allocated.add(amount);
    orders_.touch(leaf);
}

void PartitionContext::shrink_queues(Queue& leaf, const Resource& amount) {
    for (Queue* queue = &leaf; queue != nullptr; queue = queue->parent) {
        queue->allocated.sub(amount);
        if (queue->allocated.has_negative()) { // S-182: must never happen
            ++s_.counters.corrections;
            queue->allocated.clamp();
        }
        queue->allocated.prune();
    }
    if (leaf.allocated.is_zero()) leaf.lowest_placed = INT32_MAX;
    orders_.path_grew(leaf);
}

void PartitionContext::take_from_node(AllocationId id, Instant now) {
    const Allocation& gone = s_.allocations[id];
    Node& node = s_.nodes[gone.node];
    const Resource& size = s_.resource_of(gone);
    swap_out(node.allocations, gone.place.placed.on_node,
             [this](AllocationId other) -> std::uint32_t& { return s_.allocations[other].place.placed.on_node; });
    node.allocated.sub(size);
    node.allocated.prune();
    update_available(node);
    s_.nodes.touch(gone.node, true);
    s_.tell({EventType::Node, EventChange::Remove, EventDetail::NodeAlloc, node.id, gone.key.view(), {}, &size}, now);
}

/// S-472: totals, resource-seconds, state and event; the caller handles node, queue and the object.
void PartitionContext::take_from_application(AllocationId id, EventDetail detail, Instant now) {
    const Allocation& gone = s_.allocations[id];
    const ApplicationId owner = gone.application;
    Application& application = s_.applications[owner];
    const Resource& size = s_.resource_of(gone);
    const bool placeholder = gone.is(Allocation::Placeholder);
    note_seconds(gone, now);
    if (gone.is(Allocation::Preempted)) forget_mark(id, now);
    if (placeholder) let_placeholder_go(id);
    swap_out(application.allocations, gone.place.placed.in_application, [this](AllocationId other) -> std::uint32_t& {
        return s_.allocations[other].place.placed.in_application;
    });
    Resource& total = placeholder ? application.placeholder : application.allocated;
    total.sub(size);
    total.prune();
    application.placeholders -= placeholder ? 1U : 0U;
    s_.placeholder_count -= placeholder ? 1U : 0U;
    if (application.placeholders == 0) application.gang.timer = 0; // G-022
    --s_.allocation_count;
    ++s_.counters.released;
    ++application.queue->released_count;
    give_back(owner, size, placeholder, now);
    orders_.touch(owner);
    s_.tell({EventType::App, EventChange::Remove, detail, application.id, gone.key.view(), {}, &size}, now);
}

/// S-033. A type that there is no room for counts as none.
void PartitionContext::note_seconds(const Allocation& allocation, Instant now) {
    const std::int64_t seconds = (now - allocation.bound).count() / kSecond;
    Application& application = s_.applications[allocation.application];
    std::string type{s_.nodes[allocation.node].instance_type()};
    const Holdings claim = Holdings{}.plus(Held::Names, bytes_of(type) + kPerEntry);
    if (application.seconds.count(type) == 0 && s_.ledger.shortage(claim, false)) type = kUnknownInstanceType;
    const auto [entry, is_new] = application.seconds.try_emplace(std::move(type));
    if (is_new) s_.ledger.add(Held::Names, bytes_of(entry->first) + kPerEntry);
    auto& totals = entry->second;
    const std::size_t kind = allocation.is(Allocation::Preempted) ? 1 : allocation.is(Allocation::Placeholder) ? 2 : 0;
    Resource& total = totals[kind];
    if (seconds == 0) return; // S-007
    s_.resource_of(allocation).for_each([&](ResourceId id, std::int64_t value) {
        total.set(id, sat_add(total.get(id), sat_mul(value, seconds)));
    });
}

void PartitionContext::tell_new(AllocationId id) {
    const Allocation& placed = s_.allocations[id];
    const Application& application = s_.applications[placed.application];
    const Tags& tags = s_.tags.tags(placed.tags);
    s_.callbacks.allocation_made({s_.full_name,
                                  application.id,
                                  placed.key.view(),
                                  s_.nodes[placed.node].id,
                                  application.queue->path,
                                  s_.texts.text(placed.task_group),
                                  s_.named(s_.resource_of(placed)),
                                  {tags.data(), tags.size()},
                                  placed.priority,
                                  placed.is(Allocation::Placeholder),
                                  placed.is(Allocation::Originator),
                                  placed.is(Allocation::PreemptSelf),
                                  placed.is(Allocation::PreemptOther)});
}

// --- for benchmarks
// ------------------------------------------------------------------------------------------------------

AllocationId PartitionContext::find_ask(std::string_view application, std::string_view key) const {
    const ApplicationId id = s_.find_application(application);
    return id.valid() ? s_.find_allocation(id, key) : AllocationId{};
}

void PartitionContext::commit_known(AllocationId ask, NodeId node, Instant now) {
    reserve_room(ask, node);
    place(ask, node, true, now);
    if (upkeep_ == Upkeep::Full) orders_.refresh();
}

void PartitionContext::commit_known_swap(AllocationId ask, AllocationId placeholder, NodeId node, Instant now) {
    SwapPlan plan;
    plan.ask = ask;
    plan.placeholder = placeholder;
    plan.node = node;
    swap(plan, now);
    if (upkeep_ == Upkeep::Full) orders_.refresh();
}

} // namespace yk
