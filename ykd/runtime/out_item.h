// SPDX-License-Identifier: Apache-2.0
#pragma once
// OutItem: one encoded callback on its way from the core to the RM (docs/spec/interface.md 4.8).

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "protocol/si/kinds.h"
#include "protocol/wire/packer.h"

namespace yk {

/// What happens to an item that is not delivered yet. Reliable: it is always delivered. LatestWins: a newer one with
/// the same key replaces it. CountedLoss: it may be dropped when the stream is more than half full, and is counted
/// then. Expiring: it is dropped when the time limit of its call is over.
enum class ItemClass : std::uint8_t { Reliable, LatestWins, CountedLoss, Expiring };

/// The event records in a SendEvent batch, or missing before it: how many, and the range of their ids.
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

/// An item of several elements gets no more when it has so many bytes, well below any message limit (I-364).
inline constexpr std::size_t kMaxItemBytes = 512U << 10;

/// The encoded body is `head` followed by `body`: the head of a list has its length, known only when it is complete.
struct OutItem {
    std::string_view kind; // one of si::item
    ItemClass item_class = ItemClass::Reliable;
    Instant at;
    std::array<char, 32> head{};
    std::uint8_t head_size = 0;
    wire::Buffer body;
    std::string key;        // LatestWins: the item replaces an undelivered one with this key
    std::uint64_t call = 0; // number of the call that the RM is to answer (I-375); 0: the item is no call
    std::uint32_t ttl = 0;  // time limit of the call, in ms
    EventSpan events;       // CountedLoss: the records in it
    std::uint64_t n = 0;    // number in the stream, assigned at the first delivery (I-360)

    [[nodiscard]] std::string_view head_view() const { return {head.data(), head_size}; }
    [[nodiscard]] std::size_t body_bytes() const { return head_size + body.size(); }
    /// How much it counts for the limits: the body and about what a reply adds around it.
    [[nodiscard]] std::size_t bytes() const { return body_bytes() + kOverhead; }

    static constexpr std::size_t kOverhead = 64;
};

} // namespace yk
