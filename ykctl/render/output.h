// SPDX-License-Identifier: Apache-2.0
#pragma once
// The output formats of -o. Machine formats have a schema number and do not change; tables may.

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/render/json_stream.h"
#include "ykctl/render/json_text.h"
#include "ykctl/render/style.h"
#include "ykctl/render/table.h"

namespace yk::cli {

enum class Format { Table, Wide, Json, JsonLines, Yaml, Name };

/// The names of -o, in the order of Format.
inline constexpr const char* kFormatNames[] = {"table", "wide", "json", "jsonl", "yaml", "name"};
[[nodiscard]] std::optional<Format> find_format(std::string_view name);
[[nodiscard]] bool is_machine_readable(Format format);

/// Sorts items: compared number by number.
using SortKey = std::vector<double>;
struct Column {
    Heading heading;
    std::function<std::string(const wire::Value&)> cell;
    bool wide = false;                                     // shown with -o wide only
    std::function<SortKey(const wire::Value&)> order = {}; // for --sort-by; empty: by the text of the cell
    bool when_varied = false; // a wide column that is also shown when the items differ in it
    bool when_filled = false; // a wide column that is also shown when an item has a text in it
};

/// How one kind of object is shown: the columns of its table, and its name.
struct ListLayout {
    std::vector<Column> columns;
    std::function<std::string(const wire::Value&)> name;
    std::string nothing; // the text for an empty table: `no nodes`
    bool headers = true; // false: no line of headings, and no text for an empty table
    /// Instead of the table, for people; of one item or more.
    std::function<std::string(const std::vector<wire::Value>& items, const Style& style)> drawing = {};
    /// Instead of JSON-lines, for --watch without a terminal: what there is to say of the item now. `before`: the item
    /// at the last look; nullptr: this is the first.
    std::function<std::string(const wire::Value* before, const wire::Value& item)> news = {};
};

/// A list as a text: a table, or `{"schema":1,"items":[...]}`, or one line each.
[[nodiscard]] std::string list_text(const std::vector<wire::Value>& items, const ListLayout& layout, Format format,
                                    const Style& style);

/// Writes a list in a machine format, or of names, item by item: the same text as list_text().
class ListWriter {
public:
    /// `name` gives the name of an item, for Format::Name.
    ListWriter(std::ostream& out, Format format, std::function<std::string(const wire::Value&)> name = {})
        : out_(out), format_(format), name_(std::move(name)), json_(out, true) {}
    void add(const wire::Value& item);
    /// Writes the end of the list. Later calls do nothing.
    void finish();

private:
    void begin();

    std::ostream& out_;
    const Format format_;
    const std::function<std::string(const wire::Value&)> name_;
    JsonStream json_;
    bool is_begun_ = false, is_finished_ = false;
};

/// One object in a machine format: `{"schema":1,"item":{...}}`. REQUIRES: is_machine_readable(format).
[[nodiscard]] std::string item_text(const wire::Value& item, Format format);

/// `value` as YAML; ends with a newline.
[[nodiscard]] std::string yaml_text(const wire::Value& value);

} // namespace yk::cli
