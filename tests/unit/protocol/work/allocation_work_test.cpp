// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/allocation_work.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/unit/protocol/work/running.h"

namespace yk::work {
namespace {

using si::TerminationType;

/// Work whose commands write into one file. Time is that of the clock, and what the test adds.
class Bench {
public:
    explicit Bench(AllocationWork::Options options = {}, std::size_t most = 100) {
        Commands::Options how;
        how.uses_cgroups = false;
        how.most = most + AllocationWork::kHooksAtOnce;
        commands_ = make_commands(how);
        options.rm_id = "rm";
        options.most_commands = most;
        options.base_environment = {"PATH=/usr/bin:/bin", "FILE=" + file()};
        work_ = std::make_unique<AllocationWork>(*commands_, std::move(options));
    }

    [[nodiscard]] std::string file() const { return folder_ / "file"; }
    [[nodiscard]] std::string text() const {
        std::ifstream in{file()};
        std::ostringstream out;
        out << in.rdbuf();
        return out.str();
    }
    [[nodiscard]] TimePoint now() const { return Clock::now() + later_; }
    void advance(milliseconds time) { later_ += time; }

    void place(const std::string& key, si::StringMap tags, bool placeholder = false) {
        si::Allocation made;
        made.allocation_key = key;
        made.application_id = "app";
        made.partition_name = "[rm]default";
        made.allocation_tags = std::move(tags);
        made.placeholder = placeholder;
        work_->placed({made, "{\"allocationKey\":\"" + key + "\"}\n"});
        work_->step(now());
    }
    void release(const std::string& key, TerminationType type, bool confirms) {
        si::AllocationRelease made;
        made.allocation_key = key;
        made.application_id = "app";
        made.partition_name = "[rm]default";
        made.termination_type = type;
        made.message = "why";
        work_->released({made, "{\"released\":\"" + key + "\"}\n"}, confirms, now());
        work_->step(now());
    }
    template <class Done>
    void until(Done done) {
        run_until(
            commands_->descriptor(), [this] { step(); }, done);
    }
    void step() {
        work_->step(now());
        for (auto& each : work_->take_releases(1000)) releases.push_back(std::move(each));
        for (auto& each : work_->take_notes()) notes += each + "\n";
    }
    void until_idle() {
        until([this] { return work_->is_idle(); });
        step();
    }
    AllocationWork& work() { return *work_; }
    [[nodiscard]] std::size_t running() const { return commands_->size(); }

    std::vector<si::AllocationRelease> releases;
    std::string notes;

private:
    Folder folder_;
    std::unique_ptr<Commands> commands_;
    std::unique_ptr<AllocationWork> work_;
    milliseconds later_{0};
};

AllocationWork::Options executes(Restart restart = Restart::Never) {
    AllocationWork::Options options;
    options.executes = true;
    options.restart = restart;
    return options;
}

TEST_CASE("an allocation with a command is given back when that has ended, with how") {
    Bench bench{executes()};
    bench.place("a", {{"command", "echo $YK_ALLOCATION_KEY $YK_RM_ID >>$FILE"}});
    bench.place("a", {{"command", "echo twice >>$FILE"}}); // restored: it is known
    bench.until([&] { return bench.releases.size() == 1; });
    CHECK(bench.text() == "a rm\n");
    CHECK(bench.releases[0].allocation_key == "a");
    CHECK(bench.releases[0].termination_type == TerminationType::StoppedByRm);
    CHECK(bench.releases[0].message == "exit code 0");
    CHECK(bench.notes == "app/a: exit code 0; released\n");
    bench.release("a", TerminationType::StoppedByRm, false);
    bench.place("a", {{"command", "exit 9"}});
    bench.until([&] { return bench.releases.size() == 2; });
    CHECK(bench.releases[1].message == "exit code 9");
}

TEST_CASE("one that was given back and comes again by a recovery is given back again") {
    Bench bench{executes()};
    bench.place("a", {{"command", "exit 0"}});
    bench.until([&] { return bench.releases.size() == 1; });
    bench.place("a", {{"command", "exit 0"}});
    bench.step();
    CHECK(bench.releases.size() == 2);
    CHECK(bench.running() == 0);
}

TEST_CASE("placeholders and allocations without a command start nothing") {
    Bench bench{executes()};
    bench.place("a", {});
    bench.place("b", {{"command", "exit 0"}}, true);
    bench.step();
    CHECK(bench.running() == 0);
    CHECK(std::count(bench.notes.begin(), bench.notes.end(), '\n') == 1);
    bench.release("a", TerminationType::PreemptedByScheduler, true);
    bench.release("b", TerminationType::PlaceholderReplaced, true);
    bench.step();
    REQUIRE(bench.releases.size() == 2);
    CHECK(bench.releases[1].termination_type == TerminationType::PlaceholderReplaced);
}

TEST_CASE("a release ends the command, and only then is confirmed") {
    Bench bench{executes(Restart::Always)};
    bench.place("a", {{"command", "trap 'echo end >>$FILE; sleep 0.1; exit 0' TERM; echo begin >>$FILE; "
                                  "while :; do sleep 0.01; done"}});
    bench.until([&] { return bench.text() == "begin\n"; });
    bench.release("a", TerminationType::PreemptedByScheduler, true);
    bench.place("a", {{"command", "echo next >>$FILE; exec sleep 1000"}}); // the same key once more
    bench.step();
    CHECK(bench.releases.empty());
    bench.until([&] { return bench.text().find("next") != std::string::npos; });
    CHECK(bench.text() == "begin\nend\nnext\n");
    REQUIRE(bench.releases.size() == 1);
    CHECK(bench.releases[0].termination_type == TerminationType::PreemptedByScheduler);
    CHECK(bench.releases[0].message == "why");
    bench.work().stop(bench.now());
    bench.until_idle();
    CHECK(bench.releases.size() == 1); // it ended because this ends: the allocation stays
}

TEST_CASE("rs R-171 a key that was given again and taken back is confirmed when nothing runs in its place") {
    Bench bench{executes(Restart::Always)};
    bench.place("a", {{"command", "trap 'echo end >>$FILE; sleep 0.1; exit 0' TERM; echo begin >>$FILE; "
                                  "while :; do sleep 0.01; done"}});
    bench.until([&] { return bench.text() == "begin\n"; });
    bench.release("a", TerminationType::StoppedByRm, false);
    bench.place("a", {{"command", "echo next >>$FILE"}});
    bench.release("a", TerminationType::PreemptedByScheduler, true);
    bench.step();
    CHECK(bench.running() == 1);
    CHECK(bench.releases.empty());
    bench.until([&] { return bench.releases.size() == 1; });
    CHECK(bench.running() == 0);
    CHECK(bench.text() == "begin\nend\n");
}

TEST_CASE("a command is started again by its policy, later each time") {
    Bench bench{executes()};
    bench.place("a", {{"command", "echo x >>$FILE; exit 3"}, {"restart", "on-failure"}, {"restarts", "3"}});
    for (const int wait : {1, 2, 4}) {
        bench.until([&] { return bench.running() == 0 && bench.work().due(); });
        const auto due = *bench.work().due() - bench.now();
        CHECK(due > seconds{wait - 1});
        CHECK(due <= seconds{wait});
        bench.advance(seconds{wait});
        bench.step();
    }
    bench.until([&] { return bench.releases.size() == 1; });
    CHECK(bench.text() == "x\nx\nx\nx\n");
    CHECK(bench.releases[0].message == "exit code 3, after 3 restarts");
    CHECK(bench.notes.find("app/a: exit code 3; started again in 4s (restart 3 of 3)\n") != std::string::npos);
    Bench other{executes(Restart::OnFailure)};
    other.place("a", {{"command", "exit 0"}});
    other.until([&] { return other.releases.size() == 1; });
    other.place("b", {{"command", "exit 0"}, {"restart", "always"}});
    other.until([&] { return other.work().due().has_value() && other.running() == 0; });
    other.release("b", TerminationType::StoppedByRm, false); // while it rests
    CHECK_FALSE(other.work().due().has_value());
}

TEST_CASE("what comes and goes before all is known is not begun") {
    auto options = executes();
    options.held = true;
    Bench bench{std::move(options)};
    for (const char* key : {"a", "b"}) bench.place(key, {{"command", "echo $YK_ALLOCATION_KEY >>$FILE"}});
    bench.step();
    CHECK(bench.running() == 0);
    bench.release("a", TerminationType::StoppedByRm, false);
    bench.work().let_go();
    bench.step();
    bench.until([&] { return bench.releases.size() == 1; });
    CHECK(bench.text() == "b\n");
}

TEST_CASE("what cannot be started is given back with the reason") {
    Bench bench{executes(Restart::Always)};
    bench.place("a", {{"command", std::string(1U << 20U, 'x')}});
    bench.place("b", {{"command", "exit 0"}, {"env.A-B", "x"}});
    bench.place("c", {{"command", "exit 0"}, {"restart", "sometimes"}});
    bench.place("d", {{"command", ""}});
    bench.step();
    REQUIRE(bench.releases.size() == 4);
    for (const auto& each : bench.releases) CHECK(each.message.rfind("not started: ", 0) == 0);
    CHECK(bench.running() == 0);
}

TEST_CASE("more than so many commands wait for their turn") {
    Bench bench{executes(), 2};
    for (const char* key : {"a", "b", "c", "d"})
        bench.place(key, {{"command", "echo $YK_ALLOCATION_KEY >>$FILE; exec sleep 1000"}});
    CHECK(bench.running() == 2);
    bench.release("c", TerminationType::StoppedByRm, false); // it waits, and never runs
    bench.until([&] { return bench.text().size() == 4; });
    bench.release("a", TerminationType::StoppedByRm, false);
    bench.until([&] { return bench.text().size() == 6; });
    CHECK(bench.text().substr(4) == "d\n");
    CHECK(bench.text().find('c') == std::string::npos);
}

TEST_CASE("hooks read the item, in order, and one that fails stops nothing") {
    AllocationWork::Options options;
    options.on_allocation = {"read a; echo $YK_HOOK $YK_ALLOCATION_KEY $a >>$FILE; sleep 0.05; exit 5",
                             "echo second >>$FILE"};
    options.on_release = {"read a; echo $YK_HOOK $YK_TERMINATION_TYPE $YK_MESSAGE $a >>$FILE"};
    Bench bench{std::move(options)};
    bench.place("a", {{"env.PATH", "/nowhere"}, {"command", "echo never >>$FILE"}});
    bench.place("a", {});
    bench.release("a", TerminationType::PreemptedByScheduler, true);
    CHECK(bench.releases.empty());
    bench.until_idle();
    CHECK(bench.text() == "allocation a {\"allocationKey\":\"a\"}\nsecond\nrelease PREEMPTED_BY_SCHEDULER why "
                          "{\"released\":\"a\"}\n");
    CHECK(bench.notes == "app/a: hook allocation 'read a; echo $YK_HOOK $YK_ALLOCATION_KEY $a >>$FILE; sleep 0.05; "
                         "exit 5': exit code 5\n");
    CHECK(bench.releases.size() == 1);
    bench.release("unknown", TerminationType::Timeout, true); // its hook is run, too
    bench.until_idle();
    CHECK(bench.releases.size() == 2);
}

TEST_CASE("a hook has a time, and many run beside each other") {
    AllocationWork::Options options;
    options.on_allocation = {"exec sleep 1000"};
    options.hook_timeout = std::chrono::hours{1}; // of the test's own time: starting 16 of them can take long
    Bench bench{std::move(options)};
    for (int i = 0; i < 40; ++i) bench.place("k" + std::to_string(i), {});
    const auto ended = [&bench] { return std::count(bench.notes.begin(), bench.notes.end(), '\n'); };
    for (const int all : {16, 32, 40}) {
        const auto left = 40 - static_cast<std::size_t>(ended());
        bench.until([&] { return bench.running() == std::min(AllocationWork::kHooksAtOnce, left); });
        bench.advance(std::chrono::hours{1});
        bench.until([&] { return ended() == all; });
    }
    bench.until_idle();
    CHECK(ended() == 40);
    CHECK(bench.notes.find("its time was over: signal 15 (Terminated)") != std::string::npos);
}

TEST_CASE("when the core has nothing any more all commands end, and the release hooks run") {
    auto options = executes(Restart::Always);
    options.on_release = {"echo $YK_ALLOCATION_KEY $YK_MESSAGE >>$FILE"};
    Bench bench{std::move(options)};
    bench.place("a", {{"command", "exec sleep 1000"}});
    bench.until([&] { return bench.running() == 1; });
    bench.work().lost(
        "ykd was restarted", [](const si::AllocationRelease&) { return std::string{"{}\n"}; }, bench.now());
    bench.until_idle();
    CHECK(bench.text() == "a ykd was restarted\n");
    CHECK(bench.releases.empty());
    bench.place("a", {{"command", "exit 0"}});
    bench.until([&] { return bench.running() == 1 || bench.work().due().has_value(); });
}

TEST_CASE("rs R-173 a command runs with the environment of its account, where that begins") {
    Commands::Options how;
    how.uses_cgroups = false;
    const auto commands = make_commands(how);
    AllocationWork::Options options;
    options.executes = true;
    options.base_environment = {"PATH=/usr/bin:/bin", "SECRET=of the daemon"};
    const Folder folder;
    AllocationWork work{*commands, std::move(options)};
    si::Allocation made;
    made.application_id = "app";
    made.allocation_key = "k";
    made.allocation_tags = {
        {"command",
         "echo \"$SECRET$NAME$PWD\" $(grep -e NoNewPrivs -e CapEff /proc/self/status) >" + (folder / "file")}};
    auto account = std::make_shared<Account>();
    account->environment = {"PATH=/usr/bin:/bin", "NAME=x"};
    account->directory = "/usr";
    work.placed({made, {}, account});
    work.step(Clock::now());
    CHECK(work.state_of({"default", "app", "k"})->phase == WorkState::Phase::Running);
    CHECK_FALSE(work.state_of({"default", "app", "other"}));
    const auto end = Clock::now() + std::chrono::seconds{30};
    while (!work.has_releases() && Clock::now() < end) work.step(Clock::now());
    std::ifstream in{folder / "file"};
    std::ostringstream out;
    out << in.rdbuf();
    CHECK(out.str() == "x/usr CapEff: 0000000000000000 NoNewPrivs: 1\n"); // also as the same user
    const auto state = work.state_of({"[rm]default", "app", "k"});
    REQUIRE(state);
    CHECK((text(state->phase) == "over" && state->why == "exit code 0"));
}

} // namespace
} // namespace yk::work
