// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers behind the metrics of a partition, computed from the objects when they are read (I-516).
//
// Pure: reads the partition. Thread: its owner. Cost: the queues, applications and nodes.

#include "libcore/ports/metrics_view.h"
#include "libcore/ports/view.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// Adds a page, see pages.h: queues, then nodes, then ended applications, of which one that ends in between counts
/// twice among the states. join_kept() has to follow the last one.
void metrics_page(const PartitionState& state, ViewCursor& cursor, std::size_t& budget, PartitionMetrics& into);
/// Counts the ended applications that are kept with their queues. Thread: any.
void join_kept(PartitionMetrics& metrics);
/// The same as one page.
[[nodiscard]] PartitionMetrics partition_metrics(const PartitionState& state);

} // namespace yk
