// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one way from text to a configuration: strict YAML, then validation (C-001 to C-012, B-01 to B-05, B-11).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/config/config.h"
#include "libcore/config/problem.h"

namespace yk::config_yaml {

using config::Problem;
using config::Severity;

struct LoadOutcome {
    std::optional<config::Configuration> configuration; // set when there is no error
    std::vector<Problem> problems;                      // the first error first, the rest by position
    std::string source;                                 // file name, or `config`

    /// The first error of a text that did not load, with its position (`queues.yaml:14:20`) as `where`.
    [[nodiscard]] Error first_error() const;
};

/// Parses and validates `text`. `source` names it in messages. Never throws; time and memory are bounded by
/// kMaxTextBytes and the limits beside it (tree.h).
/// A text of 0 bytes is a configuration without partitions (C-009): whoever applies it takes load_or_default().
[[nodiscard]] LoadOutcome load(std::string_view text, std::string_view source);

/// As load(), for what dump() wrote, of any size: a text of the largest size may be longer in that form.
[[nodiscard]] LoadOutcome load_dumped(std::string_view text, std::string_view source);

/// As load(), a text of 0 bytes being default_text().
[[nodiscard]] LoadOutcome load_or_default(std::string_view text, std::string_view source);

/// As load_or_default(), for a file that somebody wrote to have it checked: one of 0 bytes is doubtful.
[[nodiscard]] LoadOutcome load_file(std::string_view text, std::string_view source);

/// The built-in configuration of C-010.
[[nodiscard]] std::string_view default_text();

/// All problems as a person reads them: `SOURCE:LINE:COLUMN: error: PATH: MESSAGE`, the line in question with a caret
/// below the position, and, when there is a problem, `N errors, M warnings` at the end. `text` is what was loaded.
[[nodiscard]] std::string render(const LoadOutcome& outcome, std::string_view text);

/// `SOURCE:LINE:COLUMN: error: PATH: MESSAGE`, one line without a line break.
[[nodiscard]] std::string render_line(const Problem& problem, std::string_view source);

} // namespace yk::config_yaml
