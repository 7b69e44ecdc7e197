// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks a configuration that was read and completes it (sections 4 to 6, 8 to 10 and 15 of config.md).

#include <vector>

#include "libcore/config/document.h"
#include "libcore/config/problem.h"

namespace yk::config {

/// The core names at most this many resource types per partition.
inline constexpr std::size_t kMaxResourceTypesPerPartition = 64;
/// A bound on the size of one message: the daemon's status names the partitions of all RMs in one.
inline constexpr std::size_t kMaxPartitions = 256;

/// What `document` means: the root is inserted (C-042) and named `root` (C-043), partitions have names (C-030), limits
/// of the partition are the root's (C-103). Problems go to `report`, in the order of section 4 of config.md; when there
/// are errors the result is of no use. `checksum` is left empty.
[[nodiscard]] Configuration validate(Document document, Report& report);

} // namespace yk::config
