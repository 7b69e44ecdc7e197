// SPDX-License-Identifier: Apache-2.0
// Relay, stream and consumer over a server that is started, killed, stopped and started again.
#ifdef YK_WITH_NATS
#include "protocol/brokers/jetstream/jetstream_change_log.h"

#include <csignal>
#include <thread>

#include <catch2/catch.hpp>
#include <nats/nats.h>

#include "protocol/brokers/jetstream/jetstream_publisher.h"
#include "tests/support/brokers/private_nats.h"
#include "tests/support/brokers/relayed.h"

/// Ends the test case where no server is installed; in CI that is a failure (rs R-146).
#define YK_NEEDS_NATS                                                                                                  \
    if (!has_server()) return

namespace yk::rs {
namespace {

using namespace std::chrono_literals;
using testing::EventReader;

bool has_server() {
    if (testing::PrivateNats::is_installed()) return true;
    const char* const in_ci = std::getenv("CI");
    if (in_ci != nullptr && std::string{in_ci} == "true") FAIL("the server of NATS is not installed");
    WARN("skipped: the server of NATS is not installed (nats-server)");
    return false;
}

/// A server, and what others do with its stream.
struct NatsWorld {
    [[nodiscard]] NatsSettings settings() const {
        NatsSettings made;
        made.url = server.url();
        made.prefix = "t";
        made.topics = testing::RelayedDatabase::topics();
        made.look = 50ms;
        made.revive = 1s;
        made.timeout = 1s;
        return made;
    }
    [[nodiscard]] std::unique_ptr<JetStreamChangeLog> log() const {
        auto made = JetStreamChangeLog::make(settings());
        REQUIRE(made.ok());
        return std::move(made).value();
    }
    /// Somebody with a connection of his own.
    NatsConnection& other() {
        if (!other_) {
            auto made = NatsConnection::open(settings());
            REQUIRE(made.ok());
            other_ = std::move(made).value();
        }
        REQUIRE(testing::comes_true([&] { return other_->is_up(); }));
        return *other_;
    }
    StreamState stream() {
        auto& connection = other();
        Result<StreamState> state{StreamState{}};
        REQUIRE(testing::comes_true([&] {
            state = connection.stream();
            return state.ok();
        }));
        return *state;
    }
    void produce(const std::string& subject, const std::string& value = {}) {
        const std::uint64_t before = stream().last;
        jsPubAck* acknowledged = nullptr;
        if (js_Publish(&acknowledged, other().context(), subject.c_str(), value.data(), static_cast<int>(value.size()),
                       nullptr, nullptr) == NATS_OK)
            return jsPubAck_Destroy(acknowledged);
        REQUIRE(testing::comes_true([&] { return stream().last > before; })); // it may have happened (rs R-169)
    }
    /// Up to before this sequence; whether it has happened is asked (rs R-169).
    void purge(std::uint64_t before) {
        jsOptions options;
        jsOptions_Init(&options);
        options.Stream.Purge.Sequence = before;
        static_cast<void>(js_PurgeStream(other().context(), "t", &options, nullptr));
        REQUIRE(testing::comes_true([&] { return stream().first >= before; }));
    }

    /// From now on messages are removed when they are so old.
    void keep_for(std::chrono::nanoseconds age) {
        REQUIRE(testing::comes_true([&] {
            jsStreamInfo* info = nullptr;
            if (js_GetStreamInfo(&info, other().context(), "t", nullptr, nullptr) != NATS_OK) return false;
            info->Config->MaxAge = info->Config->Duplicates = age.count();
            const bool is_done = js_UpdateStream(nullptr, other().context(), info->Config, nullptr, nullptr) == NATS_OK;
            jsStreamInfo_Destroy(info);
            return is_done;
        }));
    }

    testing::PrivateNats server;

private:
    std::unique_ptr<NatsConnection> other_;
};

CapturedCursor must_capture(ChangeLog& log) {
    Result<CapturedCursor, LogFault> captured{LogFault{}};
    const bool came = testing::comes_true([&] {
        captured = log.capture();
        return captured.ok();
    });
    INFO((captured.ok() ? "" : captured.error().message));
    REQUIRE(came);
    return std::move(captured).value();
}

} // namespace

TEST_CASE("rs R-165, rs R-166 exactly what comes after the capture is read from a stream, in its order") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.change_many(1000);
    relayed.pass_on();
    const auto log = world.log();
    const CapturedCursor captured = must_capture(*log);
    CHECK(captured.cursor().lanes == std::vector<Position>{{0, world.stream().last}});
    CHECK_THAT(captured.cursor().epoch, Catch::Contains("t " + std::to_string(world.stream().created)));
    relayed.change_many(5000);
    relayed.pass_on();
    EventReader reader{*log};
    REQUIRE(reader.open(captured));
    REQUIRE(reader.read_all());
    REQUIRE(reader.events.size() == 5000);
    for (std::size_t each = 0; each < 5000; ++each) REQUIRE(reader.events[each].at.sequence == 1001 + each);
    CHECK(reader.broken + reader.repeated + reader.unchained + reader.unreadable == 0);
    CHECK(must_capture(*log).cursor() == reader.position);
}

TEST_CASE("rs R-045, rs R-164, T-23 a stream has messages of others, also without a value, and ids of any kind") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.pass_on();
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    relayed.database.append(Kind{1}, "a.b c*>%", Op::Insert, "u", 1);
    relayed.pass_on();
    world.produce("t.album.x");
    world.produce("t.cover.y%2Ez", R"({"v":1,"op":3,"uid":"u","version":3})");
    world.produce("t.cover.c", "nonsense");
    world.produce("t.cover.%");
    world.produce("t.nobody.c");
    world.produce("t.short");
    relayed.database.append(Kind{2}, "last", Op::Insert, "u", 1);
    relayed.pass_on(); // the relay was overtaken by the others, and goes on
    REQUIRE(reader.read_all());
    std::vector<std::string> ids;
    for (const auto& event : reader.events) ids.push_back(event.id);
    CHECK(ids == std::vector<std::string>{"a.b c*>%", "x", "y.z", "last"});
    CHECK(reader.events.at(1).op == Op::Update);
    CHECK(reader.events.at(2).op == Op::Delete);
    CHECK(reader.unreadable == 2);
    CHECK(reader.unchained == 2);
    CHECK(reader.broken == 0);
}

std::string ten_megabytes() {
    std::string text;
    text.resize(10'000'000, 'x');
    return text;
}

TEST_CASE("rs R-055, F-17 a message of 10 MB, bad JSON and an id that is none are unreadable, and the next is read") {
    YK_NEEDS_NATS;
    NatsWorld world;
    world.server.kill();
    world.server.allow_payload(16U << 20U);
    world.server.start();
    NatsSettings patient = world.settings();
    patient.timeout = patient.revive = 10s; // for 10 MB on a loaded machine
    const auto log = std::move(JetStreamChangeLog::make(patient)).value();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    const auto sender = std::move(NatsConnection::open(patient)).value();
    REQUIRE(testing::comes_true([&] { return sender->is_up(); }));
    const auto produce_large = [&](const std::string& value) {
        const std::uint64_t before = world.stream().last;
        jsPubAck* acknowledged = nullptr;
        const natsStatus status = js_Publish(&acknowledged, sender->context(), "t.album.large", value.data(),
                                             static_cast<int>(value.size()), nullptr, nullptr);
        jsPubAck_Destroy(acknowledged);
        INFO(natsStatus_GetText(status));
        REQUIRE(testing::comes_true([&] { return world.stream().last > before; })); // asked, not believed (rs R-169)
    };
    const std::string large = ten_megabytes();
    produce_large(large);
    produce_large(R"({"v":1,"op":2,"uid":")" + large + R"(","version":3})"); // it would be an event
    world.produce("t.album.a", R"({"v":1,"op":2,)");
    world.produce("t.album.%", R"({"v":1,"op":2,"uid":"u","version":3})");
    world.produce("t.album.next", R"({"v":1,"op":2,"uid":"u","version":3})");
    REQUIRE(reader.read_all());
    CHECK(reader.unreadable == 4);
    REQUIRE(reader.events.size() == 1);
    CHECK(reader.events[0].id == "next");
    CHECK(reader.gaps == 0);
}

TEST_CASE("rs R-055, F-17 a message of 10 MB that a server does not take is no event for anybody, and others are") {
    YK_NEEDS_NATS;
    NatsWorld world;
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    const std::string large = ten_megabytes();
    jsPubAck* acknowledged = nullptr;
    CHECK(js_Publish(&acknowledged, world.other().context(), "t.album.large", large.data(),
                     static_cast<int>(large.size()), nullptr, nullptr) == NATS_MAX_PAYLOAD);
    jsPubAck_Destroy(acknowledged);
    CHECK(world.stream().last == 0);
    world.produce("t.album.next");
    REQUIRE(reader.read_all());
    CHECK(reader.unreadable == 0);
    REQUIRE(reader.events.size() == 1);
    CHECK(reader.events[0].id == "next");
}

TEST_CASE(
    "rs R-046, rs R-168, T-24 a server that is killed and started again loses nothing, and neither do its clients") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    const auto log = world.log();
    EventReader reader{*log};
    relayed.pass_on();
    REQUIRE(reader.open(must_capture(*log)));
    for (int round = 0; round < 3; ++round) {
        relayed.change_many(3000);
        relayed.relay->wake();
        testing::relay_until(*relayed.relay, [&] { return relayed.relay->status().under_way > 0; });
        world.server.kill(); // while messages are under way
        REQUIRE(reader.read_until([&] { return reader.downs > static_cast<std::size_t>(round); }));
        world.server.start();
        relayed.pass_on();
        REQUIRE(testing::comes_true([&] { return log->capture().ok(); }));
        REQUIRE(reader.read_all());
        CHECK(reader.seen.size() == relayed.changes);
    }
    CHECK(reader.broken == 0);
    CHECK(reader.gaps == 0);
    CHECK(world.stream().last >= relayed.changes);
}

TEST_CASE("rs R-167 what a relay sent and did not note is dropped by the server that has it") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.change_many(5);
    relayed.pass_on();
    const auto noted = relayed.notes.state;
    relayed.change_many(100);
    relayed.pass_on();
    const auto last = world.stream().last;
    relayed.notes.state = noted; // as if it had ended before it wrote
    JetStreamPublisher next{world.settings()};
    ChangeRelay again{relayed.log, next, relayed.store, testing::RelayedDatabase::topics(), testing::quick_relay()};
    relayed.change_many(10);
    REQUIRE(testing::relay_until(again, [&] { return again.status().safe == relayed.database.head(); }));
    CHECK(world.stream().last == last + 10);
    CHECK(again.status().sent >= 110); // more, if it had to begin again
}

TEST_CASE("rs R-167 a relay that another one has overtaken looks at its lease before it sends anything else") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.change_many(20);
    relayed.pass_on();
    const auto log = world.log();
    const CapturedCursor captured = must_capture(*log);
    world.produce("t.album.x"); // as another relay does
    const auto last = world.stream().last;
    SECTION("which it has lost") {
        relayed.notes.fault = StoreError{StoreFault::Fenced, "another process is the relay"};
        relayed.change_many(5);
        REQUIRE(testing::relay_until(*relayed.relay, [&] { return relayed.relay->status().is_fenced; }));
        CHECK(world.stream().last == last);
    }
    SECTION("which it still has") {
        relayed.change_many(5);
        relayed.pass_on();
        CHECK(relayed.relay->status().beginnings > 0);
        CHECK(world.stream().last == last + 5);
        EventReader reader{*log};
        REQUIRE(reader.open(captured));
        REQUIRE(reader.read_all());
        CHECK(reader.broken + reader.repeated == 0); // none of them before another one that was refused
    }
}

TEST_CASE("rs R-046, rs R-167 what is safe is said before a refusal that came with it") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    REQUIRE(testing::comes_true([&] { return publisher.begin().ok(); }));
    const LaneName lane{"t", 0};
    const auto send = [&](std::uint64_t number) {
        const ChangeEvent event{Kind{1}, "a", Op::Insert, {}, 0, 0, {0, number}, {}};
        const auto taken = publisher.send({number, event, lane, "e", {}});
        REQUIRE(taken.ok());
        REQUIRE(*taken);
    };
    send(1);
    std::size_t safe = 0;
    REQUIRE(testing::comes_true([&] { return (safe += publisher.take_acknowledged()->size()) == 1; }));
    send(2);
    REQUIRE(testing::comes_true([&] { return world.stream().last == 2; }));
    world.produce("t.album.x"); // by somebody else
    send(3);
    for (int looks = 0; looks < 50; ++looks) static_cast<void>(world.stream()); // until both answers are there, mostly
    std::vector<BrokerPublisher::Number> numbers;
    std::optional<BrokerFault> fault;
    REQUIRE(testing::comes_true([&] {
        const auto answer = publisher.take_acknowledged();
        if (answer.ok())
            numbers.insert(numbers.end(), answer->begin(), answer->end());
        else
            fault = answer.error();
        return fault.has_value();
    }));
    CHECK(numbers == std::vector<BrokerPublisher::Number>{2});
    CHECK(fault->what == BrokerFault::What::Overtaken);
}

TEST_CASE("rs R-167 a stream that has lost what it had acknowledged, as by a power failure, is announced") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.change_many(20);
    relayed.pass_on();
    const auto created = world.stream().created;
    const bool loses = GENERATE(true, false);
    CAPTURE(loses);
    world.server.kill();
    world.server.keep_disk(); // what of it was on the disk
    world.server.start();
    REQUIRE(testing::comes_true([&] { return world.stream().last > 0; }));
    relayed.change_many(loses ? 10 : 0);
    relayed.pass_on();
    const auto before = relayed.relay->status().gaps;
    const auto last = world.stream().last;
    world.server.kill();
    world.server.restore_disk();
    world.server.start();
    REQUIRE(testing::comes_true([&] { return world.stream().created == created; }));
    relayed.change_many(1);
    relayed.pass_on();
    CHECK(relayed.relay->status().gaps == before + (loses ? 1 : 0));
    if (!loses) CHECK(world.stream().last == last + 1);
}

TEST_CASE("rs R-048 events of kinds that a reader does not have do not break its chain") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.pass_on();
    NatsSettings settings = world.settings();
    settings.topics.pop_back(); // a reader of an earlier version
    const auto log = std::move(JetStreamChangeLog::make(settings)).value();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    relayed.change_many(30);
    relayed.pass_on();
    REQUIRE(reader.read_all());
    CHECK(reader.seen.size() == 30);
    CHECK(reader.broken == 0);
    CHECK(std::count_if(reader.events.begin(), reader.events.end(),
                        [](const ChangeEvent& event) { return event.kind == Kind{1}; }) == 20);
}

TEST_CASE("rs R-167 two publishers cannot write in turns without one of them noticing") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher one{world.settings()}, two{world.settings()};
    REQUIRE(testing::comes_true([&] { return one.begin().ok(); }));
    REQUIRE(testing::comes_true([&] { return two.begin().ok(); }));
    const ChangeEvent event{Kind{1}, "a", Op::Insert, {}, 0, 0, {0, 1}, {}},
        later{Kind{1}, "b", Op::Insert, {}, 0, 0, {0, 2}, {}};
    const LaneName lane{"t", 0};
    REQUIRE(two.send({1, event, lane, "e", {}}).ok());
    std::size_t safe = 0;
    REQUIRE(testing::comes_true([&] { return (safe += two.take_acknowledged()->size()) == 1; }));
    REQUIRE(one.send({1, later, lane, "e", {}}).ok());
    Result<std::vector<BrokerPublisher::Number>, BrokerFault> answer{std::vector<BrokerPublisher::Number>{}};
    REQUIRE(testing::comes_true([&] {
        if (answer.ok()) answer = one.take_acknowledged();
        return !answer.ok();
    }));
    CHECK(answer.error().what == BrokerFault::What::Overtaken);
    CHECK(world.stream().last == 1);
}

TEST_CASE(
    "rs R-166, T-26 messages of a stream that were removed before they were read are a gap, and it goes on after it") {
    YK_NEEDS_NATS;
    NatsWorld world;
    const auto log = world.log();
    const CapturedCursor captured = must_capture(*log);
    EventReader reader{*log};
    for (int each = 0; each < 10; ++each) world.produce("t.album.a");
    SECTION("all of them") {
        world.purge(11);
        CHECK(world.stream().first == 11);
        CHECK_FALSE(reader.open(captured));
    }
    SECTION("some of them") {
        world.purge(4);
        CHECK_FALSE(reader.open(captured));
    }
    SECTION("one by hand, in the middle") {
        REQUIRE(testing::comes_true([&] {
            js_DeleteMsg(world.other().context(), "t", 5, nullptr, nullptr); // the answer may come too late (rs R-169)
            natsMsg* left = nullptr;
            const auto found = js_GetMsg(&left, world.other().context(), "t", 5, nullptr, nullptr);
            natsMsg_Destroy(left);
            return found == NATS_NOT_FOUND;
        }));
        REQUIRE(reader.open(captured));
        CHECK_FALSE(reader.read_until([] { return false; }));
        CHECK(reader.events.size() <= 4);
    }
    SECTION("after some that it has read, of which that is no gap") {
        REQUIRE(reader.open(captured));
        REQUIRE(reader.read_all());
        const auto read = reader.position;
        CHECK(read.lanes[0].sequence == 10);
        world.purge(11);
        world.produce("t.album.b");
        REQUIRE(reader.read_all());
        CHECK(reader.gaps == 0);
        CHECK(reader.events.back().id == "b");
        const auto later = must_capture(*log);
        world.produce("t.album.c");
        world.produce("t.album.d");
        world.purge(13);
        CHECK_FALSE(reader.open(later));
    }
    REQUIRE(reader.gap.has_value());
    CHECK(reader.gap->what == LogFault::What::Gap);
    CHECK(reader.gap->reason == RelistReason::Purged);
    REQUIRE(reader.open(must_capture(*log)));
    world.produce("t.album.later");
    REQUIRE(reader.read_all());
    CHECK(reader.events.back().id == "later");
}

TEST_CASE("rs R-166, F-20 messages that grew too old while the server was away are a gap, and it goes on after it") {
    YK_NEEDS_NATS;
    NatsWorld world;
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    for (int each = 0; each < 5; ++each) world.produce("t.album.a");
    REQUIRE(reader.read_all());
    constexpr std::chrono::seconds kAge{2};
    world.keep_for(kAge);
    // The server pushes messages at once: those that came before it was killed may be read, and then nothing is
    // missing.
    for (int attempt = 0; attempt < 5 && !reader.gap; ++attempt) {
        for (int each = 0; each < 5; ++each) world.produce("t.album.b");
        const auto last = world.stream().last;
        world.server.kill();
        std::this_thread::sleep_for(kAge + 200ms);
        world.server.start();
        REQUIRE(testing::comes_true([&] { return world.stream().first == last + 1; }));
        static_cast<void>(reader.read_until([&] { return reader.position.lanes[0].sequence >= last; }));
    }
    REQUIRE(reader.gap.has_value());
    CHECK(reader.gap->what == LogFault::What::Gap);
    CHECK(reader.gap->reason == RelistReason::Purged);
    world.keep_for(1h);
    REQUIRE(reader.open(must_capture(*log)));
    world.produce("t.album.later");
    REQUIRE(reader.read_all());
    CHECK(reader.events.back().id == "later");
}

TEST_CASE("rs R-166, F-21 a stream that was removed and made anew is another epoch, for readers and for the relay") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.change_many(10);
    relayed.pass_on();
    const auto log = world.log();
    EventReader reader{*log};
    const CapturedCursor captured = must_capture(*log);
    REQUIRE(reader.open(captured));
    REQUIRE(testing::comes_true([&] {
        const auto gone = js_DeleteStream(world.other().context(), "t", nullptr, nullptr);
        return gone == NATS_OK || gone == NATS_NOT_FOUND;
    }));
    CHECK_FALSE(reader.read_until([] { return false; }));
    REQUIRE(reader.gap.has_value());
    CHECK(reader.gap->reason == RelistReason::Epoch);
    CHECK_FALSE(reader.open(captured));
    const CapturedCursor later = must_capture(*log);
    CHECK(later.cursor().epoch != captured.cursor().epoch);
    REQUIRE(reader.open(later));
    reader.events.clear();
    relayed.change_many(10);
    relayed.pass_on();
    REQUIRE(reader.read_all());
    CHECK(relayed.relay->status().gaps == 2); // this one has nothing of what was sent to the other
    CHECK(std::count_if(reader.events.begin(), reader.events.end(),
                        [](const ChangeEvent& event) { return event.op == Op::Relist; }) == 2);
}

TEST_CASE("rs R-165, rs R-168 a server that hangs is away, and nothing is lost when it goes on") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.pass_on();
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    world.server.signal(SIGSTOP); // each of its threads stops when it comes to know
    LogFault fault{LogFault::What::Gap, {}, {}};
    REQUIRE(testing::comes_true([&] {
        const auto captured = log->capture();
        if (!captured.ok()) fault = captured.error();
        return !captured.ok();
    }));
    CHECK(fault.what == LogFault::What::Down);
    relayed.change_many(50);
    REQUIRE(reader.read_until([&] { return reader.downs > 0; }));
    world.server.signal(SIGCONT);
    relayed.pass_on();
    REQUIRE(testing::comes_true([&] { return log->capture().ok(); }));
    REQUIRE(reader.read_all());
    CHECK(reader.seen.size() == 50);
    CHECK(reader.broken == 0);
}

TEST_CASE("rs R-164, rs R-169 a stream that is missing is made where that is allowed, else the message says how") {
    YK_NEEDS_NATS;
    NatsWorld world;
    NatsSettings settings = world.settings();
    settings.create = false;
    const auto log = JetStreamChangeLog::make(settings);
    REQUIRE(log.ok());
    LogFault fault;
    REQUIRE(testing::comes_true([&] {
        fault = (*log)->capture().error();
        return fault.message.find("nats stream add t --subjects 't.>'") != std::string::npos;
    }));
    CHECK(fault.what == LogFault::What::Down);
    CHECK(world.stream().last == 0); // which may make it
    CHECK((*log)->capture().ok());
    settings.prefix = "a.b";
    CHECK_THAT(JetStreamChangeLog::make(settings).error().text(), Catch::Contains("a.b"));
}

TEST_CASE("rs R-055 events of another change log than before are a gap in a stream, too") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.pass_on();
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    relayed.change_many(3);
    relayed.pass_on();
    REQUIRE(reader.read_all());
    relayed.database.begin_epoch("restored");
    relayed.change_many(3);
    relayed.pass_on();
    CHECK_FALSE(reader.read_until([] { return false; }));
    REQUIRE(reader.gap.has_value());
    CHECK(reader.gap->reason == RelistReason::Epoch);
    REQUIRE(reader.open(must_capture(*log)));
}

TEST_CASE("a server that is not there yet is waited for, without a fault of its own") {
    YK_NEEDS_NATS;
    NatsWorld world;
    world.server.kill();
    const auto log = world.log();
    CHECK(log->capture().error().what == LogFault::What::Down);
    world.server.start();
    CHECK(must_capture(*log).cursor().lanes.at(0).sequence == 0);
}

TEST_CASE("rs R-168, F-18 a server that refuses, from the start or later, is gone back to when it does not any more") {
    YK_NEEDS_NATS;
    NatsWorld world;
    const bool is_refused_first = GENERATE(true, false);
    CAPTURE(is_refused_first);
    const auto begin_anew = [&](const std::string& user) {
        world.server.kill();
        world.server.demand(user, "right");
        world.server.start();
    };
    if (is_refused_first) begin_anew("yk");
    NatsSettings settings = world.settings();
    settings.url = world.server.url_of("yk", "wrong");
    auto made = JetStreamChangeLog::make(settings);
    REQUIRE(made.ok());
    JetStreamChangeLog& log = **made;
    JetStreamPublisher publisher{settings};
    testing::RelayedDatabase relayed{publisher};
    EventReader reader{log};
    if (!is_refused_first) {
        relayed.pass_on();
        REQUIRE(reader.open(must_capture(log)));
        relayed.change_many(10);
        relayed.pass_on();
        REQUIRE(reader.read_all());
        begin_anew("yk");
    }
    relayed.change_many(10);
    std::string fault;
    const auto check_refusal = [](const std::string& text) {
        CHECK_THAT(text, Catch::Contains("refuses the connection") && Catch::Contains("mcs.nats.url") &&
                             Catch::Contains("127.0.0.1") && !Catch::Contains("wrong"));
    };
    REQUIRE(testing::comes_true([&] {
        const auto captured = log.capture();
        if (!captured.ok()) fault = captured.error().message;
        return fault.find("refuses") != std::string::npos;
    }));
    check_refusal(fault);
    REQUIRE(testing::relay_until(*relayed.relay,
                                 [&] { return relayed.relay->status().trouble.find("refuses") != std::string::npos; }));
    check_refusal(relayed.relay->status().trouble);
    begin_anew("");
    relayed.pass_on();
    const CapturedCursor latest = must_capture(log);
    if (is_refused_first) REQUIRE(reader.open(latest));
    if (is_refused_first) relayed.change_many(10);
    relayed.pass_on();
    REQUIRE(reader.read_all());
    CHECK(reader.seen.size() == (is_refused_first ? 10 : 20));
    CHECK(reader.broken == 0);
}

TEST_CASE("rs R-048, rs R-167 a stream that has lost some of its announcements gets all of them anew") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.pass_on();
    REQUIRE(world.stream().last == 2); // both kinds, at one position
    const bool loses = GENERATE(true, false);
    CAPTURE(loses);
    if (loses)
        REQUIRE(testing::comes_true([&] { // as if it had never come to the disk
            js_DeleteMsg(world.other().context(), "t", 2, nullptr, nullptr);
            const auto found = world.other().message(2);
            return found.ok() && *found == nullptr;
        }));
    relayed.begin();
    relayed.pass_on();
    CHECK(relayed.relay->status().gaps == (loses ? 1 : 0));
}

TEST_CASE("rs R-055, rs R-166 a reader knows a stream that has other messages now where it was") {
    YK_NEEDS_NATS;
    NatsWorld world;
    JetStreamPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.change_many(20);
    relayed.pass_on();
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    const auto created = world.stream().created;
    world.server.kill();
    world.server.keep_disk(); // what of it was on the disk when the power went
    world.server.start();
    REQUIRE(testing::comes_true([&] { return world.stream().created == created; }));
    relayed.change_many(10);
    relayed.pass_on();
    const bool has_read = GENERATE(true, false);
    CAPTURE(has_read);
    const CapturedCursor captured = must_capture(*log);
    if (has_read) REQUIRE(reader.read_all());
    world.server.kill();
    world.server.restore_disk();
    world.server.start();
    REQUIRE(testing::comes_true([&] { return world.stream().created == created; }));
    relayed.change_many(1); // by which the relay sees what is lost, and announces it
    relayed.pass_on();
    relayed.change_many(30);
    relayed.pass_on();
    REQUIRE(world.stream().last > captured.cursor().lanes.at(0).sequence);
    if (has_read) {
        CHECK_FALSE(reader.read_until([] { return false; }));
    } else {
        REQUIRE(testing::comes_true([&] { // which is read from for the first time, once the server is there again
            return !reader.open(captured) && reader.gap->what == LogFault::What::Gap;
        }));
    }
    REQUIRE(reader.gap.has_value());
    CHECK(reader.gap->reason == RelistReason::Epoch);
    REQUIRE(reader.open(must_capture(*log)));
    relayed.change_many(10);
    relayed.pass_on();
    REQUIRE(reader.read_all());
}

} // namespace yk::rs
#endif
