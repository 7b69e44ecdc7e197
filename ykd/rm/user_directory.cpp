// SPDX-License-Identifier: Apache-2.0
#include "ykd/rm/user_directory.h"

#include <set>
#include <utility>

#include "libcore/config/partition_names.h"
#include "libcore/placement/rule_chain.h"

namespace yk::service {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20; // of the answers in all resolvers of an RM

bool is_forced(const si::AddApplicationRequest& application) {
    Tags tags;
    for (const auto& [key, value] : application.tags) tags.push_back({key, value});
    return placement::is_forced(tags);
}

ResolvedUser sent_with(const si::AddApplicationRequest& application) {
    return {application.ugi.user, application.ugi.groups, {}};
}

/// Remembers the answer for this user, if the resolver has none that is valid.
void take(UserResolver& resolver, const ResolvedUser& sent, const LookedUp& answers, Instant now) {
    if (answers.empty() || !resolver.needs_lookup(sent, now)) return;
    if (const auto answer = answers.find(sent.user); answer != answers.end())
        resolver.remember(sent.user, answer->second, now);
}

} // namespace

std::size_t bytes_of(const LookedUp& answers) {
    std::size_t bytes = 0;
    for (const auto& [user, answer] : answers) bytes += bytes_of(user, answer);
    return bytes;
}

std::string UserDirectory::short_name(std::string_view partition) const {
    if (partition.empty()) return "default";
    const std::string prefix = "[" + rm_id_ + "]";
    if (partition.substr(0, prefix.size()) == prefix) partition.remove_prefix(prefix.size());
    return std::string{partition};
}

void UserDirectory::configure(const config::Configuration& config) {
    const std::lock_guard lock(mutex_);
    config::PartitionNames names;
    for (const auto& [name, known] : partitions_) names.add(name);
    std::map<std::string, Known> wanted;
    for (const config::Partition& partition : config.partitions) {
        const std::string& type = partition.user_group_resolver;
        const std::string& name = names.running(partition.name);
        const auto known = partitions_.find(name);
        if (known != partitions_.end() && known->second.type == type) {
            wanted.emplace(name, std::move(known->second));
            continue;
        }
        const auto made = wanted.emplace(name, Known{type, UserResolver{type == "os"}});
        made.first->second.resolver.set_validity(valid_);
    }
    for (auto& [name, known] : wanted) known.resolver.set_limit(kMaxBytes / wanted.size());
    partitions_ = std::move(wanted);
}

void UserDirectory::clear() {
    const std::lock_guard lock(mutex_);
    partitions_.clear();
}

void UserDirectory::set_validity(Duration valid) {
    const std::lock_guard lock(mutex_);
    valid_ = valid;
    for (auto& [name, known] : partitions_) known.resolver.set_validity(valid);
}

const UserResolver* UserDirectory::find(std::string_view partition) const {
    const auto known = partitions_.find(short_name(partition));
    return known == partitions_.end() ? nullptr : &known->second.resolver;
}

UserResolver* UserDirectory::find(std::string_view partition) {
    const auto known = partitions_.find(short_name(partition));
    return known == partitions_.end() ? nullptr : &known->second.resolver;
}

std::vector<std::string> UserDirectory::to_look_up(const si::ApplicationRequest& request, Instant now) const {
    std::set<std::string> users;
    const std::lock_guard lock(mutex_);
    for (const si::AddApplicationRequest& application : request.add) {
        const UserResolver* resolver = find(application.partition_name);
        if (resolver != nullptr && resolver->needs_lookup(sent_with(application), now))
            users.insert(application.ugi.user);
    }
    return {users.begin(), users.end()};
}

void UserDirectory::remember(const si::ApplicationRequest& request, const LookedUp& answers, Instant now) {
    if (answers.empty()) return;
    const std::lock_guard lock(mutex_);
    for (const si::AddApplicationRequest& application : request.add)
        if (UserResolver* resolver = find(application.partition_name))
            take(*resolver, sent_with(application), answers, now);
}

std::vector<std::string> UserDirectory::resolve(si::ApplicationRequest& request, const LookedUp& answers,
                                                Instant asked) {
    std::vector<std::string> faults(request.add.size());
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < faults.size(); ++i) {
        si::AddApplicationRequest& application = request.add[i];
        UserResolver* resolver = find(application.partition_name);
        if (resolver == nullptr) continue; // the core rejects the application
        ResolvedUser sent{std::move(application.ugi.user), std::move(application.ugi.groups), {}};
        take(*resolver, sent, answers, asked);
        ResolvedUser resolved = resolver->resolve(std::move(sent), is_forced(application), asked);
        application.ugi = {std::move(resolved.user), std::move(resolved.groups)};
        faults[i] = std::move(resolved.fault);
    }
    return faults;
}

bool UserDirectory::needs_lookup(std::string_view partition, const ResolvedUser& sent, Instant now) const {
    const std::lock_guard lock(mutex_);
    const UserResolver* resolver = find(partition);
    return resolver != nullptr && resolver->needs_lookup(sent, now);
}

ResolvedUser UserDirectory::preview(std::string_view partition, const ResolvedUser& sent, bool forced,
                                    const LookedUp& answers, Instant now) const {
    UserResolver one{false};
    {
        const std::lock_guard lock(mutex_);
        if (const UserResolver* resolver = find(partition)) one = resolver->only(sent.user);
    }
    take(one, sent, answers, now);
    return one.resolve(sent, forced, now);
}

} // namespace yk::service
