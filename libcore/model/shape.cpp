// SPDX-License-Identifier: Apache-2.0
#include "libcore/model/shape.h"

#include <algorithm>
#include <functional>

#include "libcore/base/hash_index.h"

namespace yk {

std::uint64_t ShapeTable::hash_of(const Resource& resource, std::string_view required_node,
                                  const std::vector<DeviceDemand>& devices) noexcept {
    std::uint64_t hash = resource.types() * 0x9e3779b97f4a7c15U;
    const auto mix = [&hash](std::uint64_t word) { hash = mixed(hash, word); };
    resource.for_each([&mix](ResourceId, std::int64_t value) { mix(static_cast<std::uint64_t>(value)); });
    if (!required_node.empty()) mix(std::hash<std::string_view>{}(required_node));
    for (const DeviceDemand& each : devices) {
        mix(each.type);
        mix(each.count);
    }
    return hash;
}

ShapeId ShapeTable::acquire(const Resource& resource, std::string_view required_node,
                            const std::vector<DeviceDemand>& devices) noexcept {
    const std::uint64_t hash = hash_of(resource, required_node, devices);
    ShapeId& first = by_hash_[hash];
    for (ShapeId known = first; known.valid(); known = shapes_[known].next_same_hash) {
        Shape& shape = shapes_[known];
        if (!shape.resource.deep_equals(resource) || shape.required_node != required_node || shape.devices != devices)
            continue;
        ++shape.uses;
        return known;
    }
    const ShapeId id = shapes_.make();
    Shape& shape = shapes_[id];
    shape.resource = resource;
    shape.required_node = required_node;
    shape.devices = devices;
    shape.need = lanes_of(resource);
    shape.uses = 1;
    const auto least_shared = std::min_element(made_on_.begin(), made_on_.end());
    ++*least_shared;
    shape.bit = static_cast<std::uint8_t>(least_shared - made_on_.begin());
    shape.hash = hash;
    shape.next_same_hash = first;
    first = id;
    return id;
}

/// Calls change(), which changes the shape, and keeps the counts of its bit and the open masks in step.
template <class Change>
void ShapeTable::change(Shape& shape, Change&& change) {
    const std::uint8_t bit = shape.bit;
    const auto count = [&](std::uint32_t by) {
        if (shape.groups == 0) return;
        on_bit_[bit] += by;
        if (!shape.blocked) unblocked_[bit] += by;
        if (shape.blocked && !shape.reserve_blocked) reservable_[bit] += by;
    };
    count(~std::uint32_t{0}); // minus one
    change();
    count(1);
    const std::uint64_t mask = shape.mask();
    open_.tries = unblocked_[bit] > 0 ? open_.tries | mask : open_.tries & ~mask;
    open_.reserves = reservable_[bit] > 0 ? open_.reserves | mask : open_.reserves & ~mask;
}

bool ShapeTable::add_group(ShapeId id) noexcept {
    Shape& shape = shapes_[id];
    change(shape, [&shape] { ++shape.groups; });
    return shape.groups == 1;
}

void ShapeTable::remove_group(ShapeId id) noexcept {
    Shape& shape = shapes_[id];
    change(shape, [&shape] { --shape.groups; });
}

void ShapeTable::block(ShapeId id) noexcept {
    Shape& shape = shapes_[id];
    if (shape.blocked) return;
    change(shape, [&shape] { shape.blocked = true; });
    pinned_blocked_ += shape.is_pinned() ? 1U : 0U;
    blocked_.add(id, shape.need);
}

void ShapeTable::unblock(ShapeId id) noexcept {
    Shape& shape = shapes_[id];
    if (!shape.blocked) return;
    change(shape, [&shape] { shape.blocked = false; });
    pinned_blocked_ -= shape.is_pinned() ? 1U : 0U;
    blocked_.remove(id);
}

void ShapeTable::block_reserve(ShapeId id) noexcept {
    Shape& shape = shapes_[id];
    if (shape.reserve_blocked) return;
    change(shape, [&shape] { shape.reserve_blocked = true; });
    reserve_blocked_.push_back(id);
}

void ShapeTable::unblock_reserve(ShapeId id) noexcept {
    Shape& shape = shapes_[id];
    if (!shape.reserve_blocked) return;
    change(shape, [&shape] { shape.reserve_blocked = false; });
    reserve_blocked_.erase(std::find(reserve_blocked_.begin(), reserve_blocked_.end(), id));
}

void ShapeTable::forget(ShapeId id) {
    unblock(id);
    unblock_reserve(id);
    const Shape& shape = shapes_[id];
    --made_on_[shape.bit];
    ShapeId* link = &by_hash_[shape.hash];
    while (*link != id) link = &shapes_[*link].next_same_hash;
    *link = shape.next_same_hash;
    if (!by_hash_[shape.hash].valid()) by_hash_.erase(shape.hash);
    shapes_.destroy(id);
}

} // namespace yk
