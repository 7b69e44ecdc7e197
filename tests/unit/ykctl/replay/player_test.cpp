// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/player.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "tests/support/decoded.h"

namespace yk::replay {
namespace {

/// A daemon that is never lost.
Reach reach_by(std::function<wire::CallResult<Value>(const wire::EncodedRequest&)> answer) {
    return {[answer = std::move(answer)](const wire::EncodedRequest& request, bool) { return answer(request); },
            [] { return "boot"; },
            [] { return "session"; },
            {},
            {}};
}

/// Places every ask at once, apart from those of pods whose name begins with `big`.
class FakeDaemon {
public:
    std::vector<std::string> calls;
    std::vector<Value> bodies;

    Reach reach() {
        return reach_by([this](const wire::EncodedRequest& request) {
            return answer(std::string{request.kind}, wire::decoded(request));
        });
    }
    [[nodiscard]] std::vector<std::string> keys(const char* list) const {
        std::vector<std::string> out;
        for (const Value& body : bodies) {
            const Value& from = body.contains("releases") ? body["releases"] : body;
            if (from.contains(list))
                for (const Value& entry : from[list]) out.push_back(entry["allocationKey"]);
        }
        return out;
    }

private:
    wire::CallResult<Value> answer(const std::string& kind, Value body) {
        calls.push_back(kind);
        bodies.push_back(body);
        if (kind == "UpdateAllocation" && body.contains("asks"))
            for (const Value& ask : body["asks"]) take(ask);
        if (kind == "StreamLog") return log(body.value("after", std::size_t{0}));
        if (kind == "Explain")
            return Value{{"verdict", "WAITING"},
                         {"reasons", {{{"code", "NODE_FIT"}, {"text", "no node is large enough"}}}}};
        return Value::object();
    }
    void take(const Value& ask) {
        const std::string key = ask["allocationKey"];
        const bool is_big = key.rfind("big", 0) == 0;
        if (!is_big) items_.push_back({{"new", {{{"allocationKey", key}}}}});
        if (key == "odd") items_.push_back({{"rejected", {{{"allocationKey", "odd"}, {"reason", "no"}}}}});
    }
    [[nodiscard]] Value log(std::size_t after) const {
        Value items = Value::array();
        for (std::size_t i = after; i < items_.size(); ++i)
            items.push_back({{"n", i + 1}, {"kind", "UpdateAllocation"}, {"at", 0}, {"body", items_[i]}});
        return {{"items", items}};
    }

    std::vector<Value> items_;
};

Trace trace() {
    Trace out;
    out.nodes = {{"n-1", {{"vcore", 100}}}};
    out.pods = {{"a", {{"vcore", 10}}, "ls", 0, 20},
                {"big-1", {{"vcore", 500}}, "ls", 0, 30},
                {"b", {{"vcore", 20}}, "be", 10, {}},
                {"big-2", {{"vcore", 500}}, "ls", 10, {}}};
    return out;
}

Report play(FakeDaemon& daemon, const Trace& trace, double speed) {
    Session session{daemon.reach(), "replay"};
    TracePlayer player{trace, session, speed, [](const Progress&) {}};
    auto report = player.play("binpacking");
    REQUIRE(report.ok());
    return std::move(report).value();
}

TEST_CASE("issue 2: all at once, without deletions, every pending pod has a reason") {
    FakeDaemon daemon;
    const Report report = play(daemon, trace(), 0);
    CHECK(report.nodes == 1);
    CHECK(report.pods == 4);
    CHECK(report.placed == 2);
    CHECK(report.reasons == std::map<std::string, std::uint64_t>{{"NODE_FIT", 2}});
    CHECK(report.examples.at("NODE_FIT") == "no node is large enough");
    CHECK(report.used == Amounts{{"vcore", 30}});
    CHECK(report.time_to_place.size() == 2);
    CHECK(std::count(daemon.calls.begin(), daemon.calls.end(), "Explain") == 1); // equal pods are asked about once
    CHECK(daemon.keys("asks") == std::vector<std::string>{"a", "big-1", "b", "big-2"});
    CHECK(daemon.keys("allocationsToRelease").empty());
}

TEST_CASE("data/README: the queue is root.qos, with one application per qos") {
    FakeDaemon daemon;
    play(daemon, trace(), 0);
    REQUIRE(daemon.calls.size() > 2);
    const std::string config = daemon.bodies[0]["config"];
    CHECK(config.find("nodesortpolicy: {type: binpacking}") != std::string::npos);
    CHECK(config.find("- name: \"be\"") != std::string::npos);
    CHECK(daemon.bodies[0]["detached"]["keep"].get<int>() > 4);
    CHECK(daemon.bodies[1]["new"].size() == 2);
    CHECK(daemon.bodies[1]["new"][1]["queueName"] == "root.ls");
}

TEST_CASE("data/README: in trace time a pod is released at its deletion time") {
    FakeDaemon daemon;
    const Report report = play(daemon, trace(), 1000);
    CHECK(report.placed == 2);
    CHECK(report.used == Amounts{{"vcore", 20}});
    CHECK(report.reasons == std::map<std::string, std::uint64_t>{{"NODE_FIT", 2}}); // one ended, one still pending
    CHECK(daemon.keys("allocationsToRelease") == std::vector<std::string>{"a", "big-1"});
    CHECK(report.seconds >= 0.03);
}

TEST_CASE("replay: use over time is told once as long as it stays the same") {
    FakeDaemon daemon;
    const Report report = play(daemon, trace(), 1000);
    REQUIRE_FALSE(report.samples.empty());
    for (std::size_t i = 1; i < report.samples.size(); ++i)
        CHECK((report.samples[i].placed != report.samples[i - 1].placed ||
               report.samples[i].used != report.samples[i - 1].used));
}

TEST_CASE("replay: an RM that no replay left is taken; what was registered is deregistered") {
    std::vector<std::string> calls;
    Value version = "1.0";
    Session session{reach_by([&](const wire::EncodedRequest& request) -> wire::CallResult<Value> {
                        calls.emplace_back(request.kind);
                        if (calls.back() == "RegisterResourceManager") version = wire::decoded(request)["version"];
                        return Value{{"rms", {{{"rmID", "replay"}, {"version", version}}}}};
                    }),
                    "replay"};
    CHECK(*session.is_taken());
    CHECK_FALSE(session.is_open());
    REQUIRE(session.open(trace().queues(), "{type: fair}", 10).ok());
    CHECK(session.is_open());
    CHECK_FALSE(*session.is_taken()); // a replay knows its own kind again
    REQUIRE(session.close().ok());
    CHECK(calls.back() == "UnregisterResourceManager");
    CHECK_FALSE(session.is_open());
}

TEST_CASE("replay: a refused node ends it with a message") {
    Session session{
        reach_by([](const wire::EncodedRequest& request) -> wire::CallResult<Value> {
            if (request.kind != "StreamLog") return Value::object();
            return Value::parse(
                R"({"items":[{"n":1,"kind":"UpdateNode","body":{"rejected":[{"nodeID":"n-1","reason":"why"}]}}]})");
        }),
        "replay"};
    const Trace pods = trace();
    TracePlayer player{pods, session, 0, [](const Progress&) {}};
    const auto report = player.play("fair");
    REQUIRE_FALSE(report.ok());
    CHECK(report.error().message == "RM replay: node n-1 was refused: why");
}

TEST_CASE("replay: callbacks that have left the log are no silent loss") {
    Session session{reach_by([](const wire::EncodedRequest&) -> wire::CallResult<Value> {
                        return Value::parse(R"({"items":[{"n":3,"kind":"UpdateNode","body":{}}]})");
                    }),
                    "replay"};
    const auto updates = session.read();
    REQUIRE_FALSE(updates.ok());
    CHECK(updates.error().message == "RM replay: callbacks 1 to 2 are gone from the log");
}

} // namespace
} // namespace yk::replay
