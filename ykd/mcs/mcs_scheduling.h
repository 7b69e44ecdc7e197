// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsScheduling: the Scheduler in the daemon: its handlers and reconciler, and the link by which it is a resource
// manager of the same daemon's core. It is registered there only while this process has the lease of the Scheduler, so
// that of several daemons with one database one alone has the replicas placed.
//
// Owner: McsApplication. Thread: its owner's.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "libcore/mcs/scheduler/scheduler_handlers.h"
#include "libcore/mcs/scheduler/scheduler_reconciler.h"
#include "libcore/resource_state/state_manager.h"
#include "protocol/mcs/schedule_text.h"
#include "ykd/mcs/core_link/core_link.h"
#include "ykd/mcs/local_work/local_work.h"
#include "ykd/process/daemon_settings.h"

namespace yk::service {

class McsScheduling {
public:
    /// All but the functions must outlive it.
    struct Parts {
        const McsSettings& settings;
        rs::StateManager& manager;
        rs::ResourceInformer<mcs::Deployment>& deployments;
        rs::ResourceInformer<mcs::DeploymentScale>& scales;
        rs::ResourceInformer<mcs::DeploymentSchedule>& schedules;
        rs::ResourceInformer<mcs::Node>& nodes;
        mcs::WriteQueue& writes;
        std::function<void(wire::Request)> give;         // to the daemon, as a server does
        std::function<void(std::function<void()>)> post; // has it called on the thread of MCS; any thread
        std::uint64_t seed = 0;                          // of pauses
        std::shared_ptr<work::Worker> worker{};          // nullptr: this daemon runs no commands
        std::function<void(std::function<void()>)>
            ask_names{}; // has it called where the name service may be waited for
    };
    McsScheduling(const Parts& parts, Instant now);
    McsScheduling(const McsScheduling&) = delete;
    McsScheduling& operator=(const McsScheduling&) = delete;

    void lease_changed(const std::optional<rs::Lease>& lease, Instant now);
    void set_calendar(Duration ahead) { scheduler_.set_calendar(ahead); }
    void queues_changed(Instant now);
    /// Does what is due; false: there was nothing.
    bool turn(Instant now);
    [[nodiscard]] std::optional<Instant> next_due(Instant now) const;
    /// Hands out what the core has said of replicas. To be called before the writer is flushed at the end.
    void flush(Instant now);
    /// nullptr: this daemon runs no commands.
    [[nodiscard]] LocalWork* work() { return work_ ? &*work_ : nullptr; }

    [[nodiscard]] bool leads() const { return lease_.has_value(); }

    [[nodiscard]] const mcs::Scheduler& scheduler() const { return scheduler_; }
    [[nodiscard]] const CoreLink& link() const { return link_; }

private:
    [[nodiscard]] mcs::SchedulerPorts ports();
    [[nodiscard]] CoreLink::Listener listener();
    [[nodiscard]] LocalWork* begin_work();

    const Parts parts_;
    const mcs::JsonScheduleTexts texts_;
    mcs::CoreRequests requests_;
    mcs::Scheduler scheduler_;
    std::optional<LocalWork> work_;
    CoreLink link_;
    mcs::ScheduledDeploymentHandler on_deployment_;
    mcs::ScheduledScaleHandler on_scale_;
    mcs::ScheduleHandler on_schedule_;
    mcs::NodeHandler on_node_;
    mcs::SchedulerReconciler reconciler_;
    std::optional<rs::Lease> lease_; // nullopt: another instance leads
};

} // namespace yk::service
