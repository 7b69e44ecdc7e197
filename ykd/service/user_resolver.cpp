#include "ykd/service/user_resolver.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "libcore/config/names.h"

namespace yk::service {

namespace {

constexpr Duration kFailureValid = std::chrono::seconds{30}; // C-365
constexpr Duration kCleanInterval = std::chrono::seconds{60};
constexpr std::size_t kMostNssBytes = 1U << 20U;
constexpr int kMostGroups = 65536; // what Linux allows a process

Error unknown(const std::string& user, const std::string& why) {
    return Error{0, "lookup failed for user: " + user + " (" + why + ")", {}};
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

bool UserResolver::is_fresh(const Entry& entry, Instant now) const {
    return now - entry.at < (entry.answer.ok() ? valid_ : kFailureValid);
}

bool UserResolver::needs_lookup(const ResolvedUser& sent, Instant now) const {
    if (!lookup_ || !sent.groups.empty() || !config::is_user_name(sent.user)) return false;
    const auto known = cache_.find(sent.user);
    return known == cache_.end() || !is_fresh(known->second, now);
}

void UserResolver::remember(const std::string& user, GroupsAnswer answer, Instant now) {
    clean(now);
    cache_.insert_or_assign(user, Entry{std::move(answer), now});
}

UserResolver UserResolver::only(const std::string& user) const {
    UserResolver one{lookup_};
    one.valid_ = valid_;
    if (const auto known = cache_.find(user); known != cache_.end()) one.cache_.insert(*known);
    return one;
}

/// What is out of date goes; nothing depends on when.
void UserResolver::clean(Instant now) {
    if (now - cleaned_ < kCleanInterval) return;
    cleaned_ = now;
    std::erase_if(cache_, [&](const auto& known) { return !is_fresh(known.second, now); });
}

GroupsAnswer UserResolver::groups_of(const std::string& user, Instant now) {
    auto known = cache_.find(user);
    if (known == cache_.end() || !is_fresh(known->second, now)) {
        if (!lookup_) return std::vector<std::string>{user};
        remember(user, lookup_(user), now);
        known = cache_.find(user);
    }
    const bool cached = std::exchange(known->second.given, true);
    const GroupsAnswer& answer = known->second.answer;
    if (answer.ok() || !cached) return answer;
    return Error{0, "user resolution failed, cached data returned: " + answer.error().message, {}};
}

ResolvedUser UserResolver::resolve(ResolvedUser sent, bool forced, Instant now) {
    if (sent.user.empty()) {
        if (forced) return {"nobody", {"nogroup"}, {}}; // C-361
        sent.fault = "empty user cannot resolve";
        return sent;
    }
    if (!config::is_user_name(sent.user)) { // C-360, C-363
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
    return {std::move(sent.user), {"nogroup"}, {}}; // C-362
}

} // namespace yk::service
