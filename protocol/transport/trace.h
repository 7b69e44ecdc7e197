#pragma once
// The --trace of clients: messages as one line of JSON each on standard error.

#include <string>
#include <string_view>

namespace yk::wire {

/// `message` in JSON: bytes as hexadecimal text, tokens masked (I-342). A message that cannot be read is told as such.
[[nodiscard]] std::string message_text(std::string_view message);

void trace_message(std::string_view direction, std::string_view message);

} // namespace yk::wire
