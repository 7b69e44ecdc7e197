// SPDX-License-Identifier: Apache-2.0
#include "libcore/nodes/expected_workload.h"

#include <algorithm>
#include <map>

namespace yk {
namespace {

constexpr std::string_view kVcore = "vcore";
constexpr std::string_view kMemory = "memory";

} // namespace

void ExpectedWorkload::configure(const config::FragmentationSettings& settings, ResourceNames& names) {
    half_life_ = settings.half_life;
    resource_ = settings.resource;
    others_ = settings.others.empty() ? std::vector{std::string{kVcore}} : settings.others;
    if (!resource_.empty()) names.intern(resource_);
    for (const std::string& each : others_) names.intern(each);
    given_.clear();
    for (const config::ExpectedAsks& each : settings.workload) {
        Given& given = given_.emplace_back();
        given.weight = static_cast<std::int64_t>(each.weight);
        given.attributes.assign(each.attributes.begin(), each.attributes.end());
        for (const auto& [name, amount] : each.resources)
            if (const ResourceId type = names.intern(name); type != ResourceNames::npos)
                given.resource.set(type, amount);
        for (const auto& [name, devices] : each.devices)
            if (const ResourceId type = names.find(name); type != ResourceNames::npos)
                given.stated.push_back({type, devices.count, devices.each});
    }
    is_stale_ = true;
}

/// The configured one; else the first by name that comes in devices; else, beside cores and memory, what most asks
/// name, on ties the first by name; else cores (F-021).
ResourceId ExpectedWorkload::measured(const NodeCollection& nodes, const ResourceNames& names) const {
    if (!resource_.empty()) return names.find(resource_);
    std::uint64_t in_devices = 0;
    nodes.for_each([&](NodeId id) {
        if (nodes[id].devices)
            for (const DeviceKind& kind : nodes[id].devices->kinds()) in_devices |= std::uint64_t{1} << kind.type;
    });
    for (const ResourceId type : names.by_name())
        if ((in_devices >> type & 1) != 0) return type;
    std::map<ResourceId, std::int64_t> asks;
    const auto add = [&asks](ResourceId type, std::int64_t count) { asks[type] += count; };
    if (is_learnt())
        counts_.for_each_type(add);
    else
        for (const Given& each : given_)
            each.resource.for_each([&](ResourceId type, std::int64_t amount) {
                if (amount > 0) add(type, each.weight);
            });
    ResourceId most = names.find(kVcore);
    std::int64_t count = 0;
    for (const ResourceId type : names.by_name())
        if (const auto named = asks.find(type);
            named != asks.end() && named->second > count && names.name(type) != kVcore && names.name(type) != kMemory) {
            most = type;
            count = named->second;
        }
    return most;
}

Workload ExpectedWorkload::make(const NodeCollection& nodes, const ResourceNames& names) {
    is_stale_ = false;
    const ResourceId resource = measured(nodes, names);
    std::vector<ResourceId> others;
    for (const std::string& name : others_)
        if (const ResourceId type = names.find(name); type != ResourceNames::npos && type != resource)
            others.push_back(type);
    if (is_learnt()) {
        std::vector<std::size_t> by_name; // the measured one as 0, the others from 1 on
        for (const ResourceId type : names.by_name()) {
            if (type == resource) by_name.push_back(0);
            if (const auto other = std::find(others.begin(), others.end(), type); other != others.end())
                by_name.push_back(static_cast<std::size_t>(other - others.begin()) + 1);
        }
        counts_.measure_by(resource, others, std::move(by_name));
        return counts_.take();
    }
    Workload workload{resource, others, {}};
    for (const Given& each : given_) {
        WorkloadShape& shape = workload.shapes.emplace_back();
        shape.amount = resource == ResourceNames::npos ? 0 : each.resource.get(resource);
        for (const DeviceDemand& stated : each.stated)
            if (stated.type == resource) shape.stated = stated;
        for (const ResourceId type : others) shape.others.push_back(each.resource.get(type));
        shape.attributes = each.attributes;
        shape.weight = each.weight;
    }
    return workload;
}

} // namespace yk
