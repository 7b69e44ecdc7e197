// SPDX-License-Identifier: Apache-2.0
#include "ykd/session/peer_groups.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>

namespace yk::service {
namespace {

constexpr std::size_t kMostNssBytes = std::size_t{1} << 20;
constexpr int kMostGroups = 65536; // what Linux allows a process

} // namespace

std::optional<std::vector<gid_t>> system_groups_of(uid_t uid, gid_t primary) {
    std::vector<char> buffer(16384);
    ::passwd entry{};
    ::passwd* found = nullptr;
    int fault = 0;
    while ((fault = ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found)) == ERANGE &&
           buffer.size() < kMostNssBytes)
        buffer.resize(2 * buffer.size());
    if (fault != 0 && fault != ENOENT) return std::nullopt;
    if (found == nullptr) return std::vector{primary};
    std::vector<gid_t> groups(256);
    int count = static_cast<int>(groups.size());
    while (::getgrouplist(entry.pw_name, primary, groups.data(), &count) < 0) {
        if (count > kMostGroups || groups.size() > kMostGroups) return std::nullopt;
        groups.resize(2 * groups.size());
        count = static_cast<int>(groups.size());
    }
    groups.resize(static_cast<std::size_t>(count));
    return groups;
}

std::vector<gid_t> PeerGroups::of(uid_t uid, gid_t primary, SteadyClock::time_point now) {
    std::optional<std::vector<gid_t>> known;
    bool is_fresh = false;
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = users_.find({uid, primary}); found != users_.end()) {
            known = found->second.groups;
            is_fresh = now < found->second.fresh_until;
            if (!is_fresh) found->second.fresh_until = now + kFresh; // one renewal under way is enough
        }
    }
    if (!known) return look_up(uid, primary, now);
    if (!is_fresh) later_([this, uid, primary, now] { look_up(uid, primary, now); });
    return *std::move(known);
}

std::vector<gid_t> PeerGroups::look_up(uid_t uid, gid_t primary, SteadyClock::time_point now) {
    std::optional<std::vector<gid_t>> groups = lookup_(uid, primary);
    const std::lock_guard lock(mutex_);
    if (users_.size() >= kMostUsers) users_.clear();
    Known& known = users_.try_emplace({uid, primary}, Known{{primary}, now}).first->second;
    known.fresh_until = now + (groups ? SteadyClock::duration{kFresh} : SteadyClock::duration{kFreshFailure});
    if (groups) known.groups = *std::move(groups); // else the former answer stays
    return known.groups;
}

void PeerGroups::doubt() {
    const std::lock_guard lock(mutex_);
    for (auto& [user, known] : users_) known.fresh_until = {};
}

} // namespace yk::service
