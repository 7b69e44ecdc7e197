// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/daemon_settings.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>

#include "libcore/base/check.h"
#include "libcore/base/pluralize.h"
#include "libcore/config/duration.h"
#include "libcore/config/suggest.h"
#include "libcore/config_yaml/scalars.h"
#include "libcore/config_yaml/tree.h"
#include "libcore/resources/resource.h"
#include "protocol/metric_pages/page_url.h"

namespace yk::service {
namespace {

constexpr std::uint64_t kMostBytes = ~std::uint64_t{0} >> 8; // so that sums of sizes do not overflow

using config_yaml::Node;

/// Reads one settings document.
class SettingsReader {
public:
    SettingsReader(DaemonSettings& settings, std::string path) : settings_(settings), path_(std::move(path)) {}

    Result<void, SettingsFaults> read(const Node& root) {
        if (root.kind == Node::Kind::Null) return {};
        if (root.kind != Node::Kind::Mapping) fail(root.mark, "a settings file is a map of keys to values");
        for (const auto& member : root.members) read_key(member);
        for (const KeyFault& each : check_event_settings(settings_.mcs.events, keys()))
            fail(marks_.at(each.key), each.message);
        for (const KeyFault& each : check_database_settings(settings_.mcs.db, keys()))
            fail(marks_.at(each.key), each.message);
        if (!settings_.mcs.db.waits_for_disk && settings_.mcs.events.transport != EventTransportKind::Embedded)
            fail(
                marks_.at("mcs.db.synchronous"),
                "mcs.db.synchronous: normal is for mcs.transport: embedded alone: after a power failure a broker would "
                "take new events for those that were lost");
        check_order("mcs.poll.min", "mcs.poll.max", settings_.mcs.framework.poll);
        check_order("mcs.backoff.base", "mcs.backoff.max", settings_.mcs.framework.reconcile.backoff);
        if (!faults_.all.empty()) return std::move(faults_);
        return {};
    }

private:
    /// Reads the value of one key.
    using Reader = std::function<void(const Node&)>;

    void fail(config::Mark mark, const std::string& message) {
        faults_.all.push_back({0, message, fmt::format("{}:{}:{}", path_, mark.line, mark.column)});
    }

    /// One of both keys may be that of the default.
    void check_order(const std::string& low, const std::string& high, const rs::BackoffRange& range) {
        if (range.base <= range.most) return;
        const auto found = marks_.contains(low) ? marks_.find(low) : marks_.find(high);
        fail(found->second, fmt::format("{} is {} and {} is {}: the first must not be above the second", low,
                                        config::duration_text(range.base), high, config::duration_text(range.most)));
    }

    const std::map<std::string, Reader, std::less<>>& readers() {
        if (readers_.empty()) {
            readers_ = {{"config", [this](const Node& n) { settings_.config_files = texts(n, "config"); }},
                        {"listen", [this](const Node& n) { settings_.listen = list(n, "listen"); }},
                        {"tokens", [this](const Node& n) { settings_.tokens_file = text(n, "tokens"); }},
                        {"record", [this](const Node& n) { settings_.record_directory = text(n, "record"); }},
                        {"stateDir", [this](const Node& n) { settings_.state_directory = text(n, "stateDir"); }},
                        {"tls", [this](const Node& n) { read_tls(n); }},
                        {"peers", [this](const Node& n) { read_peers(n); }},
                        {"rms", [this](const Node& n) { read_rms(n); }},
                        {"extraConfig", [this](const Node& n) { settings_.extra_config = texts(n, "extraConfig"); }}};
            add_limits();
            add_audit();
            add_http();
            add_mcs();
        }
        return readers_;
    }

    void add_limits() {
        add_size(
            "maxMessage", [this](std::uint64_t v) { settings_.max_message = static_cast<std::uint32_t>(v); }, 2U << 20,
            256U << 20);
        add_small("maxConnections", settings_.max_connections, 1'000'000);
        add_small("maxInFlight", settings_.max_in_flight, 4096);
        add_size(
            "maxMemory", [this](std::uint64_t v) { settings_.max_memory = v; }, 64U << 20, kMostBytes);
        add_duration("sendTimeout", settings_.send_timeout);
        add_size(
            "maxReplyBytes", [this](std::uint64_t v) { settings_.max_reply_bytes = v; }, 1U << 20, kMostBytes);
        add_size(
            "maxRequestBytes", [this](std::uint64_t v) { settings_.max_request_bytes = v; }, 1U << 20, kMostBytes);
        add_duration("requestTtl", settings_.request_ttl);
        add_duration("maxPollWait", settings_.max_poll_wait);
        add_count("maxSessions", settings_.max_sessions);
        add_small("maxRMs", settings_.max_rms, 4096);
        add_count("replyMemory", settings_.reply_memory);
        add_count("outboundMaxItems", settings_.outbound.items);
        add_size(
            "outboundMaxBytes", [this](std::uint64_t v) { settings_.outbound.bytes = v; }, 1, kMostBytes);
        add_count("inboundMaxItems", settings_.inbound.elements);
        add_size(
            "inboundMaxBytes", [this](std::uint64_t v) { settings_.inbound.bytes = v; }, 1, kMostBytes);
        add_duration("livenessTimeout", settings_.liveness_timeout);
        add_duration("sessionTtl", settings_.session_ttl);
        add_duration("rmRetention", settings_.rm_retention);
        add_duration("shutdownGrace", settings_.shutdown_grace);
        add_duration("historyInterval", settings_.history_interval);
        add_duration("predicateTimeout", settings_.predicate_timeout);
        add_duration("preemptionTimeout", settings_.preemption_timeout);
        add_small("predicateBatch", settings_.predicate_batch, 1000);
        add_small("maxCalls", settings_.max_calls, 65'536);
        add_duration("recoveryTimeout", settings_.recovery_timeout);
        add_duration("recoveryIdleTimeout", settings_.recovery_idle_timeout);
        add_small("recoveryMaxAttempts", settings_.recovery_max_attempts, 1000);
        add_limit("historySize", settings_.history_size, "history");
        add_limit("rmMaxNodes", settings_.rm_max.nodes, "limit");
        add_limit("rmMaxApplications", settings_.rm_max.applications, "limit");
        add_limit("rmMaxAsks", settings_.rm_max.asks, "limit");
        add_limit("rmMaxQueues", settings_.rm_max.queues, "limit");
        add_size(
            "rmMaxNames", [this](std::uint64_t v) { settings_.rm_max.names = v; }, 0, kMostBytes);
        add_count("rmMaxEnded", settings_.rm_max.ended);
        add_small("rmMaxResourceTypes", settings_.rm_max.resource_types, kMaxResourceTypes);
    }

    /// The section `audit`, by the paths of its keys.
    void add_audit() {
        add_text("audit.file", settings_.audit.file);
        add_size(
            "audit.maxBytes", [this](std::uint64_t v) { settings_.audit.max_bytes = v; }, 64U << 10, 1U << 30);
        add_small("audit.files", settings_.audit.files, 1000);
    }

    /// The section `http`, by the paths of its keys.
    void add_http() {
        add_text("http.listen", settings_.http.address);
        readers_["http.cors"] = [this](const Node& node) { settings_.http.origins = list(node, "http.cors"); };
        add_text("http.webRoot", settings_.http.web_root);
        add_text("http.tls.cert", settings_.http.tls_cert);
        add_text("http.tls.key", settings_.http.tls_key);
        add_small("http.maxConnections", settings_.http.max_connections, 4096);
    }

    /// The section `mcs`, by the paths of its keys.
    void add_mcs() {
        McsSettings& mcs = settings_.mcs;
        add_flag("mcs.enabled", mcs.enabled);
        add_database(mcs.db);
        add_flag("mcs.lease.enabled", mcs.lease_enabled);
        add_events(mcs.events);
        add_duration("mcs.lease.ttl", mcs.lease_ttl, 1);
        add_duration("mcs.log.retention", mcs.log_retention, 1);
        add_count("mcs.log.maxRows", mcs.log_max_rows);
        add_framework(mcs.framework);
        add_duration("mcs.autoscaler.period", mcs.autoscaler_period, 1);
        add_duration("mcs.autoscaler.reconcilePeriod", mcs.autoscaler_reconcile_period, 1);
        readers_["mcs.metrics.allowedHosts"] = [this](const Node& node) { read_allowed_hosts(node); };
        readers_["mcs.rmID"] = [this](const Node& node) {
            settings_.mcs.rm_id = text(node, "mcs.rmID");
            if (settings_.mcs.rm_id.empty() || settings_.mcs.rm_id.find_first_of("[]") != std::string::npos)
                fail(node.mark, "mcs.rmID is not empty, and holds neither [ nor ]");
        };
        add_duration("mcs.scheduler.reconcilePeriod", mcs.scheduler_reconcile_period, 1);
        add_small("mcs.schedule.maxUnwritten", mcs.max_unwritten, 10'000'000);
        readers_["mcs.deleteMode"] = [this](const Node& node) {
            const auto mode = mcs::find_delete_mode(text(node, "mcs.deleteMode"));
            if (!mode) return fail(node.mark, "mcs.deleteMode is cascade, owners or orphan");
            settings_.mcs.delete_mode = *mode;
        };
        add_local_work(mcs.local);
        add_small("mcs.maxDeployments", mcs.max_deployments, 10'000'000);
        add_small("mcs.maxReplicas", mcs.max_replicas, 1'000'000);
        add_size(
            "mcs.maxDeploymentSize", [this](std::uint64_t v) { settings_.mcs.max_deployment_size = v; }, 1024,
            256U << 10);
    }
    void add_local_work(LocalWorkSettings& local) {
        add_flag("mcs.local.enabled", local.enabled);
        readers_["mcs.local.users"] = [this, &local](const Node& node) { local.users = list(node, "mcs.local.users"); };
        readers_["mcs.local.queues"] = [this, &local](const Node& node) {
            local.queues = list(node, "mcs.local.queues");
            for (const std::string& each : local.queues)
                if (each != "root" && each.rfind("root.", 0) != 0)
                    fail(node.mark,
                         fmt::format("mcs.local.queues: '{}' is no path of a queue, such as root.web", each));
        };
        readers_["mcs.local.runAs"] = [this, &local](const Node& node) {
            local.run_as = text(node, "mcs.local.runAs");
            if (local.run_as == "root")
                fail(node.mark, "mcs.local.runAs: commands never run as root; name another account");
        };
        add_small("mcs.local.maxCommands", local.max_commands, 100'000);
        add_duration("mcs.local.grace", local.grace);
    }
    void read_allowed_hosts(const Node& node) {
        constexpr std::size_t kMost = 256;
        auto hosts = list(node, "mcs.metrics.allowedHosts");
        if (hosts.size() > kMost)
            return fail(node.mark, fmt::format("mcs.metrics.allowedHosts: at most {} are wanted", kMost));
        for (const std::string& host : hosts)
            if (const auto parsed = pages::parse_allowed_host(host); !parsed.ok())
                return fail(node.mark, fmt::format("mcs.metrics.allowedHosts: {}: {}", host, parsed.error().message));
        settings_.mcs.metrics_allowed_hosts = std::move(hosts);
    }
    void add_events(EventSettings& events) {
        readers_["mcs.transport"] = [this](const Node& node) {
            const auto transport = find_transport(text(node, "mcs.transport"));
            if (!transport) return fail(node.mark, "mcs.transport is embedded, kafka or nats");
            settings_.mcs.events.transport = *transport;
        };
        add_text("mcs.kafka.brokers", events.kafka.brokers);
        add_text("mcs.kafka.topicPrefix", events.kafka.prefix);
        readers_["mcs.kafka.properties"] = [this](const Node& node) {
            settings_.mcs.events.kafka.properties = texts(node, "mcs.kafka.properties");
        };
        readers_["mcs.kafka.assignment"] = [this](const Node& node) {
            if (text(node, "mcs.kafka.assignment") != "all")
                fail(node.mark,
                     "mcs.kafka.assignment is all: the daemon that leads has all nodes, and needs all events");
        };
        add_pause("mcs.kafka.fallbackAfter", events.kafka.fallback_after);
        add_text("mcs.nats.url", events.nats.url);
        add_text("mcs.nats.stream", events.nats.stream);
        add_flag("mcs.nats.create", events.nats.create);
        add_pause("mcs.nats.fallbackAfter", events.nats.fallback_after);
    }
    /// The keys that the file has.
    [[nodiscard]] std::vector<std::string> keys() const {
        std::vector<std::string> keys;
        for (const auto& [key, mark] : marks_) keys.push_back(key);
        return keys;
    }
    void add_database(DatabaseSettings& database) {
        readers_["mcs.db.url"] = [this, &database](const Node& node) {
            const std::string url = text(node, "mcs.db.url");
            if (!is_postgres(url) && sqlite_path(url, "/").empty())
                return fail(node.mark, "mcs.db.url: sqlite:PATH or postgresql://HOST/DATABASE is wanted");
            database.url = url;
        };
        readers_["mcs.db.synchronous"] = [this, &database](const Node& node) {
            const std::string word = text(node, "mcs.db.synchronous");
            if (word != "full" && word != "normal") return fail(node.mark, "mcs.db.synchronous is full or normal");
            database.waits_for_disk = word == "full";
        };
        add_between("mcs.db.busyTimeout", database.busy_timeout, std::chrono::milliseconds{100},
                    std::chrono::seconds{10});
        add_between("mcs.db.statementTimeout", database.statement_timeout, std::chrono::milliseconds{100},
                    std::chrono::seconds{10});
        add_flag("mcs.pg.notify", database.notifies);
    }
    void add_framework(rs::Settings& framework) {
        using std::chrono::hours;
        using std::chrono::milliseconds;
        using std::chrono::seconds;
        add_between("mcs.poll.min", framework.poll.base, milliseconds{1}, seconds{10});
        add_between("mcs.poll.max", framework.poll.most, milliseconds{1}, seconds{10});
        add_between("mcs.start.timeout", framework.start.timeout, seconds{1}, hours{24});
        add_flag("mcs.start.initialAdd", framework.start.initial_add);
        add_small("mcs.reconcile.batch", framework.reconcile.batch, 10'000);
        add_flag("mcs.reconcile.skipKnown", framework.reconcile.skip_known);
        add_between("mcs.backoff.base", framework.reconcile.backoff.base, milliseconds{1}, hours{1});
        add_between("mcs.backoff.max", framework.reconcile.backoff.most, milliseconds{1}, hours{1});
        add_between("mcs.handlers.deadline", framework.handlers.deadline, milliseconds{1}, hours{1});
        add_small("mcs.handlers.deadLetterAfter", framework.handlers.dead_letter_after, 10'000);
        add_pause("mcs.resync.period", framework.resync.period, std::chrono::seconds{1});
        add_fraction("mcs.resync.jitter", framework.resync.jitter_permille);
        add_small("mcs.resync.page", framework.resync.page, 100'000);
        add_small("mcs.resync.rowsPerSecond", framework.resync.rows_per_second, 100'000'000);
    }

    void add_flag(const std::string& key, bool& to) {
        readers_[key] = [this, key, &to](const Node& node) {
            const auto value = config_yaml::to_bool(node);
            if (!value) return fail(node.mark, key + ": true or false is wanted");
            to = *value;
        };
    }
    void add_text(const std::string& key, std::string& to) {
        readers_[key] = [this, key, &to](const Node& node) { to = text(node, key); };
    }
    /// A duration, of which 0 means never, and anything else is at least `least`.
    void add_pause(const std::string& key, Duration& to, Duration least = {}) {
        readers_[key] = [this, key, &to, least](const Node& node) {
            if (node.kind != Node::Kind::Scalar) return fail_no_text(node, key);
            const auto parsed = config::parse_duration(node.scalar);
            if (!parsed.ok()) return fail(node.mark, key + ": " + parsed.error().message);
            if (*parsed < Duration{0}) return fail(node.mark, key + ": must not be below 0");
            if (*parsed > Duration{0} && *parsed < least)
                return fail(node.mark,
                            fmt::format("{}: must be 0s, or at least {}", key, config::duration_text(least)));
            to = *parsed;
        };
    }
    void add_between(const std::string& key, Duration& to, std::chrono::milliseconds least,
                     std::chrono::milliseconds most) {
        readers_[key] = [this, key, &to, least, most](const Node& node) {
            if (node.kind != Node::Kind::Scalar) return fail_no_text(node, key);
            const auto parsed = config::parse_duration(node.scalar);
            if (!parsed.ok()) return fail(node.mark, key + ": " + parsed.error().message);
            if (*parsed < least || *parsed > most)
                return fail(node.mark, fmt::format("{}: must be from {} to {}", key, config::duration_text(least),
                                                   config::duration_text(most)));
            to = *parsed;
        };
    }
    /// A part of 1, in thousandths.
    void add_fraction(const std::string& key, unsigned& to) {
        readers_[key] = [this, key, &to](const Node& node) {
            const std::string number = text(node, key);
            double value = -1;
            const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), value);
            if (fault != std::errc{} || end != number.data() + number.size() || !(value >= 0 && value <= 1))
                return fail(node.mark, key + ": a number from 0 to 1 is wanted, such as 0.1");
            to = static_cast<unsigned>(std::lround(value * 1000));
        };
    }
    /// `least`: in seconds; 0: anything above 0.
    void add_duration(const std::string& key, Duration& to, int least = 0) {
        readers_[key] = [this, key, &to, least](const Node& node) {
            if (node.kind != Node::Kind::Scalar) return fail_no_text(node, key);
            const auto parsed = config::parse_duration(node.scalar);
            if (!parsed.ok()) return fail(node.mark, key + ": " + parsed.error().message);
            if (*parsed <= Duration{0}) return fail(node.mark, key + ": must be above 0");
            if (*parsed < std::chrono::seconds{least})
                return fail(node.mark, fmt::format("{}: must be at least {}s", key, least));
            to = *parsed;
        };
    }
    void add_count(const std::string& key, std::uint64_t& to) {
        readers_[key] = [this, key, &to](const Node& node) {
            const auto value = config_yaml::to_unsigned(node);
            if (!value || *value == 0) return fail(node.mark, key + ": a whole number above 0 is wanted");
            to = *value;
        };
    }
    void add_limit(const std::string& key, std::uint64_t& to, const char* zero) {
        readers_[key] = [this, key, &to, zero](const Node& node) {
            const auto value = config_yaml::to_unsigned(node);
            if (!value) return fail(node.mark, fmt::format("{}: a whole number is wanted, 0 for no {}", key, zero));
            to = *value;
        };
    }
    template <class Number>
    void add_small(const std::string& key, Number& to, std::uint64_t most) {
        readers_[key] = [this, key, &to, most](const Node& node) {
            const auto value = config_yaml::to_unsigned(node);
            if (!value || *value == 0 || *value > most)
                return fail(node.mark, fmt::format("{}: a whole number from 1 to {} is wanted", key, most));
            to = static_cast<Number>(*value);
        };
    }
    void add_size(const std::string& key, std::function<void(std::uint64_t)> set, std::uint64_t least,
                  std::uint64_t most) {
        readers_[key] = [this, key, set = std::move(set), least, most](const Node& node) {
            if (node.kind != Node::Kind::Scalar) return fail_no_text(node, key);
            const auto parsed = parse_size(node.scalar);
            if (!parsed.ok()) return fail(node.mark, key + ": " + parsed.error().message);
            if (*parsed < least || *parsed > most)
                return fail(node.mark, fmt::format("{}: must be between {} and {} bytes", key, least, most));
            set(*parsed);
        };
    }

    /// `section`: the path of the mapping that the key is in, with a dot at its end; empty: the whole file.
    void read_key(const config_yaml::Member& member, const std::string& section = {}) {
        const std::string path = section + member.key;
        const auto found = readers().lower_bound(path);
        if (found != readers().end() && found->first == path) {
            marks_.emplace(path, member.mark);
            return found->second(*member.value);
        }
        if (found != readers().end() && found->first.rfind(path + ".", 0) == 0)
            return read_section(*member.value, path);
        std::vector<std::string_view> known;
        for (const auto& [key, reader] : readers()) known.push_back(key);
        const std::string near = config::nearest(path, known);
        fail(member.mark, fmt::format("unknown key \"{}\"{}", path,
                                      near.empty() ? std::string{} : fmt::format(", did you mean \"{}\"?", near)));
    }
    void read_section(const Node& node, const std::string& path) {
        if (node.kind == Node::Kind::Null) return;
        if (node.kind != Node::Kind::Mapping) return fail(node.mark, path + ": a map of keys to values is wanted");
        for (const auto& member : node.members) read_key(member, path + ".");
    }

    std::string text(const Node& node, std::string_view key) {
        if (node.kind == Node::Kind::Scalar) return node.scalar;
        fail_no_text(node, key);
        return {};
    }
    void fail_no_text(const Node& node, std::string_view key) {
        fail(node.mark, fmt::format("{}: a text is wanted", key));
    }
    std::vector<std::string> list(const Node& node, std::string_view key) {
        std::vector<std::string> values;
        if (node.kind == Node::Kind::Scalar) return {node.scalar};
        if (node.kind != Node::Kind::Sequence) fail(node.mark, fmt::format("{}: a list of texts is wanted", key));
        for (const auto& item : node.items) values.push_back(text(*item, key));
        return values;
    }
    std::map<std::string, std::string> texts(const Node& node, std::string_view key) {
        std::map<std::string, std::string> values;
        if (node.kind != Node::Kind::Mapping) fail(node.mark, fmt::format("{}: a map of texts is wanted", key));
        for (const auto& member : node.members) values[member.key] = text(*member.value, key);
        return values;
    }

    void read_tls(const Node& node) {
        for (auto& [key, value] : texts(node, "tls")) {
            if (key == "cert") {
                settings_.tls_cert = value;
            } else if (key == "key") {
                settings_.tls_key = value;
            } else if (key == "clientCA") {
                settings_.tls_client_ca = value;
            } else {
                fail(node.mark, fmt::format("tls: unknown key \"{}\" (known: cert, key, clientCA)", key));
            }
        }
    }

    void read_peers(const Node& node) {
        settings_.peers.clear();
        if (node.kind != Node::Kind::Sequence) return fail(node.mark, "peers: a list is wanted");
        for (const auto& item : node.items) {
            if (item->kind != Node::Kind::Mapping) return fail(item->mark, "peers: each entry is a map");
            PeerRule rule;
            for (const auto& member : item->members) read_peer_key(member, rule);
            if (rule.uid.has_value() == rule.gid.has_value())
                fail(item->mark, "peers: an entry names either a uid or a gid");
            if (rule.role == si::Role::Admin && rule.rms != kEveryRm)
                fail(item->mark,
                     fmt::format("peers: an admin may do everything: leave rms out, or use role rm for \"{}\"",
                                 rule.rms));
            settings_.peers.push_back(std::move(rule));
        }
    }
    void read_peer_key(const config_yaml::Member& member, PeerRule& rule) {
        const Node& value = *member.value;
        if (member.key == "uid" || member.key == "gid") {
            const auto number = config_yaml::to_unsigned(value);
            if (!number || *number > 0xfffffffeU) return fail(value.mark, "peers: " + member.key + " is a number");
            if (member.key == "uid") rule.uid = static_cast<uid_t>(*number);
            if (member.key == "gid") rule.gid = static_cast<gid_t>(*number);
        } else if (member.key == "role") {
            const auto role = si::find_role(text(value, "peers"));
            if (!role) return fail(value.mark, "peers: role is observer, rm or admin");
            rule.role = *role;
        } else if (member.key == "rms") {
            rule.rms = text(value, "peers");
        } else {
            fail(member.mark, fmt::format("peers: unknown key \"{}\" (known: uid, gid, role, rms)", member.key));
        }
    }

    void read_rms(const Node& node) {
        if (node.kind != Node::Kind::Sequence) return fail(node.mark, "rms: a list is wanted");
        for (const auto& item : node.items) {
            std::string id;
            bool required = false;
            for (const auto& member : item->members) {
                if (member.key == "rmID") {
                    id = text(*member.value, "rms");
                } else if (member.key == "requireRecovery") {
                    const auto value = config_yaml::to_bool(*member.value);
                    if (!value) return fail(member.mark, "rms: requireRecovery is true or false");
                    required = *value;
                } else {
                    return fail(member.mark,
                                fmt::format("rms: unknown key \"{}\" (known: rmID, requireRecovery)", member.key));
                }
            }
            if (id.empty()) return fail(item->mark, "rms: each entry is a map with rmID");
            settings_.known_rms.insert(id);
            if (required) settings_.require_recovery.insert(id);
        }
    }

    DaemonSettings& settings_;
    std::string path_;
    std::map<std::string, Reader, std::less<>> readers_;
    std::map<std::string, config::Mark, std::less<>> marks_; // of the keys that were there
    SettingsFaults faults_;
};

} // namespace

std::string audit_file(const DaemonSettings& settings) {
    if (settings.audit.file == "none") return {};
    if (!settings.audit.file.empty()) return settings.audit.file;
    return settings.state_directory.empty() ? std::string{} : settings.state_directory + "/audit.jsonl";
}

Result<std::uint64_t> parse_size(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const unsigned shift = unit == "KiB" ? 10 : unit == "MiB" ? 20 : unit == "GiB" ? 30 : 0;
    if (fault != std::errc{} || (shift == 0 && !unit.empty()))
        return Error::of(fmt::format("'{}' is no size; right would be 65536 or 16MiB (KiB, MiB, GiB)", text));
    if (value > (~std::uint64_t{0} >> shift)) return Error::of(fmt::format("'{}' is too large", text));
    return value << shift;
}

std::string SettingsFaults::text() const {
    YK_ASSUME(!all.empty(), "there is a fault");
    const std::size_t others = all.size() - 1;
    if (others == 0) return all.front().text();
    return fmt::format("{} (and {})", all.front().text(), pluralize(others, "more problem"));
}

Result<void, SettingsFaults> parse_settings(std::string_view text, const std::string& path, DaemonSettings& settings) {
    config::Report report;
    const auto root = config_yaml::parse_tree(text, report);
    SettingsFaults faults;
    for (const auto& problem : report.take())
        if (problem.severity == config::Severity::Error)
            faults.all.push_back(
                {0, problem.message, fmt::format("{}:{}:{}", path, problem.mark.line, problem.mark.column)});
    if (!faults.all.empty()) return faults;
    settings.settings_file = path;
    if (!root) return {};
    return SettingsReader(settings, path).read(*root);
}

Result<void, SettingsFaults> read_settings(const std::string& path, DaemonSettings& settings) {
    const auto unreadable = [](std::string message) { return SettingsFaults{{Error::of(std::move(message))}}; };
    std::ifstream file(path, std::ios::binary);
    if (!file) return unreadable(fmt::format("cannot read the settings file {}: {}", path, std::strerror(errno)));
    std::ostringstream text;
    text << file.rdbuf();
    if (!file && text.tellp() != 0) return unreadable(fmt::format("cannot read the settings file {}", path));
    return parse_settings(text.str(), path, settings);
}

} // namespace yk::service
