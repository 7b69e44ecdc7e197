// SPDX-License-Identifier: Apache-2.0
#pragma once
// OrderedIndex: a B+ tree with stored keys. Beside the link to a child stands a summary of everything below it, so that
// the search for the first entry that passes a test is one descent: it skips subtrees whose summary does not pass.
//
// Traits: struct with
//   Key, Summary (copyable), kCapacity (entries of a tree node),
//   bool less(const Key&, const Key&) const: a strict total order (a key holds its tie-break),
//   void merge(Summary& into, const Summary&) const: a least upper bound (merging twice changes nothing, the order does
//     not matter), with Summary{} below all others,
//   bool same(const Summary&, const Summary&) const,
//   bool falls(const Summary& whole, const Summary& before, const Summary& after) const: whether a merge that is
//     `whole` may become less when the summary of an entry changes from `before` to `after`; true is always right;
//     or void settle(Summary& whole, before, after, const Summary* entries, std::uint32_t count) const: `whole` is at
//     least the merge of the entries and becomes exactly that,
//   IndexSlot& slot(std::uint32_t value) const: a field of the object, owned by the index while the object is in it.
//
// Owner: the object whose children it orders. Thread: the partition's owner.
// Invariants, checked by check():
//  A  entries stand in key order, each key once
//  B  the summary beside a child is the merge of its entries' summaries
//  C  slot(value) names the leaf that holds the value, and is empty for values outside
//  D  the separator of each child but the first is the first key below it: a key may refer to an object that is
//     freed with its entry, so no copy of it that is compared outlives the entry; a child knows its parent and its
//     index there
// Cost: insert, erase, update O(log n) comparisons and one node's merge per level; first match: one descent when
// summaries are exact, in the worst case a walk over all entries that only seem to match.
// Odd-looking: the first separator of an inner node is not kept up to date, because nobody compares with it; a leaf is
// merged with its neighbour only when both are nearly empty, so that moving one entry to and fro does not split and
// merge leaves every time.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/check.h"

namespace yk {

/// The leaf that holds an object, kept in the object.
struct IndexSlot {
    void* leaf = nullptr;
    [[nodiscard]] bool in_index() const noexcept { return leaf != nullptr; }
};

template <class Traits>
class OrderedIndex {
public:
    using Key = typename Traits::Key;
    using Summary = typename Traits::Summary;

    explicit OrderedIndex(Traits traits) : traits_(traits) {}
    OrderedIndex(const OrderedIndex&) = delete;
    OrderedIndex& operator=(const OrderedIndex&) = delete;
    ~OrderedIndex() { free_below(root_, height_); }

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The merge of all entries' summaries.
    [[nodiscard]] const Summary& total() const noexcept { return total_; }
    [[nodiscard]] const Traits& traits() const noexcept { return traits_; }

    [[gnu::hot]] void insert(std::uint32_t value, const Key& key, const Summary& summary) {
        YK_ASSUME(!traits_.slot(value).in_index(), "a value can be in the index once only");
        if (root_ == nullptr) root_ = new Leaf;
        Leaf* leaf = leaf_for(key);
        std::uint32_t at = lower_bound(*leaf, key);
        if (leaf->count == kCapacity) leaf = split(leaf, at, key);
        open_gap(*leaf, at);
        leaf->put(at, value, key, summary);
        traits_.slot(value).leaf = leaf;
        ++size_;
        raise(leaf, summary);
    }

    void erase(std::uint32_t value) {
        Leaf* leaf = leaf_of(value);
        erase_at(leaf, position(*leaf, value));
    }

    /// Moves the entry to a new key and summary; cheap when it stays in its leaf.
    [[gnu::hot]] void update(std::uint32_t value, const Key& key, const Summary& summary) {
        Leaf* leaf = leaf_of(value);
        refile(leaf, position(*leaf, value), key, summary);
    }

    /// As above if moved(its stored key); otherwise only the summary changes and the entry keeps its position.
    template <class Moved>
    [[gnu::hot]] void update(std::uint32_t value, const Key& key, const Summary& summary, Moved&& moved) {
        Leaf* leaf = leaf_of(value);
        const std::uint32_t at = position(*leaf, value);
        if (moved(leaf->keys[at])) return refile(leaf, at, key, summary);
        if (traits_.same(leaf->summaries[at], summary)) return;
        repair(leaf, std::exchange(leaf->summaries[at], summary), summary);
    }

    [[nodiscard]] const Key& key_of(std::uint32_t value) const {
        const Leaf* leaf = leaf_of(value);
        return leaf->keys[position(*leaf, value)];
    }

    /// The smallest key; nullptr when there is none.
    [[nodiscard]] const Key* front() const noexcept {
        const Node* node = root_;
        for (std::uint32_t level = height_; level > 0; --level) node = static_cast<const Inner*>(node)->children[0];
        return node != nullptr ? &node->keys[0] : nullptr;
    }

    [[nodiscard]] const Summary& summary_of(std::uint32_t value) const {
        const Leaf* leaf = leaf_of(value);
        return leaf->summaries[position(*leaf, value)];
    }

    /// visit(value) in key order for the entries whose summary and all summaries above pass may(summary), until it
    /// returns true. Returns whether it did. The index must not change meanwhile.
    template <class May, class Visit>
    bool visit(May&& may, Visit&& visit_entry) const {
        return root_ != nullptr && visit_node(root_, height_, may, visit_entry);
    }

    /// Gives every entry the summary f(value, its old summary). Cost: one pass over the tree.
    template <class F>
    void resummarise(F&& f) {
        if (root_ != nullptr) total_ = resummarise_node(root_, height_, f);
    }

    template <class F>
    void for_each(F&& f) const {
        visit([](const Summary&) { return true; },
              [&f](std::uint32_t value) {
                  f(value);
                  return false;
              });
    }

    void clear() {
        for_each([this](std::uint32_t value) { traits_.slot(value).leaf = nullptr; });
        free_below(root_, height_);
        root_ = nullptr;
        height_ = 0;
        size_ = 0;
        total_ = Summary{};
    }

    /// Empty when every invariant holds, else the first that does not.
    [[nodiscard]] std::string check() const {
        Checker checker{*this};
        if (root_ != nullptr) checker.node(root_, height_);
        if (checker.fault.empty() && checker.seen != size_) return "C: size differs from the entries found";
        return checker.fault;
    }

private:
    static constexpr std::uint32_t kCapacity = Traits::kCapacity;
    static constexpr std::uint32_t kCompareAfter = 4;
    static constexpr std::uint32_t kOutside = ~std::uint32_t{0};

    struct Inner;
    struct Node {
        std::uint32_t count = 0;
        std::uint32_t index_in_parent = 0; // among the parent's children
        Inner* parent = nullptr;
        Key keys[kCapacity];
        Summary summaries[kCapacity];
    };
    struct Leaf : Node {
        Leaf* prev = nullptr;
        Leaf* next = nullptr;
        std::uint32_t values[kCapacity];

        void put(std::uint32_t at, std::uint32_t value, const Key& key, const Summary& summary) {
            this->keys[at] = key;
            this->summaries[at] = summary;
            values[at] = value;
        }
    };
    struct Inner : Node {
        Node* children[kCapacity];

        /// Corrects the links back of the children from `at` on.
        void number(std::uint32_t at) {
            for (; at < this->count; ++at) {
                children[at]->parent = this;
                children[at]->index_in_parent = at;
            }
        }
    };

    [[nodiscard]] Leaf* leaf_of(std::uint32_t value) const {
        YK_ASSUME(traits_.slot(value).in_index(), "the value must be in the index");
        return static_cast<Leaf*>(traits_.slot(value).leaf);
    }

    [[nodiscard]] std::uint32_t position(const Leaf& leaf, std::uint32_t value) const noexcept {
        std::uint32_t at = 0;
        while (leaf.values[at] != value) ++at;
        return at;
    }

    [[nodiscard]] std::uint32_t lower_bound(const Leaf& leaf, const Key& key) const {
        const Key* first = leaf.keys;
        return static_cast<std::uint32_t>(
            std::lower_bound(first, first + leaf.count, key,
                             [this](const Key& a, const Key& b) { return traits_.less(a, b); }) -
            first);
    }

    [[nodiscard]] Leaf* leaf_for(const Key& key) const {
        Node* node = root_;
        for (std::uint32_t level = height_; level > 0; --level) {
            const Key* first = node->keys;
            const auto after = std::upper_bound(first + 1, first + node->count, key,
                                                [this](const Key& a, const Key& b) { return traits_.less(a, b); });
            node = static_cast<Inner*>(node)->children[after - first - 1];
        }
        return static_cast<Leaf*>(node);
    }

    static void open_gap(Leaf& leaf, std::uint32_t at) {
        std::copy_backward(leaf.keys + at, leaf.keys + leaf.count, leaf.keys + leaf.count + 1);
        std::copy_backward(leaf.summaries + at, leaf.summaries + leaf.count, leaf.summaries + leaf.count + 1);
        std::copy_backward(leaf.values + at, leaf.values + leaf.count, leaf.values + leaf.count + 1);
        ++leaf.count;
    }

    static void close_gap(Leaf& leaf, std::uint32_t at) {
        std::copy(leaf.keys + at + 1, leaf.keys + leaf.count, leaf.keys + at);
        std::copy(leaf.summaries + at + 1, leaf.summaries + leaf.count, leaf.summaries + at);
        std::copy(leaf.values + at + 1, leaf.values + leaf.count, leaf.values + at);
        --leaf.count;
    }

    [[gnu::hot]] void erase_at(Leaf* leaf, std::uint32_t at) {
        traits_.slot(leaf->values[at]).leaf = nullptr;
        const Summary before = leaf->summaries[at];
        close_gap(*leaf, at);
        --size_;
        if (leaf->count == 0) {
            remove_node(leaf);
        } else {
            if (at == 0) renew_separator(leaf, leaf->keys[0]);
            repair(leaf, before, Summary{});
            if (leaf->count < kCapacity / 4) merge_with_next(leaf);
        }
    }

    void refile(Leaf* leaf, std::uint32_t from, const Key& key, const Summary& summary) {
        const std::uint32_t value = leaf->values[from];
        const std::uint32_t to = position_within(*leaf, from, key);
        if (to == kOutside) {
            erase_at(leaf, from);
            insert(value, key, summary);
            return;
        }
        const Summary before = leaf->summaries[from];
        shift(*leaf, from, to);
        leaf->put(to, value, key, summary);
        if (from == 0) renew_separator(leaf, leaf->keys[0]);
        repair(leaf, before, summary);
    }

    /// Restores invariant D after the first key below `node` has become `first`. An insertion never has to: a key is
    /// filed at or above its separator, and one below all others goes to the first leaf, which has no separator.
    static void renew_separator(const Node* node, const Key& first) {
        while (node->parent != nullptr && node->index_in_parent == 0) node = node->parent;
        if (node->parent != nullptr) node->parent->keys[node->index_in_parent] = first;
    }

    /// The position that `key` takes in the leaf when the entry `from` moves there; kOutside when it might belong to a
    /// neighbouring leaf (a key at the edge may lie beyond the leaf's separators, D). The entry's old key is not
    /// compared: the object that it refers to may have changed already.
    [[nodiscard]] std::uint32_t position_within(const Leaf& leaf, std::uint32_t from, const Key& key) const {
        const std::uint32_t last = leaf.count - 1;
        std::uint32_t to = from;
        if (from < last && traits_.less(leaf.keys[from + 1], key)) {
            if (leaf.next != nullptr && traits_.less(leaf.keys[last], key)) return kOutside;
            while (to < last && traits_.less(leaf.keys[to + 1], key)) ++to;
        } else if (from > 0 && traits_.less(key, leaf.keys[from - 1])) {
            if (leaf.prev != nullptr && traits_.less(key, leaf.keys[0])) return kOutside;
            while (to > 0 && traits_.less(key, leaf.keys[to - 1])) --to;
        } else if ((from == last && leaf.next != nullptr) || (from == 0 && leaf.prev != nullptr)) {
            return kOutside;
        }
        return to;
    }

    static void shift(Leaf& leaf, std::uint32_t from, std::uint32_t to) {
        const auto move = [from, to](auto* array) {
            if (from < to)
                std::copy(array + from + 1, array + to + 1, array + from);
            else
                std::copy_backward(array + to, array + from, array + from + 1);
        };
        if (from == to) return;
        move(leaf.keys);
        move(leaf.summaries);
        move(leaf.values);
    }

    /// Splits a full leaf so that `key` can go in at position `at`; returns the leaf to put it in, with `at` adapted.
    Leaf* split(Leaf* leaf, std::uint32_t& at, const Key& key) {
        auto* right = new Leaf;
        // Appending at the very end leaves the full leaf as it is: ascending keys then fill the leaves.
        const std::uint32_t keep = at == kCapacity && leaf->next == nullptr ? kCapacity : kCapacity / 2;
        for (std::uint32_t from = keep; from < leaf->count; ++from) {
            right->put(from - keep, leaf->values[from], leaf->keys[from], leaf->summaries[from]);
            traits_.slot(leaf->values[from]).leaf = right;
        }
        right->count = leaf->count - keep;
        leaf->count = keep;
        link_after(leaf, right);
        add_sibling(leaf, right, right->count > 0 ? right->keys[0] : key);
        if (right->count > 0) repair(leaf);
        if (at <= keep && keep < kCapacity) return leaf;
        at -= keep;
        return right;
    }

    static void link_after(Leaf* leaf, Leaf* right) {
        right->prev = leaf;
        right->next = leaf->next;
        if (leaf->next != nullptr) leaf->next->prev = right;
        leaf->next = right;
    }

    /// Makes `right` the next child after `left` in its parent, which may be split or made for that.
    void add_sibling(Node* left, Node* right, const Key& separator) {
        if (left->parent == nullptr) {
            auto* top = new Inner;
            top->children[0] = left;
            top->keys[0] = left->keys[0];
            top->summaries[0] = merged(*left);
            top->count = 1;
            left->parent = top;
            root_ = top;
            ++height_;
        }
        Inner* parent = left->parent;
        std::uint32_t at = left->index_in_parent + 1;
        if (parent->count == kCapacity) parent = split_inner(parent, at);
        std::copy_backward(parent->keys + at, parent->keys + parent->count, parent->keys + parent->count + 1);
        std::copy_backward(parent->summaries + at, parent->summaries + parent->count,
                           parent->summaries + parent->count + 1);
        std::copy_backward(parent->children + at, parent->children + parent->count,
                           parent->children + parent->count + 1);
        parent->keys[at] = separator;
        parent->summaries[at] = merged(*right);
        parent->children[at] = right;
        ++parent->count;
        parent->number(at);
    }

    Inner* split_inner(Inner* inner, std::uint32_t& at) {
        auto* right = new Inner;
        const std::uint32_t keep = kCapacity / 2;
        right->count = inner->count - keep;
        for (std::uint32_t child = 0; child < right->count; ++child) {
            right->keys[child] = inner->keys[keep + child];
            right->summaries[child] = inner->summaries[keep + child];
            right->children[child] = inner->children[keep + child];
        }
        right->number(0);
        inner->count = keep;
        add_sibling(inner, right, right->keys[0]);
        repair(inner);
        if (at <= keep) return inner;
        at -= keep;
        return right;
    }

    [[nodiscard]] Summary merged(const Node& node) const {
        Summary sum{};
        for (std::uint32_t at = 0; at < node.count; ++at) traits_.merge(sum, node.summaries[at]);
        return sum;
    }

    /// As above, for a caller who knows that the result is at most `most`. The comparison after the first entries often
    /// shows that it is `most`, and saves the rest.
    [[nodiscard]] Summary merged(const Node& node, const Summary& most) const {
        Summary sum{};
        for (std::uint32_t at = 0; at < node.count; ++at) {
            if (at == kCompareAfter && traits_.same(sum, most)) break;
            traits_.merge(sum, node.summaries[at]);
        }
        return sum;
    }

    [[nodiscard]] Summary& stored_for(Node* node) noexcept {
        return node->parent != nullptr ? node->parent->summaries[node->index_in_parent] : total_;
    }

    /// Brings the summaries above `node` up to date after one entry's changed from `before` to `after`. Summary{}
    /// stands for an entry that is not there. Stops at the first level that does not change.
    [[gnu::hot]] void repair(Node* node, Summary before, Summary after) {
        while (true) {
            Summary& stored = stored_for(node);
            Summary now = stored;
            traits_.merge(now, after);
            if constexpr (requires { traits_.settle(now, before, after, node->summaries, node->count); })
                traits_.settle(now, before, after, node->summaries, node->count);
            else if (traits_.falls(stored, before, after))
                now = merged(*node, now);
            if (traits_.same(now, stored)) return;
            before = stored;
            after = stored = now;
            if (node->parent == nullptr) return;
            node = node->parent;
        }
    }

    /// As above after several entries were removed.
    void repair(Node* node) { repair(node, stored_for(node), Summary{}); }

    /// As above after an entry with `summary` was added below `node` and none was removed.
    void raise(const Node* node, const Summary& summary) {
        for (; node->parent != nullptr; node = node->parent) {
            Summary& stored = node->parent->summaries[node->index_in_parent];
            Summary sum = stored;
            traits_.merge(sum, summary);
            if (traits_.same(stored, sum)) return;
            stored = sum;
        }
        traits_.merge(total_, summary);
    }

    void merge_with_next(Leaf* leaf) {
        Leaf* next = leaf->next;
        if (next == nullptr || next->parent != leaf->parent || leaf->count + next->count > kCapacity / 2) return;
        for (std::uint32_t from = 0; from < next->count; ++from) {
            leaf->put(leaf->count + from, next->values[from], next->keys[from], next->summaries[from]);
            traits_.slot(next->values[from]).leaf = leaf;
        }
        leaf->count += next->count;
        next->count = 0;
        remove_node(next);
        repair(leaf, Summary{}, merged(*leaf));
    }

    /// Takes an empty leaf out of the tree, and every inner node that becomes empty with it.
    void remove_node(Leaf* leaf) {
        if (leaf->prev != nullptr) leaf->prev->next = leaf->next;
        if (leaf->next != nullptr) leaf->next->prev = leaf->prev;
        Inner* parent = leaf->parent;
        std::uint32_t index_in_parent = leaf->index_in_parent;
        delete leaf;
        while (parent != nullptr) {
            remove_child(*parent, index_in_parent);
            if (parent->count > 0) break;
            Inner* above = parent->parent;
            index_in_parent = parent->index_in_parent;
            delete parent;
            parent = above;
        }
        if (parent == nullptr) {
            root_ = nullptr;
            height_ = 0;
            total_ = Summary{};
            return;
        }
        if (index_in_parent == 0) renew_separator(parent, parent->keys[0]);
        repair(parent);
        lower_root();
    }

    static void remove_child(Inner& parent, std::uint32_t at) {
        std::copy(parent.keys + at + 1, parent.keys + parent.count, parent.keys + at);
        std::copy(parent.summaries + at + 1, parent.summaries + parent.count, parent.summaries + at);
        std::copy(parent.children + at + 1, parent.children + parent.count, parent.children + at);
        --parent.count;
        parent.number(at);
    }

    void lower_root() {
        while (height_ > 0 && root_->count == 1) {
            auto* top = static_cast<Inner*>(root_);
            root_ = top->children[0];
            root_->parent = nullptr;
            --height_;
            delete top;
        }
    }

    static void free_below(Node* node, std::uint32_t level) {
        if (node == nullptr) return;
        if (level == 0) {
            delete static_cast<Leaf*>(node);
            return;
        }
        auto* inner = static_cast<Inner*>(node);
        for (std::uint32_t at = 0; at < inner->count; ++at) free_below(inner->children[at], level - 1);
        delete inner;
    }

    template <class May, class Visit>
    [[gnu::hot]] bool visit_node(const Node* node, std::uint32_t level, May& may, Visit& visit_entry) const {
        for (std::uint32_t at = 0; at < node->count; ++at) {
            if (!may(node->summaries[at])) continue;
            if (level == 0 ? visit_entry(static_cast<const Leaf*>(node)->values[at])
                           : visit_node(static_cast<const Inner*>(node)->children[at], level - 1, may, visit_entry))
                return true;
        }
        return false;
    }

    template <class F>
    Summary resummarise_node(Node* node, std::uint32_t level, F& f) {
        for (std::uint32_t at = 0; at < node->count; ++at)
            node->summaries[at] = level == 0 ? f(static_cast<const Leaf*>(node)->values[at], node->summaries[at])
                                             : resummarise_node(static_cast<Inner*>(node)->children[at], level - 1, f);
        return merged(*node);
    }

    struct Checker {
        const OrderedIndex& index;
        std::string fault{};
        std::size_t seen = 0;
        const Key* last = nullptr;

        void node(const Node* node, std::uint32_t level) {
            for (std::uint32_t at = 0; at < node->count && fault.empty(); ++at) {
                if (level == 0) {
                    entry(static_cast<const Leaf*>(node), at);
                    continue;
                }
                const Node* child = static_cast<const Inner*>(node)->children[at];
                if (child->parent != node || child->index_in_parent != at) fault = "D: a child does not know its place";
                if (child->count == 0) fault = "D: empty node";
                if (!index.traits_.same(node->summaries[at], index.merged(*child))) fault = "B: stale summary";
                if (at > 0 && !is_first_key(child, level - 1, node->keys[at]))
                    fault = "D: separator is not the first key";
                if (fault.empty()) this->node(child, level - 1);
            }
        }
        bool is_first_key(const Node* node, std::uint32_t level, const Key& separator) const {
            for (; level > 0; --level) node = static_cast<const Inner*>(node)->children[0];
            return !index.traits_.less(node->keys[0], separator) && !index.traits_.less(separator, node->keys[0]);
        }
        void entry(const Leaf* leaf, std::uint32_t at) {
            ++seen;
            if (last != nullptr && !index.traits_.less(*last, leaf->keys[at])) fault = "A: keys out of order";
            last = &leaf->keys[at];
            if (index.traits_.slot(leaf->values[at]).leaf != leaf) fault = "C: slot names another leaf";
        }
    };

    Traits traits_;
    Node* root_ = nullptr;
    std::uint32_t height_ = 0; // levels of inner nodes above the leaves
    std::size_t size_ = 0;
    Summary total_{};
};

} // namespace yk
