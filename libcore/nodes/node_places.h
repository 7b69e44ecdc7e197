// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodePlaces: for each node a place in an array, in the order of the ids, so that what is known of the nodes can stand
// in arrays of their own. Places are left empty between them, and a node that comes or goes moves few others.
//
// Owner: ShapeBoards. Thread: the partition's owner. Cost: one block per change; all places when a block is full.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/base/check.h"
#include "libcore/model/ids.h"

namespace yk {

class NodePlaces {
public:
    /// So many places there are, empty ones included.
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    /// None: the place is empty.
    [[nodiscard]] NodeId at(std::size_t place) const noexcept { return nodes_[place]; }
    [[nodiscard]] std::size_t of(NodeId id) const noexcept { return places_[id.index]; }

    /// Gives the node the place behind `before`, the node with the next lower id; none: it has the lowest. f(place) for
    /// each place whose node is another one now, and true; false: every node has another place.
    template <class F>
    bool insert(NodeId id, NodeId before, F&& f) {
        const std::size_t at = before.valid() ? of(before) + 1 : 0;
        if (at == nodes_.size()) { // behind all
            nodes_.resize(nodes_.size() + kBlock);
            put(id, at, f);
            return true;
        }
        const std::size_t block = at / kBlock * kBlock;
        const std::size_t end = block + kBlock;
        const auto is_empty = [this](std::size_t place) { return !nodes_[place].valid(); };
        std::size_t gap = at;
        while (gap < end && !is_empty(gap)) ++gap;
        if (gap < end) {
            for (; gap > at; --gap) put(nodes_[gap - 1], gap, f);
            put(id, at, f);
            return true;
        }
        gap = at;
        while (gap > block && !is_empty(gap - 1)) --gap;
        if (gap > block) {
            for (--gap; gap + 1 < at; ++gap) put(nodes_[gap + 1], gap, f);
            put(id, gap, f);
            return true;
        }
        number_anew(id, at);
        return false;
    }
    /// Returns the place that is empty now.
    std::size_t remove(NodeId id) noexcept {
        const std::size_t place = of(id);
        nodes_[place] = {};
        return place;
    }

private:
    static constexpr std::size_t kBlock = 16;
    static constexpr std::size_t kFilled = 12; // of a block, when the nodes are numbered anew

    template <class F>
    void put(NodeId id, std::size_t place, F&& f) {
        nodes_[place] = id;
        if (places_.size() <= id.index) places_.resize(id.index + std::size_t{1});
        places_[id.index] = static_cast<std::uint32_t>(place);
        f(place);
    }
    void number_anew(NodeId id, std::size_t at) {
        std::vector<NodeId> order;
        for (std::size_t place = 0; place < nodes_.size(); ++place) {
            if (place == at) order.push_back(id);
            if (nodes_[place].valid()) order.push_back(nodes_[place]);
        }
        nodes_.assign((order.size() - 1) / kFilled * kBlock + kBlock, {});
        for (std::size_t i = 0; i < order.size(); ++i)
            put(order[i], i / kFilled * kBlock + i % kFilled, [](std::size_t) {});
    }

    std::vector<NodeId> nodes_;         // by place
    std::vector<std::uint32_t> places_; // by index of the id
};

} // namespace yk
