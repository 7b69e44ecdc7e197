// SPDX-License-Identifier: Apache-2.0
#pragma once
// QueueTree: the queues of a partition, by path and by number. A queue owns its children; the tree owns the root and
// gives each queue a small number, which indexes and bit sets use. A number is used again after its queue was removed.
//
// Owner: PartitionState. Thread: the partition's owner. Cost: find() one lookup for each part of the path.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "libcore/model/queue.h"

namespace yk {

class QueueTree {
public:
    /// `applications` outlives the tree: its leaves list some of them.
    explicit QueueTree(Slab<Application>& applications) : applications_(applications) {}
    QueueTree(const QueueTree&) = delete;
    QueueTree& operator=(const QueueTree&) = delete;

    /// Makes an active queue. REQUIRES: `parent` has no child `name`; the first queue is the root, without a parent.
    Queue& add(std::string_view name, Queue* parent, bool leaf) noexcept;
    /// Removes a queue below the root. REQUIRES: nobody refers to it or its number any more.
    void remove(Queue& queue) noexcept;

    [[nodiscard]] Queue& root() const noexcept { return *root_; }
    /// `path` in any case; nullptr: there is none.
    [[nodiscard]] Queue* find(std::string_view path) const;
    /// The queue, or the nearest above it that exists. REQUIRES: lower case, `root` or below it.
    [[nodiscard]] Queue& find_deepest(std::string_view path) const;

    /// One more than the largest number in use.
    [[nodiscard]] std::size_t size() const noexcept { return by_number_.size(); }
    /// nullptr: no queue has the number.
    [[nodiscard]] Queue* at(std::size_t number) const noexcept { return by_number_[number]; }
    /// visit(Queue&) for every queue, in no order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (Queue* queue : by_number_)
            if (queue != nullptr) visit(*queue);
    }

private:
    Slab<Application>& applications_;
    std::vector<Queue*> by_number_;
    std::vector<std::uint32_t> free_numbers_;
    std::unique_ptr<Queue> root_;
};

} // namespace yk
