// SPDX-License-Identifier: Apache-2.0
#include "libcore/nodes/workload_counts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace yk {
namespace {

constexpr std::int64_t kHeldPercent = 95;
constexpr std::int64_t kChangePercent = 5;
constexpr std::int64_t kLeastChangePercent = 1; // two shapes at the edge would come and go with each ask

std::uint32_t hash_of(const Resource& resource, const std::vector<DeviceDemand>& stated) {
    std::uint64_t hash = 0;
    resource.for_each([&hash](ResourceId type, std::int64_t amount) {
        hash = mixed(mixed(hash, type), static_cast<std::uint64_t>(amount));
    });
    for (const DeviceDemand& each : stated) hash = mixed(hash, each.count);
    return mix_hash(hash, stated.size());
}

std::uint32_t hash_of(const WorkloadShape& shape) {
    std::uint64_t hash = shape.stated.count;
    for (const std::int64_t each : shape.others) hash = mixed(hash, static_cast<std::uint64_t>(each));
    return mix_hash(hash, static_cast<std::uint64_t>(shape.amount));
}

/// Adds what is kept for a long time and seldom grows: with an eighth to spare, not with as much again.
template <class T>
std::uint32_t add(std::vector<T>& to, T&& made) {
    constexpr std::size_t kStep = 8;
    if (to.size() == to.capacity()) to.reserve(to.size() + to.size() / kStep + kStep);
    to.push_back(std::move(made));
    return static_cast<std::uint32_t>(to.size() - 1);
}

} // namespace

void WorkloadCounts::count(ShapeTable& shapes, ShapeId id) {
    Shape& shape = shapes[id];
    if (shape.arrivals_at == Shape::kNotCounted) shape.arrivals_at = entry_of(shapes, shape);
    Entry& entry = entries_[shape.arrivals_at];
    Kind& kind = kinds_[entry.kind];
    ++entry.count;
    ++kind.shape.weight;
    ++total_;
    ++changed_;
    if (kind.is_expected)
        ++expected_;
    else if (kind.shape.weight >= least_)
        may_enter_ = true;
}

/// Those of asks that differ only in the node that they require are one.
std::uint32_t WorkloadCounts::entry_of(ShapeTable& shapes, const Shape& shape) {
    const std::uint32_t hash = hash_of(shape.resource, shape.devices);
    const auto known = by_hash_.find(hash, [&](Id<Entry> each) {
        const Entry& entry = entries_[each.index];
        return entry.resource.deep_equals(shape.resource) && entry.stated == shape.devices;
    });
    if (known) return known.index;
    if (entries_.size() == kMostEntries) forget_rare(shapes);
    const std::uint32_t made = add(entries_, Entry{shape.resource, shape.devices});
    by_hash_.insert(hash, {made});
    entries_[made].kind = kind_of(entries_[made]);
    return made;
}

void WorkloadCounts::forget_rare(ShapeTable& shapes) {
    std::vector<std::int64_t> counts;
    for (const Entry& each : entries_) counts.push_back(each.count);
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    std::size_t more = counts.size() / 2; // of equals, so that half go in any case
    std::erase_if(entries_, [&](const Entry& each) { return more > 0 && each.count <= *middle && more-- > 0; });
    by_hash_ = {};
    for (std::uint32_t at = 0; at < entries_.size(); ++at)
        by_hash_.insert(hash_of(entries_[at].resource, entries_[at].stated), {at});
    shapes.for_each([&shapes](ShapeId each) { shapes[each].arrivals_at = Shape::kNotCounted; });
    sort_into_kinds();
}

void WorkloadCounts::halve() {
    for (Entry& each : entries_) each.count /= 2;
    sort_into_kinds();
}

void WorkloadCounts::measure_by(ResourceId resource, std::vector<ResourceId> others, std::vector<std::size_t> by_name) {
    if (resource == resource_ && others == others_ && by_name == by_name_) return;
    resource_ = resource;
    others_ = std::move(others);
    by_name_ = std::move(by_name);
    sort_into_kinds();
}

void WorkloadCounts::sort_into_kinds() {
    kinds_.clear();
    kinds_by_hash_ = {};
    total_ = 0;
    for (Entry& each : entries_) {
        each.kind = kind_of(each);
        kinds_[each.kind].shape.weight += each.count;
        total_ += each.count;
    }
    is_stale_ = true;
}

std::uint32_t WorkloadCounts::kind_of(const Entry& entry) {
    WorkloadShape shape;
    if (resource_ != ResourceNames::npos) shape.amount = std::max<std::int64_t>(entry.resource.get(resource_), 0);
    for (const ResourceId each : others_) shape.others.push_back(entry.resource.get(each));
    for (const DeviceDemand& each : entry.stated)
        if (each.type == resource_) shape.stated = each;
    const std::uint32_t hash = hash_of(shape);
    const auto known =
        kinds_by_hash_.find(hash, [&](Id<Kind> each) { return kinds_[each.index].shape.is_like(shape); });
    if (known) return known.index;
    const std::uint32_t made = add(kinds_, Kind{std::move(shape), false});
    kinds_by_hash_.insert(hash, {made});
    return made;
}

bool WorkloadCounts::has_changed() {
    if (is_stale_) return true;
    if (changed_ == 0) return false;
    if (changed_ * 100 >= total_ * kChangePercent) return true;
    if (changed_ * 100 < total_ * kLeastChangePercent) return false;
    const bool may_be_other =
        may_enter_ || expected_ * 100 < total_ * kHeldPercent || (expected_ - least_) * 100 >= total_ * kHeldPercent;
    if (!may_be_other) return false;
    const std::vector<std::size_t> list = commonest();
    const auto expected = static_cast<std::size_t>(
        std::count_if(kinds_.begin(), kinds_.end(), [](const Kind& each) { return each.is_expected; }));
    if (list.size() != expected ||
        !std::all_of(list.begin(), list.end(), [this](std::size_t at) { return kinds_[at].is_expected; }))
        return true;
    least_ = kinds_[list.back()].shape.weight;
    may_enter_ = false;
    return false;
}

/// The commoner first; of equals the one that asks for more, resource by resource in the order of names.
bool WorkloadCounts::comes_before(const WorkloadShape& a, const WorkloadShape& b) const {
    if (a.weight != b.weight) return a.weight > b.weight;
    const auto amount = [](const WorkloadShape& of, std::size_t at) { return at == 0 ? of.amount : of.others[at - 1]; };
    for (const std::size_t at : by_name_)
        if (amount(a, at) != amount(b, at)) return amount(a, at) > amount(b, at);
    return a.stated.count > b.stated.count;
}

/// The shortest list that holds 95 % of what arrived, or its beginning.
std::vector<std::size_t> WorkloadCounts::commonest() const {
    std::vector<std::size_t> list(kinds_.size());
    std::iota(list.begin(), list.end(), std::size_t{0});
    std::sort(list.begin(), list.end(),
              [this](std::size_t a, std::size_t b) { return comes_before(kinds_[a].shape, kinds_[b].shape); });
    std::int64_t held = 0;
    std::size_t length = 0;
    while (held * 100 < total_ * kHeldPercent && length < kMostShapes) held += kinds_[list[length++]].shape.weight;
    list.resize(length);
    return list;
}

Workload WorkloadCounts::take() {
    Workload workload{resource_, others_, {}};
    expected_ = least_ = changed_ = 0;
    is_stale_ = may_enter_ = false;
    for (Kind& each : kinds_) each.is_expected = false;
    for (const std::size_t at : commonest()) {
        Kind& kind = kinds_[at];
        kind.is_expected = true;
        expected_ += kind.shape.weight;
        least_ = kind.shape.weight;
        workload.shapes.push_back(kind.shape);
    }
    return workload;
}

} // namespace yk
