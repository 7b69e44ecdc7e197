// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/owner_events.h"

#include "ykd/runtime/event_encoding.h"

namespace yk {
namespace {

constexpr std::uint32_t kQuiet = 64;   // turns without a record, after which the memory for records is given back
constexpr std::size_t kMostParts = 32; // of kMaxItemBytes each; further records are counted as lost

} // namespace

void OwnerEvents::flush() {
    thread_.assert_here();
    if (chunk_.empty()) {
        if (++quiet_ == kQuiet) chunk_ = {};
        return;
    }
    quiet_ = 0;
    const auto kept = ring_.append(chunk_);
    if (kept) tally_.channeled += kept->size();
    if (kept && interest_ != Interest::None) collect(*kept);
}

void OwnerEvents::collect(const EventChunk& chunk) {
    StoredEvent event;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
        chunk.read(i, event);
        const bool wanted =
            interest_ == Interest::All || event.type == EventType::Request || event.type == EventType::Node;
        if (wanted) keep(event);
    }
}

void OwnerEvents::keep(const StoredEvent& event) {
    const EventSpan one{1, event.id, event.id};
    const bool part_full = parts_.empty() || parts_.back().records.size() >= kMaxItemBytes;
    if (records_ >= capacity_ || (part_full && parts_.size() == kMostParts)) {
        lost_.add(one);
        ++tally_.not_stored;
        return;
    }
    if (part_full) parts_.emplace_back();
    wire::Packer packer(parts_.back().records);
    pack_event(packer, event);
    parts_.back().span.add(one);
    ++records_;
    ++tally_.stored;
}

void OwnerEvents::send(CallbackWriter& writer, const EventSpan& stream_lost) {
    thread_.assert_here();
    lost_.add(stream_lost);
    if (!has_batch()) return;
    if (parts_.empty()) parts_.emplace_back(); // an item without records, for the number of those lost
    for (const Part& part : parts_) writer.events(part.records.view(), part.span, std::exchange(lost_, {}));
    tally_.collected += records_;
    forget_batch();
}

} // namespace yk
