// SPDX-License-Identifier: Apache-2.0
#pragma once
// Contexts: the daemons that a user works with, each with a name; kept in $XDG_CONFIG_HOME/ykctl/contexts.yaml, which
// ykctl alone writes (the client's file beside it is the user's own).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ykctl/cli/failure.h"

namespace yk::cli {

/// Values for keys of kContextKeys.
using ContextValues = std::map<std::string, std::string>;

/// What a context may say: where a daemon is, how it is reached, and for whom to act.
inline const std::vector<std::string> kContextKeys{"socket", "rm", "partition", "token-file", "tls-ca"};

struct NamedContexts {
    std::string used; // that of `context use`; empty: none
    std::map<std::string, ContextValues> by_name;
};

/// What the file has; nothing when there is none. Usage errors name the place in it.
[[nodiscard]] Answer<NamedContexts> read_contexts(const std::string& path);
/// Writes the file, and its folder if there is none.
[[nodiscard]] std::optional<Failure> write_contexts(const std::string& path, const NamedContexts& contexts);
/// The context of a name; a not-found failure says which there are.
[[nodiscard]] Answer<ContextValues> context_named(const NamedContexts& contexts, const std::string& name);

} // namespace yk::cli
