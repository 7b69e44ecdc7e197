#pragma once
// The dump objects of interface.md 5.3, with the field names of the original's REST objects exactly (I-400, I-401).

#include <string>
#include <vector>

#include "libcore/config/config.h"
#include "libcore/scheduler/view.h"
#include "protocol/wire/value.h"

namespace yk::service {

using wire::Value;

/// What becomes of the asks and allocations of an application or node: `Later`, empty lists for the caller to fill;
/// `Left`, none, and the mark `brief`, as for those whose picture was made without.
enum class Lists { Shown, Later, Left };
[[nodiscard]] Value partition_value(const PartitionView& view);
/// A message may be nested 32 levels (I-316): deeper queues are named only, and asked for one by one.
inline constexpr int kMaxQueueNesting = 12;
/// PartitionQueueInfo; with its children as far as the view holds them. `nesting`: queues around it.
[[nodiscard]] Value queue_value(const QueueView& view, const std::string& partition, int nesting = 0,
                                Lists lists = Lists::Shown);
/// One placement rule with its parents (C-475).
[[nodiscard]] Value rule_value(const RuleView& view);
[[nodiscard]] Value application_value(const ApplicationView& view, const std::string& partition,
                                      const std::string& rm_id, Lists lists = Lists::Shown);
[[nodiscard]] Value ask_value(const AskView& ask);
[[nodiscard]] Value allocation_value(const AllocationView& allocation);
[[nodiscard]] Value node_value(const NodeView& view, Lists lists = Lists::Shown);
[[nodiscard]] Value reservation_value(const ReservationView& view, const std::string& partition,
                                      const std::string& rm_id);
/// C-476, with the partition.
[[nodiscard]] Value user_value(const UsageView& view, const std::string& partition, const std::string& rm_id);
[[nodiscard]] Value group_value(const UsageView& view, const std::string& partition, const std::string& rm_id);
/// Utilisation by resource type in ten buckets; `partition` and `rm_id` as given.
[[nodiscard]] Value utilization_value(const std::vector<NodeView>& nodes, const std::string& partition,
                                      const std::string& rm_id);
/// The configuration in its own shape (I-440, C-473).
[[nodiscard]] Value configuration_value(const config::Configuration& configuration);

[[nodiscard]] Value resource_value(const ResourceMapView& resource);

} // namespace yk::service
