// SPDX-License-Identifier: Apache-2.0
#pragma once
// An RmClient with a program and a daemon that a test plays.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "protocol/rm/rm_client.h"
#include "tests/unit/protocol/rm/fake_daemon.h"

namespace yk::testing {

/// Notes what it is told. `log` has the states and what was said, `pauses` every wait in ms.
class Program final : public rm::RmProgram {
public:
    std::vector<std::string> log;
    std::vector<std::uint64_t> handled;
    std::vector<std::int64_t> pauses;
    std::function<rm::Handled(const si::StreamItem&)> handler = [](const si::StreamItem&) { return rm::Handled::Done; };
    std::function<void()> in_pause;
    bool wants_to_end = false;
    std::optional<std::string> config;

    rm::Handled handle(const si::StreamItem& item) override {
        const rm::Handled done = handler(item);
        if (done != rm::Handled::Again) handled.push_back(item.n);
        return done;
    }
    bool pause(std::chrono::milliseconds time) override {
        pauses.push_back(time.count());
        if (in_pause) in_pause();
        return !wants_to_end;
    }
    std::optional<std::string> configuration() override { return config; }
    void state_changed(rm::State from, rm::State to, const std::string& /*why*/) override {
        log.push_back(std::string{rm::text(from)} + "->" + std::string{rm::text(to)});
        if (!rm::may_follow(from, to)) log.emplace_back("which may not be");
    }
    void daemon_is_gone(const std::string& /*why*/) override { log.emplace_back("gone"); }
    void daemon_answers() override { log.emplace_back("answers"); }
    void registered(const rm::Registered& registered) override {
        if (registered.again) log.push_back((registered.reply.kept ? "kept: " : "anew: ") + registered.why);
    }
    void reports(const si::RecoveryCounts& counts, const std::string& why) override {
        log.push_back(why + (why.empty() ? "" : "; ") + "reports " + std::to_string(counts.nodes));
    }
    void corrects(const rm::Differences& what) override {
        log.push_back("corrects " + std::to_string(what.missing) + "/" + std::to_string(what.surplus) + "/" +
                      std::to_string(what.changed) + "/" + std::to_string(what.set_aside));
    }
    void recovered(const si::RecoveryReport& report) override { log.push_back("recovered: " + report.result); }
    void books_fault(const std::string& fault) override { log.push_back("books: " + fault); }

    std::string text() {
        std::string joined;
        for (const std::string& line : log) joined += (joined.empty() ? "" : ", ") + line;
        log.clear();
        return joined;
    }
};

inline rm::RmClient::Options options() {
    rm::RmClient::Options options;
    options.registration.rm_id = "rm";
    options.registration.if_registered = "resume";
    return options;
}

/// A client with its daemon; with books if `file` is not empty.
struct Rig {
    explicit Rig(const std::string& file = {}) {
        if (!file.empty()) books = rm::StreamBooks::open(file, "rm").value();
        client = std::make_unique<rm::RmClient>(daemon, program, books.get(), options());
    }
    /// So many steps, none of which may be final.
    void steps(int count = 1) {
        for (; count > 0; --count) REQUIRE(client->step(std::chrono::milliseconds{0}).ok());
    }
    /// Its process ends and another begins with the same file.
    void restart(const std::string& file) {
        client.reset();
        books.reset();
        books = rm::StreamBooks::open(file, "rm").value();
        client = std::make_unique<rm::RmClient>(daemon, program, books.get(), options());
        daemon.lose_session();
        daemon.kinds.clear();
    }

    FakeDaemon daemon;
    Program program;
    std::unique_ptr<rm::StreamBooks> books;
    std::unique_ptr<rm::RmClient> client;
};

/// One that is registered; with books it has reported that there is nothing.
struct Begun : Rig {
    explicit Begun(const std::string& file = {}) : Rig(file) {
        REQUIRE(client->begin().ok());
        if (books) steps(3);
    }
};

inline wire::Value node_request(const std::string& node, std::int64_t vcore = 10) {
    return {{"kind", "UpdateNode"},
            {"impersonated", true},
            {"body",
             {{"rmID", "rm"},
              {"nodes", {{{"nodeID", node}, {"action", 1}, {"schedulableResource", {{"vcore", vcore}}}}}}}}};
}

inline void put_node(FakeDaemon& daemon, const std::string& node, bool accepted = true) {
    wire::Value request = node_request(node);
    request["answers"] = 1;
    daemon.put("Request", request);
    wire::Value answer{{"nodeID", node}, {"partitionName", "[rm]default"}};
    if (!accepted) answer["element"] = 0;
    daemon.put("UpdateNode", {{accepted ? "accepted" : "rejected", wire::Value::array({std::move(answer)})}});
    daemon.has_something = true;
}

inline void put_application(FakeDaemon& daemon, const std::string& id) {
    daemon.put("Request", {{"answers", 1},
                           {"kind", "UpdateApplication"},
                           {"impersonated", true},
                           {"body", {{"rmID", "rm"}, {"new", {{{"applicationID", id}, {"ugi", {{"user", "u"}}}}}}}}});
    daemon.put("UpdateApplication", {{"accepted", {{{"applicationID", id}, {"partitionName", "[rm]default"}}}}});
}

inline void put_ask(FakeDaemon& daemon, const std::string& key, const std::string& node = {}) {
    daemon.put("Request",
               {{"answers", 0},
                {"kind", "UpdateAllocation"},
                {"impersonated", true},
                {"body",
                 {{"rmID", "rm"},
                  {"asks", {{{"allocationKey", key}, {"applicationID", "app"}, {"resourceAsk", {{"vcore", 1}}}}}}}}});
    if (!node.empty())
        daemon.put("UpdateAllocation", {{"new",
                                         {{{"allocationKey", key},
                                           {"applicationID", "app"},
                                           {"nodeID", node},
                                           {"partitionName", "[rm]default"}}}}});
}

} // namespace yk::testing
