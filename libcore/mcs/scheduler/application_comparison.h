// SPDX-License-Identifier: Apache-2.0
#pragma once
// ApplicationComparison: what the core's lists of its applications have otherwise than the schedules (rs R-104). What
// is on its way differs in one list and no more in the next, so that only what two lists in a row have otherwise
// counts.
//
// Owner: CoreSide. Thread: its owner's.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/mcs/replicas/core_requests.h"
#include "libcore/mcs/scheduler/schedule_memory.h"

namespace yk::mcs {

class ApplicationComparison {
public:
    using Held = ApplicationsListed::Held;

    explicit ApplicationComparison(ScheduleTable& table) : table_(table) {}

    /// Cost: O(applications of the core + schedules).
    void take(const ApplicationsListed& list);
    /// The core has gone, with all that it had.
    void clear();

    /// A schedule whose application the core does not have, still; each once. nullptr: there is none.
    [[nodiscard]] ScheduleMemory* take_removed();
    /// An application that no schedule has, still; each once as long as the core has it. nullopt: there is none.
    [[nodiscard]] std::optional<Held> take_unknown();

private:
    ScheduleTable& table_;
    std::vector<std::string> removed_; // ids of schedules
    std::vector<Held> unknown_;
    std::unordered_map<std::string, bool> unknown_taken_; // by id, of the last list: whether it was taken
};

} // namespace yk::mcs
