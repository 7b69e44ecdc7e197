// SPDX-License-Identifier: Apache-2.0
#include "libcore/config_yaml/scalars.h"

#include <array>
#include <cmath>

#include "libcore/base/number.h"
#include "libcore/base/text.h"

namespace yk::config_yaml {

namespace {

constexpr std::array<std::string_view, 11> kTrue{"true", "True", "TRUE", "yes", "Yes", "YES",
                                                 "on",   "On",   "ON",   "y",   "Y"};
constexpr std::array<std::string_view, 11> kFalse{"false", "False", "FALSE", "no", "No", "NO",
                                                  "off",   "Off",   "OFF",   "n",  "N"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
    for (const std::string_view each : words)
        if (each == word) return true;
    return false;
}

/// The short tag that a YAML 1.2 parser gives the node.
std::string_view tag_of(const Node& node) {
    switch (node.kind) {
    case Node::Kind::Null: return "!!null";
    case Node::Kind::Sequence: return "!!seq";
    case Node::Kind::Mapping: return "!!map";
    case Node::Kind::Scalar: break;
    }
    if (node.quoted) return "!!str";
    if (to_number<std::int64_t>(node.scalar) || to_number<std::uint64_t>(node.scalar)) return "!!int";
    if (to_double(node)) return "!!float";
    if (const auto boolean = to_bool(node); boolean && node.scalar.size() >= 4 && node.scalar.size() <= 5)
        return "!!bool";
    return "!!str";
}

} // namespace

std::optional<bool> to_bool(const Node& node) {
    if (!node.is_plain()) return std::nullopt;
    if (contains(kTrue, node.scalar)) return true;
    if (contains(kFalse, node.scalar)) return false;
    return std::nullopt;
}

std::optional<std::uint64_t> to_unsigned(const Node& node) {
    if (!node.is_plain()) return std::nullopt;
    return to_number<std::uint64_t>(node.scalar);
}

std::optional<double> to_double(const Node& node) {
    if (!node.is_plain()) return std::nullopt;
    const std::string_view text = node.scalar;
    const auto value = to_number<double>(!text.empty() && text[0] == '+' ? text.substr(1) : text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string cannot_unmarshal(const Node& node, std::string_view go_type) {
    constexpr std::size_t kShown = 10; // the original shortens longer ones to 7
    std::string text = "cannot unmarshal " + std::string{tag_of(node)};
    if (node.kind == Node::Kind::Scalar) text += " `" + shortened(node.scalar, kShown) + '`';
    return text + " into " + std::string{go_type};
}

} // namespace yk::config_yaml
