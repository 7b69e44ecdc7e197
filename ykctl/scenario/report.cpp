// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "libcore/base/text.h"
#include "ykctl/render/text.h"

namespace yk::scenario {
namespace {

/// In an attribute or between tags. What XML cannot hold at all stands as `?`.
std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : printable_lines(text)) {
        switch (c) {
        case '&': safe += "&amp;"; break;
        case '<': safe += "&lt;"; break;
        case '>': safe += "&gt;"; break;
        case '"': safe += "&quot;"; break;
        case '\n': safe += "&#10;"; break;
        default: safe += c;
        }
    }
    return safe;
}

std::size_t count_of(const std::vector<FileResult>& results, Verdict verdict) {
    return static_cast<std::size_t>(std::count_if(
        results.begin(), results.end(), [verdict](const FileResult& each) { return each.verdict == verdict; }));
}

std::string case_text(const FileResult& result) {
    std::string text = fmt::format("  <testcase classname=\"scenario\" name=\"{}\" time=\"{:.3f}\"",
                                   escaped(result.file), result.took.count());
    if (result.verdict == Verdict::Pass) return text + "/>\n";
    const bool is_broken = result.verdict == Verdict::Broken;
    const std::string what = is_broken ? result.error : cli::join(result.failures, "\n");
    const std::string tag = is_broken ? "error" : "failure";
    return text + fmt::format(">\n    <{0} message=\"{1}\">{2}</{0}>\n  </testcase>\n", tag,
                              escaped(what.substr(0, what.find('\n'))), escaped(what));
}

} // namespace

wire::Value value_of(const FileResult& result) {
    static constexpr const char* kNames[] = {"pass", "fail", "broken"};
    wire::Value value{{"file", result.file},
                      {"outcome", kNames[static_cast<std::size_t>(result.verdict)]},
                      {"seconds", result.took.count()}};
    if (!result.failures.empty()) value["failures"] = result.failures;
    if (!result.error.empty()) value["error"] = result.error;
    return value;
}

std::string junit_text(const std::vector<FileResult>& results) {
    std::chrono::duration<double> all{};
    std::string cases;
    for (const FileResult& each : results) {
        all += each.took;
        cases += case_text(each);
    }
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<testsuite name=\"ykctl scenario run\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
                       "time=\"{:.3f}\">\n{}</testsuite>\n",
                       results.size(), count_of(results, Verdict::Fail), count_of(results, Verdict::Broken),
                       all.count(), cases);
}

} // namespace yk::scenario
