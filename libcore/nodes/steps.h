// SPDX-License-Identifier: Apache-2.0
#pragma once
// Steps: how many of some amounts are not above a given one, asked very often. Cost: a look into a grid, and a step or
// two.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace yk {

class Steps {
public:
    Steps() { set({}); }

    /// The amounts, none below 0; equal ones count once.
    void set(std::vector<double> amounts) {
        std::sort(amounts.begin(), amounts.end());
        amounts.erase(std::unique(amounts.begin(), amounts.end()), amounts.end());
        amounts_ = std::move(amounts);
        cells_per_unit_ = amounts_.empty() || amounts_.back() <= 0 ? 0 : (kCells - 1) / amounts_.back();
        amounts_.push_back(std::numeric_limits<double>::infinity()); // where every search ends
        std::uint32_t below = 0;
        for (std::size_t cell = 0; cell < kCells; ++cell) { // the last amount may be in any cell by rounding
            while (below + 1 < amounts_.size() && cell_of(amounts_[below]) < cell) ++below;
            first_.at(cell) = below;
        }
    }
    [[nodiscard]] std::size_t count() const noexcept { return amounts_.size() - 1; }
    /// `amount` is not below 0.
    [[nodiscard]] std::size_t up_to(double amount) const noexcept {
        std::size_t at = first_[cell_of(amount)];
        while (amounts_[at] <= amount) ++at;
        return at;
    }

private:
    static constexpr std::size_t kCells = 1024;

    [[nodiscard]] std::size_t cell_of(double amount) const noexcept {
        return static_cast<std::size_t>(std::min(amount * cells_per_unit_, kCells - 1.0));
    }

    std::vector<double> amounts_; // ascending
    double cells_per_unit_ = 0;
    std::array<std::uint32_t, kCells> first_{}; // by cell of an equal grid: how many amounts are in those before it
};

} // namespace yk
