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

/// At once however many there are: 10,000 take a few milliseconds, and sums belong together (I-405).
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
    part.nodes = context.node_piece(part.partition, true, place.view, place.room);
    return place.room > 0;
}

bool collect_utilization(const ClusterContext& context, const DumpQuery&, PicturePlace& place, DumpPart& part) {
    part.nodes = context.node_piece(part.partition, false, place.view, place.room);
    return place.room > 0;
}

/// Of the full dump.
template <ApplicationList List>
bool collect_list(const ClusterContext& context, const DumpQuery&, PicturePlace& place, DumpPart& part) {
    for (auto& view : context.application_piece(part.partition, List, place.view, place.room))
        part.applications.push_back(std::move(view));
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

void collect_reservations(const ClusterContext& context, const DumpQuery&, DumpPart& part) {
    part.reservations = context.reservation_views(part.partition);
}

/// Of all users or groups, or of the one that is asked for.
bool collect_users(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    part.users = context.usage_piece(part.partition, false, query.user, place.view, place.room);
    return place.room > 0;
}

bool collect_groups(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    part.groups = context.usage_piece(part.partition, true, query.group, place.view, place.room);
    return place.room > 0;
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
    {"queues", at_once<collect_queue>, [](const DumpPart& p) { return p.queues.size(); }, queue_of},
    {"queue", at_once<collect_queue>, [](const DumpPart& p) { return p.queues.size(); }, queue_of, true},
    {"apps", collect_applications, [](const DumpPart& p) { return p.applications.size(); }, application_of},
    {"app", at_once<collect_application>, [](const DumpPart& p) { return p.applications.size(); }, application_of,
     true},
    {"nodes", collect_nodes, [](const DumpPart& p) { return p.nodes.size(); },
     [](const DumpPart& p, std::size_t i) { return node_value(p.nodes[i]); }, false, "nodesInfo"},
    {"node", at_once<collect_node>, [](const DumpPart& p) { return p.nodes.size(); }, encode_node, true},
    {"users", collect_users, [](const DumpPart& p) { return p.users.views.size(); }, user_of},
    {"user", collect_users, [](const DumpPart& p) { return p.users.views.size(); }, user_of, true},
    {"groups", collect_groups, [](const DumpPart& p) { return p.groups.views.size(); }, group_of},
    {"group", collect_groups, [](const DumpPart& p) { return p.groups.views.size(); }, group_of, true},
    {"reservations", at_once<collect_reservations>, [](const DumpPart& p) { return p.reservations.size(); },
     [](const DumpPart& p, std::size_t i) { return reservation_value(p.reservations[i], p.partition, p.rm_id); }},
    {"rules", at_once<collect_rules>, [](const DumpPart& p) { return p.rules.size(); },
     [](const DumpPart& p, std::size_t i) { return rule_value(p.rules[i]); }, false, "rules", "partition"},
    {"utilization", collect_utilization, [](const DumpPart&) -> std::size_t { return 1; },
     [](const DumpPart& p, std::size_t) { return utilization_value(p.nodes, p.partition, p.rm_id); }},
}};

} // namespace

Value queue_of(const DumpPart& part, std::size_t i) {
    Value value = queue_value(part.queues[i], part.partition);
    value["clusterId"] = part.rm_id; // of the top of a tree only
    return value;
}

Value application_of(const DumpPart& part, std::size_t i) {
    return application_value(part.applications[i], part.partition, part.rm_id);
}

Value user_of(const DumpPart& part, std::size_t i) {
    return user_value(part.users.views[i], part.partition, part.rm_id);
}

Value group_of(const DumpPart& part, std::size_t i) {
    return group_value(part.groups.views[i], part.partition, part.rm_id);
}

const DumpKind* find_dump_kind(std::string_view what) {
    const auto found =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const DumpKind& kind) { return kind.what == what; });
    return found == kKinds.end() ? nullptr : &*found;
}

bool collect_everything(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    constexpr std::array kStages{at_once<collect_info>,
                                 at_once<collect_queue>,
                                 at_once<collect_reservations>,
                                 collect_users,
                                 collect_groups,
                                 at_once<collect_rules>,
                                 collect_nodes,
                                 collect_list<ApplicationList::Active>,
                                 collect_list<ApplicationList::Completed>,
                                 collect_list<ApplicationList::Rejected>};
    for (; place.stage < kStages.size(); ++place.stage, place.view = {})
        if (!kStages.at(place.stage)(context, query, place, part)) return false;
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
    const auto append_usage = [&append](UsagePiece& to, UsagePiece& from) {
        to.groups = to.groups || from.groups;
        append(to.views, from.views);
        append(to.links, from.links);
    };
    append_usage(part.users, piece.users);
    append_usage(part.groups, piece.groups);
}

void put_in_order(DumpPart& part) {
    join_usage(part.users);
    join_usage(part.groups);
    std::stable_sort(part.applications.begin(), part.applications.end(),
                     [](const auto& a, const auto& b) { return a.list != b.list ? a.list < b.list : a.id < b.id; });
}

} // namespace yk::service
