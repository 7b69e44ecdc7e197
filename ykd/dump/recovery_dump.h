// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecoveryDump: the dump `recovery`: of each RM its state, and how its recovery is; with what waits in quarantine and
// the nodes that are incomplete, in pages of the state as it is (docs/adr/0008).

#include <memory>
#include <vector>

#include "ykd/dump/dump_snapshots.h"
#include "ykd/dump/dump_targets.h"
#include "ykd/process/daemon_settings.h"
#include "ykd/request/call.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/scheduler_clock.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

/// The state of an RM for everybody: which, since when, why, and its transitions.
[[nodiscard]] Value state_value(const std::string& rm_id, const StateRecord::Reading& record);

/// Owner: Daemon. Thread: any.
class RecoveryDump {
public:
    static constexpr std::string_view kWhat = "recovery";

    struct Parts {
        const DaemonSettings& settings;
        const RmTable& rms;
        const SchedulerClock& clock;
        DumpSnapshots& kept;
        Workers& workers;
    };
    explicit RecoveryDump(const Parts& parts) : parts_(parts) {}

    /// Answers with the first page, or with the one at the query's cursor.
    void answer(const CallPtr& call, const DumpQuery& query, const std::vector<DumpTarget>& targets);
    void answer_next(const CallPtr& call, const DumpQuery& query);

private:
    class Page;

    const Parts parts_;
};

} // namespace yk::service
