// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/rm_memory.h"

#include <algorithm>

#include "libcore/digest/recovery_digest.h"
#include "libcore/ports/view.h"

namespace yk::bench {

namespace {

constexpr const char* kPartition = "default";
constexpr std::size_t kTogether = 1000; // elements of one request, those on nodes included

std::string text_of(const Amounts& amounts) {
    return recovery::resources_text(ResourceMapView{amounts.begin(), amounts.end()});
}

} // namespace

RmMemory::RmMemory(const Workload& workload, std::string rm_id) : workload_(workload), rm_id_(std::move(rm_id)) {
    claim_.rm_id = rm_id_;
    claim_.id = "bench";
    claim_.expected = {workload.nodes.size(), workload.applications.size(), per_node() * workload.nodes.size(), 0};
    for (const NodeRow& each : workload.nodes)
        claim_.digest.nodes +=
            recovery::line_hash(recovery::node_line(kPartition, each.id, text_of(workload.sizes[each.size]), true));
    for (const ApplicationRow& each : workload.applications)
        claim_.digest.applications += recovery::line_hash(recovery::application_line(kPartition, each.id));
    for (std::size_t i = 0; i < claim_.expected.allocations; ++i) {
        const si::Allocation each = allocation(i);
        claim_.digest.allocations +=
            recovery::line_hash(recovery::allocation_line(kPartition, each.application_id, each.allocation_key,
                                                          each.node_id, text_of(*each.resource_per_alloc), false));
    }
}

si::RegisterResourceManagerRequest RmMemory::registration() const {
    si::RegisterResourceManagerRequest request;
    request.rm_id = rm_id_;
    request.version = "1";
    request.config = workload_.config;
    return request;
}

Result<void> RmMemory::replay(const Send& send) const {
    si::ApplicationRequest applications;
    applications.rm_id = rm_id_;
    for (const ApplicationRow& row : workload_.applications) {
        auto& add = applications.add.emplace_back();
        add.application_id = row.id;
        add.queue_name = row.queue;
        add.partition_name = kPartition;
        add.ugi.user = row.user;
    }
    YK_CHECKED(send(applications));
    const std::size_t together = std::max<std::size_t>(1, kTogether / (1 + per_node()));
    for (std::size_t from = 0; from < workload_.nodes.size(); from += together) {
        si::NodeRequest nodes;
        nodes.rm_id = rm_id_;
        for (std::size_t i = from; i < std::min(workload_.nodes.size(), from + together); ++i)
            nodes.nodes.push_back(node(i));
        YK_CHECKED(send(nodes));
    }
    return {};
}

si::AllocationRequest RmMemory::new_ask() const {
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    auto& ask = request.asks.emplace_back();
    ask.allocation_key = "new";
    ask.application_id = workload_.applications.front().id;
    ask.partition_name = kPartition;
    ask.resource_ask = workload_.sizes[workload_.asks.front().size];
    return request;
}

si::NodeInfo RmMemory::node(std::size_t index) const {
    si::NodeInfo node;
    node.node_id = workload_.nodes[index].id;
    node.action = si::NodeAction::Create;
    node.schedulable_resource = workload_.sizes[workload_.nodes[index].size];
    for (std::size_t i = index * per_node(); i < (index + 1) * per_node(); ++i)
        node.existing_allocations.push_back(allocation(i));
    return node;
}

si::Allocation RmMemory::allocation(std::size_t index) const {
    const AskRow& row = workload_.asks[index];
    si::Allocation allocation;
    allocation.allocation_key = Key{static_cast<std::uint32_t>(index)}.view();
    allocation.application_id = workload_.applications[row.application].id;
    allocation.partition_name = kPartition;
    allocation.node_id = workload_.nodes[index / per_node()].id;
    allocation.resource_per_alloc = workload_.sizes[row.size];
    return allocation;
}

} // namespace yk::bench
