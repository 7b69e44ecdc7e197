// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/output.h"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "libcore/base/check.h"
#include "ykctl/render/json_text.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr int kSchema = 1;
constexpr std::size_t kIndent = 2;

/// A scalar as YAML: as JSON, which is valid YAML, and without quotes if it is a name that can be read as nothing else.
std::string yaml_scalar(const Value& value) {
    auto quoted = json_text(value);
    if (!value.is_string()) return quoted;
    const auto& text = value.get_ref<const std::string&>();
    static constexpr std::string_view kReserved[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '/';
    };
    const bool safe = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
                      std::all_of(text.begin(), text.end(), plain) &&
                      std::find(std::begin(kReserved), std::end(kReserved), lower) == std::end(kReserved);
    return safe ? text : quoted;
}

void append_yaml(const Value& value, std::size_t indent, std::string& text);

/// Appends the value that follows `key:` or `-`.
void append_yaml_member(const Value& value, std::size_t indent, bool in_list, std::string& text) {
    if (!value.is_structured()) {
        text += " " + yaml_scalar(value) + "\n";
    } else if (value.empty()) {
        text += value.is_array() ? " []\n" : " {}\n";
    } else if (in_list) { // the first line of the element follows the dash
        std::string block;
        append_yaml(value, indent + kIndent, block);
        text += " " + block.substr(indent + kIndent);
    } else {
        text += "\n";
        append_yaml(value, indent + kIndent, text);
    }
}

void append_yaml(const Value& value, std::size_t indent, std::string& text) {
    const std::string blanks(indent, ' ');
    if (value.is_array()) {
        for (const auto& element : value) {
            text += blanks + "-";
            append_yaml_member(element, indent, true, text);
        }
        return;
    }
    for (const auto& [key, member] : value.items()) {
        text += blanks + yaml_scalar(key) + ":";
        append_yaml_member(member, indent, false, text);
    }
}

bool differs(const std::vector<Value>& items, const Column& column) {
    const auto first = column.cell(items.front());
    return std::any_of(items.begin(), items.end(), [&](const Value& item) { return column.cell(item) != first; });
}

bool is_filled(const std::vector<Value>& items, const Column& column) {
    return std::any_of(items.begin(), items.end(), [&](const Value& item) { return !column.cell(item).empty(); });
}

bool is_shown(const std::vector<Value>& items, const Column& column, bool wide) {
    return !column.wide || wide || (column.when_varied && differs(items, column)) ||
           (column.when_filled && is_filled(items, column));
}

std::string table_text(const std::vector<Value>& items, const ListLayout& layout, bool wide, const Style& style) {
    if (items.empty()) return layout.headers ? layout.nothing + "\n" : std::string{};
    std::vector<const Column*> shown;
    std::vector<Heading> headings;
    for (const auto& column : layout.columns) {
        if (!is_shown(items, column, wide)) continue;
        shown.push_back(&column);
        headings.push_back(column.heading);
    }
    Table table{headings};
    for (const auto& item : items) {
        std::vector<std::string> cells;
        cells.reserve(shown.size());
        for (const Column* column : shown) cells.push_back(column->cell(item));
        table.add(std::move(cells));
    }
    return table.text(style, layout.headers);
}

} // namespace

std::optional<Format> find_format(std::string_view name) {
    const auto* found = std::find(std::begin(kFormatNames), std::end(kFormatNames), name);
    if (found == std::end(kFormatNames)) return std::nullopt;
    return static_cast<Format>(std::distance(std::begin(kFormatNames), found));
}

bool is_machine_readable(Format format) {
    return format == Format::Json || format == Format::JsonLines || format == Format::Yaml;
}

std::string list_text(const std::vector<Value>& items, const ListLayout& layout, Format format, const Style& style) {
    std::string text;
    switch (format) {
    case Format::Table: return table_text(items, layout, false, style);
    case Format::Wide: return table_text(items, layout, true, style);
    case Format::Json: return pretty_json({{"schema", kSchema}, {"items", items}});
    case Format::Yaml: return yaml_text({{"schema", kSchema}, {"items", items}});
    case Format::JsonLines:
        for (const auto& item : items) text += json_line(item);
        return text;
    case Format::Name:
        for (const auto& item : items) text += printable(layout.name(item)) + "\n";
        return text;
    }
    return text;
}

void ListWriter::begin() {
    if (std::exchange(is_begun_, true)) return;
    if (format_ == Format::Yaml) out_ << "schema: " << kSchema << "\nitems:\n";
    if (format_ != Format::Json) return;
    json_.begin_object();
    json_.key("schema");
    json_.value(kSchema);
    json_.key("items");
    json_.begin_list();
}

void ListWriter::add(const Value& item) {
    begin();
    std::string text;
    switch (format_) {
    case Format::Json: return json_.value(item);
    case Format::JsonLines: text = json_line(item); break;
    case Format::Name: text = printable(name_(item)) + "\n"; break;
    default: append_yaml(without_bytes(Value::array({item})), kIndent, text); break;
    }
    out_ << text;
}

void ListWriter::finish() {
    if (std::exchange(is_finished_, true)) return;
    if (format_ == Format::Yaml && !is_begun_) out_ << list_text({}, {}, format_, {});
    if (format_ != Format::Json) return;
    begin();
    json_.end();
    json_.end();
}

std::string item_text(const Value& item, Format format) {
    YK_ASSUME(is_machine_readable(format), "the other formats are for people");
    if (format == Format::JsonLines) return json_line(item);
    const Value document{{"schema", kSchema}, {"item", item}};
    return format == Format::Yaml ? yaml_text(document) : pretty_json(document);
}

std::string yaml_text(const Value& value) {
    const auto tree = without_bytes(value);
    if (!tree.is_structured()) return yaml_scalar(tree) + "\n";
    if (tree.empty()) return tree.is_array() ? "[]\n" : "{}\n";
    std::string text;
    append_yaml(tree, 0, text);
    return text;
}

} // namespace yk::cli
