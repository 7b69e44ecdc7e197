#pragma once
// Files of -f: SI messages as YAML, JSON or JSON-lines, one, a list, or several documents of either.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/wire/value.h"
#include "ykctl/commands/failure.h"
#include "ykctl/commands/si_schema.h"

namespace yk::cli {

/// What is done with one message. A failure ends the walk.
using ObjectSink = std::function<std::optional<Failure>(wire::Value)>;

/// Hands every message of `text` to `sink`, in file order. Usage errors (exit 2) name file, line and column: what is
/// not YAML or JSON, a field that `spec` does not have, a value of the wrong type, a required field that is missing.
/// JSON-lines cost memory for one line at a time; a YAML or JSON document is held as a whole.
[[nodiscard]] std::optional<Failure> for_each_object(std::string_view text, const std::string& file,
                                                     const MessageSpec& spec, const ObjectSink& sink);

} // namespace yk::cli
