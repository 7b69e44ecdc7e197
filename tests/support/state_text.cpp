// SPDX-License-Identifier: Apache-2.0
#include "tests/support/state_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace yk::testing {

namespace {

std::string sum(const ResourceMapView& amounts) {
    std::string text;
    for (const auto& [type, value] : amounts)
        if (value != 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", type, value);
    return "{" + text + "}";
}

std::string limit(const std::optional<ResourceMapView>& amounts) {
    if (!amounts) return "-";
    std::string text;
    for (const auto& [type, value] : *amounts) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", type, value);
    return "{" + text + "}";
}

std::string time(const std::optional<Instant>& at) {
    return at ? std::to_string(at->ns) : "-";
}

std::string sorted(std::vector<std::string> texts) {
    std::sort(texts.begin(), texts.end());
    return fmt::format("[{}]", fmt::join(texts, " "));
}

std::string list_name(ApplicationList list) {
    if (list == ApplicationList::Active) return "live";
    return list == ApplicationList::Completed ? "completed" : "rejected";
}

std::string text_of(const AllocationView& a) {
    std::string devices;
    for (const DeviceUseView& each : a.devices)
        devices += fmt::format(" {} {} ({})", each.resource, each.index, each.amount);
    return fmt::format("    placed {}/{} on {} {} prio={} created={} bound={}{}\n", a.application, a.key, a.node,
                       sum(a.resource), a.priority, a.request_time.ns, a.allocation_time.ns, devices);
}

} // namespace

std::string text_of(const PartitionView& p) {
    return fmt::format("partition {} {} capacity={} allocated={} nodes={} apps={} allocations={} placeholders={} "
                       "reservations={} pending={}\n",
                       p.name, p.state, sum(p.capacity), sum(p.allocated), p.nodes, p.applications, p.allocations,
                       p.placeholders, p.reservations, p.pending_asks);
}

std::string text_of(const QueueView& q) {
    std::string text = fmt::format(
        "  queue {} {} {} pending={} allocated={} preempting={} max={} guaranteed={} headroom={} maxapps={} running={} "
        "apps={} allocating={} prio={} share={:.12g}\n",
        q.path, q.leaf ? "leaf" : "parent", q.state, sum(q.pending), sum(q.allocated), sum(q.preempting), limit(q.max),
        limit(q.guaranteed), limit(q.headroom), q.max_applications, q.running_applications, q.applications,
        sorted(q.allocating_accepted), q.current_priority, q.fair_share);
    for (const QueueView& child : q.children) text += text_of(child);
    return text;
}

std::string text_of(const ApplicationView& a) {
    std::string log;
    for (const auto& [at, state] : a.state_log) log += fmt::format(" {}@{}", state, at.ns);
    const std::string queue = a.list == ApplicationList::Rejected ? "-" : a.queue; // it never was in one (S-584)
    std::string text = fmt::format("  app {} {} {} {} allocated={} placeholder={} pending={} peak={} submitted={} "
                                   "started={} finished={} backoff={} reserved={} log={}\n",
                                   a.id, list_name(a.list), queue, a.state, sum(a.allocated), sum(a.placeholder),
                                   sum(a.pending), sum(a.max_used), a.submitted.ns, time(a.started), time(a.finished),
                                   time(a.backoff_deadline), sorted(a.reservations), log);
    for (const PlaceholderDataView& group : a.placeholder_data)
        text += fmt::format("    group {} {} count={} replaced={} timedout={}\n", group.task_group,
                            sum(group.min_resource), group.count, group.replaced, group.timed_out);
    for (const AskView& ask : a.asks)
        // not `scheduling_attempted`: the core notes it late on asks that it passed over (S-114)
        text += fmt::format("    ask {} {} prio={} created={} required={}\n", ask.key, sum(ask.resource), ask.priority,
                            ask.request_time.ns, ask.required_node);
    for (const AllocationView& allocation : a.allocations) text += text_of(allocation);
    return text;
}

std::string text_of(const NodeView& n) {
    std::string text = fmt::format("  node {} {} capacity={} allocated={} occupied={} available={} reserved={}\n", n.id,
                                   n.schedulable ? "open" : "drained", sum(n.capacity), sum(n.allocated),
                                   sum(n.occupied), sum(n.available), sorted(n.reservations));
    for (const auto& [resource, devices] : n.devices) {
        text += "    devices " + resource;
        for (const DeviceView& each : devices)
            text += fmt::format(" {}/{}{}", each.used, each.size, each.lost ? "!" : "");
        text += n.device_conflict ? " in conflict\n" : "\n";
    }
    for (const AllocationView& allocation : n.allocations) text += text_of(allocation);
    return text;
}

std::string text_of(const ReservationView& r) {
    return fmt::format("  reservation {}/{} on {} since={}\n", r.application, r.key, r.node, r.since.ns);
}

namespace {

/// Queues with nothing to tell are left out: whether a tracker has a node there is its own affair.
std::string text_of(const UsageQueueView& q) {
    std::string text;
    if (sum(q.usage) != "{}" || !q.running.empty() || q.max || q.max_applications != 0)
        text = fmt::format("    at {} usage={} running={} max={} maxapps={}\n", q.path, sum(q.usage), sorted(q.running),
                           limit(q.max), q.max_applications);
    for (const UsageQueueView& child : q.children) text += text_of(child);
    return text;
}

} // namespace

std::string text_of(const UsageView& u) {
    std::string groups;
    for (const auto& [application, group] : u.groups) groups += fmt::format(" {}:{}", application, group);
    return fmt::format(" {} groups={} applications={}\n", u.name, groups, sorted(u.applications)) + text_of(u.root);
}

} // namespace yk::testing
