// SPDX-License-Identifier: Apache-2.0
// Random Deployments, policies and metrics, with everything going wrong that can: what each write has to fulfil, and
// what there is once nothing changes any more. The simulation (ykd_sim --mcs) plays more seeds of the same.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/mcs/random_autoscaling.h"

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

TEST_CASE("rs R-109, rs R-147 numbers are within bounds, no write is without a change, and all converges after the "
          "last event") {
    std::uint64_t writes = 0, faults = 0, losses = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        INFO("seed " << seed);
        RandomAutoscaling world(seed);
        REQUIRE(world.play() == "");
        writes += world.writes_seen;
        faults += world.faults_seen;
        losses += world.log.losses;
    }
    CHECK(writes > 160); // the worlds were not empty
    CHECK(faults > 20);
    CHECK(losses > 12);
}

namespace {

/// The same events with each call of a handler made once, or twice.
struct Repeated : AutoscalerWorld {
    explicit Repeated(bool calls_twice) : AutoscalerWorld(without_resync()), calls_twice_(calls_twice) {
        texts.policies["load"] = load_policy();
        start();
    }
    void settle_all() {
        pass(1s);
        if (!calls_twice_) return;
        const rs::EventContext context{rs::Cause::Live, false, 1, {1, true}, now, 0};
        for (const auto& row : deployments.cache().list([](const Deployment&) { return true; })) {
            static_cast<void>(on_deployment.on_add(context, row));
            settle();
            static_cast<void>(on_deployment.on_update(context, row, row));
            settle();
        }
        for (const auto& row : scales.cache().list([](const DeploymentScale&) { return true; })) {
            static_cast<void>(on_scale.on_add(context, row));
            settle();
            static_cast<void>(on_scale.on_update(context, row, row));
            settle();
        }
        for (const auto& row : gone_) {
            static_cast<void>(on_deployment.on_delete(context, row));
            settle();
        }
        for (const auto& row : gone_scales_) {
            static_cast<void>(on_scale.on_delete(context, row));
            settle();
        }
    }
    void remove(const std::string& id) {
        gone_.push_back(deployments.cache().get(id));
        gone_scales_.push_back(scales.cache().get(id));
        drop(id);
    }
    /// Everything that was written, one line for each row.
    [[nodiscard]] std::vector<std::string> rows() {
        std::vector<std::string> lines;
        for (const auto& [id, row] : scale_rows.rows())
            lines.push_back(id + " v" + std::to_string(row.meta.version) + " of " + row.owner.uid + ": " +
                            std::to_string(row.desired) + " " + row.reason + " " +
                            std::to_string(row.observed_generation));
        return lines;
    }

private:
    bool calls_twice_;
    std::vector<rs::Ptr<Deployment>> gone_;
    std::vector<rs::Ptr<DeploymentScale>> gone_scales_;
};

std::vector<std::string> play(bool calls_twice) {
    Repeated world(calls_twice);
    const auto create = [&](const std::string& id, std::optional<std::int64_t> replicas, DeleteMode mode) {
        Deployment row = deployment(id, 1, 20, replicas);
        row.policy = "load";
        row.delete_mode = mode;
        world.deployment_rows.create(row);
        world.settle_all();
    };
    create("a", 3, DeleteMode::Owners);
    create("b", {}, DeleteMode::Cascade);
    create("c", {}, DeleteMode::Orphan);
    create("d", 5, DeleteMode::Owners);
    world.load("b", 7);
    world.load("c", 9);
    for (const char* const id : {"b", "c", "d"}) world.change(id, [](Deployment& row) { row.max_replicas = 8; });
    world.settle_all();
    for (const char* const id : {"a", "c"}) world.remove(id);
    world.settle_all();
    create("a", 4, DeleteMode::Owners);
    world.scale_rows.drop("d");
    world.settle_all();
    world.scale_rows.change("b", [](DeploymentScale& row) { row.desired = 2; });
    world.settle_all();
    return world.rows();
}

} // namespace

TEST_CASE("rs R-084 every call of a handler may come twice, also one that is long past") {
    const auto once = play(false);
    REQUIRE(once.size() == 4);
    CHECK(play(true) == once);
}

} // namespace yk::testing
