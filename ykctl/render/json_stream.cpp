// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/json_stream.h"

#include <ostream>

#include "ykctl/render/json_text.h"

namespace yk::cli {

using wire::Value;

namespace {
constexpr std::size_t kIndent = 2;
}

void JsonStream::new_line() {
    if (pretty_) out_ << '\n' << std::string(levels_.size() * kIndent, ' ');
}

/// Writes the comma and the line break before an element. Behind a key there is neither.
void JsonStream::before_element() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (levels_.empty()) return;
    if (!levels_.back().empty) out_ << ',';
    levels_.back().empty = false;
    new_line();
}

void JsonStream::begin(char bracket) {
    before_element();
    out_ << bracket;
    levels_.push_back({bracket == '{' ? '}' : ']'});
}

void JsonStream::end() {
    const Level closed = levels_.back();
    levels_.pop_back();
    if (!closed.empty) new_line();
    out_ << closed.closing;
    if (levels_.empty()) out_ << '\n';
}

void JsonStream::key(std::string_view name) {
    before_element();
    std::string text = json_line(std::string{name});
    text.pop_back(); // its newline
    out_ << text << (pretty_ ? ": " : ":");
    after_key_ = true;
}

void JsonStream::value(const Value& value) {
    before_element();
    std::string text = pretty_ ? pretty_json(value) : json_line(value);
    text.pop_back(); // its newline
    if (!pretty_) {
        out_ << text;
        return;
    }
    const std::string indent(levels_.size() * kIndent, ' '); // line breaks within texts are escaped
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (begin > 0) out_ << '\n' << indent;
        out_.write(text.data() + begin, static_cast<std::streamsize>(end - begin));
        begin = end + 1;
    }
}

} // namespace yk::cli
