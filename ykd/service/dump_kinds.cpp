#include "ykd/service/dump_kinds.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "libcore/config/names.h"
#include "protocol/wire/body_reader.h"
#include "ykd/service/gather.h"

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

ObjectFilter filter_of(const DumpQuery& query) {
    return {query.application, query.key, query.node, query.queue, query.status};
}

/// First who there is, then, when that is in order, one after the other.
bool collect_live_applications(const ClusterContext& context, const DumpQuery& query, PicturePlace& place,
                               DumpPart& part) {
    if (!place.roster) place.roster = std::make_shared<Roster>();
    Roster& roster = *place.roster;
    if (!roster.complete) {
        std::size_t room = kPiece;
        context.add_to_roster(part.partition, list_of(query.state), place.view, room, filter_of(query),
                              roster.unsorted);
        roster.complete = room > 0;
        if (roster.complete) place.view = {};
        return false;
    }
    std::size_t objects = kPiece;
    std::uint64_t& next = place.view.next;
    for (; next < roster.order.size() && part.applications.size() < place.room && objects > 0; ++next) {
        auto view = context.application_at(part.partition, list_of(query.state), roster.order[next], query.most);
        if (!view) continue;
        objects -= std::min(objects, 1 + view->asks.size() + view->allocations.size());
        part.applications.push_back(std::move(*view));
        part.positions.push_back(next + 1);
    }
    return next >= roster.order.size();
}

/// Those with the names that the query has. A name that is nobody's is looked for among all that ended, so few are
/// taken at a time.
template <class Find>
bool collect_named(const std::vector<std::string>& names, PicturePlace& place, const Find& find) {
    constexpr std::size_t kAtOnce = 64;
    std::uint64_t& next = place.view.next;
    const std::size_t end = std::min<std::size_t>(names.size(), next + kAtOnce);
    while (next < end) find(names[next++]);
    return end == names.size();
}

bool collect_applications(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    if (query.names)
        return collect_named(*query.names, place, [&](const std::string& id) {
            if (auto view = context.application_view(part.partition, id, query.most))
                part.applications.push_back(std::move(*view));
        });
    if (place.is_live) return collect_live_applications(context, query, place, part);
    part.applications =
        context.application_piece(part.partition, list_of(query.state), query.most, place.view, place.room);
    std::erase_if(part.applications, [&](const ApplicationView& view) {
        return (!query.status.empty() && config::lower(view.state) != query.status) ||
               (!query.queue.empty() && view.queue != query.queue);
    });
    return place.room > 0;
}

void collect_application(const ClusterContext& context, const DumpQuery& query, DumpPart& part) {
    if (auto view = context.application_view(part.partition, query.application, query.most))
        part.applications.push_back(std::move(*view));
}

bool collect_flat_queues(const ClusterContext& context, const DumpQuery&, PicturePlace& place, DumpPart& part) {
    part.queues = context.queue_piece(part.partition, place.view, place.room);
    return place.room > 0;
}

bool collect_asks(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    part.asks = context.ask_piece(part.partition, filter_of(query), place.view, place.room);
    return place.room > 0;
}

bool collect_allocations(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    part.allocations = context.allocation_piece(part.partition, filter_of(query), place.view, place.room);
    return place.room > 0;
}

bool collect_nodes(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    if (query.names)
        return collect_named(*query.names, place, [&](const std::string& id) {
            if (auto view = context.node_view(part.partition, id, query.most)) part.nodes.push_back(std::move(*view));
        });
    part.nodes = context.node_piece(part.partition, query.most, place.view, place.room);
    return place.room > 0;
}

bool collect_utilization(const ClusterContext& context, const DumpQuery&, PicturePlace& place, DumpPart& part) {
    part.nodes = context.node_piece(part.partition, 0, place.view, place.room);
    return place.room > 0;
}

/// Of the full dump.
template <ApplicationList List>
bool collect_list(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& part) {
    for (auto& view : context.application_piece(part.partition, List, query.most, place.view, place.room))
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
    if (auto view = context.node_view(part.partition, query.node, query.most)) part.nodes.push_back(std::move(*view));
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

/// As text of the wire, for those that have no lists of their own.
template <Value (*Make)(const DumpPart&, std::size_t)>
std::string encoded(const DumpPart& part, std::size_t i, bool /*brief*/) {
    return wire::encoded_value(Make(part, i));
}

/// List by list: as one value an application with many asks would be many times as large as its encoding.
std::string encode_application(const DumpPart& part, std::size_t i, bool brief) {
    const ApplicationView& view = part.applications[i];
    const Value value = application_value(view, part.partition, part.rm_id, brief ? Lists::Left : Lists::Later);
    wire::Buffer out;
    wire::Packer packer(out);
    const auto list = [&packer](const auto& views,
                                Value (*make)(const typename std::decay_t<decltype(views)>::value_type&)) {
        packer.list(views.size());
        for (const auto& one : views) packer.raw(wire::encoded_value(make(one)));
    };
    packer.map(value.size());
    for (const auto& [key, member] : value.items()) {
        packer.text(key);
        if (key == "requests")
            list(view.asks, ask_value);
        else if (key == "allocations")
            list(view.allocations, allocation_value);
        else
            packer.raw(wire::encoded_value(member));
    }
    return out.str();
}

/// Whose an element of a list of its own is.
Value with_owner(Value value, const std::string& queue, const DumpPart& part) {
    value["queueName"] = queue;
    value["partition"] = part.partition;
    value["clusterId"] = part.rm_id;
    return value;
}

Value listed_ask(const DumpPart& part, std::size_t i) {
    return with_owner(ask_value(part.asks[i]), part.asks[i].queue, part);
}

Value listed_allocation(const DumpPart& part, std::size_t i) {
    return with_owner(allocation_value(part.allocations[i]), part.allocations[i].queue, part);
}

std::string encode_listed_node(const DumpPart& part, std::size_t i, bool brief) {
    return wire::encoded_value(node_value(part.nodes[i], brief ? Lists::Left : Lists::Shown));
}

std::string encode_flat_queue(const DumpPart& part, std::size_t i, bool brief) {
    Value value = queue_value(part.queues[i], part.partition, 0, brief ? Lists::Left : Lists::Shown);
    value["clusterId"] = part.rm_id;
    return wire::encoded_value(value);
}

std::string encode_node(const DumpPart& part, std::size_t i, bool brief) {
    Value value = node_value(part.nodes[i], brief ? Lists::Left : Lists::Shown);
    value["partition"] = part.partition;
    return wire::encoded_value(value);
}

// --- going on ----------------------------------------------------------------------------------

void go_on_applications(const DumpPart& piece, std::size_t taken, PicturePlace& place) {
    place.view.next = piece.positions[taken - 1];
}

void go_on_asks(const DumpPart& piece, std::size_t taken, PicturePlace& place) {
    place.view.next = piece.asks[taken - 1].next;
}

void go_on_allocations(const DumpPart& piece, std::size_t taken, PicturePlace& place) {
    place.view.next = piece.allocations[taken - 1].next;
}

void go_on_queues(const DumpPart& piece, std::size_t taken, PicturePlace& place) {
    place.view.after = piece.queues[taken - 1].path;
}

void go_on_nodes(const DumpPart& piece, std::size_t taken, PicturePlace& place) {
    place.view.after = piece.nodes[taken - 1].id;
}

Value info_of(const DumpPart& part, std::size_t) {
    return partition_value(*part.info);
}
Value listed_reservation(const DumpPart& part, std::size_t i) {
    return reservation_value(part.reservations[i], part.partition, part.rm_id);
}
Value listed_rule(const DumpPart& part, std::size_t i) {
    return rule_value(part.rules[i]);
}
Value utilization_of(const DumpPart& part, std::size_t) {
    return utilization_value(part.nodes, part.partition, part.rm_id);
}

constexpr auto kApplications = [](const DumpPart& p) { return p.applications.size(); };
constexpr auto kNodes = [](const DumpPart& p) { return p.nodes.size(); };
constexpr auto kQueues = [](const DumpPart& p) { return p.queues.size(); };
constexpr auto kUsers = [](const DumpPart& p) { return p.users.views.size(); };
constexpr auto kGroups = [](const DumpPart& p) { return p.groups.views.size(); };
constexpr const char* kPartitionName = "partitionName";

constexpr std::array<DumpKind, 17> kKinds{{
    {"partitions", at_once<collect_info>, [](const DumpPart& p) -> std::size_t { return p.info ? 1 : 0; },
     encoded<info_of>},
    {"queues", at_once<collect_queue>, kQueues, encoded<queue_of>},
    {kFlatQueues, collect_flat_queues, kQueues, encode_flat_queue, false, nullptr, kPartitionName, go_on_queues},
    {"queue", at_once<collect_queue>, kQueues, encoded<queue_of>, true},
    {"apps", collect_applications, kApplications, encode_application, false, nullptr, kPartitionName,
     go_on_applications},
    {"app", at_once<collect_application>, kApplications, encode_application, true},
    {"asks", collect_asks, [](const DumpPart& p) { return p.asks.size(); }, encoded<listed_ask>, false, nullptr,
     kPartitionName, go_on_asks},
    {"allocations", collect_allocations, [](const DumpPart& p) { return p.allocations.size(); },
     encoded<listed_allocation>, false, nullptr, kPartitionName, go_on_allocations},
    {"nodes", collect_nodes, kNodes, encode_listed_node, false, "nodesInfo", kPartitionName, go_on_nodes},
    {"node", at_once<collect_node>, kNodes, encode_node, true},
    {"users", collect_users, kUsers, encoded<user_of>},
    {"user", collect_users, kUsers, encoded<user_of>, true},
    {"groups", collect_groups, kGroups, encoded<group_of>},
    {"group", collect_groups, kGroups, encoded<group_of>, true},
    {"reservations", at_once<collect_reservations>, [](const DumpPart& p) { return p.reservations.size(); },
     encoded<listed_reservation>},
    {"rules", at_once<collect_rules>, [](const DumpPart& p) { return p.rules.size(); }, encoded<listed_rule>, false,
     "rules", "partition"},
    {"utilization", collect_utilization, [](const DumpPart&) -> std::size_t { return 1; }, encoded<utilization_of>},
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
                                 at_once<collect_rules>,
                                 at_once<collect_reservations>,
                                 collect_users,
                                 collect_groups,
                                 at_once<collect_queue>,
                                 collect_nodes,
                                 collect_list<ApplicationList::Active>,
                                 collect_list<ApplicationList::Completed>,
                                 collect_list<ApplicationList::Rejected>};
    constexpr std::size_t kBriefStages = 2; // those behind it have dumps of their own, in pages
    const std::size_t stages = query.most == 0 ? kBriefStages : kStages.size();
    if (place.stage == 0 && query.most != 0) {
        const auto info = context.partition_view(part.partition);
        part.is_too_large =
            info &&
            static_cast<std::uint64_t>(info->pending_asks) + static_cast<std::uint64_t>(info->allocations) > query.most;
        if (part.is_too_large) return true;
    }
    for (; place.stage < stages; ++place.stage, place.view = {})
        if (!kStages.at(place.stage)(context, query, place, part)) return false;
    return true;
}

void add_piece(DumpPart& part, DumpPart&& piece) {
    const auto append = [](auto& to, auto& from) {
        if (to.empty()) return std::swap(to, from);
        to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    if (piece.info) part.info = std::move(piece.info);
    part.is_too_large = part.is_too_large || piece.is_too_large;
    append(part.queues, piece.queues);
    append(part.applications, piece.applications);
    append(part.asks, piece.asks);
    append(part.allocations, piece.allocations);
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
    const auto by_key = [](const auto& a, const auto& b) {
        return a.application != b.application ? a.application < b.application : a.key < b.key;
    };
    std::sort(part.asks.begin(), part.asks.end(), by_key);
    std::sort(part.allocations.begin(), part.allocations.end(), by_key);
}

void put_in_order(PicturePlace& place) {
    if (!place.roster || !place.roster->complete || place.roster->unsorted.empty()) return;
    Roster& roster = *place.roster;
    std::sort(roster.unsorted.begin(), roster.unsorted.end());
    roster.order.reserve(roster.unsorted.size());
    for (const auto& [id, position] : roster.unsorted) roster.order.push_back(position);
    roster.unsorted = {};
}

} // namespace yk::service
