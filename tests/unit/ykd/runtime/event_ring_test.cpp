// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/event_ring.h"

#include <catch2/catch.hpp>

using namespace yk;

namespace {

void append(EventRing& ring, int count, const std::string& object = "n") {
    EventChunk chunk;
    for (int i = 0; i < count; ++i) {
        EventRecord event;
        event.type = EventType::Node;
        event.object = object;
        event.at = Instant{1000 + i};
        event.partition = "[rm]default";
        chunk.append(event);
    }
    ring.append(chunk);
}

std::vector<std::uint64_t> ids(const EventRing::Slice& slice) {
    std::vector<std::uint64_t> found;
    slice.for_each([&](const StoredEvent& event) { found.push_back(event.id); });
    return found;
}

} // namespace

TEST_CASE("I-610 ids start at 0, go up by one and the last capacity records are kept") {
    EventRing ring;
    ring.set_capacity(5);
    append(ring, 3);
    append(ring, 4);
    const auto slice = ring.slice(0, 100);
    CHECK(slice.lowest == 2);
    CHECK(slice.next == 7);
    CHECK(ids(slice) == std::vector<std::uint64_t>{2, 3, 4, 5, 6});
}

TEST_CASE("I-611 a fetch below the lowest starts there and says what is lost; beyond the newest it is empty") {
    EventRing ring;
    ring.set_capacity(2);
    append(ring, 5);
    CHECK(ring.slice(1, 1).lost == 2);
    CHECK(ids(ring.slice(1, 1)) == std::vector<std::uint64_t>{3});
    CHECK(ids(ring.slice(99, 5)).empty());
    CHECK(ring.slice(99, 5).first == 5);
}

TEST_CASE("I-612 resizing keeps the newest; 0 is the default") {
    EventRing ring;
    append(ring, 10);
    ring.set_capacity(3);
    CHECK(ids(ring.slice(0, 100)) == std::vector<std::uint64_t>{7, 8, 9});
    ring.set_capacity(0);
    append(ring, 2);
    CHECK(ring.slice(0, 100).next == 12);
}

TEST_CASE("I-613 with tracking off nothing is stored, and ids go on when it is on again") {
    EventRing ring;
    append(ring, 2);
    ring.set_enabled(false);
    append(ring, 2);
    CHECK(ring.next_id() == 2);
    ring.set_enabled(true);
    append(ring, 1);
    CHECK(ids(ring.slice(0, 100)) == std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("an empty ring says so") {
    EventRing ring;
    CHECK(ring.slice(0, 10).empty);
    append(ring, 1);
    CHECK_FALSE(ring.slice(0, 10).empty);
}

TEST_CASE("a record comes back as it was written, its resource included") {
    ResourceNames names;
    const ResourceId vcore = names.intern("vcore"), memory = names.intern("memory");
    Resource amounts;
    amounts.set(vcore, 5);
    amounts.set(memory, -7);
    EventRecord event{EventType::App, EventChange::Add, EventDetail::AppAlloc, Instant{42}, "[rm]default", "app-1",
                      "key-1",        "text",           {&amounts, &names}};
    EventChunk chunk;
    chunk.append(event);
    StoredEvent read;
    chunk.read(0, read);
    CHECK(read.type == EventType::App);
    CHECK(read.change == EventChange::Add);
    CHECK(read.detail == EventDetail::AppAlloc);
    CHECK(read.at.ns == 42);
    CHECK(read.partition == "[rm]default");
    CHECK(read.object == "app-1");
    CHECK(read.reference == "key-1");
    CHECK(read.message == "text");
    REQUIRE(read.resource.size() == 2);
    CHECK(read.resource[0] == std::pair<std::string_view, std::int64_t>{"memory", -7});
    CHECK(read.resource[1] == std::pair<std::string_view, std::int64_t>{"vcore", 5});
}

TEST_CASE("I-602 a long message is cut at a character boundary and marked") {
    EventRecord event;
    const std::string text = std::string(1020, 'a') + "\xc3\xa4\xc3\xa4\xc3\xa4";
    event.message = text;
    EventChunk chunk;
    chunk.append(event);
    StoredEvent read;
    chunk.read(0, read);
    CHECK(read.message == std::string(1020, 'a') + "...");
    const std::string exact(1024, 'b');
    event.message = exact;
    chunk.append(event);
    chunk.read(1, read);
    CHECK(read.message == exact);
}
