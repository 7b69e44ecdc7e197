// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScoreBoard: for asks of one kind the score of each node, or kOut when it is out of the question. Finds the first of
// those with the least score.
//
//   level 0: one score per node in id order;  above: each the least of 16 below
//
// Owner: who keeps scores (VictimIndex, ShapeBoards). Thread: the partition's owner. Cost: a change and a look-up at
// most 16 entries per level.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace yk {

template <class Score>
class ScoreBoard {
public:
    static constexpr Score kOut = std::numeric_limits<Score>::max();
    struct Entry {
        Score score = 0;
        std::size_t at = 0; // position in id order
    };

    /// Sets every score to score(position). Cost: one pass over the nodes.
    template <class F>
    void fill(std::size_t nodes, F&& score) {
        levels_.assign(1, std::vector<Score>(in_blocks(nodes), kOut));
        for (std::size_t at = 0; at < nodes; ++at) levels_[0][at] = score(at);
        size_ = nodes;
        close();
    }
    /// More nodes at the end, which are out.
    void grow(std::size_t nodes) {
        size_ = nodes;
        levels_.resize(1);
        levels_[0].resize(in_blocks(nodes), kOut);
        close();
    }
    [[nodiscard]] Score at(std::size_t at) const noexcept { return levels_[0][at]; }
    void set(std::size_t at, Score score) noexcept {
        Score before = levels_[0][at];
        if (before == score) return;
        levels_[0][at] = score;
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            at /= kSpan;
            Score& least = level + 1 < levels_.size() ? levels_[level + 1][at] : least_;
            const Score was = least;
            if (score < was)
                least = score;
            else if (before == was)
                least = least_of(level, at);
            if (least == was) return;
            before = was;
            score = least;
        }
    }
    /// Of all; kOut: there is none.
    [[nodiscard]] Score least() const noexcept { return least_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The first node with the least score, not before from.at if that score is from.score; kOut: there is none.
    /// REQUIRES: no score is below that of `from`, unless nothing is to be found any more.
    [[nodiscard]] Entry next(const Entry& from) const noexcept {
        const std::size_t at = least_ == kOut ? kNone : find(least_ == from.score ? from.at : 0);
        return at == kNone ? Entry{kOut, 0} : Entry{least_, at};
    }

private:
    static constexpr std::size_t kSpan = 16;
    static constexpr std::size_t kNone = ~std::size_t{0};

    /// Levels end with a whole block, whose last entries may be of no node.
    [[nodiscard]] static std::size_t in_blocks(std::size_t count) noexcept {
        return (std::max<std::size_t>(count, 1) + kSpan - 1) / kSpan * kSpan;
    }
    [[nodiscard]] Score least_of(std::size_t level, std::size_t block) const noexcept {
        const Score* const first = levels_[level].data() + block * kSpan;
        Score least = first[0];
        for (std::size_t at = 1; at < kSpan; ++at) least = first[at] < least ? first[at] : least;
        return least;
    }
    /// Adds levels above the first one until there is one of a single block.
    void close() {
        while (levels_.back().size() > kSpan) {
            const std::size_t blocks = levels_.back().size() / kSpan;
            std::vector<Score> above(in_blocks(blocks), kOut);
            for (std::size_t at = 0; at < blocks; ++at) above[at] = least_of(levels_.size() - 1, at);
            levels_.push_back(std::move(above));
        }
        least_ = least_of(levels_.size() - 1, 0);
    }
    /// The first entry of the level with the least score that is not before `from`, in the block of that.
    [[nodiscard]] std::size_t in_block(std::size_t level, std::size_t from) const noexcept {
        const std::size_t end = std::min((from / kSpan + 1) * kSpan, levels_[level].size());
        for (std::size_t at = from; at < end; ++at)
            if (levels_[level][at] == least_) return at;
        return kNone;
    }
    /// The first position with the least score that is not before `from`: up to a block that has it behind `from`, and
    /// down.
    [[nodiscard]] std::size_t find(std::size_t from) const noexcept {
        std::size_t level = from == 0 ? levels_.size() - 1 : 0;
        std::size_t at = in_block(level, from);
        while (at == kNone) {
            from = from / kSpan + 1;
            if (++level == levels_.size()) return kNone;
            at = in_block(level, from);
        }
        while (level > 0) at = in_block(--level, at * kSpan);
        return at;
    }

    std::vector<std::vector<Score>> levels_{std::vector<Score>(kSpan, kOut)};
    Score least_ = kOut; // of the highest level
    std::size_t size_ = 0;
};

} // namespace yk
