// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

namespace yk::mcs {

Scheduler::Scheduler(const SchedulerPorts& ports, const SchedulerSettings& settings, std::uint64_t seed)
    : schedules_(ports.schedules),
      nodes_(ports.nodes, ports.requests, settings.runs_commands),
      applications_(table_, ports.requests, settings.applications, seed),
      rows_(
          {ports.deployments, ports.scales, ports.schedules, ports.texts, ports.writes, table_, applications_},
          [this](std::string_view node_id) { return nodes_.is_usable(node_id); }, settings.placements, seed + 1),
      core_({table_, rows_, applications_, nodes_, ports.requests, ports.make_sums}) {}

// --- what the core should have ---------------------------------------------------------------------------------------

std::size_t Scheduler::check_nodes() {
    owner_thread_.claim();
    return core_.state() == RmState::New ? 0 : nodes_.check();
}

void Scheduler::node_changed(std::string_view id) {
    owner_thread_.claim();
    if (core_.state() != RmState::New) nodes_.update(id);
}

// --- the core --------------------------------------------------------------------------------------------------------

bool Scheduler::has_placements() const {
    owner_thread_.assert_here();
    bool has = false;
    schedules_.for_each([&](const rs::Ptr<DeploymentSchedule>& row) { has = has || row->placed > 0; });
    table_.for_each([&](const ScheduleMemory& memory) { has = has || memory.counts.placed > 0; });
    return has;
}

void Scheduler::registered(bool recovers, Instant now) {
    owner_thread_.claim();
    core_.registered(recovers, now);
}

void Scheduler::lost(const std::string& why) {
    owner_thread_.claim();
    core_.lost(why);
}

void Scheduler::handle(const CoreNotice& notice, Instant now) {
    owner_thread_.claim();
    core_.handle(notice, now);
}

std::size_t Scheduler::queues_changed(Instant now) {
    owner_thread_.claim();
    std::size_t count = 0;
    table_.for_each([&](ScheduleMemory& memory) {
        if (memory.refusals == 0) return;
        ++count;
        ApplicationKeeper::forgive(memory, now);
        table_.look_at(memory, now);
    });
    return count;
}

// --- time ------------------------------------------------------------------------------------------------------------

void Scheduler::turn(const Turn& turn) {
    owner_thread_.claim();
    rows_.turn(turn);
    for (std::string id = table_.take_due(turn.now); !id.empty(); id = table_.take_due(turn.now)) look(id, turn);
    applications_.send_asks(rows_.takes_asks());
}

std::optional<Instant> Scheduler::next_due(Instant now) const {
    owner_thread_.assert_here();
    std::optional<Instant> due;
    if (applications_.has_asks() && rows_.takes_asks()) due = now;
    for (const auto& each : {rows_.next_due(), table_.next_due()})
        if (each) due = due ? std::min(*due, *each) : *each;
    return due;
}

void Scheduler::look(std::string_view id, const Turn& turn) {
    if (ScheduleMemory* const memory = table_.find(id)) retry(*memory, turn.now);
    const rs::HandlerResult result = rows_.update(id, turn, {});
    ScheduleMemory* const memory = table_.find(id);
    if (memory == nullptr) return;
    using What = rs::HandlerResult::What;
    if (result.what() == What::Retry || result.what() == What::Conflict)
        table_.look_at(*memory, turn.now + ScheduleRows::kTryAgain);
    else
        plan_next_look(*memory, turn.now);
}

/// What the core has refused is asked for again when it is time. What is placed under an application that was not
/// submitted is not there: its row was seen only after the core had asked what there is.
void Scheduler::retry(ScheduleMemory& memory, Instant now) {
    if (core_.state() == RmState::Running && !is_submitted(memory) && memory.counts.placed > 0)
        core_.lose_all(memory, now);
    applications_.submit(memory, now);
    if (memory.phase == ApplicationPhase::Accepted && now >= memory.submit_at)
        rows_.carry_out(memory, plan_again(memory.row, memory.status.attempts()), now);
}

void Scheduler::plan_next_look(ScheduleMemory& memory, Instant now) {
    if (now < memory.submit_at) table_.look_at(memory, memory.submit_at);
    if (memory.short_since && memory.row.state != ScheduleState::Degraded) {
        const Instant degraded = *memory.short_since + kDegradedAfter + ScheduleRows::kTryAgain;
        if (now < degraded) table_.look_at(memory, degraded);
    }
}

void Scheduler::stand_down() {
    owner_thread_.claim();
    core_.lost({});
    rows_.stand_down();
    table_.clear();
}

} // namespace yk::mcs
