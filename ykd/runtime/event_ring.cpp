// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/event_ring.h"

#include <algorithm>

namespace yk {

std::uint64_t EventRing::lowest() const {
    if (chunks_.empty()) return next_id_;
    const std::uint64_t kept = next_id_ - chunks_.front()->first_id;
    return next_id_ - std::min(kept, capacity_);
}

void EventRing::trim() {
    while (!chunks_.empty() && next_id_ - (chunks_.front()->first_id + chunks_.front()->size()) >= capacity_)
        chunks_.pop_front();
}

std::shared_ptr<const EventChunk> EventRing::append(EventChunk& chunk) {
    if (chunk.empty()) return nullptr;
    auto kept = std::make_shared<EventChunk>(chunk); // as large as it must be; the chunk is written to again
    chunk.clear();
    {
        const std::lock_guard lock(mutex_);
        if (!enabled_) return nullptr;
        kept->first_id = next_id_;
        next_id_ += kept->size();
        chunks_.push_back(kept);
        trim();
    }
    if (listener_) listener_();
    return kept;
}

void EventRing::set_capacity(std::uint64_t capacity) {
    const std::lock_guard lock(mutex_);
    capacity_ = capacity == 0 ? kDefaultCapacity : capacity;
    trim();
}

void EventRing::set_enabled(bool enabled) {
    const std::lock_guard lock(mutex_);
    enabled_ = enabled;
}

bool EventRing::enabled() const {
    const std::lock_guard lock(mutex_);
    return enabled_;
}

std::uint64_t EventRing::next_id() const {
    const std::lock_guard lock(mutex_);
    return next_id_;
}

EventRing::Slice EventRing::slice(std::uint64_t start, std::uint64_t count) const {
    Slice slice;
    const std::lock_guard lock(mutex_);
    slice.lowest = lowest();
    slice.next = next_id_;
    slice.empty = slice.lowest == slice.next;
    slice.first = std::clamp(start, slice.lowest, slice.next);
    slice.lost = start < slice.lowest ? slice.lowest - start : 0;
    slice.end = slice.first + std::min(count, slice.next - slice.first);
    for (const auto& chunk : chunks_)
        if (chunk->first_id < slice.end && chunk->first_id + chunk->size() > slice.first) slice.chunks.push_back(chunk);
    return slice;
}

void add_rm_event(EventRing& ring, std::string_view rm_id, std::string_view message, Instant now) {
    EventRecord record;
    record.type = EventType::Rm;
    record.at = now;
    record.object = rm_id;
    record.message = message;
    EventChunk chunk;
    chunk.append(record);
    ring.append(chunk);
}

} // namespace yk
