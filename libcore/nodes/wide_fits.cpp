// SPDX-License-Identifier: Apache-2.0
#include "libcore/nodes/wide_fits.h"

#include "libcore/base/check.h"

namespace yk {

void WideFits::assign_bits(const std::vector<ShapeId>& ids, ShapeTable& shapes) {
    YK_ASSUME(ids.size() <= bits_left(), "there must be a bit for each shape");
    const std::size_t from_word = used_ / kFitBits;
    for (const ShapeId id : ids) {
        Shape& shape = shapes[id];
        owners_[used_] = id;
        shape.wide_bit = static_cast<std::int16_t>(used_);
        needs_[used_ / kFitBits].set(used_ % kFitBits, shape.need);
        ++used_;
    }
    index_.resummarise([&](std::uint32_t value, Traits::Summary fits) {
        const Lanes available = lanes_of(nodes_[NodeId{value}].available);
        for (std::size_t word = from_word; word * kFitBits < used_; ++word) fits[word] = needs_[word].within(available);
        return fits;
    });
}

void WideFits::forget(Shape& shape) noexcept {
    const auto bit = static_cast<std::size_t>(shape.wide_bit);
    owners_[bit] = {};
    needs_[bit / kFitBits].clear(bit % kFitBits);
    shape.wide_bit = -1;
}

void WideFits::forget_all(ShapeTable& shapes) noexcept {
    for (std::size_t bit = 0; bit < used_; ++bit)
        if (owners_[bit].valid()) forget(shapes[owners_[bit]]);
}

/// Looks only for the bits that the entry lost, until each is found in another entry: they are much fewer than all.
void WideFits::Traits::settle(Summary& whole, const Summary& before, const Summary& after, const Summary* entries,
                              std::uint32_t count) noexcept {
    struct Lost {
        std::size_t word;
        std::uint64_t bits;
    };
    std::array<Lost, kWords> lost;
    std::size_t words = 0;
    for (std::size_t word = 0; word < kWords; ++word)
        if (const std::uint64_t bits = before[word] & ~after[word]; bits != 0) lost[words++] = {word, bits};
    for (std::uint32_t at = 0; at < count && words > 0; ++at)
        for (std::size_t i = words; i-- > 0;) {
            lost[i].bits &= ~entries[at][lost[i].word];
            if (lost[i].bits == 0) lost[i] = lost[--words];
        }
    for (std::size_t i = 0; i < words; ++i) whole[lost[i].word] &= ~lost[i].bits;
}

void WideFits::file(NodeId id, const NodeKey& key, const Lanes& available) noexcept {
    Traits::Summary fits{};
    for (std::size_t word = 0; word * kFitBits < used_; ++word) fits[word] = needs_[word].within(available);
    if (nodes_[id].wide_slot.in_index())
        index_.update(id.index, key, fits);
    else
        index_.insert(id.index, key, fits);
}

NodeId WideFits::find_first(const Shape& shape) {
    YK_ASSUME(shape.wide_bit >= 0, "only a shape with a bit can be searched for");
    ++searches_;
    const std::size_t word = static_cast<std::size_t>(shape.wide_bit) / kFitBits;
    const std::uint64_t bit = std::uint64_t{1} << (static_cast<std::size_t>(shape.wide_bit) % kFitBits);
    NodeId found;
    index_.visit([&](const Traits::Summary& below) { return (below[word] & bit) != 0; }, Taking{nodes_, shape, found});
    return found;
}

} // namespace yk
