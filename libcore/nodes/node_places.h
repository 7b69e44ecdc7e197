// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodePlaces: for each node a place in an array, in the order of the ids, so that what is known of the nodes can stand
// in arrays of their own. Places are left empty between them, and a node that comes or goes moves few others.
//
// Owner: ShapeBoards. Thread: the partition's owner. Cost of a change: one block; when that is full as many places as
// it takes to find some that are empty, on average the square of the logarithm of all, wherever nodes come.

#include <algorithm>
#include <bit>
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
    /// each place whose node is another one now, or none, and true; false: every node has another place.
    template <class F>
    bool insert(NodeId id, NodeId before, F&& f) {
        const std::size_t at = before.valid() ? of(before) + 1 : 0;
        ++count_;
        if (at == nodes_.size()) { // behind all
            // Nodes that go in front and come behind would leave ever more empty places.
            if (count_ < nodes_.size() / 2) {
                number_anew(id, at);
                return false;
            }
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
        return spread(id, at, f);
    }
    /// Returns the place that is empty now.
    std::size_t remove(NodeId id) noexcept {
        const std::size_t place = of(id);
        nodes_[place] = {};
        --count_;
        return place;
    }

private:
    static constexpr std::size_t kBlock = 16;
    static constexpr std::size_t kFilled = 10; // of a block, when the nodes are numbered anew
    static constexpr std::size_t kSparest = 4; // one place in so many is empty among all, fewer in neighbourhoods

    template <class F>
    void put(NodeId id, std::size_t place, F&& f) {
        nodes_[place] = id;
        if (places_.size() <= id.index) places_.resize(id.index + std::size_t{1});
        places_[id.index] = static_cast<std::uint32_t>(place);
        f(place);
    }
    /// Spreads the nodes evenly over the least neighbourhood that has enough empty places: of two blocks, of four, and
    /// so on, each of them with a few more per block, so that the next nodes find some as well. False: not even all
    /// places together have enough, and every node has another place.
    template <class F>
    bool spread(NodeId id, std::size_t at, F& f) {
        const std::size_t levels = std::bit_width(nodes_.size() / kBlock - 1);
        for (std::size_t level = 1; level <= levels; ++level) {
            const std::size_t span = kBlock << level;
            const std::size_t begin = at / span * span, end = std::min(begin + span, nodes_.size());
            const std::vector<NodeId> order = order_within(begin, end, id, at);
            if (order.size() * kSparest * levels > (end - begin) * (kSparest * levels - level)) continue;
            const auto from = nodes_.begin() + static_cast<std::ptrdiff_t>(begin);
            const std::vector<NodeId> before(from, from + static_cast<std::ptrdiff_t>(end - begin));
            std::fill_n(from, end - begin, NodeId{});
            for (std::size_t i = 0; i < order.size(); ++i)
                put(order[i], begin + i * (end - begin) / order.size(), [](std::size_t) {});
            for (std::size_t place = begin; place < end; ++place)
                if (nodes_[place] != before[place - begin]) f(place);
            return true;
        }
        number_anew(id, at);
        return false;
    }
    /// The nodes at these places, and `id` in front of what is at `at`.
    [[nodiscard]] std::vector<NodeId> order_within(std::size_t begin, std::size_t end, NodeId id,
                                                   std::size_t at) const {
        std::vector<NodeId> order;
        for (std::size_t place = begin; place < end; ++place) {
            if (place == at) order.push_back(id);
            if (nodes_[place].valid()) order.push_back(nodes_[place]);
        }
        if (at == end) order.push_back(id);
        return order;
    }
    void number_anew(NodeId id, std::size_t at) {
        const std::vector<NodeId> order = order_within(0, nodes_.size(), id, at);
        nodes_.assign((order.size() - 1) / kFilled * kBlock + kBlock, {});
        for (std::size_t i = 0; i < order.size(); ++i)
            put(order[i], i / kFilled * kBlock + i % kFilled, [](std::size_t) {});
    }

    std::vector<NodeId> nodes_;         // by place
    std::vector<std::uint32_t> places_; // by index of the id
    std::size_t count_ = 0;             // of nodes
};

} // namespace yk
