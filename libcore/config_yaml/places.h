#pragma once
// What a path names in the text of a configuration, and where it stands (I-354). A path is written as problems are
// (`partitions[0].queues[1].resources.max.memory`, B-01), or as a queue and a key of it
// (`root.prod.resources.max.vcore`).

#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/config_yaml/tree.h"

namespace yk::config_yaml {

struct Place {
    std::string path; // as problems print it; empty: it has no place in the text, such as a queue that a rule made
    std::size_t partition = 0; // from 0
    std::string queue;         // that it belongs to, in lower case; empty: to none
    std::string key;           // below the queue, else below the partition: `resources.max.vcore`; empty: all of it
    NodePtr value;             // null: not written there
    Mark mark;                 // of the value; of what is not written: none
};

/// `root` is the tree of a configuration that loads. `partition`: which one a path is about that does not say it, from
/// 0. `queue`: the longest beginning of `text` that is a running queue, in lower case; it may be one of no
/// configuration. Errors say what there is instead; `where` is empty.
[[nodiscard]] Result<Place> find_place(const NodePtr& root, std::string_view text, std::size_t partition,
                                       std::string_view queue);

/// Whether find_place() would look for it: it begins with `root`, `partitions` or a key of a partition.
[[nodiscard]] bool is_place(std::string_view text);

} // namespace yk::config_yaml
