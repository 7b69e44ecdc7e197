// SPDX-License-Identifier: Apache-2.0
#include "tests/support/brokers/event_way.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "protocol/brokers/mcs_topics.h"
#include "tests/support/brokers/private_nats.h"
#include "tests/support/brokers/relayed.h"
#ifdef YK_WITH_KAFKA
#include "protocol/brokers/kafka/kafka_change_log.h"
#include "protocol/brokers/kafka/kafka_publisher.h"
#include "tests/support/brokers/mock_kafka.h"
#endif
#ifdef YK_WITH_NATS
#include "protocol/brokers/jetstream/jetstream_change_log.h"
#include "protocol/brokers/jetstream/jetstream_publisher.h"
#endif

namespace yk::testing {
namespace {

/// A log whose poll gives what is known to be on the way.
class PatientLog final : public rs::ChangeLog {
public:
    explicit PatientLog(std::unique_ptr<rs::ChangeLog> log) : log_(std::move(log)) {}

    [[nodiscard]] Result<void, rs::LogFault> open(const rs::CapturedCursor& from) override { return log_->open(from); }
    [[nodiscard]] Result<rs::EventBatch, rs::LogFault> poll(std::size_t most) override {
        rs::EventBatch all;
        const auto until = std::chrono::steady_clock::now() + kPatience;
        for (;;) {
            auto answer = log_->poll(most - all.events.size());
            if (!answer.ok() && !all.events.empty()) return all; // what was read already is not read again
            YK_TRY(batch, std::move(answer));
            for (auto& event : batch.events) all.events.push_back(std::move(event));
            all.unreadable.insert(all.unreadable.end(), batch.unreadable.begin(), batch.unreadable.end());
            all.position = batch.position;
            all.may_have_more = all.events.size() == most;
            const bool has_come = !goal_ || goal_->epoch != all.position.epoch || rs::reaches(all.position, *goal_);
            if (has_come || all.may_have_more || std::chrono::steady_clock::now() > until) return all;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }
    void passed_on() {
        auto latest = read_latest();
        REQUIRE(latest.ok());
        goal_ = *std::move(latest);
    }

private:
    [[nodiscard]] Result<rs::Cursor, rs::LogFault> read_latest() override {
        Result<rs::Cursor, rs::LogFault> latest{rs::LogFault{}};
        static_cast<void>(comes_true([&] {
            if (latest.ok()) return true;
            const auto captured = log_->capture();
            latest = captured.ok() ? Result<rs::Cursor, rs::LogFault>{captured->cursor()} : captured.error();
            return latest.ok();
        }));
        return latest;
    }

    const std::unique_ptr<rs::ChangeLog> log_;
    std::optional<rs::Cursor> goal_;
};

#ifdef YK_WITH_NATS
/// One server for all tests, each with a stream of its own.
PrivateNats& shared_server() {
    static PrivateNats server;
    return server;
}

bool must_have_all() {
    const char* const in_ci = std::getenv("CI");
    return in_ci != nullptr && std::string{in_ci} == "true";
}
#endif

} // namespace

std::vector<std::pair<Engine, Transport>> ways() {
    std::vector<Transport> transports{Transport::Embedded};
#ifdef YK_WITH_KAFKA
    transports.push_back(Transport::Kafka);
#endif
#ifdef YK_WITH_NATS
    if (PrivateNats::is_installed())
        transports.push_back(Transport::JetStream);
    else if (must_have_all())
        FAIL("the server of NATS is not installed");
    else
        WARN("skipped for JetStream: the server of NATS is not installed (nats-server)");
#endif
    std::vector<std::pair<Engine, Transport>> all;
    for (const Engine engine : engines())
        for (const Transport transport : transports) all.emplace_back(engine, transport);
    return all;
}

struct EventWay::Parts {
    explicit Parts(const StateDatabase& of) : database(of) {}

    void relay_by(std::unique_ptr<rs::BrokerPublisher> by) {
        publisher = std::move(by);
        connection = database.open();
        table = std::make_unique<rs::RelayTable>(*connection, std::nullopt);
        tail = database.place->open_log();
        relay = std::make_unique<rs::ChangeRelay>(*tail, *publisher, *table, mcs::topics_of_kinds(), quick_relay());
    }
    /// The last event that is in the database's log; nullopt: it is empty.
    [[nodiscard]] std::optional<rs::Position> last() const {
        const std::string transaction = database.engine == Engine::Postgres ? "CAST(xid AS text)" : "'0'";
        const std::string order = database.engine == Engine::Postgres ? "xid DESC, seq DESC" : "seq DESC";
        return rs::Position::parse(
            database.text("SELECT " + transaction + " || '.' || seq FROM change_log ORDER BY " + order + " LIMIT 1"));
    }

    const StateDatabase& database;
#ifdef YK_WITH_KAFKA
    std::unique_ptr<MockKafka> cluster;
#endif
    std::unique_ptr<rs::SqlConnection> connection;
    std::unique_ptr<rs::BrokerPublisher> publisher;
    std::unique_ptr<rs::RelayTable> table;
    std::unique_ptr<rs::ChangeLog> tail;
    std::unique_ptr<rs::ChangeRelay> relay; // nullptr: the log is the database's own
    std::unique_ptr<PatientLog> log;
};

EventWay::EventWay(const StateDatabase& database, Transport transport) : parts_(std::make_unique<Parts>(database)) {
#ifdef YK_WITH_KAFKA
    if (transport == Transport::Kafka) {
        parts_->cluster = std::make_unique<MockKafka>();
        rs::KafkaSettings settings;
        settings.topics = mcs::topics_of_kinds();
        settings.brokers = parts_->cluster->brokers();
        for (const rs::Topic& topic : settings.topics) parts_->cluster->create(settings.prefix + topic.name, 2);
        parts_->relay_by(std::make_unique<rs::KafkaPublisher>(settings));
        parts_->log = std::make_unique<PatientLog>(std::move(rs::KafkaChangeLog::make(settings)).value());
    }
#endif
#ifdef YK_WITH_NATS
    if (transport == Transport::JetStream) {
        static int number = 0;
        rs::NatsSettings settings;
        settings.url = shared_server().url();
        settings.prefix = "way" + std::to_string(++number);
        settings.topics = mcs::topics_of_kinds();
        parts_->relay_by(std::make_unique<rs::JetStreamPublisher>(settings));
        parts_->log = std::make_unique<PatientLog>(std::move(rs::JetStreamChangeLog::make(settings)).value());
    }
#endif
    if (!parts_->log) parts_->log = std::make_unique<PatientLog>(database.place->open_log());
    static_cast<void>(transport);
    if (parts_->relay) pass_on();
}

EventWay::~EventWay() = default;

rs::ChangeLog& EventWay::log() {
    return *parts_->log;
}

void EventWay::pass_on() {
    if (parts_->relay) {
        const auto last = parts_->last();
        const bool passed = relay_until(*parts_->relay, [&] {
            const rs::RelayStatus status = parts_->relay->status();
            return status.is_running && status.under_way == 0 && status.safe &&
                   (!last || status.safe->lanes[0] >= *last);
        });
        INFO(parts_->relay->status().trouble);
        REQUIRE(passed);
    }
    parts_->log->passed_on();
}

} // namespace yk::testing
