// SPDX-License-Identifier: Apache-2.0
#pragma once
// ShapeList: a set of shapes, made for the question which of them might fit into some amounts; it is asked far more
// often than the set changes. Cost: a comparison of 64 shapes at a time; finding one shape takes a walk over all.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "libcore/base/check.h"
#include "libcore/model/ids.h"
#include "libcore/resources/lanes.h"

namespace yk {

class ShapeList {
public:
    [[nodiscard]] bool empty() const noexcept { return ids_.empty(); }
    [[nodiscard]] const std::vector<ShapeId>& ids() const noexcept { return ids_; }
    [[nodiscard]] bool contains(ShapeId id) const noexcept {
        return std::find(ids_.begin(), ids_.end(), id) != ids_.end();
    }
    /// REQUIRES: the shape is not in the list.
    void add(ShapeId id, const Lanes& need) noexcept {
        YK_ASSUME(!contains(id), "a set has each shape once");
        if (ids_.size() % kFitBits == 0) needs_.emplace_back();
        needs_.back().set(ids_.size() % kFitBits, need);
        ids_.push_back(id);
    }
    /// False: the shape was not in the list.
    bool remove(ShapeId id) noexcept {
        const auto entry = std::find(ids_.begin(), ids_.end(), id);
        if (entry == ids_.end()) return false;
        const auto at = static_cast<std::size_t>(entry - ids_.begin());
        const std::size_t last = ids_.size() - 1;
        *entry = ids_.back();
        needs_[at / kFitBits].set(at % kFitBits, needs_.back().get(last % kFitBits));
        ids_.pop_back();
        needs_.back().clear(last % kFitBits);
        if (last % kFitBits == 0) needs_.pop_back();
        return true;
    }
    /// f(ShapeId) for those whose need might be within `available`; f may remove the one it is called with.
    template <class F>
    void for_each_within(const Lanes& available, F&& f) {
        for (std::size_t block = needs_.size(); block-- > 0;) {
            std::uint64_t fitting = needs_[block].within(available);
            while (fitting != 0) { // downwards: removing one moves the last to its position
                const std::size_t bit = static_cast<std::size_t>(std::bit_width(fitting)) - 1;
                fitting &= ~(std::uint64_t{1} << bit);
                f(ids_[block * kFitBits + bit]);
            }
        }
    }

private:
    std::vector<ShapeId> ids_;
    std::vector<FitNeeds> needs_; // 64 shapes each
};

} // namespace yk
