// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/existing.h"

#include <algorithm>

#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kDefaultPartition = "default";

Answer<Existing> of_this_rm(Context& context, std::vector<Value> found, const char* id) {
    YK_TRY(rm, context.rm());
    Existing existing;
    for (Value& one : found) {
        if (text_of(one, "clusterId") != rm.id) continue;
        PartitionKey key{plain_partition(text_of(one, "partition")), text_of(one, id)};
        existing.emplace(std::move(key), std::move(one));
    }
    return existing;
}

} // namespace

std::string plain_partition(const std::string& partition) {
    if (partition.empty()) return kDefaultPartition;
    const auto end = partition.front() == '[' ? partition.find(']') : std::string::npos;
    return end == std::string::npos ? partition : partition.substr(end + 1);
}

PartitionKey node_key(const Value& node) {
    return {plain_partition(text_of(member_of(node, "attributes"), si::kPartitionAttribute)), text_of(node, "nodeID")};
}

PartitionKey node_key(const si::NodeInfo& node) {
    std::string partition;
    for (const auto& [key, value] : node.attributes.value_or(si::StringMap{}))
        if (key == si::kPartitionAttribute) partition = value;
    return {plain_partition(partition), node.node_id};
}

PartitionKey application_key(const Value& application) {
    return {plain_partition(text_of(application, "partitionName")), text_of(application, "applicationID")};
}

PartitionKey application_key(const si::AddApplicationRequest& application) {
    return {plain_partition(application.partition_name), application.application_id};
}

Answer<Existing> nodes_with_ids(Context& context, const std::vector<std::string>& ids) {
    YK_TRY(found, named_nodes(context, ids));
    return of_this_rm(context, std::move(found), "nodeID");
}

Answer<Existing> applications_with_ids(Context& context, const std::vector<std::string>& ids) {
    YK_TRY(found, named_applications(context, ids));
    std::erase_if(found, [](const Value& one) { return has_ended(text_of(one, "applicationState")); });
    return of_this_rm(context, std::move(found), "applicationID");
}

} // namespace yk::cli
