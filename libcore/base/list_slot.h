#pragma once
// ListSlot: where an object stands in a list without order, so that it is put there once and taken off at once.

#include <cstdint>
#include <vector>

namespace yk {

struct ListSlot {
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::uint32_t at = kNone;

    [[nodiscard]] bool listed() const noexcept { return at != kNone; }
    /// The list is cleared as a whole.
    void forget() noexcept { at = kNone; }
};

/// `slot` is that of `entry`. false: it is listed already.
template <class T>
bool enlist(std::vector<T>& list, ListSlot& slot, T entry) {
    if (slot.listed()) return false;
    slot.at = static_cast<std::uint32_t>(list.size());
    list.push_back(entry);
    return true;
}

/// slot_of(T) gives the slot of an entry. REQUIRES: slot.listed().
template <class T, class F>
void take_off(std::vector<T>& list, ListSlot& slot, F&& slot_of) {
    const std::uint32_t at = slot.at;
    slot_of(list.back()).at = at;
    list[at] = list.back();
    list.pop_back();
    slot.forget();
}

} // namespace yk
