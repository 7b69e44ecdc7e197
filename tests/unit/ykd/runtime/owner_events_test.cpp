// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/owner_events.h"

#include <catch2/catch.hpp>

#include "protocol/wire/body_reader.h"

using namespace yk;

namespace {

void record(OwnerEvents& events, int count) {
    for (int i = 0; i < count; ++i)
        events.record(
            {EventType::App, EventChange::Set, EventDetail::AppNew, Instant{i}, "[rm]default", "app", {}, {}, {}});
}

/// Records `count` events for an RM that wants all of them, with room for `capacity`.
void keep(OwnerEvents& events, int count, std::uint64_t capacity) {
    events.set_interest(OwnerEvents::Interest::All);
    events.set_request_capacity(capacity);
    record(events, count);
    events.flush();
}

} // namespace

TEST_CASE("S-606 I-620 what an RM's store has no room for is dropped and counted, and nothing waits") {
    EventRing ring;
    OwnerEvents events(ring);
    keep(events, 5, 3);
    const EventTally tally = events.take_tally();
    CHECK(tally.created == 5);
    CHECK(tally.channeled == 5);
    CHECK(tally.stored == 3);
    CHECK(tally.not_stored == 2);
    CHECK(ring.next_id() == 5);
    CHECK(events.has_batch());
}

TEST_CASE("I-620 many records are several items, none of which is too large for a message") {
    EventRing ring;
    OwnerEvents events(ring);
    keep(events, 50'000, 1'000'000);
    CallbackWriter writer;
    events.send(writer, {2, 0, 1});
    CHECK_FALSE(events.has_batch());
    const auto items = writer.take();
    CHECK(items.size() > 5);
    std::uint64_t next = 0, lost = 0;
    for (const OutItem& item : items) {
        CHECK(item.body_bytes() < 600'000);
        const wire::Value chunk = wire::decode_value(wire::scan_body(item.body.view()).value());
        lost += chunk["lost"].get<std::uint64_t>();
        next += chunk["records"].size();
    }
    CHECK(next == 50'000);
    CHECK(lost == 2);
}

TEST_CASE("I-620 records that nobody fetches are limited in bytes, too") {
    EventRing ring;
    OwnerEvents events(ring);
    keep(events, 300'000, 1'000'000);
    const EventTally tally = events.take_tally();
    CHECK(tally.not_stored > 0);
    CHECK(tally.stored + tally.not_stored == 300'000);
    CallbackWriter writer;
    events.send(writer, {});
    std::size_t bytes = 0;
    for (const OutItem& item : writer.take()) bytes += item.body_bytes();
    CHECK(bytes > 16'000'000);
    CHECK(bytes < 17'000'000);
}

TEST_CASE("S-606 the history overwrites its oldest, however many come and nobody reads") {
    EventRing ring;
    ring.set_capacity(1000);
    OwnerEvents events(ring);
    record(events, 100'000);
    events.flush();
    const auto kept = ring.slice(0, 1'000'000);
    CHECK(kept.next == 100'000);
    CHECK(kept.end - kept.first == 1000);
    CHECK(kept.lost == 99'000);
    CHECK(events.take_tally().not_stored == 0); // of no RM
}

TEST_CASE("S-606 with tracking off a record is counted as made, and goes nowhere") {
    EventRing ring;
    ring.set_enabled(false);
    OwnerEvents events(ring);
    record(events, 7);
    events.flush();
    const EventTally tally = events.take_tally();
    CHECK(tally.created == 7);
    CHECK(tally.channeled == 0);
    CHECK(ring.next_id() == 0);
}

TEST_CASE("I-125 what waits to be sent ends with its epoch, the history keeps it") {
    EventRing ring;
    OwnerEvents events(ring);
    events.set_interest(OwnerEvents::Interest::All);
    record(events, 5);
    events.flush();
    record(events, 2);
    events.end_epoch();
    CHECK_FALSE(events.has_batch());
    CHECK(ring.next_id() == 7);
    record(events, 1);
    events.flush();
    CHECK(events.has_batch());
}
