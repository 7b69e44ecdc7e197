// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/deployment_request.h"

#include <catch2/catch.hpp>

#include <functional>

#include "protocol/si/errors.h"
#include "ykd/mcs/metrics/fetched_pages.h"

using namespace yk;
using namespace yk::service;

namespace {

const Submitter kSubmitter{"uid 1000"};

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
    const auto made = deployment_of(of, settings, kSubmitter);
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
                              {}, kSubmitter);
    REQUIRE(made.ok());
    return std::move(made).value();
}

Result<mcs::Deployment> changed(const char* verb, const Edit& edit, const mcs::Deployment& row = three_of_nine()) {
    si::McsBody body;
    if (edit) edit(body);
    return changed_deployment(row, {verb, "deployment", "web", 0, std::move(body)}, {}, kSubmitter);
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
    const auto made = deployment_of(request(), settings, kSubmitter);
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
    const auto other = deployment_of(named, settings, kSubmitter);
    REQUIRE(other.ok());
    CHECK((other->meta.id == "mine" && other->replicas == 0 && other->priority == -3));
    CHECK((other->delete_mode == mcs::DeleteMode::Orphan && other->tags->at("a") == "b"));
}

TEST_CASE("rs R-019 ids that are made are different ones, and sort by when they were made") {
    std::string last;
    for (int made = 0; made < 100; ++made) {
        const std::string id = deployment_of(request(), {}, kSubmitter)->meta.id;
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
    for (const char* name : {" ", "   ", "\u00a0\u3000", "a\nb", "a\x1b[2J", "a\u009b", "a\u200e", "\u200fa",
                             "a\u202eb\u202c", "a\u2066b\u2069", "a\u2069", "\xff"})
        CHECK(verdict([name](auto& body) { body.name = name; }) == "E_INVALID body.name");
    for (const char* name : {"a b", " a", "w\u00e4hler", "\u05d0\u05d1", "\u65e5\u672c"})
        CHECK(verdict([name](auto& body) { body.name = name; }) == "good");
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
    const auto least = deployment_of(request([](si::McsBody& body) { body.min_replicas = 4; }), {}, kSubmitter);
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
}

TEST_CASE("rs R-157 a create with a number and a policy is one row: the number decides, and the policy is there") {
    const auto made = [](std::uint64_t replicas) {
        return deployment_of(request([replicas](si::McsBody& body) {
                                 body.policy = kByLoad;
                                 body.replicas = replicas;
                                 body.max_replicas = 5;
                             }),
                             {}, kSubmitter);
    };
    for (const std::uint64_t replicas : {0U, 2U, 5U}) {
        const auto both = made(replicas);
        REQUIRE(both.ok());
        CHECK((both->replicas == replicas && both->policy == kByLoad && both->min_replicas == 1));
    }
    CHECK(made(6).error().where == "body.replicas");
}

TEST_CASE("rs R-116 a policy goes down to no replica only where that was wished for") {
    const auto least = [](const Edit& edit) {
        const auto made = deployment_of(request([&edit](si::McsBody& body) {
                                            body.policy = kByLoad;
                                            if (edit) edit(body);
                                        }),
                                        {}, kSubmitter);
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

TEST_CASE("rs R-159 rs R-112 a policy is read strictly, and names no page that the settings do not allow") {
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
          "good");
    CHECK(verdict_for(R"({"metrics":[{"name":"load","target":1,"type":"value","source":"core"}]})") ==
          "E_INVALID body.policy.metrics[0].name");
    constexpr const char* kOfPage =
        R"({"metrics":[{"name":"a","target":1,"type":"value","source":"prometheus","url":"http://127.0.0.1:9100/m"}]})";
    CHECK(verdict_for(kOfPage) == "E_INVALID body.policy.metrics[0].url");
    if (!can_fetch_pages()) return;
    McsSettings settings;
    settings.metrics_allowed_hosts = {"127.0.0.1:9100"};
    si::McsWriteRequest request;
    request.verb = "autoscale";
    request.body.emplace().policy = kOfPage;
    mcs::Deployment row;
    row.max_replicas = 5;
    CHECK(changed_deployment(row, request, settings, kSubmitter).ok());
    settings.metrics_allowed_hosts = {"127.0.0.1:9101"};
    CHECK_FALSE(changed_deployment(row, request, settings, kSubmitter).ok());
}

TEST_CASE("rs R-157 apply changes all of what other verbs do, at once, and leaves what it does not name") {
    const auto made = changed("apply", [](si::McsBody& body) {
        body.name = "web";
        body.partition = "default";
        body.queue = "root.b";
        body.replicas = 5;
        body.min_replicas = 2;
        body.max_replicas = 6;
        body.paused = true;
    });
    REQUIRE(made.ok());
    CHECK((made->queue == "root.b" && made->replicas == 5 && made->min_replicas == 2 && made->max_replicas == 6));
    CHECK((made->is_paused && made->user == "u"));
    const auto by_load = changed("apply", [](si::McsBody& body) { body.policy = kByLoad; });
    REQUIRE(by_load.ok());
    CHECK_FALSE(by_load->replicas); // the policy decides
    CHECK(by_load->max_replicas == 9);
    const auto both = changed("apply", [](si::McsBody& body) {
        body.policy = kByLoad;
        body.replicas = 4;
    });
    REQUIRE(both.ok());
    CHECK((both->replicas == 4 && both->policy == kByLoad));
    const auto none = changed(
        "apply",
        [](si::McsBody& body) {
            body.policy = "{}";
            body.replicas = 1;
        },
        *by_load);
    REQUIRE(none.ok());
    CHECK((none->policy == "{}" && none->replicas == 1));
    CHECK_FALSE(changed(
                    "apply", [](si::McsBody& body) { body.policy = "{}"; }, *by_load)
                    .ok()); // nothing would decide
    CHECK(verdict_of("apply", {}) == "E_MISSING_FIELD body");
    CHECK(verdict_of("apply", [](auto& body) { body.name = "n"; }) == "E_INVALID body.name");
    CHECK(verdict_of("apply", [](auto& body) { body.partition = "p"; }) == "E_INVALID body.partition");
    CHECK(verdict_of("apply", [](auto& body) { body.adopt = true; }) == "E_INVALID body.adopt");
    CHECK(verdict_of("apply", [](auto& body) { body.metric.emplace(); }) == "E_INVALID body.metric");
    CHECK(verdict_of("apply", [](auto& body) { body.replicas = 10; }) == "E_INVALID body.replicas");
    CHECK(verdict_of("apply", [](auto& body) { body.policy = "no JSON"; }) == "E_INVALID body.policy");
    CHECK(verdict_of("apply", [](auto& body) { body.min_replicas = 10; }) == "E_INVALID body.minReplicas");
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
    CHECK(verdict_of("set", [](auto& body) { body.paused = true; }) == "E_INVALID body.paused");
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

TEST_CASE("rs R-173 whoever gives the tags of a command is noted, and nobody may say so themselves") {
    const auto tags_of = [](const auto& made) { return *made->tags; };
    const auto made = deployment_of(request([](si::McsBody& body) {
                                        body.tags = si::StringMap{{"command", "true"}};
                                    }),
                                    {}, Submitter{"uid 7"});
    REQUIRE(made.ok());
    CHECK(tags_of(made) == mcs::Texts{{"command", "true"}, {"mcs.submittedBy", "uid 7"}});
    const auto other =
        changed_deployment(*made, {"set", "deployment", "web", 0, si::McsBody{.priority = 3}}, {}, Submitter{"uid 8"});
    REQUIRE(other.ok());
    CHECK(tags_of(other).at("mcs.submittedBy") == "uid 7"); // the command is still theirs
    const auto given = changed_deployment(
        *made, {"set", "deployment", "web", 0, si::McsBody{.tags = si::StringMap{{"command", "true"}}}}, {},
        Submitter{"uid 8"});
    REQUIRE(given.ok());
    CHECK(tags_of(given).at("mcs.submittedBy") == "uid 7"); // it gives back what is there
    const auto another = changed_deployment(
        *made, {"set", "deployment", "web", 0, si::McsBody{.tags = si::StringMap{{"command", "false"}}}}, {},
        Submitter{"uid 8"});
    REQUIRE(another.ok());
    CHECK(tags_of(another).at("mcs.submittedBy") == "uid 8");
    const auto plain =
        changed_deployment(*made, {"set", "deployment", "web", 0, si::McsBody{.tags = si::StringMap{{"team", "a"}}}},
                           {}, Submitter{"uid 8"});
    REQUIRE(plain.ok());
    CHECK(tags_of(plain) == mcs::Texts{{"team", "a"}});
    CHECK(verdict_of("set", [](si::McsBody& body) {
              body.tags = si::StringMap{{"mcs.submittedBy", "uid 0"}};
          }) == "E_INVALID body.tags.mcs.submittedBy");
}

TEST_CASE("rs R-159 a command that no node could begin is refused with the tag that is wrong") {
    const auto with = [](si::StringMap tags) {
        return [tags = std::move(tags)](si::McsBody& body) { body.tags = tags; };
    };
    CHECK(verdict(with({{"command", "true"}, {"env.A_1", "b"}, {"restart", "never"}, {"restarts", "3"}})) == "good");
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"env.YK_A", "1"}, {"env.A B", "c"}, {"env.", "c"}, {"restart", "sometimes"}, {"restarts", "-1"}};
    for (const auto& [tag, value] : wrong) {
        INFO(tag);
        const Edit edit = with({{"command", "true"}, {tag, value}});
        CHECK(verdict(edit) == "E_INVALID body.tags." + tag);
        CHECK(verdict_of("set", edit) == "E_INVALID body.tags." + tag);
        CHECK(verdict_of("apply", edit) == "E_INVALID body.tags." + tag);
        CHECK(verdict(with({{tag, value}})) == "good"); // nothing runs, so it is any tag
    }
    CHECK(verdict(with({{"command", ""}})) == "E_INVALID body.tags.command");
    mcs::Deployment old = three_of_nine(); // of a daemon that did not look at them
    old.tags = mcs::Texts{{"command", "true"}, {"env.YK_A", "1"}};
    CHECK(changed(
              "scale", [](si::McsBody& body) { body.replicas = 2; }, old)
              .ok());
}
