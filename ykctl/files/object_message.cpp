// SPDX-License-Identifier: Apache-2.0
#include "ykctl/files/object_message.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libcore/config/quantity.h"
#include "protocol/si/enums.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/cli/values.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using config_yaml::Mark;
using config_yaml::Node;
using wire::Value;
using Kind = Node::Kind;

bool is_named(const FieldSpec& field, const std::string& key) {
    if (field.type == FieldType::Schedulable) return key == field.shown_as; // its name is that of the action
    return key == field.name || (field.shown_as != nullptr && key == field.shown_as);
}

const FieldSpec* find(const MessageSpec& spec, const std::string& key) {
    const auto found = std::find_if(spec.fields.begin(), spec.fields.end(),
                                    [&key](const FieldSpec& field) { return is_named(field, key); });
    return found == spec.fields.end() ? nullptr : &*found;
}

bool is_only_shown(const MessageSpec& spec, const std::string& key) {
    return std::any_of(spec.only_shown.begin(), spec.only_shown.end(),
                       [&key](const char* name) { return key == name; });
}

/// Where in its message a field is: `ugi.user`.
std::string place_of(const FieldSpec& field) {
    return field.within == nullptr ? field.name : fmt::format("{}.{}", field.within, field.name);
}

/// The key by which the same place was given, or one in it or around it.
std::optional<std::string> given_with(const std::map<std::string, std::string>& given, const std::string& place) {
    for (const auto& [other, key] : given)
        if (other == place || other.starts_with(place + ".") || place.starts_with(other + ".")) return key;
    return std::nullopt;
}

} // namespace

Answer<Value> ObjectReader::message(const Node& tree, const MessageSpec& spec) const {
    if (tree.kind != Kind::Mapping)
        return wrong(tree.mark, fmt::format("expected a {} (a map of its fields)", spec.name));
    auto message = Value::object();
    std::map<std::string, std::string> given; // where in the message, by which key
    for (const auto& [key, mark, value] : tree.members) {
        const auto* field = find(spec, key);
        if (field == nullptr && is_only_shown(spec, key)) continue;
        if (field == nullptr) return unknown_field(key, mark, spec);
        const auto place = place_of(*field);
        if (const auto other = given_with(given, place)) {
            return wrong(mark, key == *other ? key + " is given twice"
                                             : fmt::format("{} says what {} says, too: leave one out", key, *other));
        }
        given.emplace(place, key);
        if (value->kind == Kind::Null || field->type == FieldType::Ignored) continue; // nil counts as absent (I-313)
        YK_TRY(converted, field_value(*value, *field, key));
        if (field->required && converted == "") return wrong(value->mark, key + " is empty");
        (field->within == nullptr ? message : message[field->within])[field->name] = std::move(converted);
    }
    for (const auto& field : spec.fields) {
        if (field.required && !message.contains(field.name))
            return wrong(tree.mark, fmt::format("{} lacks {}", spec.name, field.name));
    }
    return message;
}

Failure ObjectReader::wrong(const Mark& at, const std::string& what) const {
    if (at.column == 0) return usage_error(fmt::format("{}:{}: {}", file_, at.line, what));
    return usage_error(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what));
}

Failure ObjectReader::unknown_field(const std::string& key, const Mark& at, const MessageSpec& spec) const {
    std::vector<std::string> names;
    for (const auto& field : spec.fields) names.emplace_back(field.name);
    Failure failure = wrong(at, fmt::format("unknown field '{}' in {}{}", key, spec.name, did_you_mean(key, names)));
    failure.hints = {"there are:  " + join(names, ", ")};
    return failure;
}

Answer<Value> ObjectReader::field_value(const Node& tree, const FieldSpec& field, const std::string& key) const {
    switch (field.type) {
    case FieldType::Text: return text(tree, key);
    case FieldType::Integer: return integer(tree, key, false);
    case FieldType::Number: return integer(tree, key, true);
    case FieldType::Boolean: return boolean(tree, key);
    case FieldType::Resource: return amount_map(tree, key);
    case FieldType::Texts: return texts(tree, key);
    case FieldType::TextMap: return text_map(tree, key);
    case FieldType::Action: return action(tree);
    case FieldType::Message: return message(tree, *field.message);
    case FieldType::Messages: return messages(tree, field);
    case FieldType::Tree: return any(tree);
    case FieldType::Schedulable: {
        YK_TRY(takes_work, boolean(tree, key));
        return Value(static_cast<int>(takes_work == true ? si::NodeAction::Create : si::NodeAction::CreateDrain));
    }
    case FieldType::Ignored: break; // message() leaves it out
    }
    return wrong(tree.mark, "a field of no known type");
}

Answer<Value> ObjectReader::text(const Node& tree, const std::string& name) const {
    if (tree.kind != Kind::Scalar) return wrong(tree.mark, name + " must be a text");
    return Value(tree.scalar);
}

Answer<Value> ObjectReader::integer(const Node& tree, const std::string& name, bool is_also_quoted) const {
    const bool may_be_number = tree.kind == Kind::Scalar && (is_also_quoted || tree.is_plain());
    if (!may_be_number) return wrong(tree.mark, name + " must be a whole number");
    const auto number = parse_integer(tree.scalar);
    if (!number.ok()) return wrong(tree.mark, name + ": " + number.error().message);
    return Value(*number);
}

Answer<Value> ObjectReader::boolean(const Node& tree, const std::string& name) const {
    if (!tree.is_plain() || (tree.scalar != "true" && tree.scalar != "false")) {
        return wrong(tree.mark, name + " must be true or false");
    }
    return Value(tree.scalar == "true");
}

Answer<Value> ObjectReader::amount_map(const Node& tree, const std::string& name) const {
    if (tree.kind != Kind::Mapping) return wrong(tree.mark, name + " must be a map of resource names to amounts");
    const auto is_number = [](const Node& amount) { return amount.is_plain() && parse_integer(amount.scalar).ok(); };
    const bool in_base_units = std::all_of(tree.members.begin(), tree.members.end(),
                                           [&](const auto& member) { return is_number(*member.value); });
    auto amounts = Value::object();
    for (const auto& [key, mark, value] : tree.members) {
        if (value->kind != Kind::Scalar) return wrong(value->mark, fmt::format("{}.{} must be an amount", name, key));
        const auto amount = in_base_units ? parse_integer(value->scalar) : config::parse_quantity(key, value->scalar);
        if (!amount.ok()) return wrong(value->mark, fmt::format("{}.{}: {}", name, key, amount.error().message));
        if (amounts.contains(key)) return wrong(mark, name + "." + key + " is given twice");
        amounts[key] = *amount;
    }
    return amounts;
}

Answer<Value> ObjectReader::texts(const Node& tree, const std::string& name) const {
    if (tree.kind != Kind::Sequence) return wrong(tree.mark, name + " must be a list of texts");
    auto list = Value::array();
    for (const auto& item : tree.items) {
        YK_TRY(converted, text(*item, name + "[]"));
        list.push_back(std::move(converted));
    }
    return list;
}

Answer<Value> ObjectReader::text_map(const Node& tree, const std::string& name) const {
    if (tree.kind != Kind::Mapping) return wrong(tree.mark, name + " must be a map of texts");
    auto map = Value::object();
    for (const auto& [key, mark, value] : tree.members) {
        if (map.contains(key)) return wrong(mark, name + "." + key + " is given twice");
        YK_TRY(converted, text(*value, name + "." + key));
        map[key] = std::move(converted);
    }
    return map;
}

/// A scalar without quotes that looks like a whole number, true or false is one.
Answer<Value> ObjectReader::any(const Node& tree) const {
    if (tree.kind == Kind::Null) return Value{};
    if (tree.kind == Kind::Sequence) {
        auto list = Value::array();
        for (const auto& item : tree.items) {
            YK_TRY(converted, any(*item));
            list.push_back(std::move(converted));
        }
        return list;
    }
    if (tree.kind == Kind::Mapping) {
        auto map = Value::object();
        for (const auto& [key, mark, value] : tree.members) {
            if (map.contains(key)) return wrong(mark, key + " is given twice");
            YK_TRY(converted, any(*value));
            map[key] = std::move(converted);
        }
        return map;
    }
    if (tree.is_plain() && (tree.scalar == "true" || tree.scalar == "false")) return Value(tree.scalar == "true");
    if (const auto number = parse_integer(tree.scalar); tree.is_plain() && number.ok()) return Value(*number);
    return Value(tree.scalar);
}

Answer<Value> ObjectReader::action(const Node& tree) const {
    if (tree.kind != Kind::Scalar) return wrong(tree.mark, "action must be a text such as CREATE");
    if (const auto number = parse_integer(tree.scalar); number.ok() && tree.is_plain()) return Value(*number);
    auto upper = tree.scalar;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    if (const auto known = si::find_node_action(upper)) return Value(static_cast<int>(*known));
    return wrong(tree.mark, fmt::format("unknown action '{}': CREATE, CREATE_DRAIN, UPDATE, DRAIN, SCHEDULABLE or "
                                        "DECOMISSION",
                                        tree.scalar));
}

Answer<Value> ObjectReader::messages(const Node& tree, const FieldSpec& field) const {
    if (tree.kind != Kind::Sequence) return wrong(tree.mark, std::string{field.name} + " must be a list");
    auto list = Value::array();
    for (const auto& item : tree.items) {
        YK_TRY(converted, message(*item, *field.message));
        list.push_back(std::move(converted));
    }
    return list;
}

} // namespace yk::cli
