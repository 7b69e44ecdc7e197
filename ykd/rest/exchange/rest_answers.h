// SPDX-License-Identifier: Apache-2.0
#pragma once
// The answers of the REST interface in the form of the original: JSON as Go writes it, its headers, its errors. Pure.

#include <string>
#include <string_view>

#include "protocol/http/http_message.h"
#include "protocol/si/errors.h"
#include "protocol/wire/value.h"
#include "ykd/rest/exchange/rest_reply.h"

namespace yk::service {

using http::HttpAnswer;

/// The value in one line, as Go's encoder writes it: `<`, `>` and `&` as escapes. Text that is no UTF-8 is replaced.
[[nodiscard]] std::string json_text(const wire::Value& value);
/// As json_text(), with a line for each member, indented by so many blanks.
[[nodiscard]] std::string indented_json_text(const wire::Value& value, int blanks);

/// Whether Go leaves the value out where its structures say `omitempty`: null, no, 0, or nothing in it.
[[nodiscard]] bool is_omitted(const wire::Value& value);

/// 200 with the value and a final newline.
[[nodiscard]] HttpAnswer json_answer(const wire::Value& value);
/// An answer of a handler without its body: with the headers that all of these have.
[[nodiscard]] HttpAnswer handler_answer(int status);
/// `{"status_code":404,"message":M,"description":M}`.
[[nodiscard]] HttpAnswer error_answer(int status, std::string_view message);
/// The answer to who could not be answered, by the code of the daemon.
[[nodiscard]] HttpAnswer error_answer(si::ErrorCode code, std::string_view message);

/// The same of a reply that is a refusal.
[[nodiscard]] HttpAnswer refused(const RestReply& reply);

/// A plain text with a final newline, as the original's router answers: without the headers of handlers.
[[nodiscard]] HttpAnswer text_answer(int status, std::string_view text);
[[nodiscard]] HttpAnswer moved_answer(const std::string& location, bool with_body);

} // namespace yk::service
