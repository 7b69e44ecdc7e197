// SPDX-License-Identifier: Apache-2.0
#pragma once
// What came of scenario files, for people, for programs, and as JUnit's XML, which CI servers show.

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

#include "protocol/wire/value.h"

namespace yk::scenario {

enum class Verdict : std::uint8_t { Pass, Fail, Broken }; // Broken: the file is malformed, or no daemon played it

/// The result of one file.
struct FileResult {
    std::string file;
    Verdict verdict = Verdict::Pass;
    std::vector<std::string> failures; // each unmet expectation
    std::string error;                 // of a broken one
    std::chrono::duration<double> took{};
};

/// `{file, outcome: pass|fail|broken, seconds, failures, error}`
[[nodiscard]] wire::Value value_of(const FileResult& result);
/// One test suite with a case for each file.
[[nodiscard]] std::string junit_text(const std::vector<FileResult>& results);

} // namespace yk::scenario
