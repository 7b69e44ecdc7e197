#pragma once
// The last health check and what it needs to remember (interface.md 5.6). Thread: any.

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libcore/scheduler/cluster_context.h"
#include "libcore/scheduler/view.h"
#include "protocol/wire/value.h"
#include "ykd/runtime/clock.h"

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
    /// Runs all checks and hands the result to `done` on a worker.
    void run(Daemon& daemon, std::function<void(const wire::Value&)> done);
    /// The last result; nothing before the first run.
    [[nodiscard]] std::optional<wire::Value> last() const;
    /// Names of the checks that failed last.
    [[nodiscard]] std::vector<std::string> failures() const;

private:
    /// Checks 1 and 2.
    [[nodiscard]] std::vector<HealthCheckView> recent_failures(const CoreCounters& total);
    [[nodiscard]] wire::Value keep(Daemon& daemon, const std::vector<HealthCheckView>& checks);

    mutable std::mutex mutex_;
    std::optional<wire::Value> last_;
    std::vector<std::string> failures_;
    bool healthy_ = true;
    Instant since_ = real_now();
    RecentGrowth errors_, failed_nodes_; // S-611
};

} // namespace yk::service
