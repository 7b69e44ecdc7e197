// SPDX-License-Identifier: Apache-2.0
// A server of PostgreSQL that crashes, hangs, is replaced by its replica, or ends sessions.
#ifdef YK_WITH_PG
#include <array>
#include <atomic>
#include <csignal>
#include <set>
#include <thread>

#include <catch2/catch.hpp>

#include "protocol/databases/postgres/postgres_change_log.h"
#include "tests/support/comes_true.h"
#include "tests/support/databases/followed_rows.h"
#include "tests/support/databases/postgres_database.h"
#include "tests/support/system/silent_socket.h"
#include "tests/support/system/temp_dir.h"

namespace yk::mcs {

using namespace std::chrono_literals;
using rs::PostgresChangeLog, rs::SqlAccess, rs::StoreFault;
using testing::comes_true, testing::has_postgres, testing::ids_of, testing::PostgresDatabase, testing::PrivatePostgres;

namespace {

/// Writes nodes one after the other, each until it is in the database.
class Writer {
public:
    explicit Writer(const PostgresDatabase& database)
        : thread_([this, &database] {
              for (int number = 0; !ends_; ++number) {
                  const InsertNode command{PostgresDatabase::node("n" + std::to_string(number))};
                  for (;;) {
                      const auto outcome = PostgresDatabase::write(*database.group, testing::kApi, command);
                      const bool is_there = std::holds_alternative<Conflict>(outcome); // its answer was lost
                      if (is_there || std::holds_alternative<Written>(outcome)) break;
                      ++failures;
                      if (ends_) return;
                      std::this_thread::sleep_for(5ms);
                  }
                  ++written;
              }
          }) {}
    void end() {
        ends_ = true;
        if (thread_.joinable()) thread_.join();
    }
    ~Writer() { end(); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    std::atomic<int> written = 0, failures = 0;

private:
    std::atomic<bool> ends_ = false;
    std::thread thread_;
};

/// Captures what it is asked to.
class MadeLog final : public rs::ChangeLog {
public:
    explicit MadeLog(rs::Cursor made) : cursor(std::move(made)) {}
    [[nodiscard]] Result<void, rs::LogFault> open(const rs::CapturedCursor& /*from*/) override { return {}; }
    [[nodiscard]] Result<rs::EventBatch, rs::LogFault> poll(std::size_t /*most*/) override { return rs::EventBatch{}; }
    rs::Cursor cursor;

private:
    [[nodiscard]] Result<rs::Cursor, rs::LogFault> read_latest() override { return cursor; }
};

/// All processes of the server stand still.
class Halt {
public:
    Halt() { PrivatePostgres::get()->signal_all(SIGSTOP); }
    ~Halt() { PrivatePostgres::get()->signal_all(SIGCONT); }
    Halt(const Halt&) = delete;
    Halt& operator=(const Halt&) = delete;
};

} // namespace

TEST_CASE("rs R-027, F-27 a server that crashes keeps what it has acknowledged, with its events, and goes on when it "
          "is back") {
    if (!has_postgres()) return;
    PrivatePostgres& server = *PrivatePostgres::get();
    server.stop_at_once();
    server.start(PrivatePostgres::Disk::Waited);
    const PostgresDatabase database;
    const auto reading = database.connect(), typing = database.connect();
    PostgresChangeLog log{*reading, true};
    REQUIRE(log.open(*log.capture()).ok());
    std::set<std::string> seen;
    const auto read = [&] {
        const auto batch = log.poll(100);
        if (!batch.ok()) {
            CHECK(batch.error().what == rs::LogFault::What::Down);
            return;
        }
        for (const auto& each : batch->events) CHECK(seen.insert(each.id).second);
    };
    Writer writer{database};
    for (int crash = 0; crash < 2; ++crash) {
        const int before = writer.written;
        REQUIRE(comes_true([&] { return read(), writer.written > before + 20; }));
        server.stop_at_once();
        writer.failures = 0;
        REQUIRE(comes_true([&] { return read(), writer.failures > 2; }));
        server.start(PrivatePostgres::Disk::Waited);
    }
    const int before = writer.written;
    REQUIRE(comes_true([&] { return read(), writer.written > before + 20; }));
    writer.end();
    CHECK(database.count("node") >= writer.written);
    CHECK(database.count("node") <= writer.written + 1);
    CHECK(database.count("change_log") == database.count("node"));
    CHECK(database.count("node n WHERE (SELECT count(*) FROM change_log l WHERE l.id = n.id) <> 1") == 0);
    REQUIRE(comes_true([&] { return read(), seen.size() == static_cast<std::size_t>(database.count("node")); }));
    // It listens in this session, too: what it has not heard of yet comes, and then nothing until the next commit.
    REQUIRE(comes_true([&] { return read(), !reading->has_news(); }));
    REQUIRE(typing->run(PostgresDatabase::insert("last")).ok());
    reading->wait_for_news(10s);
    CHECK(reading->has_news());
    server.stop_at_once();
    server.start(PrivatePostgres::Disk::Ignored);
}

TEST_CASE("rs F-28 a server that hangs is away within the limits of this side, and is used again when it goes on") {
    if (!has_postgres()) return;
    const PostgresDatabase database;
    auto by = database.settings();
    CHECK(by.answer_limit + by.connect_limit < 17s);
    CHECK(by.answer_limit < 12s);
    by.answer_limit = 200ms;
    by.connect_limit = 100ms;
    const auto connection = PostgresDatabase::connect(by);
    const auto store = database.store<Node>(*connection);
    REQUIRE(store->read_page("", 1).ok());
    {
        const Halt halt;
        const auto begin = std::chrono::steady_clock::now();
        const auto page = store->read_page("", 1);
        CHECK((std::chrono::steady_clock::now() - begin >= 200ms)); // it was waited for, and not refused
        REQUIRE_FALSE(page.ok());
        CHECK(page.error().fault == StoreFault::Down);
        CHECK(page.error().message == "no answer within 200 ms");
        const auto again = store->read_page("", 1);
        REQUIRE_FALSE(again.ok());
        CHECK(again.error().fault == StoreFault::Down);
        CHECK(again.error().message == "the server does not let anybody in within 100 ms");
        CHECK((std::chrono::steady_clock::now() - begin < 10s));
    }
    CHECK(comes_true([&] { return store->read_page("", 1).ok(); }));
}

TEST_CASE(
    "rs R-034, rs R-073 while a server is away keys wait, one call at a time asks for it, and then all are read") {
    if (!has_postgres()) return;
    constexpr int kCount = 1000;
    PrivatePostgres& server = *PrivatePostgres::get();
    const PostgresDatabase database;
    for (int each = 0; each < kCount; ++each) database.type(PostgresDatabase::insert("n" + std::to_string(each)));
    const auto log = database.place->open_log();
    testing::DatabaseFollower<Node> follower{database, *log};
    follower.start();
    REQUIRE(follower.kind.cache().size() == kCount);
    server.stop();
    for (int each = 0; each < kCount; ++each)
        follower.manager.enqueue(kNodeKind, "n" + std::to_string(each), follower.now);
    const std::uint64_t before = follower.rows.reads;
    follower.pass(60s);
    const std::uint64_t reads = follower.rows.reads - before;
    CHECK(reads >= 60);          // it is asked once a second at least,
    CHECK(reads <= 60 * 2 + 10); // and not for each of the keys
    CHECK(follower.kind.reconciler().queue().size() == kCount);
    CHECK_FALSE(follower.manager.is_store_up());
    CHECK(follower.notices.count("store-down") == 1);
    CHECK(follower.kind.cache().size() == kCount); // what is known stays
    server.start(PrivatePostgres::Disk::Ignored);
    follower.pass(5s);
    CHECK(follower.kind.reconciler().queue().size() == 0);
    CHECK(follower.notices.count("store-up") == 1);
    CHECK(follower.rows.reads - before - reads <= 10); // of 256 keys each
    CHECK(follower.manager.events().relists.empty());
}

TEST_CASE("rs R-030 of several servers in an address one that hangs or has gone does not hide the next one") {
    if (!has_postgres()) return;
    const PostgresDatabase database;
    const testing::TempDir silent;
    const auto socket = testing::silent_socket(silent.path(".s.PGSQL.5432"));
    const auto opened_after = [&](const std::string& first, const std::string& rest = {}) {
        auto by = database.settings();
        by.url.insert(by.url.find("host=") + 5, first + ",");
        by.url += rest;
        by.connect_limit = 1s;
        return rs::PostgresSession::open(by);
    };
    CHECK(opened_after("/nowhere").ok());
    CHECK(opened_after(silent.path()).ok());
    CHECK(opened_after(silent.path() + ",/nowhere").ok());
    const auto nobody = opened_after(silent.path(), " target_session_attrs=standby");
    REQUIRE_FALSE(nobody.ok());
    CHECK(nobody.error().fault == StoreFault::Down);
    INFO(nobody.error().message);
    CHECK(nobody.error().message.starts_with(silent.path() +
                                             ": the server does not let anybody in within 500 ms; /tmp/"));
    CHECK(nobody.error().message.ends_with("server is not in hot standby mode"));
}

TEST_CASE("rs R-158 writes whose connection ends while they are committed are in doubt, each of them") {
    if (!has_postgres()) return;
    const PostgresDatabase database;
    database.type("CREATE FUNCTION goes() RETURNS trigger LANGUAGE plpgsql AS"
                  " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'");
    database.type("CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON node DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
                  " WHEN (new.id = 'b') EXECUTE FUNCTION goes()");
    const std::array<WriteRequest, 2> both{WriteRequest{testing::kApi, InsertNode{PostgresDatabase::node("a")}},
                                           WriteRequest{testing::kApi, InsertNode{PostgresDatabase::node("b")}}};
    const std::array<const WriteRequest*, 2> requests{&both[0], &both[1]};
    const GroupOutcome ended = database.group->write(requests);
    CHECK(ended.what == GroupOutcome::What::Answered);
    for (const WriteOutcome& each : ended.outcomes) {
        REQUIRE(std::holds_alternative<Transient>(each));
        CHECK(std::get<Transient>(each).is_in_doubt);
    }
    CHECK(database.count("node") == 0);
    database.type("DROP TRIGGER at_commit ON node");
    for (const WriteOutcome& each : database.group->write(requests).outcomes)
        CHECK(std::holds_alternative<Written>(each));
}

TEST_CASE("rs R-033 a statement that fits its table no more is prepared anew, in another session") {
    if (!has_postgres()) return;
    const PostgresDatabase database;
    database.type("CREATE TABLE extra(a INT)");
    database.type("INSERT INTO extra VALUES(7)");
    const auto connection = database.connect();
    const auto read = [&] { return connection->number("SELECT * FROM extra"); };
    REQUIRE(*read() == 7);
    database.type("ALTER TABLE extra ADD COLUMN b INT");
    const auto unfit = read();
    REQUIRE_FALSE(unfit.ok());
    CHECK(unfit.error().fault == StoreFault::Down);
    CHECK(*read() == 7);
    REQUIRE(connection->run("DEALLOCATE ALL").ok());
    const auto unknown = read();
    REQUIRE_FALSE(unknown.ok());
    CHECK(unknown.error().fault == StoreFault::Down);
    CHECK(*read() == 7);
}

TEST_CASE("rs R-029, rs R-032, F-29 a replica is refused, and when it writes, the log is another one") {
    if (!has_postgres()) return;
    PrivatePostgres& server = *PrivatePostgres::get();
    const PostgresDatabase database;
    const auto reading = database.connect();
    PostgresChangeLog log{*reading, true};
    REQUIRE(log.open(*log.capture()).ok());
    server.become_replica();
    CHECK(log.poll(9).error().what == rs::LogFault::What::Down);
    const auto refused = rs::PostgresConnection::open(database.settings());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("replica") != std::string::npos);
    const auto outcome =
        PostgresDatabase::write(*database.group, testing::kApi, InsertNode{PostgresDatabase::node("a")});
    CHECK(std::holds_alternative<Transient>(outcome));
    server.promote();
    const auto gap = log.poll(9);
    REQUIRE_FALSE(gap.ok());
    CHECK(gap.error().what == rs::LogFault::What::Gap);
    CHECK(gap.error().reason == rs::RelistReason::Epoch);
    REQUIRE(log.open(*log.capture()).ok());
    REQUIRE(database.connection->run(PostgresDatabase::insert("b")).ok());
    CHECK(ids_of(*log.poll(9)) == "b");
}

TEST_CASE("rs R-032, F-30 a cursor of a transaction that has not begun is of a later state of the database") {
    if (!has_postgres()) return;
    const PostgresDatabase database, copy;
    const auto reading = database.connect(), other = copy.connect();
    PostgresChangeLog log{*reading, false}, elsewhere{*other, false};
    const auto captured = log.capture();
    CHECK(elsewhere.open(*captured).error().reason == rs::RelistReason::Epoch); // by the number of the database
    REQUIRE(log.open(*captured).ok());
    MadeLog made{captured->cursor()};
    made.cursor.lanes.at(0).transaction += 1000;
    CHECK(log.open(*made.capture()).error().reason == rs::RelistReason::Epoch);
}

TEST_CASE("F-26 a transaction whose session is lost fails to its end, and the next one has another session") {
    if (!has_postgres()) return;
    const PostgresDatabase database;
    auto by = database.settings();
    by.idle_limit = GENERATE(Duration{100ms}, Duration{15s});
    const auto connection = PostgresDatabase::connect(by);
    const auto process = connection->number("SELECT pg_backend_pid()");
    {
        rs::SqlTransaction transaction{*connection, SqlAccess::Write};
        REQUIRE(transaction.begun().ok());
        REQUIRE(connection->run(PostgresDatabase::insert("a")).ok());
        if (by.idle_limit > 1s) // else the server ends it by itself
            database.type("SELECT pg_terminate_backend(" + std::to_string(*process) + ")");
        connection->wait_for_news(30s);
        CHECK(connection->run(PostgresDatabase::insert("b")).error().fault == StoreFault::Down);
        CHECK_FALSE(connection->is_in_transaction());
        CHECK(connection->run(PostgresDatabase::insert("c")).error().fault == StoreFault::Down);
        CHECK(transaction.commit().error().fault == StoreFault::Down);
    }
    CHECK(database.count("node") == 0);
    CHECK(*connection->number("SELECT pg_backend_pid()") != *process);
    // One that is lost while nobody uses it is found out before anything is asked.
    const auto second = connection->number("SELECT pg_backend_pid()");
    database.type("SELECT pg_terminate_backend(" + std::to_string(*second) + ")");
    REQUIRE(comes_true([&] { return ::kill(static_cast<pid_t>(*second), 0) != 0; }));
    CHECK(connection->run(PostgresDatabase::insert("d")).ok());
}

TEST_CASE("rs R-033 what takes too long or waits for another's row fails alone, as Transient") {
    if (!has_postgres()) return;
    const PostgresDatabase database;
    auto by = database.settings();
    by.statement_limit = 200ms;
    const auto connection = PostgresDatabase::connect(by), other = database.connect();
    const auto process = connection->number("SELECT pg_backend_pid()");
    CHECK(connection->run("SELECT pg_sleep(60)").error().fault == StoreFault::Transient);
    database.type(PostgresDatabase::insert("a"));
    REQUIRE(other->begin(SqlAccess::Write).ok());
    REQUIRE(other->run("UPDATE node SET schedulable = 0").ok());
    WriteGroup group{*connection, LeaseHolder{"me", true}};
    const std::vector<WriteRequest> requests{{testing::kApi, InsertNode{PostgresDatabase::node("b")}},
                                             {testing::kApi, UpdateNode{PostgresDatabase::node("a"), {"ua", 1}}},
                                             {testing::kApi, InsertNode{PostgresDatabase::node("c")}}};
    const std::vector<const WriteRequest*> all{&requests[0], &requests[1], &requests[2]};
    const auto outcomes = group.write(all).outcomes;
    CHECK(std::holds_alternative<Written>(outcomes[0]));
    CHECK(std::holds_alternative<Transient>(outcomes[1]));
    CHECK(std::holds_alternative<Written>(outcomes[2]));
    CHECK(database.list("SELECT id FROM node ORDER BY id") == "a,b,c");
    CHECK(*connection->number("SELECT pg_backend_pid()") == *process);
    REQUIRE(other->commit().ok());
    const auto outcome = PostgresDatabase::write(group, testing::kApi, requests[1].command);
    CHECK(std::get<Conflict>(outcome).current_version == 2);
}

TEST_CASE(
    "rs R-033 an address that cannot be understood is refused without a word of it, since it may hold a password") {
    for (const char* url :
         {"postgresql://yk:se%cret@h/d", "postgresql://yk:secret/2@h/d", "postgresql://yk:p@secret@h/d",
          "postgresql://yk@h:secret/d", "postgresql://yk@h/d?secret=1", "postgresql://[secret/d"}) {
        INFO(url);
        CHECK(rs::shown_address(url) == "postgresql://");
        const auto session = rs::PostgresSession::open({url});
        REQUIRE_FALSE(session.ok());
        CHECK(session.error().fault == StoreFault::Fatal);
        CHECK(session.error().message.find("cret") == std::string::npos);
        CHECK(session.error().message.find("postgresql://USER@HOST:PORT/DATABASE") != std::string::npos);
    }
    CHECK(rs::shown_address("postgresql://yk:pa?secret@h:77/d?password=secret&host=other") ==
          "postgresql://other:77/d");
    CHECK(rs::shown_address("postgresql:///d?host=@abstract") == "postgresql://@abstract/d");
    const auto nobody = rs::PostgresSession::open({"postgresql://yk:secret@/d?host=/nowhere", 5s});
    REQUIRE_FALSE(nobody.ok());
    CHECK(nobody.error().fault == StoreFault::Down);
    CHECK(nobody.error().message.find("secret") == std::string::npos);
}

TEST_CASE("a commit after an error that nobody looked at says that nothing is committed") {
    if (!has_postgres()) return;
    const PostgresDatabase database;
    const auto connection = database.connect();
    REQUIRE(connection->begin(SqlAccess::Write).ok());
    REQUIRE(connection->run(PostgresDatabase::insert("a")).ok());
    CHECK(connection->run(PostgresDatabase::insert("a")).error().fault == StoreFault::Conflict);
    CHECK(connection->run("SELECT 1").error().fault == StoreFault::Transient);
    CHECK(connection->commit().error().message == "something failed before the commit");
    CHECK_FALSE(connection->is_in_transaction());
    CHECK(database.count("node") == 0);
}

TEST_CASE("rs R-031 F-31 another database behind the same address is none, until the first one is there again") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const auto connection = database.connect();
    const auto is_there = [&] { return connection->number("SELECT count(*) FROM node"); };
    REQUIRE(is_there().ok());
    const std::string own = database.text("SELECT value FROM mcs_meta WHERE key = 'db_uid'");
    const auto becomes = [&](const std::string& identity) {
        database.type("UPDATE mcs_meta SET value = '" + identity + "' WHERE key = 'db_uid'");
        database.type("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                      " AND datname = current_database()");
    };
    becomes("another");
    REQUIRE(comes_true(
        [&] { return !is_there().ok() && is_there().error().message.find("another") != std::string::npos; }));
    const auto refused = is_there();
    INFO(refused.error().message);
    CHECK(refused.error().fault == StoreFault::Down); // asked now and then, while the caches stay as they are
    CHECK(refused.error().message.find(own) != std::string::npos);
    becomes(own);
    CHECK(comes_true([&] { return is_there().ok(); }));
}

} // namespace yk::mcs
#endif
