// SPDX-License-Identifier: Apache-2.0
#include "libcore/cluster/cluster_recovery.h"

#include <algorithm>
#include <array>
#include <limits>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/health.h"
#include "libcore/reports/recovery.h"

namespace yk {

namespace {

/// The health checks that a recovery must pass: all but the one that only informs (I-236), by their position in
/// health_checks().
constexpr std::array<std::size_t, 8> kDeciding{0, 1, 2, 3, 5, 6, 7, 8};

} // namespace

void ClusterRecovery::begin(bool force_applications) {
    open_ = true;
    force_applications_ = force_applications;
    for (const auto& [name, partition] : partitions_) add(*partition);
}

void ClusterRecovery::add(PartitionContext& partition) const {
    if (open_) partition.restoration().begin(force_applications_);
}

void ClusterRecovery::end(Instant now) {
    open_ = false;
    for (const auto& [name, partition] : partitions_) partition->restoration().end(now);
}

void ClusterRecovery::forget_tombstones() {
    for (const auto& [name, partition] : partitions_) partition->restoration().forget_tombstones();
}

RecoveryView ClusterRecovery::view() const {
    RecoveryView view;
    std::vector<HealthCheckView> checks = health_checks();
    for (const auto& [name, partition] : partitions_) {
        add_recovery(partition->state(), view);
        HealthCursor cursor;
        cursor.partition = name;
        std::size_t budget = std::numeric_limits<std::size_t>::max();
        static_cast<void>(health_page(partition->state(), cursor, budget, checks));
    }
    for (const std::size_t check : kDeciding)
        if (!checks.at(check).succeeded) view.faults.push_back(checks[check].name + ": " + checks[check].diagnosis);
    return view;
}

RecoveryProgress ClusterRecovery::progress() const {
    RecoveryProgress progress;
    for (const auto& [name, partition] : partitions_) add_progress(partition->state(), progress);
    return progress;
}

std::vector<RecoveryItem> ClusterRecovery::items(RecoveryKind kind, std::optional<std::uint8_t> bucket,
                                                 const std::optional<RecoveryItem>& after, std::size_t most) const {
    std::vector<RecoveryItem> items;
    for (const auto& [name, partition] : partitions_)
        if (items.size() < most && (!after || after->partition <= name)) // they are in the order of their names
            add_recovery_items(partition->state(), kind, bucket, after, most, items);
    return items;
}

} // namespace yk
