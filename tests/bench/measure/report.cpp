// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/measure/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace yk::bench {

namespace {

template <class F>
std::vector<double> collect(const std::vector<Sample>& samples, F&& of) {
    std::vector<double> values;
    for (const Sample& sample : samples) values.push_back(static_cast<double>(of(sample)));
    return values;
}

template <class F>
double middle(const Row& row, F&& of) {
    return median(collect(row.samples, of));
}

double rate(const Row& row) {
    return middle(row, [](const Sample& s) { return s.rate(); });
}

/// `-` for what was not measured.
std::string number(double value, int digits = 0) {
    return value == 0 ? "-" : fmt::format("{:.{}f}", value, digits);
}

std::string micros(double seconds) {
    return number(seconds * 1e6, 2);
}

bool has_latency(const Row& row) {
    return middle(row, [](const Sample& s) { return s.worst; }) > 0;
}

std::string row_text(const Row& row) {
    std::vector<double> rates = collect(row.samples, [](const Sample& s) { return s.rate(); });
    std::sort(rates.begin(), rates.end());
    const Sample& first = row.samples.front();
    return fmt::format("| {} | {} | {:.0f} / {:.0f} / {:.0f} | {:.0f} | {} | {} | {:.0f} | {} | {} | {} |\n",
                       row.workload, row.level, rates.front(), median(rates), rates.back(),
                       middle(row, [](const Sample& s) { return s.ns(); }),
                       number(middle(row, [](const Sample& s) { return s.cpu_ns(); })),
                       first.placed == first.asked ? "all" : fmt::format("{} of {}", first.placed, first.asked),
                       middle(row, [](const Sample& s) { return s.peak_rss; }) / 1048576,
                       number(middle(row, [](const Sample& s) { return s.bytes_per_ask; })),
                       number(middle(row, [](const Sample& s) { return s.bytes_per_placed; })),
                       row.reference > 0 ? fmt::format("{:.0f}", rate(row) / row.reference) : "-");
}

std::string latency_text(const Row& row) {
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.workload, row.level,
                       micros(middle(row, [](const Sample& s) { return s.p50; })),
                       micros(middle(row, [](const Sample& s) { return s.p99; })),
                       micros(middle(row, [](const Sample& s) { return s.p999; })),
                       micros(middle(row, [](const Sample& s) { return s.worst; })),
                       micros(middle(row, [](const Sample& s) { return s.pause; })));
}

std::string figure_text(const Figure& figure) {
    const auto [low, high] = std::minmax_element(figure.values.begin(), figure.values.end());
    return fmt::format("| {} | {} | {:.{}f} | {:.{}f} - {:.{}f} |\n", figure.workload, figure.name,
                       median(figure.values), figure.digits, *low, figure.digits, *high, figure.digits);
}

std::string series_text(const Series& series) {
    std::string points;
    for (std::size_t i = 0; i < series.x.size(); ++i)
        points += fmt::format("{}{:.0f}: {:.0f}", i > 0 ? ", " : "", series.x[i], series.ns[i]);
    return fmt::format("| {} | {} | {} | {:.2f} |\n", series.name, series.over, points, series.exponent);
}

nlohmann::json json_of(const Sample& s) {
    return {{"seconds", s.seconds},
            {"cpu_seconds", s.cpu_seconds},
            {"placed", s.placed},
            {"asked", s.asked},
            {"peak_rss", s.peak_rss},
            {"bytes_per_ask", s.bytes_per_ask},
            {"bytes_per_placed", s.bytes_per_placed},
            {"p50", s.p50},
            {"p99", s.p99},
            {"p999", s.p999},
            {"worst", s.worst},
            {"pause", s.pause}};
}

} // namespace

std::string to_markdown(const Report& report) {
    std::string text;
    if (!report.rows.empty())
        text +=
            "| workload | level | allocations/s min / median / max | ns | cpu ns | placed | peak RSS MiB | "
            "bytes/ask | bytes/alloc | x reference |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (const Row& row : report.rows) text += row_text(row);
    if (std::any_of(report.rows.begin(), report.rows.end(), has_latency))
        text += "\n| ask to allocation, microseconds | level | p50 | p99 | p99.9 | worst | worst pause |\n"
                "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const Row& row : report.rows)
        if (has_latency(row)) text += latency_text(row);
    if (!report.figures.empty()) text += "\n| workload | figure | median | from - to |\n| --- | --- | --- | --- |\n";
    for (const Figure& figure : report.figures) text += figure_text(figure);
    if (!report.series.empty())
        text += "\n| series | over | ns per allocation | exponent |\n| --- | --- | --- | --- |\n";
    for (const Series& series : report.series) text += series_text(series);
    for (const std::string& note : report.notes) text += "\n" + note + "\n";
    return text;
}

std::string to_json(const Report& report) {
    nlohmann::json json{{"rows", nlohmann::json::array()},
                        {"figures", nlohmann::json::array()},
                        {"series", nlohmann::json::array()},
                        {"notes", report.notes}};
    for (const Row& row : report.rows) {
        nlohmann::json samples = nlohmann::json::array();
        for (const Sample& sample : row.samples) samples.push_back(json_of(sample));
        json["rows"].push_back({{"workload", row.workload},
                                {"level", row.level},
                                {"allocations_per_second", rate(row)},
                                {"reference", row.reference},
                                {"samples", std::move(samples)}});
    }
    for (const Figure& figure : report.figures)
        json["figures"].push_back({{"workload", figure.workload},
                                   {"name", figure.name},
                                   {"median", median(figure.values)},
                                   {"values", figure.values}});
    for (const Series& series : report.series)
        json["series"].push_back({{"name", series.name},
                                  {"over", series.over},
                                  {"x", series.x},
                                  {"ns", series.ns},
                                  {"exponent", series.exponent}});
    return json.dump(2) + "\n";
}

} // namespace yk::bench
