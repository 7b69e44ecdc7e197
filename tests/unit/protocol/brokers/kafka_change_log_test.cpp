// SPDX-License-Identifier: Apache-2.0
// Relay, topics and consumer over the cluster that librdkafka has for tests.
#ifdef YK_WITH_KAFKA
#include "protocol/brokers/kafka/kafka_change_log.h"

#include <algorithm>
#include <array>
#include <map>

#include <catch2/catch.hpp>
#include <librdkafka/rdkafka.h>

#include "protocol/brokers/broker_message.h"
#include "protocol/brokers/kafka/kafka_publisher.h"
#include "protocol/brokers/murmur2.h"
#include "tests/support/brokers/mock_kafka.h"
#include "tests/support/brokers/relayed.h"

namespace yk::rs {
namespace {

using namespace std::chrono_literals;
using testing::EventReader;

/// A cluster with the topics of two kinds.
struct KafkaWorld {
    KafkaWorld() {
        cluster.create("t.album", 3);
        cluster.create("t.cover", 2);
    }
    [[nodiscard]] KafkaSettings settings() const {
        KafkaSettings made;
        made.brokers = cluster.brokers();
        made.prefix = "t.";
        made.topics = testing::RelayedDatabase::topics();
        made.look = 50ms;
        made.properties["reconnect.backoff.max.ms"] = "100";
        return made;
    }
    [[nodiscard]] std::unique_ptr<KafkaChangeLog> log() const {
        auto made = KafkaChangeLog::make(settings());
        REQUIRE(made.ok());
        return std::move(made).value();
    }

    testing::MockKafka cluster;
};

CapturedCursor must_capture(ChangeLog& log) {
    auto captured = log.capture();
    INFO((captured.ok() ? "" : captured.error().message));
    REQUIRE(captured.ok());
    return std::move(captured).value();
}

/// The same where a client may try some brokers that are down before one that is up.
CapturedCursor must_capture_soon(ChangeLog& log) {
    static_cast<void>(testing::comes_true([&] { return log.capture().ok(); }));
    return must_capture(log);
}

/// A relay that sends to a cluster, and a reader of all that comes from now on.
struct FollowedKafka : KafkaWorld {
    FollowedKafka() {
        relayed.pass_on();
        REQUIRE(reader.open(must_capture(*events)));
    }

    KafkaPublisher publisher{settings()};
    testing::RelayedDatabase relayed{publisher};
    const std::unique_ptr<KafkaChangeLog> events = log();
    EventReader reader{*events};
};

/// Two clusters at one address, of which one is up at a time: for a client, topics that were removed and made anew,
/// since the cluster of librdkafka cannot change its own. The second one has another identity, too.
struct ReplacedKafka {
    /// Partitions of the two topics in the second cluster; in the first there are 3 and 2.
    ReplacedKafka(int albums, int covers) {
        first.create("t.album", 3);
        first.create("t.cover", 2);
        second.create("t.album", albums);
        second.create("t.cover", covers);
    }
    /// Of a client that tries the brokers of both; it must not meet the second one before replace().
    [[nodiscard]] std::unique_ptr<KafkaChangeLog> log() {
        second.set_down();
        KafkaSettings settings;
        settings.brokers = first.brokers() + ',' + second.brokers();
        settings.prefix = "t.";
        settings.topics = testing::RelayedDatabase::topics();
        settings.look = settings.refresh = 50ms;
        settings.properties["reconnect.backoff.max.ms"] = "100";
        auto made = KafkaChangeLog::make(settings);
        REQUIRE(made.ok());
        return std::move(made).value();
    }
    /// Returns when the client has found the second one.
    void replace(KafkaChangeLog& log) {
        first.set_down();
        second.set_up();
        REQUIRE(testing::comes_true([&] { return log.capture().ok(); }));
    }
    /// After a gap: the old position is refused, and from a new one on everything is read.
    void check_goes_on(KafkaChangeLog& log, EventReader& reader, const CapturedCursor& before) {
        CHECK_FALSE(reader.open(before));
        CHECK(reader.gap->reason == RelistReason::Epoch);
        const CapturedCursor now = must_capture(log);
        CHECK(now.cursor().epoch != before.cursor().epoch);
        REQUIRE(reader.open(now));
        second.produce("t.album", 1, "later", std::nullopt);
        REQUIRE(reader.read_all());
        REQUIRE_FALSE(reader.events.empty());
        CHECK(reader.events.back().id == "later");
    }

    testing::MockKafka first, second;
};

} // namespace

TEST_CASE(
    "rs R-035, rs R-049, rs R-051 exactly what comes after the capture is read, each event after the one before it") {
    KafkaWorld world;
    KafkaPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.change_many(1000);
    relayed.pass_on();
    const auto log = world.log();
    const CapturedCursor captured = must_capture(*log);
    CHECK(captured.cursor().lanes.size() == 5);
    relayed.change_many(300);
    relayed.pass_on();
    EventReader reader{*log};
    REQUIRE(reader.open(captured));
    REQUIRE(reader.read_all());
    CHECK(reader.events.size() == 300);
    CHECK(*reader.seen.begin() == 1001);
    CHECK(reader.seen.size() == 300);
    CHECK(reader.broken + reader.repeated + reader.unchained + reader.unreadable == 0);
    CHECK(Cursor::parse(captured.cursor().text()) == captured.cursor());
    CHECK(must_capture(*log).cursor() == reader.position);
}

TEST_CASE("rs R-045, T-23 messages of others are read, also without a value, and those that are nonsense are named") {
    KafkaWorld world;
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    world.cluster.produce("t.album", 0, "a", std::nullopt);
    world.cluster.produce("t.album", 1, "b", R"({"v":1,"op":1,"uid":"u","version":3})");
    world.cluster.produce("t.cover", 0, "c", "nonsense");
    world.cluster.produce("t.cover", 1, "", std::nullopt);
    world.cluster.produce("t.cover", 1, "d", std::string(100'000, 'x'));
    REQUIRE(reader.read_all());
    CHECK(reader.events.size() == 2);
    CHECK(reader.unchained == 2);
    CHECK(reader.unreadable == 3);
}

TEST_CASE("rs R-055, F-17 a message of 4 MB, bad JSON and an empty key are unreadable, and the next one is read") {
    KafkaWorld world;
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    const std::string large(4'000'000, 'x'); // of more than 5 MB in a partition the mock cluster removes what is older
    std::size_t unreadable = 0;
    const auto check_poison = [&](const std::string& key, const std::string& value) {
        CAPTURE(key, value.size());
        const int partition = static_cast<int>(unreadable % 2);
        world.cluster.produce("t.album", partition, key, value);
        REQUIRE(reader.read_until([&] { return reader.unreadable > unreadable; }));
        CHECK(reader.unreadable == ++unreadable);
        world.cluster.produce("t.album", partition, "next", R"({"v":1,"op":2,"uid":"u","version":3})");
        REQUIRE(reader.read_until([&] { return reader.events.size() == unreadable; }));
        CHECK(reader.events.back().id == "next");
    };
    check_poison("large", large);
    check_poison("large-uid", R"({"v":1,"op":2,"uid":")" + large + R"(","version":3})"); // it would be an event
    check_poison("half", R"({"v":1,"op":2,)");
    check_poison("", R"({"v":1,"op":2,"uid":"u","version":3})");
    CHECK(reader.gaps == 0);
}

TEST_CASE("rs R-048 a relay puts each event into the partition of its key, and names the one before it there") {
    FollowedKafka world;
    testing::RelayedDatabase& relayed = world.relayed;
    EventReader& reader = world.reader;
    relayed.change_many(200);
    relayed.pass_on();
    REQUIRE(reader.read_all());
    REQUIRE(reader.events.size() == 200);
    std::map<std::size_t, Position> last; // by lane
    for (const ChangeEvent& event : reader.events) {
        CAPTURE(event.id);
        CHECK(event.lane == (event.kind == Kind{1} ? part_of(event.id, 3) : 3 + part_of(event.id, 2)));
        if (last.contains(event.lane)) CHECK(event.previous == last[event.lane]);
        last[event.lane] = event.at;
    }
    CHECK(last.size() == 5);
}

TEST_CASE("rs R-048 a message that is missing or repeated shows in the chain, and one that is passed over does not") {
    KafkaWorld world;
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    const auto produce = [&](int at, int previous, const std::string& value) {
        world.cluster.produce("t.album", 1, "a", value,
                              {{kEpochHeader, "e"},
                               {kPositionHeader, "0." + std::to_string(at)},
                               {kPreviousHeader, "0." + std::to_string(previous)}});
    };
    const std::string change = R"({"v":1,"op":2,"uid":"u","version":3})";
    produce(5, 4, change); // the first one sets the base
    produce(7, 5, "nonsense");
    produce(9, 7, change);
    REQUIRE(reader.read_all());
    CHECK(reader.unreadable == 1);
    CHECK(reader.broken + reader.repeated + reader.unchained == 0);
    produce(9, 7, change);
    REQUIRE(reader.read_all());
    CHECK(reader.repeated == 1);
    CHECK(reader.broken == 0);
    produce(12, 11, change); // the one at 11 has never come
    REQUIRE(reader.read_all());
    CHECK(reader.broken == 1);
}

TEST_CASE("rs R-046, T-24 what a relay sent and did not note comes again, and is known as a repetition") {
    FollowedKafka world;
    testing::RelayedDatabase& relayed = world.relayed;
    EventReader& reader = world.reader;
    relayed.change_many(50);
    relayed.pass_on();
    const auto noted = relayed.notes.state;
    relayed.change_many(100);
    relayed.pass_on();
    relayed.notes.state = noted; // as if it had ended before it wrote
    relayed.begin();
    relayed.change_many(10);
    relayed.pass_on();
    REQUIRE(reader.read_all());
    CHECK(reader.seen.size() == 160);
    CHECK(reader.repeated == 100);
    CHECK(reader.broken == 0);
}

TEST_CASE("rs R-052, T-26 messages that were removed before they were read are a gap, and it goes on after it") {
    KafkaWorld world;
    KafkaSettings settings = world.settings();
    settings.properties["queued.min.messages"] = "1"; // it reads hardly more than it is asked for
    settings.properties["queued.max.messages.kbytes"] = "1";
    settings.properties["fetch.message.max.bytes"] = "1000";
    const auto log = std::move(KafkaChangeLog::make(settings)).value();
    world.cluster.produce("t.album", 0, "first", std::nullopt);
    const CapturedCursor captured = must_capture(*log);
    EventReader reader{*log};
    // More than a broker of this cluster keeps of a partition.
    const auto fill = [&] {
        for (int each = 0; each < 80; ++each) world.cluster.produce("t.album", 0, "k", std::string(100'000, 'x'));
    };
    SECTION("before it was opened") {
        fill();
        CHECK_FALSE(reader.open(captured));
    }
    SECTION("while it was open") {
        REQUIRE(reader.open(captured));
        fill();
        CHECK_FALSE(reader.read_until([] { return false; }));
        CHECK(reader.unreadable < 80);
    }
    REQUIRE(reader.gap.has_value());
    CHECK(reader.gap->what == LogFault::What::Gap);
    CHECK(reader.gap->reason == RelistReason::Purged);
    REQUIRE(reader.open(must_capture(*log)));
    world.cluster.produce("t.album", 0, "later", std::nullopt);
    REQUIRE(reader.read_all());
    CHECK(reader.events.back().id == "later");
}

TEST_CASE("rs R-051, rs R-056, T-29 while the brokers are away it says so, and nothing is lost when they are back") {
    FollowedKafka world;
    testing::RelayedDatabase& relayed = world.relayed;
    EventReader& reader = world.reader;
    relayed.change_many(20);
    relayed.pass_on();
    REQUIRE(reader.read_all());
    world.cluster.set_down();
    relayed.change_many(200);
    REQUIRE(reader.read_until([&] { return reader.downs > 0; }));
    CHECK(world.events->capture().error().what == LogFault::What::Down);
    for (int turns = 0; turns < 20; ++turns) relayed.relay->turn(testing::steady_now());
    CHECK_FALSE(relayed.is_settled());
    world.cluster.set_up();
    relayed.pass_on();
    REQUIRE(testing::comes_true([&] { return world.events->capture().ok(); }));
    REQUIRE(reader.read_all());
    CHECK(reader.seen.size() == 220);
    CHECK(reader.broken == 0);
    CHECK(reader.gaps == 0);
}

TEST_CASE("rs R-055 events of another change log than before are a gap, and what is captured then is another epoch") {
    KafkaWorld world;
    KafkaPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.change_many(9);
    relayed.pass_on();
    const auto log = world.log();
    EventReader reader{*log};
    const CapturedCursor captured = must_capture(*log);
    REQUIRE(reader.open(captured));
    relayed.change_many(9);
    relayed.pass_on();
    REQUIRE(reader.read_all());
    relayed.database.begin_epoch("restored");
    relayed.change_many(9);
    relayed.pass_on();
    CHECK_FALSE(reader.read_until([] { return false; }));
    REQUIRE(reader.gap.has_value());
    CHECK(reader.gap->reason == RelistReason::Epoch);
    const CapturedCursor later = must_capture(*log);
    CHECK(later.cursor().epoch != captured.cursor().epoch);
    CHECK_FALSE(reader.open(captured));
    REQUIRE(reader.open(later));
    relayed.change_many(3);
    relayed.pass_on();
    REQUIRE(reader.read_all());
}

TEST_CASE("rs R-053, T-27 partitions that are added are lanes behind the others, and their topics are named") {
    KafkaLanes lanes{{{2, 1}}, {5, 6, 7}};
    CHECK(lanes.find(0, 1)->next == 6);
    CHECK(lanes.number_of(*lanes.find(1, 0)) == 2);
    CHECK(lanes.find(0, 2) == nullptr);
    CHECK(lanes.find(2, 0) == nullptr);
    std::vector<std::size_t> grown;
    CHECK(lanes.grow({{2, 1}}, grown) == KafkaLanes::Change::None);
    CHECK(lanes.grow({{4, 1}}, grown) == KafkaLanes::Change::Grown);
    CHECK(grown == std::vector<std::size_t>{0});
    CHECK(lanes.number_of(*lanes.find(1, 0)) == 2); // as before
    CHECK(lanes.number_of(*lanes.find(0, 3)) == 4);
    CHECK(lanes.find(0, 3)->next == 0); // from its first message
    grown.clear();
    CHECK(lanes.grow({{5, 0}}, grown) == KafkaLanes::Change::Shrunk);
    CHECK(lanes.all().size() == 5);
    CHECK(KafkaLayout{{2, 1}}.text({{Kind{1}, "a"}, {Kind{2}, "b"}}, "t.") == "t.a:2,t.b:1");
}

TEST_CASE("rs R-053, T-27, F-21 partitions that are added are read from their beginning, and their kind anew") {
    ReplacedKafka world{4, 2};
    // The first partition goes on where it was: what was read of it there must not come again.
    world.second.produce("t.album", 0, "a", std::nullopt);
    world.second.produce("t.album", 0, "b", std::nullopt);
    world.second.produce("t.album", 3, "c", std::nullopt);
    world.second.produce("t.album", 3, "d", std::nullopt);
    const auto log = world.log();
    EventReader reader{*log};
    const CapturedCursor captured = must_capture_soon(*log);
    REQUIRE(captured.cursor().lanes.size() == 5);
    REQUIRE(reader.open(captured));
    world.first.produce("t.album", 0, "a", std::nullopt);
    REQUIRE(reader.read_all());
    world.replace(*log);
    REQUIRE(reader.read_until([&] { return reader.events.size() == 5; }));
    std::map<std::string, ChangeEvent> by_id;
    for (const ChangeEvent& event : reader.events) by_id.emplace(event.id, event);
    REQUIRE(by_id.size() == 5); // each of them once
    CHECK(by_id.at("a").lane == 0);
    CHECK(by_id.at("b").lane == 0);
    CHECK(by_id.at("c").lane == 5); // behind those that were there
    CHECK(by_id.at("d").lane == 5);
    CHECK(by_id.at("*").op == Op::Relist);
    CHECK(by_id.at("*").kind == Kind{1});
    const auto place_of = [&](const std::string& id) {
        return std::find_if(reader.events.begin(), reader.events.end(),
                            [&](const ChangeEvent& event) { return event.id == id; });
    };
    CHECK(place_of("*") < place_of("c"));
    CHECK(place_of("c") < place_of("d"));
    CHECK(reader.position.lanes.size() == 5);
    world.second.produce("t.album", 3, "later", std::nullopt); // it is followed like the others
    world.second.produce("t.cover", 1, "later", std::nullopt);
    REQUIRE(reader.read_until([&] { return reader.events.size() == 7; }));
    CHECK_FALSE(reader.open(captured)); // lanes are counted otherwise now
    CHECK(reader.gap->reason == RelistReason::Epoch);
    const CapturedCursor later = must_capture(*log);
    CHECK(later.cursor().lanes.size() == 6);
    REQUIRE(reader.open(later));
    world.second.produce("t.album", 3, "last", std::nullopt);
    REQUIRE(reader.read_all());
    CHECK(reader.events.back().id == "last");
    CHECK(reader.events.size() == 8);
}

TEST_CASE("rs R-053, T-27, F-21 a topic that has fewer partitions than before is another epoch") {
    ReplacedKafka world{2, 2};
    const auto log = world.log();
    EventReader reader{*log};
    const CapturedCursor captured = must_capture_soon(*log);
    REQUIRE(reader.open(captured));
    world.replace(*log);
    CHECK_FALSE(reader.read_until([] { return false; }));
    REQUIRE(reader.gap.has_value());
    CHECK(reader.gap->what == LogFault::What::Gap);
    CHECK(reader.gap->reason == RelistReason::Epoch);
    CHECK_THAT(reader.gap->message, Catch::Contains("fewer partitions"));
    world.check_goes_on(*log, reader, captured);
}

TEST_CASE("rs R-053, T-27, F-21 a topic that ends before what was read of it was made anew, which is another epoch") {
    ReplacedKafka world{3, 2};
    const auto log = world.log();
    EventReader reader{*log};
    const CapturedCursor captured = must_capture_soon(*log);
    REQUIRE(reader.open(captured));
    for (const char* id : {"a", "b", "c"}) world.first.produce("t.album", 1, id, std::nullopt);
    REQUIRE(reader.read_all());
    world.second.refuse_fetches(1000); // else the broker may say it first, when it is asked for what is not there
    world.replace(*log);
    CHECK_FALSE(reader.read_until([] { return false; }));
    REQUIRE(reader.gap.has_value());
    CHECK(reader.gap->what == LogFault::What::Gap);
    CHECK(reader.gap->reason == RelistReason::Epoch);
    CHECK_THAT(reader.gap->message, Catch::Contains("t.album was made anew"));
    world.second.let_fetch();
    world.check_goes_on(*log, reader, captured);
}

TEST_CASE("rs R-046, rs R-050 properties that the promises rest on cannot be chosen, and others are given on") {
    for (const char* name : {"enable.idempotence", "acks", "request.required.acks", "message.timeout.ms",
                             "auto.offset.reset", "enable.auto.commit", "isolation.level", "enable.partition.eof",
                             "allow.auto.create.topics", "bootstrap.servers"}) {
        KafkaSettings settings;
        settings.properties[name] = "1";
        const auto made = KafkaChangeLog::make(settings);
        REQUIRE_FALSE(made.ok());
        CHECK(made.error().where == std::string{"mcs.kafka.properties."} + name);
    }
    KafkaSettings settings;
    settings.properties["linger.ms"] = "7";
    CHECK(KafkaChangeLog::make(settings).ok());
    settings.properties["no.such.property"] = "7";
    CHECK_FALSE(KafkaChangeLog::make(settings).ok());
}

TEST_CASE("rs R-049 a lane that stands still though there is more of it is found, and begun anew ever more rarely") {
    KafkaLanes lanes{{{2}}, {5, 6}};
    CHECK_FALSE(lanes.note_stalls({5, 6})); // nothing more to come
    CHECK_FALSE(lanes.note_stalls({5, 9})); // it has just come
    CHECK(lanes.note_stalls({5, 9}));
    CHECK(lanes.find(0, 0)->stalls == 0);
    CHECK(lanes.note_stalls({5, 10}));
    CHECK(lanes.find(0, 1)->stalls == 2);
    CHECK_FALSE(lanes.note_stalls({5, 10})); // the third in a row
    CHECK(lanes.note_stalls({5, 10}));
    lanes.find(0, 1)->next = 7; // it moves
    CHECK_FALSE(lanes.note_stalls({5, 10}));
    CHECK(lanes.find(0, 1)->stalls == 0);
    CHECK(lanes.note_stalls({5, 10}));
}

TEST_CASE("rs R-049, rs R-056 a partition that is not fetched any more is assigned anew") {
    KafkaWorld world;
    KafkaSettings settings = world.settings();
    settings.look = 200ms;
    settings.properties["fetch.error.backoff.ms"] = "300000"; // a refusal ends the fetching, as far as a test can wait
    const auto log = std::move(KafkaChangeLog::make(settings)).value();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    world.cluster.produce("t.album", 0, "first", std::nullopt);
    REQUIRE(reader.read_all());
    world.cluster.refuse_fetches(2);
    REQUIRE(reader.read_until([&] { return reader.downs > 0; })); // it is said once
    world.cluster.produce("t.album", 0, "later", std::nullopt);
    world.cluster.produce("t.album", 1, "later", std::nullopt);
    world.cluster.produce("t.album", 2, "later", std::nullopt);
    REQUIRE(reader.read_until([&] { return reader.events.size() == 4; }));
}

TEST_CASE("rs R-056 a cluster that answers slowly is found again after it was away") {
    KafkaWorld world;
    const auto log = world.log();
    static_cast<void>(must_capture(*log));
    world.cluster.set_down();
    REQUIRE(testing::comes_true([&] { return !log->capture().ok(); }));
    world.cluster.set_delay(400ms); // more than it gets while it is thought to be away
    world.cluster.set_up();
    CHECK(testing::comes_true([&] { return log->capture().ok(); }));
}

TEST_CASE("rs R-050 neither reader nor relay makes a topic that is not there") {
    // The cluster of this process makes every topic that it is asked for, whoever asks how.
    for (const auto role : {KafkaClient::Role::Producer, KafkaClient::Role::Consumer}) {
        const auto client = KafkaClient::open(role, KafkaSettings{});
        REQUIRE(client.ok());
        std::array<char, 16> value{};
        std::size_t size = value.size();
        REQUIRE(rd_kafka_conf_get(rd_kafka_conf((*client)->handle()), "allow.auto.create.topics", value.data(),
                                  &size) == RD_KAFKA_CONF_OK);
        CHECK(std::string{value.data()} == "false");
    }
}

TEST_CASE("a topic that is not there is named, with what to run") {
    testing::MockKafka cluster;
    cluster.create("t.album", 1);
    cluster.create("t.cover", 1);
    cluster.hide("t.cover");
    KafkaSettings settings;
    settings.brokers = cluster.brokers();
    settings.prefix = "t.";
    settings.topics = testing::RelayedDatabase::topics();
    const auto log = KafkaChangeLog::make(settings);
    REQUIRE(log.ok());
    const auto captured = (*log)->capture();
    REQUIRE_FALSE(captured.ok());
    CHECK(captured.error().what == LogFault::What::Down);
    CHECK_THAT(captured.error().message, Catch::Contains("t.cover") && Catch::Contains("kafka-topics.sh --create"));
    KafkaPublisher publisher{settings};
    CHECK_THAT(publisher.begin().error().message, Catch::Contains("t.cover"));
}

} // namespace yk::rs
#endif
