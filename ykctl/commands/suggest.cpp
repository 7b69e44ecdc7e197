#include "ykctl/commands/suggest.h"

#include <algorithm>

#include "libcore/config/suggest.h"

namespace yk::cli {
namespace {

constexpr std::size_t kShortestStart = 3; // fewer letters begin too many words

} // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const std::vector<std::string_view> known(candidates.begin(), candidates.end());
    const auto begins_so = [&](std::string_view candidate) { return candidate.substr(0, word.size()) == word; };
    const auto longer = std::find_if(known.begin(), known.end(), begins_so);
    const auto found =
        longer != known.end() && word.size() >= kShortestStart ? std::string{*longer} : config::nearest(word, known);
    return found.empty() ? std::string{} : "; did you mean '" + found + "'?";
}

} // namespace yk::cli
