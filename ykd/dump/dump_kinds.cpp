// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_kinds.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "libcore/config/names.h"
#include "libcore/reports/explain.h"
#include "libcore/reports/fragmentation.h"
#include "libcore/reports/pages.h"
#include "libcore/reports/snapshot.h"
#include "protocol/wire/body_reader.h"
#include "ykd/dump/fragmentation_objects.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

// --- making the snapshot ------------------------------------------------------------------------

ApplicationList list_of(const std::string& state) {
    if (state == "completed") return ApplicationList::Completed;
    return state == "rejected" ? ApplicationList::Rejected : ApplicationList::Active;
}

void collect_info(const PartitionState& state, const DumpQuery&, DumpPart& part) {
    part.info = partition_view(state);
}

/// Takes all queues at once, however many there are: 10,000 take a few milliseconds, and their sums belong together
/// (I-405).
void collect_queue(const PartitionState& state, const DumpQuery& query, DumpPart& part) {
    const bool one = query.what == "queue";
    if (auto view = queue_view(state, one ? query.queue : "root", !one || query.subtree))
        part.queues.push_back(std::move(*view));
}

ObjectFilter filter_of(const DumpQuery& query) {
    return {query.application, query.allocation_key, query.node, query.queue, query.status};
}

/// Takes the applications by id. First the roster of all is made; when that has been put in order, the applications are
/// taken one after the other.
bool collect_live_applications(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor,
                               DumpPart& part) {
    if (!cursor.roster) cursor.roster = std::make_shared<Roster>();
    Roster& roster = *cursor.roster;
    if (!roster.complete) {
        std::size_t budget = kChunk;
        add_to_roster(state, list_of(query.state), cursor.view, budget, filter_of(query), roster.unsorted);
        roster.complete = budget > 0;
        if (roster.complete) cursor.view = {};
        return false;
    }
    std::size_t objects = kChunk;
    std::uint64_t& next = cursor.view.next;
    for (; next < roster.order.size() && part.applications.size() < cursor.budget && objects > 0; ++next) {
        auto view = application_at(state, list_of(query.state), roster.order[next], query.most);
        if (!view) continue;
        objects -= std::min(objects, 1 + view->asks.size() + view->allocations.size());
        part.applications.push_back(std::move(*view));
        part.positions.push_back(next + 1);
    }
    return next >= roster.order.size();
}

/// Calls `find` with the next names of the query. At most 64 at a time: a name that nobody has is searched among all
/// applications that ended.
template <class Find>
bool collect_named(const std::vector<std::string>& names, SnapshotCursor& cursor, const Find& find) {
    constexpr std::size_t kAtOnce = 64;
    std::uint64_t& next = cursor.view.next;
    const std::size_t end = std::min<std::size_t>(names.size(), next + kAtOnce);
    while (next < end) find(names[next++]);
    return end == names.size();
}

bool collect_applications(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& part) {
    if (query.names)
        return collect_named(*query.names, cursor, [&](const std::string& id) {
            if (auto view = application_view(state, id, query.most)) part.applications.push_back(std::move(*view));
        });
    if (cursor.is_live) return collect_live_applications(state, query, cursor, part);
    part.applications = application_page(state, list_of(query.state), query.most, cursor.view, cursor.budget);
    std::erase_if(part.applications, [&](const ApplicationView& view) {
        return (!query.status.empty() && config::lower(view.state) != query.status) ||
               (!query.queue.empty() && view.queue != query.queue);
    });
    return cursor.budget > 0;
}

void collect_application(const PartitionState& state, const DumpQuery& query, DumpPart& part) {
    if (auto view = application_view(state, query.application, query.most))
        part.applications.push_back(std::move(*view));
}

bool collect_flat_queues(const PartitionState& state, const DumpQuery&, SnapshotCursor& cursor, DumpPart& part) {
    part.queues = queue_page(state, cursor.view, cursor.budget);
    return cursor.budget > 0;
}

bool collect_asks(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& part) {
    part.asks = ask_page(state, filter_of(query), cursor.view, cursor.budget);
    return cursor.budget > 0;
}

bool collect_allocations(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& part) {
    part.allocations = allocation_page(state, filter_of(query), cursor.view, cursor.budget);
    return cursor.budget > 0;
}

bool collect_nodes(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& part) {
    if (query.names)
        return collect_named(*query.names, cursor, [&](const std::string& id) {
            if (auto view = node_view(state, id, query.most)) part.nodes.push_back(std::move(*view));
        });
    part.nodes = node_page(state, query.most, cursor.view, cursor.budget);
    return cursor.budget > 0;
}

bool collect_utilization(const PartitionState& state, const DumpQuery&, SnapshotCursor& cursor, DumpPart& part) {
    part.nodes = node_page(state, 0, cursor.view, cursor.budget);
    return cursor.budget > 0;
}

bool collect_fragmentation(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor,
                           DumpPart& part) {
    part.fragmentation = fragmentation_page(state, query.what == kNodeFragments, cursor.view, cursor.budget);
    return cursor.budget > 0;
}

/// Takes one list of applications, for the full dump.
template <ApplicationList List>
bool collect_list(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& part) {
    for (auto& view : application_page(state, List, query.most, cursor.view, cursor.budget))
        part.applications.push_back(std::move(view));
    return cursor.budget > 0;
}

/// Takes in one chunk what is never long.
template <void (*Collect)(const PartitionState&, const DumpQuery&, DumpPart&)>
bool at_once(const PartitionState& state, const DumpQuery& query, SnapshotCursor&, DumpPart& part) {
    Collect(state, query, part);
    return true;
}

void collect_node(const PartitionState& state, const DumpQuery& query, DumpPart& part) {
    if (auto view = node_view(state, query.node, query.most)) part.nodes.push_back(std::move(*view));
}

void collect_reservations(const PartitionState& state, const DumpQuery&, DumpPart& part) {
    part.reservations = reservation_views(state);
}

/// Takes all users, or the one that is asked for.
bool collect_users(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& part) {
    part.users = usage_page(state, false, query.user, cursor.view, cursor.budget);
    return cursor.budget > 0;
}

/// Takes all groups, or the one that is asked for.
bool collect_groups(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& part) {
    part.groups = usage_page(state, true, query.group, cursor.view, cursor.budget);
    return cursor.budget > 0;
}

void collect_rules(const PartitionState& state, const DumpQuery&, DumpPart& part) {
    part.rules = rule_views(state);
}

// --- encoding: one element of the main list -----------------------------------------------------

/// Encodes an element that has no long lists of its own.
template <Value (*Make)(const DumpPart&, std::size_t)>
std::string encoded(const DumpPart& part, std::size_t i, bool /*brief*/) {
    return wire::encoded_value(Make(part, i));
}

/// Encodes an application list by list: as one value, one with many asks would take many times the bytes of its
/// encoding.
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

/// Adds where an ask or allocation is, for lists of their own.
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
    return wire::encoded_value(
        node_value(part.nodes[i], part.partition, part.rm_id, brief ? Lists::Left : Lists::Shown));
}

std::string encode_flat_queue(const DumpPart& part, std::size_t i, bool brief) {
    Value value = queue_value(part.queues[i], part.partition, 0, brief ? Lists::Left : Lists::Shown);
    value["clusterId"] = part.rm_id;
    return wire::encoded_value(value);
}

std::string encode_node(const DumpPart& part, std::size_t i, bool brief) {
    Value value = node_value(part.nodes[i], part.partition, part.rm_id, brief ? Lists::Left : Lists::Shown);
    value["partition"] = part.partition;
    return wire::encoded_value(value);
}

// --- going on ----------------------------------------------------------------------------------

void go_on_applications(const DumpPart& chunk, std::size_t taken, SnapshotCursor& cursor) {
    cursor.view.next = chunk.positions[taken - 1];
}

void go_on_asks(const DumpPart& chunk, std::size_t taken, SnapshotCursor& cursor) {
    cursor.view.next = chunk.asks[taken - 1].next;
}

void go_on_allocations(const DumpPart& chunk, std::size_t taken, SnapshotCursor& cursor) {
    cursor.view.next = chunk.allocations[taken - 1].next;
}

void go_on_queues(const DumpPart& chunk, std::size_t taken, SnapshotCursor& cursor) {
    cursor.view.after = chunk.queues[taken - 1].path;
}

void go_on_nodes(const DumpPart& chunk, std::size_t taken, SnapshotCursor& cursor) {
    cursor.view.after = chunk.nodes[taken - 1].id;
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

Value fragmentation_of(const DumpPart& part, std::size_t) {
    return fragmentation_value(*part.fragmentation, part.partition, part.rm_id);
}
Value node_fragments_of(const DumpPart& part, std::size_t i) {
    return node_fragments_value(part.fragmentation->nodes[i], part.partition, part.rm_id);
}

constexpr auto kApplications = [](const DumpPart& p) { return p.applications.size(); };
constexpr auto kNodes = [](const DumpPart& p) { return p.nodes.size(); };
constexpr auto kQueues = [](const DumpPart& p) { return p.queues.size(); };
constexpr auto kUsers = [](const DumpPart& p) { return p.users.views.size(); };
constexpr auto kGroups = [](const DumpPart& p) { return p.groups.views.size(); };
constexpr const char* kPartitionName = "partitionName";

constexpr std::array<DumpKind, 19> kKinds{{
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
    {"fragmentation", collect_fragmentation, [](const DumpPart& p) -> std::size_t { return p.fragmentation ? 1 : 0; },
     encoded<fragmentation_of>},
    {kNodeFragments, collect_fragmentation,
     [](const DumpPart& p) { return p.fragmentation ? p.fragmentation->nodes.size() : 0; }, encoded<node_fragments_of>},
}};

} // namespace

Value queue_of(const DumpPart& part, std::size_t i) {
    Value value = queue_value(part.queues[i], part.partition);
    value["clusterId"] = part.rm_id; // only at the top of a tree
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

bool collect_everything(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& part) {
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
    constexpr std::size_t kBriefStages = 2; // what the later ones take has dumps of its own, in pages
    const std::size_t stages = query.most == 0 ? kBriefStages : kStages.size();
    if (cursor.stage == 0 && query.most != 0) {
        part.is_too_large = state.pending_asks + state.allocation_count > query.most;
        if (part.is_too_large) return true;
    }
    for (; cursor.stage < stages; ++cursor.stage, cursor.view = {})
        if (!kStages.at(cursor.stage)(state, query, cursor, part)) return false;
    return true;
}

void add_chunk(DumpPart& part, DumpPart&& chunk) {
    const auto append = [](auto& to, auto& from) {
        if (to.empty()) return std::swap(to, from);
        to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    if (chunk.info) part.info = std::move(chunk.info);
    part.is_too_large = part.is_too_large || chunk.is_too_large;
    append(part.queues, chunk.queues);
    append(part.applications, chunk.applications);
    append(part.asks, chunk.asks);
    append(part.allocations, chunk.allocations);
    append(part.nodes, chunk.nodes);
    append(part.reservations, chunk.reservations);
    append(part.rules, chunk.rules);
    if (part.fragmentation && chunk.fragmentation)
        add_page(*part.fragmentation, std::move(*chunk.fragmentation));
    else if (chunk.fragmentation)
        part.fragmentation = std::move(chunk.fragmentation);
    const auto append_usage = [&append](UsagePage& to, UsagePage& from) {
        to.groups = to.groups || from.groups;
        append(to.views, from.views);
        append(to.links, from.links);
    };
    append_usage(part.users, chunk.users);
    append_usage(part.groups, chunk.groups);
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

void put_in_order(SnapshotCursor& cursor) {
    if (!cursor.roster || !cursor.roster->complete || cursor.roster->unsorted.empty()) return;
    Roster& roster = *cursor.roster;
    std::sort(roster.unsorted.begin(), roster.unsorted.end());
    roster.order.reserve(roster.unsorted.size());
    for (const auto& [id, position] : roster.unsorted) roster.order.push_back(position);
    roster.unsorted = {};
}

} // namespace yk::service
