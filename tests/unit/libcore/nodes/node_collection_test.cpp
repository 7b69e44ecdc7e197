// SPDX-License-Identifier: Apache-2.0
// NodeCollection against a look at every node, with more shapes than have a fit bit, in a nearly full cluster.

#include "libcore/nodes/node_collection.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/tamper.h"

using namespace yk;
using yk::testing::tamper;

namespace {

constexpr ResourceId kMemory = 0;
constexpr ResourceId kVcore = 1;
constexpr std::int64_t kCapacity = 100'000;

class NearlyFull {
public:
    NearlyFull(std::size_t nodes, std::size_t shapes) {
        set_order("binpacking");
        for (std::size_t i = 0; i < nodes; ++i) {
            const NodeId id = nodes_.add("node-" + std::to_string(i));
            Node& node = nodes_[id];
            node.capacity.set(kMemory, kCapacity);
            node.capacity.set(kVcore, kCapacity);
            ids_.push_back(id);
            fill(id);
        }
        for (std::size_t i = 0; i < shapes; ++i) add_shape();
    }

    void set_order(std::string_view policy) {
        nodes_.set_policy(*find_node_sort_policy(policy), {{kMemory, 1.0}, {kVcore, 1.0}});
    }
    void add_shape() {
        Resource size;
        size.set(kMemory, 1 + below(3000));
        size.set(kVcore, 1 + below(3000));
        wanted_.push_back(shapes_.acquire(size, ""));
    }
    void forget_shape() {
        const std::size_t at = static_cast<std::size_t>(below(static_cast<std::int64_t>(wanted_.size())));
        nodes_.forget_shape(wanted_[at]);
        wanted_.erase(wanted_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    /// Most nodes have much of one type left and little of the other.
    void fill(NodeId id) {
        Node& node = nodes_[id];
        const bool by_memory = below(2) == 0;
        tamper(node.available).set(kMemory, by_memory ? below(200) : below(4000));
        tamper(node.available).set(kVcore, by_memory ? below(4000) : below(200));
        if (below(500) == 0) tamper(node.available).set(kMemory, 4000);
        node.schedulable = below(20) != 0;
        nodes_.mark_dirty(id, true);
    }
    void change_some() {
        for (int i = 0; i < 3; ++i) fill(any());
    }
    void replace_one() {
        const NodeId gone = any();
        const std::string name = nodes_[gone].id;
        nodes_.remove(gone);
        const NodeId made = nodes_.add(name);
        nodes_[made].capacity.set(kMemory, kCapacity);
        nodes_[made].capacity.set(kVcore, kCapacity);
        std::replace(ids_.begin(), ids_.end(), gone, made);
        fill(made);
    }
    [[nodiscard]] bool search_is_right() {
        nodes_.refresh([](NodeId, const Node&, bool) {});
        const ShapeId shape = wanted_[static_cast<std::size_t>(below(static_cast<std::int64_t>(wanted_.size())))];
        return nodes_.find_first(shape) == by_looking(shape);
    }
    [[nodiscard]] std::string check() const { return nodes_.check(); }
    [[nodiscard]] std::size_t shapes_with_a_wide_bit() const {
        return static_cast<std::size_t>(
            std::count_if(wanted_.begin(), wanted_.end(), [this](ShapeId id) { return shapes_[id].wide_bit >= 0; }));
    }

    [[nodiscard]] bool has_a_fit_bit(std::size_t shape) const { return shapes_[wanted_[shape]].fit_bit >= 0; }
    void search(std::size_t shape, int times) {
        while (times-- > 0) static_cast<void>(nodes_.find_first(wanted_[shape]));
    }

    /// Nodes of `count` that no shape of at least 300 of each type fits on, though a summary of several does not show
    /// it: a search reads as many. All others are empty.
    void fill_only(std::size_t count) {
        for (std::size_t i = 0; i < ids_.size(); ++i) {
            Node& node = nodes_[ids_[i]];
            tamper(node.available).set(kMemory, i >= count ? kCapacity : i % 2 == 0 ? 200 : 4000);
            tamper(node.available).set(kVcore, i >= count ? kCapacity : i % 2 == 0 ? 4000 : 200);
            node.schedulable = true;
            nodes_.mark_dirty(ids_[i], true);
        }
        nodes_.refresh([](NodeId, const Node&, bool) {});
    }
    /// Searches once for each of `count` new shapes, which lack nothing but on the nodes of fill_only().
    [[nodiscard]] bool searches_are_right(std::size_t count) {
        NodeId first; // of all of them
        for (std::size_t i = 0; i < count; ++i) {
            Resource size;
            size.set(kMemory, 300 + static_cast<std::int64_t>(i));
            size.set(kVcore, 300 + static_cast<std::int64_t>(i));
            wanted_.push_back(shapes_.acquire(size, ""));
            if (i == 0) first = by_looking(wanted_.back());
            if (nodes_.find_first(wanted_.back()) != first) return false;
        }
        return true;
    }

private:
    [[nodiscard]] std::int64_t below(std::int64_t bound) {
        return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
    }
    [[nodiscard]] NodeId any() { return ids_[static_cast<std::size_t>(below(static_cast<std::int64_t>(ids_.size())))]; }
    [[nodiscard]] NodeId by_looking(ShapeId shape) const {
        NodeId best;
        nodes_.for_each([&](NodeId id) { // in id order, which breaks ties
            const Node& node = nodes_[id];
            if (!node.is_open() || !fits(node.available, shapes_[shape].resource)) return;
            if (!best.valid() || nodes_.score(node) < nodes_.score(nodes_[best])) best = id;
        });
        return best;
    }

    std::mt19937 random_{7};
    ShapeTable shapes_;
    NodeCollection nodes_{shapes_};
    std::vector<NodeId> ids_;
    std::vector<ShapeId> wanted_;
};

} // namespace

TEST_CASE("S-330 the first node in order is found for any number of shapes") {
    NearlyFull cluster{1000, 400};
    std::size_t most = 0;
    for (int step = 0; step < 5000; ++step) {
        cluster.change_some();
        if (step % 50 == 0) cluster.replace_one();
        if (step % 100 == 0) {
            cluster.forget_shape();
            cluster.add_shape();
        }
        REQUIRE(cluster.search_is_right());
        if (step % 1000 == 0) REQUIRE(cluster.check().empty());
        if (step == 3000) cluster.set_order("fair");
        if (step == 4000) cluster.set_order("binpacking");
        most = std::max(most, cluster.shapes_with_a_wide_bit());
    }
    REQUIRE(most > 64); // else this tests the fit bits only
    REQUIRE(cluster.check().empty());
}

TEST_CASE("S-330 more shapes with long searches than there are wide bits") {
    NearlyFull cluster{40'000, 0};
    cluster.fill_only(500);
    CHECK(cluster.searches_are_right(3000));
    CHECK(cluster.shapes_with_a_wide_bit() > 0);
    CHECK(cluster.shapes_with_a_wide_bit() <= WideFits::kBits);
    CHECK(cluster.check().empty());
}

TEST_CASE("S-330 a shape has a fit bit once its searches have read as much as that costs") {
    NearlyFull cluster{1000, 0};
    cluster.fill_only(0);
    REQUIRE(cluster.searches_are_right(1));
    cluster.search(0, 100); // reads a summary of each level
    CHECK_FALSE(cluster.has_a_fit_bit(0));
    cluster.fill_only(500);
    cluster.search(0, 10);
    CHECK(cluster.has_a_fit_bit(0));
    CHECK(cluster.check().empty());
}

TEST_CASE("S-230 a policy is a name and a score, and no more is needed to order nodes by it") {
    constexpr NodeSortPolicy kHalfFull{"halffull",
                                       [](const NodeUse& use) noexcept { return std::abs(use.share - 0.5); }};
    ShapeTable shapes;
    NodeCollection nodes{shapes};
    nodes.set_policy(kHalfFull, {{kMemory, 1.0}});
    for (const auto& [name, available] : {std::pair{"empty", 100}, {"full", 20}, {"half", 55}}) {
        const NodeId id = nodes.add(name);
        nodes[id].capacity.set(kMemory, 100);
        tamper(nodes[id].available).set(kMemory, available);
        nodes.mark_dirty(id, true);
    }
    nodes.refresh([](NodeId, const Node&, bool) {});

    Resource size;
    size.set(kMemory, 10);
    CHECK(nodes[nodes.find_first(shapes.acquire(size, ""))].id == "half");
    size.set(kMemory, 60);
    CHECK(nodes[nodes.find_first(shapes.acquire(size, ""))].id == "empty");
}
