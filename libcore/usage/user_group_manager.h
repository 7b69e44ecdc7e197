// SPDX-License-Identifier: Apache-2.0
#pragma once
// UserGroupManager: what users and groups use of a partition, and what they may (config.md sections 13 and 14).
//
// Owner: PartitionState. Thread: the partition's owner. changes/user_limits.cpp reports every application, allocation
// and reload to it; it decides nothing by itself. Each user and group has a tracker: the queues its applications use,
// as a tree of UsageNodes. An application holds the nodes of its own queue, so that counting costs its depth and no
// lookup. Invariants, verified by PartitionContext::check():
//  A  the usage of a node is the sum over the applications linked at or below it (C-400)
//  B  a node exists iff an application is linked at or below it, or it or one below has a limit that names the tracker
//  C  an ask group stands in `held` of a node iff its held_at names it; applications alike

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libcore/base/slab.h"
#include "libcore/model/ids.h"
#include "libcore/ports/budget.h"
#include "libcore/usage/limit_table.h"

namespace yk {

struct UsageTracker;

/// Usage of one user or group at one queue and below.
struct UsageNode {
    UsageTracker* tracker = nullptr;
    UsageNodeId parent{};
    std::string_view path; // of the queue
    Resource usage;
    std::uint32_t running = 0; // applications in the running set (C-406)
    std::uint32_t linked = 0;  // applications at or below
    std::uint32_t children = 0;
    bool named = false;                // the limit names the tracker: the node stays (C-414)
    bool grew = false;                 // what is held may fit now
    bool limited = false;              // here or above
    const UsageLimit* limit = nullptr; // of the table; none: not limited here
    /// What its limit holds back; made when something is.
    struct Held {
        std::vector<GroupId> groups;             // of asks that do not fit (C-409)
        std::vector<ApplicationId> applications; // that may not run (C-410)
    };
    std::unique_ptr<Held> held;

    /// Whether its limit allows the ask, this level only (C-408).
    [[nodiscard]] bool allows(const Resource& ask) const noexcept;
    /// Whether its limit allows one more running application, this level only (C-410).
    [[nodiscard]] bool has_slot() const noexcept {
        return limit == nullptr || limit->max_applications == 0 || running + 1 <= limit->max_applications;
    }
};

/// What applications of one queue add to a node, or remove from it.
struct UsageShare {
    std::uint32_t applications = 0;
    std::uint32_t running = 0; // of them
    Resource usage;
};

struct UsageTracker {
    std::string_view name; // its key
    bool group = false;
    std::vector<UsageNodeId> nodes; // by path
};

/// Paths of queues, each once however many users have a node there.
class PathTexts {
public:
    /// The view is valid until released as often as it was acquired.
    [[nodiscard]] std::string_view acquire(std::string_view path) noexcept;
    void release(std::string_view path) noexcept;

private:
    std::unordered_map<std::string, std::uint32_t> uses_;
};

class UserGroupManager {
public:
    /// A limit that was set or taken away by a reload (C-415).
    struct LimitChange {
        std::string name;
        std::string path;
        bool group = false;
        bool removed = false;
    };

    /// `meter` counts the nodes as names.
    explicit UserGroupManager(BudgetMeter& meter) : meter_(meter) {}

    /// Replaces the limits. take_grown() then visits whatever is held (C-420).
    std::vector<LimitChange> set_limits(LimitTable table) noexcept;
    [[nodiscard]] const LimitTable& limits() const noexcept { return table_; }

    // --- applications -----------------------------------------------------------------------------------------------
    /// The node of the user's or group's applications in the queue; made when there is none, and then to be joined at
    /// once: it has no application yet.
    UsageNodeId find_or_make(std::string_view name, bool group, std::string_view path) noexcept;
    // These change a node and all above it. Cost: the depth of the queue.
    void join(UsageNodeId id, const UsageShare& share) noexcept;
    /// The node is removed with its last application, unless a limit names the user or group.
    void leave(UsageNodeId id, const UsageShare& share) noexcept;
    void increase(UsageNodeId id, const Resource& amount) noexcept;
    void decrease(UsageNodeId id, const Resource& amount) noexcept;
    void enter_running(UsageNodeId id) noexcept;
    void leave_running(UsageNodeId id) noexcept;

    // --- questions --------------------------------------------------------------------------------------------------
    [[nodiscard]] const UsageNode& operator[](UsageNodeId id) const noexcept { return nodes_[id]; }
    [[nodiscard]] UsageNode& operator[](UsageNodeId id) noexcept { return nodes_[id]; }
    /// The name of the user or group whose node it is; empty for an invalid id.
    [[nodiscard]] std::string_view name_at(UsageNodeId id) const noexcept {
        return id.valid() ? nodes_[id].tracker->name : std::string_view{};
    }
    /// The lowest level that does not allow the ask; none: all do. An invalid id has no limits.
    [[nodiscard]] UsageNodeId refusing(UsageNodeId id, const Resource& ask) const noexcept;
    /// The lowest level that has no running slot; none: all have.
    [[nodiscard]] UsageNodeId without_slot(UsageNodeId id) const noexcept;
    /// What the limits of all levels leave (C-408).
    [[nodiscard]] Limit headroom(UsageNodeId id) const noexcept;
    /// The position in tracker.nodes of the first node whose path is not less than `path`.
    [[nodiscard]] std::size_t position(const UsageTracker& tracker, std::string_view path) const noexcept;
    [[nodiscard]] const std::map<std::string, UsageTracker, std::less<>>& users() const noexcept { return users_; }
    [[nodiscard]] const std::map<std::string, UsageTracker, std::less<>>& groups() const noexcept { return groups_; }

    /// What `meter` counts for the nodes.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return nodes_.size() * kPerEntry; }

    /// What the limit of the node holds back.
    [[nodiscard]] UsageNode::Held& held_at(UsageNodeId id) noexcept {
        if (!nodes_[id].held) nodes_[id].held = std::make_unique<UsageNode::Held>();
        return *nodes_[id].held;
    }

    /// To be called now and then: returns the memory when most usage nodes were removed.
    void give_back() { nodes_.give_back(); }

    // --- who waits ---------------------------------------------------------------------------------------------------
    /// f(UsageNode&) for each node that holds something back and may hold less since the last call.
    template <class F>
    void take_grown(F&& f) {
        shrunk_ = false;
        for (std::size_t i = 0; i < grown_.size(); ++i) {
            // it may be removed, and its id be another node's by now
            if (!nodes_.alive(grown_[i]) || !nodes_[grown_[i]].grew) continue;
            nodes_[grown_[i]].grew = false;
            f(nodes_[grown_[i]]);
        }
        grown_.clear();
    }
    /// Whether any usage shrank or any limit changed since the last take_grown().
    [[nodiscard]] bool any_grown() const noexcept { return shrunk_; }

private:
    using Trackers = std::map<std::string, UsageTracker, std::less<>>;

    UsageNodeId find_or_make(UsageTracker& tracker, std::string_view path) noexcept;
    UsageTracker& tracker_of(std::string_view name, bool group) noexcept;
    void prune(UsageNodeId id) noexcept;
    /// Looks the limit of the node up. REQUIRES: that of its parent is set.
    void set_limit(UsageNode& node) const noexcept;
    void mark_grown(UsageNodeId id) noexcept;
    void make_named(std::string_view name, bool group, std::string_view path) noexcept;

    BudgetMeter& meter_;
    LimitTable table_;
    PathTexts paths_;
    Slab<UsageNode> nodes_;
    Trackers users_;
    Trackers groups_;
    std::vector<UsageNodeId> grown_;
    bool shrunk_ = false;
};

} // namespace yk
