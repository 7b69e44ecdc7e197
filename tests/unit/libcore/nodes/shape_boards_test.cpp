// SPDX-License-Identifier: Apache-2.0
// The nodes in the order of a policy that scores them for each ask, against a look at every node.

#include "libcore/nodes/shape_boards.h"

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "libcore/nodes/node_collection.h"
#include "tests/support/random_config.h"
#include "tests/support/tamper.h"

namespace yk::testing {
namespace {

constexpr ResourceId kGpu = 0;
constexpr ResourceId kVcore = 1;
constexpr ResourceId kMemory = 2;

/// A cluster of nodes with and without devices that changes at random.
class Changing {
public:
    explicit Changing(std::uint64_t seed, bool devices) : random_(seed), devices_(devices) {
        nodes_.set_policy(*find_node_sort_policy("fragmentation"), {});
        new_workload();
        for (int i = 0; i < 12; ++i) add_shape();
    }

    void change() {
        const std::int64_t what = random_.between(1, 100);
        if (what <= 8 || names_.empty())
            add_node();
        else if (what <= 14)
            remove_node();
        else if (what <= 16)
            flip(any());
        else if (what <= 18)
            reserve(any());
        else if (what == 19)
            new_workload();
        else if (what == 20)
            add_shape();
        else if (what == 21)
            are_small_ = !are_small_;
        else
            fill(any());
        nodes_.refresh([](NodeId, const Node&, bool) {});
    }
    void switch_policy(std::string_view name) {
        nodes_.set_policy(*find_node_sort_policy(name), {{kGpu, 1.0}});
        if (nodes_.boards() != nullptr) nodes_.boards()->set_workload(workload_);
        nodes_.refresh([](NodeId, const Node&, bool) {});
    }
    void check_search() {
        const ShapeId wanted = shapes_in_use_[static_cast<std::size_t>(
            random_.between(0, static_cast<std::int64_t>(shapes_in_use_.size()) - 1))];
        const std::vector<NodeId> order = by_looking(shapes_[wanted]);
        const NodeId found = nodes_.find_first(wanted);
        REQUIRE(found.valid() == !order.empty());
        if (found.valid()) {
            REQUIRE(nodes_[found].id == nodes_[order.front()].id);
            check_device(found, wanted);
        }
        REQUIRE(nodes_.find_some(shapes_[wanted], 3, [](NodeId) { return false; }) ==
                std::vector<NodeId>(order.begin(), order.begin() + std::min<std::ptrdiff_t>(3, std::ssize(order))));
    }
    [[nodiscard]] std::string check() const { return nodes_.check(); }

private:
    void add_node() {
        const std::string name = "n" + std::to_string(random_.between(1, 500));
        if (names_.count(name) != 0) return;
        const NodeId id = nodes_.add(name);
        names_.emplace(name, id);
        Node& node = nodes_[id];
        if (devices_ && random_.between(1, 4) > 1) {
            node.devices = std::make_unique<NodeDevices>();
            const std::int64_t size = are_small_ ? 600 : 1000;
            std::vector<std::int64_t> sizes(static_cast<std::size_t>(random_.between(1, 4)), size);
            if (random_.between(1, 8) == 1) sizes.back() = 2000;
            node.devices->set_kind(kGpu, sizes);
        }
        fill(id);
    }
    void remove_node() {
        const NodeId id = any();
        names_.erase(nodes_[id].id);
        nodes_.remove(id);
    }
    void flip(NodeId id) {
        nodes_[id].schedulable = !nodes_[id].schedulable;
        nodes_.mark_dirty(id, true);
    }
    void reserve(NodeId id) {
        std::vector<ReservationId>& held = nodes_[id].reservations;
        if (held.empty())
            held.push_back({0});
        else
            held.clear();
        nodes_.mark_dirty(id, true);
    }
    /// Gives the node other amounts, and its devices other use.
    void fill(NodeId id) {
        Node& node = nodes_[id];
        tamper(node.available).set(kVcore, random_.between(0, 16) * 1000);
        tamper(node.available).set(kMemory, random_.between(0, 8) * 1000);
        if (!node.devices) {
            tamper(node.available).set(kGpu, random_.between(0, 8) * 500);
        } else {
            node.devices->give_back(1);
            std::int64_t left = 0;
            std::vector<DeviceUse> uses;
            const DeviceKind& kind = *node.devices->find(kGpu);
            for (std::uint32_t at = 0; at < kind.listed; ++at) {
                const std::int64_t used = std::min<std::int64_t>(random_.between(0, 4) * 250, kind.devices[at].size);
                if (used > 0) uses.push_back({kGpu, {at, used}});
                left += kind.devices[at].size - used;
            }
            Resource all;
            all.set(kGpu, 1);
            if (!uses.empty()) node.devices->take(1, {all, kNothingStated}, uses, true);
            tamper(node.available).set(kGpu, left);
        }
        nodes_.mark_dirty(id, true);
    }
    void new_workload() {
        workload_ = {kGpu, {kVcore}, {}};
        for (std::int64_t left = random_.between(0, 8); left > 0; --left)
            workload_.shapes.push_back({amount(), {}, {random_.between(0, 8) * 1000}, {}, random_.between(1, 100)});
        nodes_.boards()->set_workload(workload_);
    }
    void add_shape() {
        Resource size;
        size.set(kGpu, amount());
        size.set(kVcore, random_.between(0, 8) * 1000);
        if (random_.between(1, 3) == 1) size.set(kMemory, random_.between(1, 4) * 1000);
        std::vector<DeviceDemand> stated;
        if (devices_ && random_.between(1, 4) == 1) {
            size.set(kGpu, 1000);
            stated.push_back({kGpu, 2, 500});
        }
        shapes_in_use_.push_back(shapes_.acquire(size, "", stated));
    }
    [[nodiscard]] std::int64_t amount() {
        constexpr std::array<std::int64_t, 7> kAmounts{0, 250, 300, 500, 1000, 2000, 1500};
        return kAmounts[static_cast<std::size_t>(random_.between(0, 6))];
    }
    [[nodiscard]] NodeId any() {
        auto at = names_.begin();
        std::advance(at, random_.between(0, static_cast<std::int64_t>(names_.size()) - 1));
        return at->second;
    }

    // --- the specification, word for word
    // -----------------------------------------------------------------------------

    struct Idle {
        std::vector<double> left;
        double vcore = 0;
        const Node* node = nullptr;
    };
    [[nodiscard]] static Idle idle_of(const Node& node) {
        Idle idle{{}, static_cast<double>(node.available.get(kVcore)), &node};
        if (!node.devices) return idle.left.push_back(static_cast<double>(node.available.get(kGpu))), idle;
        for (const Device& each : node.devices->find(kGpu)->devices)
            idle.left.push_back(static_cast<double>(each.left()));
        return idle;
    }
    [[nodiscard]] double fragments(const Idle& idle) const {
        double all = 0, sum = 0;
        for (const double each : idle.left) all += each;
        for (const WorkloadShape& m : workload_.shapes) {
            double each = static_cast<double>(m.amount);
            double count = 1;
            bool fits = m.amount > 0 && idle.vcore >= static_cast<double>(m.others[0]);
            if (idle.node->devices) {
                double largest = 0;
                const DeviceKind& kind = *idle.node->devices->find(kGpu);
                for (const Device& device : kind.devices) largest = std::max(largest, static_cast<double>(device.size));
                const auto whole = static_cast<double>(kind.whole);
                if (each > largest) {
                    fits = fits && std::fmod(each, whole) == 0;
                    count = each / whole;
                    each = whole;
                }
            }
            double enough = 0, too_small = 0;
            for (const double left : idle.left) left >= each ? enough += 1 : too_small += left;
            sum += static_cast<double>(m.weight) * (fits && enough >= count ? too_small : all);
        }
        return sum;
    }
    /// The least that can be left, and on which device for a share.
    [[nodiscard]] std::pair<double, std::size_t> after(const Node& node, const Shape& ask) const {
        Idle idle = idle_of(node);
        idle.vcore -= static_cast<double>(ask.resource.get(kVcore));
        const auto amount = static_cast<double>(ask.resource.get(kGpu));
        if (amount == 0) return {fragments(idle), 0};
        if (!node.devices) return idle.left[0] -= amount, std::pair{fragments(idle), std::size_t{0}};
        const DeviceKind& kind = *node.devices->find(kGpu);
        const DeviceDemand demand = kind.demand_of(ask.device_ask());
        const auto each = static_cast<double>(demand.each);
        if (demand.count != 1 || kind.is_whole(demand)) {
            for_each_device(node.devices->choose(kind, demand, kind.free_for(demand)),
                            [&](std::size_t at) { idle.left[at] -= each; });
            return {fragments(idle), 0};
        }
        std::pair<double, std::size_t> best{1e300, 0};
        for (std::size_t at = 0; at < idle.left.size(); ++at) {
            if (idle.left[at] < each) continue;
            Idle then = idle;
            then.left[at] -= each;
            if (const double left = fragments(then); left < best.first) best = {left, at};
        }
        return best;
    }
    [[nodiscard]] double quantum() const {
        std::map<std::int64_t, std::int64_t> sizes;
        double weights = 0;
        for (const WorkloadShape& each : workload_.shapes) weights += static_cast<double>(each.weight);
        for (const auto& [name, id] : names_)
            if (nodes_[id].devices) {
                const DeviceKind& kind = *nodes_[id].devices->find(kGpu);
                sizes[kind.whole] += static_cast<std::int64_t>(kind.listed);
            }
        if (sizes.empty())
            for (const WorkloadShape& each : workload_.shapes)
                if (each.amount > 0) sizes[each.amount] += each.weight;
        std::int64_t commonest = 0, most = 0;
        for (const auto& [size, count] : sizes)
            if (count >= most) {
                commonest = size;
                most = count;
            }
        return std::max(static_cast<double>(commonest) * 0.04 * weights, 1.0);
    }
    [[nodiscard]] std::vector<NodeId> by_looking(const Shape& ask) const {
        std::vector<std::pair<double, std::string>> scores;
        const double each = quantum();
        for (const auto& [name, id] : names_) {
            const Node& node = nodes_[id];
            if (!node.is_open() || !takes(node, ask)) continue;
            scores.emplace_back(-std::floor((fragments(idle_of(node)) - after(node, ask).first) / each), name);
        }
        std::sort(scores.begin(), scores.end());
        std::vector<NodeId> order;
        for (const auto& [score, name] : scores) order.push_back(names_.at(name));
        return order;
    }
    void check_device(NodeId id, ShapeId wanted) const {
        const auto better = nodes_.boards()->better_device(id, wanted);
        if (better) REQUIRE(better->on.index == after(nodes_[id], shapes_[wanted]).second);
    }

    Random random_;
    bool devices_;
    bool are_small_ = false; // the devices of new nodes
    ShapeTable shapes_;
    NodeCollection nodes_{shapes_};
    std::map<std::string, NodeId> names_;
    std::vector<ShapeId> shapes_in_use_;
    Workload workload_;
};

} // namespace

TEST_CASE("F-032 and F-033 the nodes found, first and in order, are those that a look at all would choose") {
    const bool devices = GENERATE(false, true);
    Changing cluster{devices ? 11U : 12U, devices};
    for (int step = 0; step < 4000; ++step) {
        cluster.change();
        cluster.check_search();
        if (step % 200 == 0) REQUIRE(cluster.check().empty());
    }
}

TEST_CASE("F-032 a cluster that grows between searches") {
    ShapeTable shapes;
    NodeCollection nodes{shapes};
    nodes.set_policy(*find_node_sort_policy("fragmentation"), {});
    nodes.boards()->set_workload({kGpu, {kVcore}, {{500, {}, {1000}, {}, 1}}});
    Resource size;
    size.set(kGpu, 400);
    const ShapeId wanted = shapes.acquire(size, "");
    for (std::int64_t node = 1000; node < 3000; ++node) {
        const NodeId id = nodes.add("n" + std::to_string(node));
        tamper(nodes[id].available).set(kGpu, 500);
        tamper(nodes[id].available).set(kVcore, 1000);
        nodes.refresh([](NodeId, const Node&, bool) {});
        REQUIRE(nodes[nodes.find_first(wanted)].id == "n1000");
    }
    for (std::int64_t node = 1000; node < 3000; ++node) { // each is taken in turn
        const NodeId found = nodes.find_first(wanted);
        REQUIRE(nodes[found].id == "n" + std::to_string(node));
        tamper(nodes[found].available).set(kGpu, 0);
        nodes.mark_dirty(found, false);
        nodes.refresh([](NodeId, const Node&, bool) {});
    }
    CHECK(!nodes.find_first(wanted).valid());
}

TEST_CASE("F-030 a change to another policy and back leaves the order as it was") {
    Changing cluster{5, true};
    for (int step = 0; step < 300; ++step) cluster.change();
    cluster.switch_policy("binpacking");
    CHECK(cluster.check().empty());
    cluster.switch_policy("fragmentation");
    for (int step = 0; step < 300; ++step) {
        cluster.check_search();
        cluster.change();
    }
}

} // namespace yk::testing
