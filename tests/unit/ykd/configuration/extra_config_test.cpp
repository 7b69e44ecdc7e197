// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/extra_config.h"

#include <catch2/catch.hpp>

#include "ykd/configuration/extra_config_keys.h"
#include "ykd/configuration/service_keys.h"
#include "ykd/process/log.h"

using namespace yk;
using namespace yk::service;

TEST_CASE("I-022 C-468 keys become settings") {
    const auto derived = derive_settings({{"event.trackingEnabled", "f"},
                                          {"event.ringBufferCapacity", "7"},
                                          {"event.maxStreams", "0"},
                                          {"health.checkInterval", "0"},
                                          {"service.completingTimeout", "50ms"},
                                          {"service.reservationDelay", "0"}},
                                         Settings{});
    CHECK(derived.warnings.empty());
    CHECK_FALSE(derived.core.events_enabled);
    CHECK(derived.service.ring_capacity == 7);
    CHECK(derived.service.max_streams == 0);
    CHECK(derived.service.health_interval == Duration{0});
    CHECK(derived.core.completing_timeout == std::chrono::milliseconds{50});
    CHECK(derived.core.reservation_delay == Duration{0});
    CHECK(derived.core.reservation_timeout == Settings{}.reservation_timeout);
}

TEST_CASE("C-462 the defaults, which a key that is gone and a capacity of 0 return to; streams may really be none") {
    const auto check_defaults = [](const ServiceSettings& service) {
        CHECK(service.events_enabled);
        CHECK(service.request_capacity == 1000);
        CHECK(service.ring_capacity == 100'000);
        CHECK(service.response_size == 10'000);
        CHECK(service.health_interval == std::chrono::seconds{30});
    };
    const auto derived = derive_settings({}, Settings{});
    CHECK(derived.warnings.empty());
    check_defaults(derived.service);
    CHECK(derived.core.events_enabled);
    CHECK(derived.service.max_streams == 100);
    CHECK(derived.service.max_streams_per_host == 15);
    const auto zero = derive_settings({{"event.requestCapacity", "0"},
                                       {"event.ringBufferCapacity", "0"},
                                       {"event.RESTResponseSize", "0"},
                                       {"event.maxStreams", "0"},
                                       {"event.maxStreamsPerHost", "0"}},
                                      Settings{});
    check_defaults(zero.service);
    CHECK(zero.service.max_streams == 0);
    CHECK(zero.service.max_streams_per_host == 0);
    for (const char* none : {"0", "-1s"})
        CHECK(derive_settings({{"health.checkInterval", none}}, Settings{}).service.health_interval <= Duration{0});
    set_log_levels({}, "");
    CHECK(log("any").level() == spdlog::level::info);
}

TEST_CASE("C-461 a bad value is warned of and the default used; zero capacities too") {
    const auto derived = derive_settings({{"event.trackingEnabled", "yes"},
                                          {"event.requestCapacity", "0"},
                                          {"service.completingTimeout", "-1s"},
                                          {"event.ringbufferCapacity", "5"},
                                          {"service.placeholderImage", "x"},
                                          {"admissionController.filtering.bypassNamespaces", "x"}},
                                         Settings{});
    CHECK(derived.warnings.size() == 4);
    CHECK(derived.core.events_enabled);
    CHECK(derived.service.request_capacity == 1000);
    CHECK(derived.service.ring_capacity == 100'000);
    CHECK(derived.core.completing_timeout == Settings{}.completing_timeout);
}

TEST_CASE("A9 what a client can make grow by a setting has a limit") {
    const std::string huge = "18446744073709551615";
    const auto derived = derive_settings({{"event.requestCapacity", huge},
                                          {"event.ringBufferCapacity", "1000001"},
                                          {"event.RESTResponseSize", huge},
                                          {"event.maxStreams", "10001"},
                                          {"event.maxStreamsPerHost", huge}},
                                         Settings{});
    CHECK(derived.warnings.size() == 5);
    CHECK(derived.warnings.at(1) == "event.ringBufferCapacity: 1000001 is too many, 1000000 is used");
    const ServiceSettings& service = derived.service;
    CHECK(service.request_capacity == 1'000'000);
    CHECK(service.ring_capacity == 1'000'000);
    CHECK(service.response_size == 1'000'000);
    CHECK(service.max_streams == 10'000);
    CHECK(service.max_streams_per_host == 10'000);
}

TEST_CASE("I-023 the newest map that has a key decides, an overlay wins, a missing key falls back") {
    ExtraConfig extra({{"a", "file"}, {"b", "file"}});
    extra.set("rm1", {{"a", "one"}, {"c", "one"}});
    extra.set("rm2", {{"a", "two"}});
    CHECK(extra.effective() == TextMap{{"a", "two"}, {"b", "file"}, {"c", "one"}});
    extra.set("rm1", {{"a", "again"}});
    CHECK(extra.effective() == TextMap{{"a", "again"}, {"b", "file"}});
    extra.overlay({{"b", "admin"}});
    extra.forget("rm1");
    CHECK(extra.effective() == TextMap{{"a", "two"}, {"b", "admin"}});
}

TEST_CASE("C-463 levels by name in any case or number") {
    CHECK(parse_level("DEBUG") == spdlog::level::debug);
    CHECK(parse_level("-1") == spdlog::level::debug);
    CHECK(parse_level("-7") == spdlog::level::debug);
    CHECK(parse_level("0") == spdlog::level::info);
    CHECK(parse_level("warn") == spdlog::level::warn);
    CHECK(parse_level("2") == spdlog::level::err);
    CHECK(parse_level("9") == spdlog::level::critical);
    CHECK_FALSE(parse_level("loud"));
    CHECK_FALSE(parse_level(""));
}

TEST_CASE("I-740 the longest match decides, and changes take effect at once") {
    set_log_levels({{"log.level", "error"},
                    {"log.core.level", "info"},
                    {"log.core.config.level", "debug"},
                    {"log.x..y.level", "debug"}},
                   "");
    CHECK(log("other").level() == spdlog::level::err);
    CHECK(log("core.scheduler").level() == spdlog::level::info);
    CHECK(log("core.config").level() == spdlog::level::debug);
    CHECK(log("x..y").level() == spdlog::level::err);
    set_log_levels({}, "fatal");
    CHECK(log("core.config").level() == spdlog::level::critical);
}

TEST_CASE("C-460 C-464 B-04 unknown keys and loggers are warned of with the nearest known one") {
    const auto warnings = [](const std::string& key, const std::string& value) {
        return derive_settings({{key, value}}, Settings{}).warnings;
    };
    CHECK(warnings("event.maxStream", "5") ==
          std::vector<std::string>{"event.maxStream: unknown key, kept and not used; did you mean event.maxStreams?"});
    CHECK(warnings("unrelated", "x") == std::vector<std::string>{"unrelated: unknown key, kept and not used"});
    CHECK(warnings("log.core.schedular.level", "debug") ==
          std::vector<std::string>{
              "log.core.schedular.level: there is no logger core.schedular; did you mean core.scheduler?"});
    CHECK(warnings("log.level", "loud").size() == 1);
    CHECK(warnings("log.core..x.level", "debug").size() == 1);
    CHECK(warnings("log.core.scheduler.ugm.level", "debug").empty());
    CHECK(warnings("queues.yaml", "partitions: []").empty());
    CHECK(warnings("event.ringbufferCapacity", "5") ==
          std::vector<std::string>{"event.ringbufferCapacity: has no effect, the key is event.ringBufferCapacity"});
}

TEST_CASE("C-465 keys of the RM are carried without a word") {
    for (const char* key : {"service.clusterId", "service.dispatchTimeout", "kubernetes.qps",
                            "admissionController.webHook.amServiceName", "service.enableConfigHotRefresh"})
        CHECK(derive_settings({{key, "true"}}, Settings{}).warnings.empty());
}

TEST_CASE("C-466 a change that only a restart brings into force is warned of, key by key") {
    const std::string text = "ignoring non-reloadable configuration change (restart required to update)";
    CHECK(changes_ignored({}, {}).empty());
    CHECK(changes_ignored({{"kubernetes.qps", "5"}}, {{"kubernetes.qps", "5"}}).empty());
    CHECK(changes_ignored({}, {{"kubernetes.qps", "1000"}}).empty()); // the default
    CHECK(changes_ignored({{"log.level", "INFO"}, {"health.checkInterval", "1s"}}, {{"log.level", "WARN"}}).empty());
    CHECK(changes_ignored({{"service.clusterId", "a"}, {"kubernetes.qps", "5"}},
                          {{"service.clusterId", "b"}, {"service.placeholderRunAsUser", "x"}}) ==
          std::vector<std::string>{text + ": kubernetes.qps: 5 -> 1000", text + ": service.clusterId: a -> b",
                                   text + ": service.placeholderRunAsUser: (unset) -> x"});
    const std::string hot = "service.enableConfigHotRefresh";
    CHECK(changes_ignored({}, {{hot, "false"}}).empty());
    CHECK(changes_ignored({{hot, "true"}}, {{hot, "false"}}).empty());
    CHECK(changes_ignored({{hot, "false"}}, {{hot, "true"}}) ==
          std::vector<std::string>{text + ": " + hot + ": false -> true"});
    CHECK(changes_ignored({{hot, "false"}}, {}).size() == 1);
}

TEST_CASE("I-440 what a key's name calls a secret is one") {
    for (const char* key : {"ldap.BindPassword", "x.secret", "api_token", "SMTP_PASSWD", "kubernetes.private-key",
                            "aws.accessKey", "my.credentials"})
        CHECK(is_secret(key));
    for (const char* key : {"log.level", "service.clusterId", "event.maxStreams", "kubernetes.qps", "queues.yaml", ""})
        CHECK_FALSE(is_secret(key));
    CHECK(changes_ignored({{"kubernetes.token", "a"}}, {{"kubernetes.token", "b"}}) ==
          std::vector<std::string>{
              "ignoring non-reloadable configuration change (restart required to update): kubernetes.token"});
}

TEST_CASE("C-466 enableConfigHotRefresh is read") {
    CHECK(derive_settings({}, Settings{}).service.hot_refresh);
    CHECK_FALSE(derive_settings({{"service.enableConfigHotRefresh", "false"}}, Settings{}).service.hot_refresh);
}

TEST_CASE("I-354 who has the last word on a key: SetExtraConfig, then the newest RM, then the settings file") {
    using Source = ExtraConfig::Source;
    ExtraConfig config({{"a", "file"}, {"b", "file"}, {"c", "file"}});
    config.set("rm:1", {{"a", "one"}, {"b", "one"}});
    config.set("rm:2", {{"a", "two"}});
    config.overlay({{"d", "said"}, {"b", "said"}});
    const auto origin = [&config](const std::string& key) {
        const auto found = config.find(key);
        if (!found) return std::string{"-"};
        CHECK(found->text == config.effective().at(key));
        return found->source == Source::File ? std::string{"file"}
               : found->source == Source::Rm ? found->rm_id
                                             : std::string{"overlay"};
    };
    CHECK(origin("a") == "rm:2");
    CHECK(origin("b") == "overlay");
    CHECK(origin("c") == "file");
    CHECK(origin("d") == "overlay");
    CHECK(origin("e") == "-");
    config.set("rm:1", {{"a", "one"}}); // the newest again
    CHECK(origin("a") == "rm:1");
    config.forget("rm:1");
    CHECK(origin("a") == "rm:2");
}

TEST_CASE("I-271 levels of loggers that there are can be kept, and are taken back by an empty text") {
    ExtraConfig config(TextMap{{"log.wire.level", "error"}});
    config.overlay({{"log.wire.level", "debug"},
                    {"log.level", "warn"},
                    {"log.core.config.level", "loud"},
                    {"log.nobody.level", "info"},
                    {"event.maxStreams", "7"}});
    CHECK(config.overlaid_levels() == TextMap{{"log.wire.level", "debug"}, {"log.level", "warn"}});
    config.overlay({{"log.wire.level", ""}, {"event.maxStreams", ""}});
    CHECK(config.overlaid_levels() == TextMap{{"log.level", "warn"}});
    CHECK(config.effective().at("log.wire.level") == "error"); // the settings file decides again
    CHECK(config.effective().at("event.maxStreams").empty());
}

TEST_CASE("C-462 C-468 I-354 each key that ykd reads has a value in force, which the text of a good one changes") {
    const DerivedSettings defaults = derive_settings({}, Settings{});
    for (const std::string_view name : core_key_names()) {
        INFO(name);
        const CoreKey* key = find_core_key(name);
        REQUIRE(key != nullptr);
        if (name == "log.level") continue; // the log knows
        const std::string before = key->value(defaults);
        const std::string text = before == "true" ? "false" : before.back() == 's' ? "7s" : "7";
        const DerivedSettings derived = derive_settings({{std::string{name}, text}}, Settings{});
        CHECK(derived.warnings.empty());
        CHECK(key->value(derived) == text);
    }
    CHECK(find_core_key("service.placeholderTimeout")->value(defaults) == "15m0s");
    CHECK(find_core_key("service.clusterId") == nullptr);
    CHECK(find_rm_key("service.clusterId")->fallback == "mycluster");
    CHECK(find_rm_key("service.none") == nullptr);
}
