// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/reference_cluster.h"

#include <algorithm>
#include <deque>
#include <set>

#include "libcore/config/names.h"

namespace yk::reference {

namespace {

bool is_create(const NodeSpec& spec) {
    return spec.action == NodeAction::Create || spec.action == NodeAction::CreateDrain;
}

} // namespace

std::string Cluster::short_name(std::string_view partition) const {
    const std::string prefix = "[" + rm_id_ + "]";
    if (partition.substr(0, prefix.size()) == prefix) partition.remove_prefix(prefix.size());
    return partition.empty() ? "default" : std::string(partition);
}

std::string Cluster::full_name(std::string_view partition) const {
    return "[" + rm_id_ + "]" + short_name(partition);
}

Partition* Cluster::find(std::string_view partition) const {
    const auto found = partitions_.find(short_name(partition));
    return found == partitions_.end() ? nullptr : found->second.get();
}

/// C-030: case tells no partitions of configurations apart.
std::string Cluster::running_name(const std::string& written) const {
    for (const auto& [name, partition] : partitions_)
        if (config::lower(name) == config::lower(written)) return name;
    return written;
}

// --- configuration --------------------------------------------------------------------------------------------------

Result<void> Cluster::configure(const config::Configuration& config, Instant now) {
    std::set<std::string> named;
    for (const config::Partition& partition : config.partitions) {
        named.insert(running_name(partition.name));
        const Partition* known = find(running_name(partition.name));
        if (known != nullptr && !known->accepts(partition)) return Error::of("leaf or parent");
    }
    for (const config::Partition& partition : config.partitions) {
        const std::string name = running_name(partition.name);
        auto& slot = partitions_[name];
        if (slot == nullptr) slot = std::make_unique<Partition>(full_name(name), ports_, now);
        slot->configure(partition, now);
    }
    for (auto it = partitions_.begin(); it != partitions_.end();) {
        if (named.count(it->first) != 0) {
            ++it;
            continue;
        }
        it->second->dissolve(now);
        it = partitions_.erase(it);
    }
    return {};
}

// --- requests (S-441) -----------------------------------------------------------------------------------------------

void Cluster::ask_list(const std::vector<AskSpec>& asks, bool placements, Instant now) {
    std::deque<std::string> texts;
    std::vector<RejectedAsk> rejected;
    for (const AskSpec& spec : asks) {
        Partition* partition = find(spec.partition);
        const auto refusal =
            partition == nullptr ? Refusal{ElementCode::PartitionUnknown, "partition"} : partition->ask(spec, now);
        if (!refusal) continue;
        texts.push_back(full_name(spec.partition));
        rejected.push_back({texts.back(), spec.application, spec.key, {}, refusal->code});
    }
    if (!rejected.empty()) ports_.callbacks.asks_rejected(rejected, placements);
}

void Cluster::apply(const AllocationRequest& request, Instant now) {
    ask_list(request.allocations, true, now);
    ask_list(request.asks, false, now);
    for (const ReleaseSpec& spec : request.ask_releases)
        if (Partition* partition = find(spec.partition)) partition->release_ask(spec, now);
    for (const ReleaseSpec& spec : request.releases)
        if (Partition* partition = find(spec.partition)) partition->release(spec, now);
}

void Cluster::apply(const ApplicationRequest& request, Instant now) {
    std::deque<std::string> texts;
    const auto keep = [&texts](std::string text) -> std::string_view { return texts.emplace_back(std::move(text)); };
    std::vector<AcceptedApplication> accepted;
    std::vector<RejectedApplication> rejected;
    for (const ApplicationSpec& spec : request.add) {
        Partition* partition = find(spec.partition);
        const std::string_view name = keep(full_name(spec.partition));
        const auto refusal = partition == nullptr ? Refusal{ElementCode::PartitionUnknown, "partition"}
                                                  : partition->add_application(spec, now);
        if (refusal)
            rejected.push_back({name, spec.id, {}, refusal->code});
        else
            accepted.push_back({name, spec.id, keep(partition->queue_of(std::string(spec.id)))});
    }
    if (!request.add.empty()) ports_.callbacks.applications_answered(accepted, rejected);
    for (const RemoveApplicationSpec& spec : request.remove)
        if (Partition* partition = find(spec.partition)) partition->remove_application(std::string(spec.id), now);
}

std::string Cluster::partition_of(const NodeSpec& spec) const {
    if (spec.attributes)
        for (const Tag& tag : *spec.attributes)
            if (tag.key == "si/node-partition") return std::string(tag.value);
    const auto standard = partitions_.find("default");
    const bool is_there = standard != partitions_.end() && standard->second->knows_node(std::string(spec.id));
    if (!is_create(spec) && !is_there) // without the attribute: where the node is
        for (const auto& [name, partition] : partitions_)
            if (partition->knows_node(std::string(spec.id))) return name;
    return "default";
}

void Cluster::apply(const NodeRequest& request, Instant now) {
    std::deque<std::string> texts;
    std::vector<AcceptedNode> accepted;
    std::vector<RefusedNode> rejected, failed;
    std::vector<const NodeSpec*> created;
    for (const NodeSpec& spec : request.nodes) {
        const std::string name = partition_of(spec);
        texts.push_back(full_name(name));
        Partition* partition = find(name);
        std::optional<Refusal> refusal;
        if (partition == nullptr)
            refusal = Refusal{ElementCode::PartitionUnknown, "partition"};
        else if (is_create(spec))
            refusal = partition->create_node(spec, now);
        else
            refusal = partition->change_node(spec, now);
        if (refusal && refusal->code == ElementCode::NodeUnknown && spec.action == NodeAction::Update)
            for (const auto& [other, each] : partitions_) // I-175: it stays where it is
                if (each->knows_node(std::string(spec.id))) refusal->code = ElementCode::PartitionChange;
        if (!is_create(spec)) {
            if (refusal) failed.push_back({texts.back(), spec.id, {}, refusal->code, spec.action});
        } else if (refusal) {
            rejected.push_back({texts.back(), spec.id, {}, refusal->code, spec.action});
        } else {
            accepted.push_back({texts.back(), spec.id});
            created.push_back(&spec);
        }
    }
    if (!accepted.empty() || !rejected.empty() || !failed.empty())
        ports_.callbacks.nodes_answered(accepted, rejected, failed);
    for (const NodeSpec* spec : created) find(partition_of(*spec))->echo_existing(*spec);
}

// --- time and cycles ------------------------------------------------------------------------------------------------

std::optional<Instant> Cluster::next_timer() const {
    std::optional<Instant> next;
    for (const auto& [name, partition] : partitions_)
        if (!next || partition->next_timer() < *next) next = partition->next_timer();
    return next;
}

void Cluster::fire_timers(Instant now) {
    for (const auto& [name, partition] : partitions_) partition->fire_timers(now);
}

CycleOutcome Cluster::cycle(Instant now) {
    CycleOutcome outcome;
    for (const auto& [name, partition] : partitions_)
        if (partition->cycle(now)) ++outcome.allocations;
    return outcome;
}

// --- pictures -------------------------------------------------------------------------------------------------------

std::vector<std::string> Cluster::partition_names() const {
    std::vector<std::string> names;
    for (const auto& [name, partition] : partitions_) names.push_back(name);
    return names;
}

std::optional<PartitionView> Cluster::partition_view(std::string_view partition) const {
    return find(partition)->view();
}

std::optional<QueueView> Cluster::queue_view(std::string_view partition, std::string_view path, bool) const {
    return find(partition)->queue_view(std::string(path));
}

std::vector<ApplicationView> Cluster::application_views(std::string_view partition, ApplicationList list, bool) const {
    return find(partition)->application_views(list);
}

std::vector<NodeView> Cluster::node_views(std::string_view partition, bool) const {
    return find(partition)->node_views();
}

std::vector<ReservationView> Cluster::reservation_views(std::string_view partition) const {
    return find(partition)->reservation_views();
}

std::vector<UsageView> Cluster::user_views(std::string_view partition) const {
    return find(partition)->usage_views(true);
}

std::vector<UsageView> Cluster::group_views(std::string_view partition) const {
    return find(partition)->usage_views(false);
}

} // namespace yk::reference
