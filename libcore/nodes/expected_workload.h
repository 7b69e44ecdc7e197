// SPDX-License-Identifier: Apache-2.0
#pragma once
// ExpectedWorkload: the workload that fragmentation is measured by, as the configuration gives it or as it is learnt
// from what arrives, and which resource is measured (F-020, F-021).
//
// Owner: PartitionState. Thread: the partition's owner. Cost: an ask a few instructions; making the workload a pass
// over the nodes and a sort of the shapes.

#include <string>
#include <vector>

#include "libcore/config/config.h"
#include "libcore/nodes/node_collection.h"
#include "libcore/nodes/workload_counts.h"

namespace yk {

class ExpectedWorkload {
public:
    /// From now on as configured. Types that no request has named are new in `names`.
    void configure(const config::FragmentationSettings& settings, ResourceNames& names);
    void ask_arrived(ShapeTable& shapes, ShapeId id) { counts_.count(shapes, id); }
    void halve() { counts_.halve(); }
    /// A node has other devices than before, or is new.
    void devices_changed() noexcept { is_stale_ = true; }
    [[nodiscard]] Duration half_life() const noexcept { return half_life_; }
    [[nodiscard]] bool is_learnt() const noexcept { return given_.empty(); }

    /// Whether make() returns another one than the last time.
    [[nodiscard]] bool has_changed() { return is_stale_ || (is_learnt() && counts_.has_changed()); }
    [[nodiscard]] Workload make(const NodeCollection& nodes, const ResourceNames& names);

private:
    struct Given {
        Resource resource;
        std::vector<DeviceDemand> stated;
        std::vector<std::pair<std::string, std::string>> attributes;
        std::int64_t weight = 0;
    };

    [[nodiscard]] ResourceId measured(const NodeCollection& nodes, const ResourceNames& names) const;

    Duration half_life_ = config::FragmentationSettings::kDefaultHalfLife;
    std::string resource_; // as configured
    std::vector<std::string> others_;
    std::vector<Given> given_;
    WorkloadCounts counts_;
    bool is_stale_ = true;
};

} // namespace yk
