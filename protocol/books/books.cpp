// SPDX-License-Identifier: Apache-2.0
#include "protocol/books/books.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "libcore/base/saturate.h"
#include "protocol/books/place.h"
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
    ask.devices = from.devices;
    return ask;
}

/// The partition that the attributes name; empty: none. A part of them.
std::string_view named_partition(const si::NodeInfo& node) {
    const std::string* named = node.attributes ? find(*node.attributes, si::kPartitionAttribute) : nullptr;
    return named == nullptr ? std::string_view{} : *named;
}

/// Replaces the attributes but for the partition, which cannot change (I-175).
void set_attributes(si::NodeInfo& node, const si::StringMap& attributes) {
    const std::string partition{named_partition(node)};
    node.attributes = attributes;
    if (partition == named_partition(node)) return;
    auto& all = *node.attributes;
    all.erase(
        std::remove_if(all.begin(), all.end(), [](const auto& pair) { return pair.first == si::kPartitionAttribute; }),
        all.end());
    if (!partition.empty()) all.emplace_back(si::kPartitionAttribute, partition);
}

/// REQUIRES: the node has a capacity.
void set_amount(si::NodeInfo& node, const std::string& name, std::int64_t amount) {
    si::Resources& capacity = *node.schedulable_resource;
    const auto found =
        std::find_if(capacity.begin(), capacity.end(), [&name](const auto& each) { return each.first == name; });
    if (found == capacity.end())
        capacity.emplace_back(name, amount);
    else
        found->second = amount;
}

/// Replaces the devices. Where no capacity came with them, the node keeps the one it had: of resources that come in
/// devices now their sum, and of those that do no more what theirs was (F-001, F-002).
void set_devices(si::NodeInfo& node, const si::DeviceSizes& devices, bool has_capacity) {
    if (!has_capacity) {
        if (!node.schedulable_resource) node.schedulable_resource.emplace();
        for (const auto& [name, sizes] : node.devices.value_or(si::DeviceSizes{}))
            set_amount(node, name, sat_sum(sizes));
        for (const auto& [name, sizes] : devices) set_amount(node, name, sat_sum(sizes));
    }
    node.devices = devices;
}

} // namespace

std::string_view short_partition(std::string_view name) {
    if (!name.empty() && name.front() == '[') name.remove_prefix(std::min(name.size(), name.find(']') + 1));
    return name.empty() ? kDefault : name;
}

std::string_view partition_of(const si::NodeInfo& node) {
    return short_partition(named_partition(node));
}

void RefusedElements::sort() {
    std::sort(all_.begin(), all_.end());
}

bool RefusedElements::has(ElementList list, std::size_t element) const {
    return !all_.empty() &&
           std::binary_search(all_.begin(), all_.end(), std::pair{list, static_cast<std::uint32_t>(element)});
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

// --- what the RM sends ----------------------------------------------------------------------------------------------

void Books::sent(const si::NodeRequest& request, std::int64_t at, const RefusedElements& refused) {
    std::size_t existing = 0; // in the whole request
    for (std::size_t i = 0; i < request.nodes.size(); ++i) {
        const si::NodeInfo& node = request.nodes[i];
        const std::size_t first = std::exchange(existing, existing + node.existing_allocations.size());
        if (refused.has(ElementList::Nodes, i)) continue;
        if (node.action != si::NodeAction::Create && node.action != si::NodeAction::CreateDrain) {
            change_node(node, request.rm_id);
            continue;
        }
        create_node(node);
        for (std::size_t k = 0; k < node.existing_allocations.size(); ++k) {
            if (refused.has(ElementList::Allocations, first + k)) continue;
            si::Allocation allocation = node.existing_allocations[k];
            allocation.partition_name = partition_of(node);
            allocation.node_id = node.node_id;
            sent_allocation(allocation, at);
        }
    }
}

/// One that is there was sent again while the RM recovers.
void Books::create_node(const si::NodeInfo& node) {
    auto& nodes = partition_named(partition_of(node)).nodes;
    if (nodes.find(node.node_id) != nodes.end()) return;
    si::NodeInfo info = node;
    info.existing_allocations.clear();
    info.recovery.reset();
    const std::int64_t seq = add(RowKind::Node, wire::encoded(info));
    nodes[node.node_id] = {seq, std::move(info)};
}

void Books::change_node(const si::NodeInfo& node, std::string_view rm_id) {
    Partition* const partition = partition_with(node, rm_id);
    if (partition == nullptr) return;
    if (node.action == si::NodeAction::Decommission) return erase_node(*partition, node.node_id);
    Node& known = partition->nodes.find(node.node_id)->second;
    switch (node.action) {
    case si::NodeAction::Update:
        if (node.schedulable_resource) known.info.schedulable_resource = node.schedulable_resource;
        if (node.occupied_resource) known.info.occupied_resource = node.occupied_resource;
        if (node.devices) set_devices(known.info, *node.devices, node.schedulable_resource.has_value());
        if (node.attributes) set_attributes(known.info, *node.attributes);
        break;
    case si::NodeAction::Drain: known.info.action = si::NodeAction::CreateDrain; break;
    case si::NodeAction::Schedulable: known.info.action = si::NodeAction::Create; break;
    default: return;
    }
    write_body(known.seq, RowKind::Node, wire::encoded(known.info));
}

void Books::sent(const si::ApplicationRequest& request, std::int64_t at, const RefusedElements& refused) {
    for (std::size_t i = 0; i < request.add.size(); ++i) {
        if (refused.has(ElementList::Applications, i)) continue;
        const si::AddApplicationRequest& each = request.add[i];
        Application& application =
            partition_named(short_partition(each.partition_name)).applications[each.application_id];
        if (application.seq != 0) continue; // it was sent again while the RM recovers
        si::AddApplicationRequest body = each;
        if (!time_in(body.tags, kApplicationCreated)) set_time(body.tags, kApplicationCreated, at);
        application.seq = add(RowKind::Application, wire::encoded(body));
    }
    for (const si::RemoveApplicationRequest& each : request.remove)
        if (Partition* const partition = find_partition(each.partition_name, request.rm_id))
            erase_application(*partition, each.application_id);
}

void Books::sent(const si::AllocationRequest& request, std::int64_t at, const RefusedElements& refused) {
    for (std::size_t i = 0; i < request.allocations.size(); ++i)
        if (!refused.has(ElementList::Allocations, i)) sent_allocation(request.allocations[i], at);
    for (std::size_t i = 0; i < request.asks.size(); ++i)
        if (!refused.has(ElementList::Asks, i)) sent_ask(request.asks[i], at);
    for (const si::AllocationAskRelease& each : request.releases.allocation_asks_to_release)
        if (Partition* const partition = find_partition(each.partition_name, request.rm_id))
            sent_ask_release(*partition, each);
    for (const si::AllocationRelease& each : request.releases.allocations_to_release)
        if (Partition* const partition = find_partition(each.partition_name, request.rm_id))
            sent_release(*partition, each);
}

void Books::sent_ask(si::AllocationAsk ask, std::int64_t at) {
    Asks& asks = partition_named(short_partition(ask.partition_name)).applications[ask.application_id].asks;
    const auto known = asks.find(ask.allocation_key);
    const std::string node = std::exchange(ask.node_id, {});
    if (known != asks.end()) {
        Ask& row = known->second;
        ask.placeholder = row.placeholder;
        set_time(ask.tags, kCreated, row.created);
        write_body(row.seq, RowKind::Ask, wire::encoded(ask));
        if (row.placed || node.empty()) return;
        row.placed = true;
        return write_node(row.seq, RowKind::Ask, node);
    }
    const std::int64_t created = time_in(ask.tags, kCreated).value_or(at);
    set_time(ask.tags, kCreated, created);
    const std::int64_t seq = add(RowKind::Ask, wire::encoded(ask), node.empty() ? std::nullopt : std::optional{node});
    asks[ask.allocation_key] = {seq, created, !node.empty(), ask.placeholder};
}

void Books::sent_allocation(const si::Allocation& allocation, std::int64_t at) {
    allocation.application_id.empty() ? sent_foreign(allocation) : sent_ask(ask_of(allocation), at);
}

void Books::sent_foreign(si::Allocation allocation) {
    auto& all = partition_named(short_partition(allocation.partition_name)).foreign;
    const std::string node = std::exchange(allocation.node_id, {});
    const auto known = all.find(allocation.allocation_key);
    if (known == all.end()) {
        all[allocation.allocation_key] = {add(RowKind::Foreign, wire::encoded(allocation), node), node};
        return;
    }
    write_body(known->second.seq, RowKind::Foreign, wire::encoded(allocation));
    if (known->second.node == node) return;
    known->second.node = node;
    write_node(known->second.seq, RowKind::Foreign, node);
}

void Books::sent_ask_release(Partition& partition, const si::AllocationAskRelease& release) {
    if (release.termination_type == si::TerminationType::Timeout) return; // confirms what is gone (I-155)
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

void Books::sent_release(Partition& partition, const si::AllocationRelease& release) {
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
    // Only a placeholder is replaced, and only what was placed can run into a time-out (I-163, I-161).
    if (replaces && !ask->second.placeholder) return;
    if (!ask->second.placed && release.termination_type == si::TerminationType::Timeout) return;
    erase_ask(partition, release.application_id, release.allocation_key);
}

// --- what the RM is notified of -------------------------------------------------------------------------------------

void Books::note(const Outcome& outcome) {
    const std::string_view partition_name = short_partition(outcome.partition);
    const auto found = partitions_.find(partition_name);
    if (found == partitions_.end()) return;
    Partition& partition = found->second;
    switch (outcome.what) {
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
        // where the RM placed it itself, the devices that were chosen are news
        if (ask == nullptr || (ask->placed && !has_devices(outcome.place))) return;
        ask->placed = true;
        return write_node(ask->seq, RowKind::Ask, std::string{outcome.place});
    }
    case Outcome::What::Released: {
        const Ask* ask = find_ask(partition, outcome.id, outcome.key);
        if (ask != nullptr && !(outcome.pending && ask->placed)) erase_ask(partition, outcome.id, outcome.key);
        return;
    }
    case Outcome::What::Rejected: return reject_ask(partition, outcome.id, outcome.key);
    }
}

void Books::reject_ask(Partition& partition, std::string_view application, std::string_view key) {
    application.empty() ? erase_foreign(partition, key) : erase_ask(partition, application, key);
}

void Books::keep_partitions(const std::set<std::string>& names) {
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

Books::Partition* Books::find_partition(std::string_view name, std::string_view rm_id) {
    std::string_view known = name.empty() ? kDefault : name;
    if (known.front() == '[') { // the full name, and nothing is done to that of another RM (I-111)
        if (known.substr(1, rm_id.size()) != rm_id || known.substr(1 + rm_id.size(), 1) != "]") return nullptr;
        known.remove_prefix(rm_id.size() + 2);
    }
    const auto found = partitions_.find(known);
    return found == partitions_.end() ? nullptr : &found->second;
}

/// A change need not name the partition (I-175).
Books::Partition* Books::partition_with(const si::NodeInfo& node, std::string_view rm_id) {
    const auto has = [&](const Partition& partition) {
        return partition.nodes.find(node.node_id) != partition.nodes.end();
    };
    const std::string_view named = named_partition(node);
    Partition* const meant = find_partition(named, rm_id);
    if (meant != nullptr && has(*meant)) return meant;
    if (!named.empty()) return nullptr;
    for (auto& [name, partition] : partitions_)
        if (has(partition)) return &partition;
    return nullptr;
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
    if (owner->second.seq == 0 && owner->second.asks.empty()) partition.applications.erase(owner);
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
    if (application->second.seq != 0) erase(application->second.seq, RowKind::Application);
    partition.applications.erase(application);
}

/// Its allocations are announced as released one by one; only the foreign ones go with it.
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
