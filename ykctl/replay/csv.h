// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small strict CSV reader (RFC 4180: quoted fields, doubled quotes): a header with known columns, then rows.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"

namespace yk::replay {

inline constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20U;
inline constexpr std::size_t kMaxRows = 1'000'000;
inline constexpr std::size_t kMaxFieldBytes = 4096;
inline constexpr std::size_t kMaxColumns = 64;

struct CsvColumn {
    std::string_view name;
    bool required = true;
};

/// Reads row after row. Errors are `file:line: message`; the line is that where the row begins.
class CsvReader {
public:
    /// Reads the header: unknown, repeated and missing columns are errors. `text` has to outlive the reader.
    [[nodiscard]] static Result<CsvReader> open(std::string_view text, std::string file,
                                                const std::vector<CsvColumn>& columns);

    /// Reads the next row, skipping empty lines. Returns false when none is left.
    [[nodiscard]] Result<bool> next();

    /// A field of the current row; empty for a column that the file lacks.
    [[nodiscard]] const std::string& field(std::string_view column) const;
    /// The field as a whole number from 0 to `most`.
    [[nodiscard]] Result<std::int64_t> number(std::string_view column, std::int64_t most) const;
    [[nodiscard]] std::size_t line() const { return line_; }
    [[nodiscard]] Error error(std::string message) const;

private:
    CsvReader(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {}

    Result<void> read_record();
    Result<void> read_quoted(std::string& field);
    Result<void> read_header(const std::vector<CsvColumn>& columns);

    std::string_view rest_;
    std::string file_;
    std::map<std::string, std::size_t, std::less<>> columns_;
    std::vector<std::string> fields_;
    std::size_t line_ = 0, next_line_ = 1, rows_ = 0;
};

} // namespace yk::replay
