// SPDX-License-Identifier: Apache-2.0
// A process that hosts MCS with its core is killed at each fault point that it comes to, one after the other; the next
// one finds nothing twice, nothing lost and no orphan, and goes on.
//
// A run comes to some 1,700 points, and is killed at each. YK_CRASH_EVERY=N: at every n-th, and at the first and the
// last times that it comes to each kind; YK_CRASH_AT=N: at the n-th alone.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <set>

#include "tests/support/mcs/crash_points.h"

using namespace yk;
using namespace yk::testing;

namespace {

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

/// Kills a process at each point that is `taken`.
template <class Taken>
void kill_at_each(Taken taken) {
    if (!kHasFaultPoints) {
        WARN("a release build has no fault points");
        return;
    }
    const Kept prepared;
    prepare(prepared);
    SharedLeft left;
    count_points(prepared, left);
    for (std::size_t point = 0; point < kFaultPoints.size(); ++point) {
        INFO("nothing comes to the fault point " << kFaultPoints.at(point));
        CHECK(left->hits[point] > 0);
    }
    const std::uint64_t only = number_of("YK_CRASH_AT", 0);
    for (const std::uint64_t at : only != 0 ? std::set{only} : chosen(*left, number_of("YK_CRASH_EVERY", 1)))
        if (taken(at)) crash_and_look(prepared, at, left);
}

} // namespace

// In two cases, which run beside each other.
TEST_CASE("rs R-148, F-10, F-11, F-12, F-08 whenever a process is killed, the next one finds nothing twice or lost") {
    kill_at_each([](std::uint64_t at) { return at % 3 != 0; });
}

TEST_CASE("rs R-148, F-10, F-11, F-12, F-08 and at each third point") {
    kill_at_each([](std::uint64_t at) { return at % 3 == 0; });
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

TEST_CASE("rs R-110 the schedule of the week follows a machine's clock that is set, at once") {
    const TempDir folder;
    DrivenDaemon daemon{folder.path(), 1}; // it is 23:13
    REQUIRE(daemon.starts());
    mcs::Deployment row;
    row.meta.id = row.name = "web";
    row.queue = "root.a";
    row.user = "ann";
    row.resource = {{"vcore", 1}};
    row.max_replicas = 100;
    row.policy = std::string{R"({"schedule":[{"at":"22:00","replicas":2},{"at":"01:00","replicas":4}]})"};
    REQUIRE(std::holds_alternative<mcs::Written>(daemon.write(mcs::InsertDeployment{row, false})));
    const auto desired = [&] {
        std::int64_t count = -1;
        REQUIRE(daemon.with([&](service::McsApplication& application, Instant) {
            const auto scale = application.scales().get("web");
            if (scale) count = scale->desired;
        }));
        return count;
    };
    CHECK(daemon.settles([&] { return desired() == 2; }));
    daemon.set_clock(std::chrono::hours{3});
    CHECK(daemon.settles([&] { return desired() == 4; }));
    daemon.set_clock(std::chrono::minutes{-30});
    CHECK(daemon.settles([&] { return desired() == 2; }));
}
