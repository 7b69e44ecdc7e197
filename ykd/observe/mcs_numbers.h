// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of MCS in an answer to Metrics, and the families that they are written as (rs R-152). Plain values.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/resource_state/change_consumer.h"
#include "libcore/resource_state/informer.h"
#include "ykd/observe/metric_writer.h"

namespace yk::service {

struct McsNumbers {
    struct LeaseLine {
        std::string name;
        bool is_held = false;
        std::uint64_t epoch = 0; // 0: another instance has it
        std::uint64_t lost = 0;  // so often
    };
    struct DecisionLine {
        std::string direction, reason;
        std::uint64_t count = 0;
    };
    /// Of a broker, and this process's relay to it.
    struct RelayLine {
        bool is_on_broker = false; // events come from the broker, not from the database
        bool is_running = false;   // this process is the relay, and sends
        bool is_stuck = false;     // changes were removed that no relay has sent
        std::uint64_t under_way = 0;
        Duration waits{}; // for an acknowledgement
        Duration lag{};   // something is in the database that no process's relay has sent
        std::uint64_t sent = 0, confirmed = 0, beginnings = 0, gaps = 0;
    };
    struct ReconcilerLine {
        std::string name;
        std::uint64_t runs = 0, found = 0, repaired = 0;
    };

    bool is_running = false;  // the caches are filled
    bool is_store_up = false; // the database answers
    bool is_log_up = false;   // the change log does, or the broker in its place
    Duration staleness{};     // how long the caches have not followed the database
    std::uint64_t writes = 0; // that wait for the disk
    std::uint64_t wal_pages = 0;
    std::uint64_t groups = 0, grouped = 0;                // transactions of writes, and the writes in them
    std::map<std::string, std::uint64_t> fenced_writes{}; // by service
    std::optional<Duration> log_held_for; // by a transaction that is open; nullopt: in this database none can
    std::optional<std::int64_t> log_rows; // of the change log; nullopt: another process purges it
    std::vector<rs::KindStatus> kinds;
    // Of each kind: since its last full read ended, how long that took, and the age of the oldest row to be read now.
    std::vector<std::optional<Duration>> read_ages, read_times;
    std::vector<Duration> queue_ages;
    rs::ConsumerCounters events;
    std::optional<RelayLine> relay; // nullopt: there is no broker
    std::vector<LeaseLine> leases;
    std::vector<ReconcilerLine> reconcilers;
    std::vector<DecisionLine> decisions;                // of the Autoscaler
    std::uint64_t foreign_writes = 0;                   // that it overwrote
    std::uint64_t page_fetches = 0, page_failures = 0;  // of pages of metrics
    std::map<std::string, std::uint64_t> deployments;   // by state
    std::uint64_t desired = 0, placed = 0, pending = 0; // replicas
};

/// Has `take` called with the numbers, on any thread; with nullopt if there is no MCS whose database is open.
using AskMcsNumbers = std::function<void(std::function<void(std::optional<McsNumbers>)> take)>;

void write_mcs(MetricWriter& to, const McsNumbers& numbers);

} // namespace yk::service
