// SPDX-License-Identifier: Apache-2.0
#pragma once
// Observer: looks an object up in the daemon's dumps and gives it the keys of the expect tables.

#include <string>

#include "ykctl/scenario/caller.h"

namespace yk::scenario {

using wire::Value;

/// Looks at the objects of one RM, during one poll of an expectation.
class Observer {
public:
    /// Applications, queues and nodes are looked up in `partition`.
    Observer(Caller& caller, std::string rm_id, std::string partition)
        : caller_(caller), rm_id_(std::move(rm_id)), partition_(std::move(partition)) {}

    /// The object `name` of the section `applications`, `queues`, `nodes` or `partitions`; null when there is none.
    [[nodiscard]] wire::CallResult<Value> look(const std::string& section, const std::string& name);

private:
    wire::CallResult<Value> application(const std::string& id);
    wire::CallResult<Value> queue(const std::string& path);
    wire::CallResult<Value> node(const std::string& id);
    wire::CallResult<Value> partition(const std::string& name);
    /// The `data` of a dump with all its pages, of this RM; null when the object that it names does not exist.
    wire::CallResult<Value> dump(si::DumpRequest query);
    wire::CallResult<Value> ended_last(const std::string& id, Value best);

    Caller& caller_;
    std::string rm_id_, partition_;
};

} // namespace yk::scenario
