// SPDX-License-Identifier: Apache-2.0
#pragma once
// HashIndex: stored hash -> id; the objects hold the keys. Open addressing, so that growing reads no object (a table of
// millions that hashes every key again stops the scheduler for tens of milliseconds). Cost: one probe on average; an
// insertion now and then moves every entry.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "libcore/base/check.h"
#include "libcore/base/slab.h"

namespace yk {

template <class IdType>
class HashIndex {
public:
    /// The entry with this hash for which same(IdType) holds; none when there is none.
    template <class Same>
    [[nodiscard]] IdType find(std::uint32_t hash, Same&& same) const {
        if (entries_.empty()) return {};
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const Entry& entry = entries_[at];
            if (entry.id == kEmpty) return {};
            if (entry.hash == hash && entry.id != kErased && same(IdType{entry.id})) return {entry.id};
        }
    }

    /// Adds `id` under `hash`. REQUIRES: it is not in the index.
    void insert(std::uint32_t hash, IdType id) {
        YK_ASSUME(!has(hash, id), "an entry is added once");
        if ((filled_ + 1) * 4 > entries_.size() * 3) rebuild(size_ * 2 + 16);
        std::size_t at = hash & mask_;
        while (entries_[at].id < kErased) at = (at + 1) & mask_;
        if (entries_[at].id == kEmpty) ++filled_;
        entries_[at] = {hash, id.index};
        ++size_;
    }

    /// Removes `id`, which was inserted under `hash`. REQUIRES: it is in the index; else the search does not end.
    void erase(std::uint32_t hash, IdType id) noexcept {
        YK_ASSUME(has(hash, id), "only what is in the index can be erased");
        std::size_t at = hash & mask_;
        while (entries_[at].id != id.index) at = (at + 1) & mask_;
        const bool ends_run = entries_[(at + 1) & mask_].id == kEmpty;
        entries_[at].id = ends_run ? kEmpty : kErased;
        filled_ -= ends_run ? 1U : 0U;
        --size_;
    }

    /// To be called now and then: returns the memory when nearly all entries were erased.
    void give_back() {
        if (entries_.size() > kKeep && size_ * 16 < entries_.size()) rebuild(size_ * 2 + 16);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    static constexpr std::size_t kKeep = 8192;
    static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
    static constexpr std::uint32_t kErased = kEmpty - 1;
    struct Entry {
        std::uint32_t hash = 0;
        std::uint32_t id = kEmpty;
    };

    [[nodiscard]] bool has(std::uint32_t hash, IdType id) const noexcept {
        return find(hash, [id](IdType other) { return other == id; }).valid();
    }
    void rebuild(std::size_t capacity) {
        std::size_t wanted = 16;
        while (wanted < capacity) wanted *= 2;
        std::vector<Entry> old(wanted);
        old.swap(entries_);
        mask_ = wanted - 1;
        filled_ = size_;
        for (const Entry& entry : old) {
            if (entry.id >= kErased) continue;
            std::size_t at = entry.hash & mask_;
            while (entries_[at].id != kEmpty) at = (at + 1) & mask_;
            entries_[at] = entry;
        }
    }

    std::vector<Entry> entries_;
    std::size_t mask_ = 0;
    std::size_t size_ = 0;
    std::size_t filled_ = 0; // entries, and slots of erased ones that a search must pass
};

/// The hash with one word more mixed into it.
[[nodiscard]] inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
    hash = (hash ^ word) * 0xbf58476d1ce4e5b9U;
    return hash ^ (hash >> 29);
}

/// Mixes words into a hash for HashIndex.
[[nodiscard]] inline std::uint32_t mix_hash(std::uint64_t a, std::uint64_t b) noexcept {
    return static_cast<std::uint32_t>((mixed(a, b * 0x9e3779b97f4a7c15U) * 0x94d049bb133111ebU) >> 32);
}
[[nodiscard]] inline std::uint32_t mix_hash(std::uint64_t a, std::string_view text) noexcept {
    return mix_hash(std::hash<std::string_view>{}(text), a);
}

} // namespace yk
