// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events and event streams as replies (interface.md 7.4, 7.5).

#include <optional>
#include <set>
#include <string>

#include "protocol/wire/packer.h"
#include "ykd/process/random_bytes.h"
#include "ykd/request/call.h"
#include "ykd/runtime/event_ring.h"

namespace yk::service {

/// Which records are wanted (I-626). One that is default-made wants all.
struct EventFilter {
    std::set<std::uint64_t> types;
    std::set<std::uint64_t> details;
    std::string object_prefix;
    std::string partition; // short or full
    SessionPtr viewer;     // only the events of RMs that it may see (I-412); null: of all

    [[nodiscard]] bool wants(const StoredEvent& event) const;
};

/// What the sender of `call` asked for and may see.
[[nodiscard]] EventFilter filter_of(const Call& call, const std::optional<si::EventFilter>& sent);

/// The encoded records of a slice that fit into `max_bytes`.
struct EncodedEvents {
    wire::Buffer list;
    std::uint64_t count = 0;
    std::uint64_t next = 0; // id of the first record that was not examined
};
[[nodiscard]] EncodedEvents encode_events(const EventRing::Slice& slice, const EventFilter& filter,
                                          std::size_t max_bytes);

/// Records as the body of a reply, and where the next batch begins.
struct EventBatch {
    wire::Buffer reply;
    std::uint64_t next = 0; // id of the first record of the next batch
    std::uint64_t end = 0;  // id behind the newest record of the ring
};
/// The records of a slice as the batch of interface.md 7.4, in at most about `max_bytes`.
[[nodiscard]] EventBatch event_batch(const EventRing::Slice& slice, const Bytes16& boot_id, const EventFilter& filter,
                                     std::size_t max_bytes);

} // namespace yk::service
