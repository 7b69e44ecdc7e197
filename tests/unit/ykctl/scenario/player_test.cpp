// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/player.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tests/support/decoded.h"

namespace yk::scenario {
namespace {

/// Answers by rote and notes what it was asked.
class FakeDaemon final : public rm::DaemonLink {
public:
    std::vector<std::string> calls;                 // kinds, in order
    std::vector<Value> bodies;                      // of the calls
    std::map<std::string, std::string> refusals;    // kind -> error name
    std::map<std::string, std::deque<Value>> after; // kind -> callback item that the next call of it causes, or null
    std::map<std::string, Value> dumps;             // `what` -> data
    std::size_t accepted = 0;                       // so many calls are never refused
    bool lost = false;

    wire::CallResult<std::string> call(const wire::EncodedRequest& request, std::chrono::milliseconds) override {
        YK_TRY(body, answer(std::string{request.kind}, wire::decoded(request)));
        return wire::encoded_value(body);
    }
    std::string boot_id() const override { return "boot"; }
    std::string session_id() const override { return "session"; }

    [[nodiscard]] std::string sequence() const {
        std::string out;
        for (const std::string& call : calls)
            if (call != "Sync" && call != "Poll") out += (out.empty() ? "" : " ") + call;
        return out;
    }

private:
    wire::CallResult<Value> answer(const std::string& kind, Value body) {
        calls.push_back(kind);
        bodies.push_back(body);
        if (lost) return error(wire::CallError::Kind::Unreachable, "gone");
        if (const auto refusal = refusals.find(kind); refusal != refusals.end() && calls.size() > accepted)
            return error(wire::CallError::Kind::Refused, refusal->second);
        if (auto& queue = after[kind]; !queue.empty()) {
            if (!queue.front().is_null()) callbacks_.push_back(queue.front());
            queue.pop_front();
        }
        if (kind == "RegisterResourceManager")
            return Value{{"partitions", {"default"}}, {"streamEpoch", 7}, {"coreState", 1}, {"reRegistration", false}};
        if (kind == "Poll") return poll(body);
        if (kind == "Dump") return Value{{"complete", true}, {"data", dumps[body["what"]]}};
        return Value::object();
    }

    Value poll(const Value& body) {
        CHECK(body["streamEpoch"] == 7);
        CHECK(body.value("ack", 0U) == acknowledged_);
        Value items = Value::array();
        if (next_ < callbacks_.size()) { // one at a time
            items.push_back({{"n", next_ + 1},
                             {"kind", callbacks_[next_]["kind"]},
                             {"at", 0},
                             {"body", callbacks_[next_]["body"]}});
            ++next_;
            acknowledged_ = next_;
        }
        return {{"streamEpoch", 7},
                {"items", items},
                {"backlog", callbacks_.size() - next_},
                {"backlogBytes", 0},
                {"congested", false}};
    }

    static wire::CallError error(wire::CallError::Kind kind, const std::string& name) {
        wire::CallError out;
        out.kind = kind;
        out.name = name;
        out.message = "text";
        return out;
    }

    std::vector<Value> callbacks_;
    std::size_t next_ = 0, acknowledged_ = 0;
};

Value item(const std::string& kind, const std::string& body) {
    return {{"kind", kind}, {"body", Value::parse(body)}};
}

Scenario read(const std::string& text) {
    auto scenario = read_scenario(text, "f.yaml");
    INFO((scenario.ok() ? std::string{} : scenario.error().text()));
    REQUIRE(scenario.ok());
    return std::move(scenario).value();
}

/// The failures as lines.
std::string play(const std::string& text, FakeDaemon& daemon) {
    const Scenario scenario = read(text);
    Player player{scenario, daemon, std::chrono::seconds{30}};
    const auto failures = player.play();
    if (!failures) return "lost: " + failures.error().name;
    std::string out;
    for (const StepFailure& failure : *failures) out += failure.text() + "\n";
    return out;
}

const std::string kHead = "name: n\nconfig: ''\n";

TEST_CASE("scenario.md: the default RM is registered with the configuration before step 1") {
    FakeDaemon daemon;
    CHECK(
        play("name: n\nrm: {rmID: x, policyGroup: g, extraConfig: {k: v}}\nconfig: abc\nsteps: []\n", daemon).empty());
    REQUIRE(daemon.sequence() == "RegisterResourceManager");
    CHECK(daemon.bodies[0] ==
          Value::parse(R"({"config":"abc","rmID":"x","policyGroup":"g","version":"1.0","extraConfig":{"k":"v"}})"));
    FakeDaemon idle;
    CHECK(play("name: n\nsteps: []\n", idle).empty());
    CHECK(idle.calls.empty());
}

TEST_CASE("scenario.md: a registration that is refused is step 0 and ends the file") {
    FakeDaemon daemon;
    daemon.refusals["RegisterResourceManager"] = "E_CONFIG_INVALID";
    CHECK(play(kHead + "steps: [{cycles: 1}]\n", daemon) ==
          "step 0: register: wanted accepted, found E_CONFIG_INVALID: text\n");
    CHECK(daemon.sequence() == "RegisterResourceManager");
}

TEST_CASE("scenario.md: a call answered otherwise than refused says is a failure, and the rest is played") {
    FakeDaemon daemon;
    daemon.refusals["UpdateNode"] = "E_INVALID";
    CHECK(play(kHead + "steps: [{nodes: []}, {nodes: [], refused: true}, {asks: [], refused: true}, {cycles: 1}]\n",
               daemon) == "step 1: nodes: wanted accepted, found E_INVALID: text\n"
                          "step 3: asks: wanted refused, found accepted\n");
    CHECK(daemon.sequence() == "RegisterResourceManager UpdateNode UpdateNode UpdateAllocation Step");
}

TEST_CASE("scenario.md: messages are complete when they are sent") {
    FakeDaemon daemon;
    CHECK(
        play(
            "name: n\nsteps:\n- nodes: [{nodeID: n, repeat: 2, existingAllocations: [{allocationKey: e, repeat: 1}]}]\n"
            "- applications: {new: [{applicationID: a}], remove: [{applicationID: b}]}\n"
            "- asks: [{allocationKey: k, repeat: 1}, {allocationKey: l, repeat: 0}, {partitionName: p}]\n"
            "- releases: {allocationAsksToRelease: [{allocationKey: k}]}\n- config: ''\n  rm: other\n",
            daemon)
            .empty());
    REQUIRE(daemon.calls.size() == 5);
    CHECK(
        daemon.bodies[0]["nodes"] ==
        Value::parse(
            R"([{"nodeID":"n-0","existingAllocations":[{"allocationKey":"e-0","partitionName":"default","nodeID":"n-0"}],"action":1},
                           {"nodeID":"n-1","existingAllocations":[{"allocationKey":"e-0","partitionName":"default","nodeID":"n-1"}],"action":1}])"));
    CHECK(daemon.bodies[1] ==
          Value::parse(R"({"new":[{"applicationID":"a","partitionName":"default","ugi":{"user":"testuser"}}],
                                               "remove":[{"applicationID":"b","partitionName":"default"}],"rmID":"rm:1"})"));
    CHECK(daemon.bodies[2]["allocations"] ==
          Value::parse(R"([{"allocationKey":"k-0","partitionName":"default"},{"partitionName":"p"}])"));
    CHECK(daemon.bodies[3]["releases"]["allocationAsksToRelease"] ==
          Value::parse(R"([{"allocationKey":"k","partitionName":"default","terminationType":1}])"));
    CHECK(daemon.bodies[4] == Value::parse(R"({"config":"","rmID":"other"})"));
}

const char* const kPreempted =
    R"({"released":[{"applicationID":"app","allocationKey":"v","partitionName":"[rm:1]default","terminationType":3}]})";

TEST_CASE("scenario.md order: a confirmation is sent between two cycles") {
    FakeDaemon daemon;
    daemon.after["Step"].push_back(item("UpdateAllocation", kPreempted));
    CHECK(play(kHead + "steps: [{cycles: 2}]\n", daemon).empty());
    CHECK(daemon.sequence() == "RegisterResourceManager Step UpdateAllocation Step");
    const auto sent = std::find(daemon.calls.begin(), daemon.calls.end(), "UpdateAllocation") - daemon.calls.begin();
    CHECK(daemon.bodies[static_cast<std::size_t>(sent)] ==
          Value::parse(R"({"releases":{"allocationsToRelease":[{"partitionName":"[rm:1]default",
                           "applicationID":"app","allocationKey":"v","terminationType":3}]},"rmID":"rm:1"})"));
    CHECK(daemon.calls[static_cast<std::size_t>(sent) + 1] == "Sync");
}

TEST_CASE("scenario.md rm: confirmReleases false confirms nothing") {
    FakeDaemon daemon;
    daemon.after["Step"].push_back(item("UpdateAllocation", kPreempted));
    CHECK(
        play(
            "name: n\nrm: {confirmReleases: false}\nconfig: ''\nsteps: [{cycles: 2}, {expect: {released: {v: '*'}}}]\n",
            daemon)
            .empty());
    CHECK(daemon.sequence() == "RegisterResourceManager Step Step");
}

TEST_CASE("scenario.md order: what a confirmation causes is waited for as well") {
    FakeDaemon daemon;
    daemon.after["UpdateNode"].push_back(item("UpdateAllocation", kPreempted));
    daemon.after["UpdateAllocation"] = {item("UpdateAllocation", kPreempted), Value{}};
    CHECK(play(kHead + "steps: [{nodes: []}]\n", daemon).empty());
    CHECK(daemon.sequence() == "RegisterResourceManager UpdateNode UpdateAllocation UpdateAllocation");
}

TEST_CASE("scenario.md expect: the first poll at which all holds ends the step") {
    FakeDaemon daemon;
    daemon.after["Sync"] = {Value{}, Value{}, Value{},
                            item("UpdateAllocation", R"({"new":[{"allocationKey":"a","nodeID":"n"}]})")};
    CHECK(play(kHead + "steps: [{expect: {within: 5s, allocations: 1}}]\n", daemon).empty());
}

TEST_CASE("scenario.md output: step, path, wanted and found") {
    FakeDaemon daemon;
    daemon.dumps["queue"] = Value::parse(R"({"status":"Active","isLeaf":true,"allocatedResource":{"vcore":3}})");
    CHECK(play(kHead + "steps: [{cycles: 0}, {expect: {within: 0s, allocations: 1, acceptedNodes: [x], queues: "
                       "{root.a: {state: Stopped, allocated: {vcore: 4}}}}}]\n",
               daemon) == "step 2: allocations: wanted 1, found 0\n"
                          "step 2: acceptedNodes: wanted x, found []\n"
                          "step 2: queues.root.a.state: wanted Stopped, found Active\n"
                          "step 2: queues.root.a.allocated.vcore: wanted 4, found 3\n");
}

TEST_CASE("scenario.md clock: a virtual wait advances the clock, by less than an RM may be silent at once") {
    FakeDaemon daemon;
    CHECK(play("name: n\nclock: virtual\nconfig: ''\nsteps: [{wait: 40s}, {wait: 5ms}]\n", daemon).empty());
    std::vector<Value> advances;
    for (std::size_t i = 0; i < daemon.calls.size(); ++i)
        if (daemon.calls[i] == "Clock") advances.push_back(daemon.bodies[i]["advanceMs"]);
    CHECK(advances == std::vector<Value>{27000, 13000, 5});
    CHECK(daemon.calls.back() == "Poll");
}

TEST_CASE("scenario.md register: a successful registration starts the books empty, a refused one keeps them") {
    FakeDaemon daemon;
    daemon.after["UpdateNode"].push_back(item("UpdateNode", R"({"accepted":[{"nodeID":"n"}]})"));
    const Scenario scenario =
        read(kHead + "steps:\n- nodes: []\n- expect: {acceptedNodes: [n]}\n- register: {config: x}\n"
                     "  refused: true\n- expect: {within: 0s, acceptedNodes: [n]}\n");
    daemon.refusals["RegisterResourceManager"] = "E_CONFIG_INVALID";
    daemon.accepted = 1;
    Player player{scenario, daemon, std::chrono::seconds{30}};
    const auto failures = player.play();
    REQUIRE(failures.ok());
    CHECK(failures->empty());
    // Registration, nodes and the first expectation poll; after the refusal there is no stream any more.
    CHECK(std::count(daemon.calls.begin(), daemon.calls.end(), "Poll") == 3);
}

TEST_CASE("scenario.md: a daemon that goes away is no failed expectation") {
    FakeDaemon daemon;
    daemon.lost = true;
    CHECK(play(kHead + "steps: []\n", daemon) == "lost: gone");
}

TEST_CASE("a stream that the daemon has given up is reported once") {
    FakeDaemon daemon;
    daemon.refusals["Poll"] = "E_RESYNC_REQUIRED";
    CHECK(play(kHead + "steps: [{nodes: []}, {nodes: []}]\n", daemon) ==
          "step 0: callbacks of rm:1: wanted delivered, found E_RESYNC_REQUIRED: text\n");
}

} // namespace
} // namespace yk::scenario
