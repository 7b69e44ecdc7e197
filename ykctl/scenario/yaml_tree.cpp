#include "ykctl/scenario/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace yk::scenario {
namespace {

/// A fault found by our own handler; leaves yaml-cpp the way its own faults do and is caught in parse_yaml.
struct Refused {
    YAML::Mark mark;
    std::string message;
};

/// Builds the tree from the parser's events. yaml-cpp's own node graph is left out: it hides duplicate keys and expands
/// aliases without a bound.
class Builder final : public YAML::EventHandler {
public:
    explicit Builder(const YamlLimits& limits) : limits_(limits) {}

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, anchor, make(mark)); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) throw Refused{mark, "an alias may not name a node that it is part of"};
        charge(mark, found->second.nodes, found->second.text_bytes);
        if (open_.size() + found->second.depth > limits_.depth) refuse_depth(mark);
        put(found->second.tree);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (tag != "!" && tag != "?") throw Refused{mark, fmt::format("the tag {} is not supported", tag)};
        YamlTree tree = make(mark);
        tree.kind = YamlTree::Kind::Scalar;
        tree.quoted = tag == "!";
        tree.text = value;
        add(mark, anchor, std::move(tree));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, YamlTree::Kind::List);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, YamlTree::Kind::Map);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

    [[nodiscard]] YamlTree take() { return std::move(root_); }

private:
    struct Anchored {
        YamlTree tree;
        std::size_t nodes = 0, text_bytes = 0, depth = 0;
    };
    struct Open {
        YamlTree tree;
        YAML::anchor_t anchor = 0;
        bool has_key = false;
        YamlTree key;
    };

    static YamlTree make(const YAML::Mark& mark) {
        YamlTree tree;
        tree.line = mark.line + 1;
        tree.column = mark.column + 1;
        return tree;
    }

    void charge(const YAML::Mark& mark, std::size_t nodes, std::size_t text_bytes) {
        nodes_ += nodes;
        text_bytes_ += text_bytes;
        if (nodes_ > limits_.nodes)
            throw Refused{mark, fmt::format("more than {} nodes, aliases counted as often as used", limits_.nodes)};
        if (text_bytes_ > limits_.text_bytes)
            throw Refused{
                mark, fmt::format("more than {} bytes of text, aliases counted as often as used", limits_.text_bytes)};
    }
    [[noreturn]] void refuse_depth(const YAML::Mark& mark) const {
        throw Refused{mark, fmt::format("nested deeper than {} levels", limits_.depth)};
    }

    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlTree::Kind kind) {
        if (tag != "?" && tag != "!" && !tag.empty())
            throw Refused{mark, fmt::format("the tag {} is not supported", tag)};
        charge(mark, 1, 0);
        if (open_.size() >= limits_.depth) refuse_depth(mark);
        open_.emplace_back();
        open_.back().tree = make(mark);
        open_.back().tree.kind = kind;
        open_.back().anchor = anchor;
    }
    void close() {
        Open done = std::move(open_.back());
        open_.pop_back();
        remember(done.anchor, done.tree);
        put(std::move(done.tree));
    }
    void add(const YAML::Mark& mark, YAML::anchor_t anchor, YamlTree tree) {
        charge(mark, 1, tree.text.size());
        remember(anchor, tree);
        put(std::move(tree));
    }
    void remember(YAML::anchor_t anchor, const YamlTree& tree) {
        if (anchor == 0) return;
        Anchored anchored{tree, 0, 0, 0};
        measure(tree, 0, anchored);
        charge(YAML::Mark::null_mark(), anchored.nodes, anchored.text_bytes); // the copy kept here takes room as well
        anchors_[anchor] = std::move(anchored);
    }
    static void measure(const YamlTree& tree, std::size_t depth, Anchored& sum) {
        ++sum.nodes;
        sum.text_bytes += tree.text.size();
        sum.depth = std::max(sum.depth, depth + 1);
        for (const YamlTree& item : tree.items) measure(item, depth + 1, sum);
        for (const auto& [key, value] : tree.fields) {
            measure(key, depth + 1, sum);
            measure(value, depth + 1, sum);
        }
    }

    void put(YamlTree tree) {
        if (open_.empty()) {
            root_ = std::move(tree);
            return;
        }
        Open& parent = open_.back();
        if (parent.tree.kind == YamlTree::Kind::List) {
            parent.tree.items.push_back(std::move(tree));
        } else if (parent.has_key) {
            parent.tree.fields.push_back({std::move(parent.key), std::move(tree)});
            parent.has_key = false;
        } else {
            parent.key = std::move(tree);
            parent.has_key = true;
        }
    }

    const YamlLimits& limits_;
    std::vector<Open> open_; // from the root to where the parser is
    std::map<YAML::anchor_t, Anchored> anchors_;
    std::size_t nodes_ = 0, text_bytes_ = 0;
    YamlTree root_;
};

Error fault(std::string_view file, const YAML::Mark& mark, std::string message) {
    if (mark.is_null()) return {0, std::move(message), std::string{file}};
    return {0, std::move(message), fmt::format("{}:{}:{}", file, mark.line + 1, mark.column + 1)};
}

} // namespace

Result<YamlTree> parse_yaml(std::string_view text, std::string_view file, const YamlLimits& limits) {
    if (text.size() > limits.bytes)
        return Error{0, fmt::format("{} bytes; at most {} are read", text.size(), limits.bytes), std::string{file}};
    try {
        std::istringstream in{std::string{text}};
        YAML::Parser parser{in};
        Builder builder{limits};
        if (!parser.HandleNextDocument(builder)) return Error{0, "the file is empty", std::string{file}};
        Builder rest{limits};
        if (parser.HandleNextDocument(rest)) {
            const YamlTree second = rest.take();
            return Error{0, "a second document; one file is one document",
                         fmt::format("{}:{}:{}", file, second.line, second.column)};
        }
        return builder.take();
    } catch (const Refused& refused) {
        return fault(file, refused.mark, refused.message);
    } catch (const YAML::Exception& e) {
        return fault(file, e.mark, e.msg);
    }
}

} // namespace yk::scenario
