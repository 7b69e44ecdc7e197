#pragma once
// Placement: which queue an application goes to (config.md sections 10 and 11). A rule yields a path, nothing, or an
// error; the first path that may be used wins. Reads the partition, changes nothing.

#include <string>

#include "libcore/scheduler/command.h"
#include "libcore/scheduler/partition_state.h"

namespace yk::placement {

struct Outcome {
    Queue* queue = nullptr; // an existing leaf
    std::string reason;     // why there is none
};

[[nodiscard]] Outcome place(const ApplicationSpec& spec, const PartitionState& state);

} // namespace yk::placement
