#pragma once
// What people type who know other tools: words that mean one of ours, and commands that are done otherwise here.

#include <string>
#include <string_view>
#include <vector>

namespace yk::cli {

/// The commands that a verb may mean, the likeliest first: `remove`, `release`, `deregister` for `delete`. Empty: none.
[[nodiscard]] const std::vector<std::string>& meanings_of(std::string_view verb);

/// How to do here what a command of another tool does, for a word that is no command: `drain`, `sinfo`. Empty: unknown.
[[nodiscard]] std::string_view done_here(std::string_view word);
/// The same for a word behind a noun: `queue add`.
[[nodiscard]] std::string_view done_here(std::string_view noun, std::string_view word);
/// The same for an option: `--cpu`.
[[nodiscard]] std::string_view option_here(std::string_view option);

} // namespace yk::cli
