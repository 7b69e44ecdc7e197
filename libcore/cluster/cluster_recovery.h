// SPDX-License-Identifier: Apache-2.0
#pragma once
// ClusterRecovery: the recovery of an RM over all its partitions (docs/spec/interface.md, section 3). While it is open,
// requests are carried out by Restoration (libcore/partition). Whether the RM may be Running is decided by whoever
// compares view() with what the RM counts; cycles and timers are held back by that one, too.
//
// Owner: ClusterContext. Thread: the owner thread of the RM.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/ports/recovery.h"

namespace yk {

class PartitionContext;

class ClusterRecovery {
public:
    using Partitions = std::map<std::string, std::unique_ptr<PartitionContext>, std::less<>>;

    explicit ClusterRecovery(const Partitions& partitions) : partitions_(partitions) {}
    ClusterRecovery(const ClusterRecovery&) = delete;
    ClusterRecovery& operator=(const ClusterRecovery&) = delete;

    [[nodiscard]] bool is_open() const { return open_; }
    /// `force_applications`: the recovery queue takes applications that no other queue takes (I-223).
    void begin(bool force_applications);
    /// What is in quarantine stays set aside, and goes on occupying its nodes.
    void end(Instant now);
    /// Forgets releases of what never arrived: the RM was notified of how many they were (I-226).
    void forget_tombstones();
    /// A partition was made while the recovery may be open.
    void add(PartitionContext& partition) const;

    /// What there is, for comparison with what the RM counts. Cost: all objects.
    [[nodiscard]] RecoveryView view() const;
    [[nodiscard]] RecoveryProgress progress() const;
    /// The first `most` objects of a kind after `after`, sorted; `bucket`: of this one only. Cost: all of the kind.
    [[nodiscard]] std::vector<RecoveryItem> items(RecoveryKind kind, std::optional<std::uint8_t> bucket,
                                                  const std::optional<RecoveryItem>& after, std::size_t most) const;

private:
    const Partitions& partitions_;
    bool open_ = false;
    bool force_applications_ = false;
};

} // namespace yk
