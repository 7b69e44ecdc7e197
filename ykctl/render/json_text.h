// SPDX-License-Identifier: Apache-2.0
#pragma once
// A value as JSON text. JSON has no bytes: they become a text of hexadecimal digits.

#include <string>

#include "protocol/wire/value.h"

namespace yk::cli {

/// The value with its bytes replaced by texts of hexadecimal digits.
[[nodiscard]] wire::Value without_bytes(const wire::Value& value);
/// JSON without a newline at its end. `indent` is the number of blanks per level; with -1 all is one line.
[[nodiscard]] std::string json_text(const wire::Value& value, int indent = -1);
/// JSON with two blanks of indentation, or as one line; both end with a newline.
[[nodiscard]] std::string pretty_json(const wire::Value& value);
[[nodiscard]] std::string json_line(const wire::Value& value);

} // namespace yk::cli
