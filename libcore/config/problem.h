// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong, or doubtful, in a configuration, and where (B-01 to B-04).

#include <string>
#include <string_view>
#include <vector>

#include "libcore/config/config.h"

namespace yk::config {

enum class Severity { Error, Warning };

struct Problem {
    Severity severity = Severity::Error;
    Mark mark;           // line 0: the whole text is meant
    std::string path;    // `partitions[0].queues[0].resources.max.memory`; empty: the whole document
    std::string message; // contains the original's text; one line, control characters written as \xNN, as in the path
};

/// Collects problems in the order in which the original would find them.
class Report {
public:
    void error(Mark mark, std::string_view path, std::string_view message) {
        add(Severity::Error, mark, path, message);
    }
    void warning(Mark mark, std::string_view path, std::string_view message) {
        add(Severity::Warning, mark, path, message);
    }
    [[nodiscard]] bool has_errors() const;
    /// The problems by position, but the error that was found first comes first. At most kMaxShown: if there are more,
    /// the last one says how many are left out. The report is empty afterwards (B-03).
    [[nodiscard]] std::vector<Problem> take();

    static constexpr std::size_t kMaxShown = 1000;

private:
    void add(Severity severity, Mark mark, std::string_view path, std::string_view message);

    std::vector<Problem> problems_;
};

/// `text` in double quotes, cut after 80 bytes.
[[nodiscard]] std::string in_quotes(std::string_view text);

} // namespace yk::config
