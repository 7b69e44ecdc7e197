// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/exchange/rest_answers.h"

#include <fmt/format.h>

namespace yk::service {
namespace {

constexpr int kCompact = -1;
constexpr const char* kJson = "application/json; charset=UTF-8";

/// What a page in HTML could take for markup, and two separators that JavaScript took for the end of a line, are
/// escaped. Outside of texts JSON has none of these.
std::string as_go_escapes(const std::string& json) {
    std::string escaped;
    escaped.reserve(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
        const std::string_view rest = std::string_view(json).substr(i);
        if (json[i] == '<' || json[i] == '>' || json[i] == '&') {
            escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(json[i]));
        } else if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {
            escaped += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
            i += 2;
        } else {
            escaped += json[i];
        }
    }
    return escaped;
}

/// As Go writes a text into HTML.
std::string html_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
        case '&': escaped += "&amp;"; break;
        case '<': escaped += "&lt;"; break;
        case '>': escaped += "&gt;"; break;
        case '"': escaped += "&#34;"; break;
        case '\'': escaped += "&#39;"; break;
        default: escaped += c;
        }
    }
    return escaped;
}

std::string text_of(const wire::Value& value, int blanks) {
    return as_go_escapes(value.dump(blanks, ' ', false, wire::Value::error_handler_t::replace));
}

int status_of(si::ErrorCode code) {
    using si::ErrorCode;
    switch (code) {
    case ErrorCode::NotFound: return 404;
    case ErrorCode::Limit:
    case ErrorCode::Type:
    case ErrorCode::MissingField:
    case ErrorCode::Invalid: return 400;
    case ErrorCode::Auth: return 401;
    case ErrorCode::Forbidden: return 403;
    case ErrorCode::BadState: return 409;
    case ErrorCode::Busy:
    case ErrorCode::ShuttingDown: return 503;
    case ErrorCode::Timeout: return 504;
    default: return 500;
    }
}

} // namespace

std::string json_text(const wire::Value& value) {
    return text_of(value, kCompact);
}

std::string indented_json_text(const wire::Value& value, int blanks) {
    return text_of(value, blanks);
}

HttpAnswer handler_answer(int status) {
    HttpAnswer answer;
    answer.status = status;
    answer.content_type = kJson;
    return answer;
}

bool is_omitted(const wire::Value& value) {
    if (value.is_number()) return value == 0;
    if (value.is_boolean()) return !value.get<bool>();
    return value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty();
}

HttpAnswer json_answer(const wire::Value& value) {
    HttpAnswer answer = handler_answer(200);
    answer.body = json_text(value) + "\n";
    return answer;
}

HttpAnswer error_answer(int status, std::string_view message) {
    HttpAnswer answer = handler_answer(status);
    answer.body = json_text({{"status_code", status}, {"message", message}, {"description", message}}) + "\n";
    return answer;
}

HttpAnswer error_answer(si::ErrorCode code, std::string_view message) {
    HttpAnswer answer = error_answer(status_of(code), message);
    if (answer.status == 503) answer.headers.emplace_back("Retry-After", "1");
    return answer;
}

HttpAnswer refused(const RestReply& reply) {
    return error_answer(reply.code, reply.message);
}

HttpAnswer text_answer(int status, std::string_view text) {
    HttpAnswer answer;
    answer.status = status;
    answer.content_type = "text/plain; charset=utf-8";
    answer.body = std::string(text) + "\n";
    return answer;
}

HttpAnswer moved_answer(const std::string& location, bool with_body) {
    HttpAnswer answer;
    answer.status = with_body ? 301 : 308;
    answer.headers.emplace_back("Location", location);
    if (!with_body) return answer;
    answer.content_type = "text/html; charset=utf-8";
    answer.body = fmt::format("<a href=\"{}\">Moved Permanently</a>.\n\n", html_text(location));
    return answer;
}

} // namespace yk::service
