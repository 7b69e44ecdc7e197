// SPDX-License-Identifier: Apache-2.0
#pragma once
// CacheIndex: finds the objects of a cache by something else than their id, such as a name or an owner, and gives them
// in the order of that. It keeps no keys, only places in the cache: the objects have the keys.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "libcore/resource_state/ports/resource.h"

namespace yk::rs {

/// What a cache needs of each of its indexes; `slot` is the object's place in the cache.
template <Resource T>
class CacheIndexBase {
public:
    virtual ~CacheIndexBase() = default;
    /// Whether an object may take the place of another one, and the index stays as it is.
    [[nodiscard]] virtual bool has_same_key(const T& a, const T& b) const = 0;
    // REQUIRES: the object is at its place in the cache.
    virtual void add(std::uint32_t slot) = 0;
    virtual void remove(std::uint32_t slot) = 0;
    /// Begins anew with the objects at these places. Cost: O(n log n), some half a microsecond for each of a million.
    virtual void refill(const std::vector<std::uint32_t>& slots) = 0;
    /// Whether it has these objects and no others.
    [[nodiscard]] virtual bool is_of(const std::vector<std::uint32_t>& slots) const = 0;
};

/// Owner: the cache. Thread: the cache's owner. Cost: O(log n) per change of a key; 48 bytes for each object.
template <Resource T, class Key>
class CacheIndex final : public CacheIndexBase<T> {
public:
    /// The key under which an object is found, a member of it; nullptr: it is not found.
    using KeyOf = std::function<const Key*(const T&)>;
    /// The object at a place in the cache.
    using ObjectAt = std::function<const T&(std::uint32_t)>;

    CacheIndex(KeyOf key_of, ObjectAt object_at)
        : key_of_(std::move(key_of)), object_at_(std::move(object_at)), slots_(Before{this}) {}
    CacheIndex(const CacheIndex&) = delete;
    CacheIndex& operator=(const CacheIndex&) = delete;

    /// The places of the objects with this key, in the order of the places.
    [[nodiscard]] std::vector<std::uint32_t> slots(const Key& key) const {
        const auto [first, last] = slots_.equal_range(&key);
        return {first, last};
    }
    /// The places of at most `most` objects with the next keys after `key`, in the order of the keys.
    [[nodiscard]] std::vector<std::uint32_t> slots_after(const Key& key, std::size_t most) const {
        std::vector<std::uint32_t> found;
        for (auto at = slots_.upper_bound(&key); at != slots_.end() && found.size() < most; ++at) found.push_back(*at);
        return found;
    }

private:
    struct Before {
        using is_transparent = void;
        const CacheIndex* index;
        [[nodiscard]] bool operator()(std::uint32_t a, std::uint32_t b) const {
            const Key &left = index->key_at(a), &right = index->key_at(b);
            return left < right || (!(right < left) && a < b);
        }
        [[nodiscard]] bool operator()(std::uint32_t a, const Key* b) const { return index->key_at(a) < *b; }
        [[nodiscard]] bool operator()(const Key* a, std::uint32_t b) const { return *a < index->key_at(b); }
    };
    /// To compare many keys without a look at their objects.
    using View = std::conditional_t<std::is_same_v<Key, std::string>, std::string_view, Key>;

    [[nodiscard]] const Key* find_key(std::uint32_t slot) const { return key_of_(object_at_(slot)); }
    [[nodiscard]] const Key& key_at(std::uint32_t slot) const { return *find_key(slot); }

    [[nodiscard]] bool has_same_key(const T& a, const T& b) const override {
        const Key *const left = key_of_(a), *const right = key_of_(b);
        return left == nullptr || right == nullptr ? left == right : *left == *right;
    }
    void add(std::uint32_t slot) override {
        if (find_key(slot) != nullptr) slots_.insert(slot);
    }
    void remove(std::uint32_t slot) override {
        if (find_key(slot) != nullptr) slots_.erase(slot);
    }
    void refill(const std::vector<std::uint32_t>& slots) override {
        std::vector<std::pair<View, std::uint32_t>> sorted;
        sorted.reserve(slots.size());
        for (const std::uint32_t slot : slots)
            if (const Key* const key = find_key(slot)) sorted.emplace_back(*key, slot);
        std::sort(sorted.begin(), sorted.end());
        slots_.clear();
        for (const auto& [key, slot] : sorted) slots_.insert(slots_.end(), slot);
    }
    [[nodiscard]] bool is_of(const std::vector<std::uint32_t>& slots) const override {
        std::size_t found = 0;
        for (const std::uint32_t slot : slots) {
            if (find_key(slot) == nullptr) continue;
            if (!slots_.contains(slot)) return false;
            ++found;
        }
        return found == slots_.size();
    }

    const KeyOf key_of_;
    const ObjectAt object_at_;
    std::set<std::uint32_t, Before> slots_;
};

} // namespace yk::rs
