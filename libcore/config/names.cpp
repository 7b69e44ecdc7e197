// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/names.h"

#include <algorithm>

namespace yk::config {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_alphanumeric(char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
}

bool consists_of(std::string_view text, std::string_view further) {
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return is_alphanumeric(c) || further.find(c) != std::string_view::npos; });
}

bool starts_as_name(std::string_view text) {
    return !text.empty() && (is_letter(text[0]) || text[0] == '_');
}

} // namespace

bool is_queue_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && consists_of(name, "_:#/@-");
}

bool is_user_name(std::string_view name) {
    if (!starts_as_name(name)) return false;
    if (name.back() == '$') name.remove_suffix(1);
    return consists_of(name, ":#/_.@-");
}

bool is_group_name(std::string_view name) {
    return starts_as_name(name) && consists_of(name, ":_.-");
}

bool is_identifier(std::string_view name) {
    return starts_as_name(name) && consists_of(name, "_");
}

} // namespace yk::config
