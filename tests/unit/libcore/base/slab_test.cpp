// SPDX-License-Identifier: Apache-2.0
#include "libcore/base/slab.h"

#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

using yk::Id;
using yk::Ref;
using yk::Slab;

namespace {

/// It has a chunk of its own memory, so that the sanitizers see what is not destroyed or destroyed twice.
struct Thing {
    explicit Thing(int given) : name(40, 'x'), number(given) {}
    std::string name;
    int number;
};
using ThingId = Slab<Thing>::IdType;

} // namespace

TEST_CASE("a slab gives its memory back when most objects went, and keeps those that are left") {
    Slab<Thing> slab;
    std::vector<ThingId> ids;
    for (int i = 0; i < 100'000; ++i) ids.push_back(slab.make(i));
    slab.give_back();
    const auto full = slab.end();
    const Thing* kept = &slab[ids[70'000]];
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (i != 70'000 && i != 3) slab.destroy(ids[i]);
    CHECK(slab.end() == full);
    slab.give_back();
    CHECK(slab.end() < 71'000);
    CHECK(&slab[ids[70'000]] == kept);
    CHECK(kept->number == 70'000);
    CHECK(slab[ids[3]].number == 3);
    CHECK_FALSE(slab.alive(ids[99'999]));
    CHECK(slab.until(99'999, [](ThingId) { return true; }) == slab.end());

    // What comes next lies beside those that are left.
    for (int i = 0; i < 300; ++i) {
        const ThingId id = slab.make(i);
        CHECK((id.index / 256 == ids[70'000].index / 256 || id.index / 256 == 0));
    }
    slab.reserve(100'000);
    for (int i = 0; i < 100'000; ++i) CHECK(slab[slab.make(i)].number == i);
    slab.give_back();
    CHECK(slab.size() == 100'302);

    slab.for_each([&slab](ThingId id) { slab.destroy(id); });
    slab.give_back();
    CHECK(slab.end() == 0);
    CHECK(slab[slab.make(7)].number == 7);
}

TEST_CASE("an id with its generation never names the next object that has the id") {
    struct Numbered {
        std::uint64_t number;
        [[nodiscard]] std::uint64_t generation() const { return number; }
    };
    Slab<Numbered> slab;
    const Id<Numbered> id = slab.make(Numbered{1});
    const Ref<Numbered> first = slab.ref(id);
    REQUIRE(slab.find(first) == &slab[id]);

    slab.destroy(id);
    CHECK(slab.find(first) == nullptr);
    REQUIRE(slab.make(Numbered{2}) == id);
    CHECK(slab.find(first) == nullptr);
    CHECK(slab.find(slab.ref(id))->number == 2);
    CHECK(slab.find(Ref<Numbered>{}) == nullptr);
}

TEST_CASE("a slab whose objects come and go is what a map would be") {
    std::mt19937 random{11};
    Slab<Thing> slab, twin; // the same calls give the same ids
    std::map<std::uint32_t, int> model;
    int next = 0;
    for (int wave = 0; wave < 12; ++wave) {
        const std::size_t wanted = wave % 2 == 0 ? 6'000 + random() % 6'000 : random() % 1'500;
        while (model.size() != wanted) {
            if (model.size() < wanted) {
                const ThingId id = slab.make(next);
                REQUIRE(twin.make(next).index == id.index);
                REQUIRE(model.emplace(id.index, next++).second);
            } else {
                auto gone = model.lower_bound(static_cast<std::uint32_t>(random() % slab.end()));
                if (gone == model.end()) gone = model.begin();
                slab.destroy({gone->first});
                twin.destroy({gone->first});
                model.erase(gone);
            }
            if (random() % 512 == 0) {
                slab.give_back();
                twin.give_back();
            }
        }
        slab.give_back();
        twin.give_back();
        REQUIRE(slab.size() == model.size());
        std::size_t seen = 0;
        slab.for_each([&](ThingId id) {
            ++seen;
            REQUIRE(model.at(id.index) == slab[id].number);
        });
        REQUIRE(seen == model.size());
    }
}
