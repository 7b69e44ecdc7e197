// SPDX-License-Identifier: Apache-2.0
#pragma once
// MetricsService: answers Metrics (interface.md section 6): numbers of the partitions from their owner threads and
// counters of the process, as text or as a map, page by page.
//
// Owner: Daemon. Thread: workers.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykd/observe/metric_families.h"
#include "ykd/observe/metric_pages.h"
#include "ykd/process/identity.h"
#include "ykd/request/call.h"
#include "ykd/request/gather.h"
#include "ykd/state/daemon_state.h"

namespace yk::service {

class MetricsService {
public:
    struct Parts {
        const DaemonSettings& settings;
        const Identity& identity;
        const RmTable& rms;
        const SessionTable& sessions;
        const EventRing& ring;
        const TallyBoard& tally;
        const RequestMeter& requests;
        const Degraded& degraded;
        const DaemonState& state;
        MetricPages& pages;
        Workers& workers;
        AskMcsNumbers ask_mcs;
    };
    explicit MetricsService(const Parts& parts) : parts_(parts) {}

    void metrics(const CallPtr& call);

    struct RmNumbers; // of an RM, in the making
    /// What is asked, and which page of it.
    struct MetricQuestion {
        MetricView view;
        std::string cursor;        // of this page; empty: the first
        std::size_t max_bytes = 0; // of a page; 0: as a reply may have
        bool unlabelled = false;   // no label for the partition while there is one
    };

private:
    using CoreCounts = std::map<std::string, RmCoreCounts>; // by RM

    [[nodiscard]] MetricNumbers read_numbers(const Call& call, std::vector<PartitionNumbers> partitions,
                                             const CoreCounts& counts) const;
    void answer(const CallPtr& call, const MetricQuestion& question,
                const std::shared_ptr<const MetricNumbers>& numbers);
    [[nodiscard]] wire::Value go_on_at(const Call& call, const MetricQuestion& question,
                                       const std::shared_ptr<const MetricNumbers>& numbers,
                                       std::optional<std::size_t> next);
    void answer_gathered(const CallPtr& call, const MetricQuestion& question, std::vector<Gathered<RmNumbers>>&& all);

    const Parts parts_;
};

} // namespace yk::service
