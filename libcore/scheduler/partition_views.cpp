// Pictures of a partition for dumps and people (interface.md section 5).

#include <algorithm>

#include "libcore/scheduler/leaf_plan.h"
#include "libcore/scheduler/partition_context.h"
#include "libcore/scheduler/shortage.h"

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

} // namespace

PartitionView PartitionContext::view() const {
    PartitionView view;
    view.name = s_.name;
    view.rm = s_.full_name.substr(1, s_.full_name.find(']') - 1);
    view.state = text_of(s_.state);
    view.last_transition = s_.last_transition;
    view.capacity = s_.map_of(s_.capacity);
    view.allocated = s_.map_of(s_.root->allocated);
    view.node_sort_policy = s_.node_policy == config::NodeSortPolicy::BinPacking ? "binpacking" : "fair";
    view.resource_weights = s_.resource_weights;
    if (view.resource_weights.empty()) view.resource_weights = {{"memory", 1.0}, {"vcore", 1.0}};
    view.preemption_enabled = s_.preemption_enabled;
    view.quota_preemption_enabled = s_.quota_preemption_enabled;
    view.nodes = static_cast<std::int64_t>(s_.nodes.size());
    view.applications = static_cast<std::int64_t>(s_.applications.size());
    view.allocations = static_cast<std::int64_t>(s_.allocation_count);
    view.placeholders = static_cast<std::int64_t>(s_.placeholder_count);
    view.reservations = static_cast<std::int64_t>(s_.reservations.size());
    view.pending_asks = static_cast<std::int64_t>(s_.pending_asks);
    s_.applications.for_each(
        [&](ApplicationId id) { ++view.application_states[std::string{text_of(s_.applications[id].state)}]; });
    for (const EndedApplication& ended : s_.ended) ++view.application_states[ended.view.state];
    for (const auto& [serial, ended] : s_.rejected) ++view.application_states[ended.view.state];
    return view;
}

// --- queues
// ----------------------------------------------------------------------------------------------------------------

std::optional<QueueView> PartitionContext::queue_view(std::string_view path, bool subtree) const {
    const Queue* queue = s_.find_queue(path);
    if (queue == nullptr) return std::nullopt;
    orders_.refresh();
    return view_of(*queue, subtree);
}

void PartitionContext::list_allocating(const Queue& queue, std::vector<std::string>& ids) const {
    if (queue.allocating == 0) return;
    for (const ApplicationId id : queue.applications)
        if (s_.applications[id].allocating_accepted) ids.push_back(s_.applications[id].id);
    for (const auto& [name, child] : queue.children) list_allocating(*child, ids);
}

QueueView PartitionContext::view_of(const Queue& queue, bool subtree) const {
    QueueView view;
    view.path = queue.path;
    view.parent = queue.parent != nullptr ? queue.parent->path : "";
    view.state = text_of(queue.state);
    view.leaf = queue.leaf;
    view.managed = queue.managed;
    view.pending = s_.map_of(queue.pending);
    view.allocated = s_.map_of(queue.allocated);
    view.preempting = s_.map_of(queue.preempting);
    if (!queue.max.unlimited()) view.max = s_.map_of(queue.max.bounds());
    if (queue.guaranteed) view.guaranteed = s_.map_of(*queue.guaranteed);
    if (const Limit headroom = queue.headroom(); !headroom.unlimited()) view.headroom = s_.map_of(headroom.bounds());
    if (const Limit effective = queue.effective_max(); !effective.unlimited())
        view.effective_max = s_.map_of(effective.bounds());
    view.properties = queue.property_map;
    view.max_applications = queue.max_applications;
    view.running_applications = queue.running;
    view.applications = static_cast<std::int64_t>(queue.applications.size());
    list_allocating(queue, view.allocating_accepted);
    std::sort(view.allocating_accepted.begin(), view.allocating_accepted.end());
    const config::QueueProperties& properties = queue.properties;
    view.current_priority = queue.published_priority(queue.own_priority());
    view.priority_offset = properties.priority_offset;
    view.sort_policy = queue.leaf && properties.sort_policy == config::SortPolicy::Fifo ? "fifo" : "fair";
    view.priority_sorting = properties.priority_sorting;
    view.preemption_enabled = properties.preemption_policy != config::PreemptionPolicy::Disabled; // C-477
    view.preemption_fence = properties.preemption_policy == config::PreemptionPolicy::Fence;
    view.priority_fence = properties.priority_policy == config::PriorityPolicy::Fence;
    view.preemption_delay = properties.preemption_delay;
    view.quota_preemption_delay = properties.quota_preemption_delay;
    if (queue.last_quota_run) {
        const Queue::QuotaRun& run = *queue.last_quota_run;
        view.last_quota_run =
            QuotaRunView{run.at, s_.map_of(run.target), s_.map_of(run.claimed),
                         static_cast<std::int64_t>(run.candidates), static_cast<std::int64_t>(run.victims)};
    }
    view.fair_share = fair_share(queue.allocated, queue.guaranteed ? &*queue.guaranteed : nullptr, queue.fair_max);
    view.tags_set_max = queue.set_by_tags.max;
    view.tags_set_guaranteed = queue.set_by_tags.guaranteed;
    view.tags_set_max_applications = queue.set_by_tags.max_applications;
    if (const Queue* owner = queue.leaf ? nullptr : owner_of_template(queue)) view.child_template = template_of(*owner);
    if (subtree)
        for (const auto& [name, child] : queue.children) view.children.push_back(view_of(*child, true));
    return view;
}

// --- applications
// ----------------------------------------------------------------------------------------------------------

AskView PartitionContext::view_of_ask(AllocationId id) const {
    AskView view;
    const Allocation& ask = s_.allocations[id];
    const Shape& shape = s_.shapes[ask.shape];
    view.key = ask.key.view();
    view.application = s_.applications[ask.application].id;
    view.resource = s_.map_of(shape.resource);
    view.tags = tags_view(s_.tags.tags(ask.tags));
    view.priority = ask.priority;
    view.request_time = ask.created;
    view.required_node = shape.required_node;
    view.task_group = s_.texts.text(ask.task_group);
    view.placeholder = ask.is(Allocation::Placeholder);
    view.originator = ask.is(Allocation::Originator);
    view.scheduling_attempted = ask.is(Allocation::Attempted);
    view.triggered_scale_up = ask.is(Allocation::ScaleUp);
    view.triggered_preemption = ask.is(Allocation::Triggered);
    if (ask.group.valid()) {
        const AskGroup& group = s_.groups[ask.group];
        const auto log = [&view](std::string_view message, const AskGroup::Failures& failures) {
            view.log.push_back({std::string{message}, failures.last,
                                static_cast<std::int64_t>(std::max<std::uint32_t>(failures.count, 1))});
        };
        if (ask.is(Allocation::UserLogged)) log("Not enough user quota", group.user_failures);
        if (ask.is(Allocation::QuotaLogged)) log("Not enough queue quota", group.queue_failures);
        std::sort(view.log.begin(), view.log.end(), [](const auto& a, const auto& b) { return a.last < b.last; });
        view.last_reason = last_reason_text(s_, ask);
    }
    add_predicate_log(id, view.log);
    add_preemption_log(id, view.log);
    view.last_preemption = attempt_view(id);
    return view;
}

/// By reason, without those that are none.
std::map<std::string, std::int64_t>
PartitionContext::excluded_view(const std::array<std::uint64_t, kExcludedReasons>& counts) {
    std::map<std::string, std::int64_t> view;
    for (std::size_t i = 1; i < counts.size(); ++i)
        if (counts[i] > 0) view[std::string{text_of(static_cast<Excluded>(i))}] = static_cast<std::int64_t>(counts[i]);
    return view;
}

/// The last attempt to preempt for the ask.
std::optional<PreemptionAttemptView> PartitionContext::attempt_view(AllocationId ask) const {
    const auto known = s_.preemption.attempts.find(ask);
    if (known == s_.preemption.attempts.end()) return std::nullopt;
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

/// I-711: what the attempts to preempt for the ask came to.
void PartitionContext::add_preemption_log(AllocationId ask, std::vector<LogEntryView>& log) const {
    const auto known = s_.preemption.logs.find(ask);
    if (known != s_.preemption.logs.end())
        for (const PreemptionRecords::LogEntry& entry : known->second)
            log.push_back({std::string{text_of(entry.result)}, entry.last, entry.count});
    std::stable_sort(log.begin(), log.end(), [](const auto& a, const auto& b) { return a.last < b.last; });
}

AllocationView PartitionContext::view_of_allocation(const Allocation& allocation) const {
    AllocationView view;
    view.key = allocation.key.view();
    if (allocation.application.valid()) view.application = s_.applications[allocation.application].id;
    view.node = s_.nodes[allocation.node].id;
    view.resource = s_.map_of(s_.resource_of(allocation));
    view.tags = tags_view(s_.tags.tags(allocation.tags));
    view.priority = allocation.priority;
    view.request_time = allocation.created;
    view.allocation_time = allocation.bound;
    view.task_group = s_.texts.text(allocation.task_group);
    view.placeholder = allocation.is(Allocation::Placeholder);
    view.placeholder_used = allocation.is(Allocation::PlaceholderUsed);
    view.originator = allocation.is(Allocation::Originator);
    view.preempted = allocation.is(Allocation::Preempted);
    view.preemptable = !allocation.is(Allocation::Static);
    return view;
}

ApplicationView PartitionContext::view_of(const Application& application, bool objects) const {
    ApplicationView view;
    view.id = application.id;
    view.queue = application.queue->path;
    view.user = application.user;
    view.groups = *application.user_groups;
    view.state = text_of(application.state);
    view.allocated = s_.map_of(application.allocated);
    view.placeholder = s_.map_of(application.placeholder);
    view.pending = s_.map_of(application.pending);
    view.max_used = s_.map_of(application.peak);
    view.submitted = application.submitted;
    view.started = application.started;
    view.finished = application.finished;
    for (const auto& [at, state] : application.state_log) view.state_log.emplace_back(at, text_of(state));
    for (const ReservationId id : application.reservations)
        view.reservations.emplace_back(s_.allocations[s_.reservations[id].ask].key.view());
    for (const auto& [name, group] : application.gang.groups)
        if (group.count > 0)
            view.placeholder_data.push_back({s_.texts.text(name), static_cast<std::int64_t>(group.count),
                                             s_.map_of(group.min_resource), static_cast<std::int64_t>(group.replaced),
                                             static_cast<std::int64_t>(group.timed_out)});
    std::sort(view.placeholder_data.begin(), view.placeholder_data.end(),
              [](const auto& a, const auto& b) { return a.task_group < b.task_group; });
    view.pending_asks = application.pending_asks;
    view.allocation_count = static_cast<std::int64_t>(application.allocations.size());
    view.has_pending = application.pending_asks > 0;
    view.max_ask_priority = view.has_pending ? application.ask_priority() : 0;
    view.backoff_deadline = application.backoff_until;
    for (const auto& [type, totals] : application.seconds) {
        view.used_seconds[type] = s_.map_of(totals[0]);
        view.preempted_seconds[type] = s_.map_of(totals[1]);
        view.placeholder_seconds[type] = s_.map_of(totals[2]);
    }
    view.whole = objects;
    if (!objects) return view;
    application.groups.for_each([&](std::uint32_t group) {
        for (AllocationId ask = s_.groups[GroupId{group}].head; ask.valid();
             ask = {s_.allocations[ask].place.pending.next})
            view.asks.push_back(view_of_ask(ask));
    });
    for (const AllocationId id : application.allocations)
        view.allocations.push_back(view_of_allocation(s_.allocations[id]));
    sort_by_key(view.asks);
    sort_by_key(view.allocations);
    return view;
}

std::vector<ApplicationView> PartitionContext::application_views(ApplicationList list, bool objects) const {
    orders_.refresh();
    std::vector<ApplicationView> views;
    if (list == ApplicationList::Active)
        s_.applications.for_each([&](ApplicationId id) { views.push_back(view_of(s_.applications[id], objects)); });
    if (list == ApplicationList::Completed)
        for (const EndedApplication& ended : s_.ended) views.push_back(ended.view);
    if (list == ApplicationList::Rejected)
        for (const auto& [serial, ended] : s_.rejected) views.push_back(ended.view);
    std::stable_sort(views.begin(), views.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return views;
}

std::optional<ApplicationView> PartitionContext::application_view(std::string_view id, std::size_t most) const {
    orders_.refresh();
    if (const ApplicationId live = s_.find_application(id); live.valid())
        return view_of(s_.applications[live], is_within(s_.applications[live], most));
    const auto ended = std::find_if(s_.ended.rbegin(), s_.ended.rend(),
                                    [id](const EndedApplication& each) { return each.view.id == id; });
    if (ended != s_.ended.rend()) return ended->view;
    const auto rejected = s_.rejected_ids.find(std::string{id});
    if (rejected != s_.rejected_ids.end()) return s_.rejected.at(rejected->second).view;
    return std::nullopt;
}

AskPlace PartitionContext::ask_place(std::string_view application, std::string_view key) const {
    const AllocationId id = find_ask(application, key);
    if (!id.valid()) return {};
    const Allocation& ask = s_.allocations[id];
    if (!ask.is(Allocation::Placed)) return {AskPlace::State::Pending, {}};
    return {AskPlace::State::Placed, s_.nodes[ask.node].id};
}

std::vector<std::string> PartitionContext::applications_with_key(std::string_view key) const {
    std::vector<std::string> ids;
    s_.applications.for_each([&](ApplicationId id) {
        if (s_.find_allocation(id, key).valid()) ids.push_back(s_.applications[id].id);
    });
    std::sort(ids.begin(), ids.end());
    return ids;
}

// --- nodes and reservations
// ------------------------------------------------------------------------------------------------

NodeView PartitionContext::view_of(const Node& node, bool objects) const {
    NodeView view;
    view.id = node.id;
    view.attributes = node.attributes;
    view.capacity = s_.map_of(node.capacity);
    view.allocated = s_.map_of(node.allocated);
    view.occupied = s_.map_of(node.occupied);
    view.available = s_.map_of(node.available);
    view.schedulable = node.schedulable;
    view.allocation_count = static_cast<std::int64_t>(node.allocations.size());
    view.whole = objects;
    for (const ReservationId id : node.reservations)
        view.reservations.emplace_back(s_.allocations[s_.reservations[id].ask].key.view());
    if (objects)
        for (const AllocationId id : node.allocations)
            view.allocations.push_back(view_of_allocation(s_.allocations[id]));
    for (const AllocationId id : node.foreign) view.foreign.push_back(view_of_allocation(s_.allocations[id]));
    sort_by_key(view.allocations);
    sort_by_key(view.foreign);
    return view;
}

std::vector<NodeView> PartitionContext::node_views(bool objects) const {
    std::vector<NodeView> views;
    s_.nodes.for_each([&](NodeId id) { views.push_back(view_of(s_.nodes[id], objects)); });
    return views;
}

std::optional<NodeView> PartitionContext::node_view(std::string_view id, std::size_t most) const {
    const NodeId node = s_.nodes.find(id);
    if (!node.valid()) return std::nullopt;
    return view_of(s_.nodes[node], is_within(s_.nodes[node], most));
}

std::vector<ReservationView> PartitionContext::reservation_views() const {
    std::vector<ReservationView> views;
    s_.reservations.for_each([&](ReservationId id) {
        const Reservation& reservation = s_.reservations[id];
        const Allocation& ask = s_.allocations[reservation.ask];
        const Application& application = s_.applications[reservation.application];
        const Shape& shape = s_.shapes[ask.shape];
        views.push_back({application.id, std::string{ask.key.view()}, s_.nodes[reservation.node].id,
                         application.queue->path, s_.map_of(shape.resource), reservation.since,
                         shape.is_pinned() ? "required node" : "no node had room"});
    });
    sort_by_key(views);
    return views;
}

} // namespace yk
