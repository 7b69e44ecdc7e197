// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/schedule_status.h"

#include <catch2/catch.hpp>

#include "libcore/mcs/work_tags.h"

namespace yk::testing {

using namespace mcs;

TEST_CASE("rs R-174 tags that say what runs belong to a replica, all others to the application") {
    Deployment deployment;
    deployment.tags =
        Texts{{"command", "sleep 1"}, {"env.A", "b"},       {"restart", "never"}, {"mcs.submittedBy", "uid 7"},
              {"restarts", "3"},      {"environment", "x"}, {"team", "blue"}};
    CHECK(application_spec_of(deployment).tags == Texts{{"environment", "x"}, {"team", "blue"}});
    CHECK(replica_spec_of(deployment).work == Texts{{"command", "sleep 1"},
                                                    {"env.A", "b"},
                                                    {"mcs.submittedBy", "uid 7"},
                                                    {"restart", "never"},
                                                    {"restarts", "3"}});
    const Texts others{{"env.A", "b"}, {"restart", "never"}, {"team", "blue"}};
    deployment.tags = others; // without a command they are tags like any other
    CHECK(application_spec_of(deployment).tags == others);
    CHECK(replica_spec_of(deployment).work.empty());
    CHECK(is_local({{"kind", "local"}}));
    CHECK_FALSE(is_local({{"kind", "gpu"}}));
    CHECK_FALSE(is_local({}));
}

} // namespace yk::testing
