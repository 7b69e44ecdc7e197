// SPDX-License-Identifier: Apache-2.0
#include "libcore/nodes/fragmentation.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

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
    wants_.clear();
    fitting_wants_.clear();
    if (!is_plain_) return;
    make_table();
    group_by_devices();
}

void Fragmentation::group_by_devices() {
    std::map<std::array<std::int64_t, 3>, std::size_t> places;
    unasked_ = 0;
    const std::size_t width = others_.count() + 1;
    for (const WorkloadShape& each : workload_.shapes) {
        const auto weight = static_cast<double>(each.weight);
        if (each.amount == 0) {
            unasked_ += weight;
            continue;
        }
        const auto [at, is_new] = places.try_emplace({each.amount, each.stated.count, each.stated.each}, wants_.size());
        if (is_new) {
            wants_.push_back({each.amount, each.stated, 0});
            fitting_wants_.resize(wants_.size() * width);
        }
        wants_[at->second].weight += weight;
        fitting_wants_[at->second * width + others_.up_to(other_of(each))] += weight;
    }
    for (std::size_t at = 0; at < fitting_wants_.size(); ++at)
        if (at % width != 0) fitting_wants_[at] += fitting_wants_[at - 1];
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
    for (std::size_t at = 0; at < workload_.others.size(); ++at) idle.others[at] = left_of(node, workload_.others[at]);
    idle.kind = node.devices ? node.devices->find(workload_.resource) : nullptr;
    if (idle.kind == nullptr) {
        idle.devices = 1;
        idle.left[0] = left_of(node, workload_.resource);
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

Fragmentation::Sum Fragmentation::sum_of(const IdleNode& idle) const noexcept {
    if (!is_plain_) {
        const FragmentCauses causes = causes_of(idle);
        return {causes.sum(), causes.concerned};
    }
    if (idle.kind != nullptr) return sum_on_devices(idle);
    const auto left = static_cast<double>(idle.left[0]);
    const double weights = concerned(left, static_cast<double>(idle.others[0]));
    return {weights * left, weights};
}

Fragmentation::Sum Fragmentation::sum_on_devices(const IdleNode& idle) const noexcept {
    std::array<std::int64_t, kMostDevices> left; // NOLINT(cppcoreguidelines-pro-type-member-init): filled up to devices
    std::copy_n(idle.left.begin(), idle.devices, left.begin());
    std::sort(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(idle.devices));
    const double all = idle.idle();
    const std::size_t width = others_.count() + 1, step = others_.up_to(static_cast<double>(idle.others[0]));
    const bool in_conflict = idle.node->devices->in_conflict();
    Sum sum{unasked_ * all, unasked_};
    for (std::size_t at = 0; at < wants_.size(); ++at) {
        const Want& want = wants_[at];
        const DeviceDemand demand = want.stated.count > 0 ? want.stated : idle.kind->demand_of(want.amount);
        double too_small = 0;
        std::size_t below = 0;
        for (; below < idle.devices && left[below] < demand.each; ++below)
            too_small += static_cast<double>(left[below]);
        const bool has_devices = demand.count > 0 && idle.devices - below >= demand.count && !in_conflict;
        const double fitting = has_devices ? fitting_wants_[at * width + step] : 0;
        sum.fragments += fitting * too_small + (want.weight - fitting) * all;
        sum.concerned += (too_small > 0 ? fitting : 0) + (want.weight - fitting);
    }
    return sum;
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
