// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/drawn_pods.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "ykctl/replay/expected_asks.h"

namespace yk::replay {
namespace {

TracePod pod(const std::string& name, std::int64_t vcore, std::int64_t gpus, std::int64_t each) {
    TracePod made{name, {{"vcore", vcore}}, "ls", 0, {}, gpus};
    if (gpus > 0) made.request[kGpu] = gpus * each;
    return made;
}

Trace trace() {
    Trace made;
    made.nodes = {{"cpu", {{"vcore", 8000}}, 0}, {"gpu", {{"vcore", 8000}, {kGpu, 4000}}, 4}};
    made.pods = {pod("b", 1000, 1, 500), pod("a", 1000, 0, 0), pod("c", 2000, 2, 1000)};
    return made;
}

std::string original(const TracePod& pod) {
    return pod.name.substr(pod.name.find('-') + 1);
}

TEST_CASE("section 4: all pods come first, then any of them, up to 130 %; the seed decides the order") {
    const Trace from = trace();
    std::set<std::string> orders;
    for (std::uint64_t seed = 1; seed < 30; ++seed) {
        const auto pods = drawn(from, seed);
        REQUIRE(pods.size() >= 3);
        std::set<std::string> first, names;
        std::string order;
        std::int64_t asked = 0;
        for (std::size_t at = 0; at < pods.size(); ++at) {
            if (at < 3) first.insert(original(pods[at]));
            names.insert(pods[at].name);
            order += original(pods[at]);
            asked += pods[at].gpus > 0 ? pods[at].request.at(kGpu) : 0;
            CHECK(pods[at].queue == pods[0].queue);
        }
        CHECK(first == std::set<std::string>{"a", "b", "c"});
        CHECK(names.size() == pods.size());
        CHECK(asked <= 5200);
        CHECK(asked > 5200 - 2000); // the next one would have asked for more
        CHECK(std::is_sorted(pods.begin(), pods.end(),
                             [](const TracePod& a, const TracePod& b) { return a.name < b.name; }));
        orders.insert(order);
    }
    CHECK(orders.size() > 5);
    CHECK(drawn(from, 7).back().name == drawn(from, 7).back().name);
}

TEST_CASE("section 4: a trace whose pods want no GPU ends, too") {
    Trace from = trace();
    from.pods = {pod("a", 1000, 0, 0)};
    CHECK_FALSE(drawn(from, 1).empty());
    from.pods.clear();
    CHECK(drawn(from, 1).empty());
}

TEST_CASE("F-020: the asks that a trace lets expect, the commonest first, as a configuration takes them") {
    std::vector<TracePod> pods = trace().pods;
    pods.push_back(pod("d", 1000, 1, 500));
    pods.push_back(pod("e", 1500, 2, 400));
    const auto asks = expected_of(pods);
    REQUIRE(asks.size() == 4);
    CHECK(asks[0].weight == 2);
    CHECK(workload_text(asks, "  ") ==
          "  - {resources: {vcore: 1000m, gpu: 500}, weight: 2}\n"
          "  - {resources: {vcore: 1000m}, weight: 1}\n"
          "  - {resources: {vcore: 1500m, gpu: 800}, devices: {gpu: 2x400}, weight: 1}\n"
          "  - {resources: {vcore: 2000m, gpu: 2000}, devices: {gpu: 2x1000}, weight: 1}\n");
}

} // namespace
} // namespace yk::replay
