// SPDX-License-Identifier: Apache-2.0
#include "libcore/reports/snapshot.h"

#include <algorithm>

#include "libcore/planning/shortage.h"
#include "libcore/state/allocated_devices.h"
#include "libcore/state/leaf_plan.h"

namespace yk {

namespace {

TagsView tags_view(const Tags& tags) {
    TagsView view;
    for (const Tag& tag : tags) view.emplace_back(tag.key, tag.value);
    return view;
}

template <class List>
void sort_by_key(List& list) {
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.application != b.application ? a.application < b.application : a.key < b.key;
    });
}

TemplateView template_of(const Queue& owner) {
    const config::ChildTemplate& from = *owner.child_template;
    return {owner.path,
            from.max_applications,
            from.properties,
            from.resources.max.value_or(ResourceMapView{}),
            from.resources.guaranteed.value_or(ResourceMapView{}),
            from.apply_to_existing,
            from.inherit_properties};
}

void list_allocating(const PartitionState& state, const Queue& queue, std::vector<std::string>& ids) {
    if (queue.allocating == 0) return;
    for (const ApplicationId id : queue.applications)
        if (state.applications[id].allocating_accepted) ids.push_back(state.applications[id].id);
    for (const auto& [name, child] : queue.children) list_allocating(state, *child, ids);
}

/// The counts above 0, by reason.
std::map<std::string, std::int64_t> excluded_view(const std::array<std::uint64_t, kExcludedReasons>& counts) {
    std::map<std::string, std::int64_t> view;
    for (std::size_t i = 1; i < counts.size(); ++i)
        if (counts[i] > 0) view[std::string{text_of(static_cast<Excluded>(i))}] = static_cast<std::int64_t>(counts[i]);
    return view;
}

/// The last attempt to preempt for the ask.
std::optional<PreemptionAttemptView> attempt_view(const PartitionState& state, AllocationId ask) {
    const auto known = state.preemption.attempts.find(ask);
    if (known == state.preemption.attempts.end()) return std::nullopt;
    const PreemptionAttempt& attempt = known->second;
    PreemptionAttemptView view;
    view.at = attempt.at;
    view.result = text_of(attempt.result);
    view.fence_root = attempt.fence_root;
    view.node = attempt.node;
    view.victims = static_cast<std::int64_t>(attempt.victims);
    view.candidates = static_cast<std::int64_t>(attempt.allocations[0]);
    view.nodes_tried = static_cast<std::int64_t>(attempt.nodes_tried);
    view.excluded_queues = excluded_view(attempt.queues);
    view.excluded = excluded_view(attempt.allocations);
    return view;
}

/// Adds the results of the attempts to preempt for the ask (I-711).
void add_preemption_log(const PartitionState& state, AllocationId ask, std::vector<LogEntryView>& log) {
    const auto known = state.preemption.logs.find(ask);
    if (known != state.preemption.logs.end())
        for (const PreemptionRecords::LogEntry& entry : known->second)
            log.push_back({std::string{text_of(entry.result)}, entry.last, entry.count});
    std::stable_sort(log.begin(), log.end(), [](const auto& a, const auto& b) { return a.last < b.last; });
}

/// Adds the RM's reasons for refusing nodes for the ask (I-711).
void add_predicate_log(const PartitionState& state, AllocationId ask, std::vector<LogEntryView>& log) {
    const Inquiry* inquiry = state.inquiries.find(ask);
    if (inquiry == nullptr) return;
    for (const PredicateReason& reason : inquiry->log) log.push_back({reason.text, reason.last, reason.count});
}

} // namespace

PartitionView partition_view(const PartitionState& state) {
    PartitionView view;
    view.name = state.name;
    view.rm = state.full_name.substr(1, state.full_name.find(']') - 1);
    view.state = text_of(state.state);
    view.last_transition = state.last_transition;
    view.capacity = state.map_of(state.capacity);
    view.allocated = state.map_of(state.queues.root().allocated);
    view.node_sort_policy = state.node_policy->name;
    view.resource_weights = state.resource_weights;
    if (view.resource_weights.empty()) view.resource_weights = {{"memory", 1.0}, {"vcore", 1.0}};
    view.preemption_enabled = state.preemption_enabled;
    view.quota_preemption_enabled = state.quota_preemption_enabled;
    view.nodes = static_cast<std::int64_t>(state.nodes.size());
    view.applications = static_cast<std::int64_t>(state.applications.size());
    view.allocations = static_cast<std::int64_t>(state.allocation_count);
    view.placeholders = static_cast<std::int64_t>(state.placeholder_count);
    view.reservations = static_cast<std::int64_t>(state.reservations.size());
    view.quarantined = static_cast<std::int64_t>(state.recovery.quarantine.counted());
    view.pending_asks = static_cast<std::int64_t>(state.pending_asks);
    state.applications.for_each(
        [&](ApplicationId id) { ++view.application_states[std::string{text_of(state.applications[id].state)}]; });
    for (const EndedApplication& ended : state.ended.completed()) ++view.application_states[ended.view.state];
    for (const auto& [serial, ended] : state.ended.rejected()) ++view.application_states[ended.view.state];
    return view;
}

// --- queues ---------------------------------------------------------------------------------------------------------

std::optional<QueueView> queue_view(const PartitionState& state, std::string_view path, bool subtree) {
    const Queue* queue = state.queues.find(path);
    if (queue == nullptr) return std::nullopt;
    QueueView view = view_of(state, *queue, subtree);
    if (!subtree)
        for (const auto& [name, child] : queue->children) view.child_paths.push_back(child->path);
    return view;
}

QueueView view_of(const PartitionState& state, const Queue& queue, bool subtree) {
    QueueView view;
    view.path = queue.path;
    view.parent = queue.parent != nullptr ? queue.parent->path : "";
    view.state = text_of(queue.state);
    view.leaf = queue.leaf;
    view.managed = queue.managed;
    view.pending = state.map_of(queue.pending);
    view.allocated = state.map_of(queue.allocated);
    view.preempting = state.map_of(queue.preempting);
    if (!queue.max.unlimited()) view.max = state.map_of(queue.max.bounds());
    if (queue.guaranteed) view.guaranteed = state.map_of(*queue.guaranteed);
    if (const Limit headroom = queue.headroom(); !headroom.unlimited()) view.headroom = state.map_of(headroom.bounds());
    if (const Limit effective = queue.effective_max(); !effective.unlimited())
        view.effective_max = state.map_of(effective.bounds());
    view.properties = queue.property_map;
    view.max_applications = queue.max_applications;
    view.running_applications = queue.running;
    view.applications = static_cast<std::int64_t>(queue.applications.size());
    list_allocating(state, queue, view.allocating_accepted);
    std::sort(view.allocating_accepted.begin(), view.allocating_accepted.end());
    const config::QueueProperties& properties = queue.properties;
    view.current_priority = queue.published_priority(queue.own_priority()); // as its parent sees it
    view.priority_offset = properties.priority_offset;
    view.sort_policy = queue.leaf && properties.sort_policy == config::SortPolicy::Fifo ? "fifo" : "fair";
    view.priority_sorting = properties.priority_sorting;
    view.preemption_enabled =
        properties.preemption_policy != config::PreemptionPolicy::Disabled; // of the queue (C-477)
    view.preemption_fence = properties.preemption_policy == config::PreemptionPolicy::Fence;
    view.priority_fence = properties.priority_policy == config::PriorityPolicy::Fence;
    view.preemption_delay = properties.preemption_delay;
    view.quota_preemption_delay = properties.quota_preemption_delay;
    if (queue.last_quota_run) {
        const Queue::QuotaRun& run = *queue.last_quota_run;
        view.last_quota_run =
            QuotaRunView{run.at, state.map_of(run.target), state.map_of(run.claimed),
                         static_cast<std::int64_t>(run.candidates), static_cast<std::int64_t>(run.victims)};
    }
    view.fair_share = fair_share(queue.allocated, queue.guaranteed ? &*queue.guaranteed : nullptr, queue.fair_max);
    view.tags_set_max = queue.set_by_tags.max;
    view.tags_set_guaranteed = queue.set_by_tags.guaranteed;
    view.tags_set_max_applications = queue.set_by_tags.max_applications;
    if (const Queue* owner = queue.leaf ? nullptr : owner_of_template(queue)) view.child_template = template_of(*owner);
    if (subtree)
        for (const auto& [name, child] : queue.children) view.children.push_back(view_of(state, *child, true));
    return view;
}

// --- applications ---------------------------------------------------------------------------------------------------

/// What asks and allocations have in common.
template <class View>
View common_view(const PartitionState& state, const Allocation& allocation) {
    View view;
    view.key = allocation.key.view();
    if (allocation.application.valid()) view.application = state.applications[allocation.application].id;
    view.tags = tags_view(state.tags.tags(allocation.tags));
    view.priority = allocation.priority;
    view.request_time = allocation.created;
    view.task_group = state.texts.text(allocation.task_group);
    view.placeholder = allocation.is(Allocation::Placeholder);
    view.originator = allocation.is(Allocation::Originator);
    return view;
}

AskView view_of_ask(const PartitionState& state, AllocationId id) {
    const Allocation& ask = state.allocations[id];
    const Shape& shape = state.shapes[ask.shape];
    auto view = common_view<AskView>(state, ask);
    view.resource = state.map_of(shape.resource);
    view.required_node = shape.required_node;
    for (const DeviceDemand& each : shape.devices)
        view.devices.emplace(state.resources.name(each.type), std::pair{each.count, each.each});
    view.scheduling_attempted = ask.is(Allocation::Attempted);
    view.triggered_scale_up = ask.is(Allocation::ScaleUp);
    view.triggered_preemption = ask.is(Allocation::Triggered);
    if (ask.group.valid()) {
        const AskGroup& group = state.groups[ask.group];
        const auto log = [&view](std::string_view message, const AskGroup::Failures& failures) {
            view.log.push_back({std::string{message}, failures.last,
                                static_cast<std::int64_t>(std::max<std::uint32_t>(failures.count, 1))});
        };
        if (ask.is(Allocation::UserLogged)) log("Not enough user quota", group.user_failures);
        if (ask.is(Allocation::QuotaLogged)) log("Not enough queue quota", group.queue_failures);
        std::sort(view.log.begin(), view.log.end(), [](const auto& a, const auto& b) { return a.last < b.last; });
        view.last_reason = last_reason_text(state, ask);
    }
    add_predicate_log(state, id, view.log);
    add_preemption_log(state, id, view.log);
    view.last_preemption = attempt_view(state, id);
    return view;
}

AllocationView view_of_allocation(const PartitionState& state, AllocationId id) {
    const Allocation& allocation = state.allocations[id];
    auto view = common_view<AllocationView>(state, allocation);
    view.node = state.nodes[allocation.node].id;
    view.resource = state.map_of(state.resource_of(allocation));
    view.allocation_time = allocation.bound;
    view.placeholder_used = allocation.is(Allocation::PlaceholderUsed);
    view.preempted = allocation.is(Allocation::Preempted);
    view.preemptable = !allocation.is(Allocation::Static);
    for (const AllocatedDevice& each : allocated_devices(state, state.nodes[allocation.node], owner_of(id)))
        view.devices.push_back({std::string{each.resource}, each.on.index, each.on.amount});
    return view;
}

std::optional<Instant> oldest_pending(const PartitionState& state, const Application& application) {
    constexpr std::size_t kMostGroups = 64; // that are looked at: a page has thousands of applications
    std::optional<Instant> oldest;
    if (application.groups.size() > kMostGroups) return oldest;
    application.groups.for_each([&](std::uint32_t group) {
        const Instant head = state.allocations[state.groups[GroupId{group}].head].created; // the oldest of the group
        if (!oldest || head < *oldest) oldest = head;
    });
    return oldest;
}

ApplicationView view_of(const PartitionState& state, const Application& application, bool objects) {
    ApplicationView view;
    view.id = application.id;
    view.queue = application.queue->path;
    view.user = application.user;
    view.groups = *application.user_groups;
    view.state = text_of(application.state);
    view.allocated = state.map_of(application.allocated);
    view.placeholder = state.map_of(application.placeholder);
    view.pending = state.map_of(application.pending);
    view.max_used = state.map_of(application.peak);
    view.submitted = application.submitted;
    view.started = application.started;
    view.finished = application.finished;
    for (const auto& [at, entered] : application.state_log) view.state_log.emplace_back(at, text_of(entered));
    for (const ReservationId id : application.reservations)
        view.reservations.emplace_back(state.allocations[state.reservations[id].ask].key.view());
    for (const auto& [name, group] : application.gang.groups)
        if (group.count > 0)
            view.placeholder_data.push_back(
                {state.texts.text(name), static_cast<std::int64_t>(group.count), state.map_of(group.min_resource),
                 static_cast<std::int64_t>(group.replaced), static_cast<std::int64_t>(group.timed_out)});
    std::sort(view.placeholder_data.begin(), view.placeholder_data.end(),
              [](const auto& a, const auto& b) { return a.task_group < b.task_group; });
    view.pending_asks = application.pending_asks;
    view.allocation_count = static_cast<std::int64_t>(application.allocations.size());
    view.has_pending = application.pending_asks > 0;
    view.max_ask_priority = view.has_pending ? application.ask_priority() : 0;
    view.oldest_pending = oldest_pending(state, application);
    view.backoff_deadline = application.backoff_until;
    for (const auto& [type, totals] : application.seconds) {
        view.used_seconds[type] = state.map_of(totals[0]);
        view.preempted_seconds[type] = state.map_of(totals[1]);
        view.placeholder_seconds[type] = state.map_of(totals[2]);
    }
    view.whole = objects;
    if (!objects) return view;
    application.groups.for_each([&](std::uint32_t group) {
        for (AllocationId ask = state.groups[GroupId{group}].head; ask.valid();
             ask = {state.allocations[ask].links.pending.next})
            view.asks.push_back(view_of_ask(state, ask));
    });
    for (const AllocationId id : application.allocations) view.allocations.push_back(view_of_allocation(state, id));
    sort_by_key(view.asks);
    sort_by_key(view.allocations);
    return view;
}

std::vector<ApplicationView> application_views(const PartitionState& state, ApplicationList list, bool objects) {
    std::vector<ApplicationView> views;
    if (list == ApplicationList::Active)
        state.applications.for_each(
            [&](ApplicationId id) { views.push_back(view_of(state, state.applications[id], objects)); });
    if (list == ApplicationList::Completed)
        for (const EndedApplication& ended : state.ended.completed()) views.push_back(ended.view);
    if (list == ApplicationList::Rejected)
        for (const auto& [serial, ended] : state.ended.rejected()) views.push_back(ended.view);
    std::stable_sort(views.begin(), views.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return views;
}

std::optional<ApplicationView> application_view(const PartitionState& state, std::string_view id, std::size_t most) {
    if (const ApplicationId live = state.find_application(id); live.valid())
        return view_of(state, state.applications[live], is_within(state.applications[live], most));
    if (const EndedApplication* completed = state.ended.find_completed(id)) return completed->view;
    if (const EndedApplication* rejected = state.ended.find_rejected(id)) return rejected->view;
    return std::nullopt;
}

AskStatus ask_status(const PartitionState& state, std::string_view application, std::string_view key) {
    const AllocationId id = state.find_ask(application, key);
    if (!id.valid()) {
        const bool waits = !state.recovery.quarantine.find_allocations(application, key).empty();
        return {waits ? AskStatus::State::Quarantined : AskStatus::State::Absent, {}};
    }
    const Allocation& ask = state.allocations[id];
    if (!ask.is(Allocation::Placed)) return {AskStatus::State::Pending, {}};
    return {AskStatus::State::Placed, state.nodes[ask.node].id};
}

std::vector<std::string> applications_with_key(const PartitionState& state, std::string_view key) {
    std::vector<std::string> ids;
    state.applications.for_each([&](ApplicationId id) {
        if (state.find_allocation(id, key).valid()) ids.push_back(state.applications[id].id);
    });
    std::sort(ids.begin(), ids.end());
    return ids;
}

// --- nodes and reservations -----------------------------------------------------------------------------------------

NodeView view_of(const PartitionState& state, const Node& node, bool objects) {
    NodeView view;
    view.id = node.id;
    view.attributes = node.attributes;
    view.capacity = state.map_of(node.capacity);
    view.allocated = state.map_of(node.allocated);
    view.occupied = state.map_of(node.occupied);
    view.available = state.map_of(node.available);
    view.schedulable = node.schedulable;
    view.allocation_count = static_cast<std::int64_t>(node.allocations.size());
    view.whole = objects;
    for (const ReservationId id : node.reservations)
        view.reservations.emplace_back(state.allocations[state.reservations[id].ask].key.view());
    if (objects)
        for (const AllocationId id : node.allocations) view.allocations.push_back(view_of_allocation(state, id));
    for (const AllocationId id : node.foreign) view.foreign.push_back(view_of_allocation(state, id));
    sort_by_key(view.allocations);
    sort_by_key(view.foreign);
    if (!node.devices) return view;
    view.device_conflict = node.devices->in_conflict();
    for (const DeviceKind& kind : node.devices->kinds()) {
        std::vector<DeviceView>& devices = view.devices[state.resources.name(kind.type)];
        for (const Device& each : kind.devices)
            devices.push_back({each.size, each.used, each.lost, devices.size() < kind.listed});
    }
    return view;
}

std::vector<NodeView> node_views(const PartitionState& state, bool objects) {
    std::vector<NodeView> views;
    state.nodes.for_each([&](NodeId id) { views.push_back(view_of(state, state.nodes[id], objects)); });
    return views;
}

std::optional<NodeView> node_view(const PartitionState& state, std::string_view id, std::size_t most) {
    const NodeId node = state.nodes.find(id);
    if (!node.valid()) return std::nullopt;
    return view_of(state, state.nodes[node], is_within(state.nodes[node], most));
}

std::vector<ReservationView> reservation_views(const PartitionState& state) {
    std::vector<ReservationView> views;
    state.reservations.for_each([&](ReservationId id) {
        const Reservation& reservation = state.reservations[id];
        const Allocation& ask = state.allocations[reservation.ask];
        const Application& application = state.applications[reservation.application];
        const Shape& shape = state.shapes[ask.shape];
        views.push_back({application.id, std::string{ask.key.view()}, state.nodes[reservation.node].id,
                         application.queue->path, state.map_of(shape.resource), reservation.since,
                         shape.is_pinned() ? "required node" : "no node had room"});
    });
    sort_by_key(views);
    return views;
}

} // namespace yk
