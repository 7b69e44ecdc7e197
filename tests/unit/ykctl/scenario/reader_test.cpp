// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/scenario.h"

#include <catch2/catch.hpp>

#include <string>

namespace yk::scenario {
namespace {

Scenario read(const std::string& text) {
    auto scenario = read_scenario(text, "f.yaml");
    INFO((scenario.ok() ? std::string{} : scenario.error().text()));
    REQUIRE(scenario.ok());
    return std::move(scenario).value();
}

std::string fault(const std::string& text) {
    const auto scenario = read_scenario(text, "f.yaml");
    return scenario.ok() ? "no error" : scenario.error().text();
}

Step step(const std::string& text, const std::string& top = "") {
    return read("name: n\n" + top + "steps:\n- " + text + "\n").steps.at(0);
}

std::string step_fault(const std::string& text, const std::string& top = "") {
    return fault("name: n\n" + top + "steps:\n- " + text + "\n");
}

TEST_CASE("scenario.md top level: defaults") {
    const Scenario scenario = read("name: short\nsteps: []\n");
    CHECK(scenario.name == "short");
    CHECK(scenario.summary.empty());
    CHECK(scenario.manual_schedule);
    CHECK_FALSE(scenario.virtual_clock);
    CHECK(scenario.rm.rm_id == "rm:1");
    CHECK(scenario.rm.policy_group == "default");
    CHECK(scenario.rm.version == "1.0");
    CHECK(scenario.rm.confirm_releases);
    CHECK_FALSE(scenario.rm.extra_config.has_value());
    CHECK_FALSE(scenario.config.has_value());
}

TEST_CASE("scenario.md top level: everything said") {
    const Scenario scenario =
        read("name: n\nsummary: s\nschedule: auto\nclock: virtual\n"
             "rm: {rmID: x, policyGroup: g, version: '2', confirmReleases: false, extraConfig: {a: b}}\n"
             "config: 'partitions: []'\nsteps: []\n");
    CHECK_FALSE(scenario.manual_schedule);
    CHECK(scenario.virtual_clock);
    CHECK(scenario.rm.rm_id == "x");
    CHECK(scenario.rm.policy_group == "g");
    CHECK(scenario.rm.version == "2");
    CHECK_FALSE(scenario.rm.confirm_releases);
    CHECK(scenario.rm.extra_config == std::map<std::string, std::string>{{"a", "b"}});
    CHECK(scenario.config == "partitions: []");
}

TEST_CASE("scenario.md: an unknown key names file, line and column") {
    CHECK(fault("name: n\nbogus: 1\nsteps: []\n") ==
          "f.yaml:2:1: unknown key \"bogus\" (known: name, summary, schedule, clock, rm, config, steps)");
    CHECK(step_fault("nodes: [{nodeID: a, bogus: 1}]").find("f.yaml:3:23: unknown key \"bogus\" in a node") == 0);
    CHECK(step_fault("asks: [{taskGroup: a}]").find("f.yaml:3:11: unknown key \"taskGroup\"") == 0);
    CHECK(step_fault("applications: {add: []}").find("f.yaml:3:18: unknown key \"add\"") == 0);
    CHECK(step_fault("releases: {allocations: []}").find("unknown key \"allocations\"") != std::string::npos);
    CHECK(step_fault("register: {id: a}").find("unknown key \"id\"") != std::string::npos);
    CHECK(step_fault("expect: {pods: 1}").find("unknown key \"pods\"") != std::string::npos);
    CHECK(step_fault("expect: {queues: {root: {maximum: {}}}}").find("unknown key \"maximum\"") != std::string::npos);
    CHECK(fault("name: n\nrm: {id: a}\nsteps: []\n").find("f.yaml:2:6: unknown key \"id\" in rm") == 0);
}

TEST_CASE("scenario.md: what is missing or doubled") {
    CHECK(fault("steps: []\n").find("\"name\" is missing") != std::string::npos);
    CHECK(fault("name: n\n").find("\"steps\" is missing") != std::string::npos);
    CHECK(fault("").find("f.yaml: ") == 0);
    CHECK(fault("- a\n").find("a scenario is a map") != std::string::npos);
    CHECK(fault("name: n\nname: m\nsteps: []\n").find("already defined") != std::string::npos);
    CHECK(fault("name: n\nsteps: {}\n").find("steps must be a list") != std::string::npos);
    CHECK(step_fault("{}").find("a step without an action") != std::string::npos);
    CHECK(step_fault("{cycles: 1, wait: 1s}").find("a second action") != std::string::npos);
    CHECK(step_fault("{asks: [{resourceAsk: {a: 1}, resourcePerAlloc: {a: 1}}]}").find("given twice") !=
          std::string::npos);
}

TEST_CASE("scenario.md: wrong types") {
    CHECK(step_fault("cycles: '1'").find("f.yaml:3:11: \"1\" is no integer (take the quotes away)") == 0);
    CHECK(step_fault("cycles: 1.5").find("no integer") != std::string::npos);
    CHECK(step_fault("cycles: 0x10").find("no integer") != std::string::npos);
    CHECK(step_fault("cycles: -1").find("out of range") != std::string::npos);
    CHECK(step_fault("cycles: 99999999999999999999").find("out of range") != std::string::npos);
    CHECK(step_fault("wait: 5").find("f.yaml:3:9: ") == 0);
    CHECK(step_fault("wait: -5s").find("out of range") != std::string::npos);
    CHECK(step_fault("wait: 999999h").find("out of range") != std::string::npos);
    CHECK(step_fault("nodes: {}").find("a node must be a list") != std::string::npos);
    CHECK(step_fault("nodes: [{nodeID: [a]}]").find("a text is wanted, not a list") != std::string::npos);
    CHECK(step_fault("nodes: [{action: create}]").find("unknown action") != std::string::npos);
    CHECK(step_fault("nodes: [{schedulableResource: {a: x}}]").find("no integer") != std::string::npos);
    CHECK(step_fault("nodes: [{schedulableResource: {memory: 64Gi, vcore: 1.5}}]").find("write 1500m") !=
          std::string::npos);
    CHECK(step_fault("asks: [{placeholder: yes}]").find("neither true nor false") != std::string::npos);
    CHECK(step_fault("asks: [{priority: 2147483648}]").find("out of range") != std::string::npos);
    CHECK(step_fault("releases: {allocationsToRelease: [{terminationType: GONE}]}").find("unknown termination") !=
          std::string::npos);
    CHECK(step_fault("expect: {released: {a: GONE}}").find("unknown termination") != std::string::npos);
    CHECK(step_fault("config: [1]").find("a configuration is a map or a text") != std::string::npos);
    CHECK(fault("name: n\nschedule: often\nsteps: []\n").find("f.yaml:2:11: \"often\" is neither manual nor auto") ==
          0);
}

TEST_CASE("scenario.md: rules between keys") {
    CHECK(step_fault("cycles: 1", "schedule: auto\n").find("cycles needs schedule: manual") != std::string::npos);
    CHECK(fault("name: n\nsteps: [{cycles: 1}]\nschedule: auto\n").find("cycles needs") != std::string::npos);
    CHECK(step_fault("{cycles: 1, refused: true}").find("cycles is no call") != std::string::npos);
    CHECK(step_fault("expect: {nodes: {a: {exists: false, reserved: true}}}").find("stands alone") !=
          std::string::npos);
}

TEST_CASE("scenario.md: limits are kept before anything is expanded") {
    CHECK(step_fault("asks: [{repeat: 100001}]").find("more than 100000 elements") != std::string::npos);
    CHECK(step_fault("asks: [{repeat: 60000}, {repeat: 60000}]").find("more than 100000") != std::string::npos);
    CHECK(fault(std::string(2U << 20U, ' ')).find("the limit is") != std::string::npos);
    std::string deep = "name: n\nsteps: ";
    for (int i = 0; i < 1000; ++i) deep += "[";
    CHECK(fault(deep) != "no error");
    CHECK(fault("name: n\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                "steps: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n")
              .find("aliases stand for more than") != std::string::npos);
}

TEST_CASE("scenario.md: steps become messages") {
    const Step node = step("nodes: [{nodeID: a, action: DRAIN, attributes: {k: 1}, schedulableResource: {vcore: 5}}]");
    CHECK(node.action == Action::Nodes);
    CHECK(node.message == Value::parse(R"({"nodes":[{"nodeID":"a","action":3,"attributes":{"k":"1"},)"
                                       R"("schedulableResource":{"vcore":5}}]})"));
    const Step ask = step("asks: [{allocationKey: k, resourceAsk: {a: -1}, tags: {creationTime: 1000}}]");
    CHECK(ask.message == Value::parse(R"({"allocations":[{"allocationKey":"k","resourcePerAlloc":{"a":-1},)"
                                      R"("allocationTags":{"creationTime":"1000"}}]})"));
    const Step release = step("releases: {allocationsToRelease: [{allocationKey: k, terminationType: TIMEOUT}]}");
    CHECK(release.message ==
          Value::parse(R"({"releases":{"allocationsToRelease":[{"allocationKey":"k","terminationType":2}]}})"));
    CHECK(step("{register: {rmID: other, config: ''}, rm: beside}").rm == "other");
    CHECK(step("{register: ~, rm: beside}").rm == "beside");
    CHECK(step("wait: 1h30m").duration == std::chrono::minutes{90});
    CHECK(step("{config: '', refused: true}").refused);
}

TEST_CASE("scenario.md: expectations") {
    const Step expect = step("expect: {within: 80ms, partition: p, allocations: 2, applications: {a: {allocated: ~}}}");
    CHECK(expect.duration == std::chrono::milliseconds{80});
    CHECK(expect.partition == "p");
    CHECK(expect.wanted == Value::parse(R"({"allocations":2,"applications":{"a":{"allocated":null}}})"));
    CHECK(step("expect: {allocations: 0}").duration == std::chrono::seconds{1});
    CHECK(step("expect: {allocations: 0}").partition == "default");
    CHECK(step("expect: {released: {a: '*', b: TIMEOUT}}").wanted ==
          Value::parse(R"({"released":{"a":"*","b":"TIMEOUT"}})"));
}

TEST_CASE("scenario.md: a file that is not there is named") {
    const auto scenario = load_scenario("/nowhere/at-all.yaml");
    REQUIRE_FALSE(scenario.ok());
    CHECK(scenario.error().text().find("/nowhere/at-all.yaml") != std::string::npos);
}

} // namespace
} // namespace yk::scenario
