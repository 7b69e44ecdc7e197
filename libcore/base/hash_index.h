// SPDX-License-Identifier: Apache-2.0
#pragma once
// HashIndex: stored hash -> id; the objects hold the keys. Open addressing, so that growing reads no object. A table
// that is full moves to one of twice the size, some entries with each insertion: moving millions at once would stop the
// scheduler for tens of milliseconds.
// Cost: one probe on average, two while it moves.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/check.h"
#include "libcore/base/slab.h"

namespace yk {

/// Memory that is zero from the start, and costs nothing before it is used. For what is made of zeros anyway.
template <class T>
struct ZeroedMemory {
    using value_type = T;

    ZeroedMemory() = default;
    template <class U>
    explicit ZeroedMemory(const ZeroedMemory<U>&) noexcept {}
    [[nodiscard]] T* allocate(std::size_t count) {
        if (void* memory = std::calloc(count, sizeof(T))) return static_cast<T*>(memory);
        throw std::bad_alloc();
    }
    void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
    void construct(T*) noexcept {} // it is there
    void construct(T* at, const T& other) noexcept { *at = other; }
    friend bool operator==(const ZeroedMemory&, const ZeroedMemory&) noexcept { return true; }
};

template <class IdType>
class HashIndex {
public:
    /// The entry with this hash for which same(IdType) holds; none when there is none.
    template <class Same>
    [[nodiscard]] IdType find(std::uint32_t hash, Same&& same) const {
        if (const IdType id = now_.find(hash, same); id.valid() || former_.capacity() == 0) return id;
        return former_.find(hash, same);
    }

    /// Adds `id` under `hash`. REQUIRES: it is not in the index.
    void insert(std::uint32_t hash, IdType id) {
        YK_ASSUME(!has(hash, id), "an entry is added once");
        if ((size_ + 1) * 4 > now_.capacity() * 3) begin_to_move(size_ * 2 + 16);
        now_.insert({hash, id.index + 1});
        ++size_;
        move_on(kMovedAtOnce);
    }

    /// Removes `id`, which was inserted under `hash`. REQUIRES: it is in the index.
    void erase(std::uint32_t hash, IdType id) noexcept {
        YK_ASSUME(has(hash, id), "only what is in the index can be erased");
        if (!now_.erase(hash, id.index + 1)) former_.mark_moved(hash, id.index + 1);
        --size_;
    }

    /// To be called now and then: returns the memory when nearly all entries were erased.
    void give_back() {
        if (now_.capacity() <= kKeep || size_ * 16 >= now_.capacity()) return;
        begin_to_move(size_ * 2 + 16);
        move_on(former_.capacity());
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    static constexpr std::size_t kKeep = 8192;
    // Slots. The former table is gone long before the next one is full, which then has 3/4 of as many insertions behind
    // it as the former had slots.
    static constexpr std::size_t kMovedAtOnce = 8;

    struct Entry {
        std::uint32_t hash = 0;
        std::uint32_t id = 0; // its index + 1; 0: the slot is empty
    };
    static constexpr std::uint32_t kMoved = ~std::uint32_t{0}; // an id: emptied, and a search has to go on behind it

    /// So many slots, a power of two.
    class Table {
    public:
        Table() = default;
        explicit Table(std::size_t capacity) : entries_(capacity), mask_(capacity - 1) {}
        [[nodiscard]] std::size_t capacity() const noexcept { return entries_.size(); }
        template <class Same>
        [[nodiscard]] IdType find(std::uint32_t hash, Same&& same) const {
            if (entries_.empty()) return {};
            for (std::size_t at = hash & mask_; entries_[at].id != 0; at = (at + 1) & mask_) {
                const Entry& entry = entries_[at];
                if (entry.hash == hash && entry.id != kMoved && same(IdType{entry.id - 1})) return {entry.id - 1};
            }
            return {};
        }
        void insert(Entry entry) noexcept {
            std::size_t at = entry.hash & mask_;
            while (entries_[at].id != 0) at = (at + 1) & mask_;
            entries_[at] = entry;
        }
        /// Returns whether it was there. The entries behind it move up, so that no search has to pass an empty slot.
        bool erase(std::uint32_t hash, std::uint32_t id) noexcept {
            std::size_t hole = slot_of(hash, id);
            if (entries_[hole].id == 0) return false;
            for (std::size_t at = (hole + 1) & mask_; entries_[at].id != 0; at = (at + 1) & mask_) {
                const std::size_t home = entries_[at].hash & mask_;
                if (((at - home) & mask_) < ((at - hole) & mask_)) continue; // a search for it begins behind the hole
                entries_[hole] = entries_[at];
                hole = at;
            }
            entries_[hole] = {};
            return true;
        }
        /// REQUIRES: it is there.
        void mark_moved(std::uint32_t hash, std::uint32_t id) noexcept { entries_[slot_of(hash, id)].id = kMoved; }
        /// What slot `at` had, which is marked then; an id of 0: nothing.
        Entry take(std::size_t at) noexcept {
            const Entry entry = entries_[at];
            if (entry.id == 0 || entry.id == kMoved) return {};
            entries_[at].id = kMoved;
            return entry;
        }

    private:
        /// Where it is, or the empty slot at which a search for it ends.
        [[nodiscard]] std::size_t slot_of(std::uint32_t hash, std::uint32_t id) const noexcept {
            std::size_t at = hash & mask_;
            while (entries_[at].id != id && entries_[at].id != 0) at = (at + 1) & mask_;
            return at;
        }

        std::vector<Entry, ZeroedMemory<Entry>> entries_;
        std::size_t mask_ = 0;
    };

    [[nodiscard]] bool has(std::uint32_t hash, IdType id) const noexcept {
        return find(hash, [id](IdType other) { return other == id; }).valid();
    }
    void begin_to_move(std::size_t capacity) {
        move_on(former_.capacity());
        std::size_t wanted = 16;
        while (wanted < capacity) wanted *= 2;
        Table next(wanted);
        former_ = std::exchange(now_, std::move(next));
        moved_ = 0;
    }
    /// Moves what the next so many slots of the former table have.
    void move_on(std::size_t slots) noexcept {
        if (former_.capacity() == 0) return;
        for (; slots > 0 && moved_ < former_.capacity(); --slots, ++moved_)
            if (const Entry entry = former_.take(moved_); entry.id != 0) now_.insert(entry);
        if (moved_ == former_.capacity()) former_ = {};
    }

    Table now_, former_;    // the former one while it has entries yet
    std::size_t moved_ = 0; // slots of the former one
    std::size_t size_ = 0;  // entries of both
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
