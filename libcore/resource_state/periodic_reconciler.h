// SPDX-License-Identifier: Apache-2.0
#pragma once
// PeriodicReconciler: looks now and then for what no event can bring up again, such as a child whose parent is gone. It
// belongs to the program, since what depends on what is the program's business (section 12 of
// docs/spec/resource-state.md).

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "libcore/resource_state/backoff.h"
#include "libcore/resource_state/event_handler.h"

namespace yk::rs {

struct PeriodicContext {
    Instant now;
    Lease lease;
    /// Whether the caches follow the database. If not, what is missing in them proves nothing, and nothing may be
    /// deleted for it (rs R-102).
    bool may_conclude = false;
};

/// What one run did.
struct RepairReport {
    std::uint64_t found = 0;
    std::uint64_t repaired = 0;
    bool has_more = false; // it stopped early, and is to be called again at once (rs R-105)
};

/// Owner: the program. Thread: that of the StateManager, so a run must not wait, nor take long: it reads caches in
/// slices (ResourceCache::for_each_from) and starts its writes without waiting for them.
class PeriodicReconciler {
public:
    virtual ~PeriodicReconciler() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual Result<RepairReport> run_once(const PeriodicContext& context) = 0;
};

struct PeriodicOptions {
    std::string service; // it runs only with the lease of this service; empty: always
    Duration period = std::chrono::seconds{60};
    unsigned jitter_permille = 100; // instances do not run in step
};

/// When one of them runs, and what came of it. Owner: StateManager.
class PeriodicRuns {
public:
    PeriodicRuns(PeriodicReconciler& reconciler, PeriodicOptions options, std::uint64_t seed)
        : reconciler_(reconciler), options_(std::move(options)), chance_(seed) {}

    [[nodiscard]] std::string_view name() const { return reconciler_.name(); }
    [[nodiscard]] const PeriodicOptions& options() const { return options_; }
    [[nodiscard]] Instant next() const { return next_; }
    void run_at(Instant when) { next_ = when; }
    /// REQUIRES: next() has come.
    [[nodiscard]] Result<RepairReport> run(const PeriodicContext& context);

    [[nodiscard]] std::uint64_t runs() const { return runs_; }
    /// Of all runs together.
    [[nodiscard]] const RepairReport& total() const { return total_; }

private:
    PeriodicReconciler& reconciler_;
    PeriodicOptions options_;
    Chance chance_;
    Instant next_;
    RepairReport total_;
    std::uint64_t runs_ = 0;
};

/// The period, more or less by so many thousandths.
[[nodiscard]] Duration jittered(Duration period, unsigned permille, Chance& chance);

} // namespace yk::rs
