#pragma once
// The settings in force of one queue, and where each comes from: a line of the configuration, a queue above, a child
// template, the tags of an application, or the default (B-07). Pure: reads pictures. Thread: any.

#include <string>
#include <vector>

#include "libcore/config/config.h"
#include "libcore/scheduler/view.h"
#include "protocol/wire/value.h"

namespace yk::service {

using wire::Value;

enum class Origin {
    Written,   // at the queue itself
    Inherited, // from a queue above
    Template,  // a child template, or the tags of an application
    Computed,  // out of other settings, or the nodes
    Default,
    NotSet
};

struct QueueSetting {
    std::string name; // `max`, `property priority.offset`, ..; ACLs once for each queue that has one, the own first
    Value value;      // null: none
    std::string from; // for people: `root.a (line 9)`
    Origin origin{};
};

[[nodiscard]] std::vector<QueueSetting>
queue_settings(const QueueView& view, const config::Configuration& configuration, const std::string& partition);

} // namespace yk::service
