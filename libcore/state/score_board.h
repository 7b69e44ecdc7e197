// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScoreBoard: for asks of one kind the score of each node (P-060), as far as it is known: a lower bound for any plan
// on the node, or the exact score of its plan, or kOut when there is none.
//
//   level 0: one score per node in id order;  above: each the least of 16 below
//
// Owner: VictimIndex. Thread: the partition's owner. Cost: a change and a look-up 16 entries per level.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace yk {

class ScoreBoard {
public:
    static constexpr std::uint64_t kOut = ~std::uint64_t{0}; // no plan
    struct Entry {
        std::uint64_t score = 0;
        std::size_t at = 0; // position in id order
    };

    /// Sets every score to score(position). Cost: one pass over the nodes.
    template <class F>
    void fill(std::size_t nodes, F&& score) {
        levels_.assign(1, std::vector<std::uint64_t>(std::max<std::size_t>(nodes, 1), kOut));
        for (std::size_t at = 0; at < nodes; ++at) levels_[0][at] = score(at);
        while (levels_.back().size() > 1) {
            levels_.emplace_back((levels_.back().size() - 1) / kSpan + 1);
            for (std::size_t at = 0; at < levels_.back().size(); ++at) sum_up(levels_.size() - 1, at);
        }
    }
    [[nodiscard]] std::uint64_t at(std::size_t at) const noexcept { return levels_[0][at]; }
    void set(std::size_t at, std::uint64_t score) {
        if (levels_[0][at] == score) return;
        levels_[0][at] = score;
        for (std::size_t level = 1; level < levels_.size(); ++level) sum_up(level, at /= kSpan);
    }
    /// The first node with the least score, not before from.at if that score is from.score; kOut: there is none.
    /// REQUIRES: no score is below that of `from`, unless nothing is to be found any more.
    [[nodiscard]] Entry next(const Entry& from) const {
        const std::uint64_t least = levels_.back()[0];
        const std::size_t at =
            least == kOut ? kNone : find(levels_.size() - 1, 0, least, least == from.score ? from.at : 0);
        return at == kNone ? Entry{kOut, 0} : Entry{least, at};
    }

private:
    static constexpr std::size_t kSpan = 16;
    static constexpr std::size_t kNone = ~std::size_t{0};

    void sum_up(std::size_t level, std::size_t at) {
        const std::vector<std::uint64_t>& below = levels_[level - 1];
        const auto first = below.begin() + static_cast<std::ptrdiff_t>(at * kSpan);
        const auto last = below.begin() + static_cast<std::ptrdiff_t>(std::min((at + 1) * kSpan, below.size()));
        levels_[level][at] = *std::min_element(first, last);
    }
    /// The first position from `from` on with this score, the least of all.
    [[nodiscard]] std::size_t find(std::size_t level, std::size_t at, std::uint64_t score, std::size_t from) const {
        if (levels_[level][at] != score) return kNone;
        if (level == 0) return at >= from ? at : kNone;
        std::size_t span = kSpan; // nodes below one entry of the next level
        for (std::size_t i = 1; i < level; ++i) span *= kSpan;
        span /= kSpan;
        const std::size_t end = std::min((at + 1) * kSpan, levels_[level - 1].size());
        for (std::size_t below = at * kSpan; below < end; ++below) {
            if ((below + 1) * span <= from) continue;
            if (const std::size_t found = find(level - 1, below, score, from); found != kNone) return found;
        }
        return kNone;
    }

    std::vector<std::vector<std::uint64_t>> levels_;
};

} // namespace yk
