// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SI messages that people write into files (interface.md 1.4, 1.6, 1.7): their fields and the types of these.

#include <string>
#include <vector>

namespace yk::cli {

struct MessageSpec;

/// Tree: any value, as it is. Ignored: any value, which is left out.
enum class FieldType { Text, Integer, Boolean, Resource, Texts, TextMap, Action, Message, Messages, Tree, Ignored };

struct FieldSpec {
    const char* name;
    FieldType type;
    bool required = false;
    const MessageSpec* message = nullptr; // of Message and Messages
};

struct MessageSpec {
    const char* name;
    const char* list_name; // the list field of the request that holds such messages
    std::vector<FieldSpec> fields;
};

[[nodiscard]] const MessageSpec& node_spec();
[[nodiscard]] const MessageSpec& application_spec();
[[nodiscard]] const MessageSpec& ask_spec();

} // namespace yk::cli
