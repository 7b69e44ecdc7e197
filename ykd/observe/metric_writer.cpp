// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/metric_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "protocol/wire/body_reader.h"
#include "ykd/observe/own_metric_name.h"

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

char* put_text(char* to, std::string_view text) {
    return std::copy(text.begin(), text.end(), to);
}

/// Takes at most twice the bytes of the text.
char* put_escaped(char* to, std::string_view text) {
    for (const char c : text) {
        if (c == '\\' || c == '"' || c == '\n') *to++ = '\\';
        *to++ = c == '\n' ? 'n' : c;
    }
    return to;
}

constexpr std::size_t kPart = 256U << 10; // bytes of text
constexpr std::size_t kAround = 4;        // bytes of a comma or bracket, an equals sign, quotes

/// At most so many bytes are put for them.
std::size_t most_bytes_of(MetricLabels labels) {
    std::size_t most = 0;
    for (const auto& [key, text] : labels) most += key.size() + 2 * text.size() + kAround;
    return most;
}

/// `open` stands in front of the first one, and a comma in front of those after it.
char* put_label(char* to, char& open, std::string_view key, std::string_view text) {
    *to++ = std::exchange(open, ',');
    to = put_text(put_text(to, key), "=\"");
    to = put_escaped(to, text);
    *to++ = '"';
    return to;
}

char* put_labels(char* to, char& open, MetricLabels labels) {
    for (const auto& one : labels)
        if (!is_left_out(one)) to = put_label(to, open, one.first, one.second);
    return to;
}

} // namespace

bool MetricWriter::take(std::size_t bytes) {
    if (used_ != 0 && used_ + bytes > window_.max_bytes) {
        next_ = position_ - 1;
        return false;
    }
    used_ += bytes;
    return true;
}

bool MetricWriter::family(std::string_view name, MetricType type, std::string_view help) {
    const auto shown = names_ == MetricNames::Own ? own_metric_name(name) : std::string(name);
    wanted_ = shown && shown->starts_with(prefix_);
    if (!wanted_) return false;
    name_ = *shown;
    set_common({});
    help_ = help;
    type_ = type;
    begun_ = is_next() && take(prepare_head(type, help));
    if (begun_) commit();
    return true;
}

void MetricWriter::put(std::string_view suffix, MetricLabels labels, const std::string& value, std::string_view bound) {
    if (!take(prepare(suffix, labels, value, bound))) return;
    if (!std::exchange(begun_, true)) go_on(type_, help_);
    commit();
}

void MetricWriter::real(MetricLabels labels, double value) {
    if (wanted_ && is_next()) put({}, labels, fmt::format("{}", value), {});
}

void MetricWriter::histogram(MetricLabels labels, const Histogram& histogram) {
    if (!wanted_) return;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
        total += histogram.counts[i];
        if (is_next()) put("_bucket", labels, std::to_string(total), kBounds[i]);
    }
    if (is_next()) put("_sum", labels, fmt::format("{}", static_cast<double>(histogram.sum_ns) / 1e9), {});
    if (is_next()) put("_count", labels, std::to_string(total), {});
}

// --- text ---------------------------------------------------------------------------------------

void MetricText::commit() {
    committed_ = prepared_;
    if (take_part_ && committed_ >= kPart) give_part();
}

void MetricText::give_part() {
    if (!take_part_(text())) stop();
    committed_ = 0;
}

bool MetricText::finish() {
    if (!is_full() && committed_ > 0) give_part();
    return !is_full();
}

char* MetricText::place_for(std::size_t bytes) {
    if (text_.size() - committed_ < bytes) text_.resize(std::max({2 * text_.size(), committed_ + bytes, kPart}));
    return text_.data() + committed_;
}

std::size_t MetricText::prepared_up_to(const char* end) {
    prepared_ = static_cast<std::size_t>(end - text_.data());
    return prepared_ - committed_;
}

std::size_t MetricText::prepare_head(MetricType type, std::string_view help) {
    const std::string head = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name(), help, name(), text_of(type));
    return prepared_up_to(put_text(place_for(head.size()), head));
}

/// What a scrape of many queues spends most of its time with: hence the bytes are put one by one.
std::size_t MetricText::prepare(std::string_view suffix, MetricLabels labels, const std::string& value,
                                std::string_view bound) {
    constexpr std::string_view kBound = "le";
    const std::size_t most = front_.size() + suffix.size() + most_bytes_of(labels) + kBound.size() + 2 * bound.size() +
                             value.size() + 2 * kAround;
    const std::string_view front = front_;
    char* to = place_for(most);
    if (suffix.empty())
        to = put_text(to, front);
    else
        to = put_text(put_text(put_text(to, name()), suffix), front.substr(name().size()));
    char open = front.size() == name().size() ? '{' : ',';
    to = put_labels(to, open, labels);
    if (!bound.empty()) to = put_label(to, open, kBound, bound);
    if (open == ',') *to++ = '}';
    *to++ = ' ';
    to = put_text(to, value);
    *to++ = '\n';
    return prepared_up_to(to);
}

void MetricText::set_common(MetricLabels labels) {
    front_.resize(name().size() + most_bytes_of(labels));
    char open = '{';
    const char* end = put_labels(put_text(front_.data(), name()), open, labels);
    front_.resize(static_cast<std::size_t>(end - front_.data()));
}

/// Writes nothing: the texts of all pages, one after the other, are one text.
void MetricText::go_on(MetricType /*type*/, std::string_view /*help*/) {}

// --- values -------------------------------------------------------------------------------------

std::size_t MetricValues::prepare_head(MetricType type, std::string_view help) {
    constexpr std::size_t kLongerLength = 4; // more bytes for the length of the list of samples, when there are many
    prepared_ = {{"name", name()}, {"type", text_of(type)}, {"help", help}, {"samples", wire::Value::array()}};
    is_head_ = true;
    return wire::encoded_value(prepared_).size() + kLongerLength;
}

std::size_t MetricValues::prepare(std::string_view suffix, MetricLabels labels, const std::string& value,
                                  std::string_view bound) {
    wire::Value named = common_;
    for (const auto& one : labels)
        if (!is_left_out(one)) named[std::string(one.first)] = one.second;
    if (!bound.empty()) named["le"] = bound;
    prepared_ = {
        {"name", name() + std::string(suffix)}, {"labels", std::move(named)}, {"value", wire::Value::parse(value)}};
    is_head_ = false;
    return wire::encoded_value(prepared_).size();
}

void MetricValues::commit() {
    if (is_head_)
        families_.push_back(std::move(prepared_));
    else
        families_.back()["samples"].push_back(std::move(prepared_));
}

void MetricValues::set_common(MetricLabels labels) {
    common_ = wire::Value::object();
    for (const auto& one : labels)
        if (!is_left_out(one)) common_[std::string(one.first)] = one.second;
}

void MetricValues::go_on(MetricType type, std::string_view help) {
    families_.push_back({{"name", name()}, {"type", text_of(type)}, {"help", help}, {"samples", wire::Value::array()}});
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
