// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeKeeper: the nodes as the core has them, and what it has to be asked for so that they are as their rows (rs
//
//
// Owner: Scheduler. Thread: its owner's.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/by_text.h"
#include "libcore/mcs/node.h"
#include "libcore/mcs/replicas/core_requests.h"
#include "libcore/resource_state/resource_cache.h"

namespace yk::mcs {

class NodeKeeper {
public:
    /// What runs on nodes already, by the id of the node.
    using Placed = std::map<std::string, std::vector<AskReplica>, std::less<>>;

    /// Both must outlive it. Without `runs_commands` nodes of kind `local` are not for the core to have: nothing would
    /// run on them (rs R-177).
    NodeKeeper(const rs::ResourceCache<Node>& rows, CoreRequests& requests, bool runs_commands)
        : rows_(rows), requests_(requests), runs_commands_(runs_commands) {}

    /// Registers all nodes with a core that has none, with what runs on them.
    void begin(Placed placed);
    /// The core has gone.
    void clear();
    /// The row of a node came, changed or went. Whether the core is asked for something. REQUIRES: there is a core.
    bool update(std::string_view id);
    /// update() for all; returns how many.
    std::size_t check();
    /// The core has not taken what was asked for the node: it is asked again at the next update().
    void refused(const NodeRefused& refused);

    /// Whether there is such a node, for the core to have.
    [[nodiscard]] bool has_row(std::string_view id) const { return row_of(id) != nullptr; }
    /// Whether the core has it, as far as is known.
    [[nodiscard]] bool has(std::string_view id) const { return registered_.contains(id); }
    /// Whether something may be placed there.
    [[nodiscard]] bool is_usable(std::string_view id) const;
    [[nodiscard]] std::size_t size() const { return registered_.size(); }
    /// Why the core refuses it, or is not asked; empty: neither.
    [[nodiscard]] std::string refusal_of(std::string_view id) const;
    [[nodiscard]] std::size_t refused_nodes() const { return refusals_.size(); }
    template <class Use>
    void for_each(Use&& use) const {
        for (const auto& each : registered_) use(*each.second);
    }

private:
    [[nodiscard]] bool is_for_core(const Node& row) const;
    /// Of a node for the core to have; nullptr: there is none.
    [[nodiscard]] rs::Ptr<Node> row_of(std::string_view id) const;

    const rs::ResourceCache<Node>& rows_;
    CoreRequests& requests_;
    const bool runs_commands_;
    ByText<rs::Ptr<Node>> registered_;                         // by id
    std::map<std::string, std::string, std::less<>> refusals_; // of nodes that have a row
};

} // namespace yk::mcs
