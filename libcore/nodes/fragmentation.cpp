// SPDX-License-Identifier: Apache-2.0
#include "libcore/nodes/fragmentation.h"

#include <algorithm>
#include <limits>

#include "libcore/base/check.h"

namespace yk {
namespace {

double other_of(const WorkloadShape& shape) {
    return shape.others.empty() ? 0.0 : static_cast<double>(shape.others[0]);
}

} // namespace

double IdleNode::idle() const noexcept {
    double sum = 0;
    for (std::size_t at = 0; at < devices; ++at) sum += static_cast<double>(left[at]);
    return sum;
}

void Fragmentation::set(Workload workload) {
    YK_ASSUME(workload.others.size() <= Workload::kMostOthers, "so many resources are weighed at most");
    workload_ = std::move(workload);
    weights_ = 0;
    is_plain_ = workload_.others.size() <= 1;
    std::vector<double> amounts, others;
    for (const WorkloadShape& each : workload_.shapes) {
        weights_ += static_cast<double>(each.weight);
        is_plain_ = is_plain_ && each.attributes.empty();
        amounts.push_back(static_cast<double>(each.amount));
        others.push_back(other_of(each));
    }
    amounts_.set(std::move(amounts));
    others_.set(std::move(others));
    is_plain_ = is_plain_ && (amounts_.count() + 1) * (others_.count() + 1) <= kMostCells;
    fitting_.clear();
    if (is_plain_) make_table();
}

/// A shape fits where at least as many amounts are not above what is left as are not above its own.
void Fragmentation::make_table() {
    const std::size_t width = others_.count() + 1;
    fitting_.assign((amounts_.count() + 1) * width, 0);
    for (const WorkloadShape& each : workload_.shapes)
        if (each.amount > 0)
            fitting_[amounts_.up_to(static_cast<double>(each.amount)) * width + others_.up_to(other_of(each))] +=
                static_cast<double>(each.weight);
    for (std::size_t at = 0; at < fitting_.size(); ++at) {
        const bool has_left = at % width != 0, has_above = at >= width;
        if (has_left) fitting_[at] += fitting_[at - 1];
        if (has_above) fitting_[at] += fitting_[at - width];
        if (has_left && has_above) fitting_[at] -= fitting_[at - width - 1];
    }
}

IdleNode Fragmentation::idle_of(const Node& node) const noexcept {
    IdleNode idle;
    idle.node = &node;
    const auto left_of = [&node](ResourceId type) { return std::max<std::int64_t>(node.available.get(type), 0); };
    for (std::size_t at = 0; at < workload_.others.size(); ++at) idle.others[at] = left_of(workload_.others[at]);
    idle.kind = node.devices ? node.devices->find(workload_.resource) : nullptr;
    if (idle.kind == nullptr) {
        idle.devices = 1;
        idle.left[0] = workload_.resource == ResourceNames::npos ? 0 : left_of(workload_.resource);
        return idle;
    }
    idle.devices = std::min<std::size_t>(idle.kind->devices.size(), kMostDevices);
    for (std::size_t at = 0; at < idle.devices; ++at) idle.left[at] = idle.kind->devices[at].left();
    return idle;
}

Fragmentation::Use Fragmentation::use_of(const WorkloadShape& shape, const IdleNode& idle) const noexcept {
    Use use;
    use.attributes = std::all_of(shape.attributes.begin(), shape.attributes.end(),
                                 [&idle](const auto& each) { return idle.node->attribute(each.first) == each.second; });
    use.others = true;
    for (std::size_t at = 0; at < shape.others.size(); ++at)
        use.others = use.others && shape.others[at] <= idle.others[at];
    DeviceDemand demand{workload_.resource, 1, shape.amount};
    if (idle.kind != nullptr) demand = shape.stated.count > 0 ? shape.stated : idle.kind->demand_of(shape.amount);
    std::uint32_t enough = 0;
    for (std::size_t at = 0; at < idle.devices; ++at) {
        if (idle.left[at] >= demand.each)
            ++enough;
        else
            use.too_small += static_cast<double>(idle.left[at]);
    }
    use.devices =
        demand.count > 0 && enough >= demand.count && !(idle.kind != nullptr && idle.node->devices->in_conflict());
    return use;
}

FragmentCauses Fragmentation::causes_of(const IdleNode& idle) const noexcept {
    FragmentCauses causes;
    const double all = idle.idle();
    for (const WorkloadShape& shape : workload_.shapes) {
        const auto weight = static_cast<double>(shape.weight);
        if (shape.amount == 0) {
            causes.unasked += weight * all;
            causes.concerned += weight;
            continue;
        }
        const Use use = use_of(shape, idle);
        if (use.attributes && use.devices && use.others) {
            causes.devices += weight * use.too_small;
            causes.concerned += use.too_small > 0 ? weight : 0;
            continue;
        }
        Fragments& cause = !use.attributes ? causes.attribute
                           : use.devices   ? causes.others
                           : use.others    ? causes.devices
                                           : causes.both;
        cause += weight * all;
        causes.concerned += weight;
    }
    return causes;
}

Fragments Fragmentation::of(const IdleNode& idle) const noexcept {
    if (idle.kind != nullptr || !is_plain_) return causes_of(idle).sum();
    const auto left = static_cast<double>(idle.left[0]);
    return concerned(left, static_cast<double>(idle.others[0])) * left;
}

double Fragmentation::concerned(const IdleNode& idle) const noexcept {
    if (idle.kind != nullptr || !is_plain_) return causes_of(idle).concerned;
    return concerned(static_cast<double>(idle.left[0]), static_cast<double>(idle.others[0]));
}

[[gnu::hot]] double Fragmentation::concerned(double idle, double other) const noexcept {
    return weights_ - fitting_[amounts_.up_to(idle) * (others_.count() + 1) + others_.up_to(other)];
}

Fragmentation::After Fragmentation::after(const Node& node, const Shape& shape) const noexcept {
    IdleNode idle = idle_of(node);
    for (std::size_t at = 0; at < workload_.others.size(); ++at)
        idle.others[at] = std::max<std::int64_t>(idle.others[at] - shape.resource.get(workload_.others[at]), 0);
    const std::int64_t amount = workload_.resource == ResourceNames::npos ? 0 : shape.resource.get(workload_.resource);
    if (amount <= 0) return {of(idle), {}};
    if (idle.kind == nullptr) {
        idle.left[0] = std::max<std::int64_t>(idle.left[0] - amount, 0);
        return {of(idle), {}};
    }
    const DeviceDemand demand = idle.kind->demand_of(shape.device_ask());
    const DeviceMask free = idle.kind->free_for(demand);
    if (demand.count != 1 || idle.kind->is_whole(demand)) {
        const DeviceMask chosen = node.devices->choose(*idle.kind, demand, free);
        for_each_device(chosen, [&](std::size_t at) { idle.left[at] -= demand.each; });
        return {of(idle), {}};
    }
    After best{std::numeric_limits<double>::infinity(), {}};
    for_each_device(free, [&](std::size_t at) {
        for (std::size_t before = 0; before < at; ++before) // one that has as much left is as good
            if (idle.left[before] == idle.left[at] && (free & bit_of_device(before)) != 0) return;
        idle.left[at] -= demand.each;
        if (const Fragments fragments = of(idle); fragments < best.fragments)
            best = {fragments, DeviceUse{demand.type, {static_cast<std::uint32_t>(at), demand.each}}};
        idle.left[at] += demand.each;
    });
    return best;
}

} // namespace yk
