// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/deployment_request.h"

#include <catch2/catch.hpp>

#include <functional>

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

using Edit = std::function<void(si::McsBody&)>;
constexpr const char* kByLoad = R"({"metrics":[{"name":"load","target":70000,"type":"average"}]})";

/// What is created with 1 to 9 replicas, of which 3 run.
mcs::Deployment three_of_nine() {
    auto made = deployment_of(request([](si::McsBody& body) {
                                  body.replicas = 3;
                                  body.min_replicas = 1;
                                  body.max_replicas = 9;
                              }),
                              {});
    REQUIRE(made.ok());
    return std::move(made).value();
}

Result<mcs::Deployment> changed(const char* verb, const Edit& edit, const mcs::Deployment& row = three_of_nine()) {
    si::McsBody body;
    if (edit) edit(body);
    return changed_deployment(row, {verb, "deployment", "web", 0, std::move(body)}, {});
}

std::string verdict_of(const char* verb, const Edit& edit) {
    const auto made = changed(verb, edit);
    if (made.ok()) return "good";
    return std::string{si::name(static_cast<si::ErrorCode>(made.error().code))} + ' ' + made.error().where;
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
    CHECK((made->name == "web" && made->user == "u" && made->queue->empty() && made->partition == "default"));
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
    CHECK((other->delete_mode == mcs::DeleteMode::Orphan && other->tags->at("a") == "b"));
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
    const auto verdict_for = [](std::uint64_t replicas) {
        return verdict_of("scale", [replicas](si::McsBody& body) { body.replicas = replicas; });
    };
    CHECK(verdict_for(0) == "good");
    CHECK(verdict_for(1) == "good");
    CHECK(verdict_for(9) == "good");
    CHECK(verdict_for(10) == "E_INVALID body.replicas");
    CHECK(verdict_for(~std::uint64_t{0}) == "E_INVALID body.replicas");
    CHECK(verdict_of("scale", {}) == "E_MISSING_FIELD body.replicas");
    CHECK(verdict([](auto& body) { body.min_replicas = 10'001; }) == "E_INVALID body.minReplicas");
    CHECK(verdict([](auto& body) { body.max_replicas = 10'001; }) == "E_INVALID body.maxReplicas");
    CHECK(verdict([](auto& body) { body.max_replicas = ~std::uint64_t{0}; }) == "E_INVALID body.maxReplicas");
    CHECK(verdict([](auto& body) {
              body.min_replicas = 5;
              body.max_replicas = 4;
          }) == "E_INVALID body.minReplicas");
    const auto least = deployment_of(request([](si::McsBody& body) { body.min_replicas = 4; }), {});
    REQUIRE(least.ok());
    CHECK(least->replicas == 4); // neither a number nor a policy
}

TEST_CASE("rs R-110 a policy takes the place of a number, and a number that of the policy") {
    const auto by_load = changed("autoscale", [](si::McsBody& body) { body.policy = kByLoad; });
    REQUIRE(by_load.ok());
    CHECK_FALSE(by_load->replicas);
    CHECK(by_load->policy == kByLoad);
    CHECK((by_load->min_replicas == 1 && by_load->max_replicas == 9));
    const auto by_hand = changed(
        "scale", [](si::McsBody& body) { body.replicas = 2; }, *by_load);
    REQUIRE(by_hand.ok());
    CHECK((by_hand->replicas == 2 && by_hand->policy == kByLoad));
    const auto again = changed(
        "autoscale", [](si::McsBody& body) { body.max_replicas = 20; }, *by_hand);
    REQUIRE(again.ok());
    CHECK((!again->replicas && again->policy == kByLoad && again->max_replicas == 20));
    CHECK(verdict_of("autoscale", {}) == "E_MISSING_FIELD body.policy"); // there is none that could decide
    CHECK(verdict([](auto& body) {
              body.policy = kByLoad;
              body.replicas = 2;
          }) == "E_INVALID body.replicas");
}

TEST_CASE("rs R-116 a policy goes down to no replica only where that was wished for") {
    const auto least = [](const Edit& edit) {
        const auto made = deployment_of(request([&edit](si::McsBody& body) {
                                            body.policy = kByLoad;
                                            if (edit) edit(body);
                                        }),
                                        {});
        REQUIRE(made.ok());
        return made->min_replicas;
    };
    CHECK(least({}) == 1);
    CHECK(least([](si::McsBody& body) { body.min_replicas = 0; }) == 0);
    const auto zero = changed("autoscale", [](si::McsBody& body) {
        body.policy = kByLoad;
        body.min_replicas = 0;
    });
    REQUIRE(zero.ok());
    CHECK(zero->min_replicas == 0);
    CHECK(changed(
              "autoscale", [](si::McsBody& body) { body.max_replicas = 5; }, *zero)
              ->min_replicas == 0); // it stays
}

TEST_CASE("rs R-159 a policy is read strictly, and what has no effect yet is refused") {
    const auto verdict_for = [](const char* policy) {
        return verdict_of("autoscale", [policy](si::McsBody& body) { body.policy = policy; });
    };
    CHECK(verdict_for(kByLoad) == "good");
    CHECK(verdict_for(R"({"schedule":[{"at":"08:00","replicas":3}]})") == "good");
    CHECK(verdict_for("{}") == "E_INVALID body.policy");
    CHECK(verdict_for("no JSON") == "E_INVALID body.policy");
    CHECK(verdict_for(R"({"metrics":[{"name":"load","target":0,"type":"average"}]})") ==
          "E_INVALID body.policy.metrics[0].target");
    CHECK(verdict_for(R"({"schedule":[{"at":"24:00","replicas":3}]})") == "E_INVALID body.policy.schedule[0].at");
    CHECK(verdict_for(R"({"metrics":[{"name":"pendingReplicas","target":1,"type":"value","source":"core"}]})") ==
          "E_INVALID body.policy.metrics[0].source");
}

TEST_CASE("rs R-157 set replaces what it names, and refuses what it does not change") {
    const auto made = changed("set", [](si::McsBody& body) {
        body.queue = "root.b";
        body.resource = si::Resources{{"memory", 5}};
        body.tags = si::StringMap{{"x", "y"}};
        body.priority = 7;
        body.groups = std::vector<std::string>{"g"};
        body.delete_mode = "orphan";
    });
    REQUIRE(made.ok());
    CHECK((made->queue == "root.b" && made->resource == mcs::Amounts{{"memory", 5}} && made->priority == 7));
    CHECK((made->tags == mcs::Texts{{"x", "y"}} && made->groups == std::vector<std::string>{"g"}));
    CHECK((made->delete_mode == mcs::DeleteMode::Orphan && made->user == "u" && made->replicas == 3));
    CHECK(verdict_of("set", {}) == "E_MISSING_FIELD body");
    CHECK(verdict_of("set", [](auto& body) { body.user = ""; }) == "E_MISSING_FIELD body.user");
    CHECK(verdict_of("set", [](auto& body) { body.name = "n"; }) == "E_INVALID body.name");
    CHECK(verdict_of("set", [](auto& body) { body.partition = "p"; }) == "E_INVALID body.partition");
    CHECK(verdict_of("set", [](auto& body) { body.adopt = true; }) == "E_INVALID body.adopt");
    CHECK(verdict_of("set", [](auto& body) { body.metric.emplace(); }) == "E_INVALID body.metric");
    CHECK(verdict_of("set", [](auto& body) { body.replicas = 2; }) == "E_INVALID body.replicas");
    CHECK(verdict_of("set", [](auto& body) { body.policy = kByLoad; }) == "E_INVALID body.policy");
    CHECK(verdict_of("set", [](auto& body) { body.min_replicas = 2; }) == "E_INVALID body.minReplicas");
    CHECK(verdict_of("set", [](auto& body) { body.max_replicas = 2; }) == "E_INVALID body.maxReplicas");
    CHECK(verdict_of("set", [](auto& body) { body.resource = si::Resources{}; }) == "E_MISSING_FIELD body.resource");
    CHECK(verdict_of("set", [](auto& body) { body.queue = std::string(20'000, 'q'); }) == "E_LIMIT body");
}

TEST_CASE("rs R-110 a paused Deployment stays paused until it is resumed") {
    const auto paused = changed("pause", {});
    REQUIRE(paused.ok());
    CHECK(paused->is_paused);
    CHECK_FALSE(changed("resume", {}, *paused)->is_paused);
    for (const char* verb : {"scale", "autoscale", "set", "pause", "resume"}) CHECK(is_change(verb));
    for (const char* verb : {"create", "delete", "metric", ""}) CHECK_FALSE(is_change(verb));
}
