// SPDX-License-Identifier: Apache-2.0
#pragma once
// ResourceCache<T>: the rows of one kind in memory, and the only thing that application logic reads from.
//
// It follows the database and is never right before it: the reconciler alone changes it (whoever else has one, has it
// const), and what it read from the database always wins (rs ). Objects are shared and never change, so one
// that was got stays whole while the cache moves on.
//
// Owner: ResourceInformer<T>. Thread: its owner's. Cost: get() one probe of a hash table; per object some 60 bytes and
// the object; O(log n) for each index whose key changes.
// Invariants, checked by check():
//  A  each object is found by its id, and no id has two
//  B  each index has exactly the objects that are in the cache

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/hash_index.h"
#include "libcore/base/slab.h"
#include "libcore/resource_state/cache_index.h"
#include "libcore/resource_state/ports/resource.h"

namespace yk::rs {

template <Resource T>
class ResourceCache {
public:
    /// A place in the cache, to go on from in for_each_from().
    using Slot = std::uint32_t;

    /// An object with what the reconciler notes of it.
    struct Entry {
        Ptr<T> object;
        std::uint64_t content = 0; // hash of what it holds
        std::uint32_t scan = 0;    // the last full read that saw its row
        std::uint32_t era = 0;     // which of the database's lives it was read in
    };

    ResourceCache() : table_(std::make_unique<Table>()) {}
    ResourceCache(const ResourceCache&) = delete;
    ResourceCache& operator=(const ResourceCache&) = delete;

    // --- questions ------------------------------------------------------------------------------
    /// nullptr: there is none.
    [[nodiscard]] Ptr<T> get(std::string_view id) const {
        const Entry* const entry = find(id);
        return entry == nullptr ? nullptr : entry->object;
    }
    [[nodiscard]] std::size_t size() const { return table_->entries.size(); }
    /// Whether the cache had everything that the database has, once. Before that nothing may be concluded from what is
    /// missing in it.
    [[nodiscard]] bool is_synced() const { return is_synced_; }

    /// use(const Ptr<T>&) for each object, in no order that means anything. REQUIRES: it changes nothing here.
    template <class Use>
    void for_each(Use&& use) const {
        table_->entries.for_each([&](EntryId at) { use(table_->entries[at].object); });
    }
    /// The same for at most `most` objects from `first` (0: the beginning) on; returns where to go on, or end(). The
    /// cache may change between two calls: an object that is there all the time is met exactly once (rs R-105).
    template <class Use>
    Slot for_each_from(Slot first, std::size_t most, Use&& use) const {
        return for_each_entry_from(first, most, [&](const Entry& entry) { use(entry.object); });
    }
    template <class Use>
    Slot for_each_entry_from(Slot first, std::size_t most, Use&& use) const {
        return table_->entries.until(first, [&](EntryId at) {
            if (most == 0) return true;
            --most;
            use(table_->entries[at]);
            return false;
        });
    }
    [[nodiscard]] Slot end() const { return table_->entries.end(); }
    /// The objects for which fits(const T&) holds.
    template <class Fits>
    [[nodiscard]] std::vector<Ptr<T>> list(Fits&& fits) const {
        std::vector<Ptr<T>> found;
        for_each([&](const Ptr<T>& object) {
            if (fits(*object)) found.push_back(object);
        });
        return found;
    }
    /// The objects with a key of an index (rs R-059).
    template <class Key>
    [[nodiscard]] std::vector<Ptr<T>> list(const CacheIndex<T, Key>& index, const Key& key) const {
        std::vector<Ptr<T>> found;
        for (const std::uint32_t slot : index.slots(key)) found.push_back(table_->entries[EntryId{slot}].object);
        return found;
    }
    /// At most `most` objects with the next keys of an index after `key`, in their order: a page of a list.
    template <class Key>
    [[nodiscard]] std::vector<Ptr<T>> list_after(const CacheIndex<T, Key>& index, const Key& key,
                                                 std::size_t most) const {
        std::vector<Ptr<T>> found;
        for (const std::uint32_t slot : index.slots_after(key, most))
            found.push_back(table_->entries[EntryId{slot}].object);
        return found;
    }
    [[nodiscard]] const Entry* find(std::string_view id) const {
        const EntryId at = find_in(*table_, id);
        return at ? &table_->entries[at] : nullptr;
    }

    /// An index that lives as long as the cache. To be made before anything is in the cache.
    template <class Key>
    const CacheIndex<T, Key>& add_index(typename CacheIndex<T, Key>::KeyOf key_of) {
        YK_CHECK(size() == 0, "indexes are made before the cache is filled");
        auto made = std::make_unique<CacheIndex<T, Key>>(
            std::move(key_of), [this](Slot slot) -> const T& { return *table_->entries[EntryId{slot}].object; });
        const CacheIndex<T, Key>& index = *made;
        indexes_.push_back(std::move(made));
        return index;
    }

    // --- changes, by the reconciler -------------------------------------------------------------
    /// Adds the entry, or replaces the one of its id.
    void put(Entry entry) {
        const EntryId at = find_in(*table_, meta_of(*entry.object).id);
        if (!at) {
            const EntryId made = add_to(*table_, std::move(entry));
            for (const auto& index : indexes_) index->add(made.index);
            return;
        }
        Entry& kept = table_->entries[at];
        for (const auto& index : indexes_)
            if (!index->has_same_key(*kept.object, *entry.object)) index->remove(at.index);
        std::swap(kept, entry); // `entry` is the old one from here on
        for (const auto& index : indexes_)
            if (!index->has_same_key(*kept.object, *entry.object)) index->add(at.index);
    }
    /// REQUIRES: the id is there.
    void erase(std::string_view id) {
        const EntryId at = find_in(*table_, id);
        YK_CHECK(at.valid(), "only what is in the cache can be erased");
        for (const auto& index : indexes_) index->remove(at.index);
        table_->by_id.erase(hash(id), at);
        table_->entries.destroy(at);
        table_->entries.give_back();
        table_->by_id.give_back();
    }
    /// The row of an object was read and had nothing new. REQUIRES: the id is there.
    void confirm(std::string_view id, std::uint32_t scan, std::uint32_t era) {
        Entry& entry = table_->entries[find_in(*table_, id)];
        entry.scan = scan;
        entry.era = std::max(entry.era, era);
    }

    /// A new content is put together beside the present one, which stays until end_load() (start, S4).
    void begin_load() { shadow_ = std::make_unique<Table>(); }
    void load(Entry entry) {
        if (const EntryId at = find_in(*shadow_, meta_of(*entry.object).id))
            shadow_->entries[at] = std::move(entry);
        else
            add_to(*shadow_, std::move(entry));
    }
    void end_load() {
        table_ = std::move(shadow_);
        const auto slots = all_slots();
        for (const auto& index : indexes_) index->refill(slots);
    }
    void set_synced(bool synced) { is_synced_ = synced; }

    /// What is broken of the invariants; empty: nothing.
    [[nodiscard]] std::vector<std::string> check() const {
        std::vector<std::string> broken;
        table_->entries.for_each([&](EntryId at) {
            const std::string& id = meta_of(*table_->entries[at].object).id;
            if (find_in(*table_, id) != at) broken.push_back("A: not found by its id: " + id);
        });
        if (table_->by_id.size() != size()) broken.emplace_back("A: ids without an object");
        for (const auto& index : indexes_)
            if (!index->is_of(all_slots())) broken.emplace_back("B: an index has other objects than the cache");
        return broken;
    }

private:
    using EntryId = Id<Entry>;
    struct Table {
        Slab<Entry> entries;
        HashIndex<EntryId> by_id; // the objects hold the ids
    };

    [[nodiscard]] static std::uint32_t hash(std::string_view id) { return mix_hash(0, id); }
    [[nodiscard]] static EntryId find_in(const Table& table, std::string_view id) {
        return table.by_id.find(hash(id), [&](EntryId at) { return meta_of(*table.entries[at].object).id == id; });
    }
    static EntryId add_to(Table& table, Entry entry) {
        const std::uint32_t hashed = hash(meta_of(*entry.object).id);
        const EntryId at = table.entries.make(std::move(entry));
        table.by_id.insert(hashed, at);
        return at;
    }
    [[nodiscard]] std::vector<Slot> all_slots() const {
        std::vector<Slot> slots;
        slots.reserve(size());
        table_->entries.for_each([&slots](EntryId at) { slots.push_back(at.index); });
        return slots;
    }

    std::unique_ptr<Table> table_, shadow_;
    std::vector<std::unique_ptr<CacheIndexBase<T>>> indexes_;
    bool is_synced_ = false;
};

} // namespace yk::rs
