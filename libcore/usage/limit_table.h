// SPDX-License-Identifier: Apache-2.0
#pragma once
// LimitTable: the user and group limits of a configuration, by queue (C-402, C-403).
//
// Owner: UserGroupManager, which replaces the whole table on every reload (C-420). Immutable once made.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/config/config.h"
#include "libcore/resources/limit.h"

namespace yk {

inline constexpr std::string_view kEverybody = "*";

/// What one entry of `limits` allows one user or group at one queue.
struct UsageLimit {
    Limit max;                          // unlimited: none
    std::uint64_t max_applications = 0; // 0: not limited
    std::uint32_t order = 0;            // of the name among those of the queue, in file order

    friend bool operator==(const UsageLimit& a, const UsageLimit& b) {
        return a.max.same_as(b.max) && a.max_applications == b.max_applications && a.order == b.order;
    }
};

using UsageLimits = std::map<std::string, UsageLimit, std::less<>>; // by name, `*` among them

/// The limits of one queue.
struct QueueLimits {
    UsageLimits users;
    UsageLimits groups;
};

/// The path of the queue above; empty for the root.
[[nodiscard]] std::string_view parent_path(std::string_view path);

class LimitTable {
public:
    LimitTable() = default;
    /// REQUIRES: a validated configuration. New resource types get their ids from `resources`.
    LimitTable(const config::Queue& root, ResourceNames& resources);

    /// By path in lower case (C-426).
    [[nodiscard]] const std::map<std::string, QueueLimits, std::less<>>& queues() const noexcept { return queues_; }
    /// The entry of the queue that names the user, else its `*`; nullptr: none (C-402).
    [[nodiscard]] const UsageLimit* for_user(std::string_view path, std::string_view user) const;
    /// The entry of exactly this group; `*` is the group of users without a group that is named; nullptr: none.
    [[nodiscard]] const UsageLimit* for_group(std::string_view path, std::string_view group) const;
    /// The group that an application of a user in `groups` counts for in the queue; empty: none (C-403).
    [[nodiscard]] std::string_view group_of(std::string_view path,
                                            const std::vector<std::string>& groups) const noexcept;
    /// False: group_of() may give other answers than that of `other`.
    [[nodiscard]] bool same_groups(const LimitTable& other) const;

private:
    void add(const config::Queue& queue, const std::string& path, ResourceNames& resources);
    [[nodiscard]] const QueueLimits* at(std::string_view path) const;

    std::map<std::string, QueueLimits, std::less<>> queues_; // only queues with limits
};

} // namespace yk
