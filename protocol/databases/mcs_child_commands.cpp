// SPDX-License-Identifier: Apache-2.0
// The commands of the Autoscaler and the Scheduler, whose rows are children of Deployments.
#include <algorithm>

#include "protocol/databases/canonical_json.h"
#include "protocol/databases/mcs_commands.h"
#include "protocol/databases/mcs_statements.h"

namespace yk::mcs {
namespace {

using rs::SqlConnection;
using What = Conflict::What;

const std::string kScale = "deployment_scale", kSchedule = "deployment_schedule";

/// Of the ?1 that is an id: what says in which transaction the child goes.
#define YK_CASCADE "(SELECT CASE WHEN cascade = 1 THEN id END FROM deployment WHERE id = ?1)"
#define YK_COUNT "(SELECT count(*) FROM placement WHERE schedule_id = ?1 AND state "
#define YK_COUNTS "placed = " YK_COUNT "= 'Placed'), pending = " YK_COUNT "IN ('Pending', 'Rejected'))"

/// Makes the id free for a child of `owner`: a row of another owner goes, one of this owner refuses (rs R-107).
Refused take_id(SqlConnection& connection, const std::string& table, const std::string& id, const Owner& owner) {
    if (owner.id != id || owner.kind != kDeploymentKind) return Fatal{id + " belongs under the id of its deployment"};
    YK_SQL(has_owner, has_row(connection, "SELECT 1 FROM deployment WHERE id = ? AND uid = ? /*pg FOR KEY SHARE */",
                              owner.id, owner.uid));
    if (!has_owner) return Conflict{What::OwnerGone, "there is no deployment " + owner.id + " of that uid", 0};
    YK_SQL(present, find_current(connection, table, id));
    if (!present) return std::nullopt;
    YK_SQL(gone, execute(connection, "DELETE FROM " + table + " WHERE id = ? AND owner_uid <> ?", id, owner.uid));
    if (gone == 0) return Conflict{What::Exists, id + " is there", present->version};
    return std::nullopt;
}

/// A child that is gone already is as it was wanted. `parents`: the tables that have to lack a row for an orphan.
WriteOutcome erase_child(SqlConnection& connection, const std::string& table, const std::string& id,
                         const Expect& expect, const std::string& has_parents) {
    YK_SQL(present, find_current(connection, table, id));
    if (!present) return written({expect.uid, 0});
    if (!has_parents.empty()) {
        YK_SQL(is_owned, has_row(connection, "SELECT 1 FROM " + table + " c WHERE c.id = ? AND " + has_parents, id));
        if (is_owned) return Conflict{What::NotOrphaned, id + " has its deployment", present->version};
    }
    return erase(connection, table, id, expect);
}

constexpr const char* kHasDeployment =
    "EXISTS(SELECT 1 FROM deployment d WHERE d.id = c.owner_id AND d.uid = c.owner_uid)";
constexpr const char* kHasScale = "EXISTS(SELECT 1 FROM deployment_scale s WHERE s.id = c.id AND s.owner_id = "
                                  "c.owner_id AND s.owner_uid = c.owner_uid)";

Refused put_placement(SqlConnection& connection, const std::string& schedule, const Placement& placement) {
    const auto node = placement.node_id.empty() ? std::optional<std::string>{} : std::optional{placement.node_id};
    YK_SQL(count,
           execute(connection,
                   "INSERT INTO placement(schedule_id, replica, attempt, allocation_key, node_id, state, placed_ms)"
                   " VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(schedule_id, replica) DO UPDATE SET"
                   " attempt = excluded.attempt, allocation_key = excluded.allocation_key,"
                   " node_id = excluded.node_id, state = excluded.state, placed_ms = excluded.placed_ms",
                   schedule, placement.replica, placement.attempt, placement.allocation_key, node,
                   std::string{name_of(placement.state)}, placement.placed_ms));
    static_cast<void>(count);
    return std::nullopt;
}

Refused change_placements(SqlConnection& connection, const std::string& schedule,
                          const std::vector<PlacementChange>& changes) {
    for (const PlacementChange& each : changes) {
        if (each.placement && each.placement->replica != each.replica)
            return Fatal{schedule + ": a change of replica " + std::to_string(each.replica) + " is of another one"};
        if (each.placement) {
            YK_REFUSED(put_placement(connection, schedule, *each.placement));
            continue;
        }
        YK_SQL(count, execute(connection, "DELETE FROM placement WHERE schedule_id = ? AND replica = ?", schedule,
                              each.replica));
        static_cast<void>(count);
    }
    return std::nullopt;
}

} // namespace

Result<void, rs::StoreError> raise_schedule(SqlConnection& connection, const std::string& id,
                                            const RaisedSchedule& raised) {
    const auto state = raised.state ? std::optional{std::string{name_of(*raised.state)}} : std::nullopt;
    YK_TRY(count, execute(connection,
                          "UPDATE deployment_schedule SET version = version + 1, updated_ms = " YK_NOW_MS ","
                          " state = coalesce(?2, state), writer_epoch = ?3, " YK_COUNTS " WHERE id = ?1",
                          id, state, raised.writer_epoch));
    static_cast<void>(count);
    return {};
}

WriteOutcome CommandWriter::operator()(const InsertScale& command) {
    const DeploymentScale& row = command.row;
    const auto status = canonical_object(row.status);
    if (!status) return Fatal{"status: it is no JSON object"};
    YK_REFUSED(take_id(connection_, kScale, row.meta.id, row.owner));
    YK_SQL(uid, uid_for(connection_, row.meta.uid));
    YK_SQL(count,
           execute(connection_,
                   "INSERT INTO deployment_scale(id, uid, version, owner_kind, owner_id, owner_uid, cascade_parent,"
                   " desired, reason, observed_generation, status, writer_epoch, created_ms, updated_ms)"
                   " VALUES(?1, ?2, 1, 1, ?1, ?3, " YK_CASCADE ", ?4, ?5, ?6, ?7, ?8, " YK_NOW_MS ", " YK_NOW_MS ")",
                   row.meta.id, uid, row.owner.uid, row.desired, row.reason, row.observed_generation, *status, epoch_));
    static_cast<void>(count);
    return written({uid, 1});
}

WriteOutcome CommandWriter::operator()(const UpdateScale& command) {
    const DeploymentScale& row = command.row;
    const auto status = canonical_object(row.status);
    if (!status) return Fatal{"status: it is no JSON object"};
    return update(connection_, kScale,
                  "desired = ?4, reason = ?5, observed_generation = ?6, status = ?7, writer_epoch = ?8", row.meta.id,
                  command.expect, row.desired, row.reason, row.observed_generation, *status, epoch_);
}

WriteOutcome CommandWriter::operator()(const DeleteScale& command) {
    return erase_child(connection_, kScale, command.id, command.expect, command.only_if_orphaned ? kHasDeployment : "");
}

WriteOutcome CommandWriter::operator()(const InsertSchedule& command) {
    const DeploymentSchedule& row = command.row;
    const auto status = canonical_object(row.status);
    if (!status) return Fatal{"status: it is no JSON object"};
    YK_REFUSED(take_id(connection_, kSchedule, row.meta.id, row.owner));
    YK_SQL(uid, uid_for(connection_, row.meta.uid));
    const auto count_of = [&row](PlacementState state) {
        return std::int64_t{std::count_if(row.placements.begin(), row.placements.end(),
                                          [state](const Placement& each) { return each.state == state; })};
    };
    YK_SQL(count,
           execute(connection_,
                   "INSERT INTO deployment_schedule(id, uid, version, owner_kind, owner_id, owner_uid, cascade_parent,"
                   " application_id, observed_scale_version, desired, placed, pending, state, status, writer_epoch,"
                   " created_ms, updated_ms) VALUES(?1, ?2, 1, 1, ?1, ?3, " YK_CASCADE
                   ", ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, " YK_NOW_MS ", " YK_NOW_MS ")",
                   row.meta.id, uid, row.owner.uid, row.application_id, row.observed_scale_version, row.desired,
                   count_of(PlacementState::Placed),
                   count_of(PlacementState::Pending) + count_of(PlacementState::Rejected),
                   std::string{name_of(row.state)}, *status, epoch_));
    static_cast<void>(count);
    for (const Placement& each : row.placements) YK_REFUSED(put_placement(connection_, row.meta.id, each));
    return written({uid, 1});
}

WriteOutcome CommandWriter::operator()(const UpdateSchedule& command) {
    const DeploymentSchedule& row = command.row;
    const auto status = canonical_object(row.status);
    if (!status) return Fatal{"status: it is no JSON object"};
    CurrentRow current;
    YK_REFUSED(look(connection_, kSchedule, row.meta.id, command.expect, current));
    YK_REFUSED(change_placements(connection_, row.meta.id, command.changes));
    YK_SQL(count, execute(connection_,
                          "UPDATE deployment_schedule SET version = version + 1, updated_ms = " YK_NOW_MS ","
                          " application_id = ?2, observed_scale_version = ?3, desired = ?4, state = ?5, status = ?6,"
                          " writer_epoch = ?7, " YK_COUNTS " WHERE id = ?1",
                          row.meta.id, row.application_id, row.observed_scale_version, row.desired,
                          std::string{name_of(row.state)}, *status, epoch_));
    static_cast<void>(count);
    return written({current.uid, current.version + 1});
}

WriteOutcome CommandWriter::operator()(const DeleteSchedule& command) {
    const std::string has_parents = std::string{kHasDeployment} + " AND " + kHasScale;
    return erase_child(connection_, kSchedule, command.id, command.expect, command.only_if_orphaned ? has_parents : "");
}

/// The row gets its new version later, together with further changes of its placements.
WriteOutcome CommandWriter::operator()(const ChangePlacements& command) {
    CurrentRow current;
    YK_REFUSED(look(connection_, kSchedule, command.schedule_id, {command.schedule_uid, 0}, current));
    YK_REFUSED(change_placements(connection_, command.schedule_id, command.changes));
    RaisedSchedule& raised = raised_[command.schedule_id];
    if (command.state) raised.state = command.state;
    raised.writer_epoch = epoch_;
    return written({current.uid, current.version + 1});
}

} // namespace yk::mcs
