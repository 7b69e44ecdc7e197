// SPDX-License-Identifier: Apache-2.0
#pragma once
// Autoscaler: keeps the DeploymentScale of each Deployment as it should be. It compares what the caches have and writes
// the difference, whoever asks: a handler because something changed (autoscaler_handlers.h), a round because time went
// by (evaluation_rounds.h), or the reconciler because something slipped through (autoscaler_reconciler.h). So it may be
// asked again at any time, in any order; what is right already costs no write (rs R-084).
//
// It writes each scale once at a time. What it has written counts as the newest row until the cache shows it, or for a
// few seconds: the database refuses what was based on a mistake there (rs R-091).
//
// Owner: the program. Thread: that of the caches, the first that calls it, which debug builds check; nothing here
// waits.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/by_text.h"
#include "libcore/base/owner_thread.h"
#include "libcore/mcs/autoscaler/decision_counters.h"
#include "libcore/mcs/autoscaler/metric_sources.h"
#include "libcore/mcs/autoscaler/scale_memory.h"
#include "libcore/mcs/autoscaler/scale_texts.h"
#include "libcore/mcs/deployment_schedule.h"
#include "libcore/mcs/row_writer.h"
#include "libcore/mcs/scaling/metric_board.h"
#include "libcore/resource_state/resource_cache.h"

namespace yk::mcs {

/// What the Autoscaler works with. All must outlive it.
struct AutoscalerPorts {
    const rs::ResourceCache<Deployment>& deployments;
    const rs::ResourceCache<DeploymentScale>& scales;
    const rs::ResourceCache<DeploymentSchedule>& schedules;
    MetricBoard& metrics;
    const ScaleTexts& texts;
    WriteQueue& writes;
    /// Has the row of a scale read before all others (StateManager::enqueue).
    std::function<void(std::string_view id, Instant now)> read_again;
    MetricSources* sources = nullptr; // of metrics that nobody pushes; nullptr: none
};

class Autoscaler {
public:
    /// Who asks, with which right to write, and when.
    struct Turn {
        rs::Lease lease;
        Instant now; // of a clock that never goes back
    };
    /// How a write went that was under way when the answer was later().
    /// `result` is what it means for a handler.
    using Done = std::function<void(const WriteOutcome& outcome, const rs::HandlerResult& result, Instant now)>;

    explicit Autoscaler(AutoscalerPorts ports) : ports_(std::move(ports)), writer_(ports_.writes, kAutoscalerService) {}
    Autoscaler(const Autoscaler&) = delete;
    Autoscaler& operator=(const Autoscaler&) = delete;

    /// How far the calendar is ahead of `now`: schedules of the week go by it. The program sets it now and then.
    void set_calendar(Duration ahead) { calendar_ahead_ = ahead; }

    /// Makes or changes the scale of this Deployment if that is due. ok(): nothing is to be written, which is so, too,
    /// when the Deployment has gone; later(): `done` gets the result.
    [[nodiscard]] rs::HandlerResult update(std::string_view id, const Turn& turn, Done done);
    /// The Deployment has gone: so does its scale, unless it was released or has another owner by now.
    [[nodiscard]] rs::HandlerResult remove(const Deployment& gone, const Turn& turn, Done done);
    /// Deletes the scale if the database finds no Deployment of its owner's id and uid (rs R-103).
    [[nodiscard]] rs::HandlerResult remove_orphan(const DeploymentScale& orphan, const Turn& turn, Done done);

    /// Whether the row is the one that was decided on last: mostly because this process wrote it.
    [[nodiscard]] bool is_known(const DeploymentScale& row) const;
    /// The row of a scale has gone: what was known of it counts no longer.
    void on_deleted(const DeploymentScale& row);

    // --- for whoever looks at it ----------------------------------------------------------------
    [[nodiscard]] const DecisionCounters& decisions() const { return decisions_; }
    /// How often somebody else wrote into a scale while this process led (rs R-108).
    [[nodiscard]] std::uint64_t foreign_writes() const { return foreign_writes_; }

    // --- for the reconciler ---------------------------------------------------------------------
    [[nodiscard]] bool is_writing(std::string_view id) const { return writer_.is_writing(id); }
    /// Since when this Deployment is known here; from now on if it was not.
    [[nodiscard]] Instant known_since(const Deployment& deployment, Instant now);
    /// Since when its scale has been found to be of an older generation; from now on if it was not.
    [[nodiscard]] Instant behind_since(const Deployment& deployment, Instant now);
    /// Forgets Deployments that are not in the cache. Cost: O(all), so only if there are more than in the cache.
    void forget_gone();
    [[nodiscard]] std::size_t known() const { return memories_.size(); }

private:
    [[nodiscard]] ScaleMemory& memory_of(const Deployment& deployment, Instant now);
    [[nodiscard]] ScaleMemory* find(std::string_view id, std::string_view deployment_uid);
    void forget(std::string_view id, std::string_view deployment_uid);
    void read_policy(ScaleMemory& memory, const Deployment& deployment);
    [[nodiscard]] rs::Ptr<DeploymentScale> newest_row(ScaleMemory* memory, std::string_view id, Instant now) const;
    [[nodiscard]] bool look_at_scale(ScaleMemory& memory, const Deployment& deployment, const Turn& turn);
    void take_back(ScaleMemory& memory, const DeploymentScale& row);
    [[nodiscard]] ScaleDecision decide(ScaleMemory& memory, const Deployment& deployment, bool is_there,
                                       Instant now) const;
    void write(ScaleDecision made, bool is_there, const Turn& turn, Done done);
    void take_over(const ScaleDecision& made, const WriteOutcome& outcome, Instant now);
    [[nodiscard]] rs::HandlerResult erase(const DeploymentScale& row, const Turn& turn, Done done);

    [[no_unique_address]] OwnerThread owner_thread_;
    const AutoscalerPorts ports_;
    RowWriter writer_;
    ByText<ScaleMemory> memories_; // by id of the Deployment
    Duration calendar_ahead_{};
    DecisionCounters decisions_;
    std::uint64_t foreign_writes_ = 0;
};

} // namespace yk::mcs
