#pragma once
// What a configuration would do to the partitions as they are (B-06): the differences of the texts, and what they mean
// for what runs.

#include <string>
#include <vector>

#include "libcore/config/diff.h"
#include "libcore/scheduler/metrics_view.h"
#include "libcore/scheduler/view.h"
#include "protocol/wire/value.h"

namespace yk::service {

/// A partition as it is.
struct RunningPartition {
    std::string name; // short
    PartitionMetrics metrics;
    std::vector<CountedApplicationView> applications; // when limits change
    std::vector<ReappliedView> reapplied;             // dynamic queues that change with a template (B-10)
};

/// [{kind, partition, path, old, new, text}]: config::diff(), queues that are there already told apart from new ones
/// (`queue-managed`, `queue-active`), and what changes in dynamic queues (B-10). Then, with kinds of their own,
/// applications that count for another group
/// (`other-group`), what is refused while the queue is in use (`refused`), queues, users and groups over a new limit
/// (`over-max`, `over-maxapplications`, `over-limit`), and what goes on in queues that drain and ends with partitions
/// that go (`draining-applications`, `partition-content`).
[[nodiscard]] wire::Value changes_value(const config::Configuration& before, const config::Configuration& now,
                                        const std::vector<RunningPartition>& running);

} // namespace yk::service
