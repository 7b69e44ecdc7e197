// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/event_encoding.h"

namespace yk {

PartitionName split_partition(std::string_view full) {
    const std::size_t end = full.find(']');
    if (full.empty() || full.front() != '[' || end == std::string_view::npos) return {{}, full};
    return {full.substr(1, end - 1), full.substr(end + 1)};
}

void pack_event(wire::Packer& packer, const StoredEvent& event) {
    packer.map(event.has_resource ? 11 : 10);
    packer.key("eventID");
    packer.natural(event.id);
    packer.key("type");
    packer.natural(static_cast<std::uint64_t>(event.type));
    packer.field("objectID", event.object);
    packer.field("message", event.message);
    packer.key("timestampNano");
    packer.integer(event.at.ns);
    packer.key("eventChangeType");
    packer.natural(static_cast<std::uint64_t>(event.change));
    packer.key("eventChangeDetail");
    packer.natural(static_cast<std::uint64_t>(event.detail));
    packer.field("referenceID", event.reference);
    const PartitionName whose = split_partition(event.partition);
    packer.field("rmID", whose.rm);
    packer.field("partitionName", whose.name.empty() ? std::string_view{} : event.partition); // of an RM as a whole
    if (!event.has_resource) return;
    packer.key("resource");
    packer.map(event.resource.size());
    for (const auto& [name, value] : event.resource) {
        packer.text(name);
        packer.integer(value);
    }
}

} // namespace yk
