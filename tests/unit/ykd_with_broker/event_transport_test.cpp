// SPDX-License-Identifier: Apache-2.0
// Instances with one database whose changes come by a broker: a cluster of Kafka in this process, or a server of NATS.
#include "ykd/mcs/transport/event_transport.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/brokers/relay_state.h"
#include "tests/support/brokers/private_nats.h"
#include "tests/unit/ykd/mcs/mcs_instance.h"
#ifdef YK_WITH_KAFKA
#include "tests/support/brokers/mock_kafka.h"
#endif

namespace yk::service {
namespace {

using testing::comes_true;
using testing::Folder;
using testing::Instance;

/// A broker that a test can have, take away and give back.
struct Broker {
    EventSettings settings;
    std::function<void()> take_away, give_back;
    std::shared_ptr<void> held; // what it is
};

std::vector<EventTransportKind> kinds() {
    std::vector<EventTransportKind> all;
#ifdef YK_WITH_KAFKA
    all.push_back(EventTransportKind::Kafka);
#endif
#ifdef YK_WITH_NATS
    if (testing::PrivateNats::is_installed())
        all.push_back(EventTransportKind::Nats);
    else
        WARN("skipped for NATS: its server is not installed (nats-server)");
#endif
    return all;
}

Broker make_broker([[maybe_unused]] EventTransportKind kind) {
    Broker broker;
    broker.settings.transport = kind;
    broker.settings.kafka.fallback_after = broker.settings.nats.fallback_after = std::chrono::seconds{1};
#ifdef YK_WITH_KAFKA
    if (kind == EventTransportKind::Kafka) {
        const auto cluster = std::make_shared<testing::MockKafka>();
        for (const rs::Kind each : mcs::kKinds) cluster->create("gns." + std::string{mcs::name_of(each)}, 2);
        broker.settings.kafka.brokers = cluster->brokers();
        broker.settings.kafka.properties["reconnect.backoff.max.ms"] = "100";
        broker.take_away = [cluster] { cluster->set_down(); };
        broker.give_back = [cluster] { cluster->set_up(); };
        broker.held = cluster;
    }
#endif
#ifdef YK_WITH_NATS
    if (kind == EventTransportKind::Nats) {
        const auto server = std::make_shared<testing::PrivateNats>();
        broker.settings.nats.url = server->url();
        broker.take_away = [server] { server->kill(); };
        broker.give_back = [server] { server->start(); };
        broker.held = server;
    }
#endif
    return broker;
}

McsSettings settings_with(const Broker& broker) {
    McsSettings settings;
    settings.events = broker.settings;
    return settings;
}

TransportStatus status_of(const Instance& of) {
    return *of.made->transport().status(steady_instant());
}

bool work_until(const std::vector<Instance*>& all, const std::function<bool()>& condition) {
    return comes_true([&] {
        for (Instance* const each : all)
            for (int steps = 0; steps < 200 && each->made->work(steady_instant()); ++steps) continue;
        return condition();
    });
}

/// Two instances, whose broker goes away and comes back.
void check_outage(EventTransportKind kind) {
    const Broker broker = make_broker(kind);
    const Folder folder;
    Instance one{folder, "one", settings_with(broker)}, two{folder, "two", settings_with(broker)};
    const std::vector both{&one, &two};
    REQUIRE(work_until(both, [&] { return one.made->manager().is_running() && two.made->manager().is_running(); }));
    REQUIRE(work_until(both, [&] { return one.leads() != two.leads(); }));
    REQUIRE(std::holds_alternative<mcs::Written>(one.create("web", 3)));
    CHECK(one.made->find("web") != nullptr);
    REQUIRE(std::holds_alternative<mcs::Written>(two.create("api", 2)));
    CHECK(two.made->find("api") != nullptr); // with the answer, whatever the broker has brought
    CHECK(two.made->count_with_new() >= 1);
    REQUIRE(work_until(both, [&] { return one.desired("api") == 2 && two.desired("web") == 3; }));
    CHECK(one.made->manager().position().epoch.starts_with(kind == EventTransportKind::Kafka ? "kafka " : "nats "));
    REQUIRE(work_until(both, [&] { return status_of(one).relay.leads != status_of(two).relay.leads; }));
    CHECK((status_of(one).is_up && status_of(one).is_on_broker));
    CHECK(one.made->transport().trouble(steady_instant()).empty());
    CHECK(lease_names(one.made->transport()).back() == "relay");

    broker.take_away();
    REQUIRE(work_until(both, [&] { return !status_of(one).is_on_broker && !status_of(two).is_on_broker; }));
    CHECK_FALSE(status_of(one).is_up);
    CHECK_FALSE(status_of(one).fault.empty());
    CHECK(is_database_up(one.made->manager(), one.made->transport()));
    CHECK_THAT(one.made->transport().trouble(steady_instant()), Catch::Contains("read from the database meanwhile"));
    REQUIRE(work_until(both, [&] { // as it is looked at every second; the relay may be in trouble before
        const auto list = one.degraded.list();
        return list.size() == 1 && list.front().starts_with("MCS, transport: ") &&
               list.front().find("has not let itself be read") != std::string::npos;
    }));
    REQUIRE(std::holds_alternative<mcs::Written>(two.create("down", 4)));
    CHECK(two.made->find("down") != nullptr);
    REQUIRE(work_until(both, [&] { return one.desired("down") == 4 && two.desired("down") == 4; }));

    broker.give_back();
    REQUIRE(work_until(both, [&] { return status_of(one).is_up && status_of(two).is_up; }));
    REQUIRE(std::holds_alternative<mcs::Written>(two.create("back", 5)));
    REQUIRE(work_until(both, [&] { return one.desired("back") == 5 && two.desired("back") == 5; }));
    REQUIRE(work_until(both, [&] { return one.degraded.list().empty(); }));
    for (const rs::KindStatus& each : one.made->manager().status()) CHECK(each.counters.repairs == 0);
    const auto connection = rs::SqliteConnection::open(folder.database());
    REQUIRE(connection.ok());
    CHECK(work_until(both, [&] { // all of it is at the broker, and may be purged
        const auto relayed = rs::relayed_up_to(**connection);
        const auto last = (*connection)->number("SELECT max(seq) FROM change_log");
        return relayed.ok() && last.ok() && relayed->sequence == static_cast<std::uint64_t>(*last);
    }));
}

void check_takeover(EventTransportKind kind) {
    const Broker broker = make_broker(kind);
    const Folder folder;
    auto one = std::make_unique<Instance>(folder, "one", settings_with(broker));
    REQUIRE(work_until({one.get()}, [&] { return status_of(*one).relay.leads && one->made->manager().is_running(); }));
    Instance two{folder, "two", settings_with(broker)}, three{folder, "three", settings_with(broker)};
    REQUIRE(work_until({one.get(), &two, &three},
                       [&] { return two.made->manager().is_running() && three.made->manager().is_running(); }));
    REQUIRE(std::holds_alternative<mcs::Written>(one->create("first", 1)));
    REQUIRE(work_until({one.get(), &two, &three}, [&] { return three.desired("first") == 1; }));
    CHECK(status_of(*one).relay.relay.sent > 0);
    one->made->stop();
    one.reset();
    REQUIRE(work_until({&two, &three}, [&] { return status_of(two).relay.leads != status_of(three).relay.leads; }));
    const auto gaps = [&] { return status_of(two).relay.relay.gaps + status_of(three).relay.relay.gaps; };
    for (int number = 0; number < 5; ++number) {
        const std::string name = "later" + std::to_string(number);
        REQUIRE(std::holds_alternative<mcs::Written>(two.create(name, number)));
        REQUIRE(work_until({&two, &three}, [&] { return three.desired(name) == number; }));
    }
    CHECK(gaps() == 0); // it went on where the other one had ended
    for (const auto& [reason, count] : three.made->manager().events().relists)
        CHECK(reason == rs::RelistReason::Announced); // of the first relay, at the beginning
}

void check_without_leases(EventTransportKind kind) {
    const Broker broker = make_broker(kind);
    const Folder folder;
    McsSettings settings = settings_with(broker);
    settings.lease_enabled = false;
    Instance one{folder, "one", settings};
    REQUIRE(one.starts());
    CHECK(status_of(one).relay.leads);
    REQUIRE(std::holds_alternative<mcs::Written>(one.create("web", 3)));
    CHECK(one.works_until([&] { return one.desired("web") == 3 && status_of(one).relay.relay.confirmed > 3; }));
}

} // namespace

TEST_CASE("rs R-046, rs R-056, rs R-158 instances with one database see by a broker what the others write") {
    for (const auto kind : kinds()) check_outage(kind);
}

TEST_CASE("rs R-046, rs R-144 a relay that stops is followed by that of another instance, without a gap") {
    for (const auto kind : kinds()) check_takeover(kind);
}

TEST_CASE("rs R-145 without leases the instance is the relay from the start") {
    for (const auto kind : kinds()) check_without_leases(kind);
}

TEST_CASE("without a broker there is neither a relay nor its lease") {
    const Folder folder;
    Instance one{folder, "one"};
    CHECK_FALSE(one.made->transport().has_broker());
    CHECK_FALSE(one.made->transport().status(steady_instant()).has_value());
    CHECK(one.made->transport().trouble(steady_instant()).empty());
    CHECK(lease_names(one.made->transport()) == std::vector<std::string>{"autoscaler", "scheduler", "purge"});
}

#ifdef YK_WITH_NATS
TEST_CASE("a broker is named without the password that its address has") {
    EventSettings settings;
    settings.transport = EventTransportKind::Nats;
    settings.nats.url = "nats://user:secret@127.0.0.1:1";
    const auto broker = open_broker(settings, 1);
    REQUIRE(broker.ok());
    CHECK(broker->value().place == "nats://127.0.0.1:1");
    const auto captured = broker->value().log->capture();
    REQUIRE_FALSE(captured.ok());
    CHECK_THAT(captured.error().message, Catch::Contains("127.0.0.1:1") && !Catch::Contains("secret"));
}

TEST_CASE("rs R-168, F-18 a broker that refuses a daemon keeps it from nothing but its changes, and says why") {
    if (!testing::PrivateNats::is_installed()) return; // kinds() warns of that
    const Broker broker = make_broker(EventTransportKind::Nats);
    auto& server = *std::static_pointer_cast<testing::PrivateNats>(broker.held);
    server.kill();
    server.demand("yk", "right");
    server.start();
    McsSettings settings = settings_with(broker);
    settings.events.nats.url = server.url_of("yk", "wrong");
    const Folder folder;
    Instance one{folder, "one", settings}; // whose REQUIRE is that it opens
    REQUIRE(work_until({&one}, [&] { return one.made->manager().is_running(); }));
    REQUIRE(std::holds_alternative<mcs::Written>(one.create("web", 3)));
    REQUIRE(work_until({&one}, [&] { return one.desired("web") == 3; }));
    REQUIRE(work_until({&one}, [&] {
        const auto list = one.degraded.list();
        return list.size() == 1 && list.front().find("refuses the connection") != std::string::npos &&
               list.front().find("mcs.nats.url") != std::string::npos;
    }));
    server.kill();
    server.demand("yk", "wrong");
    server.start();
    CHECK(work_until({&one}, [&] { return status_of(one).is_up && one.degraded.list().empty(); }));
}

TEST_CASE("rs R-046, rs R-139 a relay that the broker refuses leaves the lease to that of another instance") {
    if (!testing::PrivateNats::is_installed()) return; // kinds() warns of that
    const Broker broker = make_broker(EventTransportKind::Nats);
    auto& server = *std::static_pointer_cast<testing::PrivateNats>(broker.held);
    server.kill();
    server.demand("yk", "right");
    server.start();
    McsSettings settings = settings_with(broker);
    const Folder folder;
    settings.events.nats.url = server.url_of("yk", "wrong");
    Instance one{folder, "one", settings};
    REQUIRE(work_until({&one}, [&] { return status_of(one).relay.leads && one.made->manager().is_running(); }));
    settings.events.nats.url = server.url_of("yk", "right");
    Instance two{folder, "two", settings};
    REQUIRE(work_until({&one, &two},
                       [&] { return two.made->manager().is_running() && status_of(two).relay.relay.is_running; }));
    CHECK_FALSE(status_of(one).relay.leads);
    REQUIRE(std::holds_alternative<mcs::Written>(one.create("web", 3)));
    REQUIRE(work_until({&one, &two}, [&] { return two.desired("web") == 3 && status_of(two).is_up; }));
    CHECK(status_of(two).relay.relay.confirmed > 0);
}
#endif

} // namespace yk::service
