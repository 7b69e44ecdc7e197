// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subjects of change events: `PREFIX.KIND.ID`, the id with `%` and two hexadecimal digits for what a subject cannot
// hold in one of its parts (rs R-164). Pure.

#include <optional>
#include <string>
#include <string_view>

namespace yk::rs {

/// Blanks, control characters, `.`, `*`, `>`, and `%` itself.
[[nodiscard]] std::string percent_encoded(std::string_view id);
/// nullopt: a `%` is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

/// Whether a stream may be called so, and subjects begin so: letters, digits, `-` and `_`.
[[nodiscard]] bool is_stream_name(std::string_view name);

/// An address as it may be shown: without what may stand before an `@`, a user and a password.
[[nodiscard]] std::string shown_address(std::string_view url);

struct SubjectParts {
    std::string_view kind, id; // the id as it is in the subject
};
/// nullopt: it is no subject of an event.
[[nodiscard]] std::optional<SubjectParts> split_subject(std::string_view subject, std::string_view prefix);

} // namespace yk::rs
