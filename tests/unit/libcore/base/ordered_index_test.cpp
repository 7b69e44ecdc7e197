// SPDX-License-Identifier: Apache-2.0
#include "libcore/base/ordered_index.h"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace {

struct Object {
    yk::IndexSlot slot;
};

struct SmallTraits { // a small capacity reaches splits and merges with few entries
    using Key = int;
    using Summary = std::uint64_t;
    static constexpr std::uint32_t kCapacity = 4;
    std::vector<Object>* objects;

    static bool less(int a, int b) { return a < b; }
    static void merge(Summary& into, Summary from) { into |= from; }
    static bool same(Summary a, Summary b) { return a == b; }
    static bool falls(Summary, Summary gone, Summary fresh) { return (gone & ~fresh) != 0; }
    yk::IndexSlot& slot(std::uint32_t value) const { return (*objects)[value].slot; }
};

using Index = yk::OrderedIndex<SmallTraits>;

/// The stupid twin: a sorted map and a linear search.
int first_with(const std::map<int, std::pair<std::uint32_t, std::uint64_t>>& twin, std::uint64_t bit) {
    for (const auto& [key, entry] : twin)
        if ((entry.second & bit) != 0) return static_cast<int>(entry.first);
    return -1;
}

int first_with(const Index& index, std::uint64_t bit) {
    int found = -1;
    index.visit([bit](std::uint64_t summary) { return (summary & bit) != 0; },
                [&found](std::uint32_t value) {
                    found = static_cast<int>(value);
                    return true;
                });
    return found;
}

} // namespace

TEST_CASE("the ordered index agrees with a sorted map over random operations") {
    std::vector<Object> objects(300);
    Index index{SmallTraits{&objects}};
    std::map<int, std::pair<std::uint32_t, std::uint64_t>> twin;
    std::map<std::uint32_t, int> key_of;
    std::mt19937 random{7};

    for (int step = 0; step < 20000; ++step) {
        const auto value = static_cast<std::uint32_t>(random() % objects.size());
        const int key = static_cast<int>(random() % 1000);
        const std::uint64_t summary = std::uint64_t{1} << (random() % 8);
        const bool inside = objects[value].slot.in_index();
        if (twin.count(key) != 0 && !(inside && key_of[value] == key)) continue;
        if (inside && random() % 3 == 0) {
            index.erase(value);
            twin.erase(key_of[value]);
        } else {
            inside ? index.update(value, key, summary) : index.insert(value, key, summary);
            if (inside) twin.erase(key_of[value]);
            twin[key] = {value, summary};
            key_of[value] = key;
        }
        REQUIRE(index.check() == "");
        REQUIRE(index.size() == twin.size());
        const std::uint64_t bit = std::uint64_t{1} << (random() % 8);
        REQUIRE(first_with(index, bit) == first_with(twin, bit));
    }
}

TEST_CASE("ascending keys fill the leaves and descending ones work too") {
    std::vector<Object> objects(64);
    for (const int direction : {1, -1}) {
        Index index{SmallTraits{&objects}};
        for (int i = 0; i < 64; ++i) index.insert(static_cast<std::uint32_t>(i), i * direction, 1);
        CHECK(index.check() == "");
        CHECK(first_with(index, 1) == (direction == 1 ? 0 : 63));
        index.clear();
        CHECK(index.empty());
        CHECK_FALSE(objects[0].slot.in_index());
    }
}

namespace {

/// The key refers to what goes with the entry, and changes while the entry is not compared, as those of queues do.
struct Referring {
    struct Key {
        const int* rank;
    };
    using Summary = std::uint64_t;
    static constexpr std::uint32_t kCapacity = 4;
    std::vector<Object>* objects;

    static bool less(Key a, Key b) { return *a.rank < *b.rank; }
    static void merge(Summary& into, Summary from) { into |= from; }
    static bool same(Summary a, Summary b) { return a == b; }
    static bool falls(Summary, Summary gone, Summary fresh) { return (gone & ~fresh) != 0; }
    yk::IndexSlot& slot(std::uint32_t value) const { return (*objects)[value].slot; }
};

} // namespace

TEST_CASE("the ordered index refers to nothing that was erased or has another key") {
    std::vector<Object> objects(200);
    std::vector<std::unique_ptr<int>> ranks(objects.size());
    yk::OrderedIndex<Referring> index{Referring{&objects}};
    std::set<int> used;
    std::mt19937 random{12};
    for (int step = 0; step < 20000; ++step) {
        const auto value = static_cast<std::uint32_t>(random() % objects.size());
        const int rank = static_cast<int>(random() % 1000);
        if (ranks[value] && random() % 3 == 0) {
            index.erase(value);
            used.erase(*ranks[value]);
            ranks[value].reset();
        } else if (used.insert(rank).second) {
            if (ranks[value]) {
                used.erase(*ranks[value]);
                *ranks[value] = rank; // before it is filed anew
                index.update(value, {ranks[value].get()}, 1);
            } else {
                ranks[value] = std::make_unique<int>(rank);
                index.insert(value, {ranks[value].get()}, 1);
            }
        }
        REQUIRE(index.check() == "");
        REQUIRE(index.size() == used.size());
    }
}
