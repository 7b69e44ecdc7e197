#pragma once
// What other limits would mean for the applications that run: which would count for another group (C-403, C-423), and
// which users and groups would be over what they may have.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/scheduler/view.h"
#include "libcore/ugm/limit_table.h"

namespace yk::service {

/// One partition under the limits of two configurations.
///
/// Thread: a worker; nothing of the partition is touched. It goes by the limits of the files and by the applications,
/// not by what is counted today: a group without a limit has no usage today, and gets all of it with its first limit.
class LimitEffects {
public:
    /// REQUIRES: both are validated.
    LimitEffects(const config::Queue& before, const config::Queue& now,
                 const std::vector<CountedApplicationView>& applications);

    struct Change {
        std::string old_value, new_value, text;
    };
    /// Who is over a limit of the queue that is new, or comes under it with more than it allows: users, then groups, by
    /// name. Nothing that stays as it is.
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
        bool joined = false; // by an application that counts for another group today
    };

    void count(const CountedApplicationView& application);
    void add(const Who& who, const CountedApplicationView& application, const Resource& usage, bool joins);
    [[nodiscard]] static const UsageLimit* limit_of(const LimitTable& table, std::string_view path, const Who& who);
    [[nodiscard]] config::ResourceMap named(const Resource& amounts) const;

    ResourceNames names_;
    LimitTable before_, now_;
    std::map<std::string, std::map<Who, Sum>, std::less<>> sums_; // by path, where there is a limit now
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> moved_; // by old and new group
};

/// Whether any user or group would have another limit anywhere: only then are the applications of interest.
[[nodiscard]] bool changes_limits(const config::Configuration& before, const config::Configuration& now);

} // namespace yk::service
