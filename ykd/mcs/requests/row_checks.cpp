// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/row_checks.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "libcore/base/text.h"

namespace yk::service {

using si::ErrorCode;

Error fault(ErrorCode code, std::string message, std::string path) {
    return Error::coded(static_cast<int>(code), std::move(message), std::move(path));
}

namespace {

/// Nothing is seen of it, whatever its width is.
bool is_blank(char32_t code) {
    return code == ' ' || code == 0xA0 || code == 0xAD || code == 0x1680 || (code >= 0x2000 && code <= 0x200B) ||
           code == 0x2028 || code == 0x2029 || code == 0x2060 || code == 0x3000 || code == 0x3164 || code == 0xFEFF;
}
/// What changes how a text is shown, and is not seen: also the marks that only hint at a direction.
bool is_control(char32_t code) {
    return is_terminal_command(code) || code == 0x200E || code == 0x200F || code == 0x61C;
}

/// Whether a person can see the name, and sees it as it is.
Result<void> check_characters(std::string_view name, const char* path) {
    bool is_seen = false;
    while (!name.empty()) {
        const auto [length, code] = decode_character(name);
        if (length == 0 || is_control(code))
            return fault(ErrorCode::Invalid,
                         "it has a control character, or one that turns the direction of the text: name it without",
                         path);
        is_seen = is_seen || !is_blank(code);
        name.remove_prefix(length);
    }
    return is_seen ? Result<void>{} : fault(ErrorCode::Invalid, "it has nothing but blanks: give it a name", path);
}

} // namespace

Result<void> check_name(const std::string& name, const char* path) {
    constexpr std::size_t kMost = 200; // bytes; application ids and keys are made of it (rs R-126)
    if (name.empty()) return fault(ErrorCode::MissingField, "it is missing", path);
    if (name.size() > kMost)
        return fault(ErrorCode::Invalid, fmt::format("it has {} bytes, of at most {}", name.size(), kMost), path);
    return check_characters(name, path);
}

Result<mcs::Amounts> amounts_of(const si::Resources& resource) {
    mcs::Amounts amounts;
    for (const auto& [type, amount] : resource) {
        if (amount < 0) return fault(ErrorCode::Invalid, type + " is below 0", "body.resource");
        amounts.emplace(type, amount);
    }
    return amounts;
}

} // namespace yk::service
