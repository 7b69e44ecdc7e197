// SPDX-License-Identifier: Apache-2.0
// A partition is damaged as nothing that an RM sends can damage it: the daemon finds that by itself, the RM has Failed,
// others go on, and each way out does what it says (I-245, I-250 to I-254).

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <utility>

#include "libcore/config_yaml/load.h"
#include "libcore/partition/partition_context.h"
#include "protocol/client/client.h"
#include "tests/support/comes_true.h"
#include "tests/support/tamper.h"
#include "ykd/daemon/daemon.h"

using namespace yk;
using namespace yk::service;
using namespace yk::testing;

namespace {

using si::CoreState;

constexpr const char* kConfig = R"(
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
)";

/// A daemon without listeners, and RMs in it that nobody serves.
class Cluster {
public:
    Cluster() : daemon_(settings(), "test") {
        install("rm");
        install("other");
        fill("rm");
        fill("other");
    }

    /// Calls `call` on the owner thread and waits for its result.
    template <class Call>
    auto on(const std::string& id, const Call& call) {
        std::promise<decltype(call(std::declval<RmOwner&>()))> promise;
        const RmPtr rm = daemon_.parts().rms.find(id);
        REQUIRE(rm != nullptr);
        rm->owner.in_order([&](RmOwner& owner) { promise.set_value(call(owner)); }, [] {});
        return promise.get_future().get();
    }
    void install(const std::string& id) {
        const RmPtr rm = *daemon_.parts().registry.make(id, {"uid 1", false});
        const bool done = on(id, [&](RmOwner& owner) {
            RmWish wish;
            wish.request.rm_id = id;
            wish.request.detached.emplace();
            wish.text = kConfig;
            wish.origin = "test";
            wish.loaded = std::make_shared<const config_yaml::LoadOutcome>(config_yaml::load(kConfig, "config"));
            return daemon_.parts().installer.install(*rm, owner, std::move(wish)).ok();
        });
        REQUIRE(done);
    }
    /// A node, an application, and an allocation of 4 of its 10 vcores.
    void fill(const std::string& id) {
        on(id, [](RmOwner& owner) {
            si::NodeRequest nodes;
            nodes.nodes.resize(1);
            nodes.nodes[0].node_id = "n";
            nodes.nodes[0].action = si::NodeAction::Create;
            nodes.nodes[0].schedulable_resource = si::Resources{{"vcore", 10}};
            owner.gateway().apply(nodes, owner.now());
            si::ApplicationRequest applications;
            applications.add.resize(1);
            applications.add[0].application_id = "app";
            applications.add[0].queue_name = "root.a";
            applications.add[0].ugi.user = "u";
            owner.gateway().apply(applications, std::vector<std::string>(1), owner.now());
            return true;
        });
        place(id, "k");
    }
    void place(const std::string& id, const std::string& key) {
        on(id, [&](RmOwner& owner) {
            si::AllocationRequest request;
            request.allocations.resize(1);
            request.allocations[0].allocation_key = key;
            request.allocations[0].application_id = "app";
            request.allocations[0].node_id = "n";
            request.allocations[0].resource_per_alloc = si::Resources{{"vcore", 4}};
            owner.gateway().apply(request, owner.now());
            return true;
        });
    }
    void ask(const std::string& id, const std::string& key) {
        on(id, [&](RmOwner& owner) {
            si::AllocationRequest request;
            request.asks.resize(1);
            request.asks[0].allocation_key = key;
            request.asks[0].application_id = "app";
            request.asks[0].resource_ask = si::Resources{{"vcore", 1}};
            owner.gateway().apply(request, owner.now());
            return true;
        });
    }
    std::int64_t allocations(const std::string& id) {
        return on(id, [](RmOwner& owner) { return contents_of(owner).allocations; });
    }
    void damage(const std::string& id, const std::function<void(PartitionState&)>& damage) {
        on(id, [&](RmOwner& owner) {
            static_cast<void>(owner.read("default")); // what is dirty is filed before, and not after the damage
            damage(const_cast<PartitionState&>(owner.context()->find_partition("default")->state()));
            return true;
        });
    }

    /// One run of the checks; the diagnosis of the one of this name.
    std::string check(const std::string& name = {}) { return run(HealthKeeper::Thorough::Small, name); }
    std::string check_all(const std::string& name) { return run(HealthKeeper::Thorough::All, name); }
    std::string run(HealthKeeper::Thorough thorough, const std::string& name) {
        std::promise<wire::Value> promise;
        daemon_.parts().health.run(thorough, [&](const wire::Value& result) { promise.set_value(result); });
        const wire::Value result = promise.get_future().get();
        for (const wire::Value& one : result["HealthChecks"])
            if (one["Name"] == name) return one["Succeeded"].get<bool>() ? "" : one["DiagnosisMessage"];
        return {};
    }
    [[nodiscard]] CoreState state(const std::string& id) {
        return on(id, [](RmOwner& owner) { return owner.state(); });
    }
    [[nodiscard]] std::string reason(const std::string& id) {
        return daemon_.parts().rms.find(id)->owner.state_record().reason;
    }
    /// The RM says that it has what is there.
    si::RecoveryReport done(const std::string& id, std::uint32_t attempt = 1) {
        return on(id, [&](RmOwner& owner) {
            const RecoveryView has = owner.gateway().recovery().view();
            si::RecoveryDoneRequest claim;
            claim.id = "again";
            claim.attempt = attempt;
            claim.expected = {has.restored(RecoveryKind::Nodes).count(),
                              has.restored(RecoveryKind::Applications).count(),
                              has.restored(RecoveryKind::Allocations).count(),
                              {}};
            claim.digest = {has.restored(RecoveryKind::Nodes).sum(), has.restored(RecoveryKind::Applications).sum(),
                            has.restored(RecoveryKind::Allocations).sum()};
            return *owner.recovery().compare(claim);
        });
    }
    void retry(const std::string& id) {
        on(id, [](RmOwner& owner) {
            owner.recovery().retry();
            return true;
        });
    }
    void accept(const std::string& id) {
        on(id, [](RmOwner& owner) {
            owner.recovery().accept();
            return true;
        });
    }
    void reset(const std::string& id) {
        const RmPtr rm = daemon_.parts().rms.find(id);
        CHECK(on(id, [&](RmOwner& owner) { return owner.recovery().reset(*rm->facts().configuration).ok(); }));
    }
    void abort(const std::string& id) {
        const RmPtr rm = daemon_.parts().rms.find(id);
        on(id, [&](RmOwner& owner) {
            owner.uninstall("its recovery was aborted");
            daemon_.parts().registry.retire(rm, owner);
            return true;
        });
    }

private:
    static DaemonSettings settings() {
        DaemonSettings settings;
        settings.extra_config = {{"health.checkInterval", "0"}}; // only when the test wants it
        return settings;
    }

    Daemon daemon_;
};

ResourceId vcore(const PartitionState& state) {
    return state.resources.find("vcore");
}
Node& node(PartitionState& state) {
    return state.nodes[state.nodes.find("n")];
}
Application& application(PartitionState& state) {
    return state.applications[state.find_application("app")];
}
Queue& queue(PartitionState& state) {
    return *application(state).queue;
}

struct Damage {
    const char* what;
    std::function<void(PartitionState&, std::int64_t)> change; // adds so much somewhere
    const char* check;                                         // the one that finds it
};

const std::vector<Damage>& damages() {
    static const std::vector<Damage> kAll{
        {"queue sum",
         [](PartitionState& s, std::int64_t by) {
             tamper(queue(s).allocated).set(vcore(s), queue(s).allocated.get(vcore(s)) + by);
         },
         "Queue usage"},
        {"node sum",
         [](PartitionState& s, std::int64_t by) {
             tamper(node(s).available).set(vcore(s), node(s).available.get(vcore(s)) + by);
             s.nodes.mark_dirty(s.nodes.find("n"), true); // its place in the order is that of the sum
         },
         "Consistency of data (node)"},
        {"partition sum",
         [](PartitionState& s, std::int64_t by) { s.capacity.set(vcore(s), s.capacity.get(vcore(s)) + by); },
         "Consistency of data (partition)"},
        {"application sum",
         [](PartitionState& s, std::int64_t by) {
             tamper(application(s).allocated).set(vcore(s), application(s).allocated.get(vcore(s)) + by);
         },
         "Queue usage"},
        {"user sum",
         [](PartitionState& s, std::int64_t by) {
             Resource& usage = s.users[application(s).user_usage].usage;
             usage.set(vcore(s), usage.get(vcore(s)) + by);
         },
         "User usage"},
        {"index of nodes", [](PartitionState& s, std::int64_t by) { node(s).schedulable = by < 0; }, "Invariants"},
        {"number of pending asks",
         [](PartitionState& s, std::int64_t by) {
             s.pending_asks = static_cast<std::uint64_t>(static_cast<std::int64_t>(s.pending_asks) + by);
         },
         "Invariants"},
    };
    return kAll;
}

} // namespace

TEST_CASE("I-245 a damaged partition is found, its RM has failed after two runs, and others go on") {
    for (const Damage& damage : damages()) {
        INFO(damage.what);
        Cluster c;
        REQUIRE(c.check(damage.check).empty());
        c.damage("rm", [&](PartitionState& state) { damage.change(state, 1); });
        CHECK(c.check(damage.check).find("RM rm: ") == 0);
        CHECK(c.state("rm") == CoreState::Running); // once may be a mistake
        CHECK_FALSE(c.check(damage.check).empty());
        CHECK(c.state("rm") == CoreState::Failed);
        CHECK(c.reason("rm").find("consistency is lost: ") == 0);
        CHECK(c.state("other") == CoreState::Running);
        c.ask("rm", "waits");
        c.ask("other", "goes on");
        CHECK(comes_true([&] { return c.allocations("other") == 2; }));
        CHECK(c.allocations("rm") == 1); // a failed RM is not scheduled for (I-252)
    }
}

TEST_CASE("I-245 I-201 clients see a damaged RM fail by itself, with a notice, while another one is served") {
    std::string folder = "/tmp/yk.check.XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    DaemonSettings settings;
    settings.listen = {"ipc://" + folder + "/s"};
    settings.extra_config = {{"health.checkInterval", "20ms"}};
    Daemon daemon{settings, "test"};
    REQUIRE(daemon.start().ok());
    wire::ClientOptions options;
    options.url = settings.listen.front();
    const auto client = wire::Client::connect(options);
    REQUIRE(client.ok());
    const auto call = [&](std::string_view kind, const wire::Value& body) {
        auto answer = (*client)->call(kind, body, kPatience);
        if (!answer.ok()) FAIL(kind << ": " << answer.error().message);
        return std::move(answer).value();
    };
    std::map<std::string, wire::Value> streams;
    for (const char* id : {"rm", "other"}) {
        streams[id] = call("RegisterResourceManager", {{"rmID", id}, {"config", kConfig}})["streamEpoch"];
        call("UpdateNode",
             {{"rmID", id}, {"nodes", {{{"nodeID", "n"}, {"action", 1}, {"schedulableResource", {{"vcore", 10}}}}}}});
        call("UpdateApplication",
             {{"rmID", id}, {"new", {{{"applicationID", "app"}, {"queueName", "root.a"}, {"ugi", {{"user", "u"}}}}}}});
        call("Sync", {{"rmID", id}});
    }
    const auto state = [&](const std::string& id) {
        const wire::Value status = call("Status", {});
        for (const wire::Value& rm : status["rms"])
            if (rm["rmID"] == id) return rm["state"].get<int>();
        return -1;
    };
    std::promise<void> damaged;
    daemon.parts().rms.find("rm")->owner.in_order(
        [&](RmOwner& owner) {
            static_cast<void>(owner.read("default"));
            ++const_cast<PartitionState&>(owner.context()->find_partition("default")->state()).pending_asks;
            damaged.set_value();
        },
        [] {});
    damaged.get_future().wait();
    REQUIRE(comes_true([&] { return state("rm") == static_cast<int>(CoreState::Failed); }));
    std::string said;
    for (std::uint64_t ack = 0; said.empty();) {
        const wire::Value page = call("Poll", {{"rmID", "rm"}, {"streamEpoch", streams["rm"]}, {"ack", ack}});
        for (const wire::Value& item : page["items"]) {
            ack = item["n"].get<std::uint64_t>();
            if (item["kind"] == "Notice" && item["body"]["code"] == "STATE") said = item["body"].dump();
        }
    }
    CHECK(said.find("consistency is lost") != std::string::npos);
    const auto ask = [&](const char* id) {
        call("UpdateAllocation",
             {{"rmID", id},
              {"asks", {{{"allocationKey", "k"}, {"applicationID", "app"}, {"resourceAsk", {{"vcore", 1}}}}}}});
        return call("Sync", {{"rmID", id},
                             {"asks", {{{"applicationID", "app"}, {"allocationKey", "k"}}}}})["asks"][0]["outcome"];
    };
    CHECK(ask("rm") == "pending"); // I-252
    CHECK(ask("other") == "placed");
    CHECK(state("other") == static_cast<int>(CoreState::Running));
    CHECK(call("Health", {{"run", true}})["Healthy"] == false);
    (*client)->bye();
    daemon.stop(std::chrono::milliseconds{0});
    std::filesystem::remove_all(folder);
}

TEST_CASE("I-254 reset brings a damaged RM back: it is empty, and what it replays is sound") {
    for (const Damage& damage : damages()) {
        INFO(damage.what);
        Cluster c;
        c.damage("rm", [&](PartitionState& state) { damage.change(state, 1); });
        c.check();
        c.check();
        REQUIRE(c.state("rm") == CoreState::Failed);
        c.reset("rm");
        CHECK(c.state("rm") == CoreState::Recovering);
        CHECK(c.allocations("rm") == 0);
        c.fill("rm");
        CHECK(c.done("rm").result == "running");
        CHECK(c.state("rm") == CoreState::Running);
        c.check();
        CHECK(c.check(damage.check).empty());
        CHECK(c.state("rm") == CoreState::Running);
        c.ask("rm", "goes on");
        CHECK(comes_true([&] { return c.allocations("rm") == 2; }));
    }
}

TEST_CASE("I-236 I-254 retry keeps what is there, so it succeeds only when that is sound") {
    for (const Damage& damage : damages()) {
        if (damage.check == std::string{"Invariants"}) continue; // no health check: RecoveryDone does not see it
        INFO(damage.what);
        Cluster c;
        c.damage("rm", [&](PartitionState& state) { damage.change(state, 1); });
        c.check();
        c.check();
        c.retry("rm");
        CHECK(c.state("rm") == CoreState::Recovering);
        const si::RecoveryReport report = c.done("rm");
        CHECK(report.result == "retry");
        REQUIRE_FALSE(report.faults.empty());
        CHECK(report.faults.front().find(damage.check) == 0);
        c.damage("rm", [&](PartitionState& state) { damage.change(state, -1); });
        CHECK(c.done("rm", 2).result == "running");
        c.check();
        CHECK(c.check(damage.check).empty());
        CHECK(c.state("rm") == CoreState::Running);
    }
}

TEST_CASE("I-254 accept lets a damaged RM run until it is found again; abort lets it leave and come anew") {
    for (const Damage& damage : damages()) {
        INFO(damage.what);
        Cluster c;
        c.damage("rm", [&](PartitionState& state) { damage.change(state, 1); });
        c.check();
        c.check();
        c.accept("rm");
        CHECK(c.state("rm") == CoreState::Running);
        c.check();
        CHECK(c.state("rm") == CoreState::Running);
        c.check();
        CHECK(c.state("rm") == CoreState::Failed);
        c.abort("rm");
        c.install("rm");
        c.fill("rm");
        c.check();
        CHECK(c.check(damage.check).empty());
        CHECK(c.state("rm") == CoreState::Running);
        CHECK(c.state("other") == CoreState::Running);
    }
}

TEST_CASE("I-245 invariants of a large RM are checked on demand only, and two such runs decide") {
    Cluster c;
    c.on("rm", [](RmOwner& owner) {
        si::NodeRequest nodes;
        for (int i = 0; i < 5000; ++i) {
            nodes.nodes.emplace_back();
            nodes.nodes.back().node_id = "n" + std::to_string(i);
            nodes.nodes.back().action = si::NodeAction::Create;
            nodes.nodes.back().schedulable_resource = si::Resources{{"vcore", 1}};
        }
        owner.gateway().apply(nodes, owner.now());
        return true;
    });
    c.damage("rm", [](PartitionState& state) { ++state.pending_asks; });
    CHECK(c.check("Invariants").empty());
    CHECK_FALSE(c.check_all("Invariants").empty());
    c.check(); // says nothing about invariants of this RM
    CHECK(c.state("rm") == CoreState::Running);
    CHECK_FALSE(c.check_all("Invariants").empty());
    CHECK(c.state("rm") == CoreState::Failed);
}
