#pragma once
// EventRecord on the wire (interface.md 1.10).

#include <string_view>

#include "protocol/wire/packer.h"
#include "ykd/runtime/event_chunk.h"

namespace yk {

/// `rm` and short name of a full partition name, `[rm]name`; both empty when there is none.
struct PartitionName {
    std::string_view rm, name;
};
[[nodiscard]] PartitionName split_partition(std::string_view full);

void pack_event(wire::Packer& packer, const StoredEvent& event);

} // namespace yk
