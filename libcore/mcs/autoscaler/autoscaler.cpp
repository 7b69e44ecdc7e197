// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/autoscaler.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace yk::mcs {
namespace {

using rs::HandlerResult;
using rs::Ptr;

constexpr Duration kOwnWriteCounts = seconds{5}; // as the newest row, while the cache does not show it

/// Whether a row is this one, or one that came after it.
[[nodiscard]] bool shows(const Ptr<DeploymentScale>& cached, const DeploymentScale& row) {
    return cached && cached->meta.uid == row.meta.uid && cached->meta.version >= row.meta.version;
}
[[nodiscard]] bool is_same(const DeploymentScale& a, const DeploymentScale& b) {
    return a.meta.uid == b.meta.uid && a.meta.version == b.meta.version;
}
/// Whether two rows say the same of the replicas. What else there is, others may write: how the row is deleted follows
/// the Deployment (rs R-134).
[[nodiscard]] bool says_same(const DeploymentScale& a, const DeploymentScale& b) {
    return a.desired == b.desired && a.reason == b.reason && a.observed_generation == b.observed_generation &&
           a.status == b.status;
}
/// Whether a row that is there was written by somebody who has no right to, over what this process knows.
[[nodiscard]] bool is_foreign(const ScaleMemory& memory, const DeploymentScale& row, const rs::Lease& lease) {
    const auto& trusted = memory.trusted;
    if (!memory.scale || !trusted || trusted->epoch != lease.epoch || row.writer_epoch > lease.epoch) return false;
    if (row.meta.uid == trusted->uid && row.meta.version <= trusted->version) return false; // an old look at it
    return !says_same(*memory.scale->row, row) && !(memory.in_doubt && says_same(*memory.in_doubt, row));
}

} // namespace

// --- what is asked of it ---------------------------------------------------------------------------------------------

HandlerResult Autoscaler::update(std::string_view id, const Turn& turn, Done done) {
    owner_thread_.claim();
    if (const auto refused = writer_.refusal(id, turn.lease)) return *refused;
    const Ptr<Deployment> deployment = ports_.deployments.get(id);
    if (!deployment) return HandlerResult::ok();
    ScaleMemory& memory = memory_of(*deployment, turn.now);
    const bool is_there = look_at_scale(memory, *deployment, turn);
    ScaleDecision made = decide(memory, *deployment, is_there, turn.now);
    decisions_.add(made.before, made.row.desired, made.decision);
    if (memory.scale) memory.scale->status.history = made.history;
    if (!made.is_needed) return HandlerResult::ok();
    write(std::move(made), is_there, turn, std::move(done));
    return HandlerResult::later();
}

HandlerResult Autoscaler::remove(const Deployment& gone, const Turn& turn, Done done) {
    owner_thread_.claim();
    if (const auto refused = writer_.refusal(gone.meta.id, turn.lease)) return *refused;
    const Ptr<DeploymentScale> row = newest_row(find(gone.meta.id, gone.meta.uid), gone.meta.id, turn.now);
    if (row && row->owner.uid == gone.meta.uid) return erase(*row, turn, std::move(done));
    forget(gone.meta.id, gone.meta.uid);
    return HandlerResult::ok();
}

HandlerResult Autoscaler::remove_orphan(const DeploymentScale& orphan, const Turn& turn, Done done) {
    owner_thread_.claim();
    if (const auto refused = writer_.refusal(orphan.meta.id, turn.lease)) return *refused;
    return erase(orphan, turn, std::move(done));
}

bool Autoscaler::is_known(const DeploymentScale& row) const {
    owner_thread_.assert_here();
    const auto found = memories_.find(row.meta.id);
    return found != memories_.end() && found->second.scale && is_same(*found->second.scale->row, row);
}

void Autoscaler::on_deleted(const DeploymentScale& row) {
    owner_thread_.claim();
    ScaleMemory* const memory = find(row.meta.id, row.owner.uid);
    if (memory != nullptr && memory->scale && memory->scale->row->meta.uid == row.meta.uid) memory->own_write.reset();
}

Instant Autoscaler::known_since(const Deployment& deployment, Instant now) {
    owner_thread_.claim();
    return memory_of(deployment, now).since;
}

Instant Autoscaler::behind_since(const Deployment& deployment, Instant now) {
    owner_thread_.claim();
    ScaleMemory& memory = memory_of(deployment, now);
    if (memory.behind_generation != deployment.meta.generation) {
        memory.behind_generation = deployment.meta.generation;
        memory.behind_since = now;
    }
    return memory.behind_since;
}

void Autoscaler::forget_gone() {
    owner_thread_.claim();
    if (memories_.size() <= ports_.deployments.size()) return;
    std::vector<std::pair<std::string, std::string>> gone;
    for (const auto& [id, memory] : memories_)
        if (!ports_.deployments.get(id) && !is_writing(id)) gone.emplace_back(id, memory.deployment_uid);
    for (const auto& [id, uid] : gone) forget(id, uid);
}

// --- what is known ---------------------------------------------------------------------------------------------------

ScaleMemory& Autoscaler::memory_of(const Deployment& deployment, Instant now) {
    ScaleMemory& memory = memories_.try_emplace(deployment.meta.id).first->second;
    if (memory.deployment_uid != deployment.meta.uid) {
        if (!memory.deployment_uid.empty()) ports_.metrics.keep_only(memory.deployment_uid, nullptr);
        memory = {};
        memory.deployment_uid = deployment.meta.uid;
        memory.since = now;
    }
    if (memory.generation != deployment.meta.generation) read_policy(memory, deployment);
    return memory;
}

ScaleMemory* Autoscaler::find(std::string_view id, std::string_view deployment_uid) {
    const auto found = memories_.find(id);
    return found == memories_.end() || found->second.deployment_uid != deployment_uid ? nullptr : &found->second;
}

void Autoscaler::forget(std::string_view id, std::string_view deployment_uid) {
    ports_.metrics.keep_only(deployment_uid, nullptr);
    if (find(id, deployment_uid) != nullptr) memories_.erase(memories_.find(id));
}

void Autoscaler::read_policy(ScaleMemory& memory, const Deployment& deployment) {
    Result<ScalingPolicy> policy = ports_.texts.policy_of(*deployment.policy);
    memory.generation = deployment.meta.generation;
    memory.is_policy_broken = !policy.ok();
    memory.policy = policy.ok() ? std::move(policy).value() : ScalingPolicy{};
    ports_.metrics.keep_only(memory.deployment_uid, &memory.policy);
}

/// What this process wrote last, until the cache shows it or some seconds have passed; else what the cache has.
Ptr<DeploymentScale> Autoscaler::newest_row(ScaleMemory* memory, std::string_view id, Instant now) const {
    Ptr<DeploymentScale> cached = ports_.scales.get(id);
    if (memory == nullptr || !memory->own_write) return cached;
    const Ptr<DeploymentScale>& own = memory->scale->row;
    if (!shows(cached, *own) && now - *memory->own_write < kOwnWriteCounts) return own;
    memory->own_write.reset();
    return cached;
}

/// Whether the Deployment has a scale; `memory` has it then, with the status that this process knows or, if an earlier
/// leader wrote the row, the one that is in it. What somebody else wrote into it while this process leads is no part of
/// that: the next write takes it back.
bool Autoscaler::look_at_scale(ScaleMemory& memory, const Deployment& deployment, const Turn& turn) {
    Ptr<DeploymentScale> row = newest_row(&memory, deployment.meta.id, turn.now);
    if (!row || row->owner.uid != deployment.meta.uid) return false;
    auto& trusted = memory.trusted;
    const auto trust = [&] {
        if (trusted && trusted->epoch == turn.lease.epoch && trusted->uid == row->meta.uid &&
            trusted->version >= row->meta.version)
            return;
        trusted = {row->meta.uid, row->meta.version, turn.lease.epoch};
    };
    if (memory.scale && is_same(*memory.scale->row, *row)) {
        if (!memory.scale->is_foreign) trust();
        return true;
    }
    if (is_foreign(memory, *row, turn.lease)) {
        take_back(memory, *row);
        return true;
    }
    trust();
    memory.in_doubt.reset();
    Result<ScaleStatus> status = ports_.texts.status_of(row->status, turn.now);
    memory.scale = KnownScale{std::move(row), status.ok() ? std::move(status).value() : ScaleStatus{}, {}};
    memory.scale->written = range_of(memory.scale->status.history);
    return true;
}

/// What is known stays as it was; only the version becomes that of the row that is there, to be written over it.
void Autoscaler::take_back(ScaleMemory& memory, const DeploymentScale& row) {
    ++foreign_writes_;
    auto known = std::make_shared<DeploymentScale>(*memory.scale->row);
    known->meta = row.meta;
    known->cascade_parent = row.cascade_parent;
    memory.scale->row = std::move(known);
    memory.scale->is_foreign = true;
}

ScaleDecision Autoscaler::decide(ScaleMemory& memory, const Deployment& deployment, bool is_there, Instant now) const {
    Ptr<DeploymentSchedule> schedule = ports_.schedules.get(deployment.meta.id);
    if (schedule && schedule->owner.uid != deployment.meta.uid) schedule.reset(); // of an earlier life of the id
    const std::int64_t placed = schedule ? schedule->placed : 0;
    if (!memory.policy.metrics.empty()) memory.placed.note(placed, now);
    MetricReadings readings;
    readings.values.resize(memory.policy.metrics.size());
    const bool needs_none =
        deployment.replicas || (deployment.is_paused && memory.scale); // nobody is asked for nothing
    if (!needs_none)
        readings =
            read_metrics(ports_.metrics, ports_.sources, deployment, schedule.get(), memory.policy, memory.placed, now);
    DecisionInput input{deployment, memory.policy};
    input.is_policy_broken = memory.is_policy_broken;
    input.last = memory.scale ? &*memory.scale : nullptr;
    input.is_there = is_there;
    input.last_write = memory.last_write;
    input.placed = placed;
    input.readings = readings.values;
    input.fault = readings.fault;
    input.now = now;
    input.wall = now + calendar_ahead_;
    return mcs::decide(input);
}

// --- what is written -------------------------------------------------------------------------------------------------

void Autoscaler::write(ScaleDecision made, bool is_there, const Turn& turn, Done done) {
    made.row.status = ports_.texts.text_of(made.status, turn.now);
    made.row.writer_epoch = turn.lease.epoch;
    WriteCommand command = InsertScale{made.row};
    if (is_there) command = UpdateScale{made.row, {made.row.meta.uid, made.row.meta.version}};
    writer_.write(turn.lease, std::move(command),
                  [this, made = std::move(made), done = std::move(done)](const WriteOutcome& outcome, Instant now) {
                      take_over(made, outcome, now);
                      if (done) done(outcome, result_of(outcome, false), now);
                  });
}

/// What was written becomes what is known, with the change of the number in its history; what was refused is not known
/// to be so.
void Autoscaler::take_over(const ScaleDecision& made, const WriteOutcome& outcome, Instant now) {
    owner_thread_.claim();
    const auto* const written = std::get_if<Written>(&outcome);
    ScaleMemory* const memory = find(made.row.meta.id, made.row.owner.uid);
    if (memory != nullptr && std::holds_alternative<Transient>(outcome))
        memory->in_doubt = std::make_shared<DeploymentScale>(made.row);
    if (written == nullptr && !std::holds_alternative<Conflict>(outcome)) return;
    ports_.read_again(made.row.meta.id, now);
    if (memory == nullptr) return;
    if (written == nullptr) return memory->own_write.reset();
    auto row = std::make_shared<DeploymentScale>(made.row);
    row->meta.uid = written->uid;
    row->meta.version = written->version;
    memory->trusted = {row->meta.uid, row->meta.version, row->writer_epoch};
    memory->in_doubt.reset();
    memory->scale = KnownScale{std::move(row), made.status, range_of(made.status.history)};
    memory->own_write = memory->last_write = now;
}

HandlerResult Autoscaler::erase(const DeploymentScale& row, const Turn& turn, Done done) {
    DeleteScale command{row.meta.id, {row.meta.uid, row.meta.version}, true};
    writer_.write(turn.lease, std::move(command),
                  [this, id = row.meta.id, deployment_uid = row.owner.uid,
                   done = std::move(done)](const WriteOutcome& outcome, Instant now) {
                      ScaleMemory* const memory = find(id, deployment_uid);
                      if (memory != nullptr) memory->own_write.reset();
                      if (std::holds_alternative<Written>(outcome)) forget(id, deployment_uid);
                      ports_.read_again(id, now);
                      if (done) done(outcome, result_of(outcome, true), now);
                  });
    return HandlerResult::later();
}

} // namespace yk::mcs
