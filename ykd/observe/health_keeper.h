// SPDX-License-Identifier: Apache-2.0
#pragma once
// HealthKeeper: runs the health checks and keeps the last result (interface.md 5.6).
//
// Owner: Daemon. Thread: any.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libcore/cluster/cluster_context.h"
#include "libcore/ports/view.h"
#include "protocol/wire/value.h"
#include "ykd/process/degraded.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/clock.h"
#include "ykd/runtime/deadlines.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

/// How much a counter that only grows has grown in the last five minutes.
class RecentGrowth {
public:
    /// Notes the counter's value now, and returns by how much it is above the oldest value of the last five minutes.
    std::uint64_t note(std::uint64_t total);

private:
    std::deque<std::pair<SteadyClock::time_point, std::uint64_t>> seen_; // values of the last five minutes, by time
};

class HealthKeeper {
public:
    struct Parts {
        const RmTable& rms;
        const Degraded& degraded;
        Deadlines& deadlines;
        Workers& workers;
        Duration loop_limit = std::chrono::seconds{10}; // an owner thread that needs longer is stuck (check 13)
    };
    explicit HealthKeeper(const Parts& parts) : parts_(parts) {}

    /// Of which RMs every invariant is checked, too: of those with few objects, since an owner thread does nothing else
    /// meanwhile, or of all.
    enum class Thorough { Small, All };
    /// Runs all checks and calls `done` with the result on a worker. When an owner thread is stuck and does not answer,
    /// the result is the failed check of the main loop alone. Returns at once.
    void run(Thorough thorough, std::function<void(const wire::Value&)> done);
    /// The last result; nothing before the first run.
    [[nodiscard]] std::optional<wire::Value> last() const;
    /// One sentence for each check that failed in the last run, but for what Degraded lists.
    [[nodiscard]] std::vector<std::string> failures() const;

private:
    using Done = std::function<void(const wire::Value&)>;
    /// Whether every owner thread came round within the limit. `idle`: also those of RMs that are not Running.
    [[nodiscard]] HealthCheckView main_loop(const std::vector<RmPtr>& rms, bool idle) const;
    class Run;
    void watch(const std::shared_ptr<Run>& run);
    /// Checks 1 and 2: scheduling errors and failed nodes in the last five minutes.
    [[nodiscard]] std::vector<HealthCheckView> recent_failures(const CoreCounters& total);
    /// Keeps the result and returns it.
    [[nodiscard]] wire::Value keep(const std::vector<HealthCheckView>& checks);

    const Parts parts_;
    mutable std::mutex mutex_;
    std::optional<wire::Value> last_;
    std::vector<std::string> failures_;
    bool healthy_ = true;
    Instant since_ = real_now();         // when healthy_ became what it is
    RecentGrowth errors_, failed_nodes_; // of the counters of all RMs together (S-611)
};

} // namespace yk::service
