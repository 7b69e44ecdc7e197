// SPDX-License-Identifier: Apache-2.0
// Who may use a database at the same time.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include <catch2/catch.hpp>

#include "protocol/databases/database_lock.h"

namespace yk::rs {

TEST_CASE("rs R-028, rs R-145 daemons with leases share a database, and who needs it alone is refused") {
    std::string folder = "/tmp/yk.lock.XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string database = folder + "/state.db";
    const auto take = [&](DatabaseLock::How how) {
        auto taken = DatabaseLock::take(database, how);
        return taken.ok() ? std::optional{std::move(taken).value()} : std::nullopt;
    };
    {
        const auto one = take(DatabaseLock::How::Shared), two = take(DatabaseLock::How::Shared);
        CHECK(one);
        CHECK(two);
        CHECK_FALSE(take(DatabaseLock::How::Exclusive));
    }
    {
        const auto alone = take(DatabaseLock::How::Exclusive);
        REQUIRE(alone);
        CHECK_FALSE(take(DatabaseLock::How::Shared));
        const auto refused = DatabaseLock::take(database, DatabaseLock::How::Exclusive);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().text() ==
              database + ".lock: the database is in use by process " + std::to_string(::getpid()));
    }
    const ::pid_t child = ::fork();
    if (child == 0) {
        const auto alone = take(DatabaseLock::How::Exclusive);
        ::_exit(alone ? 7 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(take(DatabaseLock::How::Exclusive)); // it is free at the end of the process, however that came
    CHECK_FALSE(DatabaseLock::take(folder + "/nowhere/state.db", DatabaseLock::How::Shared).ok());
    std::filesystem::remove_all(folder);
}

TEST_CASE("rs R-139 who is alone at a database knows it, and whoever comes meanwhile waits a moment") {
    std::string folder = "/tmp/yk.lock.XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string database = folder + "/state.db";
    using How = DatabaseLock::How;
    const auto one = DatabaseLock::take(database, How::Shared);
    REQUIRE(one.ok());
    std::thread other;
    std::atomic<bool> is_in = false;
    CHECK(one->while_alone([&] {
        other = std::thread{[&] { is_in = DatabaseLock::take(database, How::Shared).ok(); }};
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        CHECK_FALSE(is_in);
    }));
    other.join();
    CHECK(is_in);
    const auto two = DatabaseLock::take(database, How::Shared);
    REQUIRE(two.ok());
    bool called = false;
    CHECK_FALSE(one->while_alone([&] { called = true; }));
    CHECK_FALSE(called);
    std::filesystem::remove_all(folder);
}

TEST_CASE("rs R-145 a lock that was taken alone stays so") {
    std::string folder = "/tmp/yk.lock.XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string database = folder + "/state.db";
    using How = DatabaseLock::How;
    const auto one = DatabaseLock::take(database, How::Exclusive);
    REQUIRE(one.ok());
    bool called = false;
    CHECK(one->while_alone([&] { called = true; }));
    CHECK(called);
    CHECK_FALSE(DatabaseLock::take(database, How::Shared).ok());
    std::filesystem::remove_all(folder);
}

} // namespace yk::rs
