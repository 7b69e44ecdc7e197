// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which objects of an update are there already: for --if-not-exists, apply, diff and delete.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/si/messages.h"
#include "ykctl/client/context.h"
#include "ykctl/client/updates.h"

namespace yk::cli {

/// Partition and id of a node or an application of the RM for which the command acts.
using PartitionKey = std::pair<std::string, std::string>;
using Existing = std::map<PartitionKey, wire::Value>;

/// The name of a partition without the RM in front of it: `default` for `[rm]default`, and for none.
[[nodiscard]] std::string plain_partition(const std::string& partition);
/// The partition that a message says.
[[nodiscard]] PartitionKey node_key(const wire::Value& node);
[[nodiscard]] PartitionKey node_key(const si::NodeInfo& node);
[[nodiscard]] PartitionKey application_key(const wire::Value& application);
[[nodiscard]] PartitionKey application_key(const si::AddApplicationRequest& application);

/// Those of the nodes, or of the live applications, with these ids that there are, without their lists. Costs a request
/// for a thousand ids.
[[nodiscard]] Answer<Existing> nodes_with_ids(Context& context, const std::vector<std::string>& ids);
[[nodiscard]] Answer<Existing> applications_with_ids(Context& context, const std::vector<std::string>& ids);
/// The same for those that messages are about.
template <class List>
[[nodiscard]] Answer<Existing> existing_nodes(Context& context, const List& nodes) {
    std::vector<std::string> ids;
    ids.reserve(nodes.size());
    for (const auto& node : nodes) ids.push_back(node_key(node).second);
    return nodes_with_ids(context, ids);
}
template <class List>
[[nodiscard]] Answer<Existing> existing_applications(Context& context, const List& applications) {
    std::vector<std::string> ids;
    ids.reserve(applications.size());
    for (const auto& application : applications) ids.push_back(application_key(application).second);
    return applications_with_ids(context, ids);
}

/// What became of an element that was there already.
inline constexpr const char* kUnchanged = "unchanged";

/// Takes those messages out of a batch whose `key_of` is in `there`, and reports them as unchanged.
template <class List, class There, class KeyOf>
void leave_existing(List& batch, const There& there, const std::string& noun, KeyOf&& key_of, Report& report) {
    List left{};
    for (auto& message : batch) {
        const auto key = key_of(message);
        if (there.contains(key))
            report.add({noun + " " + key.second, key.second, kUnchanged, {}, {}, {}});
        else
            left.push_back(std::move(message));
    }
    batch = std::move(left);
}

} // namespace yk::cli
