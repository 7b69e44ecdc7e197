// SPDX-License-Identifier: Apache-2.0
#pragma once
// A process that hosts MCS with its core is killed at a fault point, and another one looks at what is left: nothing is
// there twice, nothing is lost, nothing is an orphan, and it goes on. On SQLite, and on whatever a Kept has.

#include <catch2/catch.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "libcore/base/fault_point.h"
#include "tests/support/mcs/driven_daemon.h"
#include "tests/support/system/temp_dir.h"

namespace yk::testing {

/// What a process that is killed leaves to the one that looks after it.
struct Left {
    std::uint64_t crash_at; // 0: never
    std::uint64_t reached;  // fault points so far
    std::uint64_t hits[kFaultPoints.size()];
    std::uint32_t answered; // steps of the user's that were answered
    FaultPoint at[4096];    // the first of them, in their order
    char trouble[400];      // why it could not go on; empty: it could
};
inline Left* left_of_process = nullptr;

inline void count_and_crash(FaultPoint point) {
    Left& left = *left_of_process;
    ++left.hits[static_cast<std::size_t>(point)];
    if (left.reached < std::size(left.at)) left.at[left.reached] = point;
    if (++left.reached == left.crash_at) ::kill(::getpid(), SIGKILL);
}

class SharedLeft {
public:
    SharedLeft() {
        void* const memory = ::mmap(nullptr, sizeof(Left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        left_of_process = new (memory) Left{};
    }
    ~SharedLeft() {
        detail::at_fault_point.store(nullptr);
        ::munmap(std::exchange(left_of_process, nullptr), sizeof(Left));
    }
    SharedLeft(const SharedLeft&) = delete;
    SharedLeft& operator=(const SharedLeft&) = delete;
    [[nodiscard]] Left& operator*() const { return *left_of_process; }
    [[nodiscard]] Left* operator->() const { return left_of_process; }
};

/// What a daemon begins with and leaves: a folder with a file of SQLite, or with one for another database.
class Kept {
public:
    Kept() = default;
    virtual ~Kept() = default;
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    [[nodiscard]] const std::string& folder() const { return folder_.path(); }
    /// The address of a database of PostgreSQL; empty: there is none.
    [[nodiscard]] virtual std::string postgres() const { return {}; }
    /// REQUIRES: no daemon uses it.
    [[nodiscard]] virtual std::unique_ptr<Kept> copy() const {
        auto made = std::make_unique<Kept>();
        copy_folder_to(*made);
        return made;
    }

protected:
    void copy_folder_to(const Kept& other) const {
        std::filesystem::copy(folder(), other.folder(), std::filesystem::copy_options::recursive);
    }

private:
    const TempDir folder_;
};

/// A cluster in which one Deployment runs, and a database that a daemon has left like that.
inline void prepare(const Kept& kept) {
    DrivenDaemon daemon{kept.folder(), 1, kept.postgres()};
    REQUIRE(daemon.starts());
    for (const char* const id : {"n1", "n2"}) REQUIRE(daemon.add_node(id));
    REQUIRE(daemon.create("old", 2, mcs::DeleteMode::Owners));
    REQUIRE(daemon.settles([&] { return daemon.difference().empty(); }));
    REQUIRE(daemon.wanted() == "old:2");
}

// What a user does, and what the database has after each step.
inline constexpr std::array kStates{"old:2", "new:2,old:2", "new:2,old:3", "new:2,old:1", "new:2"};

inline bool do_step(DrivenDaemon& daemon, std::size_t step) {
    switch (step) {
    case 0: return daemon.create("new", 2, mcs::DeleteMode::Cascade);
    case 1: return daemon.scale("old", 3);
    case 2: return daemon.scale("old", 1);
    default: return daemon.drop("old");
    }
}

/// Why the life of a process was not as it should be.
inline std::string live(const Kept& kept, Left& left) {
    DrivenDaemon daemon{kept.folder(), 2, kept.postgres()};
    if (!daemon.starts()) return "it does not start";
    for (std::size_t step = 0; step + 1 < kStates.size(); ++step) {
        if (!do_step(daemon, step)) return fmt::format("step {} is refused", step);
        ++left.answered;
        if (!daemon.settles([&] { return daemon.difference().empty(); }))
            return fmt::format("step {} has no end: {}", step, daemon.difference());
    }
    return {};
}

/// Whether the process was killed; false: it came to its end.
inline bool is_killed(const Kept& kept, Left& left) {
    const pid_t child = ::fork();
    if (child == 0) {
        detail::at_fault_point.store(count_and_crash);
        const std::string trouble = live(kept, left);
        std::strncpy(left.trouble, trouble.c_str(), sizeof left.trouble - 1);
        ::_exit(0);
    }
    REQUIRE(child > 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFEXITED(status) || WTERMSIG(status) == SIGKILL));
    return WIFSIGNALED(status);
}

/// What follows on a crash: the next life makes everything agree, and goes on.
inline void look_after(const Kept& kept, const Left& left) {
    DrivenDaemon daemon{kept.folder(), 3, kept.postgres()};
    REQUIRE(daemon.starts());
    const std::string wanted = daemon.wanted();
    const bool is_next = left.answered + 1 < kStates.size() && wanted == kStates.at(left.answered + 1);
    CHECK((wanted == kStates.at(left.answered) || is_next)); // what was answered is there
    CHECK(daemon.settles([&] { return daemon.difference().empty(); }));
    CHECK(daemon.difference() == "");
    CHECK(daemon.create("last", 1, mcs::DeleteMode::Cascade));
    CHECK(daemon.settles([&] { return daemon.difference().empty(); }));
    CHECK(daemon.difference() == "");
}

/// A process that is killed at the n-th point, and the one after it.
inline void crash_and_look(const Kept& prepared, std::uint64_t at, SharedLeft& left) {
    const std::unique_ptr<Kept> kept = prepared.copy();
    *left = Left{};
    left->crash_at = at;
    REQUIRE(is_killed(*kept, *left));
    INFO("YK_CRASH_AT=" << at << ", " << kFaultPoints.at(static_cast<std::size_t>(left->at[at - 1])) << ", after "
                        << left->answered << " steps");
    look_after(*kept, *left);
}

/// A process that is not killed: it comes to its end, and `left` has the points that there are.
inline void count_points(const Kept& prepared, SharedLeft& left) {
    const std::unique_ptr<Kept> kept = prepared.copy();
    REQUIRE_FALSE(is_killed(*kept, *left));
    REQUIRE(std::string{left->trouble} == "");
    CHECK(left->reached > 100);
    CHECK(left->reached <= std::size(left->at));
}

} // namespace yk::testing
