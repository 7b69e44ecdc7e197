// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cursor: a position in a change log. Values; any thread.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yk::rs {

/// A position in one lane of a log (a partition of a topic; an embedded log has one lane). SQLite and brokers count by
/// `sequence` alone; PostgreSQL orders by transaction first, since its sequences are handed out before the commit.
struct Position {
    std::uint64_t transaction = 0;
    std::uint64_t sequence = 0;

    friend auto operator<=>(const Position&, const Position&) = default;

    /// `transaction.sequence` and back. nullopt: this is no position.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] static std::optional<Position> parse(std::string_view text);
};

/// Everything up to and including these positions was read. `epoch` names the log that they belong to: positions of two
/// epochs cannot be compared, and a cursor of another epoch means that everything has to be read again (rs R-035).
struct Cursor {
    std::string epoch;
    std::vector<Position> lanes;

    /// Later than, before or equal to the other in every lane; unordered otherwise, and for two epochs.
    friend std::partial_ordering operator<=>(const Cursor& a, const Cursor& b);
    friend bool operator==(const Cursor& a, const Cursor& b) = default;

    /// Whether an event at `at` in `lane` was read.
    [[nodiscard]] bool covers(std::size_t lane, Position at) const;
    /// Moves `lane` forward to `at`, never back. A lane that was not there begins.
    void advance(std::size_t lane, Position at);

    /// One line of text and back: `0.17,0.3@epoch`. nullopt: this is no cursor.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] static std::optional<Cursor> parse(std::string_view text);
};

/// Whether everything up to `goal` was read. False for another epoch.
[[nodiscard]] inline bool reaches(const Cursor& cursor, const Cursor& goal) {
    return cursor >= goal;
}

} // namespace yk::rs
