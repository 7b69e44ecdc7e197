// SPDX-License-Identifier: Apache-2.0
// config.md section 7: access to queues.

#include <catch2/catch.hpp>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using Groups = std::vector<std::string_view>;

const char* const kConfiguration = "partitions: [{queues: [{name: root, adminacl: boss, queues: ["
                                   "{name: team, parent: true, submitacl: 'ann dev', queues: [{name: a, submitacl: "
                                   "'bob', adminacl: ' ops'}, {name: b}]},"
                                   "{name: closed}]}]}]";

class Access {
public:
    explicit Access(const std::string& configuration = kConfiguration)
        : core_("rm", Cluster::manual_settings(), said_.callbacks, said_.events) {
        configure(configuration);
    }
    void configure(const std::string& configuration) {
        REQUIRE(play_configuration(core_, configuration, kStart) == "ok");
    }
    [[nodiscard]] bool submits(const char* path, const char* user, const Groups& groups = {}) const {
        return queue(path).grants_submit(user, groups);
    }
    [[nodiscard]] bool administers(const char* path, const char* user, const Groups& groups = {}) const {
        return queue(path).grants_admin(user, groups);
    }
    std::string place(const std::string& id, const std::string& fields) {
        REQUIRE_FALSE(play(core_, *parse_command("apps new id=" + id + " " + fields), kStart).size() > 0);
        return application_view(*core_.read("default"), id)->state;
    }

private:
    [[nodiscard]] const Queue& queue(const char* path) const {
        return *core_.find_partition("default")->state().queues.find(path);
    }
    Recorder said_;
    ClusterContext core_;
};

} // namespace

TEST_CASE("C-134 C-135 access comes from the queue or from any above it, by a submit or an admin ACL") {
    const Access access;
    CHECK(access.submits("root.team.a", "bob"));
    CHECK_FALSE(access.submits("root.team.b", "bob")); // a sibling's
    CHECK_FALSE(access.submits("root.team", "bob"));   // not upwards
    CHECK(access.submits("root.team.b", "ann"));       // a child cannot narrow
    CHECK(access.submits("root.team.a", "x", {"all", "dev"}));
    CHECK(access.submits("root.team.a", "x", {"ops"})); // admin is enough
    CHECK(access.submits("root.closed", "boss"));
    CHECK_FALSE(access.submits("root.closed", "ann", {"dev"}));
    CHECK(access.administers("root.team.a", "x", {"ops"}));
    CHECK(access.administers("root.team.b", "boss"));
    CHECK_FALSE(access.administers("root.team.a", "bob"));
}

TEST_CASE("C-136 the recovery queue grants access to nobody") {
    Access access{"partitions: [{queues: [{name: root, submitacl: '*', adminacl: '*'}]}]"};
    CHECK(access.place("app", "tags=application.create.force:true") == "New");
    CHECK_FALSE(access.submits("root.@recovery@", "bob"));
    CHECK(access.submits("root", "bob"));
}

TEST_CASE("C-137 without any ACL nobody may submit; a root that was not in the file has none") {
    Access access{"partitions: [{queues: [{name: a}, {name: b, submitacl: bob}]}]"};
    CHECK_FALSE(access.submits("root", "bob"));
    CHECK(access.place("no", "queue=root.a user=bob") == "Rejected");
    CHECK(access.place("yes", "queue=root.b user=bob") == "New");
}

TEST_CASE("C-138 C-446 new ACLs hold for the next placement, what is accepted stays") {
    Access access{"partitions: [{queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}]"};
    CHECK(access.place("one", "queue=root.a user=bob") == "New");
    access.configure("partitions: [{queues: [{name: root, submitacl: ann, queues: [{name: a}]}]}]");
    CHECK(access.place("two", "queue=root.a user=bob") == "Rejected");
    CHECK(access.place("three", "queue=root.a user=ann") == "New");
    CHECK(access.submits("root.a", "ann"));
}

TEST_CASE("C-134 the empty user is in no list; everyone includes it") {
    const Access access{"partitions: [{queues: [{name: a, submitacl: '*'}, {name: b, submitacl: bob}]}]"};
    CHECK(access.submits("root.a", ""));
    CHECK_FALSE(access.submits("root.b", ""));
}

} // namespace yk::testing
