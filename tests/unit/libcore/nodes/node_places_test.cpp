// SPDX-License-Identifier: Apache-2.0
// Places of nodes: in id order whatever comes and goes, and who has another place is told.

#include "libcore/nodes/node_places.h"

#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "tests/support/random_config.h"

namespace yk::testing {

namespace {

/// Nodes with numbers for names, and where they are, as was said whenever one came.
class KnownPlaces {
public:
    [[nodiscard]] bool has(std::int64_t name) const { return nodes_.count(name) != 0; }
    void remove(std::int64_t name) {
        known_.erase(places_.remove(nodes_.at(name)));
        nodes_.erase(name);
    }
    void insert(std::int64_t name) {
        const auto behind = nodes_.lower_bound(name);
        const NodeId before = behind == nodes_.begin() ? NodeId{} : std::prev(behind)->second;
        const NodeId id{next_++};
        nodes_.emplace(name, id);
        if (places_.insert(id, before, [this](std::size_t place) { note(place); })) return;
        known_.clear();
        for (std::size_t place = 0; place < places_.size(); ++place) note(place);
    }
    void check() const {
        REQUIRE(known_.size() == nodes_.size());
        auto in_order = known_.begin();
        for (const auto& [name, id] : nodes_) {
            REQUIRE(in_order->second == id);
            REQUIRE(places_.of(id) == in_order->first);
            ++in_order;
        }
    }

private:
    void note(std::size_t place) {
        if (places_.at(place).valid())
            known_[place] = places_.at(place);
        else
            known_.erase(place);
    }

    NodePlaces places_;
    std::map<std::int64_t, NodeId> nodes_; // by name
    std::map<std::size_t, NodeId> known_;  // by place
    std::uint32_t next_ = 0;
};

} // namespace

TEST_CASE("F-032 each node has a place in id order, and every move is told") {
    Random random{3};
    for (const std::int64_t names : {20, 400, 3000}) {
        KnownPlaces places;
        for (int step = 0; step < 4000; ++step) {
            const std::int64_t name = random.between(1, names);
            places.has(name) ? places.remove(name) : places.insert(name);
            places.check();
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
    CHECK(moves < std::size_t{200} * kNodes); // 1,100 for each when all places moved whenever a block was full
    CHECK(places.size() < std::size_t{2} * kNodes);
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
    CHECK(places.size() < std::size_t{4} * kNodes);
}

} // namespace yk::testing
