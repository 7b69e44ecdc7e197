#pragma once
// Whose application it is (C-360 to C-367): the user and groups that an RM sent, or what a partition's resolver knows,
// remembered for a while. Resolved once, before the core sees the application.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"

namespace yk::service {

using GroupsAnswer = Result<std::vector<std::string>>;
/// The groups of a user, its primary one first. May block. Error: there is no such user, or nobody can tell.
using GroupLookup = std::function<GroupsAnswer(const std::string& user)>;

/// What the operating system knows (C-364, `os`): primary group first, a group without a name as its number.
[[nodiscard]] GroupsAnswer system_groups(const std::string& user);

struct ResolvedUser {
    std::string user;
    std::vector<std::string> groups;
    std::string fault; // why the application has to be rejected; empty: it has not
};

/// The resolver of one partition with what it remembers. Not thread-safe; UserDirectory guards it.
class UserResolver {
public:
    /// `lookup`: nullptr for the default resolver, which gives every user the group of its own name.
    explicit UserResolver(GroupLookup lookup) : lookup_(std::move(lookup)) {}

    /// Whether resolve() would have to look the user up, which may block.
    [[nodiscard]] bool needs_lookup(const ResolvedUser& sent, Instant now) const;
    /// Remembers an answer that was looked up ahead of the first who needs it (C-365).
    void remember(const std::string& user, GroupsAnswer answer, Instant now);
    /// `sent`: what the RM said. `forced`: the application must be taken (C-361, C-362).
    [[nodiscard]] ResolvedUser resolve(ResolvedUser sent, bool forced, Instant now);
    /// The same resolver, remembering nobody but `user`.
    [[nodiscard]] UserResolver only(const std::string& user) const;
    void set_validity(Duration valid) { valid_ = valid; }
    [[nodiscard]] std::size_t remembered() const { return cache_.size(); }

private:
    struct Entry {
        GroupsAnswer answer;
        Instant at;
        bool given = false; // somebody got it: from then on it is cached data
    };
    [[nodiscard]] bool is_fresh(const Entry& entry, Instant now) const;
    [[nodiscard]] GroupsAnswer groups_of(const std::string& user, Instant now);
    void clean(Instant now);

    GroupLookup lookup_;
    std::map<std::string, Entry, std::less<>> cache_;
    Duration valid_ = std::chrono::seconds{300};
    Instant cleaned_;
};

} // namespace yk::service
