// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/deployment_values.h"

#include <catch2/catch.hpp>

#include "protocol/mcs/schedule_text.h"

using namespace yk;
using namespace yk::service;

TEST_CASE("rs R-138 a child of an earlier life of the id is not shown as its own") {
    auto deployment = std::make_shared<mcs::Deployment>();
    deployment->meta.id = "d";
    deployment->meta.uid = "new";
    auto scale = std::make_shared<mcs::DeploymentScale>();
    scale->owner = {mcs::kDeploymentKind, "d", "old"};
    auto schedule = std::make_shared<mcs::DeploymentSchedule>();
    schedule->owner = {mcs::kDeploymentKind, "d", "new"};
    schedule->placements = {{1, 1, "k", "n1", mcs::PlacementState::Placed, 5},
                            {2, 1, "l", "", mcs::PlacementState::Pending, {}}};
    const wire::Value value = described({deployment, scale, schedule}, Instant{});
    CHECK_FALSE(value.contains("scale"));
    REQUIRE(value.contains("schedule"));
    CHECK(value["schedule"]["placements"].size() == 2);
    CHECK(value["schedule"]["placements"][0]["nodeID"] == "n1");
    CHECK_FALSE(value["schedule"]["placements"][1].contains("nodeID"));
    CHECK_FALSE(value.contains("replicas"));
}

TEST_CASE("rs R-157 what lists and watches show can be given back, the policy included") {
    auto deployment = std::make_shared<mcs::Deployment>();
    CHECK(value_of({deployment, nullptr, nullptr})["policy"] == "{}");
    deployment->policy = R"({"schedule":[{"at":"08:00","replicas":3}]})";
    CHECK(value_of({deployment, nullptr, nullptr})["policy"] == *deployment->policy);
}

TEST_CASE("rs R-119 how long a condition holds counts from when its row was written") {
    auto deployment = std::make_shared<mcs::Deployment>();
    auto scale = std::make_shared<mcs::DeploymentScale>();
    scale->owner.uid = deployment->meta.uid;
    scale->times.updated_ms = 50'000;
    scale->status = R"({"conditions":{"ableToScale":{"ageMs":7000,"is":true,"reason":"Ready"}}})";
    const auto age_at = [&](std::chrono::seconds now) {
        return described({deployment, scale, nullptr}, Instant{} + now)["scale"]["conditions"][0]["ageMs"];
    };
    CHECK(age_at(std::chrono::seconds{60}) == 17'000);
    CHECK(age_at(std::chrono::seconds{40}) == 7'000); // the clock was set back
}

TEST_CASE("rs R-127 a schedule is current when nothing of an earlier version of the Deployment runs") {
    auto deployment = std::make_shared<mcs::Deployment>();
    deployment->resource = {{"vcore", 1}};
    auto schedule = std::make_shared<mcs::DeploymentSchedule>();
    schedule->owner.uid = deployment->meta.uid;
    mcs::ScheduleStatus status = mcs::first_status(*deployment);
    const auto is_current = [&] {
        schedule->status = mcs::schedule_status_text(status);
        return described({deployment, nullptr, schedule}, Instant{})["schedule"]["current"].get<bool>();
    };
    CHECK(is_current());
    deployment->resource = {{"vcore", 2}};
    CHECK_FALSE(is_current()); // the Scheduler has not seen it
    status.versions.push_back({3, mcs::first_status(*deployment).versions.back().spec});
    CHECK_FALSE(is_current()); // some of the first version run
    status.versions.erase(status.versions.begin());
    CHECK(is_current());
    deployment->queue = "root.b";
    CHECK_FALSE(is_current());
}

TEST_CASE("rs R-131 a schedule says why it is not as it should be") {
    auto deployment = std::make_shared<mcs::Deployment>();
    auto schedule = std::make_shared<mcs::DeploymentSchedule>();
    schedule->owner.uid = deployment->meta.uid;
    mcs::ScheduleStatus status = mcs::first_status(*deployment);
    CHECK_FALSE(value_of({deployment, nullptr, schedule})["schedule"].contains("message"));
    status.message = "no queue";
    schedule->status = mcs::schedule_status_text(status);
    CHECK(value_of({deployment, nullptr, schedule})["schedule"]["message"] == "no queue");
}
