// SPDX-License-Identifier: Apache-2.0
// How fragmentation is measured: `fragmentation` in `nodesortpolicy`.

#include <algorithm>

#include "libcore/base/number.h"
#include "libcore/base/saturate.h"
#include "libcore/config/duration.h"
#include "libcore/validation/checks.h"

namespace yk::config::checks {
namespace {

constexpr std::size_t kMostOthers = 4;     // a board looks at each of them for each node
constexpr std::size_t kMostShapes = 1'000; // of a workload: a score takes a step for each
constexpr std::uint64_t kMostWeight = 1'000'000'000;
constexpr std::uint32_t kMostDevices = 64; // of one resource on a node (F-001)

Duration half_life(const FragmentationDocument& document, Report& report) {
    const Text& text = document.half_life;
    if (text.value.empty()) return FragmentationSettings::kDefaultHalfLife;
    const auto duration = parse_duration(text.value);
    if (duration.ok() && *duration > Duration::zero()) return *duration;
    report.error(text.mark, document.path + ".halflife",
                 duration.ok() ? "a half-life is above 0 (leave it out for 24h)" : duration.error().message);
    return FragmentationSettings::kDefaultHalfLife;
}

std::vector<std::string> others(const FragmentationDocument& document, Report& report) {
    std::vector<std::string> names;
    for (const Text& each : document.others) {
        if (each.value.empty() || each.value == document.resource.value ||
            std::find(names.begin(), names.end(), each.value) != names.end())
            report.error(each.mark, document.path + ".others",
                         "\"" + each.value +
                             "\" is no other resource (name each once, without the one that is measured)");
        names.push_back(each.value);
    }
    if (names.size() > kMostOthers)
        report.error(document.others.front().mark, document.path + ".others",
                     "at most " + std::to_string(kMostOthers) + " other resources are weighed, these are " +
                         std::to_string(names.size()));
    return names;
}

/// `COUNTxEACH`
std::optional<ExpectedAsks::Devices> parse_devices(std::string_view text) {
    const std::size_t times = text.find('x');
    if (times == std::string_view::npos) return std::nullopt;
    const auto count = to_number<std::uint32_t>(text.substr(0, times));
    const auto each = to_number<std::int64_t>(text.substr(times + 1));
    if (!count || !each || *count == 0 || *count > kMostDevices || *each <= 0) return std::nullopt;
    return ExpectedAsks::Devices{*count, *each};
}

/// Adds the devices that the asks state; the amount is what these have together, and may be left out.
void load_devices(const Entries& devices, ExpectedAsks& into, Report& report) {
    for (const Entry& entry : devices.entries) {
        const std::string path = devices.path + '.' + entry.key.value;
        const auto parsed = parse_devices(entry.value);
        if (!parsed) {
            report.error(entry.value_mark, path,
                         "\"" + entry.value +
                             "\" is not COUNTxEACH, such as 2x500: 500 of each of 2 devices, at most " +
                             std::to_string(kMostDevices));
            continue;
        }
        const std::int64_t sum = sat_mul(parsed->each, parsed->count);
        if (const auto [amount, is_new] = into.resources.emplace(entry.key.value, sum);
            !is_new && amount->second != sum)
            report.error(entry.value_mark, path,
                         entry.value + " is " + std::to_string(sum) + " in all, and resources." + entry.key.value +
                             " says " + std::to_string(amount->second) + " (leave it out there)");
        into.devices.emplace(entry.key.value, *parsed);
    }
}

ExpectedAsks load_asks(const ExpectedAsksDocument& document, Report& report) {
    ExpectedAsks asks;
    report_bad_quantities(document.resources, "", report);
    if (document.resources) asks.resources = to_resource(*document.resources);
    if (document.devices) load_devices(*document.devices, asks, report);
    if (document.attributes)
        for (const Entry& entry : document.attributes->entries) asks.attributes.emplace(entry.key.value, entry.value);
    if (asks.resources.empty())
        report.error(document.mark, document.path, "the asks have no resources (name what one of them asks for)");
    if (document.weight.value > kMostWeight)
        report.error(document.weight.mark, document.path + ".weight",
                     "a weight is at most " + std::to_string(kMostWeight) + ", only their ratio counts");
    if (document.weight.value > 0) asks.weight = document.weight.value;
    return asks;
}

} // namespace

FragmentationSettings load_fragmentation(const FragmentationDocument& document, Report& report) {
    FragmentationSettings settings;
    settings.half_life = half_life(document, report);
    settings.resource = document.resource.value;
    settings.others = others(document, report);
    for (const ExpectedAsksDocument& each : document.workload) settings.workload.push_back(load_asks(each, report));
    if (settings.workload.size() > kMostShapes)
        report.error(document.workload.front().mark, document.path + ".workload",
                     "a workload has at most " + std::to_string(kMostShapes) + " kinds of asks, this one has " +
                         std::to_string(settings.workload.size()) + " (leave out the rare ones)");
    return settings;
}

} // namespace yk::config::checks
