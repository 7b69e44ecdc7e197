// SPDX-License-Identifier: Apache-2.0
#include "libcore/model/queue.h"

#include <algorithm>
#include <limits>

namespace yk {

bool less_by_rest(const ApplicationKey& a, const ApplicationKey& b) noexcept {
    const int usage = compare_shares(a.application->usage, b.application->usage);
    if (usage != 0) return usage < 0;
    if (a.third != b.third) return a.third < b.third;
    if (a.fourth != b.fourth) return a.fourth < b.fourth;
    return a.application->id < b.application->id;
}

bool less_by_rest(const QueueKey& a, const QueueKey& b) noexcept {
    const int pending = compare_shares(a.queue->pending_shares, b.queue->pending_shares);
    if (pending != 0) return pending > 0;
    return a.queue->name < b.queue->name;
}

IndexSlot& QueueTraits::slot(std::uint32_t value) const noexcept {
    return (*queues)[value]->slot;
}

Queue::Queue(std::string full_path, Queue* above, bool is_leaf, std::uint32_t position,
             Slab<Application>& application_slab, std::vector<Queue*>& queues)
    : path(std::move(full_path)),
      name(path.substr(path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1)),
      parent(above),
      depth(above == nullptr ? 0 : above->depth + 1),
      index(position),
      leaf(is_leaf),
      child_index(QueueTraits{{}, &queues}),
      application_index(ApplicationTraits{{}, &application_slab}) {}

bool Queue::grants_submit(std::string_view user, std::span<const std::string_view> groups) const {
    if (path == kRecoveryPath) return false; // not even through the root (C-136)
    for (const Queue* each = this; each != nullptr; each = each->parent)
        if (each->submit_acl.allows(user, groups) || each->admin_acl.allows(user, groups)) return true;
    return false;
}

bool Queue::grants_admin(std::string_view user, std::span<const std::string_view> groups) const {
    for (const Queue* each = this; each != nullptr; each = each->parent)
        if (each->admin_acl.allows(user, groups)) return true;
    return false;
}

std::int32_t Queue::published_priority(std::int32_t own) const noexcept {
    if (own == INT32_MIN) return own;
    const std::int64_t offset = properties.priority_offset;
    if (properties.priority_policy == config::PriorityPolicy::Fence) return static_cast<std::int32_t>(offset);
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(own + offset, INT32_MIN, INT32_MAX));
}

[[gnu::hot]] bool Queue::headroom_allows(const Resource& ask) const noexcept {
    if (max.unlimited()) return true;
    for (std::uint64_t left = ask.types() & max.bounds().types(); left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        const std::int64_t value = ask.get(id);
        if (value > 0 && value > sat_sub(max.bounds().get(id), allocated.get(id))) return false;
    }
    return true;
}

[[gnu::hot]] bool Queue::allows_increase(const Resource& ask) const noexcept {
    if (!is_root()) return max.allows_more(ask, allocated);
    for (std::uint64_t left = ask.types(); left != 0; left &= left - 1) { // strict: fits (S-252)
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        const std::int64_t value = sat_add(ask.get(id), allocated.get(id));
        if (value > 0 && value > max.bounds().get(id)) return false;
    }
    return true;
}

Limit Queue::headroom() const {
    Limit left = max.headroom(allocated);
    if (parent != nullptr) left.tighten(parent->headroom());
    return left;
}

Limit Queue::effective_max() const {
    Limit effective = max;
    if (parent != nullptr) effective.tighten(parent->effective_max());
    return effective;
}

bool Queue::blocks(ShapeId shape) const noexcept {
    return !blocked_.empty() && blocked_.contains(shape);
}

void Queue::block(ShapeId id, const ShapeTable& shapes) noexcept {
    if (blocks(id)) return;
    blocked_.add(id, shapes[id].need);
    refresh_bit(shapes[id].bit, shapes);
}

void Queue::unblock(ShapeId id, const ShapeTable& shapes) noexcept {
    if (blocked_.remove(id)) refresh_bit(shapes[id].bit, shapes);
}

void Queue::refresh_bit(std::uint32_t bit, const ShapeTable& shapes) noexcept {
    std::uint32_t here = 0;
    for (const ShapeId id : blocked_.ids()) here += shapes[id].bit == bit && shapes[id].groups > 0 ? 1U : 0U;
    const std::uint64_t mask = std::uint64_t{1} << bit;
    blocked_bits_ = here > 0 && here == shapes.shapes_on_bit(bit) ? blocked_bits_ | mask : blocked_bits_ & ~mask;
}

/// What its own max leaves; infinity for a type without a limit.
Lanes Queue::own_headroom() const noexcept {
    Lanes lanes;
    for (ResourceId id = 0; id < kLanes; ++id) {
        const std::int64_t left = sat_sub(max.bounds().get(id), allocated.get(id));
        lanes[id] = max.bounds().has(id) ? lane_of(left) : std::numeric_limits<float>::infinity();
    }
    return lanes;
}

void Queue::unblock_fitting(const ShapeTable& shapes) noexcept {
    blocked_.for_each_within(own_headroom(), [&](ShapeId id) {
        const Resource& size = shapes[id].resource;
        if (headroom_allows(size) && allows_increase(size)) unblock(id, shapes);
    });
}

} // namespace yk
