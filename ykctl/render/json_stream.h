// SPDX-License-Identifier: Apache-2.0
#pragma once
// JsonStream: writes a JSON document part by part, in the form of pretty_json() or of json_line().

#include <iosfwd>
#include <string_view>
#include <vector>

#include "protocol/wire/value.h"

namespace yk::cli {

/// The caller opens and closes objects and lists; a small part is written as one value.
class JsonStream {
public:
    JsonStream(std::ostream& out, bool pretty) : out_(out), pretty_(pretty) {}

    void begin_object() { begin('{'); }
    void begin_list() { begin('['); }
    /// Closes the object or list that was opened last. Behind the outermost comes the newline of the document.
    void end();
    /// Writes the key of the next member of an object.
    void key(std::string_view name);
    void value(const wire::Value& value);

private:
    void begin(char bracket);
    void before_element();
    void new_line();

    struct Level {
        char closing;
        bool empty = true;
    };
    std::ostream& out_;
    bool pretty_;
    bool after_key_ = false;
    std::vector<Level> levels_;
};

} // namespace yk::cli
