// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shapes: tables of the keys that a map of a scenario file may have; and a reader of YAML trees by them, for
// reader.cpp.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/check.h"
#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "libcore/config_yaml/tree.h"
#include "protocol/wire/value.h"

namespace yk::scenario {

using config_yaml::Mark;
using config_yaml::Member;
using config_yaml::Node;
using wire::Value;

struct Shape;

/// The most elements of one list of a message (I-316), each counted as often as its `repeat`.
inline constexpr std::int64_t kMaxElements = 100'000;

enum class FieldType {
    Text, // any scalar, as written
    Int32,
    Int64,
    Count, // 0 to 2^32 - 1
    Boolean,
    Resources,       // name -> int64
    IntegerLists,    // name -> list of int64
    Devices,         // name -> {count, each} or a list of {index, amount}
    WantedResources, // the same, or null, which wants none at all
    Texts,           // name -> text
    TextList,
    Counts,             // name -> count
    NodeAction,         // a name, sent as the integer of the action (I-045)
    Termination,        // a name, sent as the integer of the termination type (I-032)
    WantedTermination,  // name or `*`
    WantedTerminations, // key -> name or `*`
    Nanoseconds,        // duration text -> int64
    Config,             // a text, or a map that is written out as text
    Map,                // of `shape`
    List,               // of maps of `shape`
    MapOf               // name -> map of `shape`
};

struct Field {
    std::string_view key;
    FieldType type = FieldType::Text;
    const Shape* shape = nullptr;
    std::string_view wire_key = {}; // empty: as `key`
};

struct Shape {
    std::string_view name; // for messages
    std::vector<Field> fields;
};

/// Reads trees by shapes and keeps the first fault. After a fault it returns empty values, so that callers check only
/// once, at the end. Thread: any, but one at a time.
class ShapeReader {
public:
    explicit ShapeReader(std::string_view file) : file_(file) {}

    [[nodiscard]] bool failed() const { return error_.has_value(); }
    /// The first fault.
    [[nodiscard]] const Error& error() const {
        YK_ASSUME(failed(), "only a reader that failed has an error");
        return *error_;
    }
    void fail(const Mark& at, std::string message);

    /// The map as a Value with the keys of the wire. Faults are unknown keys, wrong types, and `exists: false` together
    /// with other keys.
    [[nodiscard]] Value read(const Node& node, const Shape& shape);
    /// A list of such maps; at most kMaxElements of them, each counted as often as its `repeat` says.
    [[nodiscard]] Value read_list(const Node& node, const Shape& shape);
    [[nodiscard]] Value read_field(const Node& node, const Field& field);

    [[nodiscard]] std::string text(const Node& node);
    [[nodiscard]] std::int64_t integer(const Node& node, std::int64_t least, std::int64_t most);
    [[nodiscard]] bool boolean(const Node& node);
    [[nodiscard]] Duration duration(const Node& node);
    /// A configuration as text.
    [[nodiscard]] std::string config(const Node& node);

private:
    bool expect_kind(const Node& node, Node::Kind kind, std::string_view name);
    const Field* find_field(const Member& member, const Shape& shape);
    Value read_map_of(const Node& node, const Field& element);
    Value read_amounts(const Node& node, const Field& field);
    Value read_integer_lists(const Node& node, const Field& field);
    Value read_devices(const Node& node, const Field& field);
    Value read_texts(const Node& node, const Field& field);
    Value read_node_action(const Node& node);
    Value read_termination(const Node& node, bool is_wanted);

    std::string file_;
    std::optional<Error> error_;
};

} // namespace yk::scenario
