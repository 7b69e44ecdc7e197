// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/schedule_memory.h"

#include <utility>

#include "libcore/base/check.h"

namespace yk::mcs {
// --- ScheduleMemory --------------------------------------------------------------------------------------------------

PlacementWriter::Changes ScheduleMemory::present(const std::vector<std::int64_t>& replicas) const {
    PlacementWriter::Changes changes;
    for (const std::int64_t replica : replicas) {
        const Placement* const found = find(replica);
        changes.push_back({replica, found == nullptr ? std::nullopt : std::optional{*found}});
    }
    return changes;
}

ScheduleState ScheduleMemory::state(std::int64_t desired, const ReplicaCounts& then, Instant now) const {
    Progress progress{phase, desired, then, row.state, {}};
    if (short_since) progress.short_for = now - *short_since;
    return state_of(progress);
}

void ScheduleMemory::apply(const PlacementWriter::Changes& changes, Instant now) {
    for (const PlacementChange& each : changes) {
        const auto at = row.placements.begin() + place_of(row.placements, each.replica);
        const bool had = at != row.placements.end() && at->replica == each.replica;
        if (had) counts.remove(at->state);
        if (each.placement) counts.add(each.placement->state);
        if (had && each.placement)
            *at = *each.placement;
        else if (had)
            row.placements.erase(at);
        else if (each.placement)
            row.placements.insert(at, *each.placement);
    }
    note_shortage(row.desired, now);
}

void ScheduleMemory::note_shortage(std::int64_t desired, Instant now) {
    if (counts.placed >= desired)
        short_since.reset();
    else if (!short_since)
        short_since = now;
}

// --- ScheduleTable ---------------------------------------------------------------------------------------------------

ScheduleMemory* ScheduleTable::find(std::string_view id) {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &found->second;
}

const ScheduleMemory* ScheduleTable::find(std::string_view id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &found->second;
}

ScheduleMemory* ScheduleTable::find_application(std::string_view application_id) {
    const auto found = by_application_.find(application_id);
    return found == by_application_.end() ? nullptr : found->second;
}

ScheduleMemory& ScheduleTable::add(ScheduleMemory memory) {
    const std::string id = memory.row.meta.id;
    const auto made = by_id_.emplace(id, std::move(memory));
    YK_CHECK(made.second, "a schedule is known once");
    ScheduleMemory& added = made.first->second;
    YK_CHECK(by_application_.emplace(added.row.application_id, &added).second, "an application has one schedule");
    return added;
}

void ScheduleTable::erase(const std::string& id) {
    const auto found = by_id_.find(id);
    YK_CHECK(found != by_id_.end(), "only what is known can be forgotten");
    by_application_.erase(found->second.row.application_id);
    by_id_.erase(found);
}

void ScheduleTable::clear() {
    by_application_.clear();
    by_id_.clear();
    dues_.clear();
}

void ScheduleTable::look_at(ScheduleMemory& memory, Instant at) {
    if (memory.due && *memory.due <= at) return;
    memory.due = at;
    dues_.emplace(at, memory.row.meta.id);
}

std::string ScheduleTable::take_due(Instant now) {
    while (!dues_.empty() && dues_.begin()->first <= now) {
        const auto [at, id] = std::move(*dues_.begin());
        dues_.erase(dues_.begin());
        ScheduleMemory* const memory = find(id);
        if (memory == nullptr || memory->due != at) continue;
        memory->due.reset();
        return id;
    }
    return {};
}

std::optional<Instant> ScheduleTable::next_due() const {
    return dues_.empty() ? std::nullopt : std::optional{dues_.begin()->first};
}

} // namespace yk::mcs
