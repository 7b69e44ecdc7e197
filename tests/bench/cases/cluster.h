// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cluster: a core with the nodes and applications of a workload in it, fed by ask numbers.

#include <cstdint>

#include "libcore/cluster/cluster_context.h"
#include "libcore/partition/partition_context.h"
#include "tests/bench/cases/sinks.h"
#include "tests/bench/workloads/workload.h"

namespace yk::bench {

/// The time of every command: it stands still, so that no ask gets old enough for a reservation.
inline constexpr Instant kNow{1'700'000'000'000'000'000};

class Cluster {
public:
    /// Aborts with a sentence when the core refuses part of the workload: then nothing measured would mean anything.
    /// `workload` and `callbacks` outlive it.
    Cluster(const Workload& workload, QuietCallbacks& callbacks);

    /// Asks `from` to `to` of the workload, in requests of 1,000.
    void submit(std::uint32_t from, std::uint32_t to);
    /// One ask that need not be a row of the workload.
    void submit_one(const Key& key, AskRow row);
    void release(const Key& key, std::uint32_t application);
    /// A request that is none of these; nothing in it may be refused.
    void apply(const AllocationRequest& request);
    /// The ask of a row, without a key; its views live as long as the workload.
    [[nodiscard]] AskSpec spec(AskRow row) const;
    /// Loads the text and makes it the configuration. How long the partition's owner was kept by it and by the cycle
    /// that follows, in seconds: reading the text is somebody else's work.
    double reload(const std::string& text);
    bool cycle() { return core_.cycle(kNow).allocations > 0; }
    /// Cycles until nothing more is allocated.
    void settle() {
        while (cycle()) {
        }
    }
    [[nodiscard]] ClusterContext& core() { return core_; }
    [[nodiscard]] PartitionContext& partition() { return *core_.find_partition("default"); }
    [[nodiscard]] std::vector<std::string> check() { return core_.check(); }

private:
    void configure();
    void register_nodes();
    void register_applications();

    const Workload& workload_;
    QuietCallbacks& callbacks_;
    RingEvents events_;
    ClusterContext core_;
    std::vector<Quantities> sizes_; // of the workload, as the core takes them
    AllocationRequest one_ask_;     // kept, so that a step costs the caller no memory request
    AllocationRequest one_release_;
};

/// Heap bytes in use, all included.
[[nodiscard]] std::uint64_t heap_in_use();

} // namespace yk::bench
