#pragma once
// Whose application it is (C-360 to C-367): the user and groups that an RM sent, or what a partition's resolver knows,
// remembered for a while, within a bound. Resolved once, before the core sees the application.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"

namespace yk::service {

using GroupsAnswer = Result<std::vector<std::string>>;
/// What the operating system knows (C-364, `os`): primary group first, a group without a name as its number. May block.
/// Error: there is no such user, or nobody can tell.
[[nodiscard]] GroupsAnswer system_groups(const std::string& user);

/// About what an answer takes where it is kept.
[[nodiscard]] std::size_t bytes_of(const std::string& user, const GroupsAnswer& answer);

struct ResolvedUser {
    std::string user;
    std::vector<std::string> groups;
    std::string fault; // why the application has to be rejected; empty: it has not
};

/// The resolver of one partition with what it remembers. Not thread-safe; UserDirectory guards it.
class UserResolver {
public:
    /// `asks_system`: false for the default resolver, which gives every user the group of its own name.
    explicit UserResolver(bool asks_system) : asks_system_(asks_system) {}

    /// Whether the system has to be asked for the user, which may block, and the answer remembered, before resolve().
    [[nodiscard]] bool needs_lookup(const ResolvedUser& sent, Instant now) const;
    void remember(const std::string& user, GroupsAnswer answer, Instant now);
    /// `sent`: what the RM said. `forced`: the application must be taken (C-361, C-362).
    [[nodiscard]] ResolvedUser resolve(ResolvedUser sent, bool forced, Instant now);
    /// The same resolver, remembering nobody but `user`.
    [[nodiscard]] UserResolver only(const std::string& user) const;
    void set_validity(Duration valid) { valid_ = valid; }
    /// What is remembered has about as many bytes, or twice as many: when the newer half is full the older one goes.
    void set_room(std::size_t bytes) { room_ = bytes; }
    [[nodiscard]] std::size_t remembered() const { return newer_.size() + older_.size(); }

private:
    struct Entry {
        GroupsAnswer answer;
        Instant at;
        bool given = false; // somebody got it: from then on it is cached data
    };
    using Cache = std::map<std::string, Entry, std::less<>>;
    [[nodiscard]] Duration validity(const Entry& entry) const;
    /// nullptr: nothing is known, or it is out of date.
    template <class Self>
    [[nodiscard]] static auto find(Self& self, const std::string& user, Instant now)
        -> decltype(&self.newer_.begin()->second);
    [[nodiscard]] GroupsAnswer groups_of(const std::string& user, Instant now);
    void clean(Instant now);

    bool asks_system_;
    Cache newer_, older_;
    std::size_t room_ = std::size_t{1} << 20;
    std::size_t bytes_ = 0; // of the newer half, about; what was replaced counts, too
    Duration valid_ = std::chrono::seconds{300};
    Instant cleaned_;
};

} // namespace yk::service
