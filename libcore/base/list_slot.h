// SPDX-License-Identifier: Apache-2.0
#pragma once
// ListSlot: the position of an object in a list without order. It is a field of the object: putting the object on the
// list twice has no effect, and taking it off costs O(1).

#include <cstdint>
#include <vector>

#include "libcore/base/check.h"

namespace yk {

struct ListSlot {
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::uint32_t at = kNone;

    [[nodiscard]] bool listed() const noexcept { return at != kNone; }
    /// For whoever clears the whole list.
    void forget() noexcept { at = kNone; }
};

/// Puts `entry`, whose slot is `slot`, at the end of the list. false: it is listed already.
template <class T>
bool enlist(std::vector<T>& list, ListSlot& slot, T entry) {
    if (slot.listed()) return false;
    slot.at = static_cast<std::uint32_t>(list.size());
    list.push_back(entry);
    return true;
}

/// Takes the entry of `slot` off the list; the last entry moves to its position. slot_of(T) gives the slot of an entry.
template <class T, class F>
void take_off(std::vector<T>& list, ListSlot& slot, F&& slot_of) {
    YK_ASSUME(slot.listed(), "only a listed entry can be taken off");
    const std::uint32_t at = slot.at;
    slot_of(list.back()).at = at;
    list[at] = list.back();
    list.pop_back();
    slot.forget();
}

} // namespace yk
