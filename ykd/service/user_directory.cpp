#include "ykd/service/user_directory.h"

#include <utility>

#include "libcore/config/partition_names.h"
#include "libcore/placement/rule_chain.h"

namespace yk::service {

namespace {

bool is_forced(const si::AddApplicationRequest& application) {
    Tags tags;
    for (const auto& [key, value] : application.tags) tags.push_back({key, value});
    return placement::is_forced(tags);
}

} // namespace

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
        const auto made = wanted.emplace(name, Known{type, UserResolver{type == "os" ? system_ : nullptr}});
        made.first->second.resolver.set_validity(valid_);
    }
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

void UserDirectory::look_up(const si::ApplicationRequest& request, Instant now) {
    for (const si::AddApplicationRequest& application : request.add) {
        const std::string partition = short_name(application.partition_name);
        const auto find = [&]() -> UserResolver* { // under the lock
            const auto known = partitions_.find(partition);
            if (known == partitions_.end()) return nullptr;
            UserResolver& resolver = known->second.resolver;
            return resolver.needs_lookup({application.ugi.user, application.ugi.groups, {}}, now) ? &resolver : nullptr;
        };
        {
            const std::lock_guard lock(mutex_);
            if (find() == nullptr) continue;
        }
        GroupsAnswer answer = system_(application.ugi.user);
        const std::lock_guard lock(mutex_);
        if (UserResolver* resolver = find()) resolver->remember(application.ugi.user, std::move(answer), now);
    }
}

std::vector<std::string> UserDirectory::resolve(si::ApplicationRequest& request, Instant now) {
    std::vector<std::string> faults(request.add.size());
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < faults.size(); ++i) {
        si::AddApplicationRequest& application = request.add[i];
        const auto known = partitions_.find(short_name(application.partition_name));
        if (known == partitions_.end()) continue; // the core says so
        ResolvedUser sent{std::move(application.ugi.user), std::move(application.ugi.groups), {}};
        ResolvedUser resolved = known->second.resolver.resolve(std::move(sent), is_forced(application), now);
        application.ugi = {std::move(resolved.user), std::move(resolved.groups)};
        faults[i] = std::move(resolved.fault);
    }
    return faults;
}

ResolvedUser UserDirectory::preview(std::string_view partition, const ResolvedUser& sent, bool forced,
                                    Instant now) const {
    UserResolver one{nullptr};
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = partitions_.find(short_name(partition)); known != partitions_.end())
            one = known->second.resolver.only(sent.user);
    }
    return one.resolve(sent, forced, now);
}

} // namespace yk::service
