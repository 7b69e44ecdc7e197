// SPDX-License-Identifier: Apache-2.0
// Databases that go back to an earlier state while a program follows them: commits that were read are not there any
// more, as after a restore, or after a failover to a replica that lagged behind.
#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/databases/followed_rows.h"
#ifdef YK_WITH_PG
#include "tests/support/databases/postgres_database.h"
#endif

namespace yk::mcs {

using namespace std::chrono_literals;
using rs::RelistReason;
using testing::DatabaseFollower, testing::Engine, testing::StateDatabase;

namespace {

std::string rows_of(const StateDatabase& database) {
    return database.list("SELECT id || uid || version FROM node ORDER BY id");
}

/// A program that follows three nodes, and its calls of a handler.
struct FollowedNodes {
    explicit FollowedNodes(const StateDatabase& database) : database_(database) {
        for (const char* id : {"a", "b", "c"}) database.type(testing::insert_node(id, std::string{"u"} + id));
        follower.kind.add_handler(calls, {}, follower.now);
        follower.start();
        calls.take();
        REQUIRE(cached() == kCopied);
    }
    /// What comes after the copy, and is consumed.
    void go_on() {
        database_.type("DELETE FROM node WHERE id = 'a'");
        for (int each = 0; each < 5; ++each)
            database_.type("UPDATE node SET version = version + 1, schedulable = 0 WHERE id = 'b'");
        database_.type(testing::insert_node("d", "ud"));
        follower.pass(1s);
        REQUIRE(cached() == "bub6,cuc1,dud1");
        calls.take();
    }
    [[nodiscard]] std::string cached() const { return testing::cached_rows(follower.kind.cache()); }
    std::vector<std::string> sorted_calls() {
        auto all = calls.take();
        std::sort(all.begin(), all.end());
        return all;
    }

    static constexpr const char* kCopied = "aua1,bub1,cuc1";
    const std::vector<std::string> taken_back{"add a v1", "delete d v1", "update b v6 v1"};

private:
    const StateDatabase& database_;
    const std::unique_ptr<rs::ChangeLog> log_ = database_.place->open_log();

public:
    DatabaseFollower<Node> follower{database_, *log_};
    testing::KeptCalls<Node> calls;
};

/// What `.backup` and `.restore` of sqlite3 do: all pages of a database into the file of another one, which may be in
/// use, by one transaction.
void copy_pages(const std::string& from, const std::string& to) {
    sqlite3 *source = nullptr, *target = nullptr;
    REQUIRE(sqlite3_open(from.c_str(), &source) == SQLITE_OK);
    REQUIRE(sqlite3_open(to.c_str(), &target) == SQLITE_OK);
    sqlite3_busy_timeout(target, 20'000);
    sqlite3_backup* const copying = sqlite3_backup_init(target, "main", source, "main");
    REQUIRE(copying != nullptr);
    CHECK(sqlite3_backup_step(copying, -1) == SQLITE_DONE);
    CHECK(sqlite3_backup_finish(copying) == SQLITE_OK);
    CHECK(sqlite3_close(source) == SQLITE_OK);
    CHECK(sqlite3_close(target) == SQLITE_OK);
}

} // namespace

TEST_CASE("rs R-032, F-30 a copy that is put back into the file of a database while it is followed is read anew") {
    const StateDatabase database{Engine::Sqlite};
    const std::string file = database.place->path(), copy = file + ".copy";
    FollowedNodes nodes{database};
    copy_pages(file, copy);
    nodes.go_on();
    copy_pages(copy, file);
    REQUIRE(rows_of(database) == FollowedNodes::kCopied);
    SECTION("the program looks before the log has grown beyond what it had read") {
        database.type(testing::insert_node("e", "ue")); // whose number in the log had been another event's
        nodes.follower.pass(1s);
        CHECK(nodes.follower.notices.count("gap: epoch") == 1);
        CHECK(nodes.follower.relists(RelistReason::Epoch) == 1);
        CHECK(nodes.follower.relists(RelistReason::OlderVersions) == 0); // rows that are older are believed at once
        auto expected = nodes.taken_back;
        expected.insert(expected.begin() + 1, "add e v1");
        CHECK(nodes.sorted_calls() == expected);
    }
    SECTION("it looks later, when nothing in the file shows that it had been another one: a full read finds it") {
        for (char id = 'e'; id <= 'x'; ++id)
            database.type(testing::insert_node(std::string{id}, std::string{"u"} + id));
        nodes.follower.pass(1s);
        nodes.follower.manager.request_resync(kNodeKind, nodes.follower.now);
        nodes.follower.pass(30s);
    }
    CHECK(nodes.cached() == rows_of(database));
    CHECK(nodes.follower.manager.is_log_up());
}

#ifdef YK_WITH_PG
TEST_CASE("rs R-032, F-29, F-30 a server of PostgreSQL that an earlier copy of it replaces is read anew") {
    if (!testing::has_postgres()) return;
    testing::PrivatePostgres& server = *testing::PrivatePostgres::get();
    const bool is_failover = GENERATE(false, true);
    const testing::PostgresDatabase database;
    FollowedNodes nodes{database};
    DatabaseFollower<Node>& follower = nodes.follower;
    server.keep_copy();
    follower.pass(5s);
    CHECK(follower.manager.events().relists.empty()); // a server that was away, and has lost nothing
    nodes.go_on();
    using Role = testing::PrivatePostgres::Role;
    server.go_back_to_copy(is_failover ? Role::Replica : Role::Primary);
    if (is_failover) {
        follower.pass(2s);
        CHECK_FALSE(follower.manager.is_log_up()); // a replica is nobody that is followed
        CHECK(nodes.cached() == "bub6,cuc1,dud1");
        server.promote();
    }
    REQUIRE(rows_of(database) == FollowedNodes::kCopied);
    follower.pass(30s);
    CHECK(nodes.cached() == FollowedNodes::kCopied);
    CHECK(nodes.sorted_calls() == nodes.taken_back);
    CHECK(follower.notices.count("gap: epoch") == 1);
    // Rows that are older are believed at once, of a server that was promoted, which has another life, and of one that
    // was restored, whose log has the same name and ends earlier.
    CHECK(follower.relists(RelistReason::Epoch) == 1);
    CHECK(follower.relists(RelistReason::OlderVersions) == 0);
    CHECK(follower.kind.reconciler().counters().stale == 0);
    database.type(testing::insert_node("e", "ue"));
    follower.pass(1s);
    CHECK(nodes.cached() == "aua1,bub1,cuc1,eue1");
    CHECK(follower.relists(RelistReason::Epoch) + follower.relists(RelistReason::Purged) == 1); // it goes on from there
}
#endif

} // namespace yk::mcs
