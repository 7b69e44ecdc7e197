// SPDX-License-Identifier: Apache-2.0
// Places of nodes: in id order whatever comes and goes, and who has another place is told.

#include "libcore/nodes/node_places.h"

#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "tests/support/random_config.h"

namespace yk::testing {

TEST_CASE("F-032 each node has a place in id order, and every move is told") {
    Random random{3};
    for (const std::int64_t names : {20, 400, 3000}) {
        NodePlaces places;
        std::map<std::int64_t, NodeId> nodes; // by name
        std::map<std::size_t, NodeId> known;  // by place, as told
        std::uint32_t next = 0;
        for (int step = 0; step < 4000; ++step) {
            const std::int64_t name = random.between(1, names);
            const auto at = nodes.lower_bound(name);
            if (at != nodes.end() && at->first == name) {
                known.erase(places.remove(at->second));
                nodes.erase(at);
            } else {
                const NodeId before = at == nodes.begin() ? NodeId{} : std::prev(at)->second;
                const NodeId id{next++};
                nodes.emplace(name, id);
                const bool stayed = places.insert(id, before, [&](std::size_t place) {
                    if (places.at(place).valid())
                        known[place] = places.at(place);
                    else
                        known.erase(place);
                });
                if (!stayed) {
                    known.clear();
                    for (std::size_t place = 0; place < places.size(); ++place)
                        if (places.at(place).valid()) known[place] = places.at(place);
                }
            }
            REQUIRE(known.size() == nodes.size());
            auto in_order = known.begin();
            for (const auto& [each, id] : nodes) {
                REQUIRE(in_order->second == id);
                REQUIRE(places.of(id) == in_order->first);
                ++in_order;
            }
        }
    }
}

TEST_CASE("F-032 nodes that come in id order leave no place empty") {
    NodePlaces places;
    NodeId before;
    std::size_t moves = 0;
    for (std::uint32_t node = 0; node < 1000; ++node) {
        CHECK(places.insert({node}, before, [&moves](std::size_t) { ++moves; }));
        before = {node};
    }
    CHECK(places.size() == 1008); // a whole number of blocks
    CHECK(moves == 1000);
}

TEST_CASE("F-032 nodes that come between the same two move few others") { // n-1, n-10, n-100, n-1000, n-1001, ...
    NodePlaces places;
    std::size_t moves = 0;
    const auto insert = [&](std::uint32_t node, NodeId before) {
        if (!places.insert({node}, before, [&moves](std::size_t) { ++moves; })) moves += places.size();
    };
    insert(0, {});
    insert(1, {0});
    constexpr std::uint32_t kNodes = 20'000;
    for (std::uint32_t node = 2; node < kNodes; ++node) insert(node, {node == 2 ? 0 : node - 1});
    CHECK(moves < 200U * kNodes); // 1,100 for each when all places moved whenever a block was full
    CHECK(places.size() < 2U * kNodes);
    std::size_t last = places.of({0});
    for (std::uint32_t node = 2; node < kNodes; ++node) {
        REQUIRE(places.of({node}) > last);
        last = places.of({node});
    }
    CHECK(places.of({1}) > last);
}

TEST_CASE("F-032 nodes that go in front and come behind use no more places than they need") {
    NodePlaces places;
    constexpr std::uint32_t kNodes = 100;
    for (std::uint32_t node = 0; node < 200 * kNodes; ++node) {
        if (node >= kNodes) places.remove({node - kNodes});
        places.insert({node}, node == 0 ? NodeId{} : NodeId{node - 1}, [](std::size_t) {});
    }
    CHECK(places.size() < 4U * kNodes);
}

} // namespace yk::testing
