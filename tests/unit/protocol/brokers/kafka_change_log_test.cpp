// SPDX-License-Identifier: Apache-2.0
// Relay, topics and consumer over the cluster that librdkafka has for tests.
#ifdef YK_WITH_KAFKA
#include "protocol/brokers/kafka/kafka_change_log.h"

#include <array>

#include <catch2/catch.hpp>
#include <librdkafka/rdkafka.h>

#include "protocol/brokers/kafka/kafka_publisher.h"
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

TEST_CASE("rs R-046, T-24 what a relay sent and did not note comes again, and is known as a repetition") {
    KafkaWorld world;
    const auto log = world.log();
    EventReader reader{*log};
    KafkaPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.pass_on();
    REQUIRE(reader.open(must_capture(*log)));
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
    KafkaWorld world;
    KafkaPublisher publisher{world.settings()};
    testing::RelayedDatabase relayed{publisher};
    relayed.pass_on();
    const auto log = world.log();
    EventReader reader{*log};
    REQUIRE(reader.open(must_capture(*log)));
    relayed.change_many(20);
    relayed.pass_on();
    REQUIRE(reader.read_all());
    world.cluster.set_down();
    relayed.change_many(200);
    REQUIRE(reader.read_until([&] { return reader.downs > 0; }));
    CHECK(log->capture().error().what == LogFault::What::Down);
    for (int turns = 0; turns < 20; ++turns) relayed.relay->turn(testing::steady_now());
    CHECK_FALSE(relayed.is_settled());
    world.cluster.set_up();
    relayed.pass_on();
    REQUIRE(testing::comes_true([&] { return log->capture().ok(); }));
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
