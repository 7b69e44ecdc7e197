// SPDX-License-Identifier: Apache-2.0
// What is learnt of the asks that arrive.

#include "libcore/nodes/workload_counts.h"

#include <catch2/catch.hpp>

namespace yk::testing {
namespace {

constexpr ResourceId kMemory = 0;
constexpr ResourceId kVcore = 1;
constexpr ResourceId kGpu = 2;

/// Counts by gpu and vcore; by name gpu comes first.
class Learning {
public:
    Learning() { counts_.measure_by(kGpu, {kVcore}, {0, 1}); }

    ShapeId shape(std::int64_t gpu, std::int64_t vcore, std::int64_t memory = 1, const std::string& node = {},
                  std::vector<DeviceDemand> stated = {}) {
        Resource size;
        if (gpu > 0) size.set(kGpu, gpu);
        size.set(kVcore, vcore);
        size.set(kMemory, memory);
        return shapes_.acquire(size, node, stated);
    }
    void arrive(ShapeId id, int times) {
        for (int i = 0; i < times; ++i) counts_.count(shapes_, id);
    }
    void arrive(std::int64_t gpu, int times) { arrive(shape(gpu, 1000), times); }
    /// `500:19 1000:1`: amounts and weights of what is expected.
    std::string expected() {
        std::string text;
        for (const WorkloadShape& each : counts_.take().shapes)
            text += (text.empty() ? "" : " ") + std::to_string(each.amount) + ':' + std::to_string(each.weight);
        return text;
    }
    WorkloadCounts& operator*() { return counts_; }

private:
    ShapeTable shapes_;
    WorkloadCounts counts_;
};

} // namespace

TEST_CASE("F-020 the commonest shapes that hold 95 % are expected") {
    Learning learning;
    CHECK(learning.expected().empty());
    learning.arrive(500, 90);
    learning.arrive(1000, 5);
    learning.arrive(2000, 3);
    learning.arrive(4000, 2);
    CHECK(learning.expected() == "500:90 1000:5");
    learning.arrive(8000, 1); // 95 of 101 are less than 95 %
    CHECK(learning.expected() == "500:90 1000:5 2000:3");
}

TEST_CASE("F-020 of equals those that ask for more are expected first, in the order of names") {
    Learning learning;
    learning.arrive(500, 10);
    learning.arrive(1000, 10);
    learning.arrive(learning.shape(500, 2000), 10);
    const Workload workload = (*learning).take();
    REQUIRE(workload.shapes.size() == 3);
    CHECK(workload.shapes[0].amount == 1000);
    CHECK(workload.shapes[1].amount == 500);
    CHECK(workload.shapes[1].others.at(0) == 2000);
    CHECK(workload.resource == kGpu);
    CHECK(workload.others == std::vector{kVcore});
}

TEST_CASE("F-020 asks that differ in what is not weighed, or in the node they require, are alike; those that state "
          "devices are not") {
    Learning learning;
    learning.arrive(learning.shape(500, 1000, 1), 3);
    learning.arrive(learning.shape(500, 1000, 2), 4);
    learning.arrive(learning.shape(500, 1000, 2, "n1"), 5);
    CHECK(learning.expected() == "500:12");
    learning.arrive(learning.shape(500, 1000, 2, {}, {{kGpu, 2, 250}}), 3);
    CHECK(learning.expected() == "500:12 500:3");
}

TEST_CASE("F-020 what is expected is found anew when 5 % came, or when a shape comes in or goes") {
    Learning learning;
    CHECK((*learning).has_changed());
    CHECK(learning.expected().empty());
    CHECK(!(*learning).has_changed());
    learning.arrive(500, 960);
    learning.arrive(1000, 40);
    CHECK(learning.expected() == "500:960");
    CHECK(!(*learning).has_changed());
    SECTION("5 %") {
        learning.arrive(500, 52);
        CHECK(!(*learning).has_changed());
        learning.arrive(500, 1);
        CHECK((*learning).has_changed());
    }
    SECTION("a shape comes in") {
        learning.arrive(1000, 10);
        CHECK(!(*learning).has_changed()); // 960 of 1,010 are 95 %
        learning.arrive(1000, 1);
        CHECK((*learning).has_changed());
        CHECK(learning.expected() == "500:960 1000:51");
        SECTION("and goes") {
            learning.arrive(500, 8);
            CHECK(!(*learning).has_changed());
            learning.arrive(500, 3);
            CHECK((*learning).has_changed());
            CHECK(learning.expected() == "500:971");
        }
    }
}

TEST_CASE("F-020 counts halve") {
    Learning learning;
    learning.arrive(500, 9);
    learning.arrive(1000, 8);
    (*learning).halve();
    CHECK((*learning).has_changed());
    CHECK(learning.expected() == "1000:4 500:4"); // the larger one of equals
}

TEST_CASE("F-020 of very many sizes the rare half is forgotten") {
    Learning learning;
    learning.arrive(500, 10'000);
    for (std::int64_t size = 1; size <= 10'000; ++size) learning.arrive(100'000 + size, 1);
    std::size_t types = 0;
    (*learning).for_each_type([&types](ResourceId type, std::int64_t) { types += type == kGpu ? 1U : 0U; });
    CHECK(types <= WorkloadCounts::kMostEntries);
    CHECK((*learning).take().shapes.front().amount == 500);
    learning.arrive(500, 1); // where it is counted has changed
    CHECK((*learning).take().shapes.front().weight == 10'001);
}

TEST_CASE("F-020 of asks that all differ no more are expected than make a workload that is soon gone through") {
    Learning learning;
    for (std::int64_t vcore = 1; vcore <= 2000; ++vcore) learning.arrive(learning.shape(1000, vcore), 1);
    learning.arrive(learning.shape(500, 1), 3);
    const Workload workload = (*learning).take();
    CHECK(workload.shapes.size() == WorkloadCounts::kMostShapes);
    CHECK(workload.shapes.front().amount == 500); // the commonest
    CHECK(workload.shapes.back().others.front() == 2001 - static_cast<std::int64_t>(WorkloadCounts::kMostShapes) + 1);
}

TEST_CASE("F-021 another resource may be measured at any time") {
    Learning learning;
    learning.arrive(500, 10);
    (*learning).measure_by(kMemory, {}, {0});
    CHECK((*learning).has_changed());
    CHECK(learning.expected() == "1:10");
}

} // namespace yk::testing
