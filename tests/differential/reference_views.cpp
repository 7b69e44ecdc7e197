// SPDX-License-Identifier: Apache-2.0
// Pictures of the reference in the core's view structs, so that one printer serves both.

#include <algorithm>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

std::string short_name(const std::string& full) {
    return full.substr(full.find(']') + 1);
}

AskView ask_view(const Ask& ask, const std::string& app) {
    AskView view;
    view.key = ask.key;
    view.application = app;
    view.resource = ask.resource;
    view.tags = ask.tags;
    view.priority = ask.priority;
    view.request_time = ask.created;
    view.required_node = ask.required_node;
    view.task_group = ask.task_group;
    view.placeholder = ask.placeholder;
    view.originator = ask.originator;
    view.scheduling_attempted = ask.attempted;
    return view;
}

AllocationView allocation_view(const Ask& ask, const std::string& app) {
    AllocationView view;
    view.key = ask.key;
    view.application = app;
    view.node = ask.node;
    view.resource = ask.resource;
    view.tags = ask.tags;
    view.priority = ask.priority;
    view.request_time = ask.created;
    view.allocation_time = ask.bound;
    view.task_group = ask.task_group;
    view.placeholder = ask.placeholder;
    view.originator = ask.originator;
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> devices;
    for (const DeviceHold& hold : ask.holds)
        for (const std::int64_t index : hold.on) devices[{hold.type, index}] = hold.part.each;
    for (const auto& [on, amount] : devices)
        view.devices.push_back({on.first, static_cast<std::uint32_t>(on.second), amount});
    return view;
}

} // namespace

PartitionView Partition::view() const {
    PartitionView view;
    view.name = short_name(name_);
    view.state = "Active";
    view.capacity = capacity();
    view.allocated = prune(allocated(queues_.at("root")));
    view.nodes = static_cast<std::int64_t>(nodes_.size());
    view.applications = static_cast<std::int64_t>(applications_.size());
    view.reservations = static_cast<std::int64_t>(reservations_.size());
    for (const auto& [id, app] : applications_)
        for (const auto& [key, ask] : app->requests) {
            view.allocations += ask.allocated ? 1 : 0;
            view.placeholders += ask.allocated && ask.placeholder ? 1 : 0;
            view.pending_asks += ask.allocated ? 0 : 1;
        }
    return view;
}

std::optional<QueueView> Partition::queue_view(const std::string& path) const {
    const auto found = queues_.find(path);
    if (found == queues_.end()) return std::nullopt;
    const Queue& queue = found->second;
    QueueView view;
    view.path = path;
    view.parent = queue.parent;
    view.state = queue.draining ? "Draining" : "Active";
    view.leaf = queue.leaf;
    view.pending = pending(queue);
    view.allocated = allocated(queue);
    view.preempting = prune(preempting(queue));
    view.max = max_of(queue);
    view.guaranteed = queue.guaranteed;
    view.headroom = headroom(queue);
    view.max_applications = queue.max_applications;
    view.running_applications = running(queue);
    view.applications = static_cast<std::int64_t>(queue.applications.size());
    for (const Application* app : below(queue))
        if (app->allocating) view.allocating_accepted.push_back(app->id);
    view.current_priority = published(queue); // after policy and offset
    view.fair_share = share(queue);
    for (const Queue* child : children(queue)) view.children.push_back(*queue_view(child->path));
    return view;
}

ApplicationView Partition::application_view(const Application& app, ApplicationList list) const {
    ApplicationView view;
    view.id = app.id;
    view.queue = app.queue;
    view.user = app.user;
    view.groups = app.groups;
    view.state = text_of(app.state);
    view.list = list;
    view.allocated = allocated(app, false);
    view.placeholder = allocated(app, true);
    view.pending = pending(app);
    view.max_used = app.max_used;
    view.submitted = app.submitted;
    view.started = app.started;
    view.finished = app.finished;
    for (const auto& [at, state] : app.log) view.state_log.emplace_back(at, text_of(state));
    for (const auto& [key, ask] : app.requests) {
        if (ask.allocated)
            view.allocations.push_back(allocation_view(ask, app.id));
        else
            view.asks.push_back(ask_view(ask, app.id));
    }
    if (list == ApplicationList::Active)
        for (const Reservation& r : reservations_of(app)) view.reservations.push_back(r.key);
    view.pending_asks = static_cast<std::int64_t>(view.asks.size());
    view.allocation_count = static_cast<std::int64_t>(view.allocations.size());
    view.max_ask_priority = priority(app);
    view.backoff_deadline = app.backoff;
    return view;
}

std::vector<ApplicationView> Partition::application_views(ApplicationList list) const {
    std::vector<ApplicationView> views;
    if (list == ApplicationList::Active)
        for (const auto& [id, app] : applications_) views.push_back(application_view(*app, list));
    if (list == ApplicationList::Completed)
        for (const auto& app : terminated_) views.push_back(application_view(*app, list));
    if (list == ApplicationList::Rejected)
        for (const auto& [id, app] : rejected_) views.push_back(application_view(*app, list));
    // so that dumps can be compared (I-404)
    std::stable_sort(views.begin(), views.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    std::stable_sort(views.begin(), views.end(), [](const auto& l, const auto& r) { return l.id < r.id; });
    return views;
}

std::vector<NodeView> Partition::node_views() const {
    std::vector<NodeView> views;
    for (const auto& [id, node] : nodes_) {
        NodeView view;
        view.id = id;
        view.capacity = node.capacity;
        view.allocated = allocated(node);
        view.occupied = occupied(node);
        view.available = available(node);
        view.schedulable = node.schedulable;
        view.device_conflict = in_conflict(node);
        for (const auto& [type, devices] : node.devices) {
            auto& list = view.devices[type];
            for (std::size_t index = 0; index < devices.size(); ++index)
                list.push_back(
                    {devices[index].size, used(node, type, static_cast<std::int64_t>(index)), devices[index].lost});
        }
        for (const auto& [app_id, app] : applications_)
            for (const auto& [key, ask] : app->requests)
                if (ask.allocated && ask.node == id) view.allocations.push_back(allocation_view(ask, app_id));
        view.allocation_count = static_cast<std::int64_t>(view.allocations.size());
        for (const Reservation& r : reservations_on(id)) view.reservations.push_back(r.key);
        views.push_back(std::move(view));
    }
    return views;
}

std::vector<ReservationView> Partition::reservation_views() const {
    std::vector<ReservationView> views;
    for (const Reservation& r : reservations_) {
        ReservationView view;
        view.application = r.application;
        view.key = r.key;
        view.node = r.node;
        view.since = r.since;
        view.queue = applications_.at(r.application)->queue;
        views.push_back(std::move(view));
    }
    return views;
}

} // namespace yk::reference
