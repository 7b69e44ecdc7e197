// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/schedule_rows.h"
#include "libcore/mcs/replicas/application_requests.h"

#include <algorithm>
#include <utility>

namespace yk::mcs {
namespace {

using rs::HandlerResult;
using rs::Ptr;
using Replicas = std::vector<std::int64_t>;

/// Each once.
void sort_out(Replicas& replicas) {
    std::sort(replicas.begin(), replicas.end());
    replicas.erase(std::unique(replicas.begin(), replicas.end()), replicas.end());
}

/// The replicas whose placements differ.
[[nodiscard]] Replicas differences(const std::vector<Placement>& ours, const std::vector<Placement>& theirs) {
    Replicas replicas;
    auto our = ours.begin();
    auto their = theirs.begin();
    while (our != ours.end() || their != theirs.end()) {
        const bool has_ours = their == theirs.end() || (our != ours.end() && our->replica <= their->replica);
        const bool has_theirs = our == ours.end() || (their != theirs.end() && their->replica <= our->replica);
        if (!has_ours || !has_theirs || !(*our == *their)) replicas.push_back(has_ours ? our->replica : their->replica);
        if (has_ours) ++our;
        if (has_theirs) ++their;
    }
    return replicas;
}

} // namespace

/// A write of a row that is under way.
struct ScheduleRows::RowWrite {
    std::uint64_t term = 0;
    SchedulePlan plan;
    Replicas replicas;                    // that it writes
    std::optional<ScheduleMemory> made{}; // a schedule that is known once its row is there
    Done done;
};

ScheduleRows::ScheduleRows(const Ports& ports, IsUsable is_usable, const PlacementWriterSettings& settings,
                           std::uint64_t seed)
    : ports_(ports),
      is_usable_(std::move(is_usable)),
      writer_(ports.writes, kSchedulerService),
      placements_(ports.writes, settings, seed,
                  [this](const ScheduleKey& key, const PlacementWriter::Changes& changes, const WriteOutcome& outcome,
                         Instant now) { placements_ended(key, changes, outcome, now); }) {}

// --- what is asked of it ---------------------------------------------------------------------------------------------

HandlerResult ScheduleRows::update(std::string_view id, const Turn& turn, Done done) {
    if (const auto refused = writer_.refusal(id, turn.lease)) return *refused;
    const Ptr<Deployment> deployment = ports_.deployments.get(id);
    const Ptr<DeploymentScale> scale = ports_.scales.get(id);
    if (!deployment || !scale || scale->owner.uid != deployment->meta.uid) return HandlerResult::ok();
    const auto write = std::make_shared<RowWrite>();
    write->term = term_;
    write->done = std::move(done);
    ScheduleMemory* memory = known(id, turn.now);
    if (memory == nullptr || memory->row.owner.uid != deployment->meta.uid)
        memory = &write->made.emplace(first_memory(*deployment));
    else if (placements_.is_writing(memory->key()))
        return HandlerResult::conflict("placements of it are being written");
    if (memory->generation != deployment->meta.generation) {
        memory->generation = deployment->meta.generation;
        ApplicationKeeper::forgive(*memory, turn.now);
    }
    write->plan = plan_schedule(*memory, *deployment, *scale, {is_usable_}, turn.now);
    if (!write->plan.is_needed) return HandlerResult::ok();
    hand_out(*memory, write, turn);
    return HandlerResult::later();
}

HandlerResult ScheduleRows::remove(std::string_view id, std::string_view deployment_uid, const Turn& turn, Done done) {
    if (const auto refused = writer_.refusal(id, turn.lease)) return *refused; // it may make one that is not known yet
    ScheduleMemory* const memory = known(id, turn.now);
    if (memory == nullptr || memory->row.owner.uid != deployment_uid) return HandlerResult::ok();
    const Ptr<DeploymentSchedule> cached = ports_.schedules.get(id);
    if (cached && cached->meta.uid == memory->row.meta.uid && cached->owner.uid != deployment_uid)
        return HandlerResult::ok(); // it was released, or has another owner by now
    if (!memory->is_there) {
        give_up(*memory);
        return HandlerResult::ok();
    }
    if (placements_.is_writing(memory->key())) return HandlerResult::conflict("placements of it are being written");
    return erase(memory->key(), memory->row.meta.version, turn, std::move(done));
}

HandlerResult ScheduleRows::row_changed(const DeploymentSchedule& row, const Turn& turn, Done done) {
    const std::string& id = row.meta.id;
    if (deleted_.contains(row.meta.uid)) return HandlerResult::ok();
    // What is being written is seen here again when it is in the database.
    if (writer_.is_writing(id)) return HandlerResult::again_after(kTryAgain);
    ScheduleMemory* memory = ports_.table.find(id);
    const bool is_another = memory != nullptr && memory->row.meta.uid != row.meta.uid;
    if (is_another && placements_.is_writing(memory->key())) return HandlerResult::again_after(kTryAgain);
    if (is_another && !take_up(*memory, row)) {
        give_up(*memory);
        memory = nullptr;
    }
    if (memory == nullptr && !has_own_application(row))
        return HandlerResult::permanent("its application " + row.application_id +
                                        " is that of another schedule: it was copied by hand, and has to be deleted");
    if (memory == nullptr) {
        load(row, turn.now);
        return update(id, turn, std::move(done));
    }
    if (placements_.is_busy(memory->key()) || row.meta.version < memory->row.meta.version) return HandlerResult::ok();
    take_back(*memory, row, turn.now);
    return update(id, turn, std::move(done));
}

/// Whether the row is the one that was written in the place of one that had gone, though nobody knew whether it was.
bool ScheduleRows::take_up(ScheduleMemory& memory, const DeploymentSchedule& row) {
    const bool is_ours = row.application_id == memory.row.application_id && row.owner.uid == memory.row.owner.uid;
    if (memory.is_there || !is_ours) return false;
    static_cast<void>(placements_.take(memory.key())); // what differs is found anew
    memory.row.meta = row.meta;
    memory.is_there = true;
    return true;
}

HandlerResult ScheduleRows::row_deleted(const rs::ResourceMeta& last, const Turn& turn, Done done) {
    deleted_.erase(last.uid);
    ScheduleMemory* const memory = ports_.table.find(last.id);
    if (memory == nullptr && writer_.is_writing(last.id)) return HandlerResult::conflict("the row is being written");
    if (memory == nullptr) return update(last.id, turn, std::move(done)); // it was none that could be used
    if (memory->row.meta.uid != last.uid) return HandlerResult::ok();
    memory->is_there = false;
    const Ptr<Deployment> owner = ports_.deployments.get(last.id);
    if (owner && owner->meta.uid == memory->row.owner.uid) return update(last.id, turn, std::move(done));
    give_up(*memory);
    return HandlerResult::ok();
}

HandlerResult ScheduleRows::remove_orphan(const DeploymentSchedule& row, const Turn& turn, Done done) {
    if (const auto refused = writer_.refusal(row.meta.id, turn.lease)) return *refused;
    const ScheduleMemory* const memory = ports_.table.find(row.meta.id);
    if (memory != nullptr && placements_.is_writing(memory->key()))
        return HandlerResult::conflict("placements of it are being written");
    return erase({row.meta.id, row.meta.uid}, row.meta.version, turn, std::move(done));
}

HandlerResult ScheduleRows::recount(std::string_view id, const Turn& turn, Done done) {
    if (ScheduleMemory* const memory = ports_.table.find(id)) memory->after_write.is_due = true;
    return update(id, turn, std::move(done));
}

// --- what is known ---------------------------------------------------------------------------------------------------

ScheduleMemory* ScheduleRows::known(std::string_view id, Instant now) {
    if (ScheduleMemory* const memory = ports_.table.find(id)) return memory;
    const Ptr<DeploymentSchedule> row = ports_.schedules.get(id);
    return row && !deleted_.contains(row->meta.uid) && has_own_application(*row) ? &load(*row, now) : nullptr;
}

void ScheduleRows::load_all(Instant now) {
    ports_.schedules.for_each([&](const Ptr<DeploymentSchedule>& row) { static_cast<void>(known(row->meta.id, now)); });
}

/// A status that cannot be read is made anew from the Deployment, if there is one.
ScheduleMemory& ScheduleRows::load(const DeploymentSchedule& row, Instant now) {
    ScheduleMemory made;
    made.row = row;
    made.is_there = true;
    made.counts = counts_of(row.placements);
    made.note_shortage(row.desired, now);
    Result<ScheduleStatus> status = ports_.texts.status_of(row.status);
    if (status.ok()) {
        made.status = std::move(status).value();
    } else {
        const Ptr<Deployment> deployment = ports_.deployments.get(row.meta.id);
        made.status = first_status(deployment ? *deployment : Deployment{});
        made.status.next_attempt = outdated(row, {}).next;
        made.after_write.is_due = true;
    }
    ScheduleMemory& memory = ports_.table.add(std::move(made));
    ports_.table.look_at(memory, now);
    return memory;
}

/// The schedule has gone, or nobody knows it any more: what it has in the core goes, too.
void ScheduleRows::give_up(ScheduleMemory& memory) {
    ports_.applications.withdraw(memory, memory.status.application.partition);
    if (!placements_.is_writing(memory.key())) static_cast<void>(placements_.take(memory.key()));
    ports_.table.erase(std::string{memory.row.meta.id});
}

/// The database has the row as somebody else wrote it; who owns it now is not for this service to say.
void ScheduleRows::take_back(ScheduleMemory& memory, const DeploymentSchedule& row, Instant now) {
    memory.row.meta = row.meta;
    memory.row.owner = row.owner;
    memory.row.cascade_parent = row.cascade_parent;
    memory.row.desired = row.desired;
    memory.row.state = row.state;
    const Result<ScheduleStatus> status = ports_.texts.status_of(row.status);
    if (!status.ok() || ports_.texts.text_of(*status) != ports_.texts.text_of(memory.status))
        memory.after_write.is_due = true;
    placements_.add(memory.key(), memory.present(differences(memory.row.placements, row.placements)), std::nullopt,
                    now);
}

bool ScheduleRows::is_writing(std::string_view id) const {
    const ScheduleMemory* const memory = ports_.table.find(id);
    return writer_.is_writing(id) || (memory != nullptr && placements_.is_busy(memory->key()));
}

// --- what is written -------------------------------------------------------------------------------------------------

/// What is decided counts from now on, but for what is asked of the core.
void ScheduleRows::hand_out(ScheduleMemory& memory, const RowWritePtr& write, const Turn& turn) {
    const SchedulePlan& plan = write->plan;
    memory.apply(plan.replicas.changes, turn.now);
    ScheduleMemory::AfterWrite& after = memory.after_write;
    after.releases.insert(after.releases.end(), plan.replicas.releases.begin(), plan.replicas.releases.end());
    if (plan.resubmits && !after.withdraw_from) after.withdraw_from = memory.status.application.partition;
    after.is_due = true;
    memory.status = plan.status;
    write->replicas = std::exchange(after.replicas, {});
    for (const auto& changes : {placements_.take(memory.key()), plan.replicas.changes})
        for (const PlacementChange& each : changes) write->replicas.push_back(each.replica);
    if (!memory.is_there) // all of them are written
        for (const Placement& each : memory.row.placements) write->replicas.push_back(each.replica);
    sort_out(write->replicas);
    writer_.write(turn.lease, command_for(memory, *write),
                  [this, write](const WriteOutcome& outcome, Instant now) { finish(*write, outcome, now); });
}

WriteCommand ScheduleRows::command_for(const ScheduleMemory& memory, const RowWrite& write) const {
    DeploymentSchedule row = write.plan.row;
    row.status = ports_.texts.text_of(write.plan.status);
    if (memory.is_there) {
        const rs::Expect expect{row.meta.uid, row.meta.version};
        return UpdateSchedule{std::move(row), expect, memory.present(write.replicas)};
    }
    row.meta.uid.clear();
    row.placements = memory.row.placements;
    return InsertSchedule{std::move(row)};
}

void ScheduleRows::finish(RowWrite& write, const WriteOutcome& outcome, Instant now) {
    const auto* const written_as = std::get_if<Written>(&outcome);
    ScheduleMemory* memory = write.term == term_ ? ports_.table.find(write.plan.row.meta.id) : nullptr;
    if (write.made && written_as != nullptr && write.term == term_) {
        if (memory != nullptr) give_up(*memory);
        write.made->row.meta.uid = written_as->uid;
        memory = &ports_.table.add(*std::move(write.made));
        written(*memory, write, *written_as, now);
    } else if (!write.made && memory != nullptr && memory->row.meta.uid == write.plan.row.meta.uid) {
        if (written_as != nullptr)
            written(*memory, write, *written_as, now);
        else
            not_written(*memory, write, outcome, now);
    }
    if (write.done) write.done(result_of(outcome, false), now);
}

void ScheduleRows::written(ScheduleMemory& memory, const RowWrite& write, const Written& outcome, Instant now) {
    const ScheduleMemory::AfterWrite after = std::exchange(memory.after_write, {});
    memory.is_there = true;
    memory.row.meta.uid = outcome.uid;
    memory.row.meta.version = outcome.version;
    memory.row.desired = write.plan.row.desired;
    memory.row.state = write.plan.row.state;
    memory.row.observed_scale_version = write.plan.row.observed_scale_version;
    memory.note_shortage(memory.row.desired, now);
    if (after.withdraw_from)
        ports_.applications.withdraw(memory, *after.withdraw_from);
    else
        ports_.applications.release(memory, after.releases);
    ports_.applications.submit(memory, now);
    ports_.applications.ask(memory, write.replicas);
    ports_.table.look_at(memory, write.plan.has_more ? now : now + kTryAgain);
}

/// What the database refuses for good may be mended by somebody, and is not worth more than a try now and then.
Duration ScheduleRows::pause_after(const WriteOutcome& outcome) {
    constexpr Duration kAfterRefusal = std::chrono::seconds{30};
    return std::holds_alternative<Fatal>(outcome) ? kAfterRefusal : kTryAgain;
}

/// The next write of the row is to have what this one was to have, as it is by then.
void ScheduleRows::not_written(ScheduleMemory& memory, const RowWrite& write, const WriteOutcome& outcome,
                               Instant now) {
    const auto* const conflict = std::get_if<Conflict>(&outcome);
    if (conflict != nullptr && conflict->what == Conflict::What::RowGone) memory.is_there = false;
    // A database that went back: what is known is written over it, and what else differs is found when the row is seen.
    if (conflict != nullptr && conflict->current_version > 0 && conflict->current_version < memory.row.meta.version)
        memory.row.meta.version = conflict->current_version;
    memory.after_write.replicas = write.replicas;
    ports_.table.look_at(memory, now + pause_after(outcome));
}

HandlerResult ScheduleRows::erase(const ScheduleKey& key, std::int64_t version, const Turn& turn, Done done) {
    writer_.write(turn.lease, DeleteSchedule{key.id, {key.uid, version}, true},
                  [this, key, term = term_, done = std::move(done)](const WriteOutcome& outcome, Instant now) {
                      ScheduleMemory* const memory = ports_.table.find(key.id);
                      const bool is_gone = std::holds_alternative<Written>(outcome) && term == term_;
                      const Ptr<DeploymentSchedule> cached = ports_.schedules.get(key.id);
                      if (is_gone && cached && cached->meta.uid == key.uid) deleted_.insert(key.uid);
                      if (is_gone && memory != nullptr && memory->row.meta.uid == key.uid) give_up(*memory);
                      if (done) done(result_of(outcome, true), now);
                  });
    return HandlerResult::later();
}

// --- placements ------------------------------------------------------------------------------------------------------

void ScheduleRows::carry_out(ScheduleMemory& memory, const ReplicaPlan& plan, Instant now) {
    ports_.applications.release(memory, plan.releases);
    if (plan.changes.empty()) return;
    memory.apply(plan.changes, now);
    const ScheduleState state = memory.state(memory.row.desired, memory.counts, now);
    placements_.add(memory.key(), plan.changes, state, now);
    memory.row.state = state;
    if (memory.status.has_outdated()) ports_.table.look_at(memory, now);
}

void ScheduleRows::placements_ended(const ScheduleKey& key, const PlacementWriter::Changes& changes,
                                    const WriteOutcome& outcome, Instant now) {
    ScheduleMemory* const memory = ports_.table.find(key.id);
    if (memory == nullptr || memory->row.meta.uid != key.uid) return;
    if (const auto* const done = std::get_if<Written>(&outcome)) {
        memory->row.meta.version = std::max(memory->row.meta.version, done->version);
        Replicas replicas;
        for (const PlacementChange& each : changes) replicas.push_back(each.replica);
        return ports_.applications.ask(*memory, replicas);
    }
    if (std::holds_alternative<Conflict>(outcome)) memory->is_there = false;
    for (const PlacementChange& each : changes) memory->after_write.replicas.push_back(each.replica);
    sort_out(memory->after_write.replicas);
    memory->after_write.is_due = true; // the next write of the row is to have them
    ports_.table.look_at(*memory, now + pause_after(outcome));
}

void ScheduleRows::stand_down() {
    ++term_;
    placements_.clear();
    deleted_.clear();
}

} // namespace yk::mcs
