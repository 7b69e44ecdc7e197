// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers that an answer to Metrics is made of, and the families that they are written as (interface.md section 6).
// Pure. Thread: any.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ports/metrics_view.h"
#include "libcore/ports/recovery.h"
#include "ykd/observe/mcs_numbers.h"
#include "ykd/observe/metric_writer.h"
#include "ykd/request/request_meter.h"
#include "ykd/rm/rm_table.h"
#include "ykd/session/session.h"

namespace yk::service {

struct PartitionNumbers {
    std::string label; // full name; empty: the label is left out (--legacy-labels)
    PartitionMetrics metrics;
    bool is_visible = true; // the session may see its queues, not only its totals (I-412)
};

/// What the core counts of one resource manager.
struct RmCoreCounts {
    std::uint64_t restored = 0; // allocations
    QuarantineCounts quarantined{};
};

/// The numbers of one resource manager.
struct RmLine {
    std::string id;
    si::CoreState state;
    std::uint64_t inbound;
    StreamStatus stream;
    CallTally calls;
    RmCoreCounts core;
    StateTransitions transitions;
};

/// All numbers of one answer. All of its pages are written from the same object.
struct MetricNumbers {
    std::vector<PartitionNumbers> partitions;
    std::vector<RmLine> rms;
    std::vector<std::string> new_rms;  // of the settings, which are not registered
    StateTransitions gone_transitions; // of RMs that are not there any more
    Tally tally;
    std::uint64_t events_processed = 0;
    RequestMeter::Reading requests;
    SessionTable::Count sessions;
    std::vector<std::pair<std::string, std::uint64_t>> degraded; // reason, how many
    std::string version;
    std::uint64_t boots = 0; // 0: they are not counted
    std::uint64_t resident = 0, files = 0;
    std::optional<std::uint64_t> heap;
    double cpu = 0, started = 0; // in seconds
    bool legacy_queues = false;
    std::optional<McsNumbers> mcs; // nullopt: there is none, or its database is not open
};

/// Writes all families, in their order.
void write_families(MetricWriter& to, const MetricNumbers& numbers);

} // namespace yk::service
