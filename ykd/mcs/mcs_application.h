// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsApplication: MCS on a database that is open: the caches and what keeps them in step with it, the Autoscaler, the
// leases, and the threads that write and that look after the database.
//
// Owner: McsThread. Thread: its owner's, for everything here. The threads that it has report by Parts::wake.

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/autoscaler/autoscaler_handlers.h"
#include "libcore/mcs/autoscaler/autoscaler_reconciler.h"
#include "libcore/mcs/autoscaler/evaluation_rounds.h"
#include "libcore/mcs/lease_manager.h"
#include "libcore/resource_state/state_manager.h"
#include "protocol/databases/housekeeping/mcs_housekeeping.h"
#include "protocol/databases/mcs_group.h"
#include "protocol/databases/mcs_leases.h"
#include "protocol/databases/mcs_writer.h"
#include "protocol/mcs/status_text.h"
#include "ykd/mcs/deployment_watch.h"
#include "ykd/mcs/mcs_connections.h"
#include "ykd/mcs/mcs_notices.h"
#include "ykd/mcs/mcs_operations.h"
#include "ykd/mcs/mcs_scheduling.h"
#include "ykd/mcs/metrics/metric_reader.h"
#include "ykd/mcs/seen_writes.h"
#include "ykd/mcs/transport/event_transport.h"
#include "ykd/mcs/transport/mcs_clock.h"
#include "ykd/process/daemon_settings.h"

namespace yk::service {

/// The leases that a process with this transport may have.
[[nodiscard]] std::vector<std::string> lease_names(const EventTransport& transport);
/// The database answers, as far as is known. With a broker the caches follow that, and its outage says nothing of the
/// database.
[[nodiscard]] inline bool is_database_up(const rs::StateManager& manager, const EventTransport& transport) {
    return manager.is_store_up() && (transport.has_broker() || manager.is_log_up());
}

class McsApplication {
public:
    struct Parts {
        const McsSettings& settings;
        Degraded& degraded;
        std::string holder;                              // who this process is in the table of leases
        std::uint64_t seed = 0;                          // of pauses
        std::function<void()> wake;                      // any thread: work() has something to do
        std::function<void(wire::Request)> give;         // a request to the daemon, as a server does
        std::function<void(std::function<void()>)> post; // has it called on this thread; any thread
        McsNotices::Event event;                         // what has become of MCS itself
        std::shared_ptr<work::Worker> worker{};          // nullptr: this daemon runs no commands
        std::function<void(std::function<void()>)>
            ask_names{}; // has it called where the name service may be waited for
    };
    /// `broker`: that of the settings, if they name one.
    McsApplication(Parts parts, McsConnections connections, std::optional<BrokerEnds> broker, Instant now);
    ~McsApplication();
    McsApplication(const McsApplication&) = delete;
    McsApplication& operator=(const McsApplication&) = delete;

    // --- work -----------------------------------------------------------------------------------
    /// Does one bit of what is to be done; false: there is nothing before next_due(), unless something happens.
    bool work(Instant now);
    [[nodiscard]] Instant next_due(Instant now) const;
    /// Carries out the writes that were given, and gives up the leases, so that another instance leads at once.
    void stop();

    // --- for requests ---------------------------------------------------------------------------
    // Before manager().is_running() nothing is read or written for users: the caches are not filled.
    [[nodiscard]] const rs::ResourceCache<mcs::Deployment>& deployments() const { return deployments_.cache(); }
    [[nodiscard]] const rs::ResourceCache<mcs::DeploymentScale>& scales() const { return scales_.cache(); }
    [[nodiscard]] const rs::ResourceCache<mcs::DeploymentSchedule>& schedules() const { return schedules_.cache(); }
    /// The Deployment with this id, or else with this name; nullptr: there is none.
    [[nodiscard]] rs::Ptr<mcs::Deployment> find(const std::string& id_or_name) const;
    [[nodiscard]] const rs::ResourceCache<mcs::Node>& nodes() const { return nodes_.cache(); }
    /// The next ones by name.
    [[nodiscard]] std::vector<rs::Ptr<mcs::Deployment>> list_after(const std::string& name, std::size_t most) const {
        return deployments().list_after(by_name_, name, most);
    }
    [[nodiscard]] std::vector<rs::Ptr<mcs::Node>> nodes_after(const std::string& id, std::size_t most) const {
        return nodes().list_after(nodes_by_id_, id, most);
    }
    /// How many Deployments there are when all is done that was asked for.
    [[nodiscard]] std::size_t count_with_new();
    /// Why no write of a user can be taken now; empty: it can.
    [[nodiscard]] std::string refuses_writes();
    /// Writes a row of those that users write. `done` is called with the outcome when it is committed and, mostly, seen
    /// here: a read that follows shows it, unless the database cannot be read (rs R-158).
    void write(mcs::WriteCommand command, std::function<void(const mcs::WriteOutcome&)> done);
    /// A measured value, for the Autoscaler's next look. The error names the field of the sample.
    [[nodiscard]] Result<void> push_metric(const mcs::Deployment& deployment, const mcs::MetricSample& sample,
                                           Instant now);

    // --- for whoever looks at it ----------------------------------------------------------------
    [[nodiscard]] const rs::StateManager& manager() const { return manager_; }
    /// What Metrics and the status have of the Autoscaler and of writing.
    struct Observed {
        mcs::McsWriter& writer;
        mcs::McsHousekeeping& house;
        const mcs::Autoscaler& autoscaler;
        const mcs::AutoscalerReconciler& reconciler;
        const FetchedPages& pages;
        const std::map<std::string, std::uint64_t>& fenced_writes; // refused since another instance leads, by service
        const std::map<std::string, std::uint64_t, std::less<>>&
            lost;                                    // how often this process ceased to lead, by lease
        const std::optional<Duration>& log_held_for; // as LogHold::age; nullopt: it was not looked for
    };
    [[nodiscard]] Observed observed() {
        return {writer_, house_, autoscaler_, reconciler_, reader_.pages(), fenced_writes_, lost_, log_held_for_};
    }
    [[nodiscard]] McsScheduling& scheduling() { return scheduling_; }
    [[nodiscard]] McsOperations& operations() { return operations_; }
    [[nodiscard]] const EventTransport& transport() const { return transport_; }
    [[nodiscard]] DeploymentWatch& watch() { return watch_; }
    [[nodiscard]] SeenWrites& seen() { return seen_; }
    /// nullopt: this process does not lead.
    [[nodiscard]] std::optional<rs::Lease> lease(std::string_view name, Instant now) const;
    [[nodiscard]] const McsConnections& connections() const { return connections_; }

private:
    struct Row {
        rs::Kind kind{};
        std::string id;
        bool is_new = false; // a Deployment that is to be made
    };
    struct Created {
        std::string id;
        rs::Cursor position;
    };
    [[nodiscard]] mcs::AutoscalerPorts ports();
    void begin(Instant now);
    void run(rs::IoCall& call);
    bool take_answered(Instant now);
    void take_news();
    bool ask_for_leases(Instant now);
    void hand_out();
    void look_around(Instant now);
    void note_change(const std::string& part, const std::string& trouble);
    void answered(const Row& row, const mcs::WriteOutcome& outcome, Instant now,
                  std::function<void(const mcs::WriteOutcome&)> done);
    void say_in_doubt(const std::string& lease);
    void lease_changed(std::string_view name, const std::optional<rs::Lease>& lease, Instant now);
    void forget_dead_letters(std::string_view service);

    // In the order in which they need each other; the threads of `house_` and `writer_` end before what they use.
    const Parts parts_;
    McsConnections connections_;
    mcs::McsHousekeeping house_;
    McsNotices notices_;
    EventTransport transport_;
    mcs::MetricBoard metrics_;
    const mcs::JsonScaleTexts texts_;
    mcs::WriteQueue queue_;
    rs::StateManager manager_;
    rs::ResourceInformer<mcs::Deployment>& deployments_;
    rs::ResourceInformer<mcs::DeploymentScale>& scales_;
    rs::ResourceInformer<mcs::DeploymentSchedule>& schedules_;
    rs::ResourceInformer<mcs::Node>& nodes_;
    const rs::CacheIndex<mcs::Deployment, std::string>& by_name_;
    const rs::CacheIndex<mcs::Node, std::string>& nodes_by_id_;
    MetricReader reader_;
    mcs::Autoscaler autoscaler_;
    mcs::DeploymentHandler on_deployment_;
    mcs::DeploymentScaleHandler on_scale_;
    mcs::EvaluationRounds rounds_;
    mcs::AutoscalerReconciler reconciler_;
    McsScheduling scheduling_;
    McsOperations operations_;
    DeploymentWatch watch_;
    SeenWrites seen_;
    mcs::LeaseTable lease_table_;
    std::optional<mcs::LeaseManager> leases_; // nullopt: without leases
    mcs::WriteGroup group_;

    std::size_t creating_ = 0;                              // Deployments whose write is under way
    std::vector<Created> created_;                          // those that are written and not seen here yet
    std::map<std::string, std::uint64_t, std::less<>> led_; // in which epoch this process has led last, by lease
    std::map<std::string, std::uint64_t> fenced_writes_;
    std::map<std::string, std::uint64_t, std::less<>> lost_;
    Instant next_look_, next_look_at_log_;
    std::optional<Duration> log_held_for_;
    std::optional<Instant> running_since_;
    std::set<std::string, std::less<>> in_trouble_; // parts, at the last look
    std::atomic<bool> has_answers_{false};
    mcs::McsWriter writer_; // the last one: it ends first
};

} // namespace yk::service
