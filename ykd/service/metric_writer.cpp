#include "ykd/service/metric_writer.h"

#include <fmt/format.h>

#include <array>

namespace yk::service {
namespace {

constexpr std::array<std::string_view, Histogram::kBounds + 1> kBounds{"0.0001", "0.001", "0.01", "0.1", "1",
                                                                       "10",     "100",   "1000", "+Inf"};

std::string_view text_of(MetricType type) {
    constexpr std::array<std::string_view, 3> kTexts{"counter", "gauge", "histogram"};
    return kTexts[static_cast<std::size_t>(type)];
}

bool is_left_out(const std::pair<std::string_view, std::string_view>& label) {
    return label.first == "partition" && label.second.empty();
}

void append_escaped(std::string& to, std::string_view text) {
    for (const char c : text) {
        if (c == '\\' || c == '"') to += '\\';
        if (c == '\n')
            to += "\\n";
        else
            to += c;
    }
}

} // namespace

bool MetricWriter::family(std::string_view name, MetricType type, std::string_view help) {
    wanted_ = name.substr(0, prefix_.size()) == prefix_;
    if (wanted_) begin(name, type, help);
    return wanted_;
}

void MetricWriter::seconds(MetricLabels labels, double value) {
    if (wanted_) add({}, labels, fmt::format("{}", value), {});
}

void MetricWriter::histogram(MetricLabels labels, const Histogram& histogram) {
    if (!wanted_) return;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
        total += histogram.counts[i];
        add("_bucket", labels, std::to_string(total), kBounds[i]);
    }
    add("_sum", labels, fmt::format("{}", static_cast<double>(histogram.sum_ns) / 1e9), {});
    add("_count", labels, std::to_string(total), {});
}

// --- text ---------------------------------------------------------------------------------------

void MetricText::begin(std::string_view name, MetricType type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, text_of(type));
}

void MetricText::add(std::string_view suffix, MetricLabels labels, const std::string& value, std::string_view bound) {
    text_ += name_;
    text_ += suffix;
    char open = '{';
    const auto label = [&](std::string_view key, std::string_view text) {
        text_ += open;
        open = ',';
        text_ += key;
        text_ += "=\"";
        append_escaped(text_, text);
        text_ += '"';
    };
    for (const auto& one : labels)
        if (!is_left_out(one)) label(one.first, one.second);
    if (!bound.empty()) label("le", bound);
    if (open == ',') text_ += '}';
    text_ += ' ';
    text_ += value;
    text_ += '\n';
}

// --- values -------------------------------------------------------------------------------------

void MetricValues::begin(std::string_view name, MetricType type, std::string_view help) {
    families_.push_back({{"name", name}, {"type", text_of(type)}, {"help", help}, {"samples", wire::Value::array()}});
}

void MetricValues::add(std::string_view suffix, MetricLabels labels, const std::string& value, std::string_view bound) {
    wire::Value named = wire::Value::object();
    for (const auto& one : labels)
        if (!is_left_out(one)) named[std::string(one.first)] = one.second;
    if (!bound.empty()) named["le"] = bound;
    wire::Value& family = families_.back();
    family["samples"].push_back({{"name", family["name"].get<std::string>() + std::string(suffix)},
                                 {"labels", std::move(named)},
                                 {"value", wire::Value::parse(value)}});
}

std::string metric_name_part(std::string_view text) {
    std::string part;
    for (const char c : text) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool digit = c >= '0' && c <= '9';
        if (part.empty() && digit) part += '_';
        part += letter || digit || c == '_' || c == ':' ? c : '_';
    }
    return part;
}

} // namespace yk::service
