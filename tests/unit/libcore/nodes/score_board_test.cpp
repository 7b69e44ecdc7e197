// SPDX-License-Identifier: Apache-2.0
// The board of scores: the first node with the least, after any change.

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "libcore/nodes/score_board.h"
#include "tests/support/random_config.h"

namespace yk::testing {

using Board = ScoreBoard<std::uint64_t>;

TEST_CASE("P section 5 no. 15: a board finds the first of the least scores, whatever is written on it") {
    Random random{1};
    for (const std::size_t nodes : {0U, 1U, 16U, 17U, 700U}) {
        std::vector<std::uint64_t> scores(nodes);
        const auto some = [&random] {
            const std::int64_t score = random.between(1, 6);
            return score == 6 ? Board::kOut : static_cast<std::uint64_t>(score);
        };
        for (std::uint64_t& score : scores) score = some();
        Board board;
        board.fill(nodes, [&scores](std::size_t at) { return scores[at]; });
        for (int change = 0; change < 300; ++change) {
            const auto least = std::min_element(scores.begin(), scores.end());
            const Board::Entry first = board.next({});
            if (least == scores.end() || *least == Board::kOut) {
                CHECK(first.score == Board::kOut);
            } else {
                CHECK(first.score == *least);
                CHECK(first.at == static_cast<std::size_t>(least - scores.begin()));
                const auto second = std::find(least + 1, scores.end(), *least);
                const Board::Entry next = board.next({first.score, first.at + 1});
                CHECK((next.score == Board::kOut) == (second == scores.end()));
                if (second != scores.end()) CHECK(next.at == static_cast<std::size_t>(second - scores.begin()));
            }
            if (nodes == 0) break;
            const auto at = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(nodes) - 1));
            scores[at] = some();
            board.set(at, scores[at]);
        }
    }
}

} // namespace yk::testing
