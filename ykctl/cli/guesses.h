// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hints for people who know other tools: words that mean one of ykctl, and what ykctl does instead of their commands.

#include <string>
#include <string_view>
#include <vector>

namespace yk::cli {

/// The commands that a verb may mean, the most likely first: `remove`, `release`, `deregister` for `delete`.
[[nodiscard]] const std::vector<std::string>& meanings_of(std::string_view verb);

/// How ykctl does what a command of another tool does, for a word that is no command: `drain`, `sinfo`. Empty when the
/// word is unknown.
[[nodiscard]] std::string_view done_here(std::string_view word);
/// The same for a word behind a noun, as in `queue add`.
[[nodiscard]] std::string_view done_here(std::string_view noun, std::string_view word);
/// The same for a name behind a verb of ours that wants the kind of the object first, as in `explain big`.
[[nodiscard]] std::string_view kind_here(std::string_view verb);
/// The same for one argument too many of a command, such as the address behind `ykctl context add NAME`.
[[nodiscard]] std::string argument_here(std::string_view path, std::string_view word);
/// The same for an option, as `--cpu`.
[[nodiscard]] std::string_view option_here(std::string_view option);
/// What to say of an error that quotes a form of output of another tool, such as jsonpath; empty: it quotes none.
[[nodiscard]] std::string_view form_here(std::string_view error);

} // namespace yk::cli
