// SPDX-License-Identifier: Apache-2.0
// rs-06: the log of the database through the relay to a cluster of Kafka, and from there into a queue. The cluster is
// that of librdkafka, in this process, so that its work counts, too.

#include "tests/bench/resource_state/workloads.h"
#ifdef YK_WITH_KAFKA
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libcore/resource_state/work_queue.h"
#include "protocol/brokers/change_relay.h"
#include "protocol/brokers/kafka/kafka_change_log.h"
#include "protocol/brokers/kafka/kafka_publisher.h"
#include "protocol/brokers/mcs_topics.h"
#include "tests/bench/resource_state/change_writer.h"
#include "tests/bench/resource_state/helper_process.h"
#include "tests/support/brokers/mock_kafka.h"
#include "ykd/mcs/mcs_application.h"
#endif

namespace yk::bench {
#ifdef YK_WITH_KAFKA
namespace {

using service::steady_instant;

constexpr std::size_t kEvents = 100'000;  // of a million rows: a partition of the cluster keeps 5 MB
constexpr int kPartitions = 16;           // of a topic
constexpr std::size_t kMostPolled = 1000; // as the framework
constexpr Duration kLimit = std::chrono::minutes{5};

rs::KafkaSettings settings_for(testing::MockKafka& cluster) {
    rs::KafkaSettings settings;
    settings.brokers = cluster.brokers();
    settings.topics = mcs::topics_of_kinds();
    for (const rs::Topic& topic : settings.topics) cluster.create(settings.prefix + topic.name, kPartitions);
    return settings;
}

Error error_of_log(const rs::LogFault& fault) {
    return Error::at("log", fault.message);
}

/// Seconds until so many more messages are at the broker, and nothing is under way.
Result<double> relay_all(rs::ChangeRelay& relay, std::size_t events) {
    const Instant began = steady_instant();
    const std::uint64_t goal = relay.status().confirmed + events;
    const auto is_done = [&] {
        const rs::RelayStatus status = relay.status();
        return status.is_running && status.under_way == 0 && status.safe && status.confirmed >= goal;
    };
    relay.wake();
    while (!is_done()) {
        const Instant now = steady_instant();
        if (now - began > kLimit) return Error::of("the relay does not get there: " + relay.status().trouble);
        if (!relay.turn(now)) std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
    return seconds_since(began.ns);
}

/// What events say of rows.
using Events = std::vector<rs::ChangeEvent>;

/// Seconds until so many changes were read and are in a queue, each once. They are in `into` then.
Result<double> read_all(rs::ChangeLog& log, std::size_t events, Events& into) {
    rs::WorkQueue queue{{std::chrono::milliseconds{50}, std::chrono::minutes{1}}, 1};
    const Instant began = steady_instant();
    into.reserve(events);
    while (into.size() < events) {
        const Instant now = steady_instant();
        if (now - began > kLimit) return Error::of(fmt::format("{} events of {} came", into.size(), events));
        auto batch = log.poll(kMostPolled);
        if (!batch.ok()) return error_of_log(batch.error());
        if (!batch->unreadable.empty()) return Error::of("messages that nobody can read");
        for (rs::ChangeEvent& event : batch->events) {
            queue.add(event.id, {}, now);
            into.push_back(std::move(event));
        }
        if (batch->events.empty()) std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
    const double took = seconds_since(began.ns);
    if (into.size() != events || queue.size() != events)
        return Error::of(
            fmt::format("{} events of {} keys came, and {} were written", into.size(), queue.size(), events));
    return took;
}

/// There is one event for each row, and it says of the row what is in the database.
Result<void> check_events(Events& events, rs::ResourceStore<mcs::Deployment>& rows) {
    std::sort(events.begin(), events.end(),
              [](const rs::ChangeEvent& a, const rs::ChangeEvent& b) { return a.id < b.id; });
    std::size_t at = 0, wrong = 0;
    YK_CHECKED(for_each_row(rows, [&](const mcs::Deployment& row) {
        const bool is_right = at < events.size() && events[at].kind == mcs::kDeploymentKind &&
                              events[at].op == rs::Op::Update && events[at].id == row.meta.id &&
                              events[at].uid == row.meta.uid && events[at].version == row.meta.version;
        if (!is_right) ++wrong;
        ++at;
    }));
    if (wrong == 0 && at == events.size()) return {};
    return Error::of(fmt::format("of {} events for {} rows {} do not say what the row is", events.size(), at, wrong));
}

} // namespace

/// Each row changes once, while neither relay nor reader is at work.
Result<Figures> run_relay(const RunPlace& place) {
    const std::size_t events = place.scaled(kEvents);
    YK_TRY(database, place.databases.make(place.engine, Rows{events}));
    return figures_apart([&]() -> Result<Figures> {
        HelperProcess writer{[&] { return change_all(*database, 1); }};
        auto opened = service::McsConnections::open(database->place(), true);
        if (!opened.ok()) return to_error(opened.error());
        const service::McsConnections connections = std::move(opened).value();
        testing::MockKafka cluster;
        const rs::KafkaSettings settings = settings_for(cluster);
        rs::KafkaPublisher publisher{settings};
        rs::RelayTable table{*connections.relay.table, std::nullopt};
        rs::ChangeRelay relay{*connections.relay.log, publisher, table, settings.topics, {}};
        YK_CHECKED(relay_all(relay, 0)); // to a broker that is new it announces every kind
        YK_TRY(log, rs::KafkaChangeLog::make(settings));
        const auto from = log->capture();
        if (!from.ok()) return error_of_log(from.error());
        if (const auto done = log->open(*from); !done.ok()) return error_of_log(done.error());
        YK_CHECKED(writer.run());
        YK_TRY(relayed, relay_all(relay, events));
        Events came;
        YK_TRY(read, read_all(*log, events, came));
        YK_CHECKED(check_events(came, *connections.deployments));
        const rs::RelayStatus status = relay.status();
        if (status.beginnings > 1 || status.gaps > 1)
            return Error::of(fmt::format("the relay began {} times: {}", status.beginnings, status.trouble));
        return Figures{{"changes per second through the relay", static_cast<double>(events) / relayed},
                       {"events per second into the queue", static_cast<double>(events) / read}};
    });
}
#else
Result<Figures> run_relay(const RunPlace& /*place*/) {
    return Error::of("this build has no Kafka (librdkafka-dev)");
}
#endif

} // namespace yk::bench
