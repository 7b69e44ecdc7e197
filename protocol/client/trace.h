// SPDX-License-Identifier: Apache-2.0
#pragma once
// The --trace of clients: messages as one line of JSON each on standard error.

#include <string>
#include <string_view>

namespace yk::wire {

/// `message` in JSON: bytes as hexadecimal text, tokens masked (I-342). For a message that
/// cannot be read, a sentence with its size.
[[nodiscard]] std::string message_text(std::string_view message);

/// Prints the message on standard error behind `direction` (`->` or `<-`).
void trace_message(std::string_view direction, std::string_view message);

} // namespace yk::wire
