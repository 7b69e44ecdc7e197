#include "ykd/runtime/owner_events.h"

#include "ykd/runtime/event_encoding.h"

namespace yk {

void OwnerEvents::flush() {
    const auto kept = ring_.append(chunk_);
    chunk_.clear();
    if (kept) tally_.channeled += kept->size();
    if (kept && interest_ != Interest::None) collect(*kept);
}

void OwnerEvents::collect(const EventChunk& chunk) {
    StoredEvent event;
    wire::Packer packer(batch_);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
        chunk.read(i, event);
        const bool wanted =
            interest_ == Interest::All || event.type == EventType::Request || event.type == EventType::Node;
        if (!wanted) continue;
        const EventSpan one{1, event.id, event.id};
        if (sent_.records >= capacity_) {
            lost_.add(one);
            ++tally_.not_stored;
            continue;
        }
        pack_event(packer, event);
        sent_.add(one);
        ++tally_.stored;
    }
}

void OwnerEvents::send(CallbackWriter& writer, const EventSpan& stream_lost) {
    lost_.add(stream_lost);
    if (!has_batch()) return;
    writer.events(batch_.view(), sent_, lost_);
    tally_.collected += sent_.records;
    batch_.clear();
    sent_ = lost_ = {};
}

} // namespace yk
