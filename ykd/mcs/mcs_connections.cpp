// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/mcs_connections.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "protocol/databases/sqlite_change_log.h"
#include "ykd/process/random_bytes.h"
#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_change_log.h"
#include "protocol/databases/postgres/postgres_schema.h"
#include "protocol/databases/postgres/postgres_store.h"
#include "protocol/databases/postgres/postgres_upkeep.h"
#endif

namespace yk::service {
namespace {

using Opened = Result<McsConnections, rs::StoreError>;

/// The stores of a kind of database read through the connection for that.
template <class Deployments, class Scales, class Schedules, class Nodes>
void add_stores(McsConnections& to) {
    to.deployments = std::make_unique<Deployments>(*to.rows);
    to.scales = std::make_unique<Scales>(*to.rows);
    to.schedules = std::make_unique<Schedules>(*to.rows);
    to.nodes = std::make_unique<Nodes>(*to.rows);
}

// --- SQLite ----------------------------------------------------------------------------------------------------------

/// Leases are looked after on the thread that answers users, and asked for again soon.
constexpr std::chrono::milliseconds kMostForLeases{250};

/// Makes an empty file with mode 0600, if there is none: SQLite makes its other files like it. One that is there is not
/// opened, since closing it would end the locks that this process has by SQLite.
Result<void, rs::StoreError> make_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) ::close(file);
    if (file >= 0 || errno == EEXIST) return {};
    return rs::StoreError{rs::StoreFault::Down, path + ": " + std::strerror(errno)};
}

/// One connection does one thing at a time, and counts the commits of others only.
Opened open_sqlite(const DatabasePlace& place, bool with_relay) {
    const std::string& path = place.where;
    const rs::SqliteSettings settings{
        place.settings.waits_for_disk,
        std::chrono::duration_cast<std::chrono::milliseconds>(place.settings.busy_timeout)};
    YK_CHECKED(make_file(path));
    McsConnections made;
    made.place = path;
    YK_TRY(rows, rs::SqliteConnection::open(path, settings));
    const auto migrated = mcs::migrate(*rows, uuid_text(random_bytes()));
    if (!migrated.ok()) return rs::StoreError{migrated.error().fault, path + ": " + migrated.error().message};
    YK_TRY(identity, mcs::read_identity(*rows));
    made.identity = std::move(identity);
    YK_TRY(log, mcs::reconnect(path, made.identity, settings));
    YK_TRY(leases, mcs::reconnect(path, made.identity, settings));
    YK_TRY(writes, mcs::reconnect(path, made.identity, settings));
    YK_TRY(house, mcs::reconnect(path, made.identity, settings));
    leases->wait_for_locks(kMostForLeases);
    std::vector<rs::SqliteConnection*> writers{writes.get(), leases.get(), house.get()};
    if (with_relay) {
        YK_TRY(tail, mcs::reconnect(path, made.identity, settings));
        YK_TRY(table, mcs::reconnect(path, made.identity, settings));
        writers.push_back(table.get());
        made.relay.log = std::make_unique<rs::SqliteChangeLog>(*tail);
        made.relay.log_connection = std::move(tail);
        made.relay.table = std::move(table);
    }
    made.on_commit = [writers](const std::function<void(std::int64_t)>& call) {
        for (rs::SqliteConnection* const each : writers) each->on_commit(call);
    };
    made.log = std::make_unique<rs::SqliteChangeLog>(*log);
    made.rows = std::move(rows);
    made.log_connection = std::move(log);
    made.leases = std::move(leases);
    made.writes = std::move(writes);
    made.upkeep = std::make_unique<mcs::SqliteUpkeep>(std::move(house));
    add_stores<mcs::McsStore<mcs::Deployment>, mcs::McsStore<mcs::DeploymentScale>,
               mcs::McsStore<mcs::DeploymentSchedule>, mcs::McsStore<mcs::Node>>(made);
    return made;
}

// --- PostgreSQL ------------------------------------------------------------------------------------------------------

#ifdef YK_WITH_PG
/// Of a server that hangs. Reads wait on the thread that answers users.
rs::PostgresSettings settings_of(const DatabasePlace& place) {
    rs::PostgresSettings settings{place.where};
    settings.connect_limit = std::chrono::seconds{2};
    settings.statement_limit = place.settings.statement_timeout;
    settings.answer_limit = place.settings.statement_timeout + std::chrono::seconds{1};
    settings.idle_limit = place.idle_limit;
    settings.notifies = place.settings.notifies;
    return settings;
}

class Notifications final : public CommitNews {
public:
    explicit Notifications(rs::PostgresConnection& connection) : connection_(connection) {}
    [[nodiscard]] int socket() const override { return connection_.news_socket(); }
    void hear() override {
        connection_.hear_news();
        has_heard_ = true;
    }
    [[nodiscard]] bool take() override { return std::exchange(has_heard_, false); }

private:
    rs::PostgresConnection& connection_; // of the log
    bool has_heard_ = false;
};

LogHold hold_of_log(rs::PostgresConnection& connection) {
    constexpr Duration kShortHold = std::chrono::seconds{5};
    const auto holder = rs::find_fence_holder(connection);
    if (!holder.ok() || !*holder) return {};
    if ((*holder)->age < kShortHold) return {(*holder)->age, {}};
    return {(*holder)->age, "changes are not seen before a transaction ends that has been open for long: " +
                                (*holder)->who + "; pg_terminate_backend() ends it"};
}

Opened open_postgres(const DatabasePlace& place, bool with_relay) {
    const rs::PostgresSettings settings = settings_of(place);
    McsConnections made;
    made.place = place.shown;
    YK_TRY(rows, rs::PostgresConnection::open(settings));
    const auto migrated = mcs::migrate(*rows, uuid_text(random_bytes()), mcs::postgres_steps());
    if (!migrated.ok()) return rs::StoreError{migrated.error().fault, place.shown + ": " + migrated.error().message};
    YK_TRY(identity, mcs::read_identity(*rows));
    made.identity = std::move(identity);
    rs::PostgresSettings quick = settings;
    quick.statement_limit = quick.answer_limit = std::min(settings.connect_limit, settings.statement_limit);
    YK_TRY(log, rs::PostgresConnection::open(settings, made.identity.uid));
    YK_TRY(leases, rs::PostgresConnection::open(quick, made.identity.uid));
    YK_TRY(writes, rs::PostgresConnection::open(settings, made.identity.uid));
    YK_TRY(house, rs::PostgresConnection::open(settings, made.identity.uid));
    if (settings.notifies) YK_CHECKED(log->listen());
    if (with_relay) {
        YK_TRY(tail, rs::PostgresConnection::open(settings, made.identity.uid));
        YK_TRY(table, rs::PostgresConnection::open(settings, made.identity.uid));
        made.relay.log = std::make_unique<rs::PostgresChangeLog>(*tail, settings.notifies);
        made.relay.log_connection = std::move(tail);
        made.relay.table = std::move(table);
    }
    made.log = std::make_unique<rs::PostgresChangeLog>(*log, settings.notifies);
    if (settings.notifies) made.news = std::make_unique<Notifications>(*log);
    made.rows = std::move(rows);
    made.log_connection = std::move(log);
    made.look_for_log_hold = [&connection = *leases] { return hold_of_log(connection); };
    made.leases = std::move(leases);
    made.writes = std::move(writes);
    made.upkeep = std::make_unique<mcs::PostgresUpkeep>(std::move(house));
    add_stores<mcs::PostgresStore<mcs::Deployment>, mcs::PostgresStore<mcs::DeploymentScale>,
               mcs::PostgresStore<mcs::DeploymentSchedule>, mcs::PostgresStore<mcs::Node>>(made);
    return made;
}
#else
Opened open_postgres(const DatabasePlace& /*place*/, bool /*with_relay*/) {
    return rs::StoreError{rs::StoreFault::Fatal, "this ykd was built without PostgreSQL (libpq-dev, YK_WITH_PG)"};
}
#endif

} // namespace

Opened McsConnections::open(const DatabasePlace& place, bool with_relay) {
    return place.kind == DatabasePlace::Kind::Postgres ? open_postgres(place, with_relay)
                                                       : open_sqlite(place, with_relay);
}

} // namespace yk::service
