// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/event_replies.h"

#include <algorithm>

#include "ykd/runtime/event_encoding.h"

namespace yk::service {
bool EventFilter::wants(const StoredEvent& event) const {
    if (!types.empty() && types.count(static_cast<std::uint64_t>(event.type)) == 0) return false;
    if (!details.empty() && details.count(static_cast<std::uint64_t>(event.detail)) == 0) return false;
    if (event.object.substr(0, object_prefix.size()) != object_prefix) return false;
    const PartitionName whose = split_partition(event.partition);
    if (viewer && !whose.rm.empty() && !viewer->may_see(std::string{whose.rm})) return false;
    return partition.empty() || partition == event.partition || partition == whose.name;
}

EventFilter filter_of(const Call& call, const std::optional<si::EventFilter>& sent) {
    EventFilter filter;
    filter.viewer = call.session;
    if (!sent) return filter;
    filter.types = {sent->types.begin(), sent->types.end()};
    filter.details = {sent->details.begin(), sent->details.end()};
    filter.object_prefix = sent->object_id;
    filter.partition = sent->partition;
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
