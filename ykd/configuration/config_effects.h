// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a configuration would do to the partitions as they run (B-06): the differences of the texts, and what they mean
// for queues, applications, users and groups. Pure: it reads copies. Thread: any.

#include <string>
#include <vector>

#include "libcore/config/diff.h"
#include "libcore/ports/metrics_view.h"
#include "libcore/ports/view.h"
#include "protocol/wire/value.h"

namespace yk::service {

/// A copy of what a partition holds.
struct RunningPartition {
    std::string name; // short
    PartitionMetrics metrics;
    std::vector<ChargedApplicationView> applications; // filled in only when limits change
    std::vector<ReappliedView> reapplied;             // dynamic queues that change with a template (B-10)
};

/// [{kind, partition, path, old, new, text}]: what config::diff() finds, with queues that exist already distinguished
/// from new ones (`queue-managed`, `queue-active`), and what changes in dynamic queues (B-10). Then, with kinds of
/// their own: applications that count for another group (`other-group`); what is refused while the queue is in use
/// (`refused`); queues, users and groups over a new limit (`over-max`, `over-maxapplications`, `over-limit`);
/// applications that run on in draining queues (`draining-applications`); and what is removed together with a partition
/// (`partition-content`).
[[nodiscard]] wire::Value changes_value(const config::Configuration& before, const config::Configuration& now,
                                        const std::vector<RunningPartition>& running);

} // namespace yk::service
