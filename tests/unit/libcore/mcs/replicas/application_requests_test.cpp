// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/application_requests.h"

#include <catch2/catch.hpp>

#include "tests/support/mcs/deployments.h"

namespace yk::testing {

using namespace mcs;

namespace {

Deployment web() {
    Deployment made = deployment("web", 1, 10);
    made.meta.uid = "0123456789abcdef";
    made.partition = "gpu";
    made.queue = "root.web";
    made.user = "ann";
    made.groups = {"staff", "web"};
    made.resource = {{"memory", 1'000'000}, {"vcore", 500}};
    made.priority = -7;
    made.tags = Texts{{"team", "blue"}};
    return made;
}

DeploymentSchedule row_of(const Deployment& owner) {
    DeploymentSchedule made;
    made.meta.id = owner.meta.id;
    made.owner = {kDeploymentKind, owner.meta.id, owner.meta.uid};
    made.application_id = application_id_of(owner.meta);
    return made;
}

} // namespace

TEST_CASE("rs R-126 the application of a Deployment has its queue, user, groups and tags, and says whose it is") {
    const AddApplication made = application_of(row_of(web()), application_spec_of(web()));
    CHECK(made.application_id == "mcs-web-01234567");
    CHECK(made.partition == "gpu");
    CHECK(made.queue == "root.web");
    CHECK(made.user == "ann");
    CHECK(made.groups == std::vector<std::string>{"staff", "web"});
    CHECK(made.tags == Texts{{"mcs.deployment.id", "web"},
                             {"mcs.deployment.uid", "0123456789abcdef"},
                             {"namespace", "default"},
                             {"team", "blue"}});
}

TEST_CASE("rs R-126 the namespace of a Deployment is its own, if it names one") {
    Deployment other = web();
    other.tags = Texts{{"namespace", "blue"}};
    CHECK(application_of(row_of(other), application_spec_of(other)).tags.at("namespace") == "blue");
}

TEST_CASE("rs R-126 a tag of the user's cannot make an application another one's") {
    Deployment forged = web();
    forged.tags = Texts{{"mcs.deployment.uid", "other"}};
    CHECK(application_of(row_of(forged), application_spec_of(forged)).tags.at("mcs.deployment.uid") ==
          "0123456789abcdef");
}

TEST_CASE("rs R-126 the ask of a replica depends on the rows alone, and each attempt has a key of its own") {
    const Placement placement = pending_placement("mcs-web-01234567", 12, 3);
    CHECK(placement == Placement{12, 3, "mcs-web-01234567/r12.3", "", PlacementState::Pending, std::nullopt});
    const ScheduleStatus status = first_status(web());
    const AskReplica ask = ask_of("mcs-web-01234567", status, placement);
    CHECK(ask == AskReplica{"mcs-web-01234567", "gpu", "mcs-web-01234567/r12.3", web().resource, -7});
    CHECK(ask == ask_of("mcs-web-01234567", status, placement));
}

TEST_CASE("rs R-126 a Deployment that is made again under its id is another application") {
    Deployment again = web();
    again.meta.uid = "fedcba9876543210";
    CHECK(application_id_of(again.meta) == "mcs-web-fedcba98");
    again.meta.uid = "u1"; // somebody gave a short one
    CHECK(application_id_of(again.meta) == "mcs-web-u1");
}

TEST_CASE("rs R-126 keys of the longest id stay below the limit of the interface") {
    rs::ResourceMeta meta;
    meta.id = std::string(200, 'x');
    meta.uid = "0123456789abcdef";
    CHECK(allocation_key_of(application_id_of(meta), 1'000'000'000, 1'000'000'000).size() < 256);
}

} // namespace yk::testing
