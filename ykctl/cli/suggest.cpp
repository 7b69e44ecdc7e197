// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/suggest.h"

#include <algorithm>

#include "libcore/config/suggest.h"

namespace yk::cli {
namespace {

constexpr std::size_t kShortestStart = 3; // letters; too many words begin with less
constexpr std::size_t kShort = 5;         // letters; two changes, or another first letter, make it another word

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view without_dashes(std::string_view option) {
    return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

/// Whether `candidate` is likely to be meant, and not just any word of that length: `top` is no `app`.
bool is_like(std::string_view word, std::string_view candidate) {
    word = without_dashes(word);
    candidate = without_dashes(candidate);
    if (word.empty() || candidate.empty()) return false;
    if (2 * config::edit_distance(word, candidate) >= word.size()) return false;
    return word.size() > kShort || lower(word.front()) == lower(candidate.front());
}

} // namespace

const std::string* find_in_any_case(std::string_view word, const std::vector<std::string>& known) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const std::string& each) {
        return std::equal(word.begin(), word.end(), each.begin(), each.end(),
                          [](char a, char b) { return lower(a) == lower(b); });
    });
    return found == known.end() ? nullptr : &*found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    std::vector<std::string_view> known(candidates.begin(), candidates.end());
    const auto begins_so = [&](std::string_view candidate) { return candidate.substr(0, word.size()) == word; };
    const auto longer = std::find_if(known.begin(), known.end(), begins_so);
    std::string found;
    if (longer != known.end() && word.size() >= kShortestStart) {
        found = *longer;
    } else {
        known.erase(
            std::remove_if(known.begin(), known.end(), [&](auto candidate) { return !is_like(word, candidate); }),
            known.end());
        found = config::nearest(word, known);
    }
    return found.empty() ? std::string{} : "; did you mean '" + found + "'?";
}

} // namespace yk::cli
