// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/correction.h"

#include <algorithm>
#include <utility>

#include "protocol/books/books.h"
#include "protocol/books/replay.h"

namespace yk::rm {
namespace {

constexpr std::size_t kFewBuckets = 16; // that are listed one by one
constexpr std::size_t kBucketBytes = 8; // of the sum of one
constexpr const char* kWhy = "the resource manager does not have it";

std::size_t at(RecoveryKind kind) {
    return static_cast<std::size_t>(kind);
}

const std::optional<si::Binary>& of(const si::RecoveryBuckets& buckets, RecoveryKind kind) {
    switch (kind) {
    case RecoveryKind::Nodes: return buckets.nodes;
    case RecoveryKind::Applications: return buckets.applications;
    case RecoveryKind::Allocations: break;
    }
    return buckets.allocations;
}

/// The names of an object together; TAB stands in none of them.
std::string name_of(const std::string& partition, const std::string& id, const std::string& key) {
    return partition + "\t" + id + "\t" + key;
}

si::NodeInfo change_of(const std::string& partition, const std::string& node, si::NodeAction action) {
    si::NodeInfo info;
    info.node_id = node;
    info.action = action;
    info.attributes = si::StringMap{{si::kPartitionAttribute, partition}};
    return info;
}

/// Moves the elements of a list into requests of so many each.
template <class Request, class Element>
void split(const std::string& rm_id, std::vector<Element>& elements, std::vector<Element>& (*list_of)(Request&),
           std::vector<wire::EncodedRequest>& requests) {
    for (std::size_t from = 0; from < elements.size(); from += books::kElementsPerRequest) {
        Request request;
        request.rm_id = rm_id;
        const auto first = elements.begin() + static_cast<std::ptrdiff_t>(from);
        const auto last = elements.begin() +
                          static_cast<std::ptrdiff_t>(std::min(elements.size(), from + books::kElementsPerRequest));
        list_of(request).assign(std::make_move_iterator(first), std::make_move_iterator(last));
        requests.emplace_back(request);
    }
}

} // namespace

std::uint8_t bucket_of(RecoveryKind kind, const RecoveryItem& item) {
    switch (kind) {
    case RecoveryKind::Nodes: return recovery::bucket_of(item.partition, item.node);
    case RecoveryKind::Applications: return recovery::bucket_of(item.partition, item.application);
    case RecoveryKind::Allocations: break;
    }
    return recovery::bucket_of(item.partition, item.application, item.key);
}

Correction::Correction(std::string rm_id, const si::RecoveryReport* report, const RecoveryDigests& own)
    : rm_id_(std::move(rm_id)),
      lists_all_(report == nullptr),
      has_surplus_asks_(lists_all_),
      has_other_asks_(lists_all_) {
    if (report == nullptr) return;
    const auto& asks = report->counts.asks;
    has_surplus_asks_ = asks && asks->actual > asks->expected;
    has_other_asks_ = asks && asks->actual != asks->expected;
    for (const RecoveryKind kind : kRecoveryKinds) {
        const auto& theirs = report->buckets ? of(*report->buckets, kind) : std::nullopt;
        if (!theirs) continue;
        const std::string ours = own[at(kind)].bucket_bytes();
        const bool readable = theirs->bytes.size() == ours.size();
        for (std::size_t i = 0; i < differ_[at(kind)].size(); ++i)
            differ_[at(kind)][i] = !readable || theirs->bytes.compare(i * kBucketBytes, kBucketBytes, ours,
                                                                      i * kBucketBytes, kBucketBytes) != 0;
    }
}

std::vector<std::optional<std::uint32_t>> Correction::buckets(RecoveryKind kind) const {
    const auto& differ = differ_[at(kind)];
    if (lists_all_ || differ.count() > kFewBuckets) return {std::nullopt};
    std::vector<std::optional<std::uint32_t>> some;
    for (std::uint32_t i = 0; i < differ.size(); ++i)
        if (differ[i]) some.emplace_back(i);
    return some;
}

void Correction::add(RecoveryKind kind, const si::RecoveryListItem& item) {
    const std::string& id = kind == RecoveryKind::Nodes ? item.node_id : item.application_id;
    held_[at(kind)][name_of(item.partition_name, id, item.allocation_key)] = {item.partition_name, id,
                                                                              item.allocation_key, item.hash};
}

void Correction::add_quarantined(RecoveryKind kind, const si::RecoveryListItem& item) {
    const std::string& id = kind == RecoveryKind::Nodes ? item.node_id : item.application_id;
    set_aside_[at(kind)][name_of(item.partition_name, id, item.allocation_key)] = {item.partition_name, id,
                                                                                   item.allocation_key};
}

bool Correction::wants(RecoveryKind kind, const RecoveryItem& item) {
    const std::string& id = kind == RecoveryKind::Nodes ? item.node : item.application;
    const std::string name = name_of(item.partition, id, item.key);
    const bool is_aside = set_aside_[at(kind)].erase(name) != 0;
    if (is_aside) ++differences_.set_aside;
    auto held = held_[at(kind)].extract(name);
    const bool is_missing = held.empty() && (lists_all_ || differ_[at(kind)][bucket_of(kind, item)]);
    const bool is_changed = !held.empty() && held.mapped().hash != item.hash;
    if (kind == RecoveryKind::Applications && has_surplus_asks_ && !is_missing && !is_aside)
        release_asks_of(item.partition, id);
    if (is_missing && !is_aside) ++differences_.missing;
    if (is_changed && !is_aside) ++differences_.changed;
    if (kind == RecoveryKind::Nodes && (is_changed || is_aside)) changed_nodes_.insert(name);
    if (kind == RecoveryKind::Allocations && (is_changed || is_aside)) release({item.partition, id, item.key});
    return is_missing || is_changed || is_aside;
}

bool Correction::wants_asks() const {
    return has_other_asks_ || !releases_.releases.allocations_to_release.empty() ||
           !held_[at(RecoveryKind::Allocations)].empty() || !held_[at(RecoveryKind::Applications)].empty();
}

/// A node that is there otherwise is changed, before it is sent as one that it has: that takes it out of quarantine.
void Correction::take(const si::NodeRequest& request) {
    for (const si::NodeInfo& each : request.nodes) {
        const std::string partition{books::partition_of(each)};
        if (changed_nodes_.count(name_of(partition, each.node_id, {})) == 0) continue;
        si::NodeInfo update = each;
        update.action = si::NodeAction::Update;
        node_changes_.nodes.push_back(std::move(update));
        node_changes_.nodes.push_back(change_of(
            partition, each.node_id,
            each.action == si::NodeAction::CreateDrain ? si::NodeAction::Drain : si::NodeAction::Schedulable));
    }
    replayed_.emplace_back(request);
}

void Correction::release_asks_of(const std::string& partition, const std::string& application) {
    si::AllocationAskRelease release;
    release.partition_name = partition;
    release.application_id = application;
    release.termination_type = si::TerminationType::StoppedByRm;
    release.message = kWhy;
    releases_.releases.allocation_asks_to_release.push_back(std::move(release));
}

void Correction::release(const Object& object) {
    si::AllocationRelease release;
    release.partition_name = object.partition;
    release.application_id = object.id;
    release.allocation_key = object.key;
    release.termination_type = si::TerminationType::StoppedByRm;
    release.message = kWhy;
    releases_.releases.allocations_to_release.push_back(std::move(release));
}

/// Objects that are not in the books.
void Correction::remove_surplus(RecoveryKind kind) {
    Objects& objects = held_[at(kind)];
    objects.merge(set_aside_[at(kind)]);
    for (const auto& [name, object] : objects) {
        ++differences_.surplus;
        if (kind == RecoveryKind::Allocations) release(object);
        if (kind == RecoveryKind::Applications) removals_.remove.push_back({object.id, object.partition});
        if (kind == RecoveryKind::Nodes)
            node_removals_.nodes.push_back(change_of(object.partition, object.id, si::NodeAction::Decommission));
    }
}

std::vector<wire::EncodedRequest> Correction::requests() {
    for (const RecoveryKind kind : kRecoveryKinds) remove_surplus(kind);
    std::vector<wire::EncodedRequest> requests;
    using Releases = std::vector<si::AllocationRelease>;
    using AskReleases = std::vector<si::AllocationAskRelease>;
    split<si::AllocationRequest>(
        rm_id_, releases_.releases.allocations_to_release,
        +[](si::AllocationRequest& request) -> Releases& { return request.releases.allocations_to_release; }, requests);
    split<si::AllocationRequest>(
        rm_id_, releases_.releases.allocation_asks_to_release,
        +[](si::AllocationRequest& request) -> AskReleases& { return request.releases.allocation_asks_to_release; },
        requests);
    split<si::ApplicationRequest>(
        rm_id_, removals_.remove,
        +[](si::ApplicationRequest& request) -> std::vector<si::RemoveApplicationRequest>& { return request.remove; },
        requests);
    for (auto* nodes : {&node_removals_.nodes, &node_changes_.nodes})
        split<si::NodeRequest>(
            rm_id_, *nodes, +[](si::NodeRequest& request) -> std::vector<si::NodeInfo>& { return request.nodes; },
            requests);
    std::move(replayed_.begin(), replayed_.end(), std::back_inserter(requests));
    return requests;
}

} // namespace yk::rm
