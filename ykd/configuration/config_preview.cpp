// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/config_preview.h"

#include <algorithm>

#include "libcore/reports/metrics.h"
#include "libcore/reports/pages.h"
#include "ykd/configuration/limit_effects.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

/// A preview in the making. Thread: the owner thread.
struct Sketch {
    Preview preview;
    std::vector<std::string> partitions; // that are still to be read, the next one last
    enum class Step { Refusal, Numbers, Applications } step = Step::Refusal;
    ViewCursor cursor; // of the step under way
};

/// Adds to a sketch, chunk by chunk, so that cycles run in between (docs/adr/0008).
class Sketcher {
public:
    Sketcher(ConfigurationPtr wanted, bool with_state, bool with_applications)
        : wanted_(std::move(wanted)), with_state_(with_state), with_applications_(with_applications) {}

    /// Adds the next chunk. True: it was the last.
    bool add_to(Sketch& sketch, RmOwner& owner) const {
        const ClusterContext* context = owner.context();
        if (context == nullptr) return true;
        if (sketch.step == Sketch::Step::Refusal) return begin(sketch, *context);
        if (sketch.step == Sketch::Step::Numbers) return add_numbers(sketch, owner);
        return add_applications(sketch, owner);
    }

private:
    bool begin(Sketch& sketch, const ClusterContext& context) const {
        if (const auto possible = context.check_configuration(*wanted_); !possible.ok())
            sketch.preview.refusal = possible.error().text();
        sketch.step = Sketch::Step::Numbers;
        if (with_state_) sketch.partitions = context.partition_names();
        std::reverse(sketch.partitions.begin(), sketch.partitions.end());
        return sketch.partitions.empty();
    }
    bool add_numbers(Sketch& sketch, RmOwner& owner) const {
        const std::string& name = sketch.partitions.back();
        std::vector<RunningPartition>& running = sketch.preview.running;
        if (running.empty() || running.back().name != name) running.push_back({name, {}, {}, {}});
        std::size_t budget = kChunk;
        if (const PartitionState* state = owner.read(name))
            metrics_page(*state, sketch.cursor, budget, running.back().metrics);
        if (budget == 0) return false;
        sketch.cursor = {};
        running.back().reapplied = owner.context()->template_changes(name, *wanted_);
        if (!with_applications_) return next_partition(sketch);
        sketch.step = Sketch::Step::Applications;
        return false;
    }
    static bool add_applications(Sketch& sketch, RmOwner& owner) {
        RunningPartition& partition = sketch.preview.running.back();
        std::size_t budget = kChunk;
        if (const PartitionState* state = owner.read(partition.name))
            for (ChargedApplicationView& each : charged_page(*state, sketch.cursor, budget))
                partition.applications.push_back(std::move(each));
        if (budget == 0) return false;
        sketch.cursor = {};
        return next_partition(sketch);
    }
    static bool next_partition(Sketch& sketch) {
        sketch.partitions.pop_back();
        sketch.step = Sketch::Step::Numbers;
        return sketch.partitions.empty();
    }

    const ConfigurationPtr wanted_;
    const bool with_state_, with_applications_;
};

} // namespace

void look_ahead(Workers& workers, const RmPtr& rm, const ConfigurationPtr& wanted, bool with_state,
                std::function<void(const Preview&)> done, RmThread::Gone left) {
    const ConfigurationPtr active = rm->facts().configuration;
    const bool with_applications = with_state && active && changes_limits(*active, *wanted);
    const Sketcher sketcher(wanted, with_state, with_applications);
    gather_in_chunks<Sketch>(
        workers, {rm}, [sketcher](RmOwner& owner, Sketch& sketch) { return sketcher.add_to(sketch, owner); },
        [done = std::move(done), left = std::move(left)](std::vector<Gathered<Sketch>> all) {
            all.empty() ? left() : done(all.front().answer.preview);
        });
}

} // namespace yk::service
