#pragma once
// Events and event streams as replies (interface.md 7.4, 7.5).

#include <set>
#include <string>

#include "protocol/wire/packer.h"
#include "ykd/runtime/event_ring.h"
#include "ykd/service/call.h"

namespace yk::service {

/// I-626: which records are wanted. Everything when default-made.
struct EventFilter {
    std::set<std::uint64_t> types;
    std::set<std::uint64_t> details;
    std::string object_prefix;
    std::string partition; // short or full
    SessionPtr viewer;     // null: sees the events of all RMs (I-412)

    [[nodiscard]] bool wants(const StoredEvent& event) const;
};

/// Reads `filter {types [int], details [int], objectID, partition}` of a body, if it has one, for the sender of `call`.
[[nodiscard]] EventFilter read_filter(const Call& call, wire::BodyReader& reader);

/// The encoded records of a slice that fit into `max_bytes`.
struct EncodedEvents {
    wire::Buffer list;
    std::uint64_t count = 0;
    std::uint64_t next = 0; // id of the first record not looked at
};
[[nodiscard]] EncodedEvents encode_events(const EventRing::Slice& slice, const EventFilter& filter,
                                          std::size_t max_bytes);

/// Records as one reply, and where they end.
struct EventBatch {
    wire::Buffer reply;
    std::uint64_t next = 0; // with which the next one begins
    std::uint64_t end = 0;  // behind the newest
};
/// The batch of 7.4 from id `start` on, at most `count` records (0: the maximum).
[[nodiscard]] EventBatch event_batch(const CallPtr& call, std::uint64_t start, std::uint64_t count,
                                     const EventFilter& filter);

} // namespace yk::service
