// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files of -f: SI messages as YAML, JSON or JSON-lines; one message, a list, or several documents.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/cli/failure.h"
#include "ykctl/files/si_schema.h"

namespace yk::cli {

/// The kinds of messages that a file may hold. Where it does not say which, an object is of the first whose first field
/// it has.
using Kinds = std::vector<const MessageSpec*>;

/// Takes one message. A failure ends the walk.
using KindSink = std::function<std::optional<Failure>(const MessageSpec& kind, wire::Value)>;
using ObjectSink = std::function<std::optional<Failure>(wire::Value)>;

/// Hands every message of `text` to `sink`, in file order. Usage errors (exit 2) name file, line and column: what is
/// not YAML or JSON, a field that the message does not have, a value of the wrong type, a required field that is
/// missing or empty. JSON-lines cost memory for one line at a time; a YAML or JSON document is held as a whole.
[[nodiscard]] std::optional<Failure> for_each_object(std::string_view text, const std::string& file, const Kinds& kinds,
                                                     const KindSink& sink);
/// The same for a file of one kind, `spec`.
[[nodiscard]] std::optional<Failure> for_each_object(std::string_view text, const std::string& file,
                                                     const MessageSpec& spec, const ObjectSink& sink);

} // namespace yk::cli
