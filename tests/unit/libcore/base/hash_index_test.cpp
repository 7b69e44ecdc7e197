// SPDX-License-Identifier: Apache-2.0
#include "libcore/base/hash_index.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace {

struct Thing {};
using ThingId = yk::Id<Thing>;

/// What the index has to know: of each id that is in it the hash.
class Model {
public:
    explicit Model(std::uint32_t hashes) : hashes_(hashes) {}

    void insert(std::uint32_t id) {
        index_.insert(hash_of(id), ThingId{id});
        present_.push_back(id);
    }
    void erase_any(std::size_t at) {
        const std::uint32_t id = present_[at];
        present_[at] = present_.back();
        present_.pop_back();
        index_.erase(hash_of(id), ThingId{id});
        if (has(id)) FAIL("an erased entry is found");
    }
    void check() const {
        REQUIRE(index_.size() == present_.size());
        REQUIRE(std::all_of(present_.begin(), present_.end(), [&](std::uint32_t id) { return has(id); }));
    }
    void give_back() { index_.give_back(); }
    [[nodiscard]] bool has(std::uint32_t id) const {
        return index_.find(hash_of(id), [id](ThingId other) { return other.index == id; }) == ThingId{id};
    }
    [[nodiscard]] std::size_t size() const { return present_.size(); }

private:
    [[nodiscard]] std::uint32_t hash_of(std::uint32_t id) const { return (id * 2654435769U) % hashes_ + ~hashes_; }

    std::uint32_t hashes_; // so many different ones
    yk::HashIndex<ThingId> index_;
    std::vector<std::uint32_t> present_;
};

} // namespace

TEST_CASE("a hash index finds what is in it and nothing else, while it grows, shrinks and moves") {
    const std::uint32_t hashes = GENERATE(7U, 300U, 4'000'000'000U); // some make long runs, also around the end
    CAPTURE(hashes);
    Model model(hashes);
    std::mt19937 random(hashes);
    std::uint32_t next = 0;
    const std::size_t most = hashes < 100 ? 100 : 3000;
    for (const std::size_t goal : {most, most / 10, most / 2, std::size_t{0}, most}) {
        for (int step = 0; model.size() != goal; ++step) {
            const bool grows = model.size() < goal;
            // three times of four towards the goal
            const bool inserts = model.size() == 0 || (random() % 4 != 0) == grows;
            inserts ? model.insert(next++) : model.erase_any(random() % model.size());
            if (step % 512 == 0) model.check();
        }
        model.check();
        REQUIRE_FALSE(model.has(next));
    }
}

TEST_CASE("a hash index returns memory and keeps what is left") {
    Model model(4'000'000'000U);
    for (std::uint32_t id = 0; id < 100'000; ++id) model.insert(id);
    while (model.size() > 1000) model.erase_any(model.size() / 2);
    model.give_back();
    model.check();
    for (std::uint32_t id = 100'000; id < 110'000; ++id) model.insert(id);
    model.check();
}

TEST_CASE("a hash index that is replaced piece by piece stays right") {
    Model model(1'000'000U);
    for (std::uint32_t id = 0; id < 10'000; ++id) model.insert(id);
    for (std::uint32_t id = 10'000; id < 100'000; ++id) {
        model.erase_any(id % model.size());
        model.insert(id);
    }
    model.check();
}
