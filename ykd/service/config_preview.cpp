#include "ykd/service/config_preview.h"

#include <algorithm>

#include "ykd/service/gather.h"
#include "ykd/service/limit_effects.h"

namespace yk::service {
namespace {

/// A preview in the making, on the owner thread.
struct Sketch {
    Preview preview;
    std::vector<std::string> partitions; // those that are still to be looked at, the next one last
    enum class Step { Refusal, Numbers, Applications } step = Step::Refusal;
    ViewPlace place;
};

class Sketcher {
public:
    Sketcher(ConfigurationPtr wanted, bool with_state, bool with_applications)
        : wanted_(std::move(wanted)), with_state_(with_state), with_applications_(with_applications) {}

    /// The next piece (adr 0008); true: it was the last.
    bool add_to(Sketch& sketch, RmOwner& owner) const {
        const ClusterContext* context = owner.context();
        if (context == nullptr) return true;
        if (sketch.step == Sketch::Step::Refusal) return begin(sketch, *context);
        if (sketch.step == Sketch::Step::Numbers) return add_numbers(sketch, *context);
        return add_applications(sketch, *context);
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
    bool add_numbers(Sketch& sketch, const ClusterContext& context) const {
        const std::string& name = sketch.partitions.back();
        std::vector<RunningPartition>& running = sketch.preview.running;
        if (running.empty() || running.back().name != name) running.push_back({name, {}, {}, {}});
        std::size_t room = kPiece;
        context.metrics_piece(name, sketch.place, room, running.back().metrics);
        if (room == 0) return false;
        sketch.place = {};
        running.back().reapplied = context.template_changes(name, *wanted_);
        if (!with_applications_) return next_partition(sketch);
        sketch.step = Sketch::Step::Applications;
        return false;
    }
    static bool add_applications(Sketch& sketch, const ClusterContext& context) {
        RunningPartition& partition = sketch.preview.running.back();
        std::size_t room = kPiece;
        for (CountedApplicationView& each : context.counted_piece(partition.name, sketch.place, room))
            partition.applications.push_back(std::move(each));
        if (room == 0) return false;
        sketch.place = {};
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

void look_ahead(Daemon& daemon, const RmPtr& rm, const ConfigurationPtr& wanted, bool with_state,
                std::function<void(const Preview&)> done, RmOwner::Gone gone) {
    const ConfigurationPtr active = rm->facts().configuration;
    const bool with_applications = with_state && active && changes_limits(*active, *wanted);
    const Sketcher sketcher(wanted, with_state, with_applications);
    gather_in_pieces<Sketch>(
        daemon.workers(), {rm}, [sketcher](RmOwner& owner, Sketch& sketch) { return sketcher.add_to(sketch, owner); },
        [done = std::move(done), gone = std::move(gone)](std::vector<Gathered<Sketch>> all) {
            all.empty() ? gone() : done(all.front().answer.preview);
        });
}

} // namespace yk::service
