// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/await_deployment.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::cli;

TEST_CASE("rs R-159 --wait is over when the last change has arrived everywhere, and not before") {
    const wire::Value settled{{"generation", 4},
                              {"scale", {{"desired", 3}, {"observedGeneration", 4}}},
                              {"schedule", {{"desired", 3}, {"placed", 3}, {"state", "Scheduled"}, {"current", true}}}};
    CHECK(is_settled(settled));
    const auto with = [&](const char* part, const char* key, const wire::Value& value) {
        wire::Value other = settled;
        other[part][key] = value;
        return other;
    };
    CHECK_FALSE(is_settled(with("scale", "observedGeneration", 3))); // the Autoscaler has not seen the change
    CHECK_FALSE(is_settled(with("scale", "desired", 5)));            // the Scheduler has not
    CHECK_FALSE(is_settled(with("schedule", "placed", 2)));
    CHECK_FALSE(is_settled(with("schedule", "placed", 4))); // one is to go
    CHECK_FALSE(is_settled(with("schedule", "state", "Scheduling")));
    CHECK_FALSE(is_settled(with("schedule", "current", false))); // replicas of another size are still there
    wire::Value young = settled;
    young.erase("schedule");
    CHECK_FALSE(is_settled(young));
    young.erase("scale");
    CHECK_FALSE(is_settled(young));
}

TEST_CASE("--wait sees which commands of replicas have not begun, and why") {
    const auto placed = [](const char* state, const char* why) {
        return wire::Value{{"state", "Placed"}, {"command", {{"state", state}, {"why", why}}}};
    };
    const auto look = [](wire::Value placements) {
        const auto found = look_at_commands({{"schedule", {{"placements", std::move(placements)}}}});
        return std::to_string(found.waiting) + " " + std::to_string(found.refused) + " " + found.why;
    };
    CHECK(look({placed("running", ""), placed("over", ""), placed("restarting", "exit 1"), {{"state", "Placed"}}}) ==
          "0 0 ");
    CHECK(look({placed("waiting", ""), placed("refused", "a"), placed("refused", "b")}) == "1 2 a");
    CHECK(look(nullptr) == "0 0 ");
}
