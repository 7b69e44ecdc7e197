// SPDX-License-Identifier: Apache-2.0
#pragma once
// DumpMaker: makes snapshots of partitions, and of them the full dump. The owner threads make the snapshots chunk by
// chunk; what follows runs on a worker.

#include <functional>
#include <optional>
#include <vector>

#include "ykd/dump/dump_kinds.h"
#include "ykd/dump/dump_plain.h"
#include "ykd/dump/dump_snapshots.h"
#include "ykd/dump/dump_targets.h"
#include "ykd/runtime/scheduler_clock.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

/// Owner: Daemon. Thread: any.
class DumpMaker {
public:
    struct Parts {
        const RmTable& rms;
        const SchedulerClock& clock;
        const PlainDumps& plain;
        DumpSnapshots& snapshots;
        Workers& workers;
        std::size_t max_message; // bytes of the largest message to anybody
    };
    explicit DumpMaker(const Parts& parts) : parts_(parts) {}

    using Collect = decltype(DumpKind::collect);

    /// Calls `done` with the snapshot of the targets on a worker. Returns at once.
    void make_snapshot(const DumpQuery& query, Collect collect, std::vector<DumpTarget> targets,
                       std::function<void(SnapshotPtr)> done);
    /// As make_snapshot(), but `done` gets nullptr when any partition needs more than one chunk.
    void make_small_snapshot(const DumpQuery& query, Collect collect, std::vector<DumpTarget> targets,
                             std::function<void(SnapshotPtr)> done);
    /// Makes the full dump (I-435) and calls `done` with it on a worker; with nothing when there are more asks and
    /// allocations in a partition than `query.most`. False: another full dump is being made (I-436), and `done` is not
    /// called.
    [[nodiscard]] bool make_full_dump(const Viewer& viewer, const DumpQuery& query, std::vector<DumpTarget> targets,
                                      std::function<void(std::optional<Value>)> done);

private:
    enum class Size { Any, SmallOnly };
    void make(const DumpQuery& query, Collect collect, std::vector<DumpTarget> targets, Size size,
              std::function<void(SnapshotPtr)> done);

    const Parts parts_;
};

} // namespace yk::service
