// SPDX-License-Identifier: Apache-2.0
#pragma once
// Slab: objects of one kind at stable addresses, named by small typed ids.
//
// Invariants: an id is valid from make() to destroy(); the address of an object never changes; ids are reused, last
// freed first and after give_back() the lowest, so the same commands give the same ids in every run. Who keeps an id
// while its object may go keeps a Ref.
// Cost: make and destroy O(1); make allocates a chunk now and then (reserve() does it ahead of time). The memory of
// destroyed objects stays with the slab until give_back().

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "libcore/base/check.h"

namespace yk {

/// An index that cannot be mixed up with one of another kind.
template <class Tag>
struct Id {
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::uint32_t index = kNone;

    [[nodiscard]] constexpr bool valid() const noexcept { return index != kNone; }
    explicit constexpr operator bool() const noexcept { return valid(); }
    friend constexpr bool operator==(Id, Id) noexcept = default;
    friend constexpr bool operator<(Id a, Id b) noexcept { return a.index < b.index; }
};

/// An id with the generation of the object that it named: it never names another object that has the id later. T has
/// generation(), a number that no two of its objects have. Slab::ref() makes one, Slab::find() follows it.
template <class T>
struct Ref {
    Id<T> id;
    std::uint64_t generation = 0;
};

template <class T>
class Slab {
public:
    using IdType = Id<T>;

    Slab() = default;
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;
    ~Slab() {
        for_each([this](IdType id) { slot(id.index)->~T(); });
    }

    template <class... Args>
    IdType make(Args&&... args) {
        if (free_.empty() || !chunks_[free_.back() >> kShift]) reserve(1);
        const std::uint32_t index = free_.back();
        ::new (static_cast<void*>(slot(index))) T(std::forward<Args>(args)...);
        free_.pop_back();
        alive_[index] = true;
        ++size_;
        return {index};
    }

    void destroy(IdType id) noexcept {
        YK_ASSUME(alive(id), "only a live object can be destroyed");
        slot(id.index)->~T();
        alive_[id.index] = false;
        free_.push_back(id.index); // never grows: its capacity is that for every index
        --size_;
    }

    /// Requests the memory for the next `count` calls of make(), which then request none.
    void reserve(std::size_t count) {
        while (free_.size() < count) add_chunk();
        for (auto next = free_.end() - static_cast<std::ptrdiff_t>(count); next != free_.end(); ++next) {
            auto& chunk = chunks_[*next >> kShift];
            if (!chunk) chunk.reset(new Cell[kChunk]);
        }
    }

    /// To be called now and then: when three quarters of the objects that lived at an earlier call were destroyed,
    /// returns the memory of the chunks without objects. Which ids are next depends on the calls alone, as always.
    /// Cost O(1), or O(end()) when it does something: at most 64 steps for each destroyed object.
    void give_back() {
        most_ = std::max(most_, size_);
        if (most_ < kKeep || size_ > most_ / 4 || most_ - size_ < end() / 64) return;
        std::vector<std::uint32_t> held(chunks_.size(), 0); // objects by chunk
        for_each([&held](IdType id) { ++held[id.index >> kShift]; });
        std::uint32_t chunks = static_cast<std::uint32_t>(chunks_.size());
        while (chunks > 0 && held[chunks - 1] == 0) --chunks;
        std::vector<std::uint32_t> free;
        free.reserve(std::size_t{2} * chunks * kChunk);
        for (const bool in_use : {false, true}) // those of chunks in use are taken first, so they come last
            for (std::uint32_t index = chunks * kChunk; index-- > 0;)
                if (!alive_[index] && (held[index >> kShift] != 0) == in_use) free.push_back(index);
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
            if (held[chunk] == 0) chunks_[chunk].reset();
        chunks_.resize(chunks);
        alive_.resize(std::size_t{chunks} * kChunk);
        free_ = std::move(free);
        most_ = size_;
    }

    [[nodiscard]] T& operator[](IdType id) noexcept {
        YK_ASSUME(alive(id), "stale id");
        return *slot(id.index);
    }
    [[nodiscard]] const T& operator[](IdType id) const noexcept {
        YK_ASSUME(alive(id), "stale id");
        return *slot(id.index);
    }
    [[nodiscard]] Ref<T> ref(IdType id) const noexcept { return {id, (*this)[id].generation()}; }
    /// nullptr: the object has gone.
    [[nodiscard]] const T* find(const Ref<T>& ref) const noexcept {
        return alive(ref.id) && (*this)[ref.id].generation() == ref.generation ? slot(ref.id.index) : nullptr;
    }
    /// Has the object's memory brought near while the caller does something else. REQUIRES: it lives, or the id is
    /// none.
    void prefetch(IdType id) const noexcept {
        if (!id.valid()) return;
        YK_ASSUME(alive(id), "stale id");
        const unsigned char* bytes = chunks_[id.index >> kShift][id.index & (kChunk - 1)].bytes;
        for (std::size_t at = 0; at < sizeof(T); at += kCacheLine) __builtin_prefetch(bytes + at);
    }
    [[nodiscard]] bool alive(IdType id) const noexcept { return id.index < alive_.size() && alive_[id.index]; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// f(IdType) for each live object, by index.
    template <class F>
    void for_each(F&& f) const {
        for (std::uint32_t index = 0; index < alive_.size(); ++index)
            if (alive_[index]) f(IdType{index});
    }

    /// f(IdType) for each live object from index `first` on, until it returns true; the index it stopped at, or end().
    template <class F>
    std::uint32_t until(std::uint64_t first, F&& f) const {
        if (first >= alive_.size()) return end();
        for (auto index = static_cast<std::uint32_t>(first); index < alive_.size(); ++index)
            if (alive_[index] && f(IdType{index})) return index;
        return end();
    }
    /// Above every index.
    [[nodiscard]] std::uint32_t end() const noexcept { return static_cast<std::uint32_t>(alive_.size()); }

private:
    static constexpr std::uint32_t kShift = 8;
    static constexpr std::uint32_t kChunk = 1U << kShift;
    static constexpr std::size_t kCacheLine = 64; // of every processor this runs on; another size only costs time
    static constexpr std::size_t kKeep = 4096;    // give_back() does not bother with fewer objects
    struct Cell {
        alignas(T) unsigned char bytes[sizeof(T)];
    };

    [[nodiscard]] T* slot(std::uint32_t index) const noexcept {
        return std::launder(reinterpret_cast<T*>(chunks_[index >> kShift][index & (kChunk - 1)].bytes));
    }
    void add_chunk() {
        const auto first = static_cast<std::uint32_t>(chunks_.size() * kChunk);
        chunks_.push_back(std::unique_ptr<Cell[]>(new Cell[kChunk]));
        alive_.resize(first + kChunk, false);
        if (free_.capacity() < first + kChunk) free_.reserve(std::size_t{2} * (first + kChunk));
        for (std::uint32_t index = first + kChunk; index-- > first;) free_.push_back(index);
    }

    std::vector<std::unique_ptr<Cell[]>> chunks_; // null: given back
    std::vector<bool> alive_;
    std::vector<std::uint32_t> free_;
    std::size_t size_ = 0;
    std::size_t most_ = 0; // objects at a call of give_back(), since it did something
};

} // namespace yk
