// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/dumps.h"
#include "libcore/reports/explain.h"
#include "libcore/reports/metrics.h"
#include "libcore/reports/pages.h"
#include "libcore/reports/snapshot.h"

#include <algorithm>

#include "libcore/base/check.h"
#include "tests/bench/cases/cluster.h"
#include "tests/bench/measure/isolate.h"

namespace yk::bench {

namespace {

constexpr const char* kPartition = "default";
constexpr std::size_t kChunk = 4096; // objects, as ykd takes them

class Dumps {
public:
    explicit Dumps(const ReloadParameters& p)
        : p_(p), workload_(make_reload_workload(p)), cluster_(workload_, callbacks_) {
        cluster_.submit(0, p.applications);
        cluster_.settle();
        YK_CHECK(callbacks_.made() == p.applications, "the cluster of the dumps does not run every application");
    }

    DumpsSample run() {
        ClusterContext& core = cluster_.core();
        const auto at_once = [](auto make) { return [make](ViewCursor&, std::size_t&) { return make(); }; };
        measure(at_once([&] { return partition_view(*core.read(kPartition)); }));
        measure(at_once([&] { return queue_view(*core.read(kPartition), "root", true); }));
        measure([&](ViewCursor& place, std::size_t& budget) {
            return application_page(*core.read(kPartition), ApplicationList::Active, kAllObjects, place, budget);
        });
        measure([&](ViewCursor& place, std::size_t& budget) {
            return node_page(*core.read(kPartition), kAllObjects, place, budget);
        });
        for (const auto& [groups, only] : {std::pair{false, ""}, {true, ""}, {false, "user-5000"}, {true, "group-500"}})
            measure([&, all_of = groups, one = only](ViewCursor& place, std::size_t& budget) {
                return usage_page(*core.read(kPartition), all_of, one, place, budget);
            });
        measure(at_once([&] { return rule_views(*core.read(kPartition)); }));
        measure(at_once([&] { return reservation_views(*core.read(kPartition)); }));
        PartitionMetrics metrics;
        measure([&](ViewCursor& place, std::size_t& budget) {
            metrics_page(*core.read(kPartition), place, budget, metrics);
            return 0;
        });
        HealthCursor checked;
        std::vector<HealthCheckView> checks;
        measure([&](ViewCursor&, std::size_t& budget) {
            core.health_page(checked, budget, checks);
            return 0;
        });
        measure(
            at_once([&] { return applications_with_key(*core.read(kPartition), Key{p_.applications / 2}.view()); }));
        result_.sample.asked = result_.sample.placed = p_.applications;
        result_.sample.peak_rss = peak_rss();
        result_.sample.sound = cluster_.check().empty();
        return result_;
    }

private:
    /// Calls `piece` until room is left; what it makes is taken apart elsewhere, as by a worker.
    template <class Page>
    void measure(Page&& page) {
        ViewCursor place;
        for (std::size_t budget = 0; budget == 0;) {
            budget = kChunk;
            const double start = wall_seconds();
            [[maybe_unused]] const auto made = page(place, budget);
            const double took = wall_seconds() - start;
            result_.stops.at(next_) = std::max(result_.stops.at(next_), took);
            result_.sample.seconds += took;
        }
        result_.sample.pause = std::max(result_.sample.pause, result_.stops.at(next_));
        ++next_;
    }

    const ReloadParameters p_;
    const Workload workload_;
    CopyingCallbacks callbacks_;
    Cluster cluster_;
    DumpsSample result_;
    std::size_t next_ = 0;
};

} // namespace

Result<DumpsSample> run_dumps(const ReloadParameters& parameters) {
    const Shared<DumpsSample> result;
    const std::string ended = in_child([&] { *result = Dumps{parameters}.run(); });
    if (!ended.empty()) return Error::of("D1 " + ended);
    return *result;
}

} // namespace yk::bench
