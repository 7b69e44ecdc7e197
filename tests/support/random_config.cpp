#include "tests/support/random_config.h"

#include <fmt/format.h>

#include "tests/support/player.h"

namespace yk::testing {

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
    partitions_.push_back(new_partition("default"));
    if (random_.chance(15)) partitions_.push_back(new_partition("second"));
    make_valid();
}

RandomConfig::Partition RandomConfig::new_partition(const std::string& name) {
    Partition partition;
    partition.name = name;
    partition.root = new_queue("root", static_cast<int>(random_.between(1, 4)));
    partition.root.parent = true;
    partition.root.max.clear();
    partition.root.guaranteed.clear();
    partition.policy = random_.chance(50) ? "fair" : "binpacking";
    if (random_.chance(30))
        for (const std::string& type : types_) partition.weights[type] = random_.between(0, 4);
    return partition;
}

/// `depth`: levels below this one at most.
RandomConfig::Queue RandomConfig::new_queue(const std::string& name, int depth) {
    Queue queue;
    queue.name = name;
    if (depth > 0) {
        const std::int64_t count = random_.between(1, name == "root" ? 4 : 3);
        for (std::int64_t i = 0; i < count; ++i)
            queue.children.push_back(new_queue(fmt::format("q{}", serial_++), random_.chance(60) ? depth - 1 : 0));
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
    if (random_.chance(8)) {
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

// --- text -----------------------------------------------------------------------------------------------------------

namespace {

std::string text_of(const std::map<std::string, std::int64_t>& amounts) {
    std::string text;
    for (const auto& [type, value] : amounts)
        text += fmt::format("{}{}: {}{}", text.empty() ? "" : ", ", type, value, type == "vcore" ? "m" : "");
    return "{" + text + "}";
}

} // namespace

std::string RandomConfig::text_of(const Queue& queue) {
    std::string text = "{name: " + queue.name;
    if (queue.name == "root") text += ", submitacl: '*'";
    if (queue.parent) text += ", parent: true";
    if (queue.max_applications != 0) text += fmt::format(", maxapplications: {}", queue.max_applications);
    if (!queue.max.empty() || !queue.guaranteed.empty()) {
        text += ", resources: {";
        if (!queue.guaranteed.empty()) text += "guaranteed: " + testing::text_of(queue.guaranteed);
        if (!queue.max.empty() && !queue.guaranteed.empty()) text += ", ";
        if (!queue.max.empty()) text += "max: " + testing::text_of(queue.max);
        text += "}";
    }
    if (!queue.properties.empty()) {
        std::string properties;
        for (const auto& [key, value] : queue.properties)
            properties += fmt::format("{}{}: '{}'", properties.empty() ? "" : ", ", key, value);
        text += ", properties: {" + properties + "}";
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
        text += fmt::format("{}{{name: {}, queues: [{}], preemption: {{{}}}, nodesortpolicy: {{type: {}",
                            text.empty() ? "" : ", ", partition.name, text_of(partition.root), preemption,
                            partition.policy);
        if (!partition.weights.empty()) {
            std::string weights;
            for (const auto& [type, weight] : partition.weights)
                weights += fmt::format("{}{}: {}.0", weights.empty() ? "" : ", ", type, weight);
            text += ", resourceweights: {" + weights + "}";
        }
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
    switch (random_.between(0, 4)) {
    case 0:
        if (!queue.children.empty())
            queue.children.erase(queue.children.begin() +
                                 random_.between(0, static_cast<std::int64_t>(queue.children.size()) - 1));
        queue.parent = queue.parent || queue.children.empty();
        break;
    case 1:
        if (!queue.children.empty() || random_.chance(20))
            queue.children.push_back(new_queue(fmt::format("q{}", serial_++), 1));
        break;
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
            partition.policy = partition.policy == "fair" ? "binpacking" : "fair";
        else if (what == 1)
            partition.weights[random_.of(types_)] = random_.between(0, 4);
        else if (what == 2 && partitions_.size() == 2)
            partitions_.pop_back();
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
