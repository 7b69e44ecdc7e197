// SPDX-License-Identifier: Apache-2.0
#pragma once
// What changes when one configuration replaces another, for people and for scripts (B-06, C-446).

#include <string>
#include <string_view>
#include <vector>

#include "libcore/config/config.h"

namespace yk::config {

enum class DifferenceKind {
    PartitionAdded,
    PartitionRemoved, // with everything in it, at once (C-436)
    QueueAdded,
    QueueDraining, // not in the new configuration; it and what is below drain (C-431)
    QueueType,     // leaf <-> parent; refused at run time while the queue is in use (C-435)
    Max,
    Guaranteed,
    MaxApplications,
    Property,
    SubmitAcl,
    AdminAcl,
    Limits,
    ChildTemplate,
    PlacementRules,
    NodeSortPolicy,
    Preemption,
    UserGroupResolver
};

/// `queue-added`, `max`, ..: stable names for scripts.
[[nodiscard]] std::string_view kind_name(DifferenceKind kind);

struct Difference {
    DifferenceKind kind{};
    std::string partition;
    std::string path;      // of the queue, lower case; for a property with its key behind a blank; empty: the partition
    std::string old_value; // empty: there was none
    std::string new_value;
    std::string text; // one line for a person, with partition and path
};

/// In the order partition, queue (both as in `now`, then the removed ones), kind. Empty: they mean the same. Case of
/// queue names (C-049), order of queues, positions in the text and checksum make no difference.
[[nodiscard]] std::vector<Difference> diff(const Configuration& before, const Configuration& now);

/// As above for one queue and all below it; `path` is that of both.
[[nodiscard]] std::vector<Difference> diff(const std::string& partition, const std::string& path, const Queue& before,
                                           const Queue& now);

} // namespace yk::config
