// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/core_side.h"

#include <string_view>
#include <unordered_set>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/base/fault_point.h"
#include "libcore/mcs/replicas/application_requests.h"

namespace yk::mcs {
namespace {

constexpr std::uint32_t kMostAttempts = 5; // of a recovery, as the core has it

[[nodiscard]] std::vector<std::string> keys_of(const ScheduleMemory& memory, std::string_view node_id) {
    std::vector<std::string> keys;
    for (const Placement& each : memory.row.placements)
        if (!each.node_id.empty() && (node_id.empty() || each.node_id == node_id)) keys.push_back(each.allocation_key);
    return keys;
}

} // namespace

std::string_view name_of(RmState state) {
    switch (state) {
    case RmState::New: return "new";
    case RmState::Recovering: return "recovering";
    case RmState::Running: return "running";
    case RmState::Failed: return "failed";
    }
    YK_UNREACHABLE("a state without a name");
}

void CoreSide::registered(bool recovers, Instant now) {
    parts_.rows.load_all(now);
    parts_.applications.clear();
    reason_.clear();
    state_ = RmState::Recovering;
    NodeKeeper::Placed placed;
    parts_.table.for_each([&](ScheduleMemory& memory) { report(memory, placed, now); });
    parts_.nodes.begin(std::move(placed));
    if (!recovers) return run(now);
    attempt_ = 1;
    end_recovery();
}

void CoreSide::lost(const std::string& why) {
    parts_.applications.clear();
    parts_.nodes.clear();
    applications_.clear();
    state_ = RmState::New;
    reason_ = why;
}

void CoreSide::handle(const CoreNotice& notice, Instant now) {
    std::visit([&](const auto& each) { on(each, now); }, notice);
}

// --- recovery --------------------------------------------------------------------------------------------------------

/// What was not wanted any more is not brought back, and what ran on a node that has gone begins anew.
void CoreSide::report(ScheduleMemory& memory, NodeKeeper::Placed& placed, Instant now) {
    std::vector<std::string> gone;
    for (const Placement& each : memory.row.placements) {
        const bool is_placed = each.state == PlacementState::Placed;
        if (is_placed && parts_.nodes.has_row(each.node_id))
            placed[each.node_id].push_back(ask_of(memory.row.application_id, memory.status, each));
        else if (is_placed || each.state == PlacementState::Releasing)
            gone.push_back(each.allocation_key);
    }
    for (const std::string& key : gone) lose(memory, key, now);
    if (memory.counts.placed > 0) parts_.applications.restore(memory);
}

void CoreSide::end_recovery() {
    const auto sums = parts_.make_sums();
    parts_.nodes.for_each([&](const Node& node) { sums->add(node); });
    std::as_const(parts_.table).for_each([&](const ScheduleMemory& memory) {
        if (!is_submitted(memory)) return;
        sums->add_application(memory.status.application.partition, memory.row.application_id);
        // What is given up is released when its row is written, and is in the core until then.
        const auto& held = memory.after_write.releases;
        const std::unordered_set<std::string_view> releases(held.begin(), held.end());
        for (const Placement& each : memory.row.placements)
            if (!each.node_id.empty() &&
                (each.state == PlacementState::Placed || releases.contains(each.allocation_key)))
                sums->add(ask_of(memory.row.application_id, memory.status, each), each.node_id);
    });
    parts_.requests.add(sums->result(attempt_));
}

void CoreSide::on(const RecoveryAnswered& notice, Instant now) {
    if (state_ != RmState::Recovering && state_ != RmState::Failed) return;
    if (notice.result == RecoveryAnswered::Result::Running) return run(now);
    reason_ = notice.reason;
    if (notice.result == RecoveryAnswered::Result::Failed || attempt_ >= kMostAttempts) {
        state_ = RmState::Failed;
        return;
    }
    for (const RecoveryAnswered::SetAside& each : notice.set_aside) give_up(each, now);
    ++attempt_;
    end_recovery();
}

/// What the core could not restore is taken away from there, and asked for anew once the recovery is over.
void CoreSide::give_up(const RecoveryAnswered::SetAside& object, Instant now) {
    if (object.application_id.empty()) return lose_node(object.node_id, now);
    ScheduleMemory* const memory = parts_.table.find_application(object.application_id);
    if (object.allocation_key.empty())
        parts_.requests.add(RemoveApplication{object.application_id, object.partition});
    else
        parts_.requests.add(ReleaseReplica{object.application_id, object.partition, object.allocation_key});
    if (memory != nullptr && object.allocation_key.empty()) {
        memory->phase = ApplicationPhase::Absent;
        lose_all(*memory, now);
    } else if (memory != nullptr) {
        lose(*memory, object.allocation_key, now);
    }
}

void CoreSide::run(Instant now) {
    state_ = RmState::Running;
    reason_.clear();
    parts_.applications.set_open(true);
    parts_.table.for_each([&](ScheduleMemory& memory) {
        if (memory.phase == ApplicationPhase::Accepted) parts_.applications.ask_all(memory);
        parts_.applications.submit(memory, now);
        parts_.table.look_at(memory, now);
    });
}

// --- what the core announces -----------------------------------------------------------------------------------------

void CoreSide::on(const ApplicationAccepted& notice, Instant now) {
    ScheduleMemory* const memory = parts_.table.find_application(notice.application_id);
    if (memory == nullptr || memory->phase != ApplicationPhase::Submitted) return;
    memory->phase = ApplicationPhase::Accepted;
    memory->unlisted = 0;
    if (state_ != RmState::Running) return;
    memory->message.clear();
    parts_.applications.ask_all(*memory);
    constexpr Duration kUntilPlaced = std::chrono::milliseconds{200}; // mostly its state is written with the placements
    parts_.table.look_at(*memory, now + kUntilPlaced);
}

/// Answers to what was withdrawn since may come late; what is submitted again then is there already, and accepted.
void CoreSide::on(const ApplicationRejected& notice, Instant now) {
    ScheduleMemory* const memory = parts_.table.find_application(notice.application_id);
    if (memory == nullptr || !is_submitted(*memory)) return;
    memory->phase = ApplicationPhase::Rejected;
    parts_.applications.refused(*memory, notice.reason, now);
    lose_all(*memory, now);
    parts_.table.look_at(*memory, now);
}

/// An application without replicas ends by itself, which is nothing unusual (rs R-133).
void CoreSide::on(const ApplicationEnded& notice, Instant now) {
    ScheduleMemory* const memory = parts_.table.find_application(notice.application_id);
    if (memory == nullptr || !is_submitted(*memory)) return;
    memory->phase = ApplicationPhase::Ended;
    if (memory->counts.wanted() > 0) parts_.applications.refused(*memory, notice.reason, now);
    lose_all(*memory, now);
    parts_.table.look_at(*memory, now);
}

void CoreSide::on(const ReplicaPlaced& notice, Instant now) {
    YK_FAULT(ReplicaPlaced);
    ScheduleMemory* const memory = parts_.table.find_application(notice.application_id);
    if (memory == nullptr) return;
    const std::int64_t now_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>((now + calendar_ahead_) - Instant{}).count();
    const Attempts attempts = memory->status.attempts();
    parts_.rows.carry_out(*memory, plan_placed(memory->row, attempts, notice.allocation_key, notice.node_id, now_ms),
                          now);
    if (memory->counts.placed < memory->row.desired || state_ != RmState::Running) return;
    memory->message.clear();
    ApplicationKeeper::forgive(*memory, now);
}

void CoreSide::on(const ReplicaGone& notice, Instant now) {
    if (ScheduleMemory* const memory = parts_.table.find_application(notice.application_id))
        lose(*memory, notice.allocation_key, now);
}

/// Who removes an application in the core says nothing of it to the Scheduler, which learns it from the next ask, or
/// from a list.
void CoreSide::on(const ReplicaRejected& notice, Instant now) {
    ScheduleMemory* const memory = parts_.table.find_application(notice.application_id);
    if (memory == nullptr) return;
    if (notice.has_no_application && state_ == RmState::Running) {
        if (memory->phase == ApplicationPhase::Accepted)
            on(ApplicationEnded{notice.application_id, notice.reason}, now);
        return; // else it is being submitted again, and all that waits is asked for then
    }
    const Attempts attempts = memory->status.attempts();
    const ReplicaPlan plan = plan_rejected(memory->row, attempts, notice.allocation_key);
    if (plan.is_empty()) return lose(*memory, notice.allocation_key, now);                  // it ran already
    for (const PlacementChange& change : plan.changes) memory->asked.erase(change.replica); // the same is asked again
    parts_.rows.carry_out(*memory, plan, now);
    parts_.applications.refused(*memory, notice.reason, now);
    parts_.table.look_at(*memory, memory->submit_at);
}

// --- what it has, as a list ------------------------------------------------------------------------------------------

void CoreSide::list_applications() const {
    if (state_ == RmState::Running) parts_.requests.list_applications();
}

/// What recovers is compared at the end of that.
void CoreSide::on(const ApplicationsListed& notice, Instant /*now*/) {
    if (state_ == RmState::Running) applications_.take(notice);
}

/// What the core does not have is removed there all the same: if that should be wrong, nothing of it runs twice.
std::optional<CoreSide::Mended> CoreSide::mend_application(Instant now) {
    if (state_ != RmState::Running) return std::nullopt;
    if (ScheduleMemory* const memory = applications_.take_removed()) {
        parts_.applications.withdraw(*memory, memory->status.application.partition);
        parts_.applications.refused(*memory, "the core does not have it any more; somebody has removed it there", now);
        lose_all(*memory, now);
        parts_.table.look_at(*memory, now);
        return Mended::Removed;
    }
    const auto unknown = applications_.take_unknown();
    if (!unknown) return std::nullopt;
    parts_.requests.add(RemoveApplication{unknown->application_id, unknown->partition});
    return Mended::Unknown;
}

void CoreSide::on(const NodeAccepted& /*notice*/, Instant /*now*/) {}

void CoreSide::on(const NodeRefused& notice, Instant now) {
    parts_.nodes.refused(notice);
    if (notice.was_create) lose_node(notice.node_id, now);
}

// --- what has gone ---------------------------------------------------------------------------------------------------

void CoreSide::lose(ScheduleMemory& memory, const std::string& key, Instant now) {
    parts_.rows.carry_out(memory, plan_gone(memory.row, memory.status.attempts(), key), now);
}

void CoreSide::lose_all(ScheduleMemory& memory, Instant now) {
    for (const std::string& key : keys_of(memory, {})) lose(memory, key, now);
}

void CoreSide::lose_node(std::string_view node_id, Instant now) {
    if (node_id.empty()) return;
    parts_.table.for_each([&](ScheduleMemory& memory) {
        for (const std::string& key : keys_of(memory, node_id)) lose(memory, key, now);
    });
}

} // namespace yk::mcs
