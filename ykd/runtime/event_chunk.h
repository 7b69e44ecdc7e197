// SPDX-License-Identifier: Apache-2.0
#pragma once
// Event records as they are kept: packed one after the other in a buffer, so that recording one takes some copies and
// no memory allocation of its own. A chunk is written by one owner thread; copies of it are immutable and shared.

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/ports/event.h"

namespace yk {

/// One record, read back. Its texts refer to the chunk, which must outlive them.
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
    static constexpr std::size_t kMaxRecords = 1024; // which the processor has in its cache until they are handed on

    /// Adds a record; its message is cut to 1024 bytes.
    void append(const EventRecord& event);
    /// Forgets the records, and keeps the memory for the next ones unless it is much.
    void clear();
    [[nodiscard]] std::size_t size() const { return offsets_.size(); }
    [[nodiscard]] bool empty() const { return offsets_.empty(); }
    [[nodiscard]] bool full() const { return offsets_.size() >= kMaxRecords; }
    /// Reads record `index` into `into`, whose vector is reused. Its id is first_id + index. REQUIRES: index < size().
    void read(std::size_t index, StoredEvent& into) const;

    std::uint64_t first_id = 0; // of the first record; assigned by the ring

private:
    std::vector<char> bytes_;
    std::vector<std::uint32_t> offsets_;
};

/// The beginning of a text, and whether the text went on.
struct CutText {
    std::string_view head;
    bool cut = false;
};
/// Cuts a message at a character boundary so that it has at most 1024 bytes with the `...` that mark the cut (I-602).
[[nodiscard]] CutText cut_message(std::string_view message);

} // namespace yk
