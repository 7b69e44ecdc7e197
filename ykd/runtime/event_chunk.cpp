// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/event_chunk.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/check.h"
#include "libcore/base/text.h"

namespace yk {
namespace {

constexpr std::size_t kMaxMessage = 1024;
constexpr std::string_view kEllipsis = "...";
constexpr std::size_t kMostSpare = 512U << 10; // bytes

/// The fixed part of a record, before its texts.
struct Head {
    std::int64_t at = 0;
    std::uint32_t message = 0; // length; those of the other texts follow
    std::uint16_t partition = 0, object = 0, reference = 0;
    std::uint16_t detail = 0;
    std::uint16_t resources = 0;
    std::uint8_t type = 0, change = 0;
    bool has_resource = false;
};

std::uint16_t length16(std::string_view text) {
    return static_cast<std::uint16_t>(text.size()); // ids, names and paths are at most 1024 bytes (I-006)
}

/// Writes values into packed bytes, one after the other. REQUIRES: so many bytes are there.
class Writer {
public:
    explicit Writer(char* at) : at_(at) {}
    template <class T>
    void put(const T& value) {
        std::memcpy(at_, &value, sizeof value);
        at_ += sizeof value;
    }
    void text(std::string_view text) { at_ = std::copy(text.begin(), text.end(), at_); }

private:
    char* at_;
};

/// Reads values from packed bytes, one after the other.
class Reader {
public:
    explicit Reader(const char* at) : at_(at) {}
    template <class T>
    T get() {
        T value;
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::string_view text(std::size_t size) {
        const std::string_view read(at_, size);
        at_ += size;
        return read;
    }

private:
    const char* at_;
};

} // namespace

CutText cut_message(std::string_view message) {
    if (message.size() <= kMaxMessage) return {message, false};
    return {cut(message, kMaxMessage - kEllipsis.size()), true};
}

void EventChunk::append(const EventRecord& event) {
    const CutText message = cut_message(event.message);
    Head head;
    head.at = event.at.ns;
    head.type = static_cast<std::uint8_t>(event.type);
    head.change = static_cast<std::uint8_t>(event.change);
    head.detail = static_cast<std::uint16_t>(event.detail);
    head.partition = length16(event.partition);
    head.object = length16(event.object);
    head.reference = length16(event.reference);
    head.message = static_cast<std::uint32_t>(message.head.size() + (message.cut ? kEllipsis.size() : 0));
    head.has_resource = !event.resource.absent();
    std::size_t size = sizeof head + head.partition + head.object + head.reference + head.message;
    event.resource.for_each([&](std::string_view name, std::int64_t value) {
        size += sizeof value + sizeof length16(name) + name.size();
        ++head.resources;
    });
    const std::size_t start = bytes_.size();
    bytes_.resize(start + size);
    Writer to(bytes_.data() + start);
    to.put(head);
    for (const std::string_view text : {event.partition, event.object, event.reference, message.head}) to.text(text);
    if (message.cut) to.text(kEllipsis);
    event.resource.for_each([&to](std::string_view name, std::int64_t value) {
        to.put(value);
        to.put(length16(name));
        to.text(name);
    });
    offsets_.push_back(static_cast<std::uint32_t>(start));
}

void EventChunk::clear() {
    if (bytes_.capacity() > kMostSpare) bytes_ = {};
    bytes_.clear();
    offsets_.clear();
    first_id = 0;
}

void EventChunk::read(std::size_t index, StoredEvent& into) const {
    YK_ASSUME(index < offsets_.size(), "the chunk has this record");
    Reader reader(bytes_.data() + offsets_[index]);
    const Head head = reader.get<Head>();
    into.id = first_id + index;
    into.type = static_cast<EventType>(head.type);
    into.change = static_cast<EventChange>(head.change);
    into.detail = static_cast<EventDetail>(head.detail);
    into.at = Instant{head.at};
    into.partition = reader.text(head.partition);
    into.object = reader.text(head.object);
    into.reference = reader.text(head.reference);
    into.message = reader.text(head.message);
    into.has_resource = head.has_resource;
    into.resource.clear();
    for (std::uint16_t i = 0; i < head.resources; ++i) {
        const auto value = reader.get<std::int64_t>();
        const auto size = reader.get<std::uint16_t>();
        into.resource.emplace_back(reader.text(size), value);
    }
}

} // namespace yk
