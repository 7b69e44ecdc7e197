// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScheduleMemory: what the Scheduler knows of one schedule: its row as it should be, and how far its application is in
// the core. ScheduleTable: all of them.
//
// A placement counts here from the moment it is decided or announced, and so does the status; the database follows. The
// other columns are those that are in the database.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libcore/base/by_text.h"
#include "libcore/base/time.h"
#include "libcore/mcs/replicas/schedule_progress.h"
#include "libcore/mcs/replicas/schedule_status.h"
#include "libcore/mcs/scheduler/placement_writer.h"

namespace yk::mcs {

/// Owner: ScheduleTable.
struct ScheduleMemory {
    DeploymentSchedule row;
    ScheduleStatus status; // of the row
    bool is_there = false; // the row is in the database
    ReplicaCounts counts;  // of row.placements

    std::int64_t generation = 0; // of the Deployment when it was looked at last

    /// What follows when the row is written next. Until then nothing of it counts for the core.
    struct AfterWrite {
        std::vector<std::int64_t> replicas;       // that the write is to have, too, since an earlier one failed
        std::vector<std::string> releases;        // allocation keys
        std::optional<std::string> withdraw_from; // the partition in which the application has to be removed first
        bool is_due = false;                      // the database does not have the columns as they are here
    };
    AfterWrite after_write;

    ApplicationPhase phase = ApplicationPhase::Absent; // in the core
    /// The attempt of each replica that the core was asked for last, since the application was submitted. An ask is
    /// sent once: what it came to may be on its way already, and a second one would be another allocation.
    std::unordered_map<std::int64_t, std::int64_t> asked;
    unsigned unlisted = 0;              // the core's last lists in a row without it, since it was accepted
    std::string message;                // what the core has said last that is not good news
    std::optional<Instant> short_since; // fewer replicas than desired are placed
    unsigned refusals = 0;              // by the core, one after the other
    Instant submit_at;                  // what it has refused is not asked for again before
    std::optional<Instant> due;         // to be looked at

    [[nodiscard]] ScheduleKey key() const { return {row.meta.id, row.meta.uid}; }
    [[nodiscard]] const Placement* find(std::int64_t replica) const { return find_placement(row.placements, replica); }
    /// What is known of these replicas, for a write.
    [[nodiscard]] PlacementWriter::Changes present(const std::vector<std::int64_t>& replicas) const;
    /// The state that the row should have, with so many replicas.
    [[nodiscard]] ScheduleState state(std::int64_t desired, const ReplicaCounts& then, Instant now) const;
    /// The changes count from now on. Cost: O(placements) for those that come or go, O(log n) for the others.
    void apply(const PlacementWriter::Changes& changes, Instant now);
    /// To be called when `desired` has changed, too.
    void note_shortage(std::int64_t desired, Instant now);
};

/// Owner: Scheduler. Thread: its owner's. The addresses of what is in it stay.
class ScheduleTable {
public:
    /// nullptr: not known.
    [[nodiscard]] ScheduleMemory* find(std::string_view id);
    [[nodiscard]] const ScheduleMemory* find(std::string_view id) const;
    [[nodiscard]] ScheduleMemory* find_application(std::string_view application_id);
    /// REQUIRES: neither its id nor its application is there.
    ScheduleMemory& add(ScheduleMemory memory);
    void erase(const std::string& id);
    void clear();
    [[nodiscard]] std::size_t size() const { return by_id_.size(); }

    /// Each of them, in no order that means anything. REQUIRES: `use` adds and erases nothing.
    template <class Use>
    void for_each(Use&& use) {
        for (auto& each : by_id_) use(each.second);
    }
    template <class Use>
    void for_each(Use&& use) const {
        for (const auto& each : by_id_) use(each.second);
    }

    // --- when one is to be looked at again --------------------------------------------------------
    /// At `at`, or earlier if that was wanted already.
    void look_at(ScheduleMemory& memory, Instant at);
    /// One that is due, which it then is no more; empty: none.
    [[nodiscard]] std::string take_due(Instant now);
    [[nodiscard]] std::optional<Instant> next_due() const;

private:
    ByText<ScheduleMemory> by_id_;
    ByText<ScheduleMemory*> by_application_;
    std::multimap<Instant, std::string> dues_; // may have entries that are out of date: ScheduleMemory::due decides
};

} // namespace yk::mcs
