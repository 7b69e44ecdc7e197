// SPDX-License-Identifier: Apache-2.0
// scheduling.md section 3: the machine of applications, its logs and timers.

#include "libcore/model/application_state.h"
#include "libcore/reports/snapshot.h"

#include <catch2/catch.hpp>

#include "tests/support/cluster.h"

namespace yk::testing {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("S-140 the table of states and events") {
    using S = ApplicationState;
    using E = ApplicationEvent;
    struct Row {
        S from;
        std::optional<S> run, complete, fail, resume, reject, expire;
    };
    const auto no = std::nullopt;
    const Row rows[] = {
        {S::New, S::Accepted, no, S::Failing, S::Resuming, S::Rejected, no},
        {S::Accepted, S::Running, S::Completing, S::Failing, S::Resuming, no, no},
        {S::Running, S::Running, S::Completing, S::Failing, no, no, no},
        {S::Resuming, S::Accepted, no, no, no, no, no},
        {S::Completing, S::Running, S::Completed, no, no, no, no},
        {S::Completed, no, no, no, no, no, S::Expired},
        {S::Failing, no, no, S::Failed, no, no, no},
        {S::Failed, no, no, no, no, no, S::Expired},
        {S::Rejected, no, no, no, no, no, S::Expired},
        {S::Expired, no, no, no, no, no, no},
    };
    for (const Row& row : rows) {
        INFO(text_of(row.from));
        CHECK((next_state(row.from, E::Run) == row.run));
        CHECK((next_state(row.from, E::Complete) == row.complete));
        CHECK((next_state(row.from, E::Fail) == row.fail));
        CHECK((next_state(row.from, E::Resume) == row.resume));
        CHECK((next_state(row.from, E::Reject) == row.reject));
        CHECK((next_state(row.from, E::Expire) == row.expire));
    }
}

TEST_CASE("S-142 the message of an update is the name of the event") {
    CHECK(text_of(ApplicationEvent::Run) == "runApplication");
    CHECK(text_of(ApplicationEvent::Reject) == "rejectApplication");
    CHECK(text_of(ApplicationEvent::Complete) == "completeApplication");
    CHECK(text_of(ApplicationEvent::Fail) == "failApplication");
    CHECK(text_of(ApplicationEvent::Expire) == "expireApplication");
    CHECK(text_of(ApplicationEvent::Resume) == "resumeApplication");
}

TEST_CASE("S-147 state logs") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "k1", "vcore:1");
    SECTION("add ask, remove ask") {
        c.release("app", "k1");
        CHECK(c.log_of("app") == "Accepted Completing");
        SECTION("then add ask, remove it") {
            c.ask("app", "k2", "vcore:1").release("app", "k2");
            CHECK(c.log_of("app") == "Accepted Completing Running Completing");
        }
        SECTION("wait 30 s, wait 72 h") {
            c.advance(seconds(30));
            CHECK(c.state_of("app") == "Completed");
            c.advance(hours(72));
            CHECK(c.log_of("app") == "Accepted Completing Completed Expired");
        }
    }
    SECTION("add ask, place it, release it") {
        c.cycles(1);
        c.release("app", "k1");
        CHECK(c.log_of("app") == "Accepted Running Completing");
    }
}

TEST_CASE("S-141 G-012 G-014 Running again is no transition") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").asks("app", 2, "vcore:1");
    c.cycles(1);
    const auto started = c.app("app").started;
    c.notices();
    c.advance(seconds(1));
    c.cycles(1);
    CHECK(c.app("app").started == started);
    CHECK(c.queue("root").running_applications == 1);
    CHECK(c.notices() == Lines{"allocated app/app-1 on n-0"});
}

TEST_CASE("S-143 G-015 Running counts on the leaf and every ancestor") {
    Cluster c{"[{name: p, queues: [{name: a}]}]"};
    c.nodes(1, "vcore:10").application("app", "root.p.a").ask("app", "k", "vcore:1");
    CHECK(c.queue("root").running_applications == 0);
    c.cycles(1);
    for (const char* path : {"root", "root.p", "root.p.a"}) CHECK(c.queue(path).running_applications == 1);
    CHECK(c.app("app").started == c.now());
    c.release("app", "k");
    for (const char* path : {"root", "root.p", "root.p.a"}) CHECK(c.queue(path).running_applications == 0);
}

TEST_CASE("S-146 nothing completes while something is left") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").asks("app", 3, "vcore:4");
    c.cycles(3);
    c.release("app", "app-0");
    CHECK(c.state_of("app") == "Running");
    c.release("app", "app-1");
    CHECK(c.state_of("app") == "Running"); // app-2 is pending
    c.release("app", "app-2");
    CHECK(c.state_of("app") == "Completing");
}

TEST_CASE("S-146 an application without any ask stays New") {
    Cluster c;
    c.application("app").release("app", "");
    c.advance(hours(1));
    CHECK(c.state_of("app") == "New");
}

TEST_CASE("S-146 S-470 the release of everything completes what is Completing at once, the release of a key does not") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "k", "vcore:1").release("app", "k");
    CHECK(c.state_of("app") == "Completing");
    c.release("app", "k");
    c.play("alloc unask app=app"); // the old list touches asks only (S-471)
    CHECK(c.state_of("app") == "Completing");
    c.notices();
    c.release("app", "");
    CHECK(c.log_of("app") == "Accepted Completing Completed");
    CHECK(c.notices() == Lines{"application app is Completed"});
}

TEST_CASE("S-146 S-470 the release of everything makes Completing of what runs, and only the next one Completed") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").asks("app", 2, "vcore:6");
    c.cycles(2); // one placed, one waits
    c.release("app", "");
    CHECK(c.log_of("app") == "Accepted Running Completing");
    c.release("app", "");
    CHECK(c.log_of("app") == "Accepted Running Completing Completed");
}

TEST_CASE("S-150 S-151 S-152 G-017 the completing timer is cleared by a new ask and armed again") {
    Cluster c;
    c.application("app").ask("app", "k1", "vcore:1").release("app", "k1");
    c.advance(seconds(29)).ask("app", "k2", "vcore:1").advance(seconds(29));
    CHECK(c.state_of("app") == "Running");
    c.release("app", "k2").advance(milliseconds(29'999));
    CHECK(c.state_of("app") == "Completing");
    c.advance(milliseconds(1));
    CHECK(c.state_of("app") == "Completed");
}

TEST_CASE("S-153 G-018 S-583 S-584 ended applications expire after 72 h and are swept daily") {
    Cluster c;
    c.application("done").ask("done", "k", "vcore:1").release("done", "k");
    c.application("refused", "root.nowhere");
    c.advance(seconds(30));
    CHECK(c.state_of("done") == "Completed");
    CHECK(c.state_of("refused") == "Rejected");
    c.notices();
    c.advance(hours(72));
    CHECK(c.state_of("done") == "Expired");
    CHECK(c.notices() == Lines{"application refused is Expired", "application done is Expired"});
    c.advance(hours(24));
    CHECK(c.state_of("done") == "gone");
    CHECK(c.state_of("refused") == "gone");
}

TEST_CASE("S-154 releasing everything by an empty key leaves the completing timer armed") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").asks("app", 2, "vcore:1");
    c.cycles(2);
    c.release("app", "");
    CHECK(c.state_of("app") == "Completing");
    c.advance(seconds(30));
    CHECK(c.state_of("app") == "Completed");
}

TEST_CASE("S-154 removing the application cancels its timer") {
    Cluster c;
    c.application("app").ask("app", "k", "vcore:1").release("app", "k").remove("app");
    c.notices();
    c.advance(hours(100));
    CHECK(c.state_of("app") == "gone");
    CHECK(c.notices() == Lines{});
}

TEST_CASE("S-580 G-018 S-582 S-492 a completed application has left its queue and its id is free") {
    Cluster c;
    c.application("app").ask("app", "k", "vcore:1").release("app", "k");
    CHECK(c.queue("root.a").applications == 1);
    c.notices();
    c.application("app");
    CHECK(c.notices_in_full().at(0).find("already existed") != std::string::npos); // live while Completing
    c.advance(seconds(30));
    CHECK(c.queue("root.a").applications == 0);
    CHECK(c.app("app").finished == c.now());
    CHECK(c.partition().applications == 0);
    c.application("app");
    CHECK(c.state_of("app") == "New");
    CHECK(application_views(*c.core().read("default"), ApplicationList::Completed, false).size() == 1);
}

TEST_CASE("section 22 no. 8 release by the RM") {
    Cluster c;
    c.nodes(1, "vcore:10").application("app").ask("app", "k1", "vcore:1");
    c.cycles(1);
    c.release("app", "k1");
    CHECK(c.state_of("app") == "Completing");
    c.advance(seconds(10)).ask("app", "k2", "vcore:1");
    CHECK(c.state_of("app") == "Running");
    CHECK(c.app("app").pending_asks == 1);
}

} // namespace yk::testing
