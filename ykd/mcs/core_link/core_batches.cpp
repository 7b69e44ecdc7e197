// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/core_link/core_batches.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "libcore/mcs/replicas/node_changes.h"

namespace yk::service {
namespace {

constexpr std::size_t kMostElements = 1000, kMostBytes = std::size_t{512} << 10; // of a message; one element may exceed
constexpr std::size_t kPerText = 16, kPerElement = 128;                          // bytes around them, about

template <class... Case>
struct Cases : Case... {
    using Case::operator()...;
};
template <class... Case>
Cases(Case...) -> Cases<Case...>;

// --- sizes -----------------------------------------------------------------------------------------------------------

struct Size {
    std::size_t elements = 1;
    std::size_t bytes = kPerElement;
};

std::size_t bytes_of(const mcs::Texts& texts) {
    std::size_t bytes = 0;
    for (const auto& [key, value] : texts) bytes += key.size() + value.size() + kPerText;
    return bytes;
}

std::size_t bytes_of(const mcs::Amounts& amounts) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : amounts) bytes += name.size() + kPerText;
    return bytes;
}

Size size_of(const mcs::AddApplication& added) {
    Size size;
    size.bytes += added.application_id.size() + added.partition.size() + added.queue.size() + added.user.size();
    for (const std::string& group : added.groups) size.bytes += group.size() + kPerText;
    size.bytes += bytes_of(added.tags);
    return size;
}

Size size_of(const mcs::AskReplica& ask) {
    return {1, kPerElement + ask.application_id.size() + ask.allocation_key.size() + ask.partition.size() +
                   bytes_of(ask.resource)};
}

Size size_of(const mcs::ChangeNode& change) {
    Size size;
    size.bytes += change.node_id.size() + change.partition.size();
    if (change.content)
        size.bytes += bytes_of(change.content->attributes) + bytes_of(change.content->capacity) +
                      bytes_of(change.content->occupied);
    for (const mcs::AskReplica& placed : change.placed) {
        const Size of_one = size_of(placed);
        size.elements += of_one.elements;
        size.bytes += of_one.bytes;
    }
    return size;
}

Size size_of(const mcs::CoreRequest& request) {
    return std::visit(
        Cases{[](const mcs::AddApplication& each) { return size_of(each); },
              [](const mcs::AskReplica& each) { return size_of(each); },
              [](const mcs::ChangeNode& each) { return size_of(each); },
              [](const mcs::RemoveApplication& each) {
                  return Size{1, kPerElement + each.application_id.size()};
              },
              [](const mcs::ReleaseReplica& each) { // in both lists
                  return Size{2, 2 * (kPerElement + each.application_id.size() + each.allocation_key.size())};
              },
              [](const mcs::EndRecovery&) {
                  return Size{kMostElements, kMostBytes};
              }}, // alone
        request);
}

// --- messages --------------------------------------------------------------------------------------------------------

template <class List>
auto pairs_of(const List& map) {
    using Value = typename List::mapped_type;
    return std::vector<std::pair<std::string, Value>>{map.begin(), map.end()};
}

si::AllocationAsk ask_of(const mcs::AskReplica& from) {
    si::AllocationAsk ask;
    ask.allocation_key = from.allocation_key;
    ask.application_id = from.application_id;
    ask.partition_name = from.partition;
    ask.resource_ask = pairs_of(from.resource);
    ask.priority = from.priority;
    return ask;
}

si::Allocation placed_of(const mcs::AskReplica& from, const std::string& node) {
    si::Allocation placed;
    placed.allocation_key = from.allocation_key;
    placed.application_id = from.application_id;
    placed.partition_name = from.partition;
    placed.resource_per_alloc = pairs_of(from.resource);
    placed.priority = from.priority;
    placed.node_id = node;
    return placed;
}

si::AddApplicationRequest application_of(const mcs::AddApplication& from) {
    si::AddApplicationRequest added;
    added.application_id = from.application_id;
    added.queue_name = from.queue;
    added.partition_name = from.partition;
    added.ugi = {from.user, from.groups};
    added.tags = pairs_of(from.tags);
    return added;
}

si::NodeAction action_of(mcs::NodeAction action) {
    switch (action) {
    case mcs::NodeAction::Create: return si::NodeAction::Create;
    case mcs::NodeAction::CreateDrain: return si::NodeAction::CreateDrain;
    case mcs::NodeAction::Update: return si::NodeAction::Update;
    case mcs::NodeAction::Drain: return si::NodeAction::Drain;
    case mcs::NodeAction::Schedulable: return si::NodeAction::Schedulable;
    case mcs::NodeAction::Decommission: return si::NodeAction::Decommission;
    }
    return si::NodeAction::Unset;
}

bool is_create(const mcs::ChangeNode& change) {
    return change.action == mcs::NodeAction::Create || change.action == mcs::NodeAction::CreateDrain;
}

/// The core finds the partition of a node by its attributes.
si::NodeInfo node_of(const mcs::ChangeNode& from) {
    si::NodeInfo node;
    node.node_id = from.node_id;
    node.action = action_of(from.action);
    mcs::Texts attributes = from.content ? from.content->attributes : mcs::Texts{};
    attributes.insert_or_assign(std::string{mcs::kPartitionAttribute}, from.partition);
    node.attributes = pairs_of(attributes);
    if (from.content) {
        node.schedulable_resource = pairs_of(from.content->capacity);
        node.occupied_resource = pairs_of(from.content->occupied);
    }
    for (const mcs::AskReplica& placed : from.placed)
        node.existing_allocations.push_back(placed_of(placed, from.node_id));
    return node;
}

void add(si::ApplicationRequest& to, const mcs::AddApplication& from, bool /*recovers*/) {
    to.add.push_back(application_of(from));
}
void add(si::ApplicationRequest& to, const mcs::RemoveApplication& from, bool /*recovers*/) {
    to.remove.push_back({from.application_id, from.partition});
}
void add(si::AllocationRequest& to, const mcs::AskReplica& from, bool /*recovers*/) {
    to.asks.push_back(ask_of(from));
}
/// A release that finds a pending ask has no answer of its own. The same release once more, behind it, finds nothing
/// then, which is reported (reportIgnored). In a recovery what is not there may still come, so the core remembers
/// releases that find nothing, and reports none; one is enough then.
void add(si::AllocationRequest& to, const mcs::ReleaseReplica& from, bool recovers) {
    constexpr auto kType = si::TerminationType::StoppedByRm;
    auto& [allocations, asks] = to.releases;
    if (!recovers) asks.push_back({from.partition, from.application_id, from.allocation_key, kType, {}});
    allocations.push_back({from.partition, from.application_id, from.allocation_key, kType, {}});
}
void add(si::NodeRequest& to, const mcs::ChangeNode& from, bool /*recovers*/) {
    to.nodes.push_back(node_of(from));
}

template <class Message, class Request>
wire::EncodedRequest filled(const CoreBatch& batch, const CoreSender& sender) {
    Message message;
    message.rm_id = sender.rm_id;
    for (const mcs::CoreRequest& each : batch) add(message, std::get<Request>(each), sender.recovers);
    return message;
}

si::RecoveryDoneRequest claim_of(const mcs::EndRecovery& from, const CoreSender& sender) {
    si::RecoveryDoneRequest claim;
    claim.rm_id = sender.rm_id;
    claim.id = sender.recovery_id;
    claim.attempt = from.attempt;
    claim.expected = {from.nodes.count, from.applications.count, from.allocations.count};
    claim.digest = {from.nodes.digest, from.applications.digest, from.allocations.digest};
    return claim;
}

} // namespace

CoreBatch take_batch(mcs::CoreRequests& requests) {
    CoreBatch batch;
    Size size{0, 0};
    const std::size_t kind = requests.front().index();
    while (!requests.is_empty() && requests.front().index() == kind) {
        const Size next = size_of(requests.front());
        size.elements += next.elements;
        size.bytes += next.bytes;
        if (!batch.empty() && (size.elements > kMostElements || size.bytes > kMostBytes)) break;
        batch.push_back(requests.take());
    }
    return batch;
}

wire::EncodedRequest message_of(const CoreBatch& batch, const CoreSender& sender) {
    using si::AllocationRequest, si::ApplicationRequest, si::NodeRequest;
    const auto make = Cases{
        [&](const mcs::AddApplication&) { return filled<ApplicationRequest, mcs::AddApplication>(batch, sender); },
        [&](const mcs::RemoveApplication&) {
            return filled<ApplicationRequest, mcs::RemoveApplication>(batch, sender);
        },
        [&](const mcs::AskReplica&) { return filled<AllocationRequest, mcs::AskReplica>(batch, sender); },
        [&](const mcs::ReleaseReplica&) { return filled<AllocationRequest, mcs::ReleaseReplica>(batch, sender); },
        [&](const mcs::ChangeNode&) { return filled<NodeRequest, mcs::ChangeNode>(batch, sender); },
        [&](const mcs::EndRecovery& end) { return wire::EncodedRequest{claim_of(end, sender)}; }};
    return std::visit(make, batch.front());
}

std::vector<mcs::CoreNotice> refusals_of(const CoreBatch& batch, const std::string& reason) {
    std::vector<mcs::CoreNotice> notices;
    const auto add =
        Cases{[&](const mcs::AddApplication& each) {
                  notices.emplace_back(mcs::ApplicationRejected{each.application_id, reason});
              },
              [&](const mcs::AskReplica& each) {
                  notices.emplace_back(mcs::ReplicaRejected{each.application_id, each.allocation_key, reason});
              },
              [&](const mcs::ChangeNode& each) {
                  notices.emplace_back(mcs::NodeRefused{each.node_id, reason, is_create(each)});
              },
              [&](const mcs::EndRecovery&) {
                  notices.emplace_back(mcs::RecoveryAnswered{mcs::RecoveryAnswered::Result::Failed, reason, {}});
              },
              [](const mcs::RemoveApplication&) {},
              [](const mcs::ReleaseReplica&) {}};
    for (const mcs::CoreRequest& each : batch) std::visit(add, each);
    return notices;
}

} // namespace yk::service
