// SPDX-License-Identifier: Apache-2.0
#pragma once
// MetricReader: where values of metrics come from that nobody pushes: the state of the core, and pages that others
// serve (rs R-112).
//
// Owner: McsApplication. Thread: that of MCS.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "libcore/base/by_text.h"
#include "libcore/mcs/autoscaler/metric_sources.h"
#include "libcore/resource_state/resource_cache.h"
#include "ykd/mcs/core_link/core_usage.h"
#include "ykd/mcs/metrics/fetched_pages.h"
#include "ykd/process/daemon_settings.h"

namespace yk::service {

class MetricReader final : public mcs::MetricSources {
public:
    /// All but the functions must outlive it.
    struct Parts {
        const McsSettings& settings;
        const rs::ResourceCache<mcs::Deployment>& deployments;
        const rs::ResourceCache<mcs::DeploymentSchedule>& schedules;
        std::function<void(wire::Request)> give;         // to the daemon, as a server does
        std::function<void(std::function<void()>)> post; // has it called on the thread of MCS; any thread
        std::uint64_t seed = 0;                          // of pauses
    };
    explicit MetricReader(Parts parts);

    [[nodiscard]] Result<mcs::MetricReading> read(const mcs::MetricQuestion& question, Instant now) override;

    /// Takes answers and asks what is due. Returns whether there was any.
    bool turn(Instant now) { return usage_.turn(now); }
    [[nodiscard]] std::optional<Instant> next_due() const { return usage_.next_due(); }

    [[nodiscard]] const FetchedPages& pages() const { return pages_; }

private:
    [[nodiscard]] Result<mcs::MetricReading> read_core(const mcs::MetricQuestion& question, Instant now);
    /// Replicas of all other Deployments of the partition that wait for a place: its own would ask for more of them.
    [[nodiscard]] mcs::MetricReading pending_beside(const mcs::Deployment& deployment, Instant now);
    void count_pending();

    const Parts parts_;
    const Duration period_; // between two questions for the same
    CoreUsage usage_;
    FetchedPages pages_;
    std::map<std::string, std::int64_t> pending_; // by partition
    ByText<std::int64_t> pending_of_;             // by id of a Deployment that has any
    std::optional<Instant> pending_at_;           // when these two were counted
};

} // namespace yk::service
