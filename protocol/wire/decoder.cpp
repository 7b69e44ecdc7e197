// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/decoder.h"

namespace yk::wire {

bool Decoder::read(si::Binary& out, TextRule) {
    if (!expect(Type::Binary)) return false;
    out.bytes.assign(cursor_.binary());
    return true;
}

bool Decoder::read(si::EncodedMap& out, TextRule) {
    if (!expect(Type::Map)) return false;
    out.bytes.assign(cursor_.body().bytes());
    return true;
}

bool Decoder::list(std::uint32_t& size) {
    if (!expect(Type::List)) return false;
    size = cursor_.list();
    return check_size(size);
}

bool Decoder::check_size(std::uint32_t elements) {
    return elements <= kMaxListElements || fail(si::ErrorCode::Limit, list_limit_message(elements));
}

bool Decoder::fail(si::ErrorCode code, std::string message) {
    error_ = {code, std::move(message), {}};
    return false;
}

bool Decoder::fail_type(Type expected) {
    return fail(si::ErrorCode::Type,
                fmt::format("expected {}, got {}", wire::text(expected), wire::text(cursor_.type())));
}

bool Decoder::fail_range(bool is_signed, std::size_t bits) {
    return fail(si::ErrorCode::Type,
                fmt::format("the integer does not fit {} bits {} sign", bits, is_signed ? "with" : "without"));
}

bool Decoder::fail_text(TextFault fault, std::string_view text, TextRule rule) {
    if (!options_.check_texts && fault != TextFault::NotUtf8) return true;
    error_ = text_error(fault, text, rule);
    return false;
}

bool Decoder::fail_tags(std::size_t bytes) {
    return !options_.check_texts || fail(si::ErrorCode::Limit, tags_limit_message(bytes));
}

bool Decoder::fail_missing(std::string_view name) {
    fail(si::ErrorCode::MissingField, missing_message(name));
    return in_field(name);
}

bool Decoder::fail_unknown(std::string_view key) {
    fail(si::ErrorCode::Invalid, "unknown key");
    return in_field(shown_key(key));
}

/// Puts `name` in front of the path of the fault. Returns false, so that callers can return its result.
bool Decoder::in_field(std::string_view name) {
    std::string& path = error_.path;
    const bool joins = path.empty() || path.front() == '[';
    path = fmt::format("{}{}{}", name, joins ? "" : ".", path);
    return false;
}

bool Decoder::in_element(std::uint32_t index) {
    std::string& path = error_.path;
    const bool joins = path.empty() || path.front() == '[';
    path = fmt::format("[{}]{}{}", index, joins ? "" : ".", path);
    return false;
}

} // namespace yk::wire
