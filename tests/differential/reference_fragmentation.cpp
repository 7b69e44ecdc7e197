// SPDX-License-Identifier: Apache-2.0
// The measure of fragmentation and what is expected, each computed anew (devices-fragmentation.md sections 2 and 3).

#include <algorithm>
#include <limits>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

std::int64_t of(const Amounts& amounts, const std::string& type) {
    const auto found = amounts.find(type);
    return found == amounts.end() ? 0 : found->second;
}

/// The shortest list that holds 95 %: the commonest first, then those that ask for more, in the order of names (F-020).
std::vector<ExpectedAsks> commonest(std::vector<ExpectedAsks> kinds, const std::string& measured) {
    const auto amounts = [&measured](const ExpectedAsks& kind) {
        Amounts all = kind.others;
        all[measured] = kind.amount;
        return all;
    };
    std::int64_t total = 0, held = 0;
    for (const ExpectedAsks& each : kinds) total += each.weight;
    std::sort(kinds.begin(), kinds.end(), [&](const ExpectedAsks& a, const ExpectedAsks& b) {
        if (a.weight != b.weight) return a.weight > b.weight;
        if (amounts(a) != amounts(b))
            return amounts(a) > amounts(b); // of the same types, so that the first difference decides
        return (a.stated ? a.stated->count : 0) > (b.stated ? b.stated->count : 0);
    });
    std::vector<ExpectedAsks> list;
    for (const ExpectedAsks& each : kinds) {
        if (held * 100 >= total * 95) break;
        held += each.weight;
        list.push_back(each);
    }
    return list;
}

bool holds(const std::vector<ExpectedAsks>& list, const ExpectedAsks& kind) {
    return std::any_of(list.begin(), list.end(), [&kind](const ExpectedAsks& each) { return each.is_like(kind); });
}

} // namespace

// --- what is expected (F-020, F-021) --------------------------------------------------------------------------------

void Partition::learn(const Ask& ask) {
    ++arrivals_since_;
    for (Arrivals& each : arrived_)
        if (each.resource == ask.resource && each.stated == ask.stated) return static_cast<void>(++each.count);
    arrived_.push_back({ask.resource, ask.stated, 1});
}

void Partition::halve_what_was_learnt(Instant now) {
    for (; half_life_ && next_halving_ <= now; next_halving_ = next_halving_ + *half_life_) {
        for (Arrivals& each : arrived_) each.count /= 2;
        workload_changed_ = workload_changed_ || config_.fragmentation.workload.empty();
    }
}

void Partition::configure_workload(Instant now) {
    if (half_life_ != config_.fragmentation.half_life) {
        half_life_ = config_.fragmentation.half_life;
        next_halving_ = now + *half_life_;
    }
    workload_changed_ = true;
    renew_workload();
}

std::string Partition::measured_resource() const {
    if (!config_.fragmentation.resource.empty()) return config_.fragmentation.resource;
    std::set<std::string> in_devices;
    for (const auto& [id, node] : nodes_)
        for (const auto& [type, devices] : node.devices) in_devices.insert(type);
    if (!in_devices.empty()) return *in_devices.begin();
    std::map<std::string, std::int64_t> asks;
    const auto add = [&asks](const Amounts& resource, std::int64_t count) {
        for (const auto& [type, amount] : resource)
            if (amount > 0 && type != "vcore" && type != "memory") asks[type] += count;
    };
    if (config_.fragmentation.workload.empty())
        for (const Arrivals& each : arrived_) add(each.resource, each.count);
    else
        for (const config::ExpectedAsks& each : config_.fragmentation.workload)
            add(each.resources, static_cast<std::int64_t>(each.weight));
    std::string most = "vcore";
    std::int64_t count = 0;
    for (const auto& [type, number] : asks)
        if (number > count) {
            most = type;
            count = number;
        }
    return most;
}

Workload Partition::learnt_workload() const {
    const std::string measured = measured_resource();
    std::vector<std::string> others = config_.fragmentation.others;
    if (others.empty()) others = {"vcore"};
    std::vector<ExpectedAsks> kinds;
    const auto add = [&](ExpectedAsks kind, const Amounts& resource) {
        kind.amount = of(resource, measured);
        for (const std::string& type : others)
            if (type != measured) kind.others[type] = of(resource, type);
        for (ExpectedAsks& each : kinds)
            if (config_.fragmentation.workload.empty() && each.is_like(kind)) {
                each.weight += kind.weight;
                return;
            }
        kinds.push_back(kind);
    };
    if (!config_.fragmentation.workload.empty()) {
        for (const config::ExpectedAsks& each : config_.fragmentation.workload) {
            ExpectedAsks kind;
            kind.weight = static_cast<std::int64_t>(each.weight);
            kind.attributes = each.attributes;
            if (const auto stated = each.devices.find(measured); stated != each.devices.end())
                kind.stated = DevicePart{stated->second.count, stated->second.each};
            add(kind, each.resources);
        }
        return {measured, kinds};
    }
    for (const Arrivals& each : arrived_) {
        ExpectedAsks kind;
        kind.weight = each.count;
        if (const auto stated = each.stated.find(measured); stated != each.stated.end()) kind.stated = stated->second;
        add(kind, each.resource);
    }
    return {measured, commonest(kinds, measured)};
}

/// At the beginning of a cycle, when what is expected has changed.
void Partition::renew_workload() {
    if (!by_fragmentation()) return;
    Workload now = learnt_workload();
    bool renew = std::exchange(workload_changed_, false);
    if (config_.fragmentation.workload.empty() && arrivals_since_ > 0) {
        std::int64_t total = 0;
        for (const Arrivals& each : arrived_) total += each.count;
        bool other = now.asks.size() != workload_.asks.size();
        for (const ExpectedAsks& each : now.asks) other = other || !holds(workload_.asks, each);
        renew = renew || arrivals_since_ * 100 >= total * 5 || (arrivals_since_ * 100 >= total && other);
    }
    if (!renew) return;
    workload_ = std::move(now);
    arrivals_since_ = 0;
}

// --- the measure (F-022, F-023) -------------------------------------------------------------------------------------

IdleNode Partition::idle_of(const Node& node) const {
    IdleNode idle{&node, {}, {}};
    const Amounts free = available(node);
    for (const auto& [type, amount] : free) idle.others[type] = std::max<std::int64_t>(amount, 0);
    const auto devices = node.devices.find(workload_.resource);
    if (devices == node.devices.end()) {
        idle.left.push_back(of(idle.others, workload_.resource));
        return idle;
    }
    for (std::size_t index = 0; index < devices->second.size(); ++index) {
        const Device& device = devices->second[index];
        const std::int64_t left = device.size - used(node, workload_.resource, static_cast<std::int64_t>(index));
        idle.left.push_back(device.lost ? 0 : std::max<std::int64_t>(left, 0));
    }
    return idle;
}

double Partition::fragments(const IdleNode& idle) const {
    const auto devices = idle.node->devices.find(workload_.resource);
    const bool in_devices = devices != idle.node->devices.end();
    double all = 0, sum = 0;
    for (const std::int64_t each : idle.left) all += static_cast<double>(each);
    for (const ExpectedAsks& kind : workload_.asks) {
        bool fits = kind.amount > 0 && !(in_devices && in_conflict(*idle.node));
        for (const auto& [key, value] : kind.attributes) {
            std::string has;
            for (const auto& [name, text] : idle.node->attributes)
                if (name == key) has = text;
            fits = fits && has == value;
        }
        for (const auto& [type, amount] : kind.others) fits = fits && amount <= of(idle.others, type);
        DevicePart part{1, kind.amount};
        if (in_devices) part = kind.stated ? *kind.stated : part_of(devices->second, kind.amount);
        std::int64_t enough = 0;
        double too_small = 0;
        for (const std::int64_t each : idle.left) {
            if (each >= part.each)
                ++enough;
            else
                too_small += static_cast<double>(each);
        }
        fits = fits && part.count > 0 && enough >= part.count;
        sum += static_cast<double>(kind.weight) * (fits ? too_small : all);
    }
    return sum;
}

/// The fewest fragments that the ask can leave, and on which device it leaves them; -1: it does not matter (F-030).
std::pair<double, std::int64_t> Partition::best_after(const Node& node, const Ask& ask) const {
    IdleNode idle = idle_of(node);
    for (auto& [type, amount] : idle.others) amount = std::max<std::int64_t>(amount - of(ask.resource, type), 0);
    const std::int64_t amount = of(ask.resource, workload_.resource);
    if (amount <= 0) return {fragments(idle), -1};
    if (node.devices.count(workload_.resource) == 0) {
        idle.left[0] = std::max<std::int64_t>(idle.left[0] - amount, 0);
        return {fragments(idle), -1};
    }
    const DevicePart part = wanted_part(node, workload_.resource, ask);
    const std::set<std::int64_t> free = free_devices(node, workload_.resource, part);
    if (part.count != 1 || part.each == whole_size(node.devices.at(workload_.resource))) {
        for (const std::int64_t index : chosen(node, workload_.resource, part, free))
            idle.left[static_cast<std::size_t>(index)] -= part.each;
        return {fragments(idle), -1};
    }
    std::pair<double, std::int64_t> best{std::numeric_limits<double>::infinity(), -1};
    for (const std::int64_t index : free) {
        IdleNode then = idle;
        then.left[static_cast<std::size_t>(index)] -= part.each;
        if (const double left = fragments(then); left < best.first) best = {left, index};
    }
    return best;
}

/// 4 % of the commonest device, or where there is none of the amount that is asked for most.
double Partition::quantum() const {
    std::map<std::int64_t, std::int64_t> sizes;
    double weights = 0;
    for (const ExpectedAsks& each : workload_.asks) weights += static_cast<double>(each.weight);
    for (const auto& [id, node] : nodes_)
        if (const auto devices = node.devices.find(workload_.resource); devices != node.devices.end())
            sizes[whole_size(devices->second)] += static_cast<std::int64_t>(node.listed.at(workload_.resource));
    const auto most_of = [&sizes] {
        std::int64_t commonest = 0, most = 0;
        for (const auto& [size, count] : sizes)
            if (count > 0 && count >= most) {
                commonest = size;
                most = count;
            }
        return commonest;
    };
    std::int64_t commonest = most_of();
    if (commonest == 0) {
        sizes.clear();
        for (const ExpectedAsks& each : workload_.asks)
            if (each.amount > 0) sizes[each.amount] += each.weight;
        commonest = most_of();
    }
    return std::max(static_cast<double>(commonest) * 0.04 * weights, 1.0);
}

Partition::DevicesByType Partition::better_devices(const Node& node, const Ask& ask) const {
    if (!by_fragmentation() || node.devices.empty()) return {};
    const std::int64_t index = best_after(node, ask).second;
    return index < 0 ? DevicesByType{} : DevicesByType{{workload_.resource, {index}}};
}

} // namespace yk::reference
