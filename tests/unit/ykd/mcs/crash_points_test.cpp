// SPDX-License-Identifier: Apache-2.0
// A process that hosts MCS with its core is killed at each fault point that it comes to, one after the other; the next
// one finds nothing twice, nothing lost and no orphan, and goes on.
//
// A run comes to some 1,700 points, and is killed at each. YK_CRASH_EVERY=N: at every n-th, and at the first and the
// last times that it comes to each kind; YK_CRASH_AT=N: at the n-th alone.
#include <catch2/catch.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <set>
#include <utility>

#include "libcore/base/fault_point.h"
#include "tests/support/mcs/driven_daemon.h"
#include "tests/support/system/temp_dir.h"

using namespace yk;
using namespace yk::testing;

namespace {

/// What a process that is killed leaves to the one that looks after it.
struct Left {
    std::uint64_t crash_at; // 0: never
    std::uint64_t reached;  // fault points so far
    std::uint64_t hits[kFaultPoints.size()];
    std::uint32_t answered; // steps of the user's that were answered
    FaultPoint at[4096];    // the first of them, in their order
    char trouble[400];      // why it could not go on; empty: it could
};
Left* left_of_process = nullptr;

void count_and_crash(FaultPoint point) {
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

/// A cluster in which one Deployment runs, and a database that a daemon has left like that.
void prepare(const std::string& folder) {
    DrivenDaemon daemon{folder, 1};
    REQUIRE(daemon.starts());
    for (const char* const id : {"n1", "n2"}) REQUIRE(daemon.add_node(id));
    REQUIRE(daemon.create("old", 2, mcs::DeleteMode::Owners));
    REQUIRE(daemon.settles([&] { return daemon.difference().empty(); }));
    REQUIRE(daemon.wanted() == "old:2");
}

// What a user does, and what the database has after each step.
constexpr std::array kStates{"old:2", "new:2,old:2", "new:2,old:3", "new:2,old:1", "new:2"};

bool do_step(DrivenDaemon& daemon, std::size_t step) {
    switch (step) {
    case 0: return daemon.create("new", 2, mcs::DeleteMode::Cascade);
    case 1: return daemon.scale("old", 3);
    case 2: return daemon.scale("old", 1);
    default: return daemon.drop("old");
    }
}

/// Why the life of a process was not as it should be.
std::string live(const std::string& folder, Left& left) {
    DrivenDaemon daemon{folder, 2};
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
bool is_killed(const std::string& folder, Left& left) {
    const pid_t child = ::fork();
    if (child == 0) {
        detail::at_fault_point.store(count_and_crash);
        const std::string trouble = live(folder, left);
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
void look_after(const std::string& folder, const Left& left) {
    DrivenDaemon daemon{folder, 3};
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

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The n-th points at which a process is killed, of those that one comes to that is not.
std::set<std::uint64_t> chosen(const Left& whole, std::uint64_t every) {
    constexpr std::uint64_t kFirst = 2, kLast = 1; // of each kind
    std::set<std::uint64_t> all;
    std::array<std::uint64_t, kFaultPoints.size()> seen{};
    for (std::uint64_t at = 1; at <= std::min<std::uint64_t>(whole.reached, std::size(whole.at)); ++at) {
        const auto point = static_cast<std::size_t>(whole.at[at - 1]);
        const std::uint64_t number = ++seen.at(point);
        if (number <= kFirst || number + kLast > whole.hits[point] || at % every == 0) all.insert(at);
    }
    return all;
}

/// A process that is killed at the n-th point, and the one after it.
void crash_and_look(const std::string& prepared, std::uint64_t at, SharedLeft& left) {
    const TempDir folder;
    std::filesystem::copy(prepared, folder.path(), std::filesystem::copy_options::recursive);
    *left = Left{};
    left->crash_at = at;
    REQUIRE(is_killed(folder.path(), *left));
    INFO("YK_CRASH_AT=" << at << ", " << kFaultPoints.at(static_cast<std::size_t>(left->at[at - 1])) << ", after "
                        << left->answered << " steps");
    look_after(folder.path(), *left);
}

} // namespace

TEST_CASE("rs R-148, F-10, F-11, F-12, F-08 whenever a process is killed, the next one finds nothing twice or lost") {
    if (!kHasFaultPoints) {
        WARN("a release build has no fault points");
        return;
    }
    const TempDir prepared, whole;
    prepare(prepared.path());
    SharedLeft left;
    std::filesystem::copy(prepared.path(), whole.path(), std::filesystem::copy_options::recursive);
    REQUIRE_FALSE(is_killed(whole.path(), *left));
    REQUIRE(std::string{left->trouble} == "");
    for (std::size_t point = 0; point < kFaultPoints.size(); ++point) {
        INFO("nothing comes to the fault point " << kFaultPoints.at(point));
        CHECK(left->hits[point] > 0);
    }
    CHECK(left->reached > 100);
    CHECK(left->reached <= std::size(left->at));
    const std::uint64_t only = number_of("YK_CRASH_AT", 0);
    if (only != 0) return crash_and_look(prepared.path(), only, left);
    for (const std::uint64_t at : chosen(*left, number_of("YK_CRASH_EVERY", 1)))
        crash_and_look(prepared.path(), at, left);
}

/// Leases go by the clock of the database, which is not simulated here: those are rs R-143's own tests.
TEST_CASE("rs R-060, F-35 a machine's clock that is set changes nothing but times that are shown") {
    const TempDir folder;
    DrivenDaemon daemon{folder.path(), 1};
    REQUIRE(daemon.starts());
    REQUIRE(daemon.add_node("n1"));
    REQUIRE(daemon.create("web", 2, mcs::DeleteMode::Cascade));
    std::int64_t replicas = 2;
    for (const std::chrono::hours ahead : {std::chrono::hours{1}, std::chrono::hours{-1}, std::chrono::hours{0}}) {
        daemon.set_clock(ahead);
        REQUIRE(daemon.scale("web", ++replicas));
        CHECK(daemon.settles([&] { return daemon.difference().empty(); }));
        daemon.run_for(std::chrono::minutes{3}); // reconcilers and evaluations have had their turns
        CHECK(daemon.difference() == "");
    }
    bool is_well = false;
    REQUIRE(daemon.with([&](service::McsApplication& application, Instant now) {
        is_well =
            application.manager().staleness(now) == Duration{} && application.lease("autoscaler", now).has_value();
        for (const rs::KindStatus& each : application.manager().status()) CHECK(each.counters.repairs == 0);
    }));
    CHECK(is_well);
}
