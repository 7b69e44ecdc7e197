// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/config_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace yk::scenario {
namespace {

using config_yaml::Node;

std::string quoted_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out.append({'\\', c});
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\x{:02x}", byte);
        else
            out += c;
    }
    return out + '"';
}

bool is_word_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Whether a plain scalar could be a number or a truth value, and so has to stay without quotes. Any other is the same
/// text in quotes, so that the rules for plain scalars are not needed here.
bool is_word(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_word_character) &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_word_character(c) || c == '_' || c == '.' || c == '+' || c == '-'; });
}

std::string scalar_text(const Node& node) {
    if (node.kind == Node::Kind::Null) return "~";
    return !node.quoted && is_word(node.scalar) ? node.scalar : quoted_text(node.scalar);
}

void emit(const Node& node, std::size_t indent, std::string& out);

/// Appends the value after `-` or `key:`; lists and maps begin on the next line.
void emit_value(const Node& node, std::size_t indent, std::string& out) {
    out += node.items.empty() && node.members.empty() ? ' ' : '\n';
    emit(node, indent + 1, out);
}

void emit(const Node& node, std::size_t indent, std::string& out) {
    if (node.kind == Node::Kind::Sequence && node.items.empty()) out += "[]\n";
    if (node.kind == Node::Kind::Mapping && node.members.empty()) out += "{}\n";
    if (node.kind == Node::Kind::Scalar || node.kind == Node::Kind::Null) out += scalar_text(node) + '\n';
    for (const config_yaml::NodePtr& item : node.items) {
        out.append(indent, ' ') += '-';
        emit_value(*item, indent, out);
    }
    for (const config_yaml::Member& member : node.members) {
        out.append(indent, ' ') += quoted_text(member.key) + ':';
        emit_value(*member.value, indent, out);
    }
}

} // namespace

std::string to_yaml(const Node& node) {
    std::string out;
    emit(node, 0, out);
    return out;
}

} // namespace yk::scenario
