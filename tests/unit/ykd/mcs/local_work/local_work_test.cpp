// SPDX-License-Identifier: Apache-2.0
// Which commands run, and what is kept from the core until they have ended. The commands are real ones.
#include "ykd/mcs/local_work/local_work.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "libcore/mcs/replicas/application_requests.h"
#include "libcore/mcs/work_tags.h"
#include "protocol/mcs/schedule_text.h"
#include "protocol/work/output.h"

namespace yk::service {
namespace {

constexpr std::chrono::seconds kDeadline{30};
constexpr const char* kHold = "exec 2>/dev/null; trap 'echo bye; exit 0' TERM; echo on; while :; do sleep 0.02; done";

/// A row of one Deployment with replicas on the node `here`, and the work that follows it.
class Bench {
public:
    explicit Bench(std::string command = kHold) {
        REQUIRE(::mkdtemp(folder_.data()) != nullptr);
        REQUIRE(::chmod(folder_.c_str(), 0755) == 0);
        settings_.enabled = true;
        settings_.users = {submitter_};
        settings_.queues = {"root.web"};
        if (::geteuid() == 0) settings_.run_as = "nobody";
        auto worker = start_local_worker(settings_, "mcs", folder_, {});
        REQUIRE(worker.ok());
        worker_ = *std::move(worker);
        mcs::Node node;
        node.meta.id = "here";
        node.attributes = {{"kind", "local"}};
        nodes_.put({std::make_shared<const mcs::Node>(node)});
        node.meta.id = "elsewhere";
        node.attributes = {};
        nodes_.put({std::make_shared<const mcs::Node>(node)});
        work_ = std::make_unique<LocalWork>(LocalWork::Parts{
            settings_, nodes_, requests, worker_, [this](auto ask) { questions_.push_back(std::move(ask)); },
            [](const auto& call) { call(); },
            [this](const si::AllocationRelease& release) { confirmed.push_back(release.allocation_key); }});
        row_.meta.id = "d";
        row_.application_id = "app";
        status_.application = {"default", "root.web", "u", {}, {}};
        status_.versions = {
            {0, {{{"vcore", 1000}}, 0, {{"command", std::move(command)}, {"mcs.submittedBy", submitter_}}}}};
    }
    ~Bench() {
        work_.reset();
        worker_.reset();
        std::filesystem::remove_all(folder_);
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    [[nodiscard]] LocalWork& work() { return *work_; }
    [[nodiscard]] LocalWorkSettings& settings() { return settings_; }
    [[nodiscard]] mcs::ScheduleStatus& status() { return status_; }
    static std::string key(std::int64_t replica, std::int64_t attempt = 0) {
        return mcs::allocation_key_of("app", replica, attempt);
    }
    void place(std::int64_t replica, mcs::PlacementState state = mcs::PlacementState::Placed,
               const std::string& node = "here") {
        write(replica, state, node);
        changed();
    }
    /// As place(), when nobody is told yet.
    void write(std::int64_t replica, mcs::PlacementState state = mcs::PlacementState::Placed,
               const std::string& node = "here") {
        auto placed = mcs::pending_placement("app", replica, 0);
        placed.state = state;
        placed.node_id = node;
        auto& all = row_.placements;
        std::erase_if(all, [&](const mcs::Placement& each) { return each.replica == replica; });
        all.insert(all.begin() + mcs::place_of(all, replica), placed);
    }
    void remove(std::int64_t replica) {
        std::erase_if(row_.placements, [&](const mcs::Placement& each) { return each.replica == replica; });
        changed();
    }
    void remove_row() { CHECK(work_->on_delete({}, row()).what() == rs::HandlerResult::What::Ok); }
    void changed() {
        CHECK(work_->on_add({}, row()).what() == rs::HandlerResult::What::Ok);
        if (answers) answer();
    }
    [[nodiscard]] const std::string& row_id() const { return row_.meta.id; }
    [[nodiscard]] std::size_t questions() const { return questions_.size(); }
    /// The name service answers.
    void answer() {
        for (auto& each : std::exchange(questions_, {})) each();
    }
    [[nodiscard]] std::string output(std::int64_t replica) const {
        const auto part =
            work::read_output(output_folder(folder_), output_name("default", "app", key(replica)), 0, 10'000);
        return part.ok() && *part ? (*part)->text : "";
    }
    [[nodiscard]] std::string phase(std::int64_t replica) {
        const auto states = work_->states_of(*row(), leads);
        for (std::size_t at = 0; at < states.size(); ++at)
            if (row_.placements[at].replica == replica && states[at]) return states[at]->phase + ' ' + states[at]->why;
        return "";
    }
    template <class Condition>
    [[nodiscard]] bool comes(Condition condition) {
        const auto end = std::chrono::steady_clock::now() + kDeadline;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end) return false;
            work_->turn(now);
            static_cast<void>(::poll(nullptr, 0, 2));
        }
        return true;
    }
    [[nodiscard]] bool says(std::int64_t replica, const std::string& text) {
        return comes([&] { return output(replica).find(text) != std::string::npos; });
    }
    static mcs::ReleaseReplica release(std::int64_t replica) { return {"app", "default", key(replica)}; }

    Instant now{};
    bool answers = true; // the name service does at once
    bool leads = true;   // this instance
    mcs::CoreRequests requests;
    std::vector<std::string> confirmed;

private:
    [[nodiscard]] rs::Ptr<mcs::DeploymentSchedule> row() {
        row_.status = mcs::schedule_status_text(status_);
        return std::make_shared<const mcs::DeploymentSchedule>(row_);
    }

    std::string folder_ = "/tmp/yk.work.XXXXXX";
    const std::string submitter_ = fmt::format("uid {}", ::geteuid());
    LocalWorkSettings settings_;
    std::shared_ptr<work::Worker> worker_;
    rs::ResourceCache<mcs::Node> nodes_;
    mcs::DeploymentSchedule row_;
    mcs::ScheduleStatus status_;
    std::vector<std::function<void()>> questions_;
    std::unique_ptr<LocalWork> work_;
};

si::AllocationRelease given_up(std::int64_t replica) {
    si::AllocationRelease release;
    release.application_id = "app";
    release.allocation_key = Bench::key(replica);
    release.termination_type = si::TerminationType::PreemptedByScheduler;
    return release;
}

} // namespace

TEST_CASE("rs Doing the work: a replica that is placed, and whose row nobody was told of yet, waits for its command") {
    Bench bench;
    bench.write(0);
    CHECK(bench.phase(0) == "waiting ");
    bench.leads = false; // it runs elsewhere
    CHECK(bench.phase(0).empty());
    bench.leads = true;
    bench.write(1, mcs::PlacementState::Placed, "elsewhere");
    CHECK(bench.phase(1).empty());
    bench.write(2, mcs::PlacementState::Pending);
    CHECK(bench.phase(2).empty());
}

TEST_CASE("rs R-173 the name service is asked once for all commands of one submitter that wait") {
    Bench bench;
    bench.answers = false;
    for (const int replica : {0, 1, 2}) bench.place(replica);
    CHECK(bench.questions() == 1);
    bench.remove(1);
    bench.place(1); // begun anew
    CHECK(bench.questions() == 1);
    bench.answer();
    for (const int replica : {0, 1, 2}) CHECK(bench.says(replica, "on"));
    bench.place(3);
    CHECK(bench.questions() == 1); // another one, later
}

TEST_CASE("rs R-170 a command runs for what the rows say is placed on a local node, once") {
    Bench bench;
    bench.place(0, mcs::PlacementState::Pending);
    bench.place(1, mcs::PlacementState::Placed, "elsewhere");
    CHECK(bench.work().size() == 0);
    bench.place(0);
    bench.changed(); // announced again
    CHECK(bench.work().size() == 1);
    REQUIRE(bench.says(0, "on\n"));
    CHECK(bench.phase(0) == "running ");
    CHECK(bench.phase(1).empty());
    bench.changed();
    bench.remove(0);
    REQUIRE(bench.says(0, "bye"));
    CHECK(bench.output(0) == "on\nbye\n");
    CHECK(bench.comes([&] { return bench.phase(0).empty(); }));
    bench.place(2);
    REQUIRE(bench.says(2, "on\n"));
    bench.remove_row();
    CHECK(bench.says(2, "bye"));
    CHECK(bench.requests.is_empty());
}

TEST_CASE("rs R-170 what is given up while it is asked as whom it runs does not begin") {
    Bench bench;
    bench.answers = false;
    bench.place(0);
    CHECK(bench.phase(0) == "waiting ");
    bench.remove(0);
    bench.place(1);
    CHECK_FALSE(bench.work().holds(mcs::CoreRequest{Bench::release(1)})); // nothing runs
    bench.answer();
    bench.place(2);
    bench.answer();
    REQUIRE(bench.says(2, "on\n"));
    CHECK(bench.output(0).empty());
    CHECK(bench.output(1).empty());
}

TEST_CASE("rs R-171 the core hears of an end when the command has ended") {
    Bench bench;
    for (const int replica : {0, 1, 2, 3}) bench.place(replica);
    for (const int replica : {0, 1, 2, 3}) REQUIRE(bench.says(replica, "on\n"));
    CHECK_FALSE(bench.work().holds(mcs::CoreRequest{mcs::AskReplica{}}));
    CHECK_FALSE(bench.work().holds(mcs::CoreRequest{mcs::ReleaseReplica{"app", "default", "unknown"}}));
    CHECK(bench.work().holds(mcs::CoreRequest{Bench::release(0)}));
    CHECK(bench.requests.is_empty());
    REQUIRE(bench.comes([&] { return !bench.requests.is_empty(); }));
    CHECK(bench.output(0) == "on\nbye\n");
    const mcs::CoreRequest asked = bench.requests.take();
    CHECK(std::get<mcs::ReleaseReplica>(asked) == Bench::release(0));
    CHECK_FALSE(bench.work().holds(asked)); // now it is sent

    CHECK(bench.work().holds(given_up(1)));
    CHECK(bench.confirmed.empty());
    REQUIRE(bench.comes([&] { return !bench.confirmed.empty(); }));
    CHECK(bench.confirmed == std::vector<std::string>{Bench::key(1)});
    CHECK_FALSE(bench.work().holds(given_up(1)));

    const mcs::CoreRequest removal{mcs::RemoveApplication{"app", "default"}}; // two run still
    CHECK(bench.work().holds(removal));
    REQUIRE(bench.comes([&] { return !bench.requests.is_empty(); }));
    CHECK(bench.output(2) == "on\nbye\n");
    CHECK(bench.output(3) == "on\nbye\n");
    CHECK(std::holds_alternative<mcs::RemoveApplication>(bench.requests.take()));
    CHECK_FALSE(bench.work().holds(removal));
    CHECK_FALSE(bench.work().holds(mcs::CoreRequest{mcs::RemoveApplication{"other", "default"}}));
}

TEST_CASE("rs R-171 the next life of a replica is asked for when the one before has ended") {
    Bench bench;
    for (const int replica : {1, 10}) bench.place(replica);
    for (const int replica : {1, 10}) REQUIRE(bench.says(replica, "on\n"));
    const auto ask = [](std::int64_t replica, std::int64_t attempt) {
        return mcs::CoreRequest{mcs::AskReplica{"app", "default", Bench::key(replica, attempt), {}, 0}};
    };
    CHECK_FALSE(bench.work().holds(ask(1, 0)));
    CHECK(bench.work().holds(mcs::CoreRequest{Bench::release(1)}));
    CHECK(bench.work().holds(ask(1, 1)));
    CHECK_FALSE(bench.work().holds(ask(10, 1))); // another one
    CHECK_FALSE(bench.work().holds(ask(2, 0)));
    REQUIRE(bench.comes([&] { return bench.requests.size() == 2; }));
    CHECK(bench.output(1) == "on\nbye\n");
    CHECK(std::get<mcs::ReleaseReplica>(bench.requests.take()) == Bench::release(1));
    const mcs::CoreRequest asked = bench.requests.take();
    CHECK(std::get<mcs::AskReplica>(asked).allocation_key == Bench::key(1, 1));
    CHECK_FALSE(bench.work().holds(asked));
}

TEST_CASE("rs R-171 nothing of an application comes before the end of the one of the same id") {
    Bench bench;
    bench.place(0);
    REQUIRE(bench.says(0, "on\n"));
    mcs::AddApplication next;
    next.application_id = "app";
    mcs::AskReplica ask;
    ask.application_id = "app";
    CHECK(bench.work().holds(mcs::CoreRequest{mcs::RemoveApplication{"app", "default"}}));
    CHECK(bench.work().holds(mcs::CoreRequest{next}));
    CHECK(bench.work().holds(mcs::CoreRequest{ask}));
    CHECK(bench.work().holds(mcs::CoreRequest{mcs::EndRecovery{}})); // it claims what is there when nothing is held
    mcs::AskReplica other;
    other.application_id = "other";
    CHECK_FALSE(bench.work().holds(mcs::CoreRequest{other}));
    REQUIRE(bench.comes([&] { return bench.requests.size() == 4; }));
    CHECK(bench.output(0) == "on\nbye\n");
    std::vector<std::size_t> kinds;
    while (!bench.requests.is_empty()) {
        const mcs::CoreRequest request = bench.requests.take();
        kinds.push_back(request.index());
        CHECK_FALSE(bench.work().holds(request));
    }
    const std::vector<std::size_t> wanted{mcs::CoreRequest{mcs::RemoveApplication{}}.index(),
                                          mcs::CoreRequest{next}.index(), mcs::CoreRequest{ask}.index(),
                                          mcs::CoreRequest{mcs::EndRecovery{}}.index()};
    CHECK(kinds == wanted);
}

TEST_CASE("rs R-171 what is preempted while it is asked as whom it runs does not begin") {
    Bench bench;
    bench.answers = false;
    bench.place(0);
    CHECK_FALSE(bench.work().holds(given_up(0))); // its place is free at once
    bench.answer();
    bench.place(1);
    bench.answer();
    REQUIRE(bench.says(1, "on\n"));
    CHECK(bench.output(0).empty());
}

TEST_CASE("rs R-171 nothing is kept of what has gone") {
    Bench bench;
    bench.place(0);
    REQUIRE(bench.says(0, "on\n"));
    bench.remove_row();
    CHECK(bench.work().size() == 1); // it ends
    CHECK(bench.comes([&] { return bench.work().size() == 0; }));
    bench.work().forget();
    CHECK_FALSE(bench.work().next_due());
}

TEST_CASE("rs R-171 commands go on over a lost registration, and what was held is forgotten") {
    Bench bench;
    bench.place(0);
    bench.place(1);
    REQUIRE(bench.says(0, "on\n"));
    REQUIRE(bench.says(1, "on\n"));
    CHECK(bench.work().holds(mcs::CoreRequest{Bench::release(0)}));
    CHECK(bench.work().holds(given_up(1)));
    bench.work().forget();
    REQUIRE(bench.says(0, "bye"));
    REQUIRE(bench.says(1, "bye"));
    static_cast<void>(bench.work().turn(bench.now));
    CHECK(bench.confirmed.empty());
    CHECK(bench.requests.is_empty());
}

TEST_CASE("rs R-172 what is over gives its place back, not at once, and again to the core that comes next") {
    Bench bench{"echo done; exit 3"};
    bench.status().versions[0].spec.work["restart"] = "never";
    bench.place(0);
    REQUIRE(bench.comes([&] { return bench.work().next_due().has_value(); }));
    CHECK(bench.phase(0) == "over exit code 3");
    CHECK(bench.requests.is_empty());
    bench.now = *bench.work().next_due();
    CHECK(bench.now >= Instant{} + std::chrono::seconds{10});
    bench.work().turn(bench.now);
    REQUIRE_FALSE(bench.requests.is_empty());
    bench.requests.clear(); // the registration is lost before it was sent
    bench.work().forget();
    REQUIRE(bench.work().next_due());
    bench.now = *bench.work().next_due();
    bench.work().turn(bench.now);
    REQUIRE_FALSE(bench.requests.is_empty());
    const mcs::CoreRequest asked = bench.requests.take();
    CHECK_FALSE(bench.work().holds(asked));
    bench.changed(); // still in the row: it is not begun again
    CHECK(bench.output(0) == "done\n");
    bench.work().forget();
    REQUIRE(bench.work().next_due());
    bench.now = *bench.work().next_due();
    bench.work().turn(bench.now);
    CHECK_FALSE(bench.requests.is_empty());
    bench.remove(0);
    CHECK(bench.work().size() == 0);
}

TEST_CASE("rs R-170 a replica whose row was away for a moment is placed anew when its command has ended") {
    Bench bench;
    bench.place(0);
    REQUIRE(bench.says(0, "on\n"));
    bench.remove_row();
    bench.changed(); // there again, and the command is ending
    REQUIRE(bench.comes([&] {
        bench.now = bench.now + std::chrono::seconds{1};
        return !bench.requests.is_empty();
    }));
    CHECK(bench.output(0) == "on\nbye\n");
    CHECK(std::get<mcs::ReleaseReplica>(bench.requests.take()) == Bench::release(0));
    bench.remove(0);
    CHECK(bench.work().size() == 0);
}

TEST_CASE("rs R-173 what may not run is refused, with the reason") {
    Bench bench;
    bench.settings().queues = {"root.other"};
    bench.place(0);
    CHECK(bench.phase(0) == "refused its queue root.web is not among mcs.local.queues");
    CHECK_FALSE(bench.work().holds(mcs::CoreRequest{Bench::release(0)}));
    bench.settings().queues = {"root.web"};
    bench.status().application.queue = "web"; // below root, as the core has it
    bench.settings().users.clear();
    bench.place(1);
    CHECK(bench.phase(1).find("who is not among mcs.local.users") != std::string::npos);
    bench.settings().users = {fmt::format("uid {}", ::geteuid())};
    REQUIRE(bench.work().next_due()); // it is asked again, as the account may be there by then
    bench.now = *bench.work().next_due();
    bench.work().turn(bench.now);
    bench.answer();
    CHECK(bench.says(1, "on\n"));
    bench.place(2);
    CHECK(bench.says(2, "on\n"));
    bench.status().application.queue = "";
    bench.place(3);
    CHECK(bench.phase(3) == "refused its queue root is not among mcs.local.queues");
}

TEST_CASE("rs R-174 how many commands of a schedule run is known without a look at each of its replicas") {
    Bench bench;
    const auto sums = [&] { return bench.work().sums_of({"another", bench.row_id()}); };
    CHECK(sums().empty());
    bench.place(0);
    bench.place(1);
    bench.place(2, mcs::PlacementState::Placed, "elsewhere");
    REQUIRE(bench.comes([&] { return sums().size() == 1 && sums().begin()->second.running == 2; }));
    CHECK(sums().begin()->first == bench.row_id());
    CHECK(sums().begin()->second.all == 2);
    bench.settings().users.clear();
    bench.place(3);
    REQUIRE(bench.phase(3).starts_with("refused"));
    REQUIRE(bench.comes([&] { return !sums().empty(); }));
    CHECK(sums().begin()->second.all == 3);
    CHECK(sums().begin()->second.running == 2);
}

TEST_CASE("rs R-175 commands end when another daemon leads, or this one stops") {
    Bench bench;
    bench.place(0);
    REQUIRE(bench.says(0, "on\n"));
    bench.work().stand_down();
    REQUIRE(bench.says(0, "bye"));
    CHECK(bench.work().size() == 0);
    bench.place(1);
    REQUIRE(bench.says(1, "on\n"));
    bench.work().stop();
    bench.work().wait_for_end();
    CHECK(bench.output(1) == "on\nbye\n");
}

} // namespace yk::service
