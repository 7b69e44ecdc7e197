// SPDX-License-Identifier: Apache-2.0
#pragma once
// UserResolver: whose application it is (C-360 to C-367): the user and groups that an RM sent, or the groups that the
// system knows, which are remembered for a while, within a limit. An application's user is resolved once, before the
// core sees it.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"

namespace yk::service {

using GroupsAnswer = Result<std::vector<std::string>>;
/// The groups of a user as the operating system knows them (C-364, resolver `os`): the primary group first, a group
/// without a name as its number. May block. Error: there is no such user, or the lookup failed.
[[nodiscard]] GroupsAnswer system_groups(const std::string& user);

/// About how many bytes an answer takes where it is kept.
[[nodiscard]] std::size_t bytes_of(const std::string& user, const GroupsAnswer& answer);

/// A user with groups.
struct ResolvedUser {
    std::string user;
    std::vector<std::string> groups;
    std::string fault; // why the application has to be rejected; empty: it does not
};

/// The resolver of one partition with the answers that it remembers. Owner and lock: UserDirectory.
class UserResolver {
public:
    /// `asks_system`: false for the default resolver, which gives every user the group of its own name.
    explicit UserResolver(bool asks_system) : asks_system_(asks_system) {}

    /// Whether the system has to be asked for the user before resolve(), and the answer passed to remember().
    [[nodiscard]] bool needs_lookup(const ResolvedUser& sent, Instant now) const;
    void remember(const std::string& user, GroupsAnswer answer, Instant now);
    /// The user and groups of an application. `sent`: those that the RM sent. `forced`: the application must not be
    /// rejected for its user (C-361, C-362).
    [[nodiscard]] ResolvedUser resolve(ResolvedUser sent, bool forced, Instant now);
    /// A copy of the resolver that remembers only `user`.
    [[nodiscard]] UserResolver only(const std::string& user) const;
    /// How long an answer is used.
    void set_validity(Duration valid) { valid_ = valid; }
    /// Limits the remembered answers to about twice as many bytes: when the newer half is full, the older is forgotten.
    void set_limit(std::size_t bytes) { limit_ = bytes; }
    /// The number of remembered answers.
    [[nodiscard]] std::size_t remembered() const { return newer_.size() + older_.size(); }

private:
    struct Entry {
        GroupsAnswer answer;
        Instant at;
        bool given = false; // it was used: a failure that is used again is reported as cached data
    };
    using Cache = std::map<std::string, Entry, std::less<>>;
    [[nodiscard]] Duration validity(const Entry& entry) const;
    /// The valid answer for a user; nullptr: there is none.
    template <class Self>
    [[nodiscard]] static auto find(Self& self, const std::string& user, Instant now)
        -> decltype(&self.newer_.begin()->second);
    [[nodiscard]] GroupsAnswer groups_of(const std::string& user, Instant now);
    void clean(Instant now);

    bool asks_system_;
    Cache newer_, older_;
    std::size_t limit_ = std::size_t{1} << 20;
    std::size_t bytes_ = 0; // of the newer half, about; answers that were replaced count, too
    Duration valid_ = std::chrono::seconds{300};
    Instant cleaned_;
};

} // namespace yk::service
