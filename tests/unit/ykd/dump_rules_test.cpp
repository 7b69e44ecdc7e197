#include "ykd/service/dump_rules.h"

#include <catch2/catch.hpp>

#include "libcore/config_yaml/load.h"

using namespace yk;
using namespace yk::service;

namespace {

wire::Value rules(const std::string& list) {
    const std::string text =
        "partitions: [{queues: [{name: root, submitacl: '*', queues: [{name: p, parent: true}]}], placementrules: [" +
        list + "]}]";
    const auto outcome = config_yaml::load(text, "config");
    INFO(config_yaml::render(outcome, text));
    REQUIRE(outcome.configuration);
    return rules_value(outcome.configuration->partitions.front());
}

wire::Value parsed(const std::string& json) {
    return wire::Value::parse(json);
}

} // namespace

TEST_CASE("C-315 C-475 without rules there is provided; recovery is always the last") {
    CHECK(rules("") == parsed(R"([{"name":"provided","parameters":{"create":"false"}},
                                  {"name":"recovery","parameters":{"queue":"root.@recovery@"}}])"));
}

TEST_CASE("C-475 parameters, parent rule, lower case names") {
    const auto found = rules("{name: Tag, value: namespace, create: true, parent: {name: fixed, value: root.P}}");
    CHECK(found[0] == parsed(R"({"name":"tag","parameters":{"create":"true","tagName":"namespace"},
            "parentRule":{"name":"fixed","parameters":{"create":"false","queue":"root.p","qualified":"true"}}})"));
}

TEST_CASE("C-475 filters: lists sorted, illegal names dropped, expressions apart, an empty deny shown") {
    CHECK(rules("{name: user, create: true, filter: {users: [b, a, '9x'], groups: ['dev.*']}}")[0]["filter"] ==
          parsed(R"({"type":"allow","userList":["a","b"],"groupExp":"dev.*"})"));
    CHECK(rules("{name: user, create: true, filter: {type: DENY}}")[0]["filter"] == parsed(R"({"type":"deny"})"));
    CHECK_FALSE(rules("{name: user, create: true, filter: {type: allow}}")[0].contains("filter"));
}
