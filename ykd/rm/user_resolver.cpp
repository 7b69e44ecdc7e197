// SPDX-License-Identifier: Apache-2.0
#include "ykd/rm/user_resolver.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "libcore/config/names.h"

namespace yk::service {

namespace {

constexpr Duration kFailureValid = std::chrono::seconds{30}; // how long a failed lookup is used (C-365)
constexpr Duration kCleanInterval = std::chrono::seconds{60};
constexpr std::size_t kMostNssBytes = 1U << 20U;
constexpr int kMostGroups = 65536; // what Linux allows a process

constexpr std::size_t kEntryBytes = 200, kGroupBytes = 32; // of memory, in addition to the names

Error unknown(const std::string& user, const std::string& why) {
    return Error::of("lookup failed for user: " + user + " (" + why + ")");
}

/// Calls one of the `_r` functions with a buffer that is large enough; false: there is no such entry.
template <class Entry, class Call>
bool look_up(Entry& entry, std::string& buffer, const Call& call) {
    for (buffer.resize(4096); buffer.size() <= kMostNssBytes; buffer.resize(buffer.size() * 2)) {
        Entry* found = nullptr;
        if (call(&entry, buffer.data(), buffer.size(), &found) != ERANGE) return found != nullptr;
    }
    return false;
}

std::string name_of(gid_t id) {
    group entry{};
    std::string buffer;
    const bool found = look_up(entry, buffer, [id](group* to, char* text, std::size_t size, group** result) {
        return getgrgid_r(id, to, text, size, result);
    });
    return found ? std::string{entry.gr_name} : std::to_string(id);
}

std::vector<gid_t> group_ids(const std::string& user, gid_t primary) {
    std::vector<gid_t> ids(64);
    int count = static_cast<int>(ids.size());
    while (getgrouplist(user.c_str(), primary, ids.data(), &count) < 0 && count <= kMostGroups)
        ids.resize(static_cast<std::size_t>(count = std::max(count, static_cast<int>(ids.size()) * 2)));
    ids.resize(static_cast<std::size_t>(std::clamp(count, 0, static_cast<int>(ids.size()))));
    return ids;
}

} // namespace

std::size_t bytes_of(const std::string& user, const GroupsAnswer& answer) {
    std::size_t bytes = kEntryBytes + user.size();
    if (answer.ok())
        for (const std::string& group : *answer) bytes += kGroupBytes + group.size();
    return bytes;
}

GroupsAnswer system_groups(const std::string& user) {
    passwd entry{};
    std::string buffer;
    const bool found = look_up(entry, buffer, [&](passwd* to, char* text, std::size_t size, passwd** result) {
        return getpwnam_r(user.c_str(), to, text, size, result);
    });
    if (!found) return unknown(user, "the system knows no such user");
    std::vector<std::string> groups{name_of(entry.pw_gid)};
    for (const gid_t id : group_ids(user, entry.pw_gid))
        if (id != entry.pw_gid) groups.push_back(name_of(id));
    return groups;
}

Duration UserResolver::validity(const Entry& entry) const {
    return entry.answer.ok() ? valid_ : kFailureValid;
}

template <class Self>
auto UserResolver::find(Self& self, const std::string& user, Instant now) -> decltype(&self.newer_.begin()->second) {
    for (auto* half : {&self.newer_, &self.older_})
        if (const auto known = half->find(user); known != half->end())
            return now - known->second.at < self.validity(known->second) ? &known->second : nullptr;
    return nullptr;
}

bool UserResolver::needs_lookup(const ResolvedUser& sent, Instant now) const {
    return asks_system_ && sent.groups.empty() && config::is_user_name(sent.user) &&
           find(*this, sent.user, now) == nullptr;
}

void UserResolver::remember(const std::string& user, GroupsAnswer answer, Instant now) {
    clean(now);
    const std::size_t bytes = bytes_of(user, answer);
    if (bytes_ + bytes > limit_) {
        older_ = std::exchange(newer_, {});
        bytes_ = 0;
    }
    bytes_ += bytes;
    older_.erase(user);
    newer_.insert_or_assign(user, Entry{std::move(answer), now});
}

UserResolver UserResolver::only(const std::string& user) const {
    UserResolver one{asks_system_};
    one.valid_ = valid_;
    for (const Cache* half : {&newer_, &older_})
        if (const auto known = half->find(user); known != half->end()) one.newer_.insert(*known);
    return one;
}

/// Forgets answers that are long out of date, to save memory. One that expired less than kCleanInterval ago stays for
/// requests that have waited since it was valid.
void UserResolver::clean(Instant now) {
    if (now - cleaned_ < kCleanInterval) return;
    cleaned_ = now;
    for (Cache* half : {&newer_, &older_})
        std::erase_if(
            *half, [&](const auto& known) { return now - known.second.at >= validity(known.second) + kCleanInterval; });
}

GroupsAnswer UserResolver::groups_of(const std::string& user, Instant now) {
    Entry* known = find(*this, user, now);
    if (known == nullptr) {
        if (!asks_system_) return std::vector<std::string>{user};
        return Error::of("user " + user + " could not be looked up in time, add the application again");
    }
    if (known->answer.ok() || !std::exchange(known->given, true)) return known->answer;
    return Error::of("user resolution failed, cached data returned: " + known->answer.error().message);
}

ResolvedUser UserResolver::resolve(ResolvedUser sent, bool forced, Instant now) {
    if (sent.user.empty()) {
        if (forced) return {"nobody", {"nogroup"}, {}}; // a forced application without a user (C-361)
        sent.fault = "empty user cannot resolve";
        return sent;
    }
    if (!config::is_user_name(sent.user)) { // the rule for names holds also when groups were sent (C-360, C-363)
        sent.fault = "invalid username, it contains invalid characters: '" + sent.user + "'";
    } else if (!sent.groups.empty()) {
        remember(sent.user, sent.groups, now);
    } else {
        GroupsAnswer groups = groups_of(sent.user, now);
        if (groups.ok())
            sent.groups = *std::move(groups);
        else
            sent.fault = groups.error().message;
    }
    if (sent.fault.empty() || !forced) return sent;
    return {std::move(sent.user), {"nogroup"}, {}}; // a forced application keeps its user, without groups (C-362)
}

} // namespace yk::service
