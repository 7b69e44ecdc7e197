// SPDX-License-Identifier: Apache-2.0
#pragma once
// CacheIndex: finds the objects of a cache by something else than their id, such as a name or an owner.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "libcore/resource_state/ports/resource.h"

namespace yk::rs {

/// What a cache needs of each of its indexes; `slot` is the object's place in the cache.
template <Resource T>
class CacheIndexBase {
public:
    virtual ~CacheIndexBase() = default;
    virtual void add(const T& object, std::uint32_t slot) = 0;
    virtual void remove(const T& object, std::uint32_t slot) = 0;
    virtual void clear() = 0;
};

/// Owner: the cache. Thread: the cache's owner. Cost: O(log n) per key and change.
template <Resource T, class Key>
class CacheIndex final : public CacheIndexBase<T> {
public:
    /// The keys under which an object is found; it may have several, or none.
    using KeysOf = std::function<std::vector<Key>(const T&)>;

    explicit CacheIndex(KeysOf keys_of) : keys_of_(std::move(keys_of)) {}

    /// The places of the objects with this key, in the order of the places.
    [[nodiscard]] std::vector<std::uint32_t> slots(const Key& key) const {
        std::vector<std::uint32_t> found;
        for (auto at = entries_.lower_bound({key, 0}); at != entries_.end() && at->first == key; ++at)
            found.push_back(at->second);
        return found;
    }
    /// The places of at most `most` objects with the next keys after `key`, in the order of the keys.
    [[nodiscard]] std::vector<std::uint32_t> slots_after(const Key& key, std::size_t most) const {
        std::vector<std::uint32_t> found;
        auto at = entries_.upper_bound({key, std::numeric_limits<std::uint32_t>::max()});
        for (; at != entries_.end() && found.size() < most; ++at) found.push_back(at->second);
        return found;
    }

private:
    void add(const T& object, std::uint32_t slot) override {
        for (Key& key : keys_of_(object)) entries_.emplace(std::move(key), slot);
    }
    void remove(const T& object, std::uint32_t slot) override {
        for (Key& key : keys_of_(object)) entries_.erase({std::move(key), slot});
    }
    void clear() override { entries_.clear(); }

    const KeysOf keys_of_;
    std::set<std::pair<Key, std::uint32_t>> entries_;
};

} // namespace yk::rs
