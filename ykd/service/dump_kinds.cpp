#include "ykd/service/dump_kinds.h"

#include <algorithm>
#include <array>

#include "libcore/config/names.h"

namespace yk::service {
namespace {

// --- making the picture -------------------------------------------------------------------------

ApplicationList list_of(const std::string& state) {
    if (state == "completed") return ApplicationList::Completed;
    return state == "rejected" ? ApplicationList::Rejected : ApplicationList::Active;
}

void collect_info(const ClusterContext& context, const DumpQuery&, DumpPart& part) {
    part.info = context.partition_view(part.partition);
}

void collect_queue(const ClusterContext& context, const DumpQuery& query, DumpPart& part) {
    const bool one = query.what == "queue";
    if (auto view = context.queue_view(part.partition, one ? query.queue : "root", !one || query.subtree))
        part.queues.push_back(std::move(*view));
}

void collect_applications(const ClusterContext& context, const DumpQuery& query, DumpPart& part) {
    part.applications = context.application_views(part.partition, list_of(query.state), true);
    std::erase_if(part.applications, [&](const ApplicationView& view) {
        return (!query.status.empty() && config::lower(view.state) != query.status) ||
               (!query.queue.empty() && view.queue != query.queue);
    });
}

void collect_application(const ClusterContext& context, const DumpQuery& query, DumpPart& part) {
    if (auto view = context.application_view(part.partition, query.application))
        part.applications.push_back(std::move(*view));
}

void collect_nodes(const ClusterContext& context, const DumpQuery&, DumpPart& part) {
    part.nodes = context.node_views(part.partition, true);
}

void collect_node(const ClusterContext& context, const DumpQuery& query, DumpPart& part) {
    if (auto view = context.node_view(part.partition, query.node)) part.nodes.push_back(std::move(*view));
}

void collect_utilization(const ClusterContext& context, const DumpQuery&, DumpPart& part) {
    part.nodes = context.node_views(part.partition, false);
}

void collect_reservations(const ClusterContext& context, const DumpQuery&, DumpPart& part) {
    part.reservations = context.reservation_views(part.partition);
}

/// Of all users or groups, or of the one that is asked for.
void collect_users(const ClusterContext& context, const DumpQuery& query, DumpPart& part) {
    part.users = context.user_views(part.partition);
    if (!query.user.empty()) std::erase_if(part.users, [&](const UsageView& view) { return view.name != query.user; });
}

void collect_groups(const ClusterContext& context, const DumpQuery& query, DumpPart& part) {
    part.groups = context.group_views(part.partition);
    if (!query.group.empty())
        std::erase_if(part.groups, [&](const UsageView& view) { return view.name != query.group; });
}

void collect_rules(const ClusterContext& context, const DumpQuery&, DumpPart& part) {
    part.rules = context.rule_views(part.partition);
}

// --- encoding: one element of the main list -----------------------------------------------------

Value encode_node(const DumpPart& part, std::size_t i) {
    Value value = node_value(part.nodes[i]);
    value["partition"] = part.partition;
    return value;
}

constexpr std::array<DumpKind, 14> kKinds{{
    {"partitions", collect_info, [](const DumpPart& p) -> std::size_t { return p.info ? 1 : 0; },
     [](const DumpPart& p, std::size_t) { return partition_value(*p.info); }},
    {"queues", collect_queue, [](const DumpPart& p) { return p.queues.size(); },
     [](const DumpPart& p, std::size_t i) { return queue_value(p.queues[i], p.partition); }},
    {"queue", collect_queue, [](const DumpPart& p) { return p.queues.size(); },
     [](const DumpPart& p, std::size_t i) { return queue_value(p.queues[i], p.partition); }, true},
    {"apps", collect_applications, [](const DumpPart& p) { return p.applications.size(); }, application_of},
    {"app", collect_application, [](const DumpPart& p) { return p.applications.size(); }, application_of, true},
    {"nodes", collect_nodes, [](const DumpPart& p) { return p.nodes.size(); },
     [](const DumpPart& p, std::size_t i) { return node_value(p.nodes[i]); }, false, "nodesInfo"},
    {"node", collect_node, [](const DumpPart& p) { return p.nodes.size(); }, encode_node, true},
    {"users", collect_users, [](const DumpPart& p) { return p.users.size(); }, user_of},
    {"user", collect_users, [](const DumpPart& p) { return p.users.size(); }, user_of, true},
    {"groups", collect_groups, [](const DumpPart& p) { return p.groups.size(); }, group_of},
    {"group", collect_groups, [](const DumpPart& p) { return p.groups.size(); }, group_of, true},
    {"reservations", collect_reservations, [](const DumpPart& p) { return p.reservations.size(); },
     [](const DumpPart& p, std::size_t i) { return reservation_value(p.reservations[i], p.partition, p.rm_id); }},
    {"rules", collect_rules, [](const DumpPart& p) { return p.rules.size(); },
     [](const DumpPart& p, std::size_t i) { return rule_value(p.rules[i]); }, false, "rules", "partition"},
    {"utilization", collect_utilization, [](const DumpPart&) -> std::size_t { return 1; },
     [](const DumpPart& p, std::size_t) { return utilization_value(p.nodes, p.partition, p.rm_id); }},
}};

} // namespace

Value application_of(const DumpPart& part, std::size_t i) {
    return application_value(part.applications[i], part.partition, part.rm_id);
}

Value user_of(const DumpPart& part, std::size_t i) {
    return user_value(part.users[i], part.partition, part.rm_id);
}

Value group_of(const DumpPart& part, std::size_t i) {
    return group_value(part.groups[i], part.partition, part.rm_id);
}

const DumpKind* find_dump_kind(std::string_view what) {
    const auto found =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const DumpKind& kind) { return kind.what == what; });
    return found == kKinds.end() ? nullptr : &*found;
}

void collect_everything(const ClusterContext& context, const DumpQuery& query, DumpPart& part) {
    collect_info(context, query, part);
    collect_queue(context, query, part);
    collect_nodes(context, query, part);
    collect_reservations(context, query, part);
    collect_users(context, query, part);
    collect_groups(context, query, part);
    collect_rules(context, query, part);
    for (const ApplicationList list : {ApplicationList::Active, ApplicationList::Completed, ApplicationList::Rejected})
        for (auto& view : context.application_views(part.partition, list, true))
            part.applications.push_back(std::move(view));
}

} // namespace yk::service
