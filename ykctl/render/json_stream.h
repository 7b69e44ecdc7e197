#pragma once
// JsonStream: a JSON document written part by part: the form of pretty_json(), or of json_line().

#include <iosfwd>
#include <string_view>
#include <vector>

#include "protocol/wire/value.h"

namespace yk::cli {

/// Objects and lists are opened and closed by the caller; what is small enough is written at once.
class JsonStream {
public:
    JsonStream(std::ostream& out, bool pretty) : out_(out), pretty_(pretty) {}

    void begin_object() { begin('{'); }
    void begin_list() { begin('['); }
    /// Closes what was opened last; the newline of the document stands behind the outermost.
    void end();
    /// Of the member of an object that comes next.
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
