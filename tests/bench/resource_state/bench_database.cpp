// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/resource_state/bench_database.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "libcore/base/hash_index.h"
#include "libcore/base/number.h"
#include "tests/bench/measure/isolate.h"
#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_connection.h"
#include "tests/support/databases/private_postgres.h"
#endif

namespace yk::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTogether = 5000; // rows of a statement
constexpr std::size_t kNameDigits = 8;
constexpr const char* kResource = R"({"memory":1073741824,"vcore":1000})";

std::uint64_t mixed(std::uint64_t number) { // splitmix64
    number += 0x9e3779b97f4a7c15ULL;
    number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    number = (number ^ (number >> 27U)) * 0x94d049bb133111ebULL;
    return number ^ (number >> 31U);
}

std::string id_of(std::uint32_t number) {
    const std::uint64_t high = mixed(2ULL * number), low = mixed(2ULL * number + 1);
    return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU, high & 0xffffU,
                       low >> 48U, low & 0xffffffffffffULL);
}

std::string uid_of(const std::string& id) {
    std::string uid = id;
    std::erase(uid, '-');
    return uid;
}

#ifdef YK_WITH_PG
testing::PrivatePostgres& server() {
    static const bool kWaits = [] { // for the disk, from now on
        testing::PrivatePostgres::get()->stop_at_once();
        testing::PrivatePostgres::get()->start(testing::PrivatePostgres::Disk::Waited);
        return true;
    }();
    static_cast<void>(kWaits);
    return *testing::PrivatePostgres::get();
}
#endif

/// The ids of rows `from` to `to` as a JSON array.
std::string ids_text(std::size_t from, std::size_t to) {
    std::string text = "[";
    for (std::size_t at = from; at < to; ++at)
        text += fmt::format("{}\"{}\"", at > from ? "," : "", id_of(static_cast<std::uint32_t>(at)));
    return text + ']';
}

Result<void> run(rs::SqlConnection& connection, const std::string& sql) {
    const auto done = connection.run(sql);
    if (!done.ok()) return to_error(done.error());
    return {};
}

/// ?1: the ids, ?2: the number of the first one, ?3: the policy, ?4: resources.
std::string insert_deployments(Engine engine, bool has_policy) {
    const bool is_sqlite = engine == Engine::Sqlite;
    const std::string name =
        is_sqlite ? "printf('deployment-%08d', ?2 + key)" : "'deployment-' || lpad((?2 + key - 1)::text, 8, '0')";
    const std::string from =
        is_sqlite ? "json_each(?1)" : "json_array_elements_text(?1::json) WITH ORDINALITY AS each(value, key)";
    return "INSERT INTO deployment(id, uid, version, generation, name, queue, usr, grps, resource, min_replicas,"
           " max_replicas, replicas, policy, tags, created_ms, updated_ms)"
           " SELECT value, replace(value, '-', ''), 1, 1, " +
           name + ", 'root.default', 'bench', '[\"staff\"]', ?4, 0, 10, " + (has_policy ? "NULL" : "2") +
           ", ?3, '{\"namespace\":\"default\"}', 1, 1 FROM " + from;
}

constexpr const char* kInsertScales =
    "INSERT INTO deployment_scale(id, uid, version, owner_kind, owner_id, owner_uid, cascade_parent, desired, reason,"
    " observed_generation, writer_epoch, created_ms, updated_ms)"
    " SELECT id, 's' || uid, 1, 1, id, uid, id, 2, 'Given', 1, 1, 1, 1 FROM deployment WHERE id > ?1 AND id <= ?2";
constexpr const char* kInsertSchedules =
    "INSERT INTO deployment_schedule(id, uid, version, owner_kind, owner_id, owner_uid, cascade_parent,"
    " application_id, observed_scale_version, desired, placed, pending, state, writer_epoch, created_ms, updated_ms)"
    " SELECT id, 'p' || uid, 1, 1, id, uid, id, 'mcs-' || id || '-' || substr(uid, 1, 8), 1, 2, 2, 0, 'Scheduled', 1,"
    " 1, 1 FROM deployment WHERE id > ?1 AND id <= ?2";

Result<void> execute(rs::SqlStatement& statement) {
    const auto done = statement.step();
    if (!done.ok()) return to_error(done.error());
    return {};
}

/// In 256 parts, by the first two digits of the id.
Result<void> insert_children(rs::SqlConnection& connection, const char* sql) {
    for (int part = 0; part < 256; ++part) {
        const std::string after = fmt::format("{:02x}", part), last = fmt::format("{:02x}~", part);
        rs::SqlStatement insert = connection.statement(sql);
        insert.bind(1, std::string_view{after}).bind(2, std::string_view{last});
        YK_CHECKED(execute(insert));
    }
    return {};
}

Result<void> insert_nodes(rs::SqlConnection& connection, std::size_t nodes) {
    for (std::size_t at = 0; at < nodes; ++at) {
        rs::SqlStatement insert = connection.statement(
            "INSERT INTO node(id, uid, version, attributes, capacity, occupied, schedulable, created_ms, updated_ms)"
            " VALUES(?1, ?1, 1, '{}', '{\"memory\":68719476736,\"vcore\":16000}', '{}', 1, 1, 1)");
        const std::string id = fmt::format("node-{:05}", at);
        YK_CHECKED(execute(insert.bind(1, std::string_view{id})));
    }
    return {};
}

Result<void> fill(const BenchDatabase& database, const Rows& rows) {
    YK_TRY(connection, database.open());
    {
        rs::SqlTransaction transaction{*connection, rs::SqlAccess::Write};
        for (std::size_t from = 0; from < rows.deployments; from += kTogether) {
            const std::string ids = ids_text(from, std::min(from + kTogether, rows.deployments));
            rs::SqlStatement insert = connection->statement(insert_deployments(database.engine(), rows.policy != "{}"));
            insert.bind(1, std::string_view{ids}).bind(2, static_cast<std::int64_t>(from));
            insert.bind(3, std::string_view{rows.policy}).bind(4, std::string_view{kResource});
            YK_CHECKED(execute(insert));
        }
        if (rows.has_scales) YK_CHECKED(insert_children(*connection, kInsertScales));
        if (rows.has_schedules) YK_CHECKED(insert_children(*connection, kInsertSchedules));
        YK_CHECKED(insert_nodes(*connection, rows.nodes));
        if (const auto done = transaction.commit(); !done.ok()) return to_error(done.error());
    }
    if (database.engine() == Engine::Sqlite) return run(*connection, "PRAGMA wal_checkpoint(TRUNCATE)");
    YK_CHECKED(run(*connection, "ANALYZE"));
    return run(*connection, "CHECKPOINT");
}

Result<void> make_and_fill(const BenchDatabase& database, const Rows& rows) {
    {
        const auto connections = service::McsConnections::open(database.place(), false);
        if (!connections.ok()) return to_error(connections.error());
    }
    return fill(database, rows);
}

Result<std::string> new_folder() {
    std::string folder = "/tmp/yk-bench-db-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) return Error::at(folder, "cannot make a folder");
    return folder;
}

#ifdef YK_WITH_PG
/// `of`: the database that is copied.
Result<std::string> new_postgres(int number, const std::string& of) {
    const std::string name = "bench" + std::to_string(number);
    server().type("CREATE DATABASE " + name + " TEMPLATE " + of);
    return name;
}
#endif

} // namespace

std::string name_of(Engine engine) {
    return engine == Engine::Sqlite ? "sqlite" : "postgresql";
}

std::string why_missing(Engine engine) {
    if (engine == Engine::Sqlite) return {};
#ifdef YK_WITH_PG
    if (testing::PrivatePostgres::get() != nullptr) return {};
    return "left out on PostgreSQL: the server programs of version 15 are not installed (postgresql-15)";
#else
    return "left out on PostgreSQL: this program was built without it (libpq-dev, YK_WITH_PG)";
#endif
}

mcs::Deployment deployment_of(std::uint32_t number, const Rows& rows) {
    mcs::Deployment row;
    row.meta.id = id_of(number);
    row.meta.uid = uid_of(row.meta.id);
    row.meta.version = row.meta.generation = 1;
    row.name = fmt::format("deployment-{:08}", number);
    row.queue = "root.default";
    row.user = "bench";
    row.groups = {"staff"};
    row.resource = {{"memory", 1073741824}, {"vcore", 1000}};
    row.max_replicas = 10;
    if (rows.policy == "{}") row.replicas = 2;
    row.policy = rows.policy;
    row.tags = mcs::Texts{{"namespace", "default"}};
    return row;
}

std::uint32_t number_of(const mcs::Deployment& deployment) {
    const std::string_view name = deployment.name;
    return to_number<std::uint32_t>(name.substr(name.size() - std::min(name.size(), kNameDigits))).value_or(0);
}

BenchDatabase::~BenchDatabase() {
    std::error_code ignored; // a folder left in /tmp harms nothing
    if (engine_ == Engine::Sqlite) fs::remove_all(where_, ignored);
#ifdef YK_WITH_PG
    const auto session = engine_ == Engine::Postgres
                             ? rs::PostgresSession::open({server().url("postgres")})
                             : Result<std::unique_ptr<rs::PostgresSession>, rs::StoreError>{rs::StoreError{}};
    if (session.ok()) static_cast<void>((*session)->query("DROP DATABASE " + where_ + " WITH (FORCE)"));
#endif
}

service::DatabasePlace BenchDatabase::place() const {
    using Kind = service::DatabasePlace::Kind;
    if (engine_ == Engine::Sqlite) return {Kind::Sqlite, where_ + "/mcs.db", where_};
#ifdef YK_WITH_PG
    return {Kind::Postgres, server().url(where_), where_};
#else
    return {};
#endif
}

std::string BenchDatabase::url() const {
    if (engine_ == Engine::Sqlite) return "sqlite:" + where_ + "/mcs.db";
    const std::string host = place().where.substr(0, place().where.find(' '));
    return "postgresql:///" + where_ + "?" + host + "&user=yk";
}

Result<std::unique_ptr<rs::SqlConnection>> BenchDatabase::open() const {
    if (engine_ == Engine::Sqlite) {
        auto opened = rs::SqliteConnection::open(place().where);
        if (!opened.ok()) return to_error(opened.error());
        return std::unique_ptr<rs::SqlConnection>{std::move(opened).value()};
    }
#ifdef YK_WITH_PG
    rs::PostgresSettings settings{place().where};
    settings.statement_limit = settings.answer_limit = settings.idle_limit = std::chrono::minutes{10};
    auto opened = rs::PostgresConnection::open(settings);
    if (!opened.ok()) return to_error(opened.error());
    return std::unique_ptr<rs::SqlConnection>{std::move(opened).value()};
#else
    return Error::of("no PostgreSQL");
#endif
}

Result<std::unique_ptr<BenchDatabase>> FilledDatabases::make(Engine engine, const Rows& rows) {
    const auto make_empty = [&](const BenchDatabase* of) -> Result<std::unique_ptr<BenchDatabase>> {
        if (engine == Engine::Sqlite) {
            YK_TRY(folder, new_folder());
            auto made = std::make_unique<BenchDatabase>(engine, folder);
            if (of != nullptr) fs::copy_file(of->place().where, made->place().where);
            return made;
        }
#ifdef YK_WITH_PG
        YK_TRY(name, new_postgres(++made_, of == nullptr ? "template0" : of->place().shown));
        return std::make_unique<BenchDatabase>(engine, name);
#else
        return Error::of("no PostgreSQL");
#endif
    };
    std::unique_ptr<BenchDatabase>& filled = filled_[{engine, rows}];
    if (!filled) {
        YK_TRY(made, make_empty(nullptr));
        const std::string ended = in_child([&] {
            const auto done = make_and_fill(*made, rows);
            if (done.ok()) return;
            std::fprintf(stderr, "%s\n", done.error().text().c_str());
            std::fflush(stderr);
            ::_exit(1);
        });
        if (!ended.empty()) return Error::of("the process that fills the database " + ended);
        filled = std::move(made);
    }
    return make_empty(filled.get());
}

Result<void> change_all(const BenchDatabase& database, int times) {
    YK_TRY(connection, database.open());
    const bool is_sqlite = database.engine() == Engine::Sqlite;
    std::string trigger;
    if (is_sqlite) {
        auto found = connection->text("SELECT sql FROM sqlite_master WHERE name = 'deployment_vg'");
        if (!found.ok()) return to_error(found.error());
        auto log = connection->text("SELECT sql FROM sqlite_master WHERE name = 'deployment_cu'");
        if (!log.ok()) return to_error(log.error());
        trigger = *found + ";" + *log + ";";
    }
    rs::SqlTransaction transaction{*connection, rs::SqlAccess::Write};
    YK_CHECKED(run(*connection, is_sqlite ? "DROP TRIGGER deployment_vg; DROP TRIGGER deployment_cu"
                                          : "ALTER TABLE deployment DISABLE TRIGGER USER"));
    YK_CHECKED(run(*connection, fmt::format("UPDATE deployment SET version = version + {0}, generation = generation +"
                                            " {0}, priority = priority + {0}",
                                            times)));
    for (int left = times - 1; left >= 0; --left)
        YK_CHECKED(run(*connection, fmt::format("INSERT INTO change_log(kind, op, id, uid, version, at_ms)"
                                                " SELECT 1, 2, id, uid, version - {}, updated_ms FROM deployment"
                                                " ORDER BY substr(id, {})",
                                                left, 25 + left)));
    YK_CHECKED(run(*connection, is_sqlite ? trigger : "ALTER TABLE deployment ENABLE TRIGGER USER"));
    if (const auto done = transaction.commit(); !done.ok()) return to_error(done.error());
    if (is_sqlite) return run(*connection, "PRAGMA wal_checkpoint(TRUNCATE)");
    YK_CHECKED(run(*connection, "VACUUM deployment"));
    return run(*connection, "CHECKPOINT");
}

void Digest::add(const rs::ResourceMeta& meta, std::uint64_t content) {
    const std::uint64_t who = mix_hash(mix_hash(0, meta.id), meta.uid);
    hash = mixed(hash ^ who) ^ mixed(content + static_cast<std::uint64_t>(meta.version));
    ++rows;
}

Result<Digest> digest_of(const BenchDatabase& database) {
    const auto connections = service::McsConnections::open(database.place(), false);
    if (!connections.ok()) return to_error(connections.error());
    return digest_of(*connections->deployments);
}

} // namespace yk::bench
