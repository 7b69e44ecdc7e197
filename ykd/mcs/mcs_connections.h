// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsConnections: the database of MCS, opened: a connection for each that uses it at the same time as others.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "libcore/base/time.h"
#include "libcore/resource_state/ports/change_log.h"
#include "protocol/databases/housekeeping/database_upkeep.h"
#include "protocol/databases/mcs_schema.h"
#include "protocol/databases/mcs_store.h"
#include "ykd/mcs/database_place.h"
#include "ykd/mcs/transport/event_transport.h"

namespace yk::service {

/// What a database says of commits while nobody asks it. Owner and thread: those of the change log.
class CommitNews {
public:
    virtual ~CommitNews() = default;
    /// A descriptor that can be read when there may have been commits; -1: none now.
    [[nodiscard]] virtual int socket() const = 0;
    /// Reads what is there, so that the descriptor waits for the next; the next poll of the log knows of it.
    virtual void hear() = 0;
    /// Whether it was heard since the last call.
    [[nodiscard]] virtual bool take() = 0;
};

/// How long the oldest transaction is open that keeps later changes from being read (rs R-043).
struct LogHold {
    Duration age{};    // 0: there is none
    std::string fault; // for operators, when it is open for longer than a moment
};

struct McsConnections {
    std::unique_ptr<rs::SqlConnection> rows;           // reads for the caches
    std::unique_ptr<rs::SqlConnection> log_connection; //
    std::unique_ptr<rs::SqlConnection> leases;         // these three on the thread of MCS
    std::unique_ptr<rs::SqlConnection> writes;         // of McsWriter's thread
    std::unique_ptr<mcs::DatabaseUpkeep> upkeep;       // for McsHousekeeping, which takes it
    RelayConnections relay;                            // for EventTransport, which takes them; empty: not wanted

    // What reads through them.
    std::unique_ptr<rs::ChangeLog> log;
    std::unique_ptr<rs::ResourceStore<mcs::Deployment>> deployments;
    std::unique_ptr<rs::ResourceStore<mcs::DeploymentScale>> scales;
    std::unique_ptr<rs::ResourceStore<mcs::DeploymentSchedule>> schedules;
    std::unique_ptr<rs::ResourceStore<mcs::Node>> nodes;

    /// Has `call` called after each commit of this process with the length of the write-ahead log in pages; empty: this
    /// database has none that the process looks after.
    std::function<void(const std::function<void(std::int64_t pages)>& call)> on_commit;

    /// Asks on the thread of MCS who keeps changes that were committed from being read. Empty function: in this
    /// database nobody can.
    std::function<LogHold()> look_for_log_hold;

    /// nullptr: this database says nothing, and its log is asked now and then.
    std::unique_ptr<CommitNews> news;

    std::string place; // for people
    mcs::DatabaseIdentity identity;

    /// Opens the database and brings its tables up to date. A file of SQLite that is not there is made, so that only
    /// the daemon's user can read it. `with_relay`: this process may become the relay.
    [[nodiscard]] static Result<McsConnections, rs::StoreError> open(const DatabasePlace& place, bool with_relay);
};

} // namespace yk::service
