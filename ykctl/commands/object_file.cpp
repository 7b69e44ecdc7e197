#include "ykctl/commands/object_file.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "protocol/si/enums.h"
#include "ykctl/commands/suggest.h"
#include "ykctl/commands/values.h"
#include "ykctl/scenario/yaml_tree.h"

namespace yk::cli {
namespace {

using scenario::YamlTree;
using wire::Value;
using Kind = YamlTree::Kind;

constexpr scenario::YamlLimits kLimits{std::size_t{256} << 20U, 20'000'000, std::size_t{512} << 20U, 32};

/// Turns trees into messages; `file` is for the places in errors.
class Converter {
public:
    explicit Converter(const std::string& file) : file_(file) {}

    Answer<Value> message(const YamlTree& tree, const MessageSpec& spec) const {
        if (tree.kind != Kind::Map) return wrong(tree, fmt::format("expected a {} (a map of its fields)", spec.name));
        auto message = Value::object();
        std::set<std::string> seen;
        for (const auto& [key, value] : tree.fields) {
            const auto* field = find(spec, key.text);
            if (field == nullptr) return unknown_field(key, spec);
            if (!seen.insert(key.text).second) return wrong(key, key.text + " is given twice");
            if (value.kind == Kind::Null) continue; // I-313: absent
            YK_TRY(converted, field_value(value, *field));
            message[key.text] = std::move(converted);
        }
        for (const auto& field : spec.fields) {
            if (field.required && !message.contains(field.name)) {
                return wrong(tree, fmt::format("{} lacks {}", spec.name, field.name));
            }
        }
        return message;
    }

    [[nodiscard]] Failure wrong(const YamlTree& at, const std::string& what) const {
        if (at.column == 0) return usage_error(fmt::format("{}:{}: {}", file_, at.line, what));
        return usage_error(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what));
    }

private:
    static const FieldSpec* find(const MessageSpec& spec, const std::string& name) {
        const auto found = std::find_if(spec.fields.begin(), spec.fields.end(),
                                        [&](const FieldSpec& field) { return name == field.name; });
        return found == spec.fields.end() ? nullptr : &*found;
    }

    Failure unknown_field(const YamlTree& key, const MessageSpec& spec) const {
        std::vector<std::string> names;
        for (const auto& field : spec.fields) names.emplace_back(field.name);
        return wrong(key,
                     fmt::format("unknown field '{}' in {}{}", key.text, spec.name, did_you_mean(key.text, names)));
    }

    Answer<Value> field_value(const YamlTree& tree, const FieldSpec& field) const {
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
        }
        return wrong(tree, "a field of no known type");
    }

    Answer<Value> text(const YamlTree& tree, const std::string& name) const {
        if (tree.kind != Kind::Scalar) return wrong(tree, name + " must be a text");
        return Value(tree.text);
    }

    Answer<Value> integer(const YamlTree& tree, const std::string& name) const {
        if (!tree.is_plain()) return wrong(tree, name + " must be a whole number");
        const auto number = parse_integer(tree.text);
        if (!number.ok()) return wrong(tree, name + ": " + number.error().message);
        return Value(*number);
    }

    Answer<Value> boolean(const YamlTree& tree, const std::string& name) const {
        if (!tree.is_plain() || (tree.text != "true" && tree.text != "false")) {
            return wrong(tree, name + " must be true or false");
        }
        return Value(tree.text == "true");
    }

    Answer<Value> resource(const YamlTree& tree, const std::string& name) const {
        if (tree.kind != Kind::Map) return wrong(tree, name + " must be a map of resource names to numbers");
        auto amounts = Value::object();
        for (const auto& [key, value] : tree.fields) {
            const auto number = value.is_plain() ? parse_integer(value.text) : Result<std::int64_t>{Error{}};
            if (!number.ok()) {
                return wrong(value, fmt::format("{}.{} must be a whole number: bytes of memory, thousandths of a core, "
                                                "counts of anything else; suffixes belong to -R and the configuration",
                                                name, key.text));
            }
            if (amounts.contains(key.text)) return wrong(key, name + "." + key.text + " is given twice");
            amounts[key.text] = *number;
        }
        return amounts;
    }

    Answer<Value> texts(const YamlTree& tree, const std::string& name) const {
        if (tree.kind != Kind::List) return wrong(tree, name + " must be a list of texts");
        auto list = Value::array();
        for (const auto& item : tree.items) {
            YK_TRY(converted, text(item, name + "[]"));
            list.push_back(std::move(converted));
        }
        return list;
    }

    Answer<Value> text_map(const YamlTree& tree, const std::string& name) const {
        if (tree.kind != Kind::Map) return wrong(tree, name + " must be a map of texts");
        auto map = Value::object();
        for (const auto& [key, value] : tree.fields) {
            if (map.contains(key.text)) return wrong(key, name + "." + key.text + " is given twice");
            YK_TRY(converted, text(value, name + "." + key.text));
            map[key.text] = std::move(converted);
        }
        return map;
    }

    Answer<Value> action(const YamlTree& tree) const {
        if (tree.kind != Kind::Scalar) return wrong(tree, "action must be a text such as CREATE");
        if (const auto number = parse_integer(tree.text); number.ok() && tree.is_plain()) return Value(*number);
        auto upper = tree.text;
        std::transform(upper.begin(), upper.end(), upper.begin(),
                       [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
        if (const auto known = si::find_node_action(upper)) return Value(static_cast<int>(*known));
        return wrong(tree, fmt::format("unknown action '{}': CREATE, CREATE_DRAIN, UPDATE, DRAIN, SCHEDULABLE or "
                                       "DECOMISSION",
                                       tree.text));
    }

    Answer<Value> messages(const YamlTree& tree, const FieldSpec& field) const {
        if (tree.kind != Kind::List) return wrong(tree, std::string{field.name} + " must be a list");
        auto list = Value::array();
        for (const auto& item : tree.items) {
            YK_TRY(converted, message(item, *field.message));
            list.push_back(std::move(converted));
        }
        return list;
    }

    const std::string& file_;
};

/// One message, a list of them, or the request form `{nodes: [...]}`.
std::optional<Failure> take_document(const YamlTree& tree, const Converter& converter, const MessageSpec& spec,
                                     const ObjectSink& sink) {
    if (tree.kind == Kind::Null) return std::nullopt;
    if (tree.kind == Kind::List) {
        for (const auto& item : tree.items) {
            if (auto failure = take_document(item, converter, spec, sink)) return failure;
        }
        return std::nullopt;
    }
    const bool is_request = tree.kind == Kind::Map && tree.fields.size() == 1 &&
                            tree.fields[0].key.text == spec.list_name && tree.fields[0].value.kind == Kind::List;
    if (is_request) return take_document(tree.fields[0].value, converter, spec, sink);
    auto message = converter.message(tree, spec);
    if (!message.ok()) return message.error();
    return sink(std::move(message).value());
}

/// JSON events as a tree; all places are those of the one line it reads. Keeps duplicate keys, for the converter to
/// find.
class JsonTree final : public nlohmann::json_sax<nlohmann::ordered_json> {
public:
    explicit JsonTree(int line) : line_(line) {}

    bool null() override { return put({}); }
    bool boolean(bool value) override { return put_scalar(value ? "true" : "false", false); }
    bool number_integer(number_integer_t value) override { return put_scalar(std::to_string(value), false); }
    bool number_unsigned(number_unsigned_t value) override { return put_scalar(std::to_string(value), false); }
    bool number_float(number_float_t, const string_t& text) override { return put_scalar(text, false); }
    bool string(string_t& text) override { return put_scalar(std::move(text), true); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Kind::Map); }
    bool start_array(std::size_t) override { return open(Kind::List); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& text) override {
        keys_.back() = make(Kind::Scalar);
        keys_.back().text = std::move(text);
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

    [[nodiscard]] const YamlTree& tree() const { return root_; }

private:
    [[nodiscard]] YamlTree make(Kind kind) const {
        YamlTree tree;
        tree.kind = kind;
        tree.line = line_;
        return tree;
    }
    bool put_scalar(std::string text, bool quoted) {
        auto tree = make(Kind::Scalar);
        tree.text = std::move(text);
        tree.quoted = quoted;
        return put(std::move(tree));
    }
    bool put(YamlTree tree) {
        if (open_.empty())
            root_ = std::move(tree);
        else if (open_.back().kind == Kind::List)
            open_.back().items.push_back(std::move(tree));
        else
            open_.back().fields.push_back({std::move(keys_.back()), std::move(tree)});
        return true;
    }
    bool open(Kind kind) {
        if (open_.size() >= kLimits.depth) return false;
        open_.push_back(make(kind));
        keys_.emplace_back();
        return true;
    }
    bool close() {
        auto done = std::move(open_.back());
        open_.pop_back();
        keys_.pop_back();
        return put(std::move(done));
    }

    int line_;
    YamlTree root_;
    std::vector<YamlTree> open_; // from the root to where the parser is
    std::vector<YamlTree> keys_; // the latest key of each
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

/// JSON-lines begin with a line that is a whole JSON object.
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

/// The documents of a YAML text, each with as many newlines in front as it has lines before it, so that places are
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
        const auto tree = scenario::parse_yaml(document, file, kLimits);
        if (!tree.ok()) return usage_error(tree.error().text());
        if (auto failure = take_document(*tree, converter, spec, sink)) return failure;
    }
    return std::nullopt;
}

} // namespace yk::cli
