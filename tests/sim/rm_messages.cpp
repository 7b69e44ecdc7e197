// SPDX-License-Identifier: Apache-2.0
// The messages of a simulated RM.

#include <algorithm>
#include <numeric>

#include "protocol/wire/codec.h"
#include "tests/sim/served_rm.h"

namespace yk::sim {
namespace {

using Place = AskEntry::Place;

si::Resources amounts(std::int64_t vcore, std::int64_t gpu = 0) {
    si::Resources all{{"vcore", vcore}};
    if (gpu != 0) all.emplace_back("gpu", gpu);
    return all;
}

} // namespace

std::string configuration_text(const Manners& manners) {
    const char* const guarantee = manners.preemption ? "resources: {guaranteed: {vcore: 6m}}, " : "";
    return fmt::format(R"(partitions:
- name: default
  queues:
  - name: root
    submitacl: "*"
    queues:
    - {{name: a, {}properties: {{preemption.delay: 1s}}}}
    - {{name: b, {}properties: {{preemption.delay: 1s}}}}
    - {{name: gangs, properties: {{application.sort.policy: fifo}}}}
)",
                       guarantee, guarantee);
}

si::NodeInfo ServedRm::message_of(const std::string& id, const NodeEntry& node) const {
    si::NodeInfo info;
    info.node_id = id;
    info.action = node.schedulable ? si::NodeAction::Create : si::NodeAction::CreateDrain;
    info.schedulable_resource =
        amounts(node.vcore, std::accumulate(node.devices.begin(), node.devices.end(), std::int64_t{0}));
    if (!node.devices.empty()) info.devices = {{"gpu", node.devices}};
    return info;
}

si::AddApplicationRequest ServedRm::message_of(const std::string& id, const AppEntry& app) const {
    si::AddApplicationRequest request;
    request.application_id = id;
    request.queue_name = app.queue;
    request.ugi = {"somebody", {"some"}};
    if (app.members == 0) return request;
    request.placeholder_ask = amounts(app.members * app.member_size, app.members * app.member_gpu);
    request.gang_scheduling_style = app.hard ? "Hard" : "Soft";
    request.execution_timeout_milli_seconds = 30'000;
    return request;
}

si::AllocationAsk ServedRm::message_of(const std::string& key, const AskEntry& ask) const {
    si::AllocationAsk request;
    request.allocation_key = key;
    request.application_id = ask.app;
    request.resource_ask = amounts(ask.vcore, ask.gpu);
    request.max_allocations = 1;
    request.priority = ask.priority;
    request.placeholder = ask.placeholder;
    request.task_group_name = ask.group;
    request.preemption_policy = si::PreemptionPolicy{true, true};
    return request;
}

si::Allocation ServedRm::allocation_of(const std::string& key, const AskEntry& ask) const {
    si::Allocation allocation;
    allocation.allocation_key = key;
    allocation.application_id = ask.app;
    allocation.resource_per_alloc = amounts(ask.vcore, ask.gpu);
    if (!ask.on.empty()) allocation.devices = {{"gpu", {0, 0, ask.on}}};
    allocation.priority = ask.priority;
    allocation.placeholder = ask.placeholder;
    allocation.task_group_name = ask.group;
    allocation.node_id = ask.node;
    allocation.preemption_policy = si::PreemptionPolicy{true, true};
    return allocation;
}

std::string ServedRm::body_of(const std::string& app, const std::string& key, si::TerminationType type) const {
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    si::AllocationRelease release;
    release.application_id = app;
    release.allocation_key = key;
    release.termination_type = type;
    request.releases.allocations_to_release.push_back(std::move(release));
    return wire::encoded(request);
}

/// What is booked on a node, as the RM says it in a recovery.
si::NodeRecovery ServedRm::booked_on(const std::string& id, const NodeEntry& node) const {
    std::uint32_t count = 0;
    std::int64_t gpu = std::accumulate(node.devices.begin(), node.devices.end(), std::int64_t{0});
    for (const std::int64_t each : books_.used_devices(id)) gpu -= each;
    for (const auto& [key, ask] : books_.asks)
        if ((ask.place == Place::Placed || ask.place == Place::Stopping) && ask.node == id) ++count;
    return {amounts(node.vcore - books_.used(id), gpu), count};
}

/// All that exists, in the order that is best or in any order.
std::vector<ServedRm::Message> ServedRm::replay_messages() {
    std::vector<Message> messages;
    for (const auto& [id, app] : books_.apps) {
        si::ApplicationRequest request;
        request.rm_id = rm_id_;
        request.add.push_back(message_of(id, app));
        messages.push_back({si::Kind::UpdateApplication, wire::encoded(request)});
    }
    const bool with_nodes = world_.chance(0.7); // allocations come with their nodes
    for (const auto& [id, node] : books_.nodes) {
        si::NodeRequest request;
        request.rm_id = rm_id_;
        request.nodes.push_back(message_of(id, node));
        si::NodeInfo& info = request.nodes.back();
        for (auto& [key, ask] : books_.asks) {
            if (ask.place == Place::Pending || ask.node != id) continue;
            ask.reported = true;
            if (with_nodes) info.existing_allocations.push_back(allocation_of(key, ask));
        }
        if (world_.chance(0.7)) info.recovery = booked_on(id, node);
        messages.push_back({si::Kind::UpdateNode, wire::encoded(request)});
    }
    for (const auto& [key, ask] : books_.asks) {
        si::AllocationRequest request;
        request.rm_id = rm_id_;
        if (ask.place == Place::Pending)
            request.asks.push_back(message_of(key, ask));
        else if (!with_nodes)
            request.allocations.push_back(allocation_of(key, ask));
        else
            continue;
        messages.push_back({si::Kind::UpdateAllocation, wire::encoded(request)});
    }
    if (world_.chance(0.5)) {
        world_.cover("recovery: replay in any order");
        for (std::size_t i = messages.size(); i > 1; --i) std::swap(messages[i - 1], messages[world_.choose(i)]);
    }
    return messages;
}

} // namespace yk::sim
