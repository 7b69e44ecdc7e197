// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dump objects of interface.md 5.3 as values, with exactly the field names of the original's REST objects (I-400,
// I-401). Pure. Thread: any.

#include <string>
#include <vector>

#include "libcore/config/config.h"
#include "libcore/ports/view.h"
#include "protocol/wire/value.h"

namespace yk::service {

using wire::Value;

/// Where the asks and allocations of an application or node are.
enum class Lists {
    Shown, // in the value
    Later, // the value has empty lists, which the caller fills
    Left   // left out, with the mark `brief`, as for a view that was made without them
};
[[nodiscard]] Value partition_value(const PartitionView& view);
/// A message may be nested 32 levels (I-316): of deeper queues only the names are shown; they are asked for one by one.
inline constexpr int kMaxQueueNesting = 12;
/// PartitionQueueInfo, with its children as far as the view holds them. `nesting`: how many queues are around it.
[[nodiscard]] Value queue_value(const QueueView& view, const std::string& partition, int nesting = 0,
                                Lists lists = Lists::Shown);
/// One placement rule with its parents (C-475).
[[nodiscard]] Value rule_value(const RuleView& view);
[[nodiscard]] Value application_value(const ApplicationView& view, const std::string& partition,
                                      const std::string& rm_id, Lists lists = Lists::Shown);
[[nodiscard]] Value ask_value(const AskView& ask);
[[nodiscard]] Value allocation_value(const AllocationView& allocation);
[[nodiscard]] Value node_value(const NodeView& view, const std::string& partition, const std::string& rm_id,
                               Lists lists = Lists::Shown);
[[nodiscard]] Value reservation_value(const ReservationView& view, const std::string& partition,
                                      const std::string& rm_id);
/// The usage of a user or group (C-476), with the partition.
[[nodiscard]] Value user_value(const UsageView& view, const std::string& partition, const std::string& rm_id);
[[nodiscard]] Value group_value(const UsageView& view, const std::string& partition, const std::string& rm_id);
/// How many nodes are how far utilised, by resource type, in ten buckets.
[[nodiscard]] Value utilization_value(const std::vector<NodeView>& nodes, const std::string& partition,
                                      const std::string& rm_id);
/// The configuration in its own shape (I-440, C-473).
[[nodiscard]] Value configuration_value(const config::Configuration& configuration);

[[nodiscard]] Value resource_value(const ResourceMapView& resource);

} // namespace yk::service
