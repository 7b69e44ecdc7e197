// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings in force of one queue, and where each comes from: a line of the configuration, a queue above, a child
// template, the tags of an application, or the default (B-07). Pure: it reads copies. Thread: any.

#include <string>
#include <vector>

#include "libcore/config/config.h"
#include "libcore/ports/view.h"
#include "protocol/wire/value.h"

namespace yk::service {

using wire::Value;

enum class Origin {
    Written,   // at the queue itself
    Inherited, // from a queue above
    Template,  // a child template, or the tags of an application
    Computed,  // from other settings, or from the nodes
    Default,
    NotSet
};

struct QueueSetting {
    std::string name; // `max`, `property priority.offset`, ..; ACLs once for each queue that has one, the own first
    Value value;      // null: the queue has none
    std::string from; // for people: `root.a (line 9)`
    Origin origin{};
};

/// The settings of the queue of `view`, in a fixed order. `configuration` is the one that runs, `partition` a short
/// name.
[[nodiscard]] std::vector<QueueSetting>
queue_settings(const QueueView& view, const config::Configuration& configuration, const std::string& partition);

} // namespace yk::service
