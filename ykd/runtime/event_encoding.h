// SPDX-License-Identifier: Apache-2.0
#pragma once
// The encoding of an EventRecord on the wire (docs/spec/interface.md 1.10).

#include <string_view>

#include "protocol/wire/packer.h"
#include "ykd/runtime/event_chunk.h"

namespace yk {

/// The RM's id and the short name in a full partition name, `[rm]name`. A name of another form is a short name.
struct PartitionName {
    std::string_view rm, name;
};
[[nodiscard]] PartitionName split_partition(std::string_view full);

/// Packs the record as one map.
void pack_event(wire::Packer& packer, const StoredEvent& event);

} // namespace yk
