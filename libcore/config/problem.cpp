// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/problem.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "libcore/base/text.h"

namespace yk::config {

namespace {

bool is_error(const Problem& problem) {
    return problem.severity == Severity::Error;
}

/// `text` on one line, without effect on a terminal: terminal commands and bytes that are not UTF-8 become `\xNN` or
/// `\uNNNN`.
std::string escaped(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        auto [length, code] = decode_character(text);
        if (length != 0 && !is_terminal_command(code)) {
            result.append(text.substr(0, length));
        } else {
            if (length == 0) code = static_cast<unsigned char>(text[0]);
            result += code > 0xFF ? std::string{"\\u"} + kHex[code >> 12 & 15] + kHex[code >> 8 & 15] : "\\x";
            result += {kHex[code >> 4 & 15], kHex[code & 15]};
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result;
}

} // namespace

void Report::add(Severity severity, Mark mark, std::string_view path, std::string_view message) {
    problems_.push_back({severity, mark, escaped(path), escaped(message)});
}

bool Report::has_errors() const {
    return std::any_of(problems_.begin(), problems_.end(), is_error);
}

std::vector<Problem> Report::take() {
    std::vector<Problem> problems = std::exchange(problems_, {});
    const auto first = std::find_if(problems.begin(), problems.end(), is_error);
    if (first != problems.end()) std::rotate(problems.begin(), first, first + 1);
    const auto sorted_from = first == problems.end() ? problems.begin() : problems.begin() + 1;
    std::stable_sort(sorted_from, problems.end(), [](const Problem& a, const Problem& b) {
        return std::tie(a.mark.line, a.mark.column) < std::tie(b.mark.line, b.mark.column);
    });
    if (problems.size() > kMaxShown) {
        const std::size_t left_out = problems.size() - (kMaxShown - 1);
        problems.resize(kMaxShown - 1);
        problems.push_back({Severity::Error, {}, {}, std::to_string(left_out) + " further problems are not shown"});
    }
    return problems;
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t kShown = 80;
    return '"' + std::string{cut(text, kShown)} + (text.size() > kShown ? "...\"" : "\"");
}

} // namespace yk::config
