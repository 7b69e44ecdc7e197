#pragma once
// YAML text as a plain bounded tree that its readers own and may build themselves; what config_yaml/tree.h is for the
// queue configuration, here with limits of the reader's choice. Used by ykctl's object files and settings.

#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"

namespace yk::scenario {

struct YamlField;

/// One node. Plain data; `line` and `column` count from 1.
struct YamlTree {
    enum class Kind { Null, Scalar, List, Map };

    Kind kind = Kind::Null;
    bool quoted = false; // a scalar in quotes or a block scalar: text, whatever it looks like
    std::string text;    // of a scalar
    int line = 0;
    int column = 0;
    std::vector<YamlTree> items;   // of a list
    std::vector<YamlField> fields; // of a map, in file order, duplicate keys included

    [[nodiscard]] bool is_plain() const { return kind == Kind::Scalar && !quoted; }
};

/// A key of a map and its value. No std::pair: clang 14 cannot make one of a type that holds a vector of it.
struct YamlField {
    YamlTree key;
    YamlTree value;
};

struct YamlLimits {
    std::size_t bytes = 4U << 20;       // of the file
    std::size_t nodes = 200'000;        // aliases expanded
    std::size_t text_bytes = 16U << 20; // of all scalars, aliases expanded
    std::size_t depth = 64;
};

/// Parses one document. Refused, with `file:line:column` as `where`: what is not YAML, a second document, an alias of a
/// node that is still open, and what exceeds the limits.
[[nodiscard]] Result<YamlTree> parse_yaml(std::string_view text, std::string_view file, const YamlLimits& limits = {});

} // namespace yk::scenario
