// SPDX-License-Identifier: Apache-2.0
#pragma once
// WorkloadCounts: learns from the asks that arrive which ones are to be expected (F-020). The workload is the shortest
// list of the commonest shapes that holds 95 % of what arrived.
//
// Owner: PartitionState. Thread: the partition's owner. Cost: an ask a few instructions; a workload a sort of the
// shapes. Of more than kMostEntries sizes of asks the rarer half is forgotten.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/base/hash_index.h"
#include "libcore/model/shape.h"
#include "libcore/nodes/workload.h"

namespace yk {

class WorkloadCounts {
public:
    static constexpr std::size_t kMostEntries = 4096;
    static constexpr std::size_t kMostShapes = 500; // of the workload, whatever share of the asks they are

    /// An ask of the shape arrived.
    void count(ShapeTable& shapes, ShapeId id);
    /// What arrived so far counts half (half-life of F-020).
    void halve();
    /// By which resources asks differ: the measured one, and those beside it. `by_name`: these in the order of their
    /// names, the measured one as 0, the others from 1 on.
    void measure_by(ResourceId resource, std::vector<ResourceId> others, std::vector<std::size_t> by_name);
    /// Whether the workload is another one than was last taken: the counts changed by 5 %; or a shape comes into the
    /// list or goes from it, which is looked at once the counts have changed by 1 %.
    [[nodiscard]] bool has_changed();
    /// The workload of what arrived.
    [[nodiscard]] Workload take();
    /// Of the types that asks name, by how many asks.
    template <class F>
    void for_each_type(F&& f) const {
        for (const Entry& each : entries_)
            each.resource.for_each([&](ResourceId type, std::int64_t amount) {
                if (amount > 0) f(type, each.count);
            });
    }

private:
    struct Entry {
        Resource resource;
        std::vector<DeviceDemand> stated;
        std::int64_t count = 0;
        std::uint32_t kind = 0;
    };
    struct Kind {
        WorkloadShape shape; // its weight: how many arrived
        bool is_expected = false;
    };

    [[nodiscard]] std::uint32_t entry_of(ShapeTable& shapes, const Shape& shape);
    void forget_rare(ShapeTable& shapes);
    [[nodiscard]] std::uint32_t kind_of(const Entry& entry);
    void sort_into_kinds();
    [[nodiscard]] std::vector<std::size_t> commonest() const;
    [[nodiscard]] bool comes_before(const WorkloadShape& a, const WorkloadShape& b) const;

    ResourceId resource_ = ResourceNames::npos;
    std::vector<ResourceId> others_;
    std::vector<std::size_t> by_name_;
    std::vector<Entry> entries_;
    HashIndex<Id<Entry>> by_hash_;
    std::vector<Kind> kinds_;
    HashIndex<Id<Kind>> kinds_by_hash_;
    std::int64_t total_ = 0;    // all counts
    std::int64_t expected_ = 0; // those of the workload
    std::int64_t least_ = 0;    // the least of these when it was taken
    std::int64_t changed_ = 0;  // since it was taken
    bool may_enter_ = false;    // a shape that is not expected comes as often as the least of them
    bool is_stale_ = true;
};

} // namespace yk
