// SPDX-License-Identifier: Apache-2.0
#include "libcore/config_yaml/tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/null.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>

#include "libcore/config_yaml/characters.h"

namespace yk::config_yaml {

namespace {

using config::in_quotes;

constexpr const char* kNotText = "a key must be text, not a list or a mapping (is a bracket or a brace not closed?)";

/// Ends parsing; caught in parse_tree().
struct Fault {
    Mark mark;
    std::string path;
    std::string message;
};

/// Ends parsing when the one document is complete.
struct EndOfDocument {};

Mark mark_of(const YAML::Mark& mark) {
    if (mark.is_null()) return {};
    return {mark.line + 1, mark.column + 1};
}

/// Whether the kind of a scalar depends on its text, as in `12` and `!!int 12`. In quotes, with `!!str` or a private
/// tag it is a text, whatever it looks like, as for the original.
bool is_resolved(std::string_view tag) {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    if (tag.empty() || tag == "?") return true;
    return tag.substr(0, kCore.size()) == kCore && tag.substr(kCore.size()) != "str";
}

/// Makes the tree of one document out of yaml-cpp's events.
class Builder : public YAML::EventHandler {
public:
    Builder(config::Report& report, const TreeLimits& limits) : report_(report), limits_(limits) {}

    [[nodiscard]] NodePtr root() const { return root_; }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ == 0) return;
        report_.error(mark_of(mark), {}, "a second document begins here; only one is allowed, remove the \"---\"");
        throw EndOfDocument{};
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(mark, "", anchor, ""); }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        leaf(mark, tag, anchor, value);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, anchor, Node::Kind::Sequence);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, anchor, Node::Kind::Mapping);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

private:
    /// A sequence or mapping that is not complete yet.
    struct Frame {
        std::shared_ptr<Node> node;
        YAML::anchor_t anchor = 0;
        bool has_key = false; // a mapping's member whose value comes next
        std::string key;
        Mark key_mark;
        bool merge_key = false;
        std::unordered_map<std::string, Mark> own_keys;
        std::vector<NodePtr> merged;
    };

    [[nodiscard]] std::shared_ptr<Node> make_node(const YAML::Mark& mark, Node::Kind kind);
    void leaf(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value);
    void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind);
    void close();
    void add(const NodePtr& node);
    void add_key(const Node& node);
    void add_value(Frame& frame, const NodePtr& node);
    void remember_merge(Frame& frame, const NodePtr& node);
    void merge(Frame& frame);
    void charge(const Node& node, Mark mark);
    [[nodiscard]] std::string path() const;

    config::Report& report_;
    int documents_ = 0;
    NodePtr root_;
    std::vector<Frame> open_;
    std::map<YAML::anchor_t, NodePtr> anchors_;
    const TreeLimits& limits_;
    std::size_t nodes_ = 0;
    std::size_t expanded_nodes_ = 0;
    std::size_t expanded_bytes_ = 0;
};

/// Where the next value goes: `partitions[0].queues`.
std::string Builder::path() const {
    std::string path;
    for (const Frame& frame : open_) {
        if (frame.node->kind == Node::Kind::Sequence)
            path += '[' + std::to_string(frame.node->items.size()) + ']';
        else if (frame.has_key)
            path += (path.empty() ? "" : ".") + frame.key;
    }
    return path;
}

std::shared_ptr<Node> Builder::make_node(const YAML::Mark& mark, Node::Kind kind) {
    if (++nodes_ > limits_.nodes)
        throw Fault{mark_of(mark), path(), "the document has more than " + std::to_string(limits_.nodes) + " nodes"};
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->mark = mark_of(mark);
    return node;
}

void Builder::leaf(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) {
    const bool is_text = !is_resolved(tag);
    const bool is_null = !is_text && YAML::IsNullString(value); // nothing, `null`, and also `!!null null`
    const auto node = make_node(mark, is_null ? Node::Kind::Null : Node::Kind::Scalar);
    if (!is_null) node->scalar = value;
    node->quoted = is_text;
    node->bytes = node->scalar.size();
    if (anchor != 0) anchors_[anchor] = node;
    add(node);
}

void Builder::open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (!open_.empty() && open_.back().node->kind == Node::Kind::Mapping && !open_.back().has_key)
        throw Fault{mark_of(mark), path(), kNotText};
    if (open_.size() >= limits_.depth)
        throw Fault{mark_of(mark), path(), "nested deeper than " + std::to_string(limits_.depth) + " levels"};
    Frame frame;
    frame.node = make_node(mark, kind);
    frame.anchor = anchor;
    open_.push_back(std::move(frame));
}

void Builder::close() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    merge(frame);
    if (frame.anchor != 0) anchors_[frame.anchor] = frame.node;
    add(frame.node);
}

/// An anchor is known only when its node is complete, so a node cannot contain itself.
void Builder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Fault{mark_of(mark), path(), "an alias must not stand inside its own anchor"};
    charge(*found->second, mark_of(mark));
    add(found->second);
}

/// Counts a copy of `node` against the limits for aliases, so that no walk over the tree can become long.
void Builder::charge(const Node& node, Mark mark) {
    expanded_nodes_ += node.nodes;
    expanded_bytes_ += node.bytes;
    if (expanded_nodes_ > limits_.alias_nodes || expanded_bytes_ > limits_.alias_bytes)
        throw Fault{mark, path(),
                    "aliases stand for more than " + std::to_string(limits_.alias_nodes) + " nodes or " +
                        std::to_string(limits_.alias_bytes) + " bytes in total"};
    if (open_.size() + node.height > limits_.depth)
        throw Fault{mark, path(), "nested deeper than " + std::to_string(limits_.depth) + " levels"};
}

void Builder::add(const NodePtr& node) {
    if (open_.empty()) {
        root_ = node;
        return;
    }
    Frame& frame = open_.back();
    if (frame.node->kind == Node::Kind::Mapping && !frame.has_key) {
        add_key(*node);
        return;
    }
    frame.node->nodes += node->nodes;
    frame.node->bytes += node->bytes;
    frame.node->height = std::max(frame.node->height, node->height + 1);
    if (frame.node->kind == Node::Kind::Sequence)
        frame.node->items.push_back(node);
    else
        add_value(frame, node);
}

void Builder::add_key(const Node& node) {
    if (node.kind == Node::Kind::Sequence || node.kind == Node::Kind::Mapping) throw Fault{node.mark, path(), kNotText};
    if (node.scalar.size() > limits_.key_bytes)
        throw Fault{node.mark, path(), "a key is longer than " + std::to_string(limits_.key_bytes) + " bytes"};
    Frame& frame = open_.back();
    frame.has_key = true;
    frame.key = node.scalar;
    frame.key_mark = node.mark;
    frame.merge_key = node.scalar == "<<" && !node.quoted;
    frame.node->bytes += node.scalar.size();
}

void Builder::add_value(Frame& frame, const NodePtr& node) {
    const auto [first, is_new] = frame.own_keys.emplace(frame.key, frame.key_mark);
    if (!is_new && limits_.unique_keys) {
        report_.error(frame.key_mark, path(),
                      "mapping key " + in_quotes(frame.key) + " already defined at line " +
                          std::to_string(first->second.line) + ", column " + std::to_string(first->second.column));
    } else if (frame.merge_key) {
        remember_merge(frame, node);
    } else {
        frame.node->members.push_back({frame.key, frame.key_mark, node});
    }
    frame.has_key = false;
}

void Builder::remember_merge(Frame& frame, const NodePtr& node) {
    const std::vector<NodePtr> single{node};
    for (const NodePtr& source : node->kind == Node::Kind::Sequence ? node->items : single) {
        if (source->kind != Node::Kind::Mapping)
            throw Fault{frame.key_mark, path(), "map merge requires map or sequence of maps as the value"};
        frame.merged.push_back(source);
    }
}

/// Own keys win over merged ones, earlier merged mappings over later ones.
void Builder::merge(Frame& frame) {
    for (const NodePtr& source : frame.merged)
        for (const Member& member : source->members)
            if (frame.own_keys.emplace(member.key, member.mark).second) frame.node->members.push_back(member);
}

/// The message of yaml-cpp, with a hint at the usual cause (C-008).
std::string syntax_message(const YAML::Exception& error, std::string_view line) {
    std::string message = "syntax error: " + error.msg;
    if (error.msg.find("after *") != std::string::npos)
        message += " (a text that is or starts with * must be quoted: \"*\")";
    else if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos)
        message += " (the line is indented with a tab, use blanks)";
    else if (error.msg.find("EOF in scalar") != std::string::npos)
        message += " (a quote is not closed)";
    return message;
}

NodePtr parse(std::string_view text, config::Report& report, const TreeLimits& limits) {
    Builder builder{report, limits};
    std::istringstream in{std::string{text}};
    try {
        YAML::Parser parser{in};
        while (parser.HandleNextDocument(builder)) {
        }
        return builder.root();
    } catch (const EndOfDocument&) { // the faults of the first document are reported as well
        return builder.root();
    } catch (const Fault& fault) {
        report.error(fault.mark, fault.path, fault.message);
    } catch (const YAML::Exception& error) {
        const Mark mark = mark_of(error.mark);
        report.error(mark, {}, syntax_message(error, line_of(text, mark.line)));
    }
    return nullptr;
}

/// yaml-cpp keeps the tokens of a whole `[...]` or `{...}` before the first of its events, about 250 bytes for each of
/// these characters; a text that has more of them than nodes are allowed is refused before that (A10).
bool has_too_many_tokens(std::string_view text, std::size_t most_nodes) {
    const auto found = std::count_if(text.begin(), text.end(), [](char c) { return c == '[' || c == '{' || c == ','; });
    return static_cast<std::size_t>(found) > most_nodes;
}

} // namespace

NodePtr parse_tree(std::string_view text, config::Report& report, const TreeLimits& limits) {
    if (text.size() > limits.bytes) {
        report.error({}, {},
                     "the text has " + std::to_string(text.size()) + " bytes, the limit is " +
                         std::to_string(limits.bytes));
        return nullptr;
    }
    if (const auto bad = find_bad_character(text)) {
        report.error(bad->mark, {}, bad->what);
        return nullptr;
    }
    if (has_too_many_tokens(text, limits.nodes)) {
        report.error({}, {},
                     "the document has more than " + std::to_string(limits.nodes) +
                         " nodes: it has more brackets, braces and commas than that");
        return nullptr;
    }
    return parse(text, report, limits);
}

Result<NodePtr> read_tree(std::string_view text, std::string_view file, const TreeLimits& limits) {
    config::Report report;
    NodePtr root = parse_tree(text, report, limits);
    for (config::Problem& problem : report.take()) {
        if (problem.severity != config::Severity::Error) continue;
        std::string where{file};
        if (problem.mark.line > 0)
            where += ':' + std::to_string(problem.mark.line) + ':' + std::to_string(problem.mark.column);
        return Error::at(std::move(where), std::move(problem.message));
    }
    if (root == nullptr) return Error::at(std::string{file}, "the file is empty");
    return root;
}

} // namespace yk::config_yaml
