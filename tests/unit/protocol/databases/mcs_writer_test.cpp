// SPDX-License-Identifier: Apache-2.0
// The writing thread, on real databases, on ports that fail, and without a thread as in a simulation.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <catch2/catch.hpp>

#include "protocol/databases/mcs_writer.h"
#include "tests/support/databases/file_limit.h"
#include "tests/support/databases/mcs_database.h"
#include "tests/support/databases/state_database.h"
#include "tests/support/stepped_loops.h"

namespace yk::mcs {

using namespace std::chrono_literals;
using testing::Engine, testing::StateDatabase, testing::kApi, testing::McsDatabase;
using What = GroupOutcome::What;

namespace {

const GroupCommitSettings kQuick{512, 2ms, 10'000, {1ms, 4ms}};

/// The services' side of a writer.
class Services {
public:
    explicit Services(WritePort& port, const GroupCommitSettings& settings = kQuick)
        : writer(port, settings, 7, [this] {
              const std::lock_guard lock(mutex_);
              is_rung_ = true;
              bell_.notify_one();
          }) {}

    void add(const std::string& id) { add(id, InsertDeployment{McsDatabase::deployment(id), false}); }
    void add(const std::string& id, WriteCommand command) {
        queue.add(kApi, std::move(command), [this, id](const WriteOutcome& outcome, Instant) {
            answered += id + (std::holds_alternative<Written>(outcome) ? "+" : "-");
            message = message_of(outcome);
        });
        ++owed_;
    }
    void take_over() {
        for (const auto& call : writer.answered()) {
            call->finish(Instant{});
            --owed_;
        }
    }
    /// Until everything has an answer.
    void run() {
        while (owed_ > 0) {
            writer.take(queue);
            std::unique_lock lock(mutex_);
            REQUIRE(bell_.wait_for(lock, 20s, [this] { return is_rung_; }));
            is_rung_ = false;
            lock.unlock();
            take_over();
        }
    }

    WriteQueue queue;
    std::string answered, message;

private:
    std::mutex mutex_;
    std::condition_variable bell_;
    bool is_rung_ = false;
    int owed_ = 0;

public:
    McsWriter writer; // the last one: its thread calls the others
};

/// Answers as it is asked to.
class ScriptedPort final : public WritePort {
public:
    [[nodiscard]] GroupOutcome write(std::span<const WriteRequest* const> requests) override {
        for (const WriteRequest* each : requests) asked += id_of(each->command);
        asked += ';';
        const WriteOutcome each = what == What::Answered ? WriteOutcome{Written{}} : Transient{"gone fishing"};
        return {what, std::vector<WriteOutcome>(requests.size(), each)};
    }
    What what = What::Answered;
    std::string asked;
};

/// Stands between a writer and its database: sometimes that is away, sometimes a group is undone.
class FaultyPort final : public WritePort {
public:
    FaultyPort(WritePort& inner, std::uint64_t seed) : inner_(inner), chance_(seed) {}
    [[nodiscard]] GroupOutcome write(std::span<const WriteRequest* const> requests) override {
        ++calls;
        const std::uint64_t number = chance_.next() % 6;
        if (number == 0) return all(What::Away, requests.size());
        if (number == 1 && requests.size() > 1) return all(What::Undone, requests.size());
        return inner_.write(requests);
    }
    std::size_t calls = 0;

private:
    static GroupOutcome all(What what, std::size_t count) {
        return {what, std::vector<WriteOutcome>(count, Transient{"made up"})};
    }
    WritePort& inner_;
    rs::Chance chance_;
};

} // namespace

TEST_CASE("rs R-025 the writer carries out what services ask for, and answers after the commit") {
    const StateDatabase database{YK_EACH_DATABASE};
    Services services{*database.group};
    for (int number = 0; number < 1000; ++number) services.add("d" + std::to_string(number));
    services.add("d0"); // it is there
    services.run();
    CHECK(services.answered.size() == 10U * 3 + 90U * 4 + 900U * 5 + 3);
    CHECK(services.answered.substr(services.answered.size() - 8) == "d999+d0-");
    const auto other = database.open();
    CHECK(*other->number("SELECT count(*) FROM deployment") == 1000);
    CHECK(services.writer.status().waiting == 0);
}

TEST_CASE("rs R-034, F-34 writes wait while another program keeps the database, and are done when it goes") {
    const McsDatabase database;
    const auto other = database.open();
    database.type("PRAGMA busy_timeout = 1");
    REQUIRE(other->run("BEGIN IMMEDIATE").ok());
    Services services{*database.group};
    for (const char* id : {"a", "b", "c"}) services.add(id);
    services.writer.take(services.queue);
    while (services.writer.status().fault.empty()) std::this_thread::sleep_for(1ms);
    CHECK(services.writer.status().waiting == 3);
    CHECK(services.writer.status().fault == "database is locked");
    CHECK(services.writer.answered().empty());
    REQUIRE(other->run("ROLLBACK").ok());
    services.run();
    CHECK(services.answered == "a+b+c+");
    CHECK(services.writer.status().fault.empty());
}

TEST_CASE("rs R-033, F-32 on a full disk what is small enough is written, the rest fails, and later all goes on") {
    const McsDatabase database;
    Services services{*database.group};
    Deployment large = McsDatabase::deployment("b");
    large.tags = {{"t", std::string(1'000'000, 'x')}};
    services.add("0");
    services.run();
    const std::string row = std::string(12'000, 'x');
    database.type("CREATE TABLE ballast(text); INSERT INTO ballast VALUES('" + row + row + row + "')");
    database.type("PRAGMA wal_checkpoint(RESTART)"); // the next writes begin at the start of a log that is long enough
    services.add("a");
    services.add("b", InsertDeployment{large, false});
    services.add("c");
    {
        const testing::FileLimit limit{database.path() + "-wal"};
        services.run();
    }
    CHECK(services.answered == "0+a+b-c+");
    CHECK(database.text("SELECT group_concat(id) FROM deployment") == "0,a,c");
    services.add("b", InsertDeployment{large, false});
    services.run();
    CHECK(services.answered == "0+a+b-c+b+");
}

TEST_CASE("rs R-060 in a simulation the writer has no thread, and its time is that of the simulation") {
    testing::SteppedLoops loops;
    ScriptedPort port;
    Services services{port, {3, 2ms, 5, {100ms, 1s}}};
    CHECK(loops.step() == Simulator::Clock::time_point::max());
    for (const char* id : {"a", "b", "c", "d", "e", "f", "g"}) services.add(id);
    services.writer.take(services.queue);
    CHECK(services.queue.size() == 2); // f and g are too many
    CHECK_FALSE(loops.step().has_value());
    CHECK(loops.step() == loops.time + 2ms);
    services.take_over();
    CHECK(services.answered == "a+b+c+");
    port.what = What::Away;
    loops.time += 2ms;
    CHECK_FALSE(loops.step().has_value());
    const auto again = loops.step();
    CHECK(again >= loops.time + 50ms);
    SECTION("and goes on when the database is back") {
        loops.time = again.value();
        port.what = What::Answered;
        services.writer.take(services.queue);
        CHECK_FALSE(loops.step().has_value());
        services.writer.stop(McsWriter::Stop::Flush);
        services.take_over();
        CHECK(services.answered == "a+b+c+d+e+f+g+");
        CHECK(port.asked == "abc;de;def;g;");
    }
    SECTION("a stop asks once more before it gives up, and says why") {
        services.writer.stop(McsWriter::Stop::Flush);
        services.take_over();
        CHECK(services.answered == "a+b+c+d-e-");
        CHECK(services.message == "not written, since the program stops: gone fishing");
        CHECK(port.asked == "abc;de;de;");
    }
    SECTION("a stop in a hurry asks nobody") {
        port.what = What::Answered;
        services.writer.stop(McsWriter::Stop::Now);
        services.take_over();
        CHECK(services.answered == "a+b+c+d-e-");
        CHECK(port.asked == "abc;de;");
    }
    CHECK(loops.size() == 0);
    const std::size_t left = services.queue.size();
    services.add("late");
    services.writer.take(services.queue);
    CHECK(services.queue.size() == left + 1); // nothing is taken after a stop
}

TEST_CASE("a stop at any moment gives an answer to each write, and what it says is in the database") {
    const Engine engine = YK_EACH_DATABASE;
    for (int round = 0; round < 8; ++round) {
        const StateDatabase database{engine};
        const GroupCommitSettings settings{4, 0ms, 10'000, {1ms, 2ms}};
        Services services{*database.group, settings};
        for (int number = 0; number < 100; ++number) services.add("d" + std::to_string(number) + "=");
        services.writer.take(services.queue);
        while (services.writer.status().waiting > static_cast<std::size_t>(100 - 12 * round)) std::this_thread::yield();
        services.writer.stop(round % 2 == 0 ? McsWriter::Stop::Now : McsWriter::Stop::Flush);
        services.take_over();
        const auto done = std::count(services.answered.begin(), services.answered.end(), '+');
        const auto given_up = std::count(services.answered.begin(), services.answered.end(), '-');
        CHECK(done + given_up == 100);
        CHECK(database.count("deployment") == done);
        CHECK(services.answered.find('+', services.answered.find('-')) == std::string::npos); // up to one moment
        if (round % 2 == 1) CHECK(given_up == 0);
    }
}

// --- the same as one by one ------------------------------------------------------------------------------------------

namespace {

/// Random writes of a few rows, with expectations that are right now and then.
class RandomWrites {
public:
    explicit RandomWrites(std::uint64_t seed) : chance_(seed) {}

    WriteRequest next() {
        const std::string id(1, static_cast<char>('a' + below(4)));
        switch (below(13)) {
        case 0: return {kApi, InsertDeployment{McsDatabase::deployment(id, mode()), below(2) == 0}};
        case 1: return {kApi, UpdateDeployment{McsDatabase::deployment(id, mode()), expect("u" + id)}};
        case 2: return {kApi, DeleteDeployment{id, expect("u" + id), mode()}};
        case 3: return {kApi, InsertNode{node(below(9) == 0 ? "poison" : id)}};
        case 4: return {kApi, UpdateNode{node(id), expect("n" + id)}};
        case 5: return {kApi, DeleteNode{id, expect("n" + id)}};
        case 6: return {writer(testing::kScaler), InsertScale{scale(id)}};
        case 7: return {writer(testing::kScaler), UpdateScale{scale(id), expect("s" + id)}};
        case 8: return {writer(testing::kScaler), DeleteScale{id, expect("s" + id), below(2) == 0}};
        case 9: return {writer(testing::kPlacer), InsertSchedule{McsDatabase::schedule(id)}};
        case 10: return {testing::kPlacer, UpdateSchedule{McsDatabase::schedule(id), {"p" + id, 0}, changes()}};
        case 11: return {testing::kPlacer, DeleteSchedule{id, {"p" + id, 0}, below(2) == 0}};
        default: return {testing::kPlacer, ChangePlacements{id, "p" + id, changes(), ScheduleState::Scheduling}};
        }
    }
    std::uint64_t below(std::uint64_t end) { return chance_.next() % end; }

private:
    Expect expect(const std::string& uid) { return {uid, static_cast<std::int64_t>(below(3))}; }
    DeleteMode mode() { return static_cast<DeleteMode>(below(3)); }
    /// Sometimes one whose lease is gone.
    WriterIdentity writer(const WriterIdentity& right) {
        return below(8) == 0 ? WriterIdentity{right.service, 99} : right;
    }
    static Node node(const std::string& id) {
        Node row;
        row.meta.id = id;
        row.meta.uid = "n" + id;
        return row;
    }
    DeploymentScale scale(const std::string& id) {
        DeploymentScale row = McsDatabase::scale(id);
        row.meta.uid = "s" + id;
        row.desired = static_cast<std::int64_t>(below(5));
        return row;
    }
    std::vector<PlacementChange> changes() {
        std::vector<PlacementChange> made;
        for (std::uint64_t number = below(4); number > 0; --number) {
            const auto replica = static_cast<std::int64_t>(below(5));
            made.push_back(below(3) == 0 ? PlacementChange{replica, {}} : McsDatabase::placed(replica));
        }
        return made;
    }

    rs::Chance chance_;
};

/// What came of a write, in so far as it must not depend on the others of its group: schedules get one version for all
/// changes of a transaction (rs R-017).
std::string text_of(const WriteRequest& request, const WriteOutcome& outcome) {
    const bool has_version = kind_of(request.command) != kScheduleKind;
    std::string text = std::to_string(outcome.index()) + ' ';
    if (const auto* const written = std::get_if<Written>(&outcome))
        return text + written->uid + ' ' + (has_version ? std::to_string(written->version) : "");
    if (const auto* const conflict = std::get_if<Conflict>(&outcome)) text += name_of(conflict->what);
    return text + (has_version ? message_of(outcome) : "");
}

std::string rows_in(const StateDatabase& database) {
    std::string text;
    for (const char* rows :
         {"id || uid || version || generation || cascade FROM deployment", "id || uid || version FROM node",
          "id || uid || version || owner_uid || desired || writer_epoch FROM deployment_scale",
          "id || uid || owner_uid || placed || pending || state FROM deployment_schedule",
          "schedule_id || replica || attempt || state FROM placement"})
        text += database.list(std::string{"SELECT "} + rows + " ORDER BY 1") + '/';
    const char* events = "SELECT kind || ' ' || op || ' ' || id || ' ' || version FROM change_log WHERE kind <> 3";
    return text + database.list(std::string{events} + " ORDER BY " + database.log_order());
}

} // namespace

namespace {

/// A node that ends the whole transaction, as an error of the disk or of the server may.
const char* poison(Engine engine) {
    return engine == Engine::Sqlite
               ? "PRAGMA synchronous = OFF; CREATE TRIGGER t BEFORE INSERT ON node WHEN NEW.id = 'poison'"
                 " BEGIN SELECT RAISE(ROLLBACK, 'poison'); END"
               : "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS"
                 " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NEW; END $$;"
                 " CREATE TRIGGER t BEFORE INSERT ON node FOR EACH ROW WHEN (NEW.id = 'poison')"
                 " EXECUTE FUNCTION poison()";
}

} // namespace

TEST_CASE("rs R-025 writes in groups come to what they would come to one by one, whatever fails in between") {
    const Engine engine = YK_EACH_DATABASE;
    for (std::uint64_t seed = 1; seed <= (engine == Engine::Sqlite ? 20U : 3U); ++seed) {
        INFO("seed " << seed);
        const StateDatabase together{engine}, apart{engine};
        for (const StateDatabase* each : {&together, &apart}) each->type(poison(engine));
        FaultyPort port{*together.group, seed};
        GroupCommit commit{{32, 2ms, 10'000, {1ms, 4ms}}, seed};
        RandomWrites random{seed};
        std::vector<std::string> expected, found;
        for (int round = 0; round < 40; ++round) {
            for (std::uint64_t more = random.below(24); more > 0; --more) {
                const WriteRequest request = random.next();
                const WriteRequest* const alone[] = {&request};
                expected.push_back(text_of(request, apart.group->write(alone).outcomes.at(0)));
                commit.add(std::make_unique<WriteCall>(request,
                                                       [&found, request](const WriteOutcome& outcome, Instant) {
                                                           found.push_back(text_of(request, outcome));
                                                       }),
                           Instant{});
            }
            while (commit.size() > (round == 39 ? 0 : random.below(20))) {
                auto group = commit.take();
                std::vector<const WriteRequest*> requests;
                for (const auto& call : group) requests.push_back(&call->request());
                auto outcome = port.write(requests);
                for (const auto& call : commit.finish(std::move(group), std::move(outcome), Instant{}))
                    call->finish(Instant{});
            }
        }
        CHECK(found == expected);
        CHECK(found.size() > port.calls); // in groups
        CHECK(rows_in(together) == rows_in(apart));
    }
}

} // namespace yk::mcs
