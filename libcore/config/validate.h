#pragma once
// Checks a configuration that was read and completes it: config.md sections 4 to 6, 8 to 10 and 15.

#include <vector>

#include "libcore/config/document.h"
#include "libcore/config/problem.h"

namespace yk::config {

/// The core names at most this many resource types per partition.
inline constexpr std::size_t kMaxResourceTypesPerPartition = 64;
/// Each has its own nodes and is scheduled alone; Status names all of all RMs in one message.
inline constexpr std::size_t kMaxPartitions = 256;

/// What `document` means: the root is inserted (C-042) and named `root` (C-043), partitions have names (C-030), limits
/// of the partition are the root's (C-103). Problems go to `report`, in the order of section 4; when there are errors
/// the result is of no use. `checksum` is left empty.
[[nodiscard]] Configuration validate(Document document, Report& report);

} // namespace yk::config
