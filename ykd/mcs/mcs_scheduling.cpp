// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/mcs_scheduling.h"

#include <algorithm>

#include "libcore/base/pluralize.h"
#include "ykd/mcs/core_link/core_sums.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

mcs::SchedulerSettings settings_of(const McsSettings& settings, bool runs_commands) {
    mcs::SchedulerSettings made;
    made.placements.most_unwritten = settings.max_unwritten;
    made.runs_commands = runs_commands;
    return made;
}

} // namespace

McsScheduling::McsScheduling(const Parts& parts, Instant now)
    : parts_(parts),
      scheduler_(ports(), settings_of(parts_.settings, parts_.worker != nullptr), parts_.seed),
      link_({parts_.give, parts_.post, parts_.settings.rm_id, parts_.seed + 10, begin_work()}, requests_, listener()),
      on_deployment_(scheduler_, parts_.deployments),
      on_scale_(scheduler_, parts_.scales, parts_.deployments.cache()),
      on_schedule_(scheduler_, parts_.schedules),
      on_node_(scheduler_, parts_.nodes),
      reconciler_(scheduler_, {parts_.deployments.cache(), parts_.scales.cache(), parts_.schedules.cache()}) {
    const rs::HandlerOptions options = mcs::options_of(mcs::kSchedulerService);
    parts_.deployments.add_handler(on_deployment_, options, now);
    parts_.scales.add_handler(on_scale_, options, now);
    rs::HandlerOptions of_own_row = options;
    of_own_row.wants_every_version = true; // it writes the row by its version, which others may raise
    parts_.schedules.add_handler(on_schedule_, of_own_row, now);
    parts_.nodes.add_handler(on_node_, options, now);
    if (work_) { // commands run only of rows that it was given
        rs::HandlerOptions needs = options;
        needs.needs_initial = true;
        parts_.schedules.add_handler(*work_, needs, now);
    }
    parts_.manager.add(reconciler_, {std::string{mcs::kSchedulerService}, parts_.settings.scheduler_reconcile_period});
}

mcs::SchedulerPorts McsScheduling::ports() {
    return {parts_.deployments.cache(),
            parts_.scales.cache(),
            parts_.schedules.cache(),
            parts_.nodes.cache(),
            texts_,
            parts_.writes,
            requests_,
            make_core_sums};
}

CoreLink::Listener McsScheduling::listener() {
    return {[this] { return scheduler_.has_placements(); },
            [this](bool recovers, Instant now) { scheduler_.registered(recovers, now); },
            [this](const mcs::CoreNotice& notice, Instant now) { scheduler_.handle(notice, now); },
            [this](const std::string& why, Instant /*now*/) { scheduler_.lost(why); }};
}

LocalWork* McsScheduling::begin_work() {
    if (!parts_.worker) return nullptr;
    return &work_.emplace(
        LocalWork::Parts{parts_.settings.local, parts_.nodes.cache(), requests_, parts_.worker, parts_.ask_names,
                         parts_.post, [this](si::AllocationRelease release) { link_.confirm(std::move(release)); }});
}

/// One that is in doubt leads still, and writes nothing; the core keeps what it has.
void McsScheduling::lease_changed(const std::optional<rs::Lease>& lease, Instant now) {
    if (lease_ && (!lease || lease->epoch != lease_->epoch)) {
        link_.stop();
        scheduler_.stand_down();
        if (work_) work_->stand_down();
    }
    lease_ = lease;
    parts_.manager.set_lease(mcs::kSchedulerService, lease, now);
}

void McsScheduling::queues_changed(Instant now) {
    if (const std::size_t count = scheduler_.queues_changed(now); count > 0)
        log("mcs").info("another configuration: {} that the core refused asked for again",
                        pluralize(count, "deployment"));
}

bool McsScheduling::turn(Instant now) {
    if (lease_ && parts_.manager.is_running()) link_.begin();
    const bool has_ended = work_ && work_->turn(now);
    const bool any = link_.turn(now) || has_ended;
    const auto due = scheduler_.next_due(now);
    if (!lease_ || !lease_->is_valid || !due || *due > now) return any;
    scheduler_.turn({*lease_, now});
    return true;
}

std::optional<Instant> McsScheduling::next_due(Instant now) const {
    std::optional<Instant> due = link_.next_due();
    if (const auto other = work_ ? work_->next_due() : std::nullopt) due = due ? std::min(*due, *other) : *other;
    if (!lease_ || !lease_->is_valid) return due;
    if (const auto other = scheduler_.next_due(now)) due = due ? std::min(*due, *other) : *other;
    return due;
}

void McsScheduling::flush(Instant now) {
    constexpr Duration kGathered = std::chrono::seconds{1}; // what waits for others waits no longer
    if (lease_ && lease_->is_valid) scheduler_.turn({*lease_, now + kGathered});
}

} // namespace yk::service
