#pragma once
// The last health check and what it needs to remember (interface.md 5.6). Thread: any.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libcore/scheduler/cluster_context.h"
#include "libcore/scheduler/view.h"
#include "protocol/wire/value.h"
#include "ykd/runtime/clock.h"
#include "ykd/service/rm_table.h"

namespace yk::service {

class Daemon;

/// How much a counter that only grows has grown in the last five minutes.
class RecentGrowth {
public:
    std::uint64_t note(std::uint64_t total);

private:
    std::deque<std::pair<SteadyClock::time_point, std::uint64_t>> seen_; // totals of the last five minutes
};

class HealthKeeper {
public:
    /// An owner thread whose loop has not come round for `loop_limit` is stuck (check 13).
    explicit HealthKeeper(Duration loop_limit = std::chrono::seconds{10}) : loop_limit_(loop_limit) {}

    /// Runs all checks and hands the result to `done` on a worker. While an owner thread is stuck, which answers none,
    /// the result is that.
    void run(Daemon& daemon, std::function<void(const wire::Value&)> done);
    /// The last result; nothing before the first run.
    [[nodiscard]] std::optional<wire::Value> last() const;
    /// Names of the checks that failed last.
    [[nodiscard]] std::vector<std::string> failures() const;

private:
    using Done = std::function<void(const wire::Value&)>;
    /// `idle`: also the threads of RMs that are not Running.
    [[nodiscard]] HealthCheckView main_loop(const std::vector<RmPtr>& rms, bool idle) const;
    class Run;
    void watch(Daemon& daemon, const std::shared_ptr<Run>& run);
    /// Checks 1 and 2.
    [[nodiscard]] std::vector<HealthCheckView> recent_failures(const CoreCounters& total);
    [[nodiscard]] wire::Value keep(Daemon& daemon, const std::vector<HealthCheckView>& checks);

    const Duration loop_limit_;
    mutable std::mutex mutex_;
    std::optional<wire::Value> last_;
    std::vector<std::string> failures_;
    bool healthy_ = true;
    Instant since_ = real_now();
    RecentGrowth errors_, failed_nodes_; // S-611
};

} // namespace yk::service
