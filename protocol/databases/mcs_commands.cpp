// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/mcs_commands.h"

#include "protocol/databases/canonical_json.h"
#include "protocol/databases/mcs_statements.h"

namespace yk::mcs {
namespace {

using rs::SqlConnection;
using What = Conflict::What;

const std::string kDeployment = "deployment", kScale = "deployment_scale", kSchedule = "deployment_schedule",
                  kNode = "node";

/// Until the transaction has ended nobody else gives a Deployment its name. If two transactions wait for each
/// other, as one has a row and the other one this, the database undoes one of them, and it is tried again.
Refused lock_names(SqlConnection& connection) {
    YK_SQL(locked, has_row(connection, "SELECT 1 /*pg FROM pg_advisory_xact_lock(" YK_NAMES_LOCK ") */"));
    static_cast<void>(locked);
    return std::nullopt;
}

/// A name or id by which two Deployments could be meant is refused (rs R-019).
Refused check_names(SqlConnection& connection, const Deployment& row) {
    YK_SQL(is_taken,
           has_row(connection, "SELECT 1 FROM deployment WHERE id <> ?1 AND (name = ?2 OR id = ?2 OR name = ?1)",
                   row.meta.id, row.name));
    if (!is_taken) return std::nullopt;
    // The id is mostly one that was made, and says nothing to whoever gave the name.
    YK_SQL(is_name_taken, has_row(connection, "SELECT 1 FROM deployment WHERE id <> ?1 AND (name = ?2 OR id = ?2)",
                                  row.meta.id, row.name));
    if (is_name_taken) return Conflict{What::NameTaken, "another deployment is known by the name " + row.name, 0};
    return Conflict{What::NameTaken, "another deployment has the name " + row.meta.id + ", which cannot be an id", 0};
}

/// The columns of a Deployment that users give, in the order of its statements, and its uid.
template <class... More>
Result<std::int64_t, rs::StoreError> put_deployment(SqlConnection& connection, const std::string& sql,
                                                    const Deployment& row, const std::string& policy,
                                                    const More&... more) {
    return execute(connection, sql, row.meta.id, row.name, *row.partition, *row.queue, *row.user, json_of(*row.groups),
                   json_of(*row.resource), row.min_replicas, row.max_replicas, row.replicas, std::int64_t{row.priority},
                   policy, json_of(*row.tags), std::int64_t{row.is_paused ? 1 : 0},
                   std::int64_t{static_cast<std::uint8_t>(row.delete_mode)}, row.meta.uid, more...);
}

const std::string kUpdateDeployment =
    "UPDATE deployment SET name = ?2, partition = ?3, queue = ?4, usr = ?5, grps = ?6, resource = ?7,"
    " min_replicas = ?8, max_replicas = ?9, replicas = ?10, priority = ?11, policy = ?12, tags = ?13, paused = ?14,"
    " cascade = ?15, version = version + 1, generation = generation + 1, updated_ms = " YK_NOW_MS
    " WHERE id = ?1 AND uid = ?16";

Result<DeleteMode, rs::StoreError> mode_of(SqlConnection& connection, const std::string& id) {
    rs::SqlStatement select = connection.statement("SELECT cascade FROM deployment WHERE id = ?");
    YK_TRY(is_there, select.bind(1, std::string_view{id}).step());
    return is_there ? static_cast<DeleteMode>(select.number(0)) : DeleteMode::Cascade;
}

/// Children are found by their id, which is that of the Deployment, and are meant only if they name its uid. One that
/// is so already keeps its version. `condition`: empty, or ` AND ...`.
Refused change_children(SqlConnection& connection, const std::string& assignments, const std::string& condition,
                        const std::string& id, const std::string& owner_uid, const std::string& value,
                        const std::string& of_scale = {}) {
    for (const std::string& table : {kScale, kSchedule}) {
        YK_SQL(count, execute(connection,
                              "UPDATE " + table + " SET version = version + 1, updated_ms = " YK_NOW_MS ", " +
                                  assignments + (table == kScale ? of_scale : "") +
                                  " WHERE id = ?1 AND owner_id = ?1 AND owner_uid = ?2" + condition,
                              id, owner_uid, value));
        static_cast<void>(count);
    }
    return std::nullopt;
}

Refused set_cascade(SqlConnection& connection, const std::string& id, const std::string& owner_uid, DeleteMode mode) {
    const bool cascades = mode == DeleteMode::Cascade;
    return change_children(connection, cascades ? "cascade_parent = ?3" : "cascade_parent = nullif(?3, ?3)",
                           cascades ? " AND cascade_parent IS DISTINCT FROM ?3" : " AND cascade_parent IS NOT NULL", id,
                           owner_uid, id);
}

} // namespace

WriteOutcome CommandWriter::operator()(const InsertDeployment& command) {
    Deployment row = command.row;
    const auto policy = canonical_object(*row.policy);
    if (!policy) return Fatal{"policy: it is no JSON object"};
    YK_REFUSED(lock_names(connection_));
    YK_SQL(present, find_current(connection_, kDeployment, row.meta.id));
    if (present) return Conflict{What::Exists, row.meta.id + " is there", present->version};
    YK_REFUSED(check_names(connection_, row));
    YK_SQL(uid, uid_for(connection_, row.meta.uid));
    row.meta.uid = uid;
    YK_SQL(count, put_deployment(connection_,
                                 "INSERT INTO deployment(id, name, partition, queue, usr, grps, resource, min_replicas,"
                                 " max_replicas, replicas, priority, policy, tags, paused, cascade, uid, version,"
                                 " generation, created_ms, updated_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
                                 " ?11, ?12, ?13, ?14, ?15, ?16, 1, 1, " YK_NOW_MS ", " YK_NOW_MS ")",
                                 row, *policy));
    static_cast<void>(count);
    if (command.adopts) {
        // what was wanted of the orphan says nothing of this one: it has to be decided anew
        YK_REFUSED(
            change_children(connection_, "owner_uid = ?3", "", row.meta.id, "", uid, ", observed_generation = 0"));
        YK_REFUSED(set_cascade(connection_, row.meta.id, uid, row.delete_mode));
    }
    return written({uid, 1});
}

WriteOutcome CommandWriter::operator()(const UpdateDeployment& command) {
    const auto policy = canonical_object(*command.row.policy);
    if (!policy) return Fatal{"policy: it is no JSON object"};
    Deployment row = command.row;
    row.meta.uid = command.expect.uid;
    // Mostly it is the row that was meant, with the name and the mode that it had: then one statement is enough.
    YK_SQL(is_as_meant,
           put_deployment(connection_, kUpdateDeployment + " AND version = ?17 AND name = ?2 AND cascade = ?15", row,
                          *policy, command.expect.version));
    if (is_as_meant != 0) return written({row.meta.uid, command.expect.version + 1});
    CurrentRow current;
    YK_REFUSED(lock_names(connection_));
    YK_REFUSED(look(connection_, kDeployment, row.meta.id, command.expect, current));
    YK_REFUSED(check_names(connection_, row));
    YK_SQL(keeps_mode, has_row(connection_, "SELECT 1 FROM deployment WHERE id = ? AND cascade = ?", row.meta.id,
                               std::int64_t{static_cast<std::uint8_t>(row.delete_mode)}));
    YK_SQL(count, put_deployment(connection_, kUpdateDeployment, row, *policy));
    static_cast<void>(count);
    if (!keeps_mode) YK_REFUSED(set_cascade(connection_, row.meta.id, current.uid, row.delete_mode));
    return written({current.uid, current.version + 1});
}

/// Children go, or are cut off, before their parent does: whatever their cascade_parent says, the mode decides (rs
///
WriteOutcome CommandWriter::operator()(const DeleteDeployment& command) {
    CurrentRow current;
    YK_REFUSED(look(connection_, kDeployment, command.id, command.expect, current));
    YK_SQL(own_mode, mode_of(connection_, command.id));
    const DeleteMode mode = command.mode.value_or(own_mode);
    for (const std::string& table : {kSchedule, kScale}) {
        if (mode != DeleteMode::Cascade) break;
        YK_SQL(count,
               execute(connection_, "DELETE FROM " + table + " WHERE id = ?1 AND owner_id = ?1 AND owner_uid = ?2",
                       command.id, current.uid));
        static_cast<void>(count);
    }
    if (mode != DeleteMode::Cascade) YK_REFUSED(set_cascade(connection_, command.id, current.uid, mode));
    if (mode == DeleteMode::Orphan)
        YK_REFUSED(change_children(connection_, "owner_uid = ?3", "", command.id, current.uid, ""));
    return erase(connection_, kDeployment, command.id, command.expect);
}

WriteOutcome CommandWriter::operator()(const InsertNode& command) {
    const Node& row = command.row;
    YK_SQL(present, find_current(connection_, kNode, row.meta.id));
    if (present) return Conflict{What::Exists, row.meta.id + " is there", present->version};
    YK_SQL(uid, uid_for(connection_, row.meta.uid));
    YK_SQL(count, execute(connection_,
                          "INSERT INTO node(id, uid, attributes, capacity, occupied, schedulable, version, created_ms,"
                          " updated_ms) VALUES(?, ?, ?, ?, ?, ?, 1, " YK_NOW_MS ", " YK_NOW_MS ")",
                          row.meta.id, uid, json_of(row.attributes), json_of(row.capacity), json_of(row.occupied),
                          std::int64_t{row.is_schedulable ? 1 : 0}));
    static_cast<void>(count);
    return written({uid, 1});
}

WriteOutcome CommandWriter::operator()(const UpdateNode& command) {
    const Node& row = command.row;
    return update(connection_, kNode, "attributes = ?4, capacity = ?5, occupied = ?6, schedulable = ?7", row.meta.id,
                  command.expect, json_of(row.attributes), json_of(row.capacity), json_of(row.occupied),
                  std::int64_t{row.is_schedulable ? 1 : 0});
}

WriteOutcome CommandWriter::operator()(const DeleteNode& command) {
    return erase(connection_, kNode, command.id, command.expect);
}

} // namespace yk::mcs
