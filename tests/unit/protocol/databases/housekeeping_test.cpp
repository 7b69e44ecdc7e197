// SPDX-License-Identifier: Apache-2.0
// What keeps a database small and says what is wrong in it: checkpoints, the retention of the change log, dead letters.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include <catch2/catch.hpp>

#include "protocol/databases/housekeeping/mcs_housekeeping.h"
#include "tests/support/databases/mcs_database.h"
#include "tests/support/databases/state_database.h"
#include "tests/support/stepped_loops.h"

namespace yk::mcs {

using namespace std::chrono_literals;
using testing::McsDatabase;

namespace {

/// A database whose log has events of these ages, and nothing else.
struct Logged : McsDatabase {
    explicit Logged(const std::vector<std::chrono::milliseconds>& ages) {
        for (const auto age : ages)
            type("INSERT INTO change_log(kind, op, id, at_ms) VALUES(1, 2, 'd', " YK_NOW_MS " - " +
                 std::to_string(age.count()) + ")");
    }
    rs::PurgeReport purge(const rs::LogRetention& retention, std::optional<std::uint64_t> relayed = {}) {
        const auto report = rs::purge_old(*connection, retention, relayed);
        REQUIRE(report.ok());
        return *report;
    }
    [[nodiscard]] std::string left() const { return text("SELECT group_concat(seq, '') FROM change_log"); }
};

} // namespace

TEST_CASE("rs R-021 a connection is opened as wanted, and no commit of it makes a checkpoint") {
    const McsDatabase database;
    for (const auto& [pragma, wanted] : std::map<std::string, std::int64_t>{{"synchronous", 2},
                                                                            {"foreign_keys", 1},
                                                                            {"recursive_triggers", 1},
                                                                            {"busy_timeout", 5000},
                                                                            {"wal_autocheckpoint", 0},
                                                                            {"cache_size", -65536}}) {
        INFO(pragma);
        CHECK(*database.connection->number("PRAGMA " + pragma) == wanted);
    }
    CHECK(*database.connection->number("PRAGMA mmap_size") > 0);
    CHECK(database.text("PRAGMA journal_mode") == "wal");
}

TEST_CASE("rs R-022 a connection that does not wait for the disk says so, and keeps all else") {
    const McsDatabase database;
    const auto quick = rs::SqliteConnection::open(database.path(), {false, std::chrono::milliseconds{700}});
    REQUIRE(quick.ok());
    CHECK(*(*quick)->number("PRAGMA synchronous") == 1);
    CHECK(*(*quick)->number("PRAGMA busy_timeout") == 700);
    CHECK(*(*quick)->number("PRAGMA wal_autocheckpoint") == 0);
}

TEST_CASE("rs R-021 the write-ahead log is copied every so many pages, and cut when no reader needs it") {
    const McsDatabase database;
    const auto writer = database.open(), reader = database.open(), own = database.open();
    std::int64_t pages = 0;
    writer->on_commit([&](std::int64_t now) { pages = now; });
    REQUIRE(writer->run("PRAGMA synchronous = OFF; CREATE TABLE ballast(bytes)").ok());
    const auto log_size = [&] { return std::filesystem::file_size(database.path() + "-wal"); };
    const auto write = [&](int count) {
        for (int number = 0; number < count; ++number)
            REQUIRE(writer->run("INSERT INTO ballast VALUES(zeroblob(3000))").ok());
    };
    rs::WalCheckpoints checkpoints{*own, {100, 1000}};
    CHECK_FALSE(checkpoints.is_due(pages));
    write(100);
    CHECK(pages >= 100);
    REQUIRE(checkpoints.is_due(pages));
    CHECK(*checkpoints.run() == 0);
    CHECK_FALSE(checkpoints.is_due(pages));
    write(1); // everything was copied: the log begins anew
    CHECK(pages < 100);
    CHECK_FALSE(checkpoints.is_due(pages));
    write(99);
    CHECK(checkpoints.is_due(pages));

    REQUIRE(reader->run("BEGIN; SELECT count(*) FROM ballast").ok()); // it pins what comes now
    write(1000);
    REQUIRE(checkpoints.is_due(pages));
    const auto pinned = checkpoints.run();
    CHECK(*pinned > 0);
    CHECK(log_size() > 4'096'000U);
    CHECK_FALSE(checkpoints.is_due(pages)); // not with every commit
    REQUIRE(reader->run("COMMIT").ok());
    REQUIRE(writer->run("BEGIN IMMEDIATE").ok());
    CHECK(*checkpoints.run() == 0); // copied; but somebody writes, so it is not cut now
    CHECK(log_size() > 4'096'000U);
    REQUIRE(writer->run("COMMIT").ok());
    CHECK(*checkpoints.run() == 0);
    CHECK(log_size() == 0);
    write(1);
    CHECK(database.count("ballast") == 1201);
}

TEST_CASE("rs R-021 the write-ahead log is cut at 64 MiB, also beside one who writes all the time") {
    CHECK(rs::WalSettings{}.truncate_above * 4096 == 64LL << 20);
    const McsDatabase database;
    const auto own = database.open();
    REQUIRE(own->run("CREATE TABLE ballast(bytes)").ok());
    std::atomic<bool> is_over = false;
    std::atomic<std::int64_t> pages = 0;
    std::thread writer{[&] {
        const auto connection = database.open();
        connection->on_commit([&](std::int64_t now) { pages = now; });
        static_cast<void>(connection->run("PRAGMA synchronous = OFF"));
        while (!is_over) static_cast<void>(connection->run("INSERT INTO ballast VALUES(zeroblob(30000))"));
    }};
    rs::WalCheckpoints checkpoints{*own, {100, 1000}};
    int cuts = 0;
    bool is_long = false;
    for (const auto end = std::chrono::steady_clock::now() + 20s; cuts < 3 && std::chrono::steady_clock::now() < end;) {
        if (!checkpoints.is_due(pages)) continue;
        is_long = is_long || std::filesystem::file_size(database.path() + "-wal") > 4'096'000U;
        static_cast<void>(checkpoints.run());
        if (is_long && std::filesystem::file_size(database.path() + "-wal") < 4'096'000U) {
            is_long = false;
            ++cuts;
        }
    }
    is_over = true;
    writer.join();
    CHECK(cuts == 3);
}

TEST_CASE("rs R-016 an event of the log is kept for a day") {
    Logged log{{30h, 25h, 23h, 1h}};
    const rs::PurgeReport report = log.purge({});
    CHECK(report.removed == 2);
    CHECK_FALSE(report.has_more);
    CHECK(log.left() == "34");
    CHECK(*rs::log_floor(*log.connection) == 2);
    CHECK(log.purge({}).removed == 0);
    CHECK(log.purge({2h, 100}).removed == 1);
}

TEST_CASE("rs R-016 an old event after a young one waits for it, since the log is purged from its beginning") {
    Logged log{{30h, 1h, 30h}}; // somebody had set the clock back
    log.purge({});
    CHECK(log.left() == "23");
}

TEST_CASE("rs R-016 a deletion is as old as itself, not as its row") {
    Logged log{{}};
    log.type("INSERT INTO node VALUES('n', 'u', 1, '', '', '', 1, 5, 5)");
    log.type("DELETE FROM change_log; DELETE FROM node");
    CHECK(log.count("change_log") == 1);
    CHECK(log.purge({}).removed == 0);
}

TEST_CASE("rs R-016 of the log no more is kept than so many events, and it is purged in chunks") {
    Logged log{{}};
    log.type("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6003)"
             " INSERT INTO change_log(kind, op, id, at_ms) SELECT 1, 2, 'd', " YK_NOW_MS " FROM n");
    const rs::PurgeReport first = log.purge({24h, 3});
    CHECK(first.removed == 5000);
    CHECK(first.has_more);
    const rs::PurgeReport second = log.purge({24h, 3});
    CHECK(second.removed == 1000);
    CHECK_FALSE(second.has_more);
    CHECK(log.count("change_log") == 3);
}

TEST_CASE("rs R-016 what the relay has not sent stays, until it is too much") {
    Logged log{{30h, 30h, 30h, 30h}};
    CHECK(log.purge({24h, 100}, 1).removed == 1);
    CHECK(log.left() == "234");
    const rs::PurgeReport stuck = log.purge({24h, 2}, 1);
    CHECK(stuck.is_relay_stuck);
    CHECK(log.left() == "34");
    const rs::PurgeReport well = log.purge({24h, 2}, 4);
    CHECK_FALSE(well.is_relay_stuck);
    CHECK(log.left().empty());
}

TEST_CASE("rs R-086 dead letters are listed with the time since when, until their handler succeeds") {
    const testing::StateDatabase database{YK_EACH_DATABASE};
    DeadLetterTable table{*database.connection};
    const DeadLetterKey a{kDeploymentKind, "a", "autoscaler"}, b{kDeploymentKind, "b", "autoscaler"},
        c{kScaleKind, "a", "scheduler"};
    for (const DeadLetterKey* key : {&c, &b, &a}) REQUIRE(table.put(*key, 14, "no").ok());
    database.type("UPDATE dead_letter SET first_ms = 7, last_ms = 8 WHERE id = 'b'");
    REQUIRE(table.put(b, 20, "never").ok());
    const auto all = table.list({}, 10);
    REQUIRE(all.ok());
    REQUIRE(all->size() == 3);
    CHECK(all->at(0).key == a);
    CHECK(all->at(1).key == b);
    CHECK(all->at(1).attempts == 20);
    CHECK(all->at(1).error == "never");
    CHECK(all->at(1).first_ms == 7);
    CHECK(all->at(1).last_ms > 8);
    CHECK(table.list(a, 1)->at(0).key == b);
    REQUIRE(table.remove(a).ok());
    REQUIRE(table.remove(a).ok());
    CHECK(table.list({}, 10)->size() == 2);
    REQUIRE(table.remove_all(kDeploymentKind, "autoscaler").ok());
    CHECK(table.list({}, 10)->at(0).key == c);
}

// --- the thread ------------------------------------------------------------------------------------------------------

namespace {

const DeadLetterKey kLetter{kDeploymentKind, "a", "autoscaler"};

} // namespace

TEST_CASE("rs R-086 a dead letter that cannot be written is tried again, and what was said last of it counts") {
    testing::SteppedLoops loops;
    const McsDatabase database;
    auto own = database.open();
    const auto other = database.open();
    REQUIRE(own->run("PRAGMA busy_timeout = 1").ok());
    McsHousekeeping housekeeping{std::make_unique<SqliteUpkeep>(std::move(own)), {}};
    CHECK(loops.step() == Simulator::Clock::time_point::max());
    housekeeping.put_dead_letter(kLetter, 14, "no");
    REQUIRE(other->run("BEGIN IMMEDIATE").ok());
    CHECK_FALSE(loops.step().has_value());
    CHECK(housekeeping.status().fault == "database is locked");
    CHECK(loops.step() == loops.time + 1s);
    housekeeping.put_dead_letter(kLetter, 15, "still no");
    REQUIRE(other->run("ROLLBACK").ok());
    loops.time += 1s;
    CHECK_FALSE(loops.step().has_value());
    CHECK(housekeeping.status().fault.empty());
    CHECK(database.text("SELECT attempts || error FROM dead_letter") == "15still no");
    CHECK(loops.step() == Simulator::Clock::time_point::max());
    housekeeping.remove_dead_letter(kLetter);
    CHECK_FALSE(loops.step().has_value());
    CHECK(database.count("dead_letter") == 0);
}

TEST_CASE("rs R-086 a dead letter that the database refuses keeps neither the others nor the purge waiting") {
    testing::SteppedLoops loops;
    const McsDatabase database;
    database.type("CREATE TRIGGER refused BEFORE INSERT ON dead_letter WHEN new.error = 'bad' BEGIN"
                  " SELECT raise(ABORT, 'no such letter'); END");
    McsHousekeeping housekeeping{std::make_unique<SqliteUpkeep>(database.open()), {}};
    for (const char* id : {"a", "b", "c"})
        housekeeping.put_dead_letter({mcs::kNodeKind, id, "handler"}, 9, *id == 'b' ? "good" : "bad");
    housekeeping.set_purging(true);
    for (int rounds = 0; rounds < 6; ++rounds) {
        static_cast<void>(loops.step());
        loops.time += 1s;
    }
    CHECK(database.text("SELECT group_concat(id) FROM dead_letter") == "b");
    CHECK(housekeeping.status().log_rows.has_value()); // it was purged
    database.type("DROP TRIGGER refused");
    for (int rounds = 0; rounds < 6; ++rounds) {
        static_cast<void>(loops.step());
        loops.time += 1s;
    }
    CHECK(database.count("dead_letter") == 3);
}

TEST_CASE("rs R-016 the log is purged every minute, chunk after chunk, by the process that is to") {
    testing::SteppedLoops loops;
    Logged log{{}};
    log.type("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
             " INSERT INTO change_log(kind, op, id, at_ms) SELECT 1, 2, 'd', 5 FROM n");
    rs::Position relayed{0, 4000};
    const auto ask = [&](rs::SqlConnection&) -> Result<rs::Position, rs::StoreError> { return relayed; };
    McsHousekeeping housekeeping{std::make_unique<SqliteUpkeep>(log.open()), {{24h, 500}, ask}};
    CHECK(loops.step() == Simulator::Clock::time_point::max());
    housekeeping.set_purging(true);
    CHECK_FALSE(loops.step().has_value());
    CHECK(log.count("change_log") == 1000);
    CHECK(housekeeping.status().is_relay_stuck);
    relayed.sequence = 6000; // as is asked anew each time
    CHECK_FALSE(loops.step().has_value());
    CHECK(log.count("change_log") == 0);
    CHECK_FALSE(housekeeping.status().is_relay_stuck);
    CHECK(loops.step() == loops.time + 1min);
    housekeeping.set_purging(false);
    CHECK(loops.step() == Simulator::Clock::time_point::max());
}

TEST_CASE("rs R-021 a checkpoint follows on enough commits, once for all that are in it") {
    testing::SteppedLoops loops;
    const McsDatabase database;
    const auto foreign = database.open();
    McsHousekeeping housekeeping{std::make_unique<SqliteUpkeep>(database.open(), rs::WalSettings{100, 1'000'000}), {}};
    database.connection->on_commit([&](std::int64_t pages) { housekeeping.committed(pages); });
    database.type("PRAGMA synchronous = OFF; CREATE TABLE ballast(bytes); INSERT INTO ballast VALUES(zeroblob(9000))");
    CHECK(loops.step() == Simulator::Clock::time_point::max());
    database.type("INSERT INTO ballast VALUES(zeroblob(1000000))");
    REQUIRE(foreign->run("INSERT INTO ballast VALUES(zeroblob(1000000))").ok()); // nobody says so
    CHECK_FALSE(loops.step().has_value());
    CHECK(housekeeping.status().wal_pages == 0);
    CHECK(loops.step() == Simulator::Clock::time_point::max());
    database.connection->on_commit([](std::int64_t) {});
}

TEST_CASE("the thread of the housekeeping does what comes, beside a writer, and ends when it is to") {
    const McsDatabase database;
    McsHousekeeping housekeeping{std::make_unique<SqliteUpkeep>(database.open(), rs::WalSettings{10, 50}), {}};
    database.connection->on_commit([&](std::int64_t pages) { housekeeping.committed(pages); });
    database.type("CREATE TABLE ballast(bytes)");
    for (int number = 0; number < 50; ++number) {
        housekeeping.put_dead_letter({kDeploymentKind, std::to_string(number), "h"}, 14, "no");
        database.type("INSERT INTO ballast VALUES(zeroblob(9000))");
    }
    while (database.count("dead_letter") < 50) std::this_thread::yield();
    CHECK(housekeeping.status().fault.empty());
    housekeeping.stop();
    housekeeping.put_dead_letter({kDeploymentKind, "late", "h"}, 14, "no");
    database.connection->on_commit([](std::int64_t) {});
    CHECK(database.count("dead_letter") == 50);
    CHECK(database.count("ballast") == 50);
}

} // namespace yk::mcs
