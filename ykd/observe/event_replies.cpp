// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/event_replies.h"

#include <algorithm>

#include "ykd/runtime/event_encoding.h"

namespace yk::service {
namespace {

std::set<std::uint64_t> read_numbers(wire::BodyReader& reader, const char* key) {
    std::set<std::uint64_t> numbers;
    const Value* list = reader.list(key);
    if (list == nullptr) return numbers;
    for (const Value& element : *list) {
        if (!element.is_number_unsigned()) {
            reader.fail(ErrorCode::Type, key, "a list of whole numbers is wanted");
            break;
        }
        numbers.insert(element.get<std::uint64_t>());
    }
    return numbers;
}

} // namespace

bool EventFilter::wants(const StoredEvent& event) const {
    if (!types.empty() && types.count(static_cast<std::uint64_t>(event.type)) == 0) return false;
    if (!details.empty() && details.count(static_cast<std::uint64_t>(event.detail)) == 0) return false;
    if (event.object.substr(0, object_prefix.size()) != object_prefix) return false;
    const PartitionName whose = split_partition(event.partition);
    if (viewer && !whose.rm.empty() && !viewer->may_see(std::string{whose.rm})) return false;
    return partition.empty() || partition == event.partition || partition == whose.name;
}

EventFilter read_filter(const Call& call, wire::BodyReader& reader) {
    EventFilter filter;
    filter.viewer = call.session;
    const Value* map = reader.map("filter");
    if (map == nullptr) return filter;
    wire::BodyReader nested = reader.nested("filter", *map);
    filter.types = read_numbers(nested, "types");
    filter.details = read_numbers(nested, "details");
    filter.object_prefix = nested.text("objectID", wire::Presence::Optional, wire::TextRule::Queue);
    filter.partition = nested.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    return filter;
}

EncodedEvents encode_events(const EventRing::Slice& slice, const EventFilter& filter, std::size_t max_bytes) {
    EncodedEvents encoded;
    encoded.next = slice.first;
    wire::Packer packer(encoded.list);
    bool full = false;
    slice.for_each([&](const StoredEvent& event) {
        if (full) return;
        const std::size_t before = encoded.list.size();
        if (filter.wants(event)) {
            pack_event(packer, event);
            if (encoded.list.size() > max_bytes && encoded.count != 0) {
                encoded.list.truncate(before);
                full = true;
                return;
            }
            ++encoded.count;
        }
        encoded.next = event.id + 1;
    });
    return encoded;
}

EventBatch event_batch(const EventRing::Slice& slice, const Bytes16& boot_id, const EventFilter& filter,
                       std::size_t max_bytes) {
    const EncodedEvents events = encode_events(slice, filter, max_bytes);
    EventBatch batch{{}, events.next, slice.next};
    wire::Packer packer(batch.reply);
    packer.map(8);
    packer.field("InstanceUUID", uuid_text(boot_id));
    packer.key("LowestID");
    packer.natural(slice.lowest);
    packer.key("HighestID");
    packer.natural(slice.next == 0 ? 0 : slice.next - 1);
    packer.key("NextID");
    packer.natural(slice.next);
    packer.key("ContinueID"); // where the next fetch begins, also when a filter left records out
    packer.natural(events.next);
    packer.key("lost");
    packer.natural(slice.lost);
    packer.key("empty");
    packer.boolean(slice.empty);
    packer.key("EventRecords");
    packer.list(events.count);
    packer.raw(events.list.view());
    return batch;
}

} // namespace yk::service
