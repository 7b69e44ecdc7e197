// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/codec.h"

#include <catch2/catch.hpp>

#include "tests/unit/protocol/wire/bytes.h"

using namespace yk;
using namespace yk::test;

namespace {

template <class T>
wire::WireResult<T> decode(const std::string& bytes, wire::DecodeOptions options = {}) {
    const auto body = wire::scan_body(bytes);
    REQUIRE(body.ok());
    return wire::decode<T>(*body, options);
}
template <class T>
T decoded(std::string_view json) {
    auto message = decode<T>(packed(json));
    if (!message) FAIL(message.error().path << ": " << message.error().message);
    return std::move(message).value();
}
/// `E_TYPE asks[3].priority`, or `ok`.
template <class T>
std::string verdict(const std::string& bytes, wire::DecodeOptions options = {}) {
    const auto message = decode<T>(bytes, options);
    if (message) return "ok";
    CHECK_FALSE(message.error().message.empty());
    return std::string{si::name(message.error().code)} + " " + message.error().path;
}
template <class T>
std::string verdict_of(std::string_view json) {
    return verdict<T>(packed(json));
}
template <class T>
void check_round_trip(const T& message) {
    const std::string bytes = wire::encoded(message);
    const auto back = decode<T>(bytes);
    REQUIRE(back.ok());
    CHECK(back.value() == message);
    CHECK(wire::encoded(back.value()) == bytes);
}

std::string ask(std::string_view pairs) {
    return R"({"rmID":"rm","asks":[{"allocationKey":"k","applicationID":"a",)" + std::string{pairs} + "}]}";
}
std::string node(std::string_view pairs) {
    return R"({"rmID":"rm","nodes":[{"nodeID":"n","action":1,)" + std::string{pairs} + "}]}";
}
std::string application(std::string_view pairs) {
    return R"({"rmID":"rm","new":[{"applicationID":"a",)" + std::string{pairs} + "}]}";
}

} // namespace

TEST_CASE("1.4 an ask with everything") {
    const auto request = decoded<si::AllocationRequest>(ask(
        R"("partitionName":"p","resourceAsk":{"memory":-5,"vcore":9223372036854775807},"maxAllocations":3,"priority":-7,
           "executionTimeoutMilliSeconds":-1,"tags":{"x":"1","y":""},"taskGroupName":"tg","placeholder":true,
           "originator":true,"preemptionPolicy":{"allowPreemptSelf":true},"nodeID":"n")"));
    REQUIRE(request.asks.size() == 1);
    const si::AllocationAsk& a = request.asks[0];
    CHECK(request.rm_id == "rm");
    CHECK(a.allocation_key == "k");
    CHECK(a.application_id == "a");
    CHECK(a.partition_name == "p");
    CHECK(a.resource_ask == si::Resources{{"memory", -5}, {"vcore", 9223372036854775807}});
    CHECK(a.max_allocations == 3);
    CHECK(a.priority == -7);
    CHECK(a.execution_timeout_milli_seconds == -1);
    CHECK(a.tags == si::StringMap{{"x", "1"}, {"y", ""}});
    CHECK(a.task_group_name == "tg");
    CHECK(a.placeholder);
    CHECK(a.originator);
    CHECK(a.preemption_policy == si::PreemptionPolicy{true, false});
    CHECK(a.node_id == "n");
}

TEST_CASE("I-002 I-313 absent, nil and empty: nil is absent, an empty resource map is not") {
    CHECK_FALSE(decoded<si::AllocationRequest>(ask(R"("x":1)")).asks[0].resource_ask);
    CHECK_FALSE(decoded<si::AllocationRequest>(ask(R"("resourceAsk":null)")).asks[0].resource_ask);
    CHECK(decoded<si::AllocationRequest>(ask(R"("resourceAsk":{})")).asks[0].resource_ask == si::Resources{});
    CHECK(decoded<si::AllocationRequest>(ask(R"("resourceAsk":{"a":null,"b":0})")).asks[0].resource_ask ==
          si::Resources{{"b", 0}});
    CHECK(decoded<si::AllocationRequest>(ask(R"("tags":{"a":null},"priority":null)")).asks[0].tags.empty());
    const auto update = decoded<si::UpdateConfigurationRequest>(R"({"rmID":"rm","config":"","extraConfig":{}})");
    CHECK(update.config == "");
    CHECK(update.extra_config == si::StringMap{});
    CHECK_FALSE(decoded<si::UpdateConfigurationRequest>(R"({"rmID":"rm"})").config);
    CHECK_FALSE(decoded<si::NodeRequest>(node(R"("attributes":null)")).nodes[0].attributes);
    CHECK(decoded<si::NodeRequest>(node(R"("attributes":{})")).nodes[0].attributes == si::StringMap{});
}

TEST_CASE("I-009 I-115 nil elements are skipped, nil lists are empty, and indices count as sent") {
    const auto request = decoded<si::AllocationRequest>(
        R"({"rmID":"rm","asks":[null,{"allocationKey":"k","applicationID":"a"},null],"allocations":null,"releases":null})");
    CHECK(request.asks.size() == 1);
    CHECK(request.allocations.empty());
    CHECK(verdict_of<si::AllocationRequest>(R"({"rmID":"rm","asks":[null,null,{"allocationKey":5}]})") ==
          "E_TYPE asks[2].allocationKey");
    CHECK(decoded<si::ApplicationRequest>(application(R"("ugi":{"user":"u","groups":["g",null,"h"]})"))
              .add[0]
              .ugi.groups == std::vector<std::string>{"g", "h"});
}

TEST_CASE("I-007 an unknown enum value is value 0, another type is not") {
    const auto action = [](std::string_view value) {
        const std::string json = R"({"rmID":"rm","nodes":[{"nodeID":"n","action":)" + std::string{value} + "}]}";
        return decoded<si::NodeRequest>(json).nodes[0].action;
    };
    CHECK(action("6") == si::NodeAction::CreateDrain);
    CHECK(action("7") == si::NodeAction::Unset);
    CHECK(action("-1") == si::NodeAction::Unset);
    CHECK(action("18446744073709551615") == si::NodeAction::Unset);
    CHECK(action("257") == si::NodeAction::Unset);
    CHECK(verdict_of<si::NodeRequest>(R"({"rmID":"rm","nodes":[{"nodeID":"n","action":"CREATE"}]})") ==
          "E_TYPE nodes[0].action");
    CHECK(verdict_of<si::NodeRequest>(R"({"rmID":"rm","nodes":[{"nodeID":"n"}]})") ==
          "E_MISSING_FIELD nodes[0].action");
    CHECK(
        decoded<si::AllocationRequest>(R"({"rmID":"rm","releases":{"allocationsToRelease":[{"terminationType":99}]}})")
            .releases.allocations_to_release[0]
            .termination_type == si::TerminationType::Unknown);
}

TEST_CASE("I-110 I-113 I-317 required fields that are absent, nil or empty") {
    CHECK(verdict_of<si::AllocationRequest>("{}") == "E_MISSING_FIELD rmID");
    CHECK(verdict_of<si::AllocationRequest>(R"({"rmID":""})") == "E_MISSING_FIELD rmID");
    CHECK(verdict_of<si::AllocationRequest>(R"({"rmID":null})") == "E_MISSING_FIELD rmID");
    CHECK(verdict_of<si::AllocationRequest>(R"({"rmID":"rm"})") == "ok");
    CHECK(verdict_of<si::AllocationRequest>(R"({"rmID":"rm","asks":[{"applicationID":"a"}]})") ==
          "E_MISSING_FIELD asks[0].allocationKey");
    CHECK(verdict_of<si::AllocationRequest>(R"({"rmID":"rm","asks":[{"allocationKey":"k"}]})") ==
          "E_MISSING_FIELD asks[0].applicationID");
    CHECK(verdict_of<si::AllocationRequest>(
              R"({"rmID":"rm","releases":{"allocationAsksToRelease":[{"applicationID":"a"}]}})") ==
          "E_MISSING_FIELD releases.allocationAsksToRelease[0].partitionName");
    CHECK(verdict_of<si::AllocationRequest>(R"({"rmID":"rm","releases":{"allocationsToRelease":[{}]}})") == "ok");
    CHECK(verdict_of<si::ApplicationRequest>(R"({"rmID":"rm","new":[{}]})") == "E_MISSING_FIELD new[0].applicationID");
    CHECK(verdict_of<si::ApplicationRequest>(R"({"rmID":"rm","remove":[{}]})") ==
          "E_MISSING_FIELD remove[0].applicationID");
    CHECK(verdict_of<si::NodeRequest>(R"({"rmID":"rm","nodes":[{"action":1}]})") == "E_MISSING_FIELD nodes[0].nodeID");
    CHECK(verdict_of<si::RegisterResourceManagerRequest>(R"({"rmID":"rm","recovery":{}})") ==
          "E_MISSING_FIELD recovery.id");
    CHECK(verdict_of<si::PollRequest>("{}") == "E_MISSING_FIELD rmID");
    CHECK(verdict_of<si::HelloRequest>(R"({"min":1,"max":1,"role":"rm"})") == "E_MISSING_FIELD client");
    CHECK(verdict_of<si::HelloRequest>(R"({"min":1,"max":1,"client":"c","role":""})") == "E_MISSING_FIELD role");
    CHECK(verdict_of<si::HelloRequest>(R"({"client":"c","role":"rm"})") == "ok"); // integers have their empty value
    CHECK(verdict_of<si::CallResultRequest>("{}") == "E_MISSING_FIELD rmID");
    CHECK(verdict_of<si::SyncRequest>("{}") == "E_MISSING_FIELD rmID");
    CHECK(verdict_of<si::StreamLogRequest>("{}") == "E_MISSING_FIELD rmID");
    CHECK(verdict_of<si::UpdateConfigurationRequest>("{}") == "E_MISSING_FIELD rmID");
    CHECK(verdict_of<si::UnregisterResourceManagerRequest>("{}") == "E_MISSING_FIELD rmID");
    CHECK(verdict_of<si::ValidateConfigurationRequest>("{}") == "E_MISSING_FIELD config");
    // empty is the built-in default (I-058)
    CHECK(verdict_of<si::ValidateConfigurationRequest>(R"({"config":""})") == "ok");
    CHECK(verdict_of<si::SetExtraConfigRequest>("{}") == "E_MISSING_FIELD extraConfig");
    CHECK(verdict_of<si::DumpRequest>("{}") == "E_MISSING_FIELD what");
}

TEST_CASE("I-061 an allocation needs its application, unless it is foreign") {
    const auto allocation = [](std::string_view pairs) {
        return verdict_of<si::AllocationRequest>(R"({"rmID":"rm","allocations":[{"allocationKey":"k")" +
                                                 std::string{pairs} + "}]}");
    };
    CHECK(allocation("") == "E_MISSING_FIELD allocations[0].applicationID");
    CHECK(allocation(R"(,"applicationID":"")") == "E_MISSING_FIELD allocations[0].applicationID");
    CHECK(allocation(R"(,"allocationTags":{"other":"x"})") == "E_MISSING_FIELD allocations[0].applicationID");
    CHECK(allocation(R"(,"allocationTags":{"foreign":"static"})") == "ok");
    CHECK(allocation(R"(,"allocationTags":{"foreign":"x"},"applicationID":"a")") == "ok");
    CHECK(verdict_of<si::NodeRequest>(node(R"("existingAllocations":[{"allocationKey":"k"}])")) ==
          "E_MISSING_FIELD nodes[0].existingAllocations[0].applicationID");
}

TEST_CASE("I-061 a foreign allocation belongs to no application, whatever it names") {
    si::AllocationRequest request;
    request.rm_id = "rm";
    request.allocations.resize(2);
    for (auto& each : request.allocations) {
        each.allocation_key = "k";
        each.application_id = "app";
    }
    request.allocations[1].allocation_tags = {{"foreign", "default"}};
    const std::string bytes = wire::encoded(request);
    const auto decoded = wire::decode<si::AllocationRequest>(*wire::scan_body(bytes));
    REQUIRE(decoded.ok());
    CHECK(decoded->allocations[0].application_id == "app");
    CHECK(decoded->allocations[1].application_id.empty());
}

TEST_CASE("I-314 I-317 every field of a wrong type is E_TYPE with its path") {
    struct Wrong {
        const char* field;
        const char* type;
    };
    const auto values = std::vector<std::pair<std::string, std::string>>{
        {"text", R"("x")"}, {"integer", "5"}, {"boolean", "true"}, {"float", "1.5"}, {"list", "[]"}, {"map", "{}"}};
    const auto check = [&values](const std::vector<Wrong>& fields, auto make, const std::string& prefix, auto decoder) {
        for (const Wrong& w : fields) {
            for (const auto& [type, json] : values) {
                if (type == w.type) continue;
                INFO(w.field << " as " << type);
                CHECK(decoder(make("\"" + std::string{w.field} + "\":" + json)) == "E_TYPE " + prefix + w.field);
            }
        }
    };
    check({{"partitionName", "text"},
           {"resourceAsk", "map"},
           {"maxAllocations", "integer"},
           {"priority", "integer"},
           {"executionTimeoutMilliSeconds", "integer"},
           {"tags", "map"},
           {"taskGroupName", "text"},
           {"placeholder", "boolean"},
           {"originator", "boolean"},
           {"preemptionPolicy", "map"},
           {"nodeID", "text"}},
          ask, "asks[0].", verdict_of<si::AllocationRequest>);
    check({{"attributes", "map"},
           {"schedulableResource", "map"},
           {"occupiedResource", "map"},
           {"existingAllocations", "list"},
           {"recovery", "map"}},
          node, "nodes[0].", verdict_of<si::NodeRequest>);
    check({{"queueName", "text"},
           {"partitionName", "text"},
           {"ugi", "map"},
           {"tags", "map"},
           {"executionTimeoutMilliSeconds", "integer"},
           {"placeholderAsk", "map"},
           {"gangSchedulingStyle", "text"}},
          application, "new[0].", verdict_of<si::ApplicationRequest>);
    const auto bare = [](const std::string& pair) { return R"({"rmID":"rm",)" + pair + "}"; };
    check({{"asks", "list"}, {"allocations", "list"}, {"releases", "map"}, {"impersonate", "boolean"}}, bare, "",
          verdict_of<si::AllocationRequest>);
    check({{"version", "text"},
           {"policyGroup", "text"},
           {"buildInfo", "map"},
           {"config", "text"},
           {"extraConfig", "map"},
           {"recovery", "map"},
           {"capabilities", "list"},
           {"detached", "map"}},
          bare, "", verdict_of<si::RegisterResourceManagerRequest>);
    check({{"streamEpoch", "integer"},
           {"ack", "integer"},
           {"maxItems", "integer"},
           {"maxBytes", "integer"},
           {"waitMs", "integer"}},
          bare, "", verdict_of<si::PollRequest>);
    check({{"call", "integer"}, {"ok", "boolean"}, {"error", "text"}, {"result", "map"}}, bare, "",
          verdict_of<si::CallResultRequest>);
    check({{"position", "integer"}}, bare, "", verdict_of<si::SyncRequest>);
    check({{"after", "integer"}, {"count", "integer"}}, bare, "", verdict_of<si::StreamLogRequest>);
    const auto dump_with = [](const std::string& field) { return R"({"what":"apps",)" + field + "}"; };
    const auto alone = [](const std::string& field) { return "{" + field + "}"; };
    check({{"names", "list"}, {"objects", "integer"}, {"brief", "boolean"}, {"state", "text"}}, dump_with, "",
          verdict_of<si::DumpRequest>);
    check({{"filter", "map"}, {"count", "integer"}}, alone, "", verdict_of<si::EventsRequest>);
}

TEST_CASE("I-317 paths name list elements and map entries") {
    CHECK(verdict_of<si::NodeRequest>(node(R"("schedulableResource":{"memory":1,"vcore":"2"})")) ==
          "E_TYPE nodes[0].schedulableResource.vcore");
    CHECK(verdict_of<si::AllocationRequest>(ask(R"("tags":{"a":"b","c":4})")) == "E_TYPE asks[0].tags.c");
    CHECK(verdict_of<si::ApplicationRequest>(application(R"("ugi":{"groups":["a","b",3]})")) ==
          "E_TYPE new[0].ugi.groups[2]");
    CHECK(verdict_of<si::AllocationRequest>(R"({"rmID":"rm","asks":[5]})") == "E_TYPE asks[0]");
    CHECK(verdict_of<si::NodeRequest>(node(R"("recovery":{"allocations":-1})")) ==
          "E_TYPE nodes[0].recovery.allocations");
    CHECK(verdict_of<si::HelloRequest>(R"({"client":"c","role":"rm","resume":{"sid":"text"}})") == "E_TYPE resume.sid");
}

TEST_CASE("I-314 integers fit their field in any format, or are E_TYPE") {
    const auto priority = [](const char* bytes) {
        return verdict<si::AllocationRequest>(map_of(2) + text_of("rmID") + text_of("rm") + text_of("asks") +
                                              list_of(1) + map_of(3) + text_of("allocationKey") + text_of("k") +
                                              text_of("applicationID") + text_of("a") + text_of("priority") +
                                              hex(bytes));
    };
    for (const char* fits :
         {"05", "ff", "cc 05", "cd 00 05", "ce 00 00 00 05", "cf 00 00 00 00 00 00 00 05", "d0 fb", "d1 ff fb",
          "d2 80 00 00 00", "d3 ff ff ff ff 80 00 00 00", "ce 7f ff ff ff", "d3 00 00 00 00 00 00 00 05"})
        CHECK(priority(fits) == "ok");
    for (const char* beyond :
         {"ce 80 00 00 00", "cf 00 00 00 01 00 00 00 00", "d3 ff ff ff ff 7f ff ff ff", "cf ff ff ff ff ff ff ff ff",
          "ca 3f 80 00 00", "cb 3f f0 00 00 00 00 00 00", "c4 01 05"})
        CHECK(priority(beyond) == "E_TYPE asks[0].priority");
    CHECK(verdict_of<si::PollRequest>(R"({"rmID":"rm","ack":-1})") == "E_TYPE ack");
    CHECK(verdict_of<si::PollRequest>(R"({"rmID":"rm","maxItems":4294967296})") == "E_TYPE maxItems");
    CHECK(verdict_of<si::PollRequest>(R"({"rmID":"rm","ack":18446744073709551615})") == "ok");
    CHECK(verdict_of<si::NodeRequest>(node(R"("schedulableResource":{"x":9223372036854775808})")) ==
          "E_TYPE nodes[0].schedulableResource.x");
    CHECK(decoded<si::NodeRequest>(node(R"("schedulableResource":{"x":-9223372036854775808})"))
              .nodes[0]
              .schedulable_resource == si::Resources{{"x", std::numeric_limits<std::int64_t>::min()}});
}

TEST_CASE("I-006 I-316 texts too long are E_LIMIT, not UTF-8 or with control characters E_INVALID") {
    const auto with = [](std::string_view key, std::string_view value) {
        return map_of(2) + text_of("rmID") + text_of("rm") + text_of("asks") + list_of(1) + map_of(3) +
               text_of("allocationKey") + text_of("k") + text_of("applicationID") + text_of("a") + text_of(key) +
               std::string{value};
    };
    const auto ask_with = [&](std::string_view key, std::string_view text) {
        return verdict<si::AllocationRequest>(with(key, text_of(text)));
    };
    CHECK(ask_with("nodeID", std::string(256, 'n')) == "ok");
    CHECK(ask_with("nodeID", std::string(257, 'n')) == "E_LIMIT asks[0].nodeID");
    CHECK(ask_with("taskGroupName", "a\tb") == "E_INVALID asks[0].taskGroupName");
    CHECK(ask_with("partitionName", "\xff") == "E_INVALID asks[0].partitionName");
    const auto tag = [&](std::string_view key, std::string_view value) {
        return verdict<si::AllocationRequest>(with("tags", map_of(1) + text_of(key) + text_of(value)));
    };
    CHECK(tag("k", std::string(65536, 'v')) == "ok");
    CHECK(tag("k", std::string(65537, 'v')) == "E_LIMIT asks[0].tags.k");
    CHECK(tag("k", "line\nline") == "ok");
    CHECK(tag(std::string(257, 'k'), "v") == "E_LIMIT asks[0].tags"); // the map's own path for a bad key
    CHECK(tag("a\nb", "v") == "E_INVALID asks[0].tags");
    CHECK(tag("\xff", "v") == "E_INVALID asks[0].tags");
    const auto resource = [&](std::string_view name) {
        return verdict<si::AllocationRequest>(with("resourceAsk", map_of(1) + text_of(name) + hex("01")));
    };
    CHECK(resource("nvidia.com/gpu") == "ok");
    CHECK(resource("a\nb") == "E_INVALID asks[0].resourceAsk");
    const auto queue = [](std::string_view name) {
        return verdict<si::ApplicationRequest>(map_of(2) + text_of("rmID") + text_of("rm") + text_of("new") +
                                               list_of(1) + map_of(2) + text_of("applicationID") + text_of("a") +
                                               text_of("queueName") + text_of(name));
    };
    CHECK(queue(std::string(1024, 'q')) == "ok");
    CHECK(queue(std::string(1025, 'q')) == "E_LIMIT new[0].queueName");
    const auto config = [](std::size_t size) {
        return verdict<si::UpdateConfigurationRequest>(map_of(2) + text_of("rmID") + text_of("rm") + text_of("config") +
                                                       text_of(std::string(size, '#')));
    };
    CHECK(config(4U << 20) == "ok");
    CHECK(config((4U << 20) + 1) == "E_LIMIT config");
    CHECK(verdict<si::AllocationRequest>(map_of(1) + text_of("rmID") + text_of("r\x01")) == "E_INVALID rmID");
}

TEST_CASE("I-316 a map of tags has at most 256 KiB") {
    const auto asks = [](std::string_view field, const std::string& map) {
        return verdict<si::AllocationRequest>(map_of(2) + text_of("rmID") + text_of("rm") + text_of("asks") +
                                              list_of(1) + map_of(3) + text_of("allocationKey") + text_of("k") +
                                              text_of("applicationID") + text_of("a") + text_of(field) + map);
    };
    const auto many = [&](std::string_view field, std::size_t count, std::size_t key_size, const std::string& value) {
        std::string map = map_of(count);
        for (std::size_t i = 0; i < count; ++i) {
            std::string key = std::to_string(i);
            key.resize(key_size, 'k');
            map += text_of(key) + value;
        }
        return asks(field, map);
    };
    CHECK(many("tags", 1000, 256, text_of("v")) == "ok");                   // 261,003 bytes
    CHECK(many("tags", 1010, 256, text_of("v")) == "E_LIMIT asks[0].tags"); // 263,613 bytes
    CHECK(many("tags", 100'000, 5, hex("c0")) == "E_LIMIT asks[0].tags");   // nil ones included
    const auto extra = [](std::size_t count) {
        std::string map = map_of(count);
        for (std::size_t i = 0; i < count; ++i)
            map += text_of(std::to_string(1000 + i)) + text_of(std::string(1020, 'v'));
        return verdict<si::RegisterResourceManagerRequest>(map_of(2) + text_of("rmID") + text_of("rm") +
                                                           text_of("extraConfig") + map);
    };
    CHECK(extra(250) == "ok");
    CHECK(extra(257) == "E_LIMIT extraConfig");
}

TEST_CASE("I-316 at most 100,000 elements in a list, nil ones included") {
    const auto asks = [](std::size_t count) {
        return verdict<si::AllocationRequest>(map_of(2) + text_of("rmID") + text_of("rm") + text_of("asks") +
                                              list_of(count) + hex("c0") * count);
    };
    CHECK(asks(100'000) == "ok");
    CHECK(asks(100'001) == "E_LIMIT asks");
    const auto groups = [](std::size_t count) {
        return verdict<si::ApplicationRequest>(map_of(2) + text_of("rmID") + text_of("rm") + text_of("new") +
                                               list_of(1) + map_of(2) + text_of("applicationID") + text_of("a") +
                                               text_of("ugi") + map_of(1) + text_of("groups") + list_of(count) +
                                               hex("a0") * count);
    };
    CHECK(groups(100'001) == "E_LIMIT new[0].ugi.groups");
}

TEST_CASE("I-008 I-312 unknown keys are ignored at every depth, or refused by the strict codec") {
    const std::string json = ask(R"("UUID":"u","preemptionPolicy":{"later":[{}]})");
    CHECK(verdict_of<si::AllocationRequest>(json) == "ok");
    CHECK(verdict<si::AllocationRequest>(packed(json), {true, true}) == "E_INVALID asks[0].UUID");
    CHECK(verdict<si::AllocationRequest>(packed(ask(R"("preemptionPolicy":{"later":1})")), {true, true}) ==
          "E_INVALID asks[0].preemptionPolicy.later");
}

TEST_CASE("fields may come in any order") {
    CHECK(
        decoded<si::AllocationRequest>(
            R"({"asks":[{"nodeID":"n","tags":{},"z":1,"applicationID":"a","priority":4,"allocationKey":"k"}],"rmID":"rm"})")
            .asks[0]
            .priority == 4);
}

TEST_CASE("defaults of absent fields") {
    const auto poll = decoded<si::PollRequest>(R"({"rmID":"rm"})");
    CHECK(poll.max_items == 1000);
    CHECK(poll.max_bytes == 1048576);
    CHECK(poll.wait_ms == 10000);
    const auto registration =
        decoded<si::RegisterResourceManagerRequest>(R"({"rmID":"rm","detached":{},"recovery":{"id":"x"}})");
    CHECK(registration.policy_group == "default");
    CHECK(registration.detached == si::DetachedOptions{true, 10000});
    CHECK(!registration.recovery->timeout_seconds);
    CHECK(!registration.recovery->idle_seconds);
    CHECK(registration.recovery->force_applications);
    CHECK(registration.recovery->auto_accept.max_quarantined == 0);
    CHECK_FALSE(registration.recovery->expected);
    CHECK_FALSE(decoded<si::SyncRequest>(R"({"rmID":"rm"})").position);
    CHECK(decoded<si::SyncRequest>(R"({"rmID":"rm","position":0})").position == 0);
}

TEST_CASE("decode(encode(x)) == x for requests") {
    si::AllocationRequest request;
    request.rm_id = "rm";
    check_round_trip(request);
    si::AllocationAsk ask;
    ask.allocation_key = "k";
    ask.application_id = "a";
    request.asks.push_back(ask);
    ask.resource_ask.emplace();
    ask.tags = {{"a", ""}, {"b", "x"}};
    ask.priority = std::numeric_limits<std::int32_t>::min();
    ask.preemption_policy.emplace();
    request.asks.push_back(ask);
    si::Allocation allocation;
    allocation.allocation_key = "k2";
    allocation.allocation_tags = {{"foreign", "static"}};
    allocation.resource_per_alloc = si::Resources{{"memory", 1}, {"x", std::numeric_limits<std::int64_t>::min()}};
    allocation.queue_name = "root.a";
    request.allocations.push_back(allocation);
    request.releases.allocations_to_release.push_back({"p", "", "k", si::TerminationType::Timeout, "why"});
    request.releases.allocation_asks_to_release.push_back({"p", "a", "", si::TerminationType::Unknown, ""});
    check_round_trip(request);

    check_round_trip(si::ApplicationRequest{
        {{"a", "q", "p", {"u", {"g"}}, {{"t", "v"}}, 5, si::Resources{}, "Hard"}}, {{"b", "p"}}, "rm", true});
    si::NodeInfo node{"n",          si::NodeAction::Unset, si::StringMap{},   si::Resources{{"vcore", 1}},
                      std::nullopt, {allocation},          si::NodeRecovery{}};
    check_round_trip(si::NodeRequest{{node}, "rm", false});
    check_round_trip(
        si::RegisterResourceManagerRequest{"rm",
                                           "1",
                                           "pg",
                                           {{"a", "b"}},
                                           "",
                                           si::StringMap{},
                                           si::RecoveryRequest{"id", si::RecoveryCounts{1, 2, 3, 4U}, 1, 2, false, {7}},
                                           {"events"},
                                           si::DetachedOptions{false, 1},
                                           "resume"});
    check_round_trip(si::UpdateConfigurationRequest{"rm", "pg", "", std::nullopt, true, true, "file", "AB", "why"});
    check_round_trip(si::HelloRequest{1, 2, "c", "rm", "t", 5U, si::HelloResume{{"s"}, {"b"}}, {"x"}});
    check_round_trip(si::PollRequest{"rm", 1, 2, 3, 4, 0, false});
    check_round_trip(si::CallResultRequest{"rm", 1, 2, true, "e", si::EncodedMap{packed(R"({"results":[]})")}, false});
    check_round_trip(si::CallResultBody{{{"n1", false, "taint"}, {"n2", true, ""}}, true, 3, "why", "{}"});
    check_round_trip(si::SyncRequest{"rm", 0U, false, {{"a", "k", "p"}}});
    check_round_trip(si::StreamLogRequest{"rm", 1, 2, false});
}

TEST_CASE("decode(encode(x)) == x for the requests of tools") {
    check_round_trip(si::PingRequest{"rm"});
    check_round_trip(si::StatusRequest{});
    check_round_trip(si::UnregisterResourceManagerRequest{"rm", true, true});
    check_round_trip(si::ValidateConfigurationRequest{"", "rm", true});
    check_round_trip(si::ReloadRequest{"rm", true, true, true, "why"});
    check_round_trip(si::SetExtraConfigRequest{si::StringMap{}});
    check_round_trip(si::EventsRequest{1, 0U, si::EventFilter{{1, 2}, {3}, "a", "p"}});
    check_round_trip(si::EventStreamRequest{"s", 1, 0U, 2, si::EventFilter{}});
    check_round_trip(si::MetricsRequest{"map", "yunikorn", "c", 1000, "own"});
    check_round_trip(si::HealthRequest{true, true});
    check_round_trip(si::AuditRequest{7U, 5, 3});
    check_round_trip(
        si::ExplainRequest{"placement", "p", "rm", "a", "k", "root.q", "n", "u", {"g"}, {{"t", "v"}}, "x: 1\n"});
    check_round_trip(si::StepRequest{2, {3}});
    check_round_trip(si::ClockRequest{5});
    check_round_trip(si::ShutdownRequest{0U});
    check_round_trip(si::McsReadRequest{"list", "deployment", "web", 7, "c"});
    check_round_trip(si::McsWatchRequest{"c-1", "web", 7, 9});
    check_round_trip(si::McsWriteRequest{
        "create", "deployment", "web", 3,
        si::McsBody{"n", "p", "root.q", "u", std::vector<std::string>{"g"}, si::Resources{{"vcore", 1}}, 0U, 1U, 2U,
                    "{}", -1, si::StringMap{{"t", "v"}}, "owners", true, si::McsMetric{"m", 5, 0U}}});
    check_round_trip(si::McsWriteRequest{"delete", "deployment", "web", 0, si::McsBody{}});
}

TEST_CASE("rs R-157 what a write does not say is absent, and differs from what is empty") {
    const auto request = decoded<si::McsWriteRequest>(R"({"verb":"create","kind":"deployment","body":{"groups":[]}})");
    REQUIRE(request.body);
    CHECK(request.body->groups == std::vector<std::string>{});
    CHECK_FALSE(request.body->tags);
    CHECK_FALSE(request.body->replicas);
    CHECK(verdict_of<si::McsWriteRequest>(R"({"verb":"scale"})") == "E_MISSING_FIELD kind");
    CHECK(verdict_of<si::McsWriteRequest>(R"({"verb":"scale","kind":"k","body":{"replicas":-1}})") ==
          "E_TYPE body.replicas");
    CHECK(verdict_of<si::McsReadRequest>(R"({"kind":"deployment"})") == "E_MISSING_FIELD what");
}

TEST_CASE("decode(encode(x)) == x for recovery") {
    const si::Binary sums{std::string(2048, '\x01')};
    check_round_trip(si::RecoveryDoneRequest{.rm_id = "rm", .id = "r"});
    check_round_trip(si::RecoveryDoneRequest{
        "rm",
        "r",
        2,
        {1, 2, 3, 0U},
        {std::numeric_limits<std::uint64_t>::max(), 5, 6},
        si::RecoveryBuckets{sums, std::nullopt, si::Binary{}},
        si::PartitionClaims{{"a", {}}, {"b", {si::RecoveryCounts{}, si::RecoveryDigests{1, 2, 3}}}},
        true});
    check_round_trip(si::RecoveryListRequest{"rm", "allocations", 0U, "c\td", 7, true});
    check_round_trip(si::RecoveryListReply{});
    check_round_trip(si::RecoveryListReply{{{"[rm]p", "n", "a", "k", 1}, {}}, "c"});
    check_round_trip(si::ResolveRecoveryRequest{"rm", "accept", true});
    check_round_trip(si::ResolveRecoveryReply{si::CoreState::Recovering});
    check_round_trip(si::RecoveryReport{.rm_id = "rm", .id = "r", .result = "running"});
    check_round_trip(si::RecoveryReport{"rm",
                                        "r",
                                        3,
                                        "retry",
                                        {{1, 2}, {3, 4}, {5, 6}, si::RecoveryCountPair{0, 1}},
                                        {true, false, true},
                                        si::RecoveryBuckets{std::nullopt, sums, std::nullopt},
                                        {{"n", "p", si::Resources{{"vcore", 1}}, si::Resources{}, 2, 3}, {"m"}},
                                        {{"allocations", "p", "n", "a", "k", "APP_UNKNOWN", 9}},
                                        1001,
                                        7,
                                        8,
                                        true,
                                        {"check 3 failed"}});
}

TEST_CASE("I-230 a claim without counts or digests, and asks that are not counted") {
    CHECK(verdict_of<si::RecoveryDoneRequest>(R"({"rmID":"rm"})") == "E_MISSING_FIELD id");
    CHECK(verdict_of<si::RecoveryDoneRequest>(R"({"rmID":"rm","id":"r","digest":{}})") == "E_MISSING_FIELD expected");
    CHECK(verdict_of<si::RecoveryDoneRequest>(R"({"rmID":"rm","id":"r","expected":null,"digest":{}})") ==
          "E_MISSING_FIELD expected");
    CHECK(verdict_of<si::RecoveryDoneRequest>(R"({"rmID":"rm","id":"r","expected":{}})") == "E_MISSING_FIELD digest");
    const auto claim = [](std::string_view asks) {
        const std::string json =
            R"({"rmID":"rm","id":"r","digest":{},"expected":{"nodes":1)" + std::string{asks} + "}}";
        return decoded<si::RecoveryDoneRequest>(json);
    };
    CHECK(claim("").attempt == 1);
    CHECK_FALSE(claim("").expected.asks);
    CHECK_FALSE(claim(R"(,"asks":null)").expected.asks);
    CHECK(claim(R"(,"asks":0)").expected.asks == 0U);
}

TEST_CASE("I-230 I-235 what a claim may hold beside its totals") {
    const auto of = [](std::string_view pairs) {
        return R"({"rmID":"rm","id":"r","expected":{},"digest":{},)" + std::string{pairs} + "}";
    };
    const auto claims =
        *decoded<si::RecoveryDoneRequest>(of(R"("partitions":{"p":{"expected":{"nodes":2}},"q":{},"r":null})"))
             .partitions;
    REQUIRE(claims.size() == 2);
    CHECK(claims[0].first == "p");
    CHECK(claims[0].second.expected->nodes == 2);
    CHECK_FALSE(claims[0].second.digest);
    CHECK(claims[1] == std::pair<std::string, si::PartitionClaim>{"q", {}});
    using Request = si::RecoveryDoneRequest;
    CHECK(verdict_of<Request>(of(R"("partitions":{"p":{"digest":{"nodes":-1}}})")) ==
          "E_TYPE partitions.p.digest.nodes");
    CHECK(verdict_of<Request>(of(R"("partitions":{"p":7})")) == "E_TYPE partitions.p");
    CHECK(verdict_of<Request>(of(R"("partitions":[])")) == "E_TYPE partitions");
    CHECK(verdict_of<Request>(of(R"("buckets":{"nodes":"text"})")) == "E_TYPE buckets.nodes");
    std::string many = packed(R"({"rmID":"rm","id":"r","expected":{},"digest":{}})") + text_of("partitions");
    many.front() = '\x85';
    many += map_of(100'001);
    for (int i = 0; i <= 100'000; ++i) many += text_of(std::to_string(i)) + '\x80';
    CHECK(verdict<Request>(many) == "E_LIMIT partitions");
}

TEST_CASE("I-237 a report also says 0, false and none") {
    const auto report = wire::decode_value(*wire::scan_body(wire::encoded(si::RecoveryReport{.rm_id = "rm"})));
    CHECK(report["counts"]["nodes"] == wire::Value{{"expected", 0}, {"actual", 0}});
    CHECK_FALSE(report["counts"].contains("asks"));
    CHECK(report["digestMatch"] == wire::Value{{"nodes", false}, {"applications", false}, {"allocations", false}});
    for (const char* list : {"incompleteNodes", "quarantine"}) CHECK(report[list] == wire::Value::array());
    for (const char* number : {"quarantineTotal", "unusedTombstones", "durationMs"}) CHECK(report[number] == 0);
    CHECK(report["truncated"] == false);
    CHECK_FALSE(report.contains("buckets"));
}

TEST_CASE("I-240 a list of what was restored: defaults") {
    const auto request = decoded<si::RecoveryListRequest>(R"({"rmID":"rm","kind":"nodes"})");
    CHECK(request.limit == 1000);
    CHECK_FALSE(request.bucket);
    CHECK(verdict_of<si::RecoveryListRequest>(R"({"rmID":"rm"})") == "E_MISSING_FIELD kind");
    CHECK(verdict_of<si::ResolveRecoveryRequest>(R"({"rmID":"rm"})") == "E_MISSING_FIELD action");
}

TEST_CASE("a message with more fields than a one-byte map header can count is sent whole") {
    const si::DumpRequest few{.what = "apps", .state = "active"};
    check_round_trip(few);
    CHECK(wire::encoded(few).front() == '\x82');
    const si::DumpRequest all{"apps", "p", "rm", "root.q", true, true, true, 0,  "k", std::vector<std::string>{},
                              "a",    "n", "u",  "g",      "s",  "t",  7,    "c"};
    check_round_trip(all);
    CHECK(wire::encoded(all).substr(0, 3) == std::string("\xde\x00\x12", 3));
}

TEST_CASE("decode(encode(x)) == x for replies and callbacks") {
    check_round_trip(si::RegisterResourceManagerResponse{
        {"[rm]default"}, "pg", "sum", 3, si::CoreState::Running, true, {"x"}, true, 9U});
    check_round_trip(si::HelloReply{1,
                                    {std::string(16, 's')},
                                    {std::string(16, 'b')},
                                    {"ykd", "1", "b", "u"},
                                    true,
                                    4,
                                    {{"rm", 1, 2, si::CoreState::Lost}},
                                    {1, 2, 3, 4, 5, 6, 7},
                                    {"f"},
                                    "admin",
                                    "uid 1",
                                    "uid 1",
                                    "admin",
                                    "*"});
    check_round_trip(
        si::PollReply{1, {{1, "Notice", -1, 5U, 6U, {}}, {2, "x", 0, std::nullopt, std::nullopt, {}}}, 3, 4, true});
    check_round_trip(si::PollReply{});
    si::Allocation allocation;
    allocation.allocation_key = "k";
    allocation.application_id = "a";
    check_round_trip(si::AllocationResponse{{allocation},
                                            {{"p", "a", "k", si::TerminationType::PlaceholderReplaced, ""}},
                                            {{"k", "a", "r", "p", 1030}},
                                            {{"k", "a", "r", "p", 1}},
                                            {{"p", "a", "k", "r"}}});
    check_round_trip(
        si::ApplicationResponse{{{"a", "r", "p", 1011}}, {{"a", "p", "q"}}, {{"a", "Running", 5, "m", "p"}}});
    check_round_trip(
        si::NodeResponse{{{"n", "p"}}, {{"n", "r", "p", 1021}}, {{"n", si::NodeAction::Drain, "r", "p", 1020}}});
}

TEST_CASE("what the daemon says may hold names longer than a client may send") {
    si::AllocationResponse response;
    response.made.push_back(
        {"k", "a", "[" + std::string(256, 'r') + "]default", "", false, {}, {}, 0, "", false, {}, ""});
    const std::string bytes = wire::encoded(response);
    CHECK(verdict<si::AllocationResponse>(bytes) == "E_LIMIT new[0].partitionName");
    CHECK(verdict<si::AllocationResponse>(bytes, {false, false}) == "ok");
}

TEST_CASE("F-001 F-003 F-006 devices of nodes, asks and allocations") {
    const auto nodes = decoded<si::NodeRequest>(node(R"("devices":{"gpu":[1000,500],"fpga":[]})"));
    CHECK(nodes.nodes[0].devices == si::DeviceSizes{{"gpu", {1000, 500}}, {"fpga", {}}});
    check_round_trip(nodes);
    CHECK_FALSE(decoded<si::NodeRequest>(node(R"("devices":null)")).nodes[0].devices);
    CHECK(decoded<si::NodeRequest>(node(R"("devices":{})")).nodes[0].devices == si::DeviceSizes{});

    const auto asks = decoded<si::AllocationRequest>(
        ask(R"("devices":{"gpu":{"count":2,"each":500},"fpga":[{"index":3,"amount":7},{"index":0,"amount":1}]})"));
    CHECK(asks.asks[0].devices == si::DevicesMap{{"gpu", {2, 500, {}}}, {"fpga", {0, 0, {{3, 7}, {0, 1}}}}});
    check_round_trip(asks);

    CHECK(verdict_of<si::AllocationRequest>(ask(R"("devices":[1])")) == "E_TYPE asks[0].devices");
    CHECK(verdict_of<si::AllocationRequest>(ask(R"("devices":{"gpu":3})")) == "E_TYPE asks[0].devices.gpu");
    CHECK(verdict_of<si::AllocationRequest>(ask(R"("devices":{"gpu":{"count":2}})")) ==
          "E_MISSING_FIELD asks[0].devices.gpu.each");
    CHECK(verdict_of<si::AllocationRequest>(ask(R"("devices":{"gpu":{"count":-1,"each":1}})")) ==
          "E_TYPE asks[0].devices.gpu.count");
    CHECK(verdict_of<si::AllocationRequest>(ask(R"("devices":{"gpu":[{"index":0}]})")) ==
          "E_MISSING_FIELD asks[0].devices.gpu[0].amount");
    CHECK(verdict_of<si::NodeRequest>(node(R"("devices":{"gpu":1000})")) == "E_TYPE nodes[0].devices.gpu");
    CHECK(verdict_of<si::NodeRequest>(node(R"("devices":{"gpu":["x"]})")) == "E_TYPE nodes[0].devices.gpu[0]");
}
