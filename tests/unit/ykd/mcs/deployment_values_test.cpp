// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/deployment_values.h"

#include <catch2/catch.hpp>

#include <functional>

#include "protocol/mcs/schedule_text.h"
#include "protocol/si/errors.h"

using namespace yk;
using namespace yk::service;

namespace {

si::McsWriteRequest request(const std::function<void(si::McsBody&)>& change = {}) {
    si::McsBody body;
    body.name = "web";
    body.user = "u";
    body.resource = si::Resources{{"vcore", 1000}, {"gpu", 0}};
    if (change) change(body);
    return {"create", "deployment", "", 0, std::move(body)};
}

/// `E_INVALID path`, or good.
std::string verdict(const si::McsWriteRequest& of, const McsSettings& settings = {}) {
    const auto made = deployment_of(of, settings);
    if (made.ok()) return "good";
    return std::string{si::name(static_cast<si::ErrorCode>(made.error().code))} + ' ' + made.error().where;
}

std::string verdict(const std::function<void(si::McsBody&)>& change) {
    return verdict(request(change));
}

} // namespace

TEST_CASE("rs R-157 a Deployment is made of what a request says, with defaults for the rest") {
    McsSettings settings;
    settings.delete_mode = mcs::DeleteMode::Owners;
    settings.max_replicas = 50;
    const auto made = deployment_of(request(), settings);
    REQUIRE(made.ok());
    CHECK(made->meta.id.size() == 26);
    CHECK(made->meta.uid.empty()); // the database gives one
    CHECK((made->name == "web" && made->user == "u" && made->queue.empty() && made->partition == "default"));
    CHECK(made->resource == mcs::Amounts{{"vcore", 1000}}); // nothing of a type is as not to name it
    CHECK((made->replicas == 1 && made->min_replicas == 0 && made->max_replicas == 50));
    CHECK(made->delete_mode == mcs::DeleteMode::Owners);
    si::McsWriteRequest named = request([](si::McsBody& body) {
        body.replicas = 0;
        body.delete_mode = "orphan";
        body.priority = -3;
        body.tags = si::StringMap{{"a", "b"}};
    });
    named.id = "mine";
    const auto other = deployment_of(named, settings);
    REQUIRE(other.ok());
    CHECK((other->meta.id == "mine" && other->replicas == 0 && other->priority == -3));
    CHECK((other->delete_mode == mcs::DeleteMode::Orphan && other->tags.at("a") == "b"));
}

TEST_CASE("rs R-019 ids that are made are different ones, and sort by when they were made") {
    std::string last;
    for (int made = 0; made < 100; ++made) {
        const std::string id = deployment_of(request(), {})->meta.id;
        CHECK(id != last);
        CHECK(id.substr(0, 10) >= last.substr(0, 10));
        last = id;
    }
}

TEST_CASE("rs R-159 what cannot be a Deployment is refused with its place") {
    CHECK(verdict(request()) == "good");
    CHECK(verdict(si::McsWriteRequest{"create", "deployment", "", 0, {}}) == "E_MISSING_FIELD body.name");
    CHECK(verdict([](auto& body) { body.name = std::string(200, 'x'); }) == "good");
    CHECK(verdict([](auto& body) { body.name = std::string(201, 'x'); }) == "E_INVALID body.name");
    CHECK(verdict([](auto& body) { body.user.reset(); }) == "E_MISSING_FIELD body.user");
    CHECK(verdict([](auto& body) { body.resource.reset(); }) == "E_MISSING_FIELD body.resource");
    CHECK(verdict([](auto& body) { body.resource = si::Resources{{"vcore", 0}}; }) == "E_MISSING_FIELD body.resource");
    CHECK(verdict([](auto& body) { body.resource = si::Resources{{"vcore", -1}}; }) == "E_INVALID body.resource");
    CHECK(verdict([](auto& body) { body.replicas = 10'000; }) == "good");
    CHECK(verdict([](auto& body) { body.replicas = 10'001; }) == "E_INVALID body.replicas");
    CHECK(verdict([](auto& body) { body.replicas = ~std::uint64_t{0}; }) == "E_INVALID body.replicas");
    CHECK(verdict([](auto& body) { body.delete_mode = "all"; }) == "E_INVALID body.deleteMode");
    CHECK(verdict([](auto& body) { body.delete_mode = ""; }) == "good");
    si::McsWriteRequest long_id = request();
    long_id.id = std::string(201, 'x');
    CHECK(verdict(long_id) == "E_INVALID id");
    McsSettings small;
    small.max_deployment_size = 1024;
    const auto tagged = [](std::size_t size) {
        return request([size](si::McsBody& body) { body.tags = si::StringMap{{"k", std::string(size, 'v')}}; });
    };
    CHECK(verdict(tagged(900), small) == "good");
    CHECK(verdict(tagged(1024), small) == "E_LIMIT body");
}

TEST_CASE("rs R-116 a number is within the bounds, and 0 always allowed") {
    CHECK(check_replicas(0, 3, 9).ok());
    CHECK_FALSE(check_replicas(2, 3, 9).ok());
    CHECK(check_replicas(3, 3, 9).ok());
    CHECK(check_replicas(9, 3, 9).ok());
    CHECK_FALSE(check_replicas(10, 3, 9).ok());
}

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
