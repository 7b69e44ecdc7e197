// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/history_keeper.h"

#include "libcore/model/application_state.h"
#include "libcore/reports/snapshot.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

using Sample = HistoryKeeper::Sample;

Sample sample_of(RmOwner& owner) {
    Sample sample;
    if (owner.context() == nullptr) return sample;
    for (const std::string& name : owner.context()->partition_names()) {
        const PartitionState* state = owner.read(name);
        if (state == nullptr) continue;
        const PartitionView view = partition_view(*state);
        const auto running = view.application_states.find(std::string(text_of(ApplicationState::Running)));
        sample[owner.context()->full_name(name)] = {running == view.application_states.end() ? 0 : running->second,
                                                    view.allocations};
    }
    return sample;
}

} // namespace

void HistoryKeeper::take(const RmTable& rms, Workers& workers) {
    const Instant at = real_now();
    {
        const std::lock_guard lock(mutex_);
        if (!asking_) {
            asking_ = true;
        } else { // an owner thread has not answered for a whole interval
            kept_.push_back({at, std::nullopt});
            if (kept_.size() > size_) kept_.pop_front();
            return;
        }
    }
    gather<Sample>(workers, rms.all(), Lane::Control, sample_of, [this, at](std::vector<Gathered<Sample>>&& all) {
        Sample sum;
        for (auto& [rm, sample] : all) sum.merge(sample);
        keep(at, std::move(sum));
    });
}

void HistoryKeeper::keep(Instant at, std::optional<Sample> sample) {
    const std::lock_guard lock(mutex_);
    asking_ = false;
    kept_.push_back({at, std::move(sample)});
    if (kept_.size() > size_) kept_.pop_front();
}

wire::Value HistoryKeeper::dump(const std::string& partition) const {
    wire::Value applications = wire::Value::array(), containers = wire::Value::array();
    const std::lock_guard lock(mutex_);
    for (const Kept& one : kept_) {
        Counts sum;
        if (one.sample) {
            for (const auto& [name, counts] : *one.sample) {
                if (!partition.empty() && name != partition) continue;
                sum.applications += counts.applications;
                sum.containers += counts.containers;
            }
        } else {
            sum = {-1, -1};
        }
        applications.push_back({{"timestamp", one.at.ns}, {"totalApplications", std::to_string(sum.applications)}});
        containers.push_back({{"timestamp", one.at.ns}, {"totalContainers", std::to_string(sum.containers)}});
    }
    return {{"apps", std::move(applications)}, {"containers", std::move(containers)}};
}

} // namespace yk::service
