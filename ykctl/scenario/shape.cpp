// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/shape.h"

#include "libcore/config/duration.h"
#include "libcore/config/quantity.h"
#include "protocol/si/enums.h"
#include "ykctl/scenario/config_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace yk::scenario {
namespace {

using Kind = Node::Kind;

/// The longest duration; a longer one is taken for a typing error.
constexpr Duration kLongestDuration = std::chrono::hours{10 * 366 * 24};

std::string_view kind_name(const Node& node) {
    switch (node.kind) {
    case Kind::Null: return "nothing";
    case Kind::Scalar: return "a single value";
    case Kind::Sequence: return "a list";
    case Kind::Mapping: return "a map";
    }
    return "";
}

std::string key_names(const Shape& shape) {
    std::string names;
    for (const Field& field : shape.fields) names.append(names.empty() ? "" : ", ").append(field.key);
    return names;
}

} // namespace

void ShapeReader::fail(const Mark& at, std::string message) {
    if (!error_) error_ = Error::at(fmt::format("{}:{}:{}", file_, at.line, at.column), std::move(message));
}

bool ShapeReader::expect_kind(const Node& node, Kind kind, std::string_view name) {
    if (node.kind == kind) return true;
    fail(node.mark,
         fmt::format("{} must be {}, not {}", name, kind == Kind::Mapping ? "a map" : "a list", kind_name(node)));
    return false;
}

const Field* ShapeReader::find_field(const Member& member, const Shape& shape) {
    for (const Field& field : shape.fields)
        if (field.key == member.key) return &field;
    fail(member.mark, fmt::format("unknown key \"{}\" in {} (known: {})", member.key, shape.name, key_names(shape)));
    return nullptr;
}

Value ShapeReader::read(const Node& node, const Shape& shape) {
    Value out = Value::object();
    if (!expect_kind(node, Kind::Mapping, shape.name)) return out;
    for (const Member& member : node.members) {
        const Field* field = find_field(member, shape);
        if (failed()) return out;
        const std::string name{field->wire_key.empty() ? field->key : field->wire_key};
        if (out.contains(name)) fail(member.mark, fmt::format("\"{}\" is given twice in {}", name, shape.name));
        out[name] = read_field(*member.value, *field);
    }
    if (out.size() > 1 && out.contains("exists") && out["exists"] == false)
        fail(node.mark, "exists: false stands alone");
    return out;
}

Value ShapeReader::read_list(const Node& node, const Shape& shape) {
    Value out = Value::array();
    if (!expect_kind(node, Kind::Sequence, shape.name)) return out;
    std::int64_t elements = 0;
    for (const config_yaml::NodePtr& item : node.items) {
        out.push_back(read(*item, shape));
        if (failed()) break;
        const auto repeat = out.back().find("repeat");
        elements += repeat != out.back().end() ? repeat->get<std::int64_t>() : 1;
        if (elements > kMaxElements) fail(item->mark, fmt::format("more than {} elements in one step", kMaxElements));
    }
    return out;
}

Value ShapeReader::read_map_of(const Node& node, const Field& element) {
    Value out = Value::object();
    if (!expect_kind(node, Kind::Mapping, element.key)) return out;
    for (const Member& member : node.members) {
        // Keys are unique already, so that Value need not compare each with all others.
        out.get_ref<Value::object_t&>().emplace_back(member.key, read_field(*member.value, element));
        if (failed()) break;
    }
    return out;
}

/// Integers in base units, or, as soon as one has a suffix (`64Gi`), quantities as a configuration has them.
Value ShapeReader::read_amounts(const Node& node, const Field& field) {
    const auto is_quantity = [](const Member& member) {
        const Node& value = *member.value;
        const bool is_text = value.is_plain() && value.scalar.find_first_not_of("-0123456789") != std::string::npos;
        return is_text && config::parse_quantity(member.key, value.scalar).ok();
    };
    if (std::none_of(node.members.begin(), node.members.end(), is_quantity))
        return read_map_of(node, {field.key, FieldType::Int64});
    Value out = Value::object();
    for (const Member& member : node.members) {
        const auto amount = config::parse_quantity(member.key, text(*member.value));
        if (!failed() && !amount.ok()) fail(member.value->mark, member.key + ": " + amount.error().message);
        if (failed()) break;
        out[member.key] = *amount;
    }
    return out;
}

Value ShapeReader::read_integer_lists(const Node& node, const Field& field) {
    Value out = Value::object();
    if (!expect_kind(node, Kind::Mapping, field.key)) return out;
    for (const Member& member : node.members) {
        Value list = Value::array();
        if (!expect_kind(*member.value, Kind::Sequence, member.key)) return out;
        for (const config_yaml::NodePtr& item : member.value->items)
            list.push_back(
                integer(*item, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
        out[member.key] = std::move(list);
    }
    return out;
}

Value ShapeReader::read_devices(const Node& node, const Field& field) {
    static const Shape kStated{"devices", {{"count", FieldType::Count}, {"each", FieldType::Int64}}};
    static const Shape kNamed{"a device", {{"index", FieldType::Count}, {"amount", FieldType::Int64}}};
    Value out = Value::object();
    if (!expect_kind(node, Kind::Mapping, field.key)) return out;
    for (const Member& member : node.members)
        out[member.key] =
            member.value->kind == Kind::Sequence ? read_list(*member.value, kNamed) : read(*member.value, kStated);
    return out;
}

Value ShapeReader::read_texts(const Node& node, const Field& field) {
    Value out = Value::array();
    if (!expect_kind(node, Kind::Sequence, field.key)) return out;
    for (const config_yaml::NodePtr& item : node.items) out.push_back(text(*item));
    return out;
}

Value ShapeReader::read_field(const Node& node, const Field& field) {
    switch (field.type) {
    case FieldType::Text: return text(node);
    case FieldType::Int32:
        return integer(node, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
    case FieldType::Int64:
        return integer(node, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    case FieldType::Count: return integer(node, 0, std::numeric_limits<std::uint32_t>::max());
    case FieldType::Boolean: return boolean(node);
    case FieldType::WantedResources:
        if (node.kind == Kind::Null) return nullptr;
        [[fallthrough]];
    case FieldType::Resources: return read_amounts(node, field);
    case FieldType::IntegerLists: return read_integer_lists(node, field);
    case FieldType::Devices: return read_devices(node, field);
    case FieldType::Texts: return read_map_of(node, {field.key, FieldType::Text});
    case FieldType::Counts: return read_map_of(node, {field.key, FieldType::Count});
    case FieldType::WantedTerminations: return read_map_of(node, {field.key, FieldType::WantedTermination});
    case FieldType::TextList: return read_texts(node, field);
    case FieldType::Nanoseconds: return duration(node).count();
    case FieldType::NodeAction: return read_node_action(node);
    case FieldType::Termination:
    case FieldType::WantedTermination: return read_termination(node, field.type == FieldType::WantedTermination);
    case FieldType::Config: return config(node);
    case FieldType::Map: return read(node, *field.shape);
    case FieldType::List: return read_list(node, *field.shape);
    case FieldType::MapOf: return read_map_of(node, {field.key, FieldType::Map, field.shape});
    }
    return nullptr;
}

Value ShapeReader::read_node_action(const Node& node) {
    const std::string name = text(node);
    if (const auto action = si::find_node_action(name)) return static_cast<int>(*action);
    fail(node.mark, fmt::format("unknown action \"{}\" (known: CREATE, UPDATE, DRAIN, SCHEDULABLE, DECOMISSION, "
                                "CREATE_DRAIN)",
                                name));
    return nullptr;
}

Value ShapeReader::read_termination(const Node& node, bool is_wanted) {
    const std::string name = text(node);
    if (is_wanted && name == "*") return name;
    const auto type = si::find_termination_type(name);
    if (!type) {
        fail(node.mark, fmt::format("unknown termination type \"{}\" (known: UNKNOWN, STOPPED_BY_RM, TIMEOUT, "
                                    "PREEMPTED_BY_SCHEDULER, PLACEHOLDER_REPLACED)",
                                    name));
        return nullptr;
    }
    if (is_wanted) return std::string{si::text(*type)};
    return static_cast<int>(*type);
}

std::string ShapeReader::text(const Node& node) {
    if (node.kind == Kind::Scalar) return node.scalar;
    fail(node.mark, fmt::format("a text is wanted, not {}", kind_name(node)));
    return {};
}

std::int64_t ShapeReader::integer(const Node& node, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const char* end = node.scalar.data() + node.scalar.size();
    const auto [stop, fault] = std::from_chars(node.scalar.data(), end, value);
    const bool is_number = node.is_plain() && fault != std::errc::invalid_argument;
    if (is_number && stop == end && fault == std::errc{} && value >= least && value <= most) return value;
    if (is_number && stop == end)
        fail(node.mark, fmt::format("{} is out of range ({} to {})", node.scalar, least, most));
    else if (node.kind == Kind::Scalar)
        fail(node.mark,
             fmt::format("\"{}\" is no integer{}", node.scalar, node.quoted ? " (take the quotes away)" : ""));
    else
        fail(node.mark, fmt::format("an integer is wanted, not {}", kind_name(node)));
    return std::max<std::int64_t>(least, 0);
}

bool ShapeReader::boolean(const Node& node) {
    if (node.is_plain() && (node.scalar == "true" || node.scalar == "false")) return node.scalar == "true";
    if (node.kind == Kind::Scalar)
        fail(node.mark, fmt::format("\"{}\" is neither true nor false", node.scalar));
    else
        fail(node.mark, fmt::format("true or false is wanted, not {}", kind_name(node)));
    return false;
}

Duration ShapeReader::duration(const Node& node) {
    const std::string value = text(node);
    if (failed()) return {};
    const auto parsed = config::parse_duration(value);
    if (!parsed) {
        fail(node.mark, parsed.error().message);
    } else if (*parsed < Duration::zero() || *parsed > kLongestDuration) {
        fail(node.mark, fmt::format("{} is out of range (0s to ten years)", value));
    } else {
        return *parsed;
    }
    return {};
}

std::string ShapeReader::config(const Node& node) {
    if (node.kind == Kind::Mapping) return to_yaml(node);
    if (node.kind == Kind::Scalar) return node.scalar;
    fail(node.mark, fmt::format("a configuration is a map or a text, not {}", kind_name(node)));
    return {};
}

} // namespace yk::scenario
