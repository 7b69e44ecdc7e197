#pragma once
// YAML text as a tree with places, strict where yaml-cpp is not: one document, no duplicate keys, text keys only,
// bounded. Anchors, aliases and merge keys are resolved (C-001, C-004, C-008, B-11). Used for the queue configuration;
// other YAML files that are read strictly may use it as well.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/config/problem.h"

namespace yk::config_yaml {

using config::Mark;

struct Node;
/// Shared because an alias names the node of its anchor; immutable once made.
using NodePtr = std::shared_ptr<const Node>;

struct Member {
    std::string key;
    Mark mark; // of the key
    NodePtr value;
};

struct Node {
    enum class Kind { Null, Scalar, Sequence, Mapping };

    Kind kind = Kind::Null;
    Mark mark;
    std::string scalar;
    bool quoted = false;         // the scalar was quoted, a block, or tagged as text: it is text whatever it looks like
    std::vector<NodePtr> items;  // of a sequence
    std::vector<Member> members; // of a mapping, in file order, merged ones last; keys are unique

    // With everything below it, aliases written out.
    std::size_t nodes = 1;
    std::size_t bytes = 0;
    std::size_t height = 1;
};

inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxNodes = 150'000; // without aliases; a text of full size has about as many
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxKeyBytes = 250; // so that a key, written with escapes, is below YAML's 1024
inline constexpr std::size_t kMaxAliasNodes = 10'000;

/// Whether kMaxTextBytes and kMaxNodes are for a text; not for one that the daemon wrote itself.
enum class TextSize { Bounded, Any };

/// The tree of `text`; null when the text holds no document or cannot be parsed at all. Problems go to `report`.
[[nodiscard]] NodePtr parse_tree(std::string_view text, config::Report& report, TextSize size = TextSize::Bounded);

} // namespace yk::config_yaml
