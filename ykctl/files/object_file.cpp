// SPDX-License-Identifier: Apache-2.0
#include "ykctl/files/object_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libcore/config_yaml/tree.h"
#include "ykctl/files/object_message.h"

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

/// Hands on the messages of documents.
class Documents {
public:
    Documents(const std::string& file, const Kinds& kinds, const KindSink& sink)
        : reader_(file), kinds_(kinds), sink_(sink) {}

    /// One message, a list of them, the form of a request, `{nodes: [...]}`, or one in which ykctl shows them,
    /// `{item: {...}}` or `{items: [...]}`.
    std::optional<Failure> take(const Node& tree) const { return take(tree, kinds_); }

private:
    std::optional<Failure> take(const Node& tree, const Kinds& kinds) const {
        if (tree.kind == Kind::Null) return std::nullopt;
        if (tree.kind == Kind::Sequence) {
            for (const auto& item : tree.items)
                if (auto failure = take(*item, kinds)) return failure;
            return std::nullopt;
        }
        if (is_wrapping(tree, kinds)) return take_within(tree, kinds);
        const MessageSpec* const kind = kind_of(tree, kinds);
        if (kind == nullptr) return unknown_kind(tree, kinds);
        auto message = reader_.message(tree, *kind);
        if (!message.ok()) return message.error();
        return sink_(*kind, std::move(message).value());
    }

    std::optional<Failure> take_within(const Node& tree, const Kinds& kinds) const {
        for (const auto& member : tree.members) {
            if (member.key == kSchema) continue;
            const MessageSpec* const listed = list_of(member.key, kinds);
            if (auto failure = take(*member.value, listed == nullptr ? kinds : Kinds{listed})) return failure;
        }
        return std::nullopt;
    }

    /// Whether the members of a map hold messages, and it is none itself.
    static bool is_wrapping(const Node& tree, const Kinds& kinds) {
        if (tree.kind != Kind::Mapping) return false;
        bool holds_any = false;
        for (const auto& member : tree.members) {
            if (member.key == kSchema) continue;
            const bool is_list = member.key == "items" || list_of(member.key, kinds) != nullptr;
            const bool holds = is_list ? member.value->kind == Kind::Sequence
                                       : member.key == "item" && member.value->kind == Kind::Mapping;
            if (!holds) return false;
            holds_any = true;
        }
        return holds_any;
    }

    static const MessageSpec* list_of(const std::string& key, const Kinds& kinds) {
        for (const MessageSpec* kind : kinds)
            if (std::find(kind->lists.begin(), kind->lists.end(), key) != kind->lists.end()) return kind;
        return nullptr;
    }

    /// The first kind whose name for itself is among the members.
    static const MessageSpec* kind_of(const Node& tree, const Kinds& kinds) {
        if (kinds.size() == 1) return kinds.front();
        for (const MessageSpec* kind : kinds) {
            const FieldSpec& name = kind->fields.front();
            for (const auto& member : tree.members)
                if (member.key == name.name || (name.shown_as != nullptr && member.key == name.shown_as)) return kind;
        }
        return nullptr;
    }

    [[nodiscard]] Failure unknown_kind(const Node& tree, const Kinds& kinds) const {
        std::vector<std::string> each;
        for (const MessageSpec* kind : kinds)
            each.push_back(fmt::format("{} ({})", kind->fields.front().name, kind->name));
        Failure failure =
            reader_.wrong(tree.mark, fmt::format("what is this? It has none of {}", fmt::join(each, ", ")));
        failure.hints = {
            "their form is what list and show print with  -o yaml",
            "a configuration?  ykctl config reload -f FILE      deployments?  ykctl deployment apply -f FILE"};
        return failure;
    }

    static constexpr const char* kSchema = "schema"; // beside what ykctl shows

    const ObjectReader reader_;
    const Kinds& kinds_;
    const KindSink& sink_;
};

/// Builds a tree from JSON events; all positions are those of the one line it reads. Keeps duplicate keys, so that the
/// reader can report them.
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

std::optional<Failure> walk_json_lines(std::string_view text, const std::string& file, const Documents& documents) {
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
        if (auto failure = documents.take(tree.tree())) return failure;
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

std::optional<Failure> for_each_object(std::string_view text, const std::string& file, const Kinds& kinds,
                                       const KindSink& sink) {
    const Documents documents{file, kinds, sink};
    if (is_json_lines(text)) return walk_json_lines(text, file, documents);
    for (const auto& document : yaml_documents(text)) {
        const auto tree = config_yaml::read_tree(document, file, kLimits);
        if (!tree.ok()) return usage_error(tree.error().text());
        if (auto failure = documents.take(**tree)) return failure;
    }
    return std::nullopt;
}

std::optional<Failure> for_each_object(std::string_view text, const std::string& file, const MessageSpec& spec,
                                       const ObjectSink& sink) {
    return for_each_object(text, file, Kinds{&spec},
                           [&sink](const MessageSpec&, Value message) { return sink(std::move(message)); });
}

} // namespace yk::cli
