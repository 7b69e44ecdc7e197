#include "ykd/service/dump_kinds.h"

#include <algorithm>
#include <array>
#include <iterator>

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

bool collect_applications(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    part.applications = context.application_piece(part.partition, list_of(query.state), place.view, place.room);
    std::erase_if(part.applications, [&](const ApplicationView& view) {
        return (!query.status.empty() && config::lower(view.state) != query.status) ||
               (!query.queue.empty() && view.queue != query.queue);
    });
    return place.room > 0;
}

void collect_application(const ClusterContext& context, const DumpQuery& query, DumpPart& part) {
    if (auto view = context.application_view(part.partition, query.application))
        part.applications.push_back(std::move(*view));
}

bool collect_nodes(const ClusterContext& context, const DumpQuery&, PicturePlace& place, DumpPart& part) {
    part.nodes = context.node_piece(part.partition, place.view, place.room);
    return place.room > 0;
}

/// What fits into one piece.
template <void (*Collect)(const ClusterContext&, const DumpQuery&, DumpPart&)>
bool at_once(const ClusterContext& context, const DumpQuery& query, PicturePlace&, DumpPart& part) {
    Collect(context, query, part);
    return true;
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
    {"partitions", at_once<collect_info>, [](const DumpPart& p) -> std::size_t { return p.info ? 1 : 0; },
     [](const DumpPart& p, std::size_t) { return partition_value(*p.info); }},
    {"queues", at_once<collect_queue>, [](const DumpPart& p) { return p.queues.size(); },
     [](const DumpPart& p, std::size_t i) { return queue_value(p.queues[i], p.partition); }},
    {"queue", at_once<collect_queue>, [](const DumpPart& p) { return p.queues.size(); },
     [](const DumpPart& p, std::size_t i) { return queue_value(p.queues[i], p.partition); }, true},
    {"apps", collect_applications, [](const DumpPart& p) { return p.applications.size(); }, application_of},
    {"app", at_once<collect_application>, [](const DumpPart& p) { return p.applications.size(); }, application_of,
     true},
    {"nodes", collect_nodes, [](const DumpPart& p) { return p.nodes.size(); },
     [](const DumpPart& p, std::size_t i) { return node_value(p.nodes[i]); }, false, "nodesInfo"},
    {"node", at_once<collect_node>, [](const DumpPart& p) { return p.nodes.size(); }, encode_node, true},
    {"users", at_once<collect_users>, [](const DumpPart& p) { return p.users.size(); }, user_of},
    {"user", at_once<collect_users>, [](const DumpPart& p) { return p.users.size(); }, user_of, true},
    {"groups", at_once<collect_groups>, [](const DumpPart& p) { return p.groups.size(); }, group_of},
    {"group", at_once<collect_groups>, [](const DumpPart& p) { return p.groups.size(); }, group_of, true},
    {"reservations", at_once<collect_reservations>, [](const DumpPart& p) { return p.reservations.size(); },
     [](const DumpPart& p, std::size_t i) { return reservation_value(p.reservations[i], p.partition, p.rm_id); }},
    {"rules", at_once<collect_rules>, [](const DumpPart& p) { return p.rules.size(); },
     [](const DumpPart& p, std::size_t i) { return rule_value(p.rules[i]); }, false, "rules", "partition"},
    {"utilization", at_once<collect_utilization>, [](const DumpPart&) -> std::size_t { return 1; },
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

bool collect_everything(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    constexpr std::array kLists{ApplicationList::Active, ApplicationList::Completed, ApplicationList::Rejected};
    if (place.stage == 0) {
        collect_info(context, query, part);
        collect_queue(context, query, part);
        collect_reservations(context, query, part);
        collect_users(context, query, part);
        collect_groups(context, query, part);
        collect_rules(context, query, part);
        place.stage = 1;
    }
    if (place.stage == 1) {
        if (!collect_nodes(context, query, place, part)) return false;
        place.stage = 2;
        place.view = {};
    }
    for (; place.stage < 2 + kLists.size(); ++place.stage, place.view = {}) {
        const ApplicationList list = kLists.at(place.stage - 2);
        for (auto& view : context.application_piece(part.partition, list, place.view, place.room))
            part.applications.push_back(std::move(view));
        if (place.room == 0) return false;
    }
    return true;
}

void add_piece(DumpPart& part, DumpPart&& piece) {
    const auto append = [](auto& to, auto& from) {
        if (to.empty()) return std::swap(to, from);
        to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    if (piece.info) part.info = std::move(piece.info);
    append(part.queues, piece.queues);
    append(part.applications, piece.applications);
    append(part.nodes, piece.nodes);
    append(part.reservations, piece.reservations);
    append(part.rules, piece.rules);
    append(part.users, piece.users);
    append(part.groups, piece.groups);
}

void put_in_order(DumpPart& part) {
    std::stable_sort(part.applications.begin(), part.applications.end(),
                     [](const auto& a, const auto& b) { return a.list != b.list ? a.list < b.list : a.id < b.id; });
}

} // namespace yk::service
