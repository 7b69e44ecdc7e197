// SPDX-License-Identifier: Apache-2.0
#include "protocol/metric_pages/sample_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/number.h"
#include "libcore/base/saturate.h"

namespace yk::pages {
namespace {

constexpr double kMostValue = 9e15; // whose thousandths are a number of 64 bits

[[nodiscard]] bool is_blank(char each) {
    return each == ' ' || each == '\t';
}
[[nodiscard]] bool is_digit(char each) {
    return each >= '0' && each <= '9';
}
[[nodiscard]] bool is_letter(char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '_';
}

/// Reads a line from left to right.
class LineReader {
public:
    explicit LineReader(std::string_view line) : rest_(line) {}

    [[nodiscard]] bool is_at_end() const { return rest_.empty(); }
    [[nodiscard]] bool is_at(char each) const { return !rest_.empty() && rest_.front() == each; }
    bool skip(char each) {
        if (!is_at(each)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    /// Returns whether there was any.
    bool skip_blanks() {
        const std::size_t before = rest_.size();
        while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
        return rest_.size() < before;
    }
    /// Empty: there is no name. Only names of metrics have colons.
    std::string_view name(bool has_colons) {
        const auto is_first = [&](char each) { return is_letter(each) || (has_colons && each == ':'); };
        if (rest_.empty() || !is_first(rest_.front())) return {};
        std::size_t end = 1;
        while (end < rest_.size() && (is_first(rest_[end]) || is_digit(rest_[end]))) ++end;
        return take(end);
    }
    /// Up to the next blank.
    std::string_view word() {
        std::size_t end = 0;
        while (end < rest_.size() && !is_blank(rest_[end])) ++end;
        return take(end);
    }
    /// A text in quotes; nullopt: there is none, or it has no end or an unknown escape.
    std::optional<std::string> quoted() {
        if (!skip('"')) return std::nullopt;
        std::string text;
        while (!rest_.empty()) {
            const char each = take(1).front();
            if (each == '"') return text;
            if (each != '\\') {
                text += each;
                continue;
            }
            const char escaped = rest_.empty() ? '\0' : take(1).front();
            if (escaped != '\\' && escaped != '"' && escaped != 'n') return std::nullopt;
            text += escaped == 'n' ? '\n' : escaped;
        }
        return std::nullopt;
    }

private:
    std::string_view take(std::size_t count) {
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }

    std::string_view rest_;
};

[[nodiscard]] bool is_word(std::string_view text, std::string_view lower_case) {
    return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                      [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); });
}

/// nullopt: no number, or one that no double is near to.
[[nodiscard]] std::optional<double> parse_value(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    const std::string_view digits = is_negative || text.starts_with('+') ? text.substr(1) : text;
    if (is_word(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
    if (is_word(digits, "inf")) return (is_negative ? -1 : 1) * std::numeric_limits<double>::infinity();
    if (digits.empty() || (!is_digit(digits.front()) && digits.front() != '.')) return std::nullopt;
    const auto value = to_number<double>(digits);
    if (value && is_negative) return -*value;
    return value;
}

[[nodiscard]] Result<void> read_label(LineReader& reader, Sample& sample) {
    const std::string name{reader.name(false)};
    if (name.empty()) return Error::of("a label has no name");
    reader.skip_blanks();
    if (!reader.skip('=')) return Error::of("label " + name + " has no =");
    reader.skip_blanks();
    auto text = reader.quoted();
    if (!text) return Error::of("label " + name + " has no text in quotes, or one with an unknown escape");
    const auto is_twice = [&](const auto& each) { return each.first == name; };
    if (std::any_of(sample.labels.begin(), sample.labels.end(), is_twice))
        return Error::of("label " + name + " is there twice");
    if (sample.labels.size() == SampleSearch::kMostLabels)
        return Error::of("it has more than " + std::to_string(SampleSearch::kMostLabels) + " labels");
    sample.labels.emplace_back(name, *std::move(text));
    return {};
}

/// Behind the brace that opens them.
[[nodiscard]] Result<void> read_labels(LineReader& reader, Sample& sample) {
    reader.skip_blanks();
    while (!reader.skip('}')) {
        YK_CHECKED(read_label(reader, sample));
        reader.skip_blanks();
        const bool goes_on = reader.skip(',');
        reader.skip_blanks();
        if (!goes_on && !reader.is_at('}')) return Error::of("its labels have no end");
    }
    return {};
}

[[nodiscard]] bool has_label(const Sample& sample, const std::string& name, const std::string& text) {
    for (const auto& [own, value] : sample.labels)
        if (own == name) return value == text;
    return text.empty();
}

[[nodiscard]] bool is_of(const Sample& sample, const SampleQuery& query) {
    return std::all_of(query.labels.begin(), query.labels.end(),
                       [&](const auto& each) { return has_label(sample, each.first, each.second); });
}

} // namespace

Result<Sample> parse_sample(std::string_view line) {
    LineReader reader{line};
    reader.skip_blanks();
    Sample sample;
    sample.name = reader.name(true);
    if (sample.name.empty()) return Error::of("it begins with no name of a metric");
    bool is_apart = reader.skip_blanks();
    if (reader.skip('{')) {
        YK_CHECKED(read_labels(reader, sample));
        is_apart = true; // a brace is as good as a blank
        reader.skip_blanks();
    }
    if (!is_apart) return Error::of("its name has a character that names do not have");
    const auto value = parse_value(reader.word());
    if (!value) return Error::of("its value is no number");
    sample.value = *value;
    reader.skip_blanks();
    if (reader.is_at_end()) return sample;
    sample.time = to_number<std::int64_t>(reader.word());
    if (!sample.time) return Error::of("its time is no number of milliseconds");
    reader.skip_blanks();
    if (!reader.is_at_end()) return Error::of("there is something behind its time");
    return sample;
}

SampleSearch::SampleSearch(std::vector<SampleQuery> queries) : queries_(std::move(queries)), found_(queries_.size()) {
    for (std::size_t at = 0; at < queries_.size(); ++at) by_name_[queries_[at].name].push_back(at);
}

Result<void> SampleSearch::feed(std::string_view bytes) {
    while (fault_.empty() && !bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view part = bytes.substr(0, end);
        if (rest_.size() + part.size() > kLongestLine)
            return refuse(lines_ + 1, "it is longer than " + std::to_string(kLongestLine) + " bytes");
        if (end == std::string_view::npos) {
            rest_.append(part);
            break;
        }
        ++lines_;
        if (rest_.empty()) {
            YK_CHECKED(take_line(part));
        } else {
            rest_.append(part);
            YK_CHECKED(take_line(rest_));
            rest_.clear();
        }
        bytes.remove_prefix(end + 1);
    }
    if (!fault_.empty()) return Error::of(fault_);
    return {};
}

Result<void> SampleSearch::end() {
    if (!fault_.empty()) return Error::of(fault_);
    if (!rest_.empty()) return refuse(lines_ + 1, "it has no end, so the page was cut");
    return {};
}

Result<void> SampleSearch::refuse(std::size_t line, const std::string& why) {
    fault_ = "line " + std::to_string(line) + " of the page is no text format of Prometheus: " + why;
    return Error::of(fault_);
}

Result<void> SampleSearch::take_line(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || line[begin] == '#') return {};
    const auto sample = parse_sample(line);
    if (!sample.ok()) return refuse(lines_, sample.error().message);
    const auto wanted = by_name_.find(sample->name);
    if (wanted == by_name_.end()) return {};
    for (const std::size_t at : wanted->second)
        if (is_of(*sample, queries_[at])) add(found_[at], *sample);
    return {};
}

void SampleSearch::add(FoundSamples& to, const Sample& sample) {
    ++to.count;
    if (sample.time) to.oldest = std::min(to.oldest.value_or(*sample.time), *sample.time);
    if (std::isnan(sample.value))
        to.fault = "a value is NaN";
    else if (sample.value < 0)
        to.fault = "a value is below 0";
    else if (sample.value > kMostValue)
        to.fault = "a value is above 9e15";
    else
        to.sum = sat_add(to.sum, std::int64_t{std::llround(sample.value * 1000)});
}

} // namespace yk::pages
