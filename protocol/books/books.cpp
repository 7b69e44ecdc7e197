// SPDX-License-Identifier: Apache-2.0
#include "protocol/books/books.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "protocol/wire/codec.h"

namespace yk::books {
namespace {

constexpr std::string_view kDefault = "default";
constexpr std::string_view kCreated = "creationTime"; // of an ask, s since 1970 (I-060)
constexpr std::string_view kApplicationCreated = "yunikorn.apache.org/creationTime";

const std::string* find(const si::StringMap& map, std::string_view key) {
    const auto found = std::find_if(map.begin(), map.end(), [&](const auto& pair) { return pair.first == key; });
    return found == map.end() ? nullptr : &found->second;
}

/// The time in the tag; nullopt: there is none that can be read.
std::optional<std::int64_t> time_in(const si::StringMap& tags, std::string_view key) {
    const std::string* text = find(tags, key);
    std::int64_t seconds = 0;
    if (text == nullptr) return std::nullopt;
    const auto end = text->data() + text->size();
    const auto [rest, fault] = std::from_chars(text->data(), end, seconds);
    if (fault != std::errc{} || rest != end) return std::nullopt;
    return seconds;
}

void set_time(si::StringMap& tags, std::string_view key, std::int64_t seconds) {
    tags.erase(std::remove_if(tags.begin(), tags.end(), [&](const auto& pair) { return pair.first == key; }),
               tags.end());
    tags.emplace_back(key, std::to_string(seconds));
}

/// A placement as the ask that it answers; asks and placements are kept alike.
si::AllocationAsk ask_of(const si::Allocation& from) {
    si::AllocationAsk ask;
    ask.allocation_key = from.allocation_key;
    ask.application_id = from.application_id;
    ask.partition_name = from.partition_name;
    ask.resource_ask = from.resource_per_alloc;
    ask.priority = from.priority;
    ask.tags = from.allocation_tags;
    ask.task_group_name = from.task_group_name;
    ask.placeholder = from.placeholder;
    ask.originator = from.originator;
    ask.preemption_policy = from.preemption_policy;
    ask.node_id = from.node_id;
    return ask;
}

} // namespace

std::string_view short_partition(std::string_view name) {
    if (!name.empty() && name.front() == '[') name.remove_prefix(std::min(name.size(), name.find(']') + 1));
    return name.empty() ? kDefault : name;
}

std::string_view partition_of(const si::NodeInfo& node) {
    const std::string* named = node.attributes ? find(*node.attributes, si::kPartitionAttribute) : nullptr;
    return short_partition(named == nullptr ? std::string_view{} : *named);
}

// --- rows -----------------------------------------------------------------------------------------------------------

std::int64_t Books::add(RowKind kind, std::string body, std::optional<std::string> node) {
    changes_.emplace_hint(changes_.end(), ++last_seq_, RowChange{kind, true, false, std::move(body), std::move(node)});
    return last_seq_;
}

void Books::write_body(std::int64_t seq, RowKind kind, std::string body) {
    RowChange& change = changes_[seq];
    change.kind = kind;
    change.body = std::move(body);
}

void Books::write_node(std::int64_t seq, RowKind kind, std::string node) {
    RowChange& change = changes_[seq];
    change.kind = kind;
    change.node = std::move(node);
}

void Books::erase(std::int64_t seq, RowKind kind) {
    const auto [change, is_first] = changes_.try_emplace(seq);
    if (change->second.is_new) return static_cast<void>(changes_.erase(change)); // it was never written
    change->second = {kind, false, true};
}

const RowChanges& Books::changes() {
    settle();
    return changes_;
}

bool Books::load(const Row& row) {
    last_seq_ = std::max(last_seq_, row.seq);
    const auto scanned = wire::scan_body(row.body);
    if (!scanned.ok()) return false;
    switch (row.kind) {
    case RowKind::Node: {
        auto node = wire::decode<si::NodeInfo>(*scanned);
        if (!node.ok()) return false;
        Node& made = partition_named(partition_of(*node)).nodes[node->node_id];
        made.seq = row.seq;
        made.accepted = true;
        made.info = std::move(node).value();
        return true;
    }
    case RowKind::Application: {
        const auto application = wire::decode<si::AddApplicationRequest>(*scanned);
        if (!application.ok()) return false;
        Application& made =
            partition_named(short_partition(application->partition_name)).applications[application->application_id];
        made.seq = row.seq;
        made.accepted = true;
        return true;
    }
    case RowKind::Ask: {
        const auto ask = wire::decode<si::AllocationAsk>(*scanned);
        if (!ask.ok()) return false;
        Partition& partition = partition_named(short_partition(ask->partition_name));
        partition.applications[ask->application_id].asks[ask->allocation_key] = {
            row.seq, time_in(ask->tags, kCreated).value_or(0), row.node.has_value(), ask->placeholder};
        return true;
    }
    case RowKind::Foreign: {
        const auto allocation = wire::decode<si::Allocation>(*scanned);
        if (!allocation.ok()) return false;
        partition_named(short_partition(allocation->partition_name)).foreign[allocation->allocation_key] = {
            row.seq, row.node.value_or("")};
        return true;
    }
    }
    return false;
}

// --- changes that may be refused ------------------------------------------------------------------------------------

void Books::settle() {
    for (const Replacement& each : std::exchange(replaced_, {})) keep(each);
}

void Books::keep(const Replacement& replacement) {
    const auto partition = partitions_.find(replacement.partition);
    if (partition == partitions_.end()) return;
    if (replacement.info) {
        const auto node = partition->second.nodes.find(replacement.key);
        if (node == partition->second.nodes.end()) return;
        node->second.info = *replacement.info;
        return write_body(node->second.seq, RowKind::Node, wire::encoded(node->second.info));
    }
    if (replacement.application.empty()) return keep_foreign(partition->second, replacement);
    Ask* ask = find_ask(partition->second, replacement.application, replacement.key);
    if (ask == nullptr) return;
    write_body(ask->seq, RowKind::Ask, replacement.body);
    if (ask->placed || replacement.node.empty()) return;
    ask->placed = true;
    write_node(ask->seq, RowKind::Ask, replacement.node);
}

void Books::keep_foreign(Partition& partition, const Replacement& replacement) {
    const auto foreign = partition.foreign.find(replacement.key);
    if (foreign == partition.foreign.end()) return;
    write_body(foreign->second.seq, RowKind::Foreign, replacement.body);
    if (foreign->second.node == replacement.node) return;
    foreign->second.node = replacement.node;
    write_node(foreign->second.seq, RowKind::Foreign, replacement.node);
}

/// True: there was one.
bool Books::drop_replacement(RowKind kind, std::string_view partition, std::string_view application,
                             std::string_view key) {
    const auto names = [&](const Replacement& each) {
        return each.kind == kind && each.partition == partition && each.application == application && each.key == key;
    };
    const auto last = std::find_if(replaced_.rbegin(), replaced_.rend(), names);
    if (last == replaced_.rend()) return false;
    replaced_.erase(std::next(last).base());
    return true;
}

// --- what the RM sends ----------------------------------------------------------------------------------------------

void Books::sent(const si::NodeRequest& request, std::int64_t at) {
    settle();
    for (const si::NodeInfo& node : request.nodes) sent_node(node, at);
}

void Books::sent_node(const si::NodeInfo& node, std::int64_t at) {
    Partition& partition = partition_named(partition_of(node));
    const auto known = partition.nodes.find(node.node_id);
    const bool is_known = known != partition.nodes.end();
    switch (node.action) {
    case si::NodeAction::Create:
    case si::NodeAction::CreateDrain: {
        if (is_known) return; // it will be refused
        si::NodeInfo info = node;
        info.existing_allocations.clear();
        info.recovery.reset();
        const std::int64_t seq = add(RowKind::Node, wire::encoded(info));
        partition.nodes[node.node_id] = {seq, false, std::move(info)};
        for (const si::Allocation& each : node.existing_allocations) {
            si::Allocation allocation = each;
            allocation.partition_name = partition_of(node);
            allocation.node_id = node.node_id;
            partition.nodes[node.node_id].came_with.emplace_back(allocation.application_id, allocation.allocation_key);
            sent_allocation(allocation, at);
        }
        return;
    }
    case si::NodeAction::Update: {
        if (!is_known) return;
        si::NodeInfo info = known->second.info;
        if (node.schedulable_resource) info.schedulable_resource = node.schedulable_resource;
        if (node.occupied_resource) info.occupied_resource = node.occupied_resource;
        if (node.attributes) info.attributes = node.attributes;
        replaced_.push_back({RowKind::Node, std::string{partition_of(node)}, {}, node.node_id, std::move(info)});
        return;
    }
    case si::NodeAction::Drain:
    case si::NodeAction::Schedulable: {
        if (!is_known) return;
        const auto earlier = std::find_if(replaced_.rbegin(), replaced_.rend(), [&](const Replacement& each) {
            return each.info && each.key == node.node_id && each.partition == partition_of(node);
        });
        si::NodeInfo info = earlier == replaced_.rend() ? known->second.info : *earlier->info;
        info.action = node.action == si::NodeAction::Drain ? si::NodeAction::CreateDrain : si::NodeAction::Create;
        replaced_.push_back({RowKind::Node, std::string{partition_of(node)}, {}, node.node_id, std::move(info)});
        return;
    }
    case si::NodeAction::Decommission: return erase_node(partition, node.node_id);
    case si::NodeAction::Unset: return;
    }
}

void Books::sent(const si::ApplicationRequest& request, std::int64_t at) {
    settle();
    for (const si::AddApplicationRequest& each : request.add) {
        auto& applications = partition_named(short_partition(each.partition_name)).applications;
        if (applications.count(each.application_id) != 0) continue; // it will be refused
        si::AddApplicationRequest body = each;
        if (!time_in(body.tags, kApplicationCreated)) set_time(body.tags, kApplicationCreated, at);
        applications[each.application_id].seq = add(RowKind::Application, wire::encoded(body));
    }
    for (const si::RemoveApplicationRequest& each : request.remove)
        erase_application(partition_named(short_partition(each.partition_name)), each.application_id);
}

void Books::sent(const si::AllocationRequest& request, std::int64_t at) {
    settle();
    for (const si::Allocation& each : request.allocations) sent_allocation(each, at);
    for (const si::AllocationAsk& each : request.asks) sent_ask(each, at);
    for (const si::AllocationAskRelease& each : request.releases.allocation_asks_to_release) sent_ask_release(each);
    for (const si::AllocationRelease& each : request.releases.allocations_to_release) sent_release(each);
}

void Books::sent_ask(si::AllocationAsk ask, std::int64_t at) {
    const std::string_view partition_name = short_partition(ask.partition_name);
    Partition& partition = partition_named(partition_name);
    const auto application = partition.applications.find(ask.application_id);
    if (application == partition.applications.end()) return; // it will be refused
    const auto known = application->second.asks.find(ask.allocation_key);
    const std::string node = std::exchange(ask.node_id, {});
    if (known != application->second.asks.end()) {
        ask.placeholder = known->second.placeholder;
        set_time(ask.tags, kCreated, known->second.created);
        replaced_.push_back({RowKind::Ask,
                             std::string{partition_name},
                             ask.application_id,
                             ask.allocation_key,
                             {},
                             wire::encoded(ask),
                             node});
        return;
    }
    const std::int64_t created = time_in(ask.tags, kCreated).value_or(at);
    set_time(ask.tags, kCreated, created);
    const std::int64_t seq = add(RowKind::Ask, wire::encoded(ask), node.empty() ? std::nullopt : std::optional{node});
    application->second.asks[ask.allocation_key] = {seq, created, !node.empty(), ask.placeholder};
}

void Books::sent_allocation(const si::Allocation& allocation, std::int64_t at) {
    allocation.application_id.empty() ? sent_foreign(allocation) : sent_ask(ask_of(allocation), at);
}

void Books::sent_foreign(si::Allocation allocation) {
    const std::string_view partition_name = short_partition(allocation.partition_name);
    Partition& partition = partition_named(partition_name);
    const std::string node = std::exchange(allocation.node_id, {});
    const auto known = partition.foreign.find(allocation.allocation_key);
    if (known == partition.foreign.end()) {
        partition.foreign[allocation.allocation_key] = {add(RowKind::Foreign, wire::encoded(allocation), node), node};
        return;
    }
    replaced_.push_back({RowKind::Foreign,
                         std::string{partition_name},
                         {},
                         allocation.allocation_key,
                         {},
                         wire::encoded(allocation),
                         node});
}

void Books::sent_ask_release(const si::AllocationAskRelease& release) {
    if (release.termination_type == si::TerminationType::Timeout) return; // confirms what is gone (I-155)
    Partition& partition = partition_named(short_partition(release.partition_name));
    const auto application = partition.applications.find(release.application_id);
    if (application == partition.applications.end()) return;
    const Asks& asks = application->second.asks;
    std::vector<std::string> gone;
    if (const auto one = asks.find(release.allocation_key); one != asks.end() && !one->second.placed)
        gone.push_back(one->first);
    if (release.allocation_key.empty())
        for (const auto& [key, ask] : asks)
            if (!ask.placed) gone.push_back(key);
    for (const std::string& key : gone) erase_ask(partition, release.application_id, key);
}

void Books::sent_release(const si::AllocationRelease& release) {
    Partition& partition = partition_named(short_partition(release.partition_name));
    if (release.application_id.empty()) return erase_foreign(partition, release.allocation_key);
    const auto application = partition.applications.find(release.application_id);
    if (application == partition.applications.end()) return;
    if (release.allocation_key.empty()) {
        std::vector<std::string> gone;
        for (const auto& [key, ask] : application->second.asks)
            if (ask.placed || !release.keep_asks) gone.push_back(key);
        for (const std::string& key : gone) erase_ask(partition, release.application_id, key);
        return;
    }
    const auto ask = application->second.asks.find(release.allocation_key);
    if (ask == application->second.asks.end()) return;
    const bool replaces = release.termination_type == si::TerminationType::PlaceholderReplaced;
    if (replaces && !ask->second.placeholder) return;                                            // I-163
    if (!ask->second.placed && release.termination_type == si::TerminationType::Timeout) return; // I-161
    erase_ask(partition, release.application_id, release.allocation_key);
}

// --- what the RM is told --------------------------------------------------------------------------------------------

void Books::note(const Outcome& outcome) {
    const std::string_view partition_name = short_partition(outcome.partition);
    const auto found = partitions_.find(partition_name);
    if (found == partitions_.end()) return;
    Partition& partition = found->second;
    switch (outcome.what) {
    case Outcome::What::NodeAccepted:
        if (const auto node = partition.nodes.find(outcome.id); node != partition.nodes.end()) {
            node->second.accepted = true;
            node->second.came_with.clear();
        }
        return;
    case Outcome::What::NodeRejected: return reject_node(partition_name, partition, outcome.id);
    case Outcome::What::NodeFailed:
        return static_cast<void>(drop_replacement(RowKind::Node, partition_name, {}, outcome.id));
    case Outcome::What::ApplicationAccepted:
        if (const auto app = partition.applications.find(outcome.id); app != partition.applications.end())
            app->second.accepted = true;
        return;
    case Outcome::What::ApplicationRejected:
        if (const auto app = partition.applications.find(outcome.id);
            app != partition.applications.end() && !app->second.accepted)
            erase_application(partition, outcome.id);
        return;
    case Outcome::What::ApplicationEnded: return erase_application(partition, outcome.id);
    case Outcome::What::Placed: {
        Ask* ask = find_ask(partition, outcome.id, outcome.key);
        if (ask == nullptr || ask->placed) return;
        ask->placed = true;
        return write_node(ask->seq, RowKind::Ask, std::string{outcome.node});
    }
    case Outcome::What::Released: {
        const Ask* ask = find_ask(partition, outcome.id, outcome.key);
        if (ask != nullptr && !(outcome.pending && ask->placed)) erase_ask(partition, outcome.id, outcome.key);
        return;
    }
    case Outcome::What::Rejected: return reject_ask(partition_name, partition, outcome.id, outcome.key);
    }
}

/// An ask that was there before stays as it was.
void Books::reject_ask(std::string_view name, Partition& partition, std::string_view application,
                       std::string_view key) {
    const bool is_foreign = application.empty();
    if (drop_replacement(is_foreign ? RowKind::Foreign : RowKind::Ask, name, application, key)) return;
    is_foreign ? erase_foreign(partition, key) : erase_ask(partition, application, key);
}

/// A node that was there before stays.
void Books::reject_node(std::string_view name, Partition& partition, std::string_view id) {
    const auto node = partition.nodes.find(id);
    if (node == partition.nodes.end() || node->second.accepted) return;
    for (const auto& [application, key] : node->second.came_with) reject_ask(name, partition, application, key);
    erase_node(partition, id);
}

void Books::keep_partitions(const std::set<std::string>& names) {
    settle();
    for (auto each = partitions_.begin(); each != partitions_.end();) {
        if (names.count(each->first) != 0) {
            ++each;
            continue;
        }
        Partition& partition = each->second;
        while (!partition.applications.empty()) {
            const std::string id = partition.applications.begin()->first;
            erase_application(partition, id);
        }
        for (const auto& [id, node] : partition.nodes) erase(node.seq, RowKind::Node);
        for (const auto& [key, foreign] : partition.foreign) erase(foreign.seq, RowKind::Foreign);
        each = partitions_.erase(each);
    }
}

// --- objects --------------------------------------------------------------------------------------------------------

Books::Partition& Books::partition_named(std::string_view name) {
    const auto known = partitions_.find(name);
    return known == partitions_.end() ? partitions_[std::string{name}] : known->second;
}

Books::Ask* Books::find_ask(Partition& partition, std::string_view application, std::string_view key) {
    const auto owner = partition.applications.find(application);
    if (owner == partition.applications.end()) return nullptr;
    const auto ask = owner->second.asks.find(key);
    return ask == owner->second.asks.end() ? nullptr : &ask->second;
}

void Books::erase_ask(Partition& partition, std::string_view application, std::string_view key) {
    const auto owner = partition.applications.find(application);
    if (owner == partition.applications.end()) return;
    const auto ask = owner->second.asks.find(key);
    if (ask == owner->second.asks.end()) return;
    erase(ask->second.seq, RowKind::Ask);
    owner->second.asks.erase(ask);
}

void Books::erase_foreign(Partition& partition, std::string_view key) {
    const auto foreign = partition.foreign.find(key);
    if (foreign == partition.foreign.end()) return;
    erase(foreign->second.seq, RowKind::Foreign);
    partition.foreign.erase(foreign);
}

void Books::erase_application(Partition& partition, std::string_view id) {
    const auto application = partition.applications.find(id);
    if (application == partition.applications.end()) return;
    for (const auto& [key, ask] : application->second.asks) erase(ask.seq, RowKind::Ask);
    erase(application->second.seq, RowKind::Application);
    partition.applications.erase(application);
}

/// Its allocations are told as released one by one; only the foreign ones go with it.
void Books::erase_node(Partition& partition, std::string_view id) {
    const auto node = partition.nodes.find(id);
    if (node == partition.nodes.end()) return;
    erase(node->second.seq, RowKind::Node);
    partition.nodes.erase(node);
    for (auto foreign = partition.foreign.begin(); foreign != partition.foreign.end();) {
        if (foreign->second.node != id) {
            ++foreign;
            continue;
        }
        erase(foreign->second.seq, RowKind::Foreign);
        foreign = partition.foreign.erase(foreign);
    }
}

} // namespace yk::books
