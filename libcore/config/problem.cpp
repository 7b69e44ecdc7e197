#include "libcore/config/problem.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace yk::config {

namespace {

bool is_error(const Problem& problem) {
    return problem.severity == Severity::Error;
}

/// `text` on one line, harmless for a terminal: control characters (C0, DEL, C1) become `\xNN`.
std::string printable(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
        const bool c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;
        if (!c1 && byte >= 0x20 && byte != 0x7F) {
            result += text[i];
            continue;
        }
        if (c1) byte = static_cast<unsigned char>(text[++i]);
        result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
    return result;
}

} // namespace

void Report::add(Severity severity, Mark mark, std::string_view path, std::string_view message) {
    problems_.push_back({severity, mark, printable(path), printable(message)});
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
    if (text.size() <= kShown) return '"' + std::string{text} + '"';
    std::size_t end = kShown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end; // not inside a character
    return '"' + std::string{text.substr(0, end)} + "...\"";
}

} // namespace yk::config
