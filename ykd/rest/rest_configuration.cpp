// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_configuration.h"

#include <algorithm>
#include <array>
#include <span>

#include "libcore/base/text.h"
#include "libcore/config_yaml/dump.h"
#include "libcore/config_yaml/scalars.h"
#include "libcore/config_yaml/tree.h"
#include "ykd/rest/exchange/rest_answers.h"

namespace yk::service {
namespace {

using config_yaml::Node;
using wire::Value;

enum class Type { Text, Flag, Choice, Count, Texts, TextMap, NumberMap, Struct, Structs };

struct Shape;

/// A member of one of the original's structures, in their order.
struct Field {
    std::string_view key, go_name;
    Type type = Type::Text;
    const Shape* shape = nullptr; // of a structure, or of those in a list
    bool is_always = false;       // JSON has it though it is empty
};
struct Shape {
    std::span<const Field> fields;
};

// --- the structures ------------------------------------------------------------------------------

constexpr std::array kResources{Field{"guaranteed", "Guaranteed", Type::TextMap}, Field{"max", "Max", Type::TextMap}};
constexpr Shape kResourcesShape{kResources};

constexpr std::array kTemplate{Field{"maxapplications", "MaxApplications", Type::Count},
                               Field{"properties", "Properties", Type::TextMap},
                               Field{"resources", "Resources", Type::Struct, &kResourcesShape, true}};
constexpr Shape kTemplateShape{kTemplate};

constexpr std::array kLimit{
    Field{"limit", "Limit"}, Field{"users", "Users", Type::Texts}, Field{"groups", "Groups", Type::Texts},
    Field{"maxresources", "MaxResources", Type::TextMap}, Field{"maxapplications", "MaxApplications", Type::Count}};
constexpr Shape kLimitShape{kLimit};

extern const Shape kQueueShape;
constexpr std::array kQueue{Field{"name", "Name"},
                            Field{"parent", "Parent", Type::Flag},
                            Field{"resources", "Resources", Type::Struct, &kResourcesShape, true},
                            Field{"maxapplications", "MaxApplications", Type::Count},
                            Field{"properties", "Properties", Type::TextMap},
                            Field{"adminacl", "AdminACL"},
                            Field{"submitacl", "SubmitACL"},
                            Field{"childtemplate", "ChildTemplate", Type::Struct, &kTemplateShape, true},
                            Field{"queues", "Queues", Type::Structs, &kQueueShape},
                            Field{"limits", "Limits", Type::Structs, &kLimitShape}};
const Shape kQueueShape{kQueue};

constexpr std::array kFilter{Field{"type", "Type", Type::Text, nullptr, true}, Field{"users", "Users", Type::Texts},
                             Field{"groups", "Groups", Type::Texts}};
constexpr Shape kFilterShape{kFilter};

extern const Shape kRuleShape;
constexpr std::array kRule{Field{"name", "Name"}, Field{"create", "Create", Type::Flag},
                           Field{"filter", "Filter", Type::Struct, &kFilterShape, true},
                           Field{"parent", "Parent", Type::Struct, &kRuleShape}, Field{"value", "Value"}};
const Shape kRuleShape{kRule};

constexpr std::array kPreemption{Field{"enabled", "Enabled", Type::Choice},
                                 Field{"quotapreemptionenabled", "QuotaPreemptionEnabled", Type::Choice}};
constexpr Shape kPreemptionShape{kPreemption};

constexpr std::array kNodeSort{Field{"type", "Type", Type::Text, nullptr, true},
                               Field{"resourceweights", "ResourceWeights", Type::NumberMap}};
constexpr Shape kNodeSortShape{kNodeSort};

constexpr std::array kResolver{Field{"type", "Type"}};
constexpr Shape kResolverShape{kResolver};

constexpr std::array kPartition{Field{"name", "Name"},
                                Field{"queues", "Queues", Type::Structs, &kQueueShape},
                                Field{"placementrules", "PlacementRules", Type::Structs, &kRuleShape},
                                Field{"limits", "Limits", Type::Structs, &kLimitShape},
                                Field{"preemption", "Preemption", Type::Struct, &kPreemptionShape, true},
                                Field{"nodesortpolicy", "NodeSortPolicy", Type::Struct, &kNodeSortShape, true},
                                Field{"usergroupresolver", "UserGroupResolver", Type::Struct, &kResolverShape, true}};
constexpr Shape kPartitionShape{kPartition};

constexpr std::array kConfiguration{
    Field{"partitions", "Partitions", Type::Structs, &kPartitionShape}, Field{"checksum", "Checksum"},
    Field{"deadlockdetectionenabled", "DeadlockDetectionEnabled", Type::Flag},
    Field{"deadlocktimeoutseconds", "DeadlockTimeoutSeconds", Type::Count}, Field{"extra", "Extra", Type::TextMap}};
constexpr Shape kConfigurationShape{kConfiguration};

// --- from the text -------------------------------------------------------------------------------

Value value_of(const Node& node, const Field& field);

const Node* member_of(const Node& node, std::string_view key) {
    const auto found = std::find_if(node.members.begin(), node.members.end(),
                                    [key](const config_yaml::Member& member) { return member.key == key; });
    return found == node.members.end() ? nullptr : found->value.get();
}

Value struct_of(const Node& node, const Shape& shape) {
    Value made = Value::object();
    for (const Field& field : shape.fields) {
        const Node* member = member_of(node, field.key);
        if (member == nullptr) continue;
        Value value = value_of(*member, field);
        // Of a choice no is an answer, where a flag that is off might as well not be there.
        if (field.type == Type::Choice || !is_omitted(value)) made[std::string(field.key)] = std::move(value);
    }
    return made;
}

Value map_of(const Node& node, bool of_numbers) {
    Value map = Value::object();
    std::vector<const config_yaml::Member*> members; // Go writes the keys of a map in order
    for (const auto& member : node.members) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
    for (const auto* member : members)
        map[member->key] =
            of_numbers ? Value(config_yaml::to_double(*member->value).value_or(0)) : Value(member->value->scalar);
    return map;
}

Value value_of(const Node& node, const Field& field) {
    Value list = Value::array();
    switch (field.type) {
    case Type::Text: return node.scalar;
    case Type::Choice:
    case Type::Flag: return config_yaml::to_bool(node).value_or(false);
    case Type::Count: return config_yaml::to_unsigned(node).value_or(0);
    case Type::TextMap: return map_of(node, false);
    case Type::NumberMap: return map_of(node, true);
    case Type::Struct: return struct_of(node, *field.shape);
    case Type::Texts:
        for (const auto& item : node.items) list.push_back(item->scalar);
        return list;
    case Type::Structs:
        for (const auto& item : node.items) list.push_back(struct_of(*item, *field.shape));
        return list;
    }
    return nullptr;
}

/// As the original has it after it has checked it: a partition has one queue, `root`, which is a parent, and which any
/// others that were written beside it are put below, with the limits of the partition.
void complete(Value& partition) {
    Value& queues = partition["queues"];
    const auto is_root = [](const Value& queue) { return queue.value("name", std::string{}) == "root"; };
    if (!queues.is_array() || queues.size() != 1 || !is_root(queues.front())) {
        Value root{{"name", "root"}, {"parent", true}};
        if (queues.is_array() && !queues.empty()) root["queues"] = std::move(queues);
        if (partition.contains("limits")) root["limits"] = partition["limits"];
        queues = Value::array({std::move(root)});
        return;
    }
    Value root{{"name", "root"}, {"parent", true}}; // the second in their order
    for (const auto& [key, member] : queues.front().items())
        if (key != "name" && key != "parent") root[key] = member;
    queues.front() = std::move(root);
}

// --- YAML ----------------------------------------------------------------------------------------

/// Whether a reader of YAML would take the text for a number, a truth value or nothing, if it stood without quotes.
bool looks_like_another_type(const std::string& text) {
    constexpr std::array<std::string_view, 9> kWords{"true", "false", "yes", "no", "on", "off", "y", "n", "null"};
    const std::string word = lower(text);
    if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return true;
    return !text.empty() && text.find_first_not_of("0123456789+-._eExXoOaAbBcCdDfF:") == std::string::npos &&
           text.find_first_of("0123456789") != std::string::npos;
}

std::string scalar_text(const Value& value) {
    if (!value.is_string()) return value.dump();
    const std::string text = value.get<std::string>();
    return looks_like_another_type(text) ? '"' + text + '"' : config_yaml::scalar_text(text);
}

/// Block style, as Go writes it: a list is indented by two blanks, a map by four, and by two in an item of a list.
void write_yaml(const Value& value, std::size_t indent, std::string& out) {
    const std::string blanks(indent, ' ');
    if (value.is_array()) {
        for (const Value& one : value) {
            std::string item;
            write_yaml(one, indent + 2, item);
            if (one.is_structured() && !one.empty())
                item.replace(indent, 2, "- ");
            else
                item = blanks + "- " + scalar_text(one) + "\n";
            out += item;
        }
        return;
    }
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
        out += blanks + scalar_text(key) + ":";
        if (member.is_structured() && !member.empty()) {
            out += "\n";
            write_yaml(member, indent + (member.is_array() ? 2 : 4), out);
        } else {
            out += " " + (member.is_array() ? "[]" : member.is_object() ? "{}" : scalar_text(member)) + "\n";
        }
    }
}

// --- the names of Go -----------------------------------------------------------------------------

Value renamed(const Value& from, const Shape& shape) {
    Value made = Value::object();
    for (const Field& field : shape.fields) {
        const auto found = from.find(std::string(field.key));
        const std::string name(field.go_name);
        if (field.type == Type::Struct && (found != from.end() || field.is_always)) {
            made[name] = renamed(found == from.end() ? Value::object() : *found, *field.shape);
        } else if (field.type == Type::Structs && found != from.end()) {
            made[name] = Value::array();
            for (const Value& one : *found) made[name].push_back(renamed(one, *field.shape));
        } else if (found != from.end()) {
            made[name] = *found;
        } else if (field.is_always) {
            made[name] = "";
        }
    }
    return made;
}

} // namespace

Value rest_configuration(std::string_view text, const std::string& checksum, const Value& extra) {
    config::Report report;
    const auto tree = config_yaml::parse_tree(text, report);
    Value made = tree ? struct_of(*tree, kConfigurationShape) : Value::object();
    if (made.contains("partitions"))
        for (Value& partition : made["partitions"]) complete(partition);
    made["checksum"] = checksum;
    made["deadlockdetectionenabled"] = false; // ykd detects none (C-467)
    made["deadlocktimeoutseconds"] = 60;
    made.erase("extra");
    if (extra.is_object() && !extra.empty()) made["extra"] = extra;
    return made;
}

bool has_no_partitions(std::string_view text) {
    config::Report report;
    const auto tree = config_yaml::parse_tree(text, report);
    if (!tree) return !report.has_errors(); // of a text without a document
    const bool is_nothing = tree->kind == Node::Kind::Null;
    const bool is_map = tree->kind == Node::Kind::Mapping;
    return is_nothing || (is_map && std::all_of(tree->members.begin(), tree->members.end(), [](const auto& member) {
                              return member.key == "partitions" && member.value->items.empty() &&
                                     member.value->scalar.empty() && member.value->members.empty();
                          }));
}

std::string configuration_yaml(const Value& configuration) {
    std::string text;
    write_yaml(configuration, 0, text);
    return text;
}

Value with_go_names(const Value& configuration) {
    return renamed(configuration, kConfigurationShape);
}

} // namespace yk::service
