// SPDX-License-Identifier: Apache-2.0
#include "libcore/config_yaml/load.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/check.h"
#include "libcore/base/pluralize.h"
#include "libcore/base/text.h"
#include "libcore/config/checksum.h"
#include "libcore/config_yaml/characters.h"
#include "libcore/config_yaml/reader.h"
#include "libcore/config_yaml/tree.h"
#include "libcore/validation/validate.h"

namespace yk::config_yaml {

namespace {

constexpr std::string_view kDefaultText = R"(partitions:
  - name: default
    placementrules:
      - name: tag
        value: namespace
        create: true
    queues:
      - name: root
        submitacl: '*'
)";

/// The configuration that `text` holds. It is of use only when `report` has no errors afterwards.
config::Configuration interpret(std::string_view text, const TreeLimits& limits, config::Report& report) {
    const NodePtr root = parse_tree(text, report, limits);
    if (root == nullptr) {
        if (!report.has_errors() && !text.empty()) return config::validate({}, report); // no partition defined
        return {};
    }
    return config::validate(read_document(*root, report), report);
}

LoadOutcome load(std::string_view text, const TreeLimits& limits, std::string_view source) {
    config::Report report;
    config::Configuration configuration = interpret(text, limits, report);
    configuration.checksum = config::checksum(text);
    LoadOutcome outcome;
    outcome.source = source;
    if (!report.has_errors()) outcome.configuration = std::move(configuration);
    outcome.problems = report.take();
    return outcome;
}

std::string position_text(const Problem& problem, std::string_view source) {
    if (problem.mark.line == 0) return printable(source);
    return fmt::format("{}:{}:{}", printable(source), problem.mark.line, problem.mark.column);
}

/// The offending line without terminal commands, cut to 200 bytes, and a caret below byte `column`; tabs keep their
/// width in both.
std::string excerpt(std::string_view line, int column) {
    constexpr std::size_t kWidest = 200;
    const std::size_t before = std::min(static_cast<std::size_t>(column - 1), line.size());
    if (line.empty() || before > kWidest) return {};
    std::string caret, shown;
    const std::string_view fits = cut(line, kWidest);
    for_each_character(line.substr(0, before), [&](char32_t code, auto) { caret += code == '\t' ? '\t' : ' '; });
    for_each_character(fits, [&](char32_t code, auto bytes) { shown += code == '\t' ? "\t" : printable(bytes); });
    return fmt::format("    {}{}\n    {}^\n", shown, fits.size() < line.size() ? "..." : "", caret);
}

} // namespace

Error LoadOutcome::first_error() const {
    YK_ASSUME(!configuration, "a text that loads has no error");
    const Problem& first = problems.front();
    return Error::at(position_text(first, source),
                     first.path.empty() ? first.message : first.path + ": " + first.message);
}

std::string_view default_text() {
    return kDefaultText;
}

LoadOutcome load(std::string_view text, std::string_view source) {
    return load(text, TreeLimits{}, source);
}

LoadOutcome load_dumped(std::string_view text, std::string_view source) {
    TreeLimits limits;
    limits.bytes = limits.nodes = SIZE_MAX;
    return load(text, limits, source);
}

LoadOutcome load_or_default(std::string_view text, std::string_view source) {
    return text.empty() ? load(kDefaultText, "built-in default") : load(text, source);
}

LoadOutcome load_file(std::string_view text, std::string_view source) {
    LoadOutcome outcome = load_or_default(text, source);
    if (!text.empty()) return outcome;
    outcome.source = source;
    outcome.problems.push_back(
        {Severity::Warning, {}, {}, "the file is empty: the built-in configuration counts, with queues made by tags"});
    return outcome;
}

std::string render_line(const Problem& problem, std::string_view source) {
    return fmt::format("{}: {}: {}{}{}", position_text(problem, source),
                       problem.severity == Severity::Error ? "error" : "warning", problem.path,
                       problem.path.empty() ? "" : ": ", problem.message);
}

std::string render(const LoadOutcome& outcome, std::string_view text) {
    std::string rendered;
    std::size_t errors = 0;
    for (const Problem& problem : outcome.problems) {
        rendered += render_line(problem, outcome.source) + '\n';
        if (problem.mark.line > 0) rendered += excerpt(line_of(text, problem.mark.line), problem.mark.column);
        if (problem.severity == Severity::Error) ++errors;
    }
    if (!outcome.problems.empty())
        rendered +=
            fmt::format("{}, {}\n", pluralize(errors, "error"), pluralize(outcome.problems.size() - errors, "warning"));
    return rendered;
}

} // namespace yk::config_yaml
