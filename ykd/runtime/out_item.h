#pragma once
// OutItem: one encoded callback between the core and its RM (interface.md 4.8).

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "protocol/si/kinds.h"
#include "protocol/wire/packer.h"

namespace yk {

/// What becomes of an item when the stream is crowded.
enum class ItemClass : std::uint8_t { Reliable, LatestWins, CountedLoss, Expiring };

/// Event records in, or missing before, a SendEvent batch: how many and which ids.
struct EventSpan {
    std::uint64_t records = 0;
    std::uint64_t first_id = 0, last_id = 0;

    void add(const EventSpan& other) {
        if (other.records == 0) return;
        first_id = records == 0 ? other.first_id : std::min(first_id, other.first_id);
        last_id = records == 0 ? other.last_id : std::max(last_id, other.last_id);
        records += other.records;
    }
};

/// An item of several elements is complete with this much, well below any message limit (I-364).
inline constexpr std::size_t kMaxItemBytes = 512U << 10;

/// The body is `head` then `body`: the head of a list is known only when the list is complete.
struct OutItem {
    std::string_view kind; // one of si::item
    ItemClass item_class = ItemClass::Reliable;
    Instant at;
    std::array<char, 32> head{};
    std::uint8_t head_size = 0;
    wire::Buffer body;
    std::string key;        // LatestWins: what an undelivered one is replaced by
    std::uint64_t call = 0; // the RM is to answer it (I-375); 0: it is not
    std::uint32_t ttl = 0;  // for how long, in ms
    EventSpan events;       // CountedLoss
    std::uint64_t n = 0;    // given at first delivery (I-360)

    [[nodiscard]] std::string_view head_view() const { return {head.data(), head_size}; }
    [[nodiscard]] std::size_t body_bytes() const { return head_size + body.size(); }
    /// What it counts for the limits: the body and what a reply adds around it.
    [[nodiscard]] std::size_t bytes() const { return body_bytes() + kOverhead; }

    static constexpr std::size_t kOverhead = 64;
};

} // namespace yk
