// SPDX-License-Identifier: Apache-2.0
#pragma once
// YAML text as a tree with positions, strict where yaml-cpp is not: one document, no duplicate keys, text keys only,
// bounded in size. Anchors, aliases and merge keys are resolved (C-001, C-004, C-008, B-11). Every YAML file of ykd and
// ykctl is read through it: the queue configuration, settings, scenarios and files of messages.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
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
    std::vector<Member> members; // of a mapping, in file order, merged ones last; see TreeLimits::unique_keys

    /// Whether it is a scalar whose text decides what it is: a number, a truth value or a text.
    [[nodiscard]] bool is_plain() const { return kind == Kind::Scalar && !quoted; }

    // Of the node with everything below it, each alias counted as a copy.
    std::size_t nodes = 1;
    std::size_t bytes = 0;
    std::size_t height = 1;
};

inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxNodes = 150'000; // without aliases; a text of full size has about as many
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxKeyBytes = 250; // so that a key, written with escapes, is below YAML's 1024
inline constexpr std::size_t kMaxAliasNodes = 10'000;

/// What a text is refused for. The defaults are for a file that a person wrote; a reader of larger files raises them.
/// Memory grows with bytes and nodes alone, because aliases share the node of their anchor; the time of a walk over the
/// tree grows with what aliases stand for as well.
struct TreeLimits {
    std::size_t bytes = kMaxTextBytes; // of the text
    std::size_t nodes = kMaxNodes;
    std::size_t depth = kMaxDepth;
    std::size_t key_bytes = kMaxKeyBytes;
    std::size_t alias_nodes = kMaxAliasNodes; // all that aliases stand for, as often as they are used
    std::size_t alias_bytes = kMaxTextBytes;
    bool unique_keys = true; // false: a mapping keeps a key that occurs twice, and the reader refuses it
};

/// The tree of `text`; null when the text holds no document or cannot be parsed at all. Problems go to `report`.
[[nodiscard]] NodePtr parse_tree(std::string_view text, config::Report& report, const TreeLimits& limits = {});

/// The tree of a file for a reader that stops at the first problem: that problem, with `FILE:LINE:COLUMN` as `where`,
/// is the error. A file without a document is an error as well, so the tree is never null.
[[nodiscard]] Result<NodePtr> read_tree(std::string_view text, std::string_view file, const TreeLimits& limits = {});

} // namespace yk::config_yaml
