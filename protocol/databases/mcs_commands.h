// SPDX-License-Identifier: Apache-2.0
#pragma once
// How each WriteCommand is carried out: the statements of one write, within a transaction that somebody else began and
// commits. What is checked and what is changed is of the same moment, since nobody else writes meanwhile.

#include <map>
#include <optional>
#include <string>

#include "libcore/mcs/writes.h"
#include "protocol/databases/sql_connection.h"

namespace yk::mcs {

/// Schedules whose placements have changed in this transaction, and whose rows are still to get their new version,
/// which they get once however many changes there were (rs R-017).
struct RaisedSchedule {
    std::optional<ScheduleState> state;
    std::int64_t writer_epoch = 0;
};
using RaisedSchedules = std::map<std::string, RaisedSchedule>;

[[nodiscard]] Result<void, rs::StoreError> raise_schedule(rs::SqlConnection& connection, const std::string& id,
                                                          const RaisedSchedule& raised);

class CommandWriter {
public:
    CommandWriter(rs::SqlConnection& connection, std::uint64_t writer_epoch, RaisedSchedules& raised)
        : connection_(connection), epoch_(static_cast<std::int64_t>(writer_epoch)), raised_(raised) {}

    // The outcome is Written without a position, or says why nothing may be kept of what was written.
    [[nodiscard]] WriteOutcome operator()(const InsertDeployment& command);
    [[nodiscard]] WriteOutcome operator()(const UpdateDeployment& command);
    [[nodiscard]] WriteOutcome operator()(const DeleteDeployment& command);
    [[nodiscard]] WriteOutcome operator()(const InsertNode& command);
    [[nodiscard]] WriteOutcome operator()(const UpdateNode& command);
    [[nodiscard]] WriteOutcome operator()(const DeleteNode& command);
    [[nodiscard]] WriteOutcome operator()(const InsertScale& command);
    [[nodiscard]] WriteOutcome operator()(const UpdateScale& command);
    [[nodiscard]] WriteOutcome operator()(const DeleteScale& command);
    [[nodiscard]] WriteOutcome operator()(const InsertSchedule& command);
    [[nodiscard]] WriteOutcome operator()(const UpdateSchedule& command);
    [[nodiscard]] WriteOutcome operator()(const DeleteSchedule& command);
    [[nodiscard]] WriteOutcome operator()(const ChangePlacements& command);

private:
    rs::SqlConnection& connection_;
    const std::int64_t epoch_;
    RaisedSchedules& raised_;
};

} // namespace yk::mcs
