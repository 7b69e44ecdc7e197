// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "libcore/base/check.h"

namespace yk::replay {
namespace {

std::string names_of(const std::vector<CsvColumn>& columns) {
    std::string out;
    for (const CsvColumn& column : columns) out.append(out.empty() ? "" : ", ").append(column.name);
    return out;
}

} // namespace

Result<CsvReader> CsvReader::open(std::string_view text, std::string file, const std::vector<CsvColumn>& columns) {
    CsvReader reader{text, std::move(file)};
    if (text.size() > kMaxFileBytes)
        return reader.error(fmt::format("{} bytes; at most {} are read", text.size(), kMaxFileBytes));
    if (text.substr(0, 3) == "\xEF\xBB\xBF") reader.rest_.remove_prefix(3);
    YK_CHECKED(reader.read_record());
    YK_CHECKED(reader.read_header(columns));
    return reader;
}

Error CsvReader::error(std::string message) const {
    return {0, std::move(message), fmt::format("{}:{}", file_, std::max<std::size_t>(line_, 1))};
}

Result<void> CsvReader::read_header(const std::vector<CsvColumn>& columns) {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const auto known = std::find_if(columns.begin(), columns.end(),
                                        [&](const CsvColumn& column) { return column.name == fields_[i]; });
        if (known == columns.end())
            return error(fmt::format("unknown column \"{}\" (known: {})", fields_[i], names_of(columns)));
        if (!columns_.emplace(fields_[i], i).second) return error(fmt::format("column \"{}\" twice", fields_[i]));
    }
    for (const CsvColumn& column : columns)
        if (column.required && columns_.count(std::string{column.name}) == 0)
            return error(fmt::format("column \"{}\" is missing (needed: {})", column.name, names_of(columns)));
    return {};
}

Result<bool> CsvReader::next() {
    for (;;) {
        if (rest_.empty()) return false;
        YK_CHECKED(read_record());
        if (fields_.size() != 1 || !fields_.front().empty()) break;
    }
    if (fields_.size() != columns_.size())
        return error(fmt::format("{} fields where the header has {}", fields_.size(), columns_.size()));
    if (++rows_ > kMaxRows) return error(fmt::format("more than {} rows", kMaxRows));
    return true;
}

Result<void> CsvReader::read_record() {
    fields_.clear();
    line_ = next_line_++;
    for (;;) {
        if (fields_.size() == kMaxColumns) return error(fmt::format("more than {} fields", kMaxColumns));
        std::string& field = fields_.emplace_back();
        if (!rest_.empty() && rest_.front() == '"') {
            YK_CHECKED(read_quoted(field));
        } else {
            const std::size_t end = std::min(rest_.find_first_of(",\n\""), rest_.size());
            field = rest_.substr(0, std::min(end, kMaxFieldBytes + 1));
            rest_.remove_prefix(end);
            if (!rest_.empty() && rest_.front() == '"')
                return error("a quote inside a field that does not begin with one");
            if (!field.empty() && field.back() == '\r' && (rest_.empty() || rest_.front() == '\n')) field.pop_back();
        }
        if (field.size() > kMaxFieldBytes) return error(fmt::format("a field of more than {} bytes", kMaxFieldBytes));
        if (rest_.empty()) return {};
        const char separator = rest_.front();
        rest_.remove_prefix(1);
        if (separator == '\n') return {};
    }
}

/// Reads a quoted field and moves to the separator behind it.
Result<void> CsvReader::read_quoted(std::string& field) {
    YK_ASSUME(rest_.starts_with('"'), "a quoted field begins with its quote");
    for (;;) {
        rest_.remove_prefix(1);
        const std::size_t end = rest_.find('"');
        if (end == std::string_view::npos) return error("a quoted field that does not end");
        const std::string_view part = rest_.substr(0, end);
        if (field.size() + part.size() > kMaxFieldBytes)
            return error(fmt::format("a field of more than {} bytes", kMaxFieldBytes));
        field += part;
        next_line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
        rest_.remove_prefix(end + 1);
        if (rest_.empty() || rest_.front() != '"') break;
        field += '"';
    }
    if (rest_.substr(0, 2) == "\r\n" || rest_ == "\r") rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() != ',' && rest_.front() != '\n')
        return error("text after the closing quote of a field");
    return {};
}

const std::string& CsvReader::field(std::string_view column) const {
    static const std::string kNone;
    const auto found = columns_.find(column);
    return found != columns_.end() ? fields_[found->second] : kNone;
}

Result<std::int64_t> CsvReader::number(std::string_view column, std::int64_t most) const {
    const std::string& text = field(column);
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, value);
    if (text.empty() || fault == std::errc::invalid_argument || stop != end || value < 0)
        return error(fmt::format("{}: \"{}\" is no whole number of at least 0", column, text));
    if (fault != std::errc{} || value > most) return error(fmt::format("{}: {} is above {}", column, text, most));
    return value;
}

} // namespace yk::replay
