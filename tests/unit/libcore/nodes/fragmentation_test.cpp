// SPDX-License-Identifier: Apache-2.0
// The measure of fragmentation against sums done by hand.

#include "libcore/nodes/fragmentation.h"

#include <array>

#include <catch2/catch.hpp>

#include "libcore/policies/node_sort_policy.h"
#include "tests/support/random_config.h"
#include "tests/support/tamper.h"

namespace yk::testing {
namespace {

constexpr ResourceId kGpu = 0;
constexpr ResourceId kVcore = 1;

Node node_with(std::int64_t gpu, std::int64_t vcore) {
    Node node;
    tamper(node.available).set(kGpu, gpu);
    tamper(node.available).set(kVcore, vcore);
    return node;
}

/// Four devices of 1000, of which so much is in use.
Node node_with_devices(const std::array<std::int64_t, 4>& used, std::int64_t vcore) {
    Node node = node_with(0, vcore);
    node.devices = std::make_unique<NodeDevices>();
    node.devices->set_kind(kGpu, std::array<std::int64_t, 4>{1000, 1000, 1000, 1000});
    std::int64_t left = 4000;
    for (std::uint32_t at = 0; at < used.size(); ++at) {
        if (used[at] == 0) continue;
        Resource size;
        size.set(kGpu, used[at]);
        node.devices->take(at, {size, kNothingStated}, std::array{DeviceUse{kGpu, {at, used[at]}}}, true);
        left -= used[at];
    }
    tamper(node.available).set(kGpu, left);
    return node;
}

WorkloadShape shape(std::int64_t gpu, std::int64_t vcore, std::int64_t weight) {
    return {gpu, {}, {vcore}, {}, weight};
}

Fragmentation measure(std::vector<WorkloadShape> shapes) {
    Fragmentation made;
    made.set({kGpu, {kVcore}, std::move(shapes)});
    return made;
}

double fragments(const Fragmentation& measure, const Node& node) {
    return measure.of(measure.idle_of(node));
}

} // namespace

TEST_CASE("F-022 what is idle on devices too small for an ask is a fragment, or all where the ask does not fit") {
    const Node node = node_with_devices({600, 600, 0, 0}, 8000);   // 400, 400, 1000 and 1000 are left
    CHECK(fragments(measure({shape(0, 1000, 1)}), node) == 2800);  // asks for no GPU
    CHECK(fragments(measure({shape(500, 1000, 1)}), node) == 800); // two devices are too small
    CHECK(fragments(measure({shape(400, 1000, 1)}), node) == 0);
    CHECK(fragments(measure({shape(2000, 1000, 1)}), node) == 800);  // two whole ones
    CHECK(fragments(measure({shape(3000, 1000, 1)}), node) == 2800); // there are only two
    CHECK(fragments(measure({shape(1500, 1000, 1)}), node) == 2800); // fits no node with such devices (F-003)
    CHECK(fragments(measure({shape(500, 8001, 1)}), node) == 2800);  // too few cores
    CHECK(fragments(measure({shape(500, 1000, 3), shape(0, 1, 1)}), node) == 3 * 800 + 2800);
}

TEST_CASE("F-022 and F-034 the measure is the sum of its causes, whatever is idle and expected") {
    Random random{3};
    for (int round = 0; round < 300; ++round) {
        std::vector<WorkloadShape> shapes;
        for (std::int64_t at = random.between(0, 40); at > 0; --at) {
            shapes.push_back(shape(random.between(0, 12) * 250, random.between(0, 9) * 1000, random.between(1, 5)));
            if (random.between(0, 3) == 0 && shapes.back().amount > 0)
                shapes.back().stated = {kGpu, 2, shapes.back().amount / 2};
            if (random.between(0, 40) == 0) shapes.back().attributes = {{"rack", "r1"}};
        }
        const Fragmentation all = measure(std::move(shapes));
        const auto used = [&random] { return random.between(0, 4) * 250; };
        const std::int64_t vcore = random.between(0, 9) * 1000;
        const Node with_devices = node_with_devices({used(), used(), used(), used()}, vcore);
        const Node without = node_with(random.between(0, 12) * 250, vcore);
        for (const Node* node : {&with_devices, &without}) {
            const IdleNode idle = all.idle_of(*node);
            const FragmentCauses causes = all.causes_of(idle);
            CHECK(all.sum_of(idle).fragments == causes.sum());
            // a plain look-up counts shapes that fit where nothing is idle, too; they have no fragments
            if (idle.idle() > 0) CHECK(all.sum_of(idle).concerned == causes.concerned);
        }
    }
}

TEST_CASE("F-022 asks that state their devices are measured by these") {
    const Node node = node_with_devices({600, 600, 0, 0}, 8000);
    WorkloadShape stated = shape(1000, 1000, 1);
    stated.stated = {kGpu, 2, 500};
    CHECK(fragments(measure({stated}), node) == 800);
    stated.stated = {kGpu, 4, 250};
    CHECK(fragments(measure({stated}), node) == 0);
    stated = shape(2500, 1000, 1);
    stated.stated = {kGpu, 5, 500};
    CHECK(fragments(measure({stated}), node) == 2800);
}

TEST_CASE("F-022 a node that lacks an attribute is of no use to asks that need it") {
    Node node = node_with_devices({0, 0, 0, 0}, 8000);
    WorkloadShape picky = shape(500, 1000, 1);
    picky.attributes = {{"gpu-model", "V100"}};
    CHECK(fragments(measure({picky}), node) == 4000);
    node.attributes = {{"gpu-model", "V100"}};
    CHECK(fragments(measure({picky}), node) == 0);
}

TEST_CASE("F-023 a node without devices is one, into which any number of shares fit") {
    const Node node = node_with(2800, 8000);
    CHECK(fragments(measure({shape(500, 1000, 1)}), node) == 0);
    CHECK(fragments(measure({shape(2800, 1000, 1)}), node) == 0);
    CHECK(fragments(measure({shape(2801, 1000, 1)}), node) == 2800);
    CHECK(fragments(measure({shape(500, 8001, 2)}), node) == 2 * 2800);
    WorkloadShape stated = shape(2000, 1000, 1);
    stated.stated = {kGpu, 4, 500};
    CHECK(fragments(measure({stated}), node) == 0);
}

TEST_CASE("F-023 by amounts alone it is the same as one device would be") {
    const Fragmentation plain = measure({shape(500, 1000, 3), shape(2000, 4000, 2), shape(0, 1000, 5)});
    WorkloadShape picky = shape(1, 1, 0); // of no weight, but it makes the measure look at each shape
    picky.attributes = {{"a", "b"}};
    const Fragmentation careful =
        measure({shape(500, 1000, 3), shape(2000, 4000, 2), shape(0, 1000, 5), std::move(picky)});
    REQUIRE(plain.is_plain());
    REQUIRE(!careful.is_plain());
    for (const std::int64_t gpu : {0, 499, 500, 1999, 2000, 5000})
        for (const std::int64_t vcore : {0, 999, 1000, 3999, 4000})
            CHECK(fragments(plain, node_with(gpu, vcore)) == fragments(careful, node_with(gpu, vcore)));
}

TEST_CASE("F-034 fragments are told by what makes them so") {
    WorkloadShape picky = shape(500, 1000, 16);
    picky.attributes = {{"gpu-model", "V100"}};
    const Fragmentation all = measure({shape(500, 1000, 1), shape(3000, 1000, 2), shape(500, 9000, 4),
                                       shape(3000, 9000, 8), std::move(picky), shape(0, 1000, 32)});
    const Node node = node_with_devices({600, 600, 0, 0}, 8000);
    const FragmentCauses causes = all.causes_of(all.idle_of(node));
    CHECK(causes.devices == 1 * 800 + 2 * 2800);
    CHECK(causes.others == 4 * 2800);
    CHECK(causes.both == 8 * 2800);
    CHECK(causes.attribute == 16 * 2800);
    CHECK(causes.unasked == 32 * 2800);
    CHECK(causes.sum() == fragments(all, node));
}

TEST_CASE("F-030 a share goes to the device where it leaves the fewest fragments, on ties to the lowest index") {
    const Fragmentation usual = measure({shape(500, 1000, 1), shape(1000, 1000, 1)});
    Shape ask;
    ask.resource.set(kGpu, 300);
    ask.resource.set(kVcore, 1000);
    SECTION("rather where little was left than on one that others could have whole") {
        const Node node = node_with_devices({0, 600, 500, 0}, 8000);
        const auto after = usual.after(node, ask);
        REQUIRE(after.on.has_value());
        CHECK(after.on->on.index == 1); // 400 that nobody can use become 100
        CHECK(after.fragments == (100) + (100 + 500));
    }
    SECTION("equal devices") {
        const auto after = usual.after(node_with_devices({0, 0, 0, 0}, 8000), ask);
        REQUIRE(after.on.has_value());
        CHECK(after.on->on.index == 0);
        CHECK(after.on->on.amount == 300);
    }
    SECTION("whole devices are the lowest free ones, whatever the policy") {
        ask.resource.set(kGpu, 2000);
        const auto after = usual.after(node_with_devices({0, 0, 600, 0}, 8000), ask);
        CHECK(!after.on.has_value());
        CHECK(after.fragments == 400 + 400); // 1000 and 400 are left
    }
}

TEST_CASE("F-030 an ask gains what it takes from the fragments of a node") {
    const NodeSortPolicy* const policy = find_node_sort_policy("fragmentation");
    REQUIRE(policy != nullptr);
    CHECK(policy->score == nullptr);
    CHECK(policy->gain_step == 0.04);
    CHECK(policy->gain_for_ask({100, 21}) == 79);
    CHECK(policy->gain_for_ask({100, 101}) == -1); // more fragments than before
}

} // namespace yk::testing
