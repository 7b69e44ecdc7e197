// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/daemon_settings.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

namespace {

DaemonSettings read(const std::string& text) {
    DaemonSettings settings;
    const auto parsed = parse_settings(text, "ykd.conf", settings);
    INFO((parsed.ok() ? std::string{} : parsed.error().text()));
    REQUIRE(parsed.ok());
    return settings;
}

std::string fault(const std::string& text) {
    DaemonSettings settings;
    const auto parsed = parse_settings(text, "ykd.conf", settings);
    return parsed.ok() ? std::string{"good"} : parsed.error().text();
}

} // namespace

TEST_CASE("rs R-161 keys of mcs that cannot be, or have no effect beside others, are refused") {
    CHECK(fault("mcs: {resync: {period: 0s}}\n") == "good"); // only when asked to
    CHECK(fault("mcs: {resync: {period: 1ms}}\n") == "ykd.conf:1:24: mcs.resync.period: must be 0s, or at least 1s");
    CHECK(fault("mcs: {resync: {jitter: 2}}\n") ==
          "ykd.conf:1:24: mcs.resync.jitter: a number from 0 to 1 is wanted, such as 0.1");
    CHECK(fault("mcs: {resync: {page: 0}}\n").find("mcs.resync.page: a whole number from 1 to") != std::string::npos);
    CHECK(fault("mcs: {poll: {min: 1s}}\n") ==
          "ykd.conf:1:14: mcs.poll.min is 1s and mcs.poll.max is 100ms: the first must not be above the second");
    CHECK(fault("mcs: {backoff: {max: 10ms}}\n").find("ykd.conf:1:17: mcs.backoff.base is 50ms") == 0);
    CHECK(fault("mcs: {handlers: {deadline: 2h}}\n") ==
          "ykd.conf:1:28: mcs.handlers.deadline: must be from 1ms to 1h0m0s");
    CHECK(fault("mcs: {db: {synchronous: off}}\n") == "ykd.conf:1:25: mcs.db.synchronous is full or normal");
    CHECK(fault("mcs: {db: {statementTimeout: 1s}}\n") ==
          "ykd.conf:1:12: mcs.db.statementTimeout: has no effect on SQLite, which mcs.db.url names");
    CHECK(fault("mcs: {pg: {notify: false}}\n").find("mcs.pg.notify: has no effect on SQLite") != std::string::npos);
    CHECK(fault("mcs: {db: {url: 'postgresql://h/d', synchronous: normal}}\n").find("has no effect on PostgreSQL") !=
          std::string::npos);
    CHECK(fault("mcs: {db: {url: 'postgresql://h/d', statementTimeout: 1s}, pg: {notify: false}}\n") == "good");
}

TEST_CASE("rs R-054, C-469 partitions are not shared among daemons") {
    CHECK(fault("mcs: {kafka: {assignment: group}}\n")
              .find("ykd.conf:1:27: mcs.kafka.assignment is all: the daemon that leads has all nodes") == 0);
}

TEST_CASE("C-469 every key is read") {
    const DaemonSettings settings = read(R"(
config: {default: /etc/ykd/queues.yaml, batch: /etc/ykd/batch.yaml}
listen: [ipc:///run/ykd/ykd.sock, tcp://127.0.0.1:9810]
tokens: /etc/ykd/tokens
stateDir: /var/lib/ykd
tls: {cert: c.pem, key: k.pem, clientCA: ca.pem}
peers:
  - {uid: 1000, role: rm, rms: "spark-*"}
  - {gid: 50, role: observer}
rms: [{rmID: important, requireRecovery: true}, {rmID: other}]
extraConfig: {log.level: debug, event.maxStreams: "3"}
maxMessage: 32MiB
requestTtl: 5s
maxPollWait: 1m
maxSessions: 9
maxRMs: 5
replyMemory: 4
outboundMaxItems: 100
outboundMaxBytes: 1GiB
inboundMaxItems: 200
inboundMaxBytes: 65536
livenessTimeout: 10s
sessionTtl: 1m40s
rmRetention: 1h
shutdownGrace: 2s
recoveryTimeout: 1m
recoveryIdleTimeout: 1500ms
recoveryMaxAttempts: 7
rmMaxResourceTypes: 8
)");
    CHECK(settings.config_files.at("batch") == "/etc/ykd/batch.yaml");
    CHECK(settings.listen.size() == 2);
    CHECK(settings.tls_client_ca == "ca.pem");
    CHECK(settings.state_directory == "/var/lib/ykd");
    REQUIRE(settings.peers.size() == 2);
    CHECK(settings.peers[0].uid == 1000U);
    CHECK(settings.peers[0].role == si::Role::Rm);
    CHECK(settings.peers[0].rms == "spark-*");
    CHECK(settings.peers[1].gid == 50U);
    CHECK(settings.require_recovery == std::set<std::string>{"important"});
    CHECK(settings.known_rms == std::set<std::string>{"important", "other"});
    CHECK(settings.extra_config.at("event.maxStreams") == "3");
    CHECK(settings.max_message == 32U << 20);
    CHECK(settings.request_ttl == std::chrono::seconds{5});
    CHECK(settings.max_poll_wait == std::chrono::minutes{1});
    CHECK(settings.max_sessions == 9);
    CHECK(settings.max_rms == 5);
    CHECK(settings.reply_memory == 4);
    CHECK(settings.outbound.items == 100);
    CHECK(settings.outbound.bytes == 1U << 30);
    CHECK(settings.inbound.elements == 200);
    CHECK(settings.inbound.bytes == 65536);
    CHECK(settings.session_ttl == std::chrono::seconds{100});
    CHECK(settings.rm_retention == std::chrono::hours{1});
    CHECK(settings.shutdown_grace == std::chrono::seconds{2});
    CHECK(settings.recovery_timeout == std::chrono::minutes{1});
    CHECK(settings.recovery_idle_timeout == std::chrono::milliseconds{1500});
    CHECK(settings.recovery_max_attempts == 7);
    CHECK(settings.rm_max.resource_types == 8);
}

TEST_CASE("B-03 every problem of a settings file, in its order") {
    DaemonSettings settings;
    const auto parsed =
        parse_settings("maxSession: 3\nlivenessTimeout: [1]\ntls: {crt: a}\nmaxCalls: 0\n", "f", settings);
    REQUIRE_FALSE(parsed.ok());
    REQUIRE(parsed.error().all.size() == 4);
    CHECK(parsed.error().all[1].text() == "f:2:18: livenessTimeout: a text is wanted");
    CHECK(parsed.error().all[3].where == "f:4:11");
    CHECK(parsed.error().text() ==
          R"(f:1:1: unknown key "maxSession", did you mean "maxSessions"? (and 3 more problems))");
}

TEST_CASE("C-469 the settings file is strict: faults name file, line, column and the way out") {
    CHECK(fault("") == "good");
    CHECK(fault("maxSession: 3\n") == R"(ykd.conf:1:1: unknown key "maxSession", did you mean "maxSessions"?)");
    CHECK(fault("listen: ipc://a\nmaxSessions: many\n") ==
          "ykd.conf:2:14: maxSessions: a whole number above 0 is wanted");
    CHECK(fault("maxMessage: 1GiB\n").find("ykd.conf:1:13: maxMessage: must be between") == 0);
    CHECK(fault("livenessTimeout: 10\n").find("ykd.conf:1:18: livenessTimeout: ") == 0);
    CHECK(fault("predicateTimeout: 1s\npreemptionTimeout: 1m\npredicateBatch: 1000\nmaxCalls: 1\n") == "good");
    CHECK(fault("predicateBatch: 0\n") == "ykd.conf:1:17: predicateBatch: a whole number from 1 to 1000 is wanted");
    CHECK(fault("maxCalls: 65537\n").find("from 1 to 65536") != std::string::npos);
    CHECK(fault("maxRMs: 4097\n").find("from 1 to 4096") != std::string::npos);
    CHECK(fault("rmMaxResourceTypes: 1\n") == "good");
    CHECK(fault("rmMaxResourceTypes: 64\n") == "good");
    CHECK(fault("rmMaxResourceTypes: 0\n").find("rmMaxResourceTypes: a whole number from 1 to 64") !=
          std::string::npos);
    CHECK(fault("rmMaxResourceTypes: 65\n").find("from 1 to 64") != std::string::npos);
    CHECK(fault("peers: [{uid: 1, gid: 2}]\n") == "ykd.conf:1:9: peers: an entry names either a uid or a gid");
    CHECK(fault("peers: [{uid: 1, role: admin, rms: 'foo*'}]\n") ==
          "ykd.conf:1:9: peers: an admin may do everything: leave rms out, or use role rm for \"foo*\"");
    CHECK(read("peers: [{uid: 1, role: admin, rms: '*'}]\n").peers.size() == 1);
    CHECK(fault("peers: [{uid: 1, role: king}]\n").find("role is observer, rm or admin") != std::string::npos);
    CHECK(fault("- a\n").find("is a map") != std::string::npos);
    CHECK(fault("listen: a\nlisten: b\n") != "good");
}

TEST_CASE("rs R-161 the section mcs is read by the paths of its keys, and is strict") {
    CHECK_FALSE(read("").mcs.enabled);
    const McsSettings mcs = read(R"(
mcs:
  enabled: true
  db: {url: "sqlite:/data/state.db", synchronous: normal, busyTimeout: 2s}
  poll: {min: 2ms, max: 50ms}
  start: {timeout: 1m, initialAdd: false}
  reconcile: {batch: 10, skipKnown: false}
  backoff: {base: 1s, max: 2m}
  handlers: {deadline: 5s, deadLetterAfter: 3}
  lease: {enabled: false, ttl: 3s}
  log: {retention: 1h, maxRows: 7}
  resync: {period: 5m, jitter: 0.25, page: 100, rowsPerSecond: 1000}
  autoscaler: {period: 2s, reconcilePeriod: 30s}
  metrics: {allowedHosts: [127.0.0.1, "metrics:9100"]}
  deleteMode: orphan
  maxDeployments: 5
  maxReplicas: 9
  maxDeploymentSize: 4KiB
)")
                                .mcs;
    CHECK((mcs.enabled && !mcs.lease_enabled));
    CHECK(mcs.lease_ttl == std::chrono::seconds{3});
    CHECK(mcs.log_retention == std::chrono::hours{1});
    CHECK(mcs.log_max_rows == 7);
    const rs::Settings& framework = mcs.framework;
    CHECK(
        (framework.poll.base == std::chrono::milliseconds{2} && framework.poll.most == std::chrono::milliseconds{50}));
    CHECK((framework.start.timeout == std::chrono::minutes{1} && !framework.start.initial_add));
    CHECK((framework.reconcile.batch == 10 && !framework.reconcile.skip_known));
    CHECK(framework.reconcile.backoff.base == std::chrono::seconds{1});
    CHECK(framework.reconcile.backoff.most == std::chrono::minutes{2});
    CHECK((framework.handlers.deadline == std::chrono::seconds{5} && framework.handlers.dead_letter_after == 3));
    CHECK((framework.resync.period == std::chrono::minutes{5} && framework.resync.jitter_permille == 250));
    CHECK((framework.resync.page == 100 && framework.resync.rows_per_second == 1000));
    CHECK((!mcs.db.waits_for_disk && mcs.db.busy_timeout == std::chrono::seconds{2}));
    CHECK(mcs.autoscaler_period == std::chrono::seconds{2});
    CHECK(mcs.autoscaler_reconcile_period == std::chrono::seconds{30});
    CHECK(mcs.metrics_allowed_hosts == std::vector<std::string>{"127.0.0.1", "metrics:9100"});
    CHECK(mcs.delete_mode == mcs::DeleteMode::Orphan);
    CHECK((mcs.max_deployments == 5 && mcs.max_replicas == 9 && mcs.max_deployment_size == 4096));
    CHECK(sqlite_path(mcs.db.url, "/state") == "/data/state.db");
    CHECK(sqlite_path("sqlite:mcs.db", "/state") == "/state/mcs.db");
    CHECK(sqlite_path("mcs.db", "/state").empty());
    CHECK(read("mcs:\n").mcs.max_replicas == 10'000);
    CHECK(fault("mcs: 5s\n") == "ykd.conf:1:6: mcs: a map of keys to values is wanted");
    CHECK(fault("mcs: {lease: 5s}\n") == "ykd.conf:1:14: mcs.lease: a map of keys to values is wanted");
    CHECK(fault("mcs: {lease: {tll: 5s}}\n") ==
          R"(ykd.conf:1:15: unknown key "mcs.lease.tll", did you mean "mcs.lease.ttl"?)");
    CHECK(fault("mcs: {enabled: perhaps}\n") == "ykd.conf:1:16: mcs.enabled: true or false is wanted");
    CHECK(fault("mcs: {lease: {ttl: 999ms}}\n") == "ykd.conf:1:20: mcs.lease.ttl: must be at least 1s");
    CHECK(fault("mcs: {db: {url: 'mysql://h/d'}}\n").find("postgresql://HOST/DATABASE is wanted") != std::string::npos);
    CHECK(fault("mcs: {db: {url: mcs.db}}\n").find("sqlite:PATH or postgresql://HOST/DATABASE is wanted") !=
          std::string::npos);
    CHECK(fault("mcs: {deleteMode: all}\n").find("cascade, owners or orphan") != std::string::npos);
    CHECK(read("").mcs.metrics_allowed_hosts.empty()); // no page is fetched
    CHECK(fault("mcs: {metrics: {allowedHosts: ['http://a/']}}\n") ==
          "ykd.conf:1:31: mcs.metrics.allowedHosts: http://a/: HOST or HOST:PORT is wanted, such as 127.0.0.1:9100");
    CHECK(fault("enabled: true\n").find("unknown key") != std::string::npos);
}

#ifdef YK_WITH_NATS
TEST_CASE("rs R-164, C-469 changes may come by NATS") {
    const EventSettings events = read(R"(mcs:
  transport: nats
  nats: {url: 'nats://a:4222,tls://u:p@b:4222', stream: prod-1, create: false, fallbackAfter: 0s}
)")
                                     .mcs.events;
    CHECK(events.transport == EventTransportKind::Nats);
    CHECK(events.nats.url == "nats://a:4222,tls://u:p@b:4222");
    CHECK((events.nats.stream == "prod-1" && !events.nats.create));
    CHECK(events.nats.fallback_after == Duration{0});
    const EventSettings plain = read("mcs: {transport: nats, nats: {url: 'nats://a'}}\n").mcs.events;
    CHECK((plain.nats.stream == "gns" && plain.nats.create && plain.nats.fallback_after == std::chrono::seconds{30}));
    CHECK(fault("mcs: {transport: nats}\n") ==
          "ykd.conf:1:7: mcs.nats.url: nats://HOST:PORT or tls://HOST:PORT is wanted, or several with commas");
    for (const char* bad : {"http://a", "nats://", "a:4222", "nats://a,", "", "nats://a, nats://b", "nats://a:x",
                            "nats://a:70000", "nats://u:p@", "nats://:4222"})
        CHECK(
            fault(std::string{"mcs: {transport: nats, nats: {url: '"} + bad + "'}}\n").find("mcs.nats.url: nats://") !=
            std::string::npos);
    CHECK(fault("mcs: {transport: nats, nats: {url: 'nats://a', stream: a.b}}\n").find("mcs.nats.stream: at most") !=
          std::string::npos);
    CHECK(fault("mcs: {nats: {url: 'nats://a'}}\n") ==
          "ykd.conf:1:14: mcs.nats.url: has no effect without mcs.transport: nats");
    CHECK(
        fault("mcs: {transport: nats, nats: {url: 'nats://a', fallbackAfter: -1s}}\n").find("mcs.nats.fallbackAfter") !=
        std::string::npos);
}
#else
TEST_CASE("rs R-006 a daemon that was built without NATS says so") {
    CHECK(fault("mcs: {transport: nats, nats: {url: 'nats://a'}}\n") ==
          "ykd.conf:1:7: mcs.transport: this ykd was built without NATS (libnats-dev, YK_WITH_NATS)");
}
#endif

#ifdef YK_WITH_KAFKA
TEST_CASE("rs R-045, rs R-050, C-469 changes may come by Kafka, whose promises are no settings") {
    const EventSettings events = read(R"(mcs:
  transport: kafka
  kafka:
    brokers: a:9092,b:9092
    topicPrefix: prod.
    fallbackAfter: 1m
    properties: {linger.ms: 7, sasl.password: secret}
)")
                                     .mcs.events;
    CHECK(events.transport == EventTransportKind::Kafka);
    CHECK((events.kafka.brokers == "a:9092,b:9092" && events.kafka.prefix == "prod."));
    CHECK(events.kafka.fallback_after == std::chrono::minutes{1});
    CHECK(events.kafka.properties ==
          std::map<std::string, std::string>{{"linger.ms", "7"}, {"sasl.password", "secret"}});
    CHECK(fault("mcs: {transport: kafka}\n") ==
          "ykd.conf:1:7: mcs.kafka.brokers: HOST:PORT is wanted, or several of them with commas in between");
    const auto property = [](const std::string& text) {
        return fault("mcs: {transport: kafka, kafka: {brokers: b, properties: {" + text + "}}}\n");
    };
    CHECK(property("acks: 1") == "ykd.conf:1:45: mcs.kafka.properties.acks: events would be lost with another value; "
                                 "leave it out");
    CHECK(property("bootstrap.servers: x").find("mcs.kafka.properties.bootstrap.servers: it is not to be set here") !=
          std::string::npos);
    CHECK(property("no.such: x").find("mcs.kafka.properties.no.such: ") != std::string::npos);
    CHECK(property("linger.ms: long").find("mcs.kafka.properties.linger.ms: ") != std::string::npos);
    for (const std::string only_producers : {"max.in.flight: 10", "queuing.strategy: lifo"}) // with what is fixed
        CHECK(property(only_producers).find("mcs.kafka.properties." + only_producers.substr(0, 5)) !=
              std::string::npos);
    CHECK(property("security.protocol: ssl, ssl.ca.location: /no/such").find("mcs.kafka.properties: ") !=
          std::string::npos);
    CHECK(fault("mcs: {transport: kafka, kafka: {brokers: b, topicPrefix: 'a b'}}\n").find("mcs.kafka.topicPrefix") !=
          std::string::npos);
    CHECK(fault("mcs: {kafka: {brokers: b}}\n") ==
          "ykd.conf:1:15: mcs.kafka.brokers: has no effect without mcs.transport: kafka");
}
#else
TEST_CASE("rs R-006 a daemon that was built without Kafka says so") {
    CHECK(fault("mcs: {transport: kafka, kafka: {brokers: b}}\n") ==
          "ykd.conf:1:7: mcs.transport: this ykd was built without Kafka (librdkafka-dev, YK_WITH_KAFKA)");
}
#endif

TEST_CASE("C-469 by what way changes come is one of three") {
    CHECK(read("mcs: {transport: embedded}\n").mcs.events.transport == EventTransportKind::Embedded);
    CHECK(fault("mcs: {transport: carrier-pigeon}\n") == "ykd.conf:1:18: mcs.transport is embedded, kafka or nats");
}

TEST_CASE("C-469 sizes are bytes, or have KiB, MiB or GiB") {
    CHECK(*parse_size("0") == 0);
    CHECK(*parse_size("65536") == 65536);
    CHECK(*parse_size("2KiB") == 2048);
    CHECK(*parse_size("1GiB") == std::uint64_t{1} << 30);
    for (const char* bad : {"", "KiB", "1KB", "1 KiB", "-1", "99999999999999999999", "99999999999GiB"}) {
        INFO(bad);
        CHECK_FALSE(parse_size(bad).ok());
    }
}
