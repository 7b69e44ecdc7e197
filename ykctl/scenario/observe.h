#pragma once
// What the daemon's dumps say of one thing, in the words of the expect tables.

#include <string>

#include "ykctl/scenario/caller.h"

namespace yk::scenario {

using wire::Value;

/// Looks of one RM at the daemon, for the length of one poll of an expectation.
class Observer {
public:
    /// `partition`: the one that applications, queues and nodes are looked up in.
    Observer(Caller& caller, std::string rm_id, std::string partition)
        : caller_(caller), rm_id_(std::move(rm_id)), partition_(std::move(partition)) {}

    /// The thing of the section `applications`, `queues`, `nodes` or `partitions`; null when there is none.
    [[nodiscard]] wire::CallResult<Value> look(const std::string& section, const std::string& name);

private:
    wire::CallResult<Value> application(const std::string& id);
    wire::CallResult<Value> queue(const std::string& path);
    wire::CallResult<Value> node(const std::string& id);
    wire::CallResult<Value> partition(const std::string& name);
    /// `data` of a dump, all pages; null when what it names is not there.
    wire::CallResult<Value> dump(const char* what, const std::string& partition, const char* key = nullptr,
                                 const std::string& name = {}, const char* state = nullptr);
    wire::CallResult<Value> ended_last(const std::string& id, Value best);

    Caller& caller_;
    std::string rm_id_, partition_;
};

} // namespace yk::scenario
