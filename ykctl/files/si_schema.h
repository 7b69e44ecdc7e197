// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SI messages that people write into files (interface.md 1.4, 1.6, 1.7): their fields, the types of these, and what
// the same fields are called where ykctl shows an object, so that `-o yaml` can be read back.

#include <string>
#include <vector>

namespace yk::cli {

struct MessageSpec;

/// Tree: any value, as it is. Ignored: any value, which is left out. Number: an Integer, also in quotes. Schedulable:
/// true or false as the action that makes a node so.
enum class FieldType {
    Text,
    Integer,
    Number,
    Boolean,
    Resource,
    Texts,
    TextMap,
    Action,
    Schedulable,
    Message,
    Messages,
    Tree,
    Ignored
};

struct FieldSpec {
    const char* name;
    FieldType type;
    bool required = false;
    const MessageSpec* message = nullptr; // of Message and Messages
    const char* shown_as = nullptr;       // its other name
    const char* within = nullptr;         // the member of the message that has this field, if not the message itself
};

/// A kind of objects that files hold.
struct MessageSpec {
    const char* name;
    std::vector<const char*> lists; // the names that lists of them have in requests and files
    std::vector<FieldSpec> fields;
    std::vector<const char*> only_shown = {}; // what ykd says of such an object, and nobody may ask for: read over
};

[[nodiscard]] const MessageSpec& node_spec();
[[nodiscard]] const MessageSpec& application_spec();
[[nodiscard]] const MessageSpec& ask_spec();

} // namespace yk::cli
