// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_config.h"

#include <utility>

#include <fmt/format.h>

#include "libcore/policies/node_sort_policy.h"
#include "tests/support/player.h"

namespace yk::testing {

namespace {

/// The name of any node sort policy there is but `former`.
std::string another_policy(Random& random, std::string_view former = {}) {
    std::vector<std::string> names;
    for (const NodeSortPolicy& policy : node_sort_policies())
        if (policy.name != former) names.emplace_back(policy.name);
    return random.of(names);
}

} // namespace

std::uint64_t Random::next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

std::int64_t Random::between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most - least + 1));
}

RandomConfig::RandomConfig(Random& random, std::vector<std::string> types, std::int64_t scale, bool preemption)
    : random_(random), types_(std::move(types)), scale_(scale), preemption_(preemption) {
    backoff_ = random_.chance(25) ? 60 : 5;
    partitions_.push_back(new_partition("default"));
    if (random_.chance(15)) partitions_.push_back(new_partition("second"));
    make_valid();
    if (random_.chance(60)) limited_ = static_cast<int>(random_.between(10, 80));
    for (Partition& partition : partitions_) add_user_limits(partition.root, true);
}

RandomConfig::Partition RandomConfig::new_partition(const std::string& name) {
    Partition partition;
    partition.name = name;
    partition.root = new_queue("root", static_cast<int>(random_.between(1, 4)));
    partition.root.parent = true;
    partition.root.max.clear();
    partition.root.guaranteed.clear();
    partition.policy = another_policy(random_);
    if (random_.chance(30))
        for (const std::string& type : types_) partition.weights[type] = random_.between(0, 4);
    partition.fragmentation = new_fragmentation();
    return partition;
}

/// With a workload that is given, or else with one that is learnt.
std::string RandomConfig::new_fragmentation() {
    std::string text;
    const auto add = [&text](const std::string& entry) { text += (text.empty() ? "" : ", ") + entry; };
    if (random_.chance(40)) return text;
    if (random_.chance(30)) add("halflife: " + std::to_string(random_.between(1, 30)) + "s");
    const std::string measured = random_.chance(40) ? random_.of(types_) : "";
    if (!measured.empty()) add("resource: " + measured);
    if (const std::string other = random_.of(types_); other != measured && random_.chance(40))
        add("others: ['no-such', " + other + "]");
    if (random_.chance(50)) {
        std::string asks;
        for (std::int64_t left = random_.between(1, 5); left > 0; --left) {
            std::string resources;
            for (const std::string& type : types_)
                if (random_.chance(60))
                    resources += fmt::format("{}{}: {}", resources.empty() ? "" : ", ", type,
                                             random_.between(1, scale_ / 4 + 1));
            if (resources.empty()) resources = types_.front() + ": 1";
            asks += fmt::format("{}{{resources: {{{}}}, weight: {}}}", asks.empty() ? "" : ", ", resources,
                                random_.between(1, 9));
        }
        add("workload: [" + asks + "]");
    }
    return text;
}

std::string RandomConfig::new_name() { // now and then with a capital letter (C-426)
    return fmt::format("{}{}", random_.chance(10) ? 'Q' : 'q', serial_++);
}

/// `depth`: levels below this one at most.
RandomConfig::Queue RandomConfig::new_queue(const std::string& name, int depth) {
    Queue queue;
    queue.name = name;
    if (depth > 0) {
        const std::int64_t count = random_.between(1, name == "root" ? 4 : 3);
        for (std::int64_t i = 0; i < count; ++i)
            queue.children.push_back(new_queue(new_name(), random_.chance(60) ? depth - 1 : 0));
    }
    new_limits(queue);
    return queue;
}

void RandomConfig::new_limits(Queue& queue) {
    queue.max.clear();
    queue.guaranteed.clear();
    queue.properties.clear();
    queue.max_applications = random_.chance(15) ? random_.between(1, 4) : 0;
    for (const std::string& type : types_) {
        if (random_.chance(25)) queue.max[type] = random_.between(random_.chance(10) ? 0 : scale_ / 2, scale_ * 8);
        if (random_.chance(25)) queue.guaranteed[type] = random_.between(1, scale_ * 2);
    }
    if (random_.chance(30)) queue.properties["application.sort.policy"] = random_.chance(70) ? "fair" : "fifo";
    if (random_.chance(15)) queue.properties["application.sort.priority"] = random_.chance(80) ? "disabled" : "enabled";
    if (random_.chance(backoff_)) {
        queue.properties["application.unschedasks.backoff"] = std::to_string(random_.between(1, 3));
        if (random_.chance(50)) queue.properties["application.unschedasks.backoff.delay"] = "1500ms";
    }
    if (preemption_) new_preemption(queue);
}

void RandomConfig::new_preemption(Queue& queue) {
    for (const std::string& type : types_)
        if (random_.chance(40)) queue.guaranteed[type] = random_.between(scale_ / 2, scale_ * 2);
    if (random_.chance(30)) queue.properties["preemption.policy"] = random_.chance(60) ? "fence" : "disabled";
    queue.properties["preemption.delay"] = random_.chance(80) ? "10ms" : "2s";
    if (random_.chance(50)) queue.properties["quota.preemption.delay"] = random_.chance(80) ? "100ms" : "5s";
    if (random_.chance(25)) queue.properties["priority.offset"] = std::to_string(random_.between(-3, 3));
    if (random_.chance(15)) queue.properties["priority.policy"] = "fence";
}

std::vector<std::string> RandomConfig::some_names(std::vector<std::string> all) {
    std::vector<std::string> some;
    all.pop_back(); // never named
    while (!all.empty() && random_.chance(60)) {
        const auto at = random_.between(0, static_cast<std::int64_t>(all.size()) - 1);
        some.push_back(all[static_cast<std::size_t>(at)]);
        all.erase(all.begin() + at);
    }
    return some;
}

/// Each name at most once, `*` last (C-094, C-095); looser near the root, so that what is below can be valid (C-110).
void RandomConfig::new_user_limits(Queue& queue, bool is_root) {
    queue.limits.clear();
    auto users = some_names(RandomConfig::users()), groups = some_names(RandomConfig::groups());
    if (random_.chance(50)) users.emplace_back("*");
    if (random_.chance(50) && !groups.empty()) groups.emplace_back("*");
    const std::int64_t least = is_root ? scale_ / 2 : scale_ / 6, most = is_root ? scale_ * 5 : scale_ * 2;
    while (!users.empty() || !groups.empty()) {
        Limit limit;
        for (auto [from, to] : {std::pair{&users, &limit.users}, std::pair{&groups, &limit.groups}}) {
            const auto count = random_.between(0, static_cast<std::int64_t>(from->size()));
            to->assign(from->begin(), from->begin() + count);
            from->erase(from->begin(), from->begin() + count);
        }
        if (limit.users.empty() && limit.groups.empty()) continue;
        for (const std::string& type : types_)
            if (random_.chance(50)) limit.max[type] = random_.between(least + 1, most + 1);
        if (limit.max.size() > 1 && random_.chance(5)) limit.max.begin()->second = 0; // forbidden (C-097)
        if (limit.max.empty() || random_.chance(40)) limit.max_applications = random_.between(1, is_root ? 6 : 3);
        queue.limits.push_back(std::move(limit));
    }
}

/// Of `queue` and what is below it, where the loader agrees.
void RandomConfig::add_user_limits(Queue& queue, bool is_root) {
    for (int attempt = 0; attempt < 4 && random_.chance(limited_); ++attempt) {
        new_user_limits(queue, is_root);
        if (is_valid()) break;
        queue.limits.clear();
    }
    for (Queue& child : queue.children) add_user_limits(child, false);
}

// --- text -----------------------------------------------------------------------------------------------------------

namespace {

std::string amounts_text(const std::map<std::string, std::int64_t>& amounts) {
    std::string text;
    for (const auto& [type, value] : amounts)
        text += fmt::format("{}{}: {}{}", text.empty() ? "" : ", ", type, value, type == "vcore" ? "m" : "");
    return "{" + text + "}";
}

} // namespace

std::string RandomConfig::text_of(const Limit& limit) {
    std::vector<std::string> parts;
    const auto list = [](const std::vector<std::string>& names) {
        return names.empty() ? std::string{} : fmt::format("'{}'", fmt::join(names, "', '"));
    };
    if (!limit.users.empty()) parts.push_back(fmt::format("users: [{}]", list(limit.users)));
    if (!limit.groups.empty()) parts.push_back(fmt::format("groups: [{}]", list(limit.groups)));
    if (!limit.max.empty()) parts.push_back("maxresources: " + amounts_text(limit.max));
    if (limit.max_applications != 0) parts.push_back(fmt::format("maxapplications: {}", limit.max_applications));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string RandomConfig::text_of(const Queue& queue) {
    std::string text = "{name: " + queue.name;
    if (queue.name == "root") text += ", submitacl: '*'";
    if (queue.parent) text += ", parent: true";
    if (queue.max_applications != 0) text += fmt::format(", maxapplications: {}", queue.max_applications);
    if (!queue.max.empty() || !queue.guaranteed.empty()) {
        text += ", resources: {";
        if (!queue.guaranteed.empty()) text += "guaranteed: " + amounts_text(queue.guaranteed);
        if (!queue.max.empty() && !queue.guaranteed.empty()) text += ", ";
        if (!queue.max.empty()) text += "max: " + amounts_text(queue.max);
        text += "}";
    }
    if (!queue.properties.empty()) {
        std::string properties;
        for (const auto& [key, value] : queue.properties)
            properties += fmt::format("{}{}: '{}'", properties.empty() ? "" : ", ", key, value);
        text += ", properties: {" + properties + "}";
    }
    if (!queue.limits.empty()) {
        std::vector<std::string> limits;
        for (const Limit& limit : queue.limits) limits.push_back(text_of(limit));
        text += fmt::format(", limits: [{}]", fmt::join(limits, ", "));
    }
    if (!queue.children.empty()) {
        text += ", queues: [";
        for (std::size_t i = 0; i < queue.children.size(); ++i)
            text += (i == 0 ? "" : ", ") + text_of(queue.children[i]);
        text += "]";
    }
    return text + "}";
}

std::string RandomConfig::text() const {
    std::string text;
    for (const Partition& partition : partitions_) {
        const char* preemption = preemption_ ? "quotapreemptionenabled: true" : "enabled: false";
        std::string name = partition.name;
        if (partition.capital) name[0] = 'S';
        text += fmt::format("{}{{name: {}, queues: [{}], preemption: {{{}}}, nodesortpolicy: {{type: {}",
                            text.empty() ? "" : ", ", name, text_of(partition.root), preemption, partition.policy);
        if (!partition.weights.empty()) {
            std::string weights;
            for (const auto& [type, weight] : partition.weights)
                weights += fmt::format("{}{}: {}.0", weights.empty() ? "" : ", ", type, weight);
            text += ", resourceweights: {" + weights + "}";
        }
        if (!partition.fragmentation.empty()) text += ", fragmentation: {" + partition.fragmentation + "}";
        text += "}}";
    }
    return "partitions: [" + text + "]";
}

// --- changes --------------------------------------------------------------------------------------------------------

bool RandomConfig::is_valid() const {
    return load_configuration(text()).ok();
}

void RandomConfig::strip(Queue& queue, int what) {
    if (what == 0) queue.guaranteed.clear();
    if (what == 1) queue.max_applications = 0;
    if (what == 2) queue.max.clear();
    for (Queue& child : queue.children) strip(child, what);
}

void RandomConfig::make_valid() {
    for (int what = 0; what < 3 && !is_valid(); ++what)
        for (Partition& partition : partitions_) strip(partition.root, what);
}

RandomConfig::Queue& RandomConfig::some(Queue& queue) {
    if (queue.children.empty() || random_.chance(25)) return queue;
    return some(random_.of(queue.children));
}

void RandomConfig::change_queue(Partition& partition) {
    Queue& queue = some(partition.root);
    const bool is_root = &queue == &partition.root;
    switch (random_.between(0, limited_ == 0 ? 4 : 7)) {
    case 0:
        if (!queue.children.empty())
            queue.children.erase(queue.children.begin() +
                                 random_.between(0, static_cast<std::int64_t>(queue.children.size()) - 1));
        queue.parent = queue.parent || queue.children.empty();
        break;
    case 1:
        if (!queue.children.empty() || random_.chance(20)) queue.children.push_back(new_queue(new_name(), 1));
        break;
    case 5:
    case 6: new_user_limits(queue, is_root); break;
    case 7: queue.limits.clear(); break;
    default: {
        const bool parent = queue.parent;
        new_limits(queue);
        queue.parent = parent;
        if (is_root) {
            queue.max.clear();
            queue.guaranteed.clear();
        }
    }
    }
}

void RandomConfig::change() {
    for (int attempt = 0; attempt < 10; ++attempt) {
        const std::vector<Partition> before = partitions_;
        Partition& partition = random_.of(partitions_);
        const std::int64_t what = random_.between(0, 9);
        if (what == 0)
            partition.policy = another_policy(random_, partition.policy);
        else if (what == 1)
            partition.weights[random_.of(types_)] = random_.between(0, 4);
        else if (what == 3)
            partition.fragmentation = new_fragmentation();
        else if (what == 2 && partitions_.size() == 2 && random_.chance(50))
            partitions_.pop_back();
        else if (what == 2 && partitions_.size() == 2)
            partitions_.back().capital = !partitions_.back().capital;
        else if (what == 2 && random_.chance(30))
            partitions_.push_back(new_partition("second"));
        else
            change_queue(partition);
        if (is_valid()) return;
        partitions_ = before;
    }
}

void RandomConfig::leaves(const Queue& queue, const std::string& path, std::vector<std::string>& found) {
    if (queue.children.empty() && !queue.parent) found.push_back(path);
    for (const Queue& child : queue.children) leaves(child, path + "." + child.name, found);
}

std::string RandomConfig::some_queue(const std::string& partition) {
    if (random_.chance(3)) return "root";
    if (random_.chance(3)) return "root.nowhere";
    std::vector<std::string> found;
    for (const Partition& p : partitions_)
        if (p.name == partition) leaves(p.root, "root", found);
    return found.empty() ? "root.nowhere" : random_.of(found);
}

std::vector<std::string> RandomConfig::partitions() const {
    std::vector<std::string> names;
    for (const Partition& partition : partitions_) names.push_back(partition.name);
    return names;
}

} // namespace yk::testing
