// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the services ask the database to write, and what came of it, as values. A service does not write by itself: it
// makes a WriteCall, whoever drives it has the WriteRequest carried out by the thread that owns the writing connection,
// and the answer is taken over on the thread that owns the service (adr 0020). Each request happens as a whole or not
// at all.
//
// What every write does, whatever the command:
//  - A writer who does not own the kind is NotOwner, before the database is asked (rs R-002).
//  - A writer whose lease is not the one in the database is Fenced (rs R-141).
//  - A row that is not the one in `expect` is a Conflict: look at the key again and compute anew (rs R-012).
//  - The version of a row that changes becomes the next one; `version`, `generation`, `writer_epoch` and `times` of a
//    row in a command are not looked at.
//
// `expect.version` 0 means any version of that uid. `Row` of a command is the type of the row it is about.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_scale.h"
#include "libcore/mcs/deployment_schedule.h"
#include "libcore/mcs/node.h"
#include "libcore/resource_state/ports/cursor.h"
#include "libcore/resource_state/ports/resource_store.h"

namespace yk::mcs {

using rs::Expect;
using rs::WriterIdentity;

// --- of the front end ------------------------------------------------------------------------------------------------

/// A name that another Deployment has, or that is another one's id, is a Conflict (NameTaken), and so is an id that is
/// another one's name (rs R-019).
struct InsertDeployment {
    using Row = Deployment;
    Deployment row;      // an empty uid: the database gives one
    bool adopts = false; // children of this id that were released (DeleteMode::Orphan) become its own (rs R-138)
};
/// A changed delete_mode is carried over to the children (rs R-134).
struct UpdateDeployment {
    using Row = Deployment;
    Deployment row;
    Expect expect;
};
struct DeleteDeployment {
    using Row = Deployment;
    std::string id;
    Expect expect;
    std::optional<DeleteMode> mode; // nullopt: the Deployment's own
};
struct InsertNode {
    using Row = Node;
    Node row; // an empty uid: the database gives one
};
struct UpdateNode {
    using Row = Node;
    Node row;
    Expect expect;
};
struct DeleteNode {
    using Row = Node;
    std::string id;
    Expect expect;
};

// --- of the Autoscaler -----------------------------------------------------------------------------------------------

/// A Deployment that is not there under the owner's id and uid is a Conflict (OwnerGone). A row of another owner under
/// the id is replaced in the same transaction; one of this owner is a Conflict (Exists) (rs R-107).
struct InsertScale {
    using Row = DeploymentScale;
    DeploymentScale row; // an empty uid: the database gives one
};
struct UpdateScale {
    using Row = DeploymentScale;
    DeploymentScale row; // its owner stays as it is
    Expect expect;
};
/// A row that is not there any more counts as deleted: Written, with version 0.
struct DeleteScale {
    using Row = DeploymentScale;
    std::string id;
    Expect expect;
    bool only_if_orphaned = false; // a Deployment that is there under the owner's id and uid is a Conflict (rs R-103)
};

// --- of the Scheduler ------------------------------------------------------------------------------------------------

/// As InsertScale, with the row's placements. `placed` and `pending` are counted by the database, here and below.
struct InsertSchedule {
    using Row = DeploymentSchedule;
    DeploymentSchedule row;
};
/// Sets the placement of a replica, or removes it.
struct PlacementChange {
    std::int64_t replica = 0;
    std::optional<Placement> placement; // nullopt: removed, also if it was not there
};
/// Changes the row, and of its placements those in `changes`; `row.placements` is not looked at.
struct UpdateSchedule {
    using Row = DeploymentSchedule;
    DeploymentSchedule row; // its owner stays as it is
    Expect expect;
    std::vector<PlacementChange> changes;
};
/// As DeleteScale. Orphaned is a schedule without its Deployment, or without a DeploymentScale of the same owner.
struct DeleteSchedule {
    using Row = DeploymentSchedule;
    std::string id;
    Expect expect;
    bool only_if_orphaned = false;
};
/// Changes placements, whatever the version of the row. Several of these for one schedule, when they are carried out
/// together, raise its version once (rs R-017, rs R-129).
struct ChangePlacements {
    using Row = DeploymentSchedule;
    std::string schedule_id;
    std::string schedule_uid; // another one is a Conflict (RowGone): release what was placed (rs R-130)
    std::vector<PlacementChange> changes;
    std::optional<ScheduleState> state; // nullopt: as it is
};

using WriteCommand =
    std::variant<InsertDeployment, UpdateDeployment, DeleteDeployment, InsertNode, UpdateNode, DeleteNode, InsertScale,
                 UpdateScale, DeleteScale, InsertSchedule, UpdateSchedule, DeleteSchedule, ChangePlacements>;

/// The kind that a command writes, and the id of the row.
[[nodiscard]] rs::Kind kind_of(const WriteCommand& command);
[[nodiscard]] const std::string& id_of(const WriteCommand& command);
/// The only service that may give it.
[[nodiscard]] std::string_view owner_of(const WriteCommand& command);

/// How many rows it writes, about: its own, and those of placements.
[[nodiscard]] std::size_t rows_of(const WriteCommand& command);

struct WriteRequest {
    WriterIdentity writer;
    WriteCommand command;
    bool waits = true; // for a database that is away; false: it is answered Transient then, and not carried out
};

// --- what came of it -------------------------------------------------------------------------------------------------

/// It is in the database, and survives the end of this process.
struct Written {
    std::string uid;
    std::int64_t version = 0; // 0: the row is deleted
    rs::Cursor position;      // of the change log: a cache that has consumed so far shows it (rs R-158)
};
/// The database is not as the writer thought. Nothing was written.
struct Conflict {
    enum class What : std::uint8_t {
        RowChanged, // another version
        RowGone,    // no such row, or of another uid
        Exists,     // the id is in use
        NameTaken,  // another Deployment is called so
        OwnerGone,  // the parent is not there
        NotOrphaned // the parent is there
    };
    What what = What::RowChanged;
    std::string message;
    std::int64_t current_version = 0; // of the row that is there; 0: there is none
};
/// Another service owns the kind.
struct NotOwner {
    std::string message;
};
/// Another instance has the right to write as this service: stop.
struct Fenced {
    std::string message;
};
/// Not now: the database is busy, away, or its disk is full. Nothing was written, unless it says so; a repetition with
/// the same `expect` is safe.
struct Transient {
    std::string message;
    bool is_in_doubt = false; // the connection ended while it was committed: it may be written
};
/// Never: what was asked cannot be stored, or the database is damaged.
struct Fatal {
    std::string message;
};
using WriteOutcome = std::variant<Written, Conflict, NotOwner, Fenced, Transient, Fatal>;

[[nodiscard]] std::string_view name_of(Conflict::What what);
/// One line for a log or a handler's error; empty for Written.
[[nodiscard]] const std::string& message_of(const WriteOutcome& outcome);
/// What an error of a store means for whoever wanted to write. A Conflict is RowChanged.
[[nodiscard]] WriteOutcome outcome_of(const rs::StoreError& error);

} // namespace yk::mcs
