#pragma once
// Event records as they are kept: packed one after the other in a buffer, so that recording one is a few copies and no
// allocation. Written by an owner thread, then immutable and shared.

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/scheduler/event.h"

namespace yk {

/// One record, read back. Views point into the chunk.
struct StoredEvent {
    std::uint64_t id = 0;
    EventType type = EventType::Unset;
    EventChange change = EventChange::None;
    EventDetail detail = EventDetail::None;
    Instant at;
    std::string_view partition, object, reference, message;
    bool has_resource = false;
    std::vector<std::pair<std::string_view, std::int64_t>> resource;
};

/// Up to kMaxRecords records. INVARIANT: offsets_ holds the start of each record in bytes_.
class EventChunk {
public:
    static constexpr std::size_t kMaxRecords = 4096;

    void append(const EventRecord& event);
    void clear();
    [[nodiscard]] std::size_t size() const { return offsets_.size(); }
    [[nodiscard]] bool empty() const { return offsets_.empty(); }
    [[nodiscard]] bool full() const { return offsets_.size() >= kMaxRecords; }
    /// Reads record `index`; `into.resource` is reused. The id is first_id + index.
    void read(std::size_t index, StoredEvent& into) const;

    std::uint64_t first_id = 0; // given by the ring

private:
    std::vector<char> bytes_;
    std::vector<std::uint32_t> offsets_;
};

/// I-602: at most 1024 bytes, cut at a character boundary and marked with `...`.
struct CutText {
    std::string_view head;
    bool cut = false;
};
[[nodiscard]] CutText cut_message(std::string_view message);

} // namespace yk
