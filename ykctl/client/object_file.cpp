// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/object_file.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libcore/config_yaml/tree.h"
#include "protocol/si/enums.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/cli/values.h"

namespace yk::cli {
namespace {

using config_yaml::Mark;
using config_yaml::Node;
using config_yaml::NodePtr;
using wire::Value;
using Kind = Node::Kind;

/// A file may describe a whole cluster. Its keys are names of tags and resources, whose length the daemon limits.
constexpr config_yaml::TreeLimits kLimits{.bytes = std::size_t{256} << 20U,
                                          .nodes = 20'000'000,
                                          .depth = 32,
                                          .key_bytes = 1024,
                                          .alias_nodes = 20'000'000,
                                          .alias_bytes = std::size_t{512} << 20U,
                                          .unique_keys = false};

/// Turns trees into messages; `file` is the name for the positions in errors.
class Converter {
public:
    explicit Converter(const std::string& file) : file_(file) {}

    Answer<Value> message(const Node& tree, const MessageSpec& spec) const {
        if (tree.kind != Kind::Mapping)
            return wrong(tree.mark, fmt::format("expected a {} (a map of its fields)", spec.name));
        auto message = Value::object();
        std::set<std::string> seen;
        for (const auto& [key, mark, value] : tree.members) {
            const auto* field = find(spec, key);
            if (field == nullptr) return unknown_field(key, mark, spec);
            if (!seen.insert(key).second) return wrong(mark, key + " is given twice");
            if (value->kind == Kind::Null || field->type == FieldType::Ignored)
                continue; // nil counts as absent (I-313)
            YK_TRY(converted, field_value(*value, *field));
            if (field->required && converted == "") return wrong(value->mark, key + " is empty");
            message[key] = std::move(converted);
        }
        for (const auto& field : spec.fields) {
            if (field.required && !message.contains(field.name)) {
                return wrong(tree.mark, fmt::format("{} lacks {}", spec.name, field.name));
            }
        }
        return message;
    }

    [[nodiscard]] Failure wrong(const Mark& at, const std::string& what) const {
        if (at.column == 0) return usage_error(fmt::format("{}:{}: {}", file_, at.line, what));
        return usage_error(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what));
    }

private:
    static const FieldSpec* find(const MessageSpec& spec, const std::string& name) {
        const auto found = std::find_if(spec.fields.begin(), spec.fields.end(),
                                        [&](const FieldSpec& field) { return name == field.name; });
        return found == spec.fields.end() ? nullptr : &*found;
    }

    Failure unknown_field(const std::string& key, const Mark& at, const MessageSpec& spec) const {
        std::vector<std::string> names;
        for (const auto& field : spec.fields) names.emplace_back(field.name);
        return wrong(at, fmt::format("unknown field '{}' in {}{}", key, spec.name, did_you_mean(key, names)));
    }

    Answer<Value> field_value(const Node& tree, const FieldSpec& field) const {
        switch (field.type) {
        case FieldType::Text: return text(tree, field.name);
        case FieldType::Integer: return integer(tree, field.name);
        case FieldType::Boolean: return boolean(tree, field.name);
        case FieldType::Resource: return resource(tree, field.name);
        case FieldType::Texts: return texts(tree, field.name);
        case FieldType::TextMap: return text_map(tree, field.name);
        case FieldType::Action: return action(tree);
        case FieldType::Message: return message(tree, *field.message);
        case FieldType::Messages: return messages(tree, field);
        case FieldType::Tree: return any(tree);
        case FieldType::Ignored: break; // message() leaves it out
        }
        return wrong(tree.mark, "a field of no known type");
    }

    Answer<Value> text(const Node& tree, const std::string& name) const {
        if (tree.kind != Kind::Scalar) return wrong(tree.mark, name + " must be a text");
        return Value(tree.scalar);
    }

    Answer<Value> integer(const Node& tree, const std::string& name) const {
        if (!tree.is_plain()) return wrong(tree.mark, name + " must be a whole number");
        const auto number = parse_integer(tree.scalar);
        if (!number.ok()) return wrong(tree.mark, name + ": " + number.error().message);
        return Value(*number);
    }

    Answer<Value> boolean(const Node& tree, const std::string& name) const {
        if (!tree.is_plain() || (tree.scalar != "true" && tree.scalar != "false")) {
            return wrong(tree.mark, name + " must be true or false");
        }
        return Value(tree.scalar == "true");
    }

    Answer<Value> resource(const Node& tree, const std::string& name) const {
        if (tree.kind != Kind::Mapping) return wrong(tree.mark, name + " must be a map of resource names to numbers");
        auto amounts = Value::object();
        for (const auto& [key, mark, value] : tree.members) {
            const auto number = value->is_plain() ? parse_integer(value->scalar) : Result<std::int64_t>{Error{}};
            if (!number.ok()) {
                return wrong(value->mark,
                             fmt::format("{}.{} must be a whole number: bytes of memory, thousandths of a core, "
                                         "counts of anything else; suffixes belong to -R and the configuration",
                                         name, key));
            }
            if (amounts.contains(key)) return wrong(mark, name + "." + key + " is given twice");
            amounts[key] = *number;
        }
        return amounts;
    }

    Answer<Value> texts(const Node& tree, const std::string& name) const {
        if (tree.kind != Kind::Sequence) return wrong(tree.mark, name + " must be a list of texts");
        auto list = Value::array();
        for (const auto& item : tree.items) {
            YK_TRY(converted, text(*item, name + "[]"));
            list.push_back(std::move(converted));
        }
        return list;
    }

    Answer<Value> text_map(const Node& tree, const std::string& name) const {
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
    Answer<Value> any(const Node& tree) const {
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

    Answer<Value> action(const Node& tree) const {
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

    Answer<Value> messages(const Node& tree, const FieldSpec& field) const {
        if (tree.kind != Kind::Sequence) return wrong(tree.mark, std::string{field.name} + " must be a list");
        auto list = Value::array();
        for (const auto& item : tree.items) {
            YK_TRY(converted, message(*item, *field.message));
            list.push_back(std::move(converted));
        }
        return list;
    }

    const std::string& file_;
};

/// Hands on the messages of a document: one message, a list of them, the form of a request, `{nodes: [...]}`, or that
/// in which ykctl shows one, `{item: {...}}`.
std::optional<Failure> take_document(const Node& tree, const Converter& converter, const MessageSpec& spec,
                                     const ObjectSink& sink) {
    if (tree.kind == Kind::Null) return std::nullopt;
    if (tree.kind == Kind::Sequence) {
        for (const auto& item : tree.items) {
            if (auto failure = take_document(*item, converter, spec, sink)) return failure;
        }
        return std::nullopt;
    }
    const auto within = [&tree](std::string_view key, Kind kind) -> const Node* {
        const Node* found = nullptr;
        if (tree.kind != Kind::Mapping) return nullptr;
        for (const auto& member : tree.members) {
            if (member.key == "schema") continue; // beside what ykctl shows
            if (found != nullptr || member.key != key || member.value->kind != kind) return nullptr;
            found = &*member.value;
        }
        return found;
    };
    if (const Node* const list = within(spec.list_name, Kind::Sequence))
        return take_document(*list, converter, spec, sink);
    if (const Node* const item = within("item", Kind::Mapping)) return take_document(*item, converter, spec, sink);
    auto message = converter.message(tree, spec);
    if (!message.ok()) return message.error();
    return sink(std::move(message).value());
}

/// Builds a tree from JSON events; all positions are those of the one line it reads. Keeps duplicate keys, so that the
/// converter can report them.
class JsonTree final : public nlohmann::json_sax<nlohmann::ordered_json> {
public:
    explicit JsonTree(int line) : mark_{line, 0} {}

    bool null() override { return put(make(Kind::Null)); }
    bool boolean(bool value) override { return put_scalar(value ? "true" : "false", false); }
    bool number_integer(number_integer_t value) override { return put_scalar(std::to_string(value), false); }
    bool number_unsigned(number_unsigned_t value) override { return put_scalar(std::to_string(value), false); }
    bool number_float(number_float_t, const string_t& text) override { return put_scalar(text, false); }
    bool string(string_t& text) override { return put_scalar(std::move(text), true); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Kind::Mapping); }
    bool start_array(std::size_t) override { return open(Kind::Sequence); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& text) override {
        open_.back().key = std::move(text);
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

    [[nodiscard]] const Node& tree() const { return *root_; }

private:
    /// A list or a map that is not complete yet.
    struct Open {
        std::shared_ptr<Node> node;
        std::string key; // the latest
    };

    [[nodiscard]] std::shared_ptr<Node> make(Kind kind) const {
        auto node = std::make_shared<Node>();
        node->kind = kind;
        node->mark = mark_;
        return node;
    }
    bool put_scalar(std::string text, bool quoted) {
        const auto node = make(Kind::Scalar);
        node->scalar = std::move(text);
        node->quoted = quoted;
        return put(node);
    }
    bool put(NodePtr node) {
        if (open_.empty())
            root_ = std::move(node);
        else if (open_.back().node->kind == Kind::Sequence)
            open_.back().node->items.push_back(std::move(node));
        else
            open_.back().node->members.push_back({std::move(open_.back().key), mark_, std::move(node)});
        return true;
    }
    bool open(Kind kind) {
        if (open_.size() >= kLimits.depth) return false;
        open_.push_back({make(kind), {}});
        return true;
    }
    bool close() {
        NodePtr done = std::move(open_.back().node);
        open_.pop_back();
        return put(std::move(done));
    }

    Mark mark_;
    NodePtr root_;
    std::vector<Open> open_; // from the root to where the parser is
};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view line_at(std::string_view text, std::size_t start) {
    return text.substr(start, text.find('\n', start) - start);
}

std::string_view first_full_line(std::string_view text) {
    for (std::size_t start = 0; start < text.size(); start += line_at(text, start).size() + 1) {
        if (const auto line = trimmed(line_at(text, start)); !line.empty()) return line;
    }
    return {};
}

/// Whether the text is JSON-lines: its first line is a whole JSON object.
bool is_json_lines(std::string_view text) {
    const auto line = first_full_line(text);
    return !line.empty() && line.front() == '{' && nlohmann::ordered_json::accept(line);
}

std::optional<Failure> walk_json_lines(std::string_view text, const std::string& file, const MessageSpec& spec,
                                       const ObjectSink& sink) {
    const Converter converter{file};
    int number = 0;
    for (std::size_t start = 0; start < text.size(); start += line_at(text, start).size() + 1) {
        ++number;
        const auto line = trimmed(line_at(text, start));
        if (line.empty()) continue;
        JsonTree tree{number};
        if (!nlohmann::ordered_json::sax_parse(line, &tree)) {
            return usage_error(fmt::format("{}:{}: this line is not one JSON value, or is nested deeper than {} levels",
                                           file, number, kLimits.depth));
        }
        if (auto failure = take_document(tree.tree(), converter, spec, sink)) return failure;
    }
    return std::nullopt;
}

bool starts_document(std::string_view line) {
    return line.substr(0, 3) == "---" && (line.size() == 3 || std::isspace(static_cast<unsigned char>(line[3])) != 0);
}

/// The documents of a YAML text. Each has as many newlines in front as there are lines before it, so that positions are
/// right.
std::vector<std::string> yaml_documents(std::string_view text) {
    std::vector<std::string> documents;
    std::string current;
    std::size_t lines = 0;
    bool has_content = false;
    const auto finish = [&] {
        if (has_content) documents.push_back(current);
        has_content = false;
    };
    for (std::size_t start = 0; start < text.size(); ++lines) {
        auto line = line_at(text, start);
        start += line.size() + 1;
        std::string shown{line};
        if (starts_document(line)) {
            finish();
            current.assign(lines, '\n');
            shown.replace(0, 3, "   ");
        }
        const auto content = trimmed(shown);
        has_content = has_content || (!content.empty() && content.front() != '#');
        current += shown + "\n";
    }
    finish();
    return documents;
}

} // namespace

std::optional<Failure> for_each_object(std::string_view text, const std::string& file, const MessageSpec& spec,
                                       const ObjectSink& sink) {
    if (is_json_lines(text)) return walk_json_lines(text, file, spec, sink);
    const Converter converter{file};
    for (const auto& document : yaml_documents(text)) {
        const auto tree = config_yaml::read_tree(document, file, kLimits);
        if (!tree.ok()) return usage_error(tree.error().text());
        if (auto failure = take_document(**tree, converter, spec, sink)) return failure;
    }
    return std::nullopt;
}

} // namespace yk::cli
