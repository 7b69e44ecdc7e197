// SPDX-License-Identifier: Apache-2.0
// What the caches say of metrics.
#include "ykd/mcs/metrics/metric_reader.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

namespace {

struct Tested {
    void add(const std::string& id, const std::string& partition, std::int64_t pending) {
        auto deployment = std::make_shared<mcs::Deployment>();
        deployment->meta.id = id;
        deployment->partition = partition;
        deployments.put({deployment});
        auto schedule = std::make_shared<mcs::DeploymentSchedule>();
        schedule->meta.id = id;
        schedule->pending = pending;
        schedules.put({schedule});
    }
    std::int64_t pending_beside(const std::string& id) {
        mcs::MetricTarget metric;
        metric.name = "pendingReplicas";
        metric.source = mcs::MetricSource::Core;
        const auto reading = reader.read({*deployments.get(id), nullptr, metric}, now);
        REQUIRE(reading.ok());
        CHECK(reading->at == now);
        return reading->sum / 1000;
    }

    McsSettings settings;
    rs::ResourceCache<mcs::Deployment> deployments;
    rs::ResourceCache<mcs::DeploymentSchedule> schedules;
    MetricReader reader{{settings, deployments, schedules, [](const auto&) {}, [](const auto&) {}, 1}};
    Instant now{1'000'000'000'000};
};

} // namespace

TEST_CASE("rs R-112 replicas that wait are those of all other Deployments of the partition") {
    Tested tested;
    tested.add("web", "default", 3);
    tested.add("api", "default", 4);
    tested.add("idle", "default", 0);
    tested.add("far", "other", 50);
    CHECK(tested.pending_beside("web") == 4);
    CHECK(tested.pending_beside("api") == 3);
    CHECK(tested.pending_beside("idle") == 7);
    CHECK(tested.pending_beside("far") == 0);
}
