// SPDX-License-Identifier: Apache-2.0
// What only PostgreSQL has: transactions beside each other, notifications, words and errors of its own.
#ifdef YK_WITH_PG
#include <poll.h>

#include <atomic>
#include <future>
#include <thread>

#include <catch2/catch.hpp>

#include "libcore/resource_state/backoff.h"
#include "protocol/databases/mcs_leases.h"
#include "protocol/databases/mcs_statements.h"
#include "protocol/databases/postgres/postgres_change_log.h"
#include "protocol/databases/postgres/postgres_errors.h"
#include "protocol/databases/postgres/postgres_retention.h"
#include "protocol/databases/postgres/postgres_schema.h"
#include "tests/support/comes_true.h"
#include "tests/support/databases/postgres_database.h"
#include "tests/support/databases/private_postgres.h"

namespace yk::mcs {

using namespace std::chrono_literals;
using rs::PostgresChangeLog, rs::PostgresConnection, rs::SqlAccess, rs::StoreFault;
using testing::has_postgres, testing::ids_of, testing::PostgresDatabase;

TEST_CASE("rs R-009 rows that are all removed at once are one event for the kind") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    database.type(PostgresDatabase::insert("a"));
    const auto connection = database.connect();
    PostgresChangeLog log{*connection, false};
    REQUIRE(log.open(*log.capture()).ok());
    database.type("TRUNCATE node");
    const auto batch = log.poll(9);
    REQUIRE(batch->events.size() == 1);
    CHECK(batch->events[0].op == rs::Op::Relist);
    CHECK(batch->events[0].kind == kNodeKind);
}

TEST_CASE(
    "rs R-041, rs R-042 nothing is read beyond the oldest transaction that writes, and nothing is lost behind it") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const auto slow = database.connect(), reading = database.connect();
    const bool notifies = GENERATE(false, true);
    PostgresChangeLog log{*reading, notifies};
    REQUIRE(log.open(*log.capture()).ok());
    REQUIRE(log.poll(9)->events.empty());
    REQUIRE(slow->begin(SqlAccess::Write).ok());
    SECTION("it writes rows, under a lower number than one that is committed before it") {
        REQUIRE(slow->run(PostgresDatabase::insert("a")).ok());
        database.type(PostgresDatabase::insert("b"));
        const auto captured = log.capture();
        reading->wait_for_news(100ms);
        CHECK(log.poll(9)->events.empty());
        const auto outcome =
            PostgresDatabase::write(*database.group, testing::kApi, InsertNode{PostgresDatabase::node("c")});
        CHECK_FALSE(reaches(log.poll(9)->position, std::get<Written>(outcome).position));
        REQUIRE(slow->commit().ok());
        CHECK(ids_of(*log.poll(9)) == "abc");
        REQUIRE(log.open(*captured).ok()); // a cursor from then is before all of them
        CHECK(ids_of(*log.poll(9)) == "abc");
    }
    SECTION("it writes none, and nobody hears of its end") {
        REQUIRE(slow->number("SELECT 1 WHERE pg_current_xact_id() IS NOT NULL").ok());
        database.type(PostgresDatabase::insert("b"));
        reading->wait_for_news(5s);
        CHECK(log.poll(9)->events.empty());
        slow->roll_back();
        CHECK(ids_of(*log.poll(9)) == "b");
    }
}

TEST_CASE("rs R-041, F-25 with 64 writers at once each event is read once, in one order") {
    if (!has_postgres()) return;
    constexpr int kWriters = 64, kTransactions = 8;
    PostgresDatabase database;
    const auto reading = database.connect();
    PostgresChangeLog log{*reading, true};
    REQUIRE(log.open(*log.capture()).ok());
    std::atomic<int> running = kWriters, failures = 0;
    std::vector<std::thread> writers;
    writers.reserve(kWriters);
    for (int writer = 0; writer < kWriters; ++writer)
        writers.emplace_back([&database, &running, &failures, writer] {
            auto connection = PostgresConnection::open(database.settings());
            for (int each = 0; connection.ok() && each < kTransactions; ++each) {
                const std::string id = std::to_string(writer) + "." + std::to_string(each);
                const std::string sql = "BEGIN; " + PostgresDatabase::insert(id) +
                                        "; SELECT pg_sleep(random() * 0.02);" +
                                        " UPDATE node SET schedulable = 0 WHERE id = '" + id + "'; COMMIT";
                if (!(*connection)->run(sql).ok()) ++failures;
            }
            if (!connection.ok()) failures += kTransactions;
            --running;
        });
    std::string seen;
    std::size_t polls = 0;
    for (bool is_last = false; !is_last;) {
        is_last = running == 0;
        for (bool has_more = true; has_more; ++polls) {
            const auto batch = log.poll(100);
            REQUIRE(batch.ok());
            for (const auto& each : batch->events)
                seen += (seen.empty() ? "" : ",") + std::to_string(static_cast<int>(each.op)) + " " + each.id;
            has_more = batch->may_have_more;
        }
        reading->wait_for_news(50ms);
    }
    for (std::thread& each : writers) each.join();
    CHECK(failures == 0);
    CHECK(polls > 5);
    CHECK(database.count("change_log") == 2L * kWriters * kTransactions);
    CHECK(seen == database.list("SELECT op || ' ' || id FROM change_log ORDER BY xid, seq"));
    CHECK(seen != database.list("SELECT op || ' ' || id FROM change_log ORDER BY seq")); // what is read by others
}

TEST_CASE("rs R-043, F-26 who holds the log back can be named, whatever database it is in") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const auto asking = database.connect();
    CHECK_FALSE(rs::find_fence_holder(*asking)->has_value());
    const auto elsewhere = PostgresDatabase::connect({testing::PrivatePostgres::get()->url("postgres")});
    REQUIRE(elsewhere->begin(SqlAccess::Write).ok());
    const auto process = elsewhere->number("SELECT pg_backend_pid() WHERE pg_current_xact_id() IS NOT NULL");
    const auto holder = rs::find_fence_holder(*asking);
    REQUIRE(holder.ok());
    REQUIRE(holder->has_value());
    CHECK((*holder)->who.find("process " + std::to_string(*process) + " of yk in postgres") == 0);
    CHECK((*holder)->age >= 0ms);
}

TEST_CASE("rs R-044 a poll asks the server only when it has heard of a commit, and a commit wakes who waits") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const auto reading = database.connect();
    PostgresChangeLog log{*reading, true, 1h};
    REQUIRE(log.open(*log.capture()).ok());
    REQUIRE(log.poll(9)->events.empty());
    REQUIRE(log.poll(9)->events.empty());
    database.type("UPDATE mcs_meta SET value = 'second' WHERE key = 'log_epoch'");
    CHECK(log.poll(9).ok()); // it would have seen that
    database.type("UPDATE mcs_meta SET value = 'first' WHERE key = 'log_epoch'");
    database.type(PostgresDatabase::insert("a"));
    reading->wait_for_news(20s);
    CHECK(ids_of(*log.poll(9)) == "a");
}

TEST_CASE("rs R-044 whoever waits for other things as well sees by the session's socket that there was a commit") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const auto reading = database.connect();
    PostgresChangeLog log{*reading, true, 1h};
    REQUIRE(log.open(*log.capture()).ok());
    REQUIRE(log.poll(9)->events.empty());
    REQUIRE(log.poll(9)->events.empty());
    ::pollfd socket{reading->news_socket(), POLLIN, 0};
    CHECK(::poll(&socket, 1, 0) == 0);
    database.type(PostgresDatabase::insert("a"));
    REQUIRE(::poll(&socket, 1, 20'000) == 1);
    reading->hear_news();
    CHECK(::poll(&socket, 1, 0) == 0); // it can be waited for again
    CHECK(ids_of(*log.poll(9)) == "a");
}

TEST_CASE("rs R-044 a log that is not polled takes what it is sent, and one that is closed is sent nothing") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const auto reading = database.connect();
    PostgresChangeLog log{*reading, true, 1h};
    const auto listens = [&] { return *reading->number("SELECT count(*) FROM pg_listening_channels()") == 1; };
    REQUIRE(log.open(*log.capture()).ok());
    CHECK(listens());
    ::pollfd socket{reading->news_socket(), POLLIN, 0};
    database.type(PostgresDatabase::insert("a"));
    REQUIRE(::poll(&socket, 1, 20'000) == 1);
    log.hear();
    CHECK(::poll(&socket, 1, 0) == 0);
    CHECK(ids_of(*log.poll(9)) == "a"); // what was heard counts
    log.close();
    CHECK_FALSE(listens());
    database.type(PostgresDatabase::insert("b"));
    log.close();
    REQUIRE(log.open(*log.capture()).ok());
    CHECK(listens());
    database.type(PostgresDatabase::insert("c"));
    reading->wait_for_news(20s);
    CHECK(ids_of(*log.poll(9)) == "c");
}

TEST_CASE("rs R-015, rs R-016 a purge keeps what nobody can have read yet, and goes in chunks") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const auto purging = database.connect(), slow = database.connect();
    for (const char* id : {"a", "b", "c"}) database.type(PostgresDatabase::insert(id));
    REQUIRE(slow->begin(SqlAccess::Write).ok());
    REQUIRE(slow->number("SELECT 1 WHERE pg_current_xact_id() IS NOT NULL").ok());
    database.type(PostgresDatabase::insert("d"));
    const rs::Position all{std::uint64_t{1} << 60U, 0};
    CHECK(*purge_log(*purging, all, 2) == 2);
    CHECK(database.events() == "1 4 c,1 4 d");
    CHECK(*purge_log(*purging, all, 2) == 1);
    CHECK(*purge_log(*purging, all, 2) == 0);
    CHECK(database.events() == "1 4 d");
    CHECK(database.text("SELECT value FROM mcs_meta WHERE key = 'log_floor'").find(".3") != std::string::npos);
}

TEST_CASE("rs R-032 tables that came from another server by pg_dump begin a log of their own") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    database.type("UPDATE mcs_meta SET value = '5000000000.7' WHERE key = 'log_floor'");
    for (const char* row : {"900000, 1, 2, 'x'", "900001, 1, 2, 'x'", "900002, 1, 2, 'x'"})
        database.type("INSERT INTO change_log(xid, seq, kind, op, id, at_ms) OVERRIDING SYSTEM VALUE "
                      "VALUES('6000000000'::xid8, " +
                      std::string{row} + ", 0)");
    const auto connection = database.connect();
    rs::PostgresChangeLog log{*connection, true};
    const auto from = log.capture();
    REQUIRE(from.ok());
    REQUIRE(log.open(*from).ok());
    database.type(PostgresDatabase::insert("a"));
    const auto batch = log.poll(10);
    REQUIRE(batch.ok());
    REQUIRE(batch->events.size() == 1);
    CHECK(batch->events[0].id == "a");
    const auto purging = database.connect();
    CHECK(*purge_log(*purging, rs::Position{1, 0}, 2) == 2); // a chunk
    CHECK(*purge_log(*purging, rs::Position{1, 0}, 2) == 1);
    CHECK(*purge_log(*purging, rs::Position{1, 0}, 2) == 0);
    CHECK(database.events().find('x') == std::string::npos);
    CHECK(database.text("SELECT value FROM mcs_meta WHERE key = 'log_floor'") == "0.0");
}

TEST_CASE("rs R-016 of the log of PostgreSQL goes what is old or too much, and not what the relay has to send") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const auto purging = database.connect();
    for (const int hours : {30, 20, 10, 5}) // their numbers are 1 to 4
        database.type("INSERT INTO change_log(kind, op, id, at_ms) VALUES(1, 2, 'd', (extract(epoch FROM now()) * 1000)"
                      "::bigint - 3600000 * " +
                      std::to_string(hours) + ")");
    const auto left = [&] { return database.list("SELECT seq FROM change_log ORDER BY xid, seq"); };
    const auto purge = [&](const rs::LogRetention& retention, std::optional<rs::Position> relayed = {}) {
        const auto report = purge_old(*purging, retention, relayed);
        REQUIRE(report.ok());
        return *report;
    };
    const rs::Position none{1, 0}, all{std::uint64_t{1} << 60U, 0};
    CHECK(purge({24h, 10}, none).removed == 0);
    CHECK(purge({24h, 10}, none).rows == 4);
    CHECK(purge({24h, 10}, all).removed == 1);
    CHECK(left() == "2,3,4");
    const rs::PurgeReport stuck = purge({24h, 2}, none);
    CHECK(stuck.removed == 1);
    CHECK(stuck.is_relay_stuck);
    CHECK(left() == "3,4");
    CHECK_FALSE(purge({24h, 2}, all).is_relay_stuck);
    CHECK(purge({7h, 10}).removed == 1);
    CHECK(left() == "4");
    CHECK(purge({1h, 10}).removed == 1);
    CHECK(purge({1h, 10}).removed == 0);
    CHECK(purge({1h, 10}).rows == 0);
}

TEST_CASE("rs R-141 whoever takes a lease waits for writes that are under its fence, and fences those after it") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const auto other = database.connect(), writing = database.connect();
    LeaseTable table{*other, "other", 15s};
    database.type("UPDATE lease SET expires_ms = 1 WHERE name = 'autoscaler'");
    REQUIRE(writing->begin(SqlAccess::Write).ok());
    REQUIRE(*writing->number(
                "SELECT 1 FROM lease WHERE name = 'autoscaler' AND holder = 'me' AND epoch = 3 FOR SHARE") == 1);
    auto taken = std::async(std::launch::async, [&table] { return table.acquire("autoscaler"); });
    CHECK(taken.wait_for(200ms) == std::future_status::timeout);
    REQUIRE(writing->commit().ok());
    CHECK(*taken.get() == 4U);
    CHECK(std::holds_alternative<Fenced>(
        PostgresDatabase::write(*database.group, testing::kScaler, InsertScale{PostgresDatabase::scale("a")})));
}

TEST_CASE("rs R-107, rs R-019 writes beside each other leave no orphan, and no name that means two") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    std::vector<std::thread> writers;
    std::atomic<int> written = 0, others = 0;
    for (unsigned seed = 1; seed <= 4; ++seed)
        writers.emplace_back([&database, &written, &others, seed] {
            auto connection = PostgresConnection::open(database.settings());
            if (!connection.ok()) return;
            WriteGroup group{**connection, LeaseHolder{"me", true}};
            rs::Chance chance{seed};
            for (int each = 0; each < 100; ++each) {
                const std::string id(1, static_cast<char>('a' + chance.next() % 3));
                Deployment row = PostgresDatabase::deployment(id);
                row.name = std::string(1, static_cast<char>('a' + chance.next() % 3));
                const auto outcome = [&] {
                    switch (chance.next() % 3) {
                    case 0: return PostgresDatabase::write(group, testing::kApi, InsertDeployment{row, false});
                    case 1:
                        return PostgresDatabase::write(group, testing::kApi, DeleteDeployment{id, {"u" + id, 0}, {}});
                    default:
                        return PostgresDatabase::write(group, testing::kScaler,
                                                       InsertScale{PostgresDatabase::scale(id)});
                    }
                }();
                if (std::holds_alternative<Written>(outcome))
                    ++written;
                else if (!std::holds_alternative<Conflict>(outcome))
                    ++others;
            }
        });
    for (std::thread& each : writers) each.join();
    CHECK(written > 20);
    CHECK(others == 0);
    CHECK(database.count("deployment_scale s WHERE NOT EXISTS(SELECT 1 FROM deployment d WHERE d.id = s.owner_id"
                         " AND d.uid = s.owner_uid)") == 0);
    CHECK(database.count("deployment a, deployment b WHERE a.id <> b.id AND (a.name = b.name OR a.name = b.id)") == 0);
}

TEST_CASE("a text that PostgreSQL cannot store fails its own write, and is found nowhere") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    const std::string id{"a\0b", 3};
    Deployment row = PostgresDatabase::deployment("a");
    row.queue = id;
    CHECK(std::holds_alternative<Fatal>(
        PostgresDatabase::write(*database.group, testing::kApi, InsertDeployment{row, false})));
    row.queue = "\xff";
    CHECK(std::holds_alternative<Fatal>(
        PostgresDatabase::write(*database.group, testing::kApi, InsertDeployment{row, false})));
    row.queue = R"(a"\{},b)";
    row.meta.id = *row.queue;
    CHECK(std::holds_alternative<Written>(
        PostgresDatabase::write(*database.group, testing::kApi, InsertDeployment{row, false})));
    const std::vector<std::string> ids{"nobody", row.meta.id, id, row.meta.id};
    const auto rows = database.store<Deployment>(*database.connection)->read_many(ids);
    REQUIRE(rows.ok());
    CHECK(std::holds_alternative<rs::AbsentRow>(rows->found.at(0)));
    CHECK(std::get<rs::Ptr<Deployment>>(rows->found.at(1))->queue == row.queue);
    CHECK(std::holds_alternative<rs::AbsentRow>(rows->found.at(2)));
    CHECK(std::holds_alternative<rs::Ptr<Deployment>>(rows->found.at(3)));
}

TEST_CASE("rs R-094 pages are ordered by the bytes of ids") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    for (const char* id : {"b", "A", "a", "B", "\xc3\xa4", "_"}) database.type(PostgresDatabase::insert(id));
    const auto store = database.store<Node>(*database.connection);
    std::string ids, after;
    for (bool is_last = false; !is_last;) {
        const auto page = store->read_page(after, 2);
        REQUIRE(page.ok());
        for (const auto& each : page->found) ids += std::get<rs::Ptr<Node>>(each)->meta.id;
        after = page->last_id;
        is_last = page->is_last;
    }
    CHECK(ids == "AB_ab\xc3\xa4");
}

/// A transaction that lasts keeps the server from removing old rows, and would show all pages as they were in the
/// beginning.
TEST_CASE(
    "rs R-026, rs R-094 no read of PostgreSQL lasts longer than its call: full reads go by pages, each by itself") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    for (int each = 0; each < 10; ++each) database.type(PostgresDatabase::insert("id" + std::to_string(each)));
    const auto reading = database.connect(), tailing = database.connect();
    const auto store = database.store<Node>(*reading);
    PostgresChangeLog log{*tailing, false};
    const auto is_free = [&] {
        return database.count("pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                              " AND xact_start IS NOT NULL") == 0;
    };
    REQUIRE(log.open(*log.capture()).ok());
    CHECK(is_free());
    const auto first = store->read_page("", 3);
    REQUIRE(first.ok());
    CHECK(first->found.size() == 3);
    CHECK(is_free());
    CHECK_FALSE(reading->is_in_transaction());
    database.type(PostgresDatabase::insert("id31")); // behind the first page, and so in the next one
    const auto second = store->read_page(first->last_id, 3);
    REQUIRE(second.ok());
    CHECK(rs::meta_of(*std::get<rs::Ptr<Node>>(second->found.at(1))).id == "id31");
    CHECK(is_free());
    const std::vector<std::string> ids{"id1", "id2"};
    REQUIRE(store->read_many(ids).ok());
    REQUIRE(log.poll(100).ok());
    CHECK(is_free());
    REQUIRE(reading->begin(SqlAccess::Read).ok());
    REQUIRE(reading->number("SELECT count(*) FROM node").ok());
    CHECK_FALSE(is_free()); // one that lasts would be seen
    reading->roll_back();
}

TEST_CASE("rs R-033 a write that waited for one that waited for it is tried again, not refused") {
    if (!has_postgres()) return;
    PostgresDatabase database;
    PostgresDatabase::write(*database.group, testing::kApi, InsertDeployment{PostgresDatabase::deployment("a"), false});
    std::future<WriteOutcome> renamed; // ends after what it waits for
    const auto other = database.connect();
    REQUIRE(other->run("SET deadlock_timeout = '1h'").ok()); // it is never the one that is ended
    REQUIRE(other->begin(SqlAccess::Write).ok());
    REQUIRE(other->run("UPDATE deployment SET version = version + 1 WHERE id = 'a'").ok());
    renamed = std::async(std::launch::async, [&] { // takes the lock of names, and waits for the row
        Deployment row = PostgresDatabase::deployment("a");
        row.name = "renamed";
        return PostgresDatabase::write(*database.group, testing::kApi, UpdateDeployment{row, {"ua", 0}});
    });
    const auto watcher = database.connect();
    REQUIRE(testing::comes_true([&] {
        const auto waiting = watcher->number("SELECT count(*) FROM pg_locks WHERE NOT granted");
        return waiting.ok() && *waiting > 0;
    }));
    REQUIRE(other->run("SELECT pg_advisory_xact_lock(" YK_NAMES_LOCK ")").ok()); // the server ends the other one
    REQUIRE(other->commit().ok());
    const WriteOutcome outcome = renamed.get();
    INFO(message_of(outcome));
    CHECK(std::holds_alternative<Written>(outcome));
    CHECK(database.text("SELECT name FROM deployment") == "renamed");
}

TEST_CASE("rs R-033 error codes of PostgreSQL have their classes") {
    for (const char* state : {"08006", "57P01", "57P02", "57P03", "25P03", "25006", "0A000", "26000"})
        CHECK(rs::fault_of(state) == StoreFault::Down);
    for (const char* state : {"40001", "40P01", "53100", "57014", "25P02", "XX000", "99999", ""})
        CHECK(rs::fault_of(state) == StoreFault::Transient);
    for (const char* state : {"23505", "23503"}) CHECK(rs::fault_of(state) == StoreFault::Conflict);
    for (const char* state : {"23514", "23502", "42P01", "42501", "22021", "XX001", "3D000", "28P01"})
        CHECK(rs::fault_of(state) == StoreFault::Fatal);
}

TEST_CASE("messages of several lines become one that can be shown") {
    CHECK(rs::one_line("connection failed: Connection refused\n\tIs the server running?\n") ==
          "connection failed: Connection refused; Is the server running?");
    CHECK(rs::one_line("ERROR:  a\r\n\n  b") == "ERROR:  a; b");
    CHECK(rs::one_line("one") == "one");
    CHECK(rs::one_line("\n").empty());
}

TEST_CASE("statements that are written for SQLite are understood by PostgreSQL") {
    CHECK(rs::in_postgres("SELECT ?, '?', ?2 FROM t WHERE a = ? /*pg FOR SHARE */") ==
          "SELECT $1, '?', $2 FROM t WHERE a = $2 FOR SHARE");
    CHECK(rs::in_postgres("SELECT " YK_NOW_MS).find("julian") == std::string::npos);
    CHECK(rs::tables_in_postgres("CREATE TABLE t(id TEXT, n INTEGER) WITHOUT ROWID;") ==
          "CREATE TABLE t(id TEXT COLLATE \"C\", n BIGINT);");
    CHECK(rs::array_of({"a", "b\"\\", std::string_view{"\0", 1}}) == R"({"a","b\"\\"})");
    CHECK(rs::array_of({}) == "{}");
}

} // namespace yk::mcs
#endif
