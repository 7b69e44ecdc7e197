// SPDX-License-Identifier: Apache-2.0
#include "tests/support/databases/state_database.h"

#include <cstdlib>
#include <filesystem>

#include "protocol/databases/mcs_schema.h"
#include "protocol/databases/sqlite_change_log.h"
#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_change_log.h"
#include "protocol/databases/postgres/postgres_schema.h"
#include "tests/support/databases/private_postgres.h"
#endif

namespace yk::testing {
namespace {

template <class T>
T must(Result<T, rs::StoreError> result) {
    INFO((result.ok() ? "" : result.error().message));
    REQUIRE(result.ok());
    return std::move(result).value();
}

/// A log that owns its connection.
template <class Connection, class Log>
class OwningLog final : public rs::ChangeLog {
public:
    template <class... Arguments>
    explicit OwningLog(std::unique_ptr<Connection> connection, Arguments... arguments)
        : connection_(std::move(connection)), log_(*connection_, arguments...) {}
    [[nodiscard]] Result<void, rs::LogFault> open(const rs::CapturedCursor& from) override { return log_.open(from); }
    [[nodiscard]] Result<rs::EventBatch, rs::LogFault> poll(std::size_t most) override { return log_.poll(most); }

private:
    [[nodiscard]] Result<rs::Cursor, rs::LogFault> read_latest() override {
        YK_TRY(captured, log_.capture());
        return captured.cursor();
    }

    const std::unique_ptr<Connection> connection_;
    Log log_;
};

class SqlitePlace final : public DatabasePlace {
public:
    explicit SqlitePlace(bool has_tables) {
        REQUIRE(::mkdtemp(folder_.data()) != nullptr);
        if (has_tables) REQUIRE(mcs::migrate(*connect(), "first").ok());
    }
    ~SqlitePlace() override { std::filesystem::remove_all(folder_); }
    SqlitePlace(const SqlitePlace&) = delete;
    SqlitePlace& operator=(const SqlitePlace&) = delete;

    [[nodiscard]] std::unique_ptr<rs::SqlConnection> open() const override { return connect(); }
    [[nodiscard]] std::unique_ptr<rs::ChangeLog> open_log() const override {
        return std::make_unique<OwningLog<rs::SqliteConnection, rs::SqliteChangeLog>>(connect());
    }
    [[nodiscard]] Result<void, rs::StoreError> make_tables(rs::SqlConnection& connection) const override {
        return mcs::migrate(connection, "first");
    }
    void purge_log(rs::SqlConnection& connection) const override {
        REQUIRE(rs::purge_log(dynamic_cast<rs::SqliteConnection&>(connection), 1'000'000).ok());
    }
    [[nodiscard]] std::string path() const override { return folder_ + "/state.db"; }

private:
    [[nodiscard]] std::unique_ptr<rs::SqliteConnection> connect() const {
        return must(rs::SqliteConnection::open(path()));
    }

    std::string folder_ = "/tmp/yk.mcs.XXXXXX";
};

#ifdef YK_WITH_PG
/// A copy of a database with tables is made faster than the tables.
class PostgresPlace final : public DatabasePlace {
public:
    explicit PostgresPlace(bool has_tables) {
        static const std::string kWithTables = make_template();
        static int number = 0;
        name_ = "test" + std::to_string(++number);
        PrivatePostgres::get()->type("CREATE DATABASE " + name_ + " TEMPLATE " +
                                     (has_tables ? kWithTables : "template0"));
    }
    /// A server that crashed looks at all files of all databases before it begins.
    ~PostgresPlace() override {
        const auto session = rs::PostgresSession::open({PrivatePostgres::get()->url("postgres")});
        if (session.ok()) static_cast<void>((*session)->query("DROP DATABASE " + name_ + " WITH (FORCE)"));
    }
    PostgresPlace(const PostgresPlace&) = delete;
    PostgresPlace& operator=(const PostgresPlace&) = delete;

    [[nodiscard]] std::unique_ptr<rs::SqlConnection> open() const override { return connect(name_); }
    [[nodiscard]] std::unique_ptr<rs::ChangeLog> open_log() const override {
        return std::make_unique<OwningLog<rs::PostgresConnection, rs::PostgresChangeLog>>(connect(name_), false);
    }
    [[nodiscard]] Result<void, rs::StoreError> make_tables(rs::SqlConnection& connection) const override {
        return mcs::migrate(connection, "first", mcs::postgres_steps());
    }
    [[nodiscard]] std::string path() const override { return PrivatePostgres::get()->url(name_); }
    void purge_log(rs::SqlConnection& connection) const override {
        auto& postgres = dynamic_cast<rs::PostgresConnection&>(connection);
        REQUIRE(mcs::purge_log(postgres, {std::uint64_t{1} << 60U, 0}).ok());
    }

private:
    static std::unique_ptr<rs::PostgresConnection> connect(const std::string& database) {
        return must(rs::PostgresConnection::open({PrivatePostgres::get()->url(database)}));
    }
    static std::string make_template() {
        PrivatePostgres::get()->type("CREATE DATABASE mcs_template");
        const auto connection = connect("mcs_template");
        const auto done = mcs::migrate(*connection, "first", mcs::postgres_steps());
        INFO((done.ok() ? "" : done.error().message));
        REQUIRE(done.ok());
        return "mcs_template";
    }

    std::string name_;
};
#endif

} // namespace

std::vector<Engine> engines() {
    std::vector<Engine> here{Engine::Sqlite};
#ifdef YK_WITH_PG
    const char* const in_ci = std::getenv("CI");
    if (PrivatePostgres::get() != nullptr)
        here.push_back(Engine::Postgres);
    else if (in_ci != nullptr && std::string{in_ci} == "true")
        FAIL("the server programs of PostgreSQL 15 are not installed");
    else
        WARN("skipped for PostgreSQL: the server programs of version 15 are not installed (postgresql-15)");
#endif
    return here;
}

std::unique_ptr<DatabasePlace> new_place(Engine engine, bool has_tables) {
#ifdef YK_WITH_PG
    if (engine == Engine::Postgres) return std::make_unique<PostgresPlace>(has_tables);
#endif
    static_cast<void>(engine);
    return std::make_unique<SqlitePlace>(has_tables);
}

StateDatabase::StateDatabase(Engine on) : engine(on) {
    type("UPDATE lease SET holder = 'me', epoch = 3 WHERE name = 'autoscaler'");
    type("UPDATE lease SET holder = 'me', epoch = 4 WHERE name = 'scheduler'");
    group = std::make_unique<mcs::WriteGroup>(*connection, mcs::LeaseHolder{"me", true});
}

void StateDatabase::type(const std::string& sql) const {
    const auto done = connection->run(sql);
    INFO(sql << ": " << (done.ok() ? "" : done.error().message));
    REQUIRE(done.ok());
}

std::string StateDatabase::text(const std::string& sql) const {
    return must(connection->text(sql));
}

std::int64_t StateDatabase::count(const std::string& from) const {
    return must(connection->number("SELECT count(*) FROM " + from));
}

std::string StateDatabase::list(const std::string& sql) const {
    rs::SqlStatement rows = connection->statement(sql);
    std::string all;
    while (must(rows.step())) all += (all.empty() ? "" : ",") + rows.text(0);
    return all;
}

std::string StateDatabase::events() const {
    return list(std::string{"SELECT op || ' ' || kind || ' ' || id FROM change_log ORDER BY "} + log_order());
}

} // namespace yk::testing
