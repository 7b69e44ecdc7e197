// SPDX-License-Identifier: Apache-2.0
#pragma once
// ClusterContext: the core of one RM: all its partitions. Whatever surrounds the core calls it here only.
//
// Thread: the owner thread of the RM, which all its partitions share (I-100 to I-102); RMs share nothing (I-129). Time
// is a parameter of every call and never goes back. No call blocks, logs or reads a clock.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "libcore/cluster/cluster_recovery.h"
#include "libcore/config/config.h"
#include "libcore/ports/callbacks.h"
#include "libcore/ports/command.h"
#include "libcore/ports/cycle.h"
#include "libcore/ports/event.h"
#include "libcore/ports/explain.h"
#include "libcore/ports/metrics_view.h"
#include "libcore/ports/settings.h"
#include "libcore/ports/view.h"
#include "libcore/state/rm_calls.h"

namespace yk {

class PartitionContext;
struct PartitionState;

class ClusterContext {
public:
    /// `callbacks` and `events` outlive this object.
    ClusterContext(std::string rm_id, Settings settings, Callbacks& callbacks, EventSink& events);
    ~ClusterContext();
    ClusterContext(const ClusterContext&) = delete;
    ClusterContext& operator=(const ClusterContext&) = delete;

    /// `[rm]name` for a short, empty or full name (S-100).
    [[nodiscard]] std::string full_name(std::string_view partition) const;
    [[nodiscard]] const std::string& rm_id() const { return rm_id_; }

    // --- configuration -------------------------------------------------------------------------------------------
    /// Applies a configuration: makes partitions and queues that are missing, drains those that it does not contain any
    /// more, changes what differs (C-440 to C-449, S-561 to S-563). An error changes nothing.
    [[nodiscard]] Result<void> configure(const config::Configuration& config, Instant now);
    /// Removes what all partitions hold, with notifications and events (I-124). Nothing may be called afterwards.
    void drop_everything(Instant now);
    /// Tests whether configure() would succeed, without an effect (I-185).
    [[nodiscard]] Result<void> check_configuration(const config::Configuration& config) const;
    /// The dynamic queues of the partition to which `config` would apply a template again (B-10). `partition`: its
    /// short name.
    [[nodiscard]] std::vector<ReappliedView> template_changes(std::string_view partition,
                                                              const config::Configuration& config) const;
    void set_settings(const Settings& settings, Instant now);
    [[nodiscard]] const Settings& settings() const { return settings_; }

    // --- requests of the RM, in its order (S-440) --------------------------------------------------------------
    void apply(const AllocationRequest& request, Instant now);
    void apply(const ApplicationRequest& request, Instant now);
    void apply(const NodeRequest& request, Instant now);

    // --- calls to the RM (docs/spec/interface.md, section 4.9) ----------------------------------------------------
    /// What the RM can be asked. Called before anything is scheduled; without it the RM is asked nothing (I-380).
    void set_rm_calls(const RmCallOptions& options) { calls_.options = options; }
    /// Takes the RM's answer to a call. False, without effect: no such call is open, or not any more (I-375).
    bool apply(const CallAnswer& answer, Instant now);
    [[nodiscard]] std::size_t calls_in_flight() const { return calls_.size(); }

    // --- recovery (docs/spec/interface.md, section 3) -------------------------------------------------------------
    [[nodiscard]] ClusterRecovery& recovery() { return recovery_; }

    // --- time and cycles --------------------------------------------------------------------------------------------
    /// When fire_timers() has something to do next; nullopt: never.
    [[nodiscard]] std::optional<Instant> next_timer() const;
    /// Fires every timer that is due at `now`, of all partitions in order of time.
    void fire_timers(Instant now);
    /// One scheduling cycle in each partition, in the order of their names (S-300).
    CycleOutcome cycle(Instant now, CycleObserver* observer = nullptr);

    // --- reports (libcore/reports): free functions over a partition's state ---------------------------------------
    [[nodiscard]] std::vector<std::string> partition_names() const; // short, sorted
    /// The state of a partition, short or full name, with its indexes up to date; nullptr: there is none. Valid until
    /// this object is changed.
    [[nodiscard]] const PartitionState* read(std::string_view partition);

    /// See reports/explain.h; a member because it needs the partition's VictimIndex.
    [[nodiscard]] Explanation explain_preemption(std::string_view partition, std::string_view application,
                                                 std::string_view key, Instant now);

    [[nodiscard]] CoreCounters counters() const;
    /// What all partitions hold of Settings::budget.
    [[nodiscard]] const Holdings& holdings() const { return held_; }
    /// One page of the health checks over all partitions, see reports/health.h.
    void health_page(HealthCursor& cursor, std::size_t& budget, std::vector<HealthCheckView>& checks) const;
    /// The broken invariants of all partitions, in words, see reports/check.h.
    [[nodiscard]] std::vector<std::string> check();

    /// For benchmarks and tests that need more than this class offers. nullptr: there is no such partition.
    [[nodiscard]] PartitionContext* find_partition(std::string_view partition);
    [[nodiscard]] const PartitionContext* find_partition(std::string_view partition) const;

private:
    struct IgnoredElement {
        std::string_view application, key; // of the request
        std::string partition;
        std::string reason;
        ElementCode code;
    };
    void sweep();
    void heal(Instant now);
    void apply_asks(const std::vector<AskSpec>& asks, bool placements, Instant now);
    void release(const std::vector<ReleaseSpec>& releases, bool asks_only, std::vector<IgnoredElement>& ignored,
                 Instant now);
    void remove(const std::vector<RemoveApplicationSpec>& removals, Instant now);
    void report_ignored(const std::vector<IgnoredElement>& ignored);

    std::string rm_id_;
    Settings settings_;
    Callbacks& callbacks_;
    EventSink& events_;
    RmCalls calls_;
    Holdings held_;
    ClusterRecovery::Partitions partitions_; // by short name
    ClusterRecovery recovery_{partitions_};
    CoreCounters unattributed_; // of removed partitions, of elements that name none, and all rejected asks
};

/// All pages of the health checks.
[[nodiscard]] std::vector<HealthCheckView> health_of(const ClusterContext& core);

} // namespace yk
