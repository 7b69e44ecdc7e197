// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/report.h"

#include "ykctl/render/output.h"
#include "ykctl/render/table.h"
#include "ykctl/render/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace yk::replay {
namespace {

using wire::Value;

constexpr std::size_t kShownSamples = 6;
constexpr std::size_t kListedSamples = 100; // in machine formats

double share(std::int64_t used, std::int64_t capacity) {
    return capacity > 0 ? static_cast<double>(used) / static_cast<double>(capacity) : 0.0;
}

std::int64_t amount(const Amounts& amounts, const std::string& name) {
    const auto found = amounts.find(name);
    return found != amounts.end() ? found->second : 0;
}

std::string percent(double value) {
    return fmt::format("{:.1f}%", value * 100);
}

std::string seconds_text(double seconds) {
    if (seconds < 1) return fmt::format("{:.1f}ms", seconds * 1000);
    return fmt::format("{:.2f}s", seconds);
}

std::string summary_text(const Report& report) {
    std::vector<std::pair<std::string, std::string>> fields{
        {"nodes", std::to_string(report.nodes)},
        {"pods", std::to_string(report.pods)},
        {"placed",
         fmt::format("{} ({}) in {}", report.placed,
                     percent(share(static_cast<std::int64_t>(report.placed), static_cast<std::int64_t>(report.pods))),
                     seconds_text(report.seconds))},
        {"pending", std::to_string(report.pods - report.placed)},
        {"time to place", fmt::format("p50 {}, p99 {}", seconds_text(quantile(report.time_to_place, 0.5)),
                                      seconds_text(quantile(report.time_to_place, 0.99)))}};
    return cli::fields_text(fields, {});
}

std::string reasons_text(const Report& report) {
    cli::Table table{{{"PENDING BECAUSE"}, {"PODS", cli::Align::Right}, {"FOR EXAMPLE"}}};
    for (const auto& [reason, count] : report.reasons) {
        const auto example = report.examples.find(reason);
        table.add({reason, std::to_string(count),
                   cli::or_dash(example != report.examples.end() ? cli::printable(example->second) : "")});
    }
    return table.empty() ? std::string{} : "\n" + table.text({});
}

std::string utilisation_text(const Report& report) {
    cli::Table table{
        {{"RESOURCE"}, {"USED", cli::Align::Right}, {"CAPACITY", cli::Align::Right}, {"SHARE", cli::Align::Right}}};
    for (const auto& [name, capacity] : report.capacity) {
        const std::int64_t used = amount(report.used, name);
        table.add(
            {name, cli::quantity_text(name, used), cli::quantity_text(name, capacity), percent(share(used, capacity))});
    }
    return "\n" + table.text({});
}

std::string samples_text(const Report& report) {
    std::vector<cli::Heading> headings{{"TIME", cli::Align::Right}, {"PLACED", cli::Align::Right}, {"QUEUE"}};
    for (const auto& [name, capacity] : report.capacity) headings.push_back({name, cli::Align::Right});
    cli::Table table{std::move(headings)};
    for (const Sample& sample : thinned(report.samples, kShownSamples)) {
        std::string time = seconds_text(sample.seconds), placed = std::to_string(sample.placed);
        for (const auto& [queue, used] : sample.used) {
            std::vector<std::string> row{std::exchange(time, "."), std::exchange(placed, "."), "root." + queue};
            for (const auto& [name, capacity] : report.capacity)
                row.push_back(percent(share(amount(used, name), capacity)));
            table.add(std::move(row));
        }
    }
    return table.empty() ? std::string{} : "\nuse of the cluster by queue over time\n" + table.text({});
}

/// The share of the cluster that each queue uses, by resource.
Value sample_value(const Sample& sample, const Amounts& capacity) {
    Value queues = Value::object();
    for (const auto& [queue, used] : sample.used) {
        Value shares = Value::object();
        for (const auto& [name, whole] : capacity) shares[name] = share(amount(used, name), whole);
        queues["root." + queue] = std::move(shares);
    }
    return {{"seconds", sample.seconds}, {"placed", sample.placed}, {"queues", std::move(queues)}};
}

} // namespace

double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

std::vector<Sample> thinned(const std::vector<Sample>& samples, std::size_t count) {
    if (samples.size() <= count) return samples;
    std::vector<Sample> out;
    for (std::size_t i = 1; i <= count; ++i) out.push_back(samples[i * samples.size() / count - 1]);
    return out;
}

std::string report_text(const Report& report) {
    return summary_text(report) + reasons_text(report) + utilisation_text(report) + samples_text(report);
}

Value report_value(const Report& report) {
    Value utilisation = Value::object();
    for (const auto& [name, capacity] : report.capacity) utilisation[name] = share(amount(report.used, name), capacity);
    Value samples = Value::array();
    for (const Sample& sample : thinned(report.samples, kListedSamples))
        samples.push_back(sample_value(sample, report.capacity));
    return {{"schema", 1},
            {"nodes", report.nodes},
            {"pods", report.pods},
            {"placed", report.placed},
            {"pending", report.pods - report.placed},
            {"reasons", report.reasons},
            {"utilisation", std::move(utilisation)},
            {"time_to_place",
             {{"p50", quantile(report.time_to_place, 0.5)}, {"p99", quantile(report.time_to_place, 0.99)}}},
            {"seconds", report.seconds},
            {"samples", std::move(samples)}};
}

} // namespace yk::replay
