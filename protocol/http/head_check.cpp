// SPDX-License-Identifier: Apache-2.0
#include "protocol/http/head_check.h"

namespace yk::http {
namespace {

/// The bytes of a token, which the name of a header is (RFC 9110, 5.6.2).
bool is_of_token(char c) noexcept {
    constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
}

} // namespace

void HeadCheck::fail(std::string_view why) noexcept {
    if (fault_.empty()) fault_ = why;
}

void HeadCheck::take(char byte) noexcept {
    if (is_over_) return;
    if (byte == '\n') {
        if (last_ != '\r') fail("each line of the head has to end with CR and LF");
        end_line();
    } else {
        if (last_ == '\r') fail("there is a CR within a line of the head");
        if (byte != '\r') take_of_line(byte);
    }
    last_ = byte;
}

void HeadCheck::take_of_line(char byte) noexcept {
    if (++length_ > kLongestLine) {
        is_line_too_long_ = true;
        fail("a line of the head has more than 8 KiB");
    }
    if (line_ == 0 || has_colon_) {
        if ((byte >= 0 && byte < ' ' && byte != '\t') || byte == 0x7f) fail("there is a control character in the head");
        return;
    }
    has_colon_ = byte == ':';
    if (has_colon_ && length_ == 1) fail("the name of a header is empty");
    if (!has_colon_ && !is_of_token(byte))
        fail("the name of a header can only have letters, digits and !#$%&'*+-.^_`|~, up to the colon");
}

void HeadCheck::end_line() noexcept {
    if (line_ > 0 && length_ == 0) {
        is_over_ = true;
        return;
    }
    if (line_ > 0 && !has_colon_) fail("a header has no colon");
    ++line_;
    length_ = 0;
    has_colon_ = false;
}

} // namespace yk::http
