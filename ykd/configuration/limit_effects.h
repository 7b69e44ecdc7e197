// SPDX-License-Identifier: Apache-2.0
#pragma once
// LimitEffects: what changed limits would mean for the applications that run: which of them would count for another
// group (C-403, C-423), and which users and groups would be over their limits.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/ports/view.h"
#include "libcore/usage/limit_table.h"

namespace yk::service {

/// One partition under the limits of two configurations.
///
/// Thread: a worker; it reads copies only. It adds up the applications under the limits of the new text and does not go
/// by what is charged today: a group without a limit is charged nothing today, and everything from its first limit on.
class LimitEffects {
public:
    /// REQUIRES: `before` and `now` come from configurations that were validated.
    LimitEffects(const config::Queue& before, const config::Queue& now,
                 const std::vector<ChargedApplicationView>& applications);

    struct Change {
        std::string old_value, new_value, text;
    };
    /// Users, then groups, by name, that are over a new limit of the queue, or that come under a limit with more than
    /// it allows. Who was over an unchanged limit before is not among them.
    [[nodiscard]] std::vector<Change> over(const std::string& path) const;
    /// Applications that would count for another group, by old and new group.
    [[nodiscard]] std::vector<Change> moves() const;

private:
    struct Who {
        bool group = false;
        std::string name;
        friend bool operator<(const Who& a, const Who& b) {
            return std::pair{a.group, std::string_view{a.name}} < std::pair{b.group, std::string_view{b.name}};
        }
    };
    /// What somebody uses in a queue and below.
    struct Sum {
        Resource usage;
        std::vector<std::string> running;
        bool joined = false; // with an application that counts for another group today
    };

    void count(const ChargedApplicationView& application);
    void add(const Who& who, const ChargedApplicationView& application, const Resource& usage, bool joins);
    [[nodiscard]] static const UsageLimit* limit_of(const LimitTable& table, std::string_view path, const Who& who);
    [[nodiscard]] config::ResourceMap named(const Resource& amounts) const;

    ResourceNames names_;
    LimitTable before_, now_;
    std::map<std::string, std::map<Who, Sum>, std::less<>> sums_; // by path, where there is a limit now
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> moved_; // by old and new group
};

/// Whether any user or group would have another limit in any queue. Only then are the applications needed.
[[nodiscard]] bool changes_limits(const config::Configuration& before, const config::Configuration& now);

} // namespace yk::service
