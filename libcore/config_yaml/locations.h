// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a path names in the text of a configuration, and where that is (I-354). A path is written as problems are
// (`partitions[0].queues[1].resources.max.memory`, B-01), or as a queue and a key of it
// (`root.prod.resources.max.vcore`).

#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/config_yaml/tree.h"

namespace yk::config_yaml {

struct Location {
    std::string path;          // as problems print it; empty: it is not in the text, such as a queue that a rule made
    std::size_t partition = 0; // from 0
    std::string queue;         // that it belongs to, in lower case; empty: to none
    std::string key;           // below the queue, else below the partition: `resources.max.vcore`; empty: all of it
    NodePtr value;             // null: not written there
    Mark mark;                 // of the value; of what is not written: none
};

/// `root` is the tree of a configuration that loads. `partition`: the index of the one that is meant by a path that
/// names none. `queue`: the longest beginning of `text` that is a running queue, in lower case; it need not be in the
/// configuration. Errors say what there is instead; `where` is empty.
[[nodiscard]] Result<Location> find_location(const NodePtr& root, std::string_view text, std::size_t partition,
                                             std::string_view queue);

/// Whether `text` may be a path for find_location(): it begins with `root`, `partitions` or a key of a partition.
[[nodiscard]] bool is_location(std::string_view text);

} // namespace yk::config_yaml
