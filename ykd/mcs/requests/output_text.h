// SPDX-License-Identifier: Apache-2.0
#pragma once
// A part of what a command has written, as a text that an answer may have.

#include <string>

namespace yk::service {

/// The whole characters of it; a byte that is part of none becomes a question mark, so the text is never longer. A
/// character whose end is still to come is left to the next part. Cost: O(bytes).
[[nodiscard]] std::string output_text(std::string bytes);

} // namespace yk::service
