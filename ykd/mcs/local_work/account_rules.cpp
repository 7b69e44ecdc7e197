// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/local_work/account_rules.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace yk::service {
namespace {

constexpr std::string_view kUid = "uid ";
constexpr std::size_t kLargestEntry = std::size_t{64} << 10; // of an account, in bytes
constexpr int kMostGroups = 4096;

struct Entry { // of an account
    std::string name;
    uid_t uid = 0;
    gid_t gid = 0;
    std::string home;
};

template <class Key, class Ask>
std::optional<Entry> find_entry(const Key& key, Ask ask) {
    std::vector<char> buffer(kLargestEntry);
    passwd found{};
    passwd* is_there = nullptr;
    if (ask(key, &found, buffer.data(), buffer.size(), &is_there) != 0 || is_there == nullptr) return std::nullopt;
    return Entry{found.pw_name, found.pw_uid, found.pw_gid, found.pw_dir};
}

std::optional<Entry> find_account(const std::string& name) {
    return find_entry(name.c_str(), ::getpwnam_r);
}
std::optional<Entry> find_account(uid_t uid) {
    return find_entry(uid, ::getpwuid_r);
}

std::optional<uid_t> uid_of(std::string_view submitter) {
    if (submitter.substr(0, kUid.size()) != kUid) return std::nullopt;
    submitter.remove_prefix(kUid.size());
    uid_t uid = 0;
    const auto [end, fault] = std::from_chars(submitter.data(), submitter.data() + submitter.size(), uid);
    if (fault != std::errc{} || end != submitter.data() + submitter.size()) return std::nullopt;
    return uid;
}

bool is_allowed(const LocalWorkSettings& settings, const std::string& submitter, std::optional<uid_t> uid) {
    return std::any_of(settings.users.begin(), settings.users.end(), [&](const std::string& each) {
        if (each == submitter) return true;
        const auto account = uid ? find_account(each) : std::nullopt;
        return account && account->uid == *uid;
    });
}

/// Whether this process may start commands as others, and end them.
bool may_become_others() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> rights{};
    if (::syscall(SYS_capget, &header, rights.data()) != 0) return false;
    constexpr std::uint32_t kNeeded = 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_KILL;
    return (rights[0].effective & kNeeded) == kNeeded;
}

Result<work::Identity> identity_of(const Entry& account) {
    int count = kMostGroups;
    std::vector<gid_t> groups(static_cast<std::size_t>(count));
    if (::getgrouplist(account.name.c_str(), account.gid, groups.data(), &count) < 0)
        return Error::of(fmt::format("account {} is in more than {} groups", account.name, kMostGroups));
    groups.resize(static_cast<std::size_t>(count));
    std::erase(groups, gid_t{0}); // no right of root, by a group either
    if (account.gid == 0)
        return Error::of(fmt::format("the group of account {} is that of root; commands never have it", account.name));
    return work::Identity{account.uid, account.gid, std::move(groups)};
}

Result<Entry> chosen_account(const LocalWorkSettings& settings, const std::string& submitter,
                             std::optional<uid_t> uid) {
    if (!settings.run_as.empty()) {
        auto account = find_account(settings.run_as);
        if (account) return *std::move(account);
        return Error::of(fmt::format("there is no account {} (mcs.local.runAs)", settings.run_as));
    }
    if (!uid)
        return Error::of(
            fmt::format("its command was given by {}, which is no account of this machine; mcs.local.runAs "
                        "can name one for all commands",
                        submitter.empty() ? "nobody that ykd knows" : submitter));
    auto account = find_account(*uid);
    if (account) return *std::move(account);
    return Error::of(fmt::format("its command was given by uid {}, for which this machine has no account", *uid));
}

} // namespace

std::string submitter_text(bool is_local, uid_t uid, const std::string& identity) {
    return is_local ? fmt::format("{}{}", kUid, uid) : identity;
}

bool may_run_from(const LocalWorkSettings& settings, std::string_view queue) {
    return std::any_of(settings.queues.begin(), settings.queues.end(), [&](const std::string& each) {
        return queue == each ||
               (queue.size() > each.size() && queue.substr(0, each.size()) == each && queue[each.size()] == '.');
    });
}

Result<work::Account> account_for(const LocalWorkSettings& settings, const std::string& submitter) {
    const auto uid = uid_of(submitter);
    if (!is_allowed(settings, submitter, uid))
        return Error::of(fmt::format("its command was given by {}, who is not among mcs.local.users",
                                     submitter.empty() ? "nobody that ykd knows" : submitter));
    YK_TRY(entry, chosen_account(settings, submitter, uid));
    if (entry.uid == 0)
        return Error::of("its command was given by root, and commands never run as root; give it as another user, or "
                         "name an account for all commands (mcs.local.runAs)");
    work::Account account;
    account.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + entry.home, "LANG=C.UTF-8",
                           "USER=" + entry.name};
    account.directory = entry.home;
    const uid_t own = ::geteuid();
    if (entry.uid == own) {
        if (uid == own) return account; // whoever may give it commands could run them without ykd
        return Error::of(
            fmt::format("it would run with the rights of ykd itself (account {}); mcs.local.runAs can name "
                        "another account",
                        entry.name));
    }
    if (!may_become_others())
        return Error::of(fmt::format("ykd runs as uid {} and cannot start commands as {}: that needs CAP_SETUID, "
                                     "CAP_SETGID and CAP_KILL (man ykd, COMMANDS OF DEPLOYMENTS)",
                                     own, entry.name));
    YK_TRY(identity, identity_of(entry));
    account.identity = std::move(identity);
    return account;
}

} // namespace yk::service
