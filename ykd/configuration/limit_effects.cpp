// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/limit_effects.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/few_of.h"
#include "libcore/base/pluralize.h"
#include "libcore/config/names.h"
#include "libcore/config/quantity.h"

namespace yk::service {
namespace {

/// Whether `used` exceeds `max` in any resource type that `max` names.
bool is_over(const Resource& used, const Limit& max) {
    bool over = false;
    max.bounds().for_each([&](ResourceId id, std::int64_t bound) { over = over || used.get(id) > bound; });
    return over;
}

std::string group_text(const std::string& name) {
    return name.empty() ? "no group" : "group " + name;
}

bool same_limits(const config::Queue& before, const config::Queue& now) {
    ResourceNames names;
    const LimitTable a{before, names}, b{now, names};
    return std::equal(a.queues().begin(), a.queues().end(), b.queues().begin(), b.queues().end(),
                      [](const auto& left, const auto& right) {
                          return left.first == right.first && left.second.users == right.second.users &&
                                 left.second.groups == right.second.groups;
                      });
}

} // namespace

LimitEffects::LimitEffects(const config::Queue& before, const config::Queue& now,
                           const std::vector<ChargedApplicationView>& applications)
    : before_(before, names_), now_(now, names_) {
    std::vector<const ChargedApplicationView*> by_name;
    by_name.reserve(applications.size());
    for (const ChargedApplicationView& each : applications) by_name.push_back(&each);
    std::sort(by_name.begin(), by_name.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
    for (const ChargedApplicationView* each : by_name) count(*each);
}

void LimitEffects::count(const ChargedApplicationView& application) {
    Resource usage;
    for (const auto& [type, amount] : application.usage)
        if (const ResourceId id = names_.intern(type); id != ResourceNames::npos) usage.set(id, amount);
    add({false, application.user}, application, usage, false);
    const std::string group{now_.group_of(application.queue, application.groups)};
    if (group != application.group) moved_[{application.group, group}].push_back(application.id);
    if (!group.empty()) add({true, group}, application, usage, group != application.group);
}

/// Adds the application's usage to the sums of `who` in its queue and in each queue above, where `who` has a limit now
/// (C-400, C-405). `joins`: it counts for another group today.
void LimitEffects::add(const Who& who, const ChargedApplicationView& application, const Resource& usage, bool joins) {
    for (std::string_view path = application.queue; !path.empty(); path = parent_path(path)) {
        if (limit_of(now_, path, who) == nullptr) continue;
        auto here = sums_.find(path);
        if (here == sums_.end()) here = sums_.try_emplace(std::string{path}).first;
        Sum& sum = here->second[who];
        sum.usage.add(usage);
        if (application.running) sum.running.push_back(application.id);
        sum.joined = sum.joined || joins;
    }
}

const UsageLimit* LimitEffects::limit_of(const LimitTable& table, std::string_view path, const Who& who) {
    return who.group ? table.for_group(path, who.name) : table.for_user(path, who.name);
}

std::vector<LimitEffects::Change> LimitEffects::over(const std::string& path) const {
    std::vector<Change> changes;
    const auto here = sums_.find(path);
    if (here == sums_.end()) return changes;
    for (const auto& [who, sum] : here->second) {
        const UsageLimit& limit = *limit_of(now_, path, who);
        const UsageLimit* former = limit_of(before_, path, who);
        const std::string name = (who.group ? "group " : "user ") + who.name;
        const bool other_max = former == nullptr || !former->max.same_as(limit.max);
        if ((other_max || sum.joined) && is_over(sum.usage, limit.max)) {
            const std::string used = config::written_resource(named(sum.usage));
            const std::string max = config::written_resource(named(limit.max.bounds()));
            changes.push_back({used, max,
                               fmt::format("{} has {}, above the {}limit {}; applications: {}", name, used,
                                           other_max ? "new " : "", max, few_of(sum.running))});
        }
        const bool other_count = former == nullptr || former->max_applications != limit.max_applications;
        if ((other_count || sum.joined) && limit.max_applications != 0 && sum.running.size() > limit.max_applications)
            changes.push_back(
                {std::to_string(sum.running.size()), std::to_string(limit.max_applications),
                 fmt::format("{} runs {}, above the {}limit {}: {}", name, pluralize(sum.running.size(), "application"),
                             other_count ? "new " : "", limit.max_applications, few_of(sum.running))});
    }
    return changes;
}

std::vector<LimitEffects::Change> LimitEffects::moves() const {
    std::vector<Change> changes;
    for (const auto& [groups, applications] : moved_)
        changes.push_back({groups.first, groups.second,
                           fmt::format("{} application{} for {} instead of {}: {}", applications.size(),
                                       applications.size() == 1 ? " counts" : "s count", group_text(groups.second),
                                       group_text(groups.first), few_of(applications))});
    return changes;
}

config::ResourceMap LimitEffects::named(const Resource& amounts) const {
    config::ResourceMap map;
    amounts.for_each([&](ResourceId id, std::int64_t value) { map.emplace(names_.name(id), value); });
    return map;
}

bool changes_limits(const config::Configuration& before, const config::Configuration& now) {
    return std::any_of(now.partitions.begin(), now.partitions.end(), [&](const config::Partition& wanted) {
        const auto known =
            std::find_if(before.partitions.begin(), before.partitions.end(), [&](const config::Partition& one) {
                return config::lower(one.name) == config::lower(wanted.name);
            });
        return known != before.partitions.end() && !same_limits(known->root, wanted.root);
    });
}

} // namespace yk::service
