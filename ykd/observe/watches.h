// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the daemon watches by itself: its memory, its clock, its health. What is wrong goes to the log and, but for
// health, to Degraded.
//
// Owner: Daemon. Thread: that of Deadlines, unless stated otherwise.

#include <atomic>
#include <set>
#include <string>

#include "ykd/configuration/effective_settings.h"
#include "ykd/observe/health_keeper.h"
#include "ykd/process/degraded.h"
#include "ykd/process/memory_guard.h"
#include "ykd/process/memory_trim.h"

namespace yk::service {

/// Gives freed memory back to the system, and reports when memory is short.
class MemoryWatch {
public:
    struct Parts {
        const RmTable& rms;
        MemoryGuard& guard;
        Degraded& degraded;
        Workers& workers;
    };
    explicit MemoryWatch(const Parts& parts) : parts_(parts) {}

    /// To be called several times a second. Costs a read of /proc and O(RMs).
    void look();

private:
    const Parts parts_;
    MemoryTrim trim_;
};

/// Makes the scheduler's time follow the machine's clock (RealClock), and reports when they differ.
class ClockWatch {
public:
    ClockWatch(const RmTable& rms, Degraded& degraded) : rms_(rms), degraded_(degraded) {}

    /// To be called about once a second.
    void look();

private:
    const RmTable& rms_;
    Degraded& degraded_;
};

/// Runs the health checks in the interval of extraConfig, and logs when other checks fail than before.
class HealthWatch {
public:
    HealthWatch(HealthKeeper& keeper, const EffectiveSettings& effective, Deadlines& deadlines)
        : keeper_(keeper), effective_(effective), deadlines_(deadlines) {}

    /// Begins to watch, until Deadlines stops.
    void start();

private:
    void log_changes(const wire::Value& result); // Thread: a worker, one at a time

    HealthKeeper& keeper_;
    const EffectiveSettings& effective_;
    Deadlines& deadlines_;
    std::atomic<bool> is_checking_{false};
    std::set<std::string> failed_; // the names of the failed checks that were logged last
};

} // namespace yk::service
