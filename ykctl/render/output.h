#pragma once
// The output formats of -o. The machine formats have a schema number and keep their shape; tables may change.

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/render/style.h"
#include "ykctl/render/table.h"

namespace yk::cli {

enum class Format { Table, Wide, Json, JsonLines, Yaml, Name };

/// The names of -o, in the order of Format.
inline constexpr const char* kFormatNames[] = {"table", "wide", "json", "jsonl", "yaml", "name"};
[[nodiscard]] std::optional<Format> find_format(std::string_view name);
[[nodiscard]] bool is_machine_readable(Format format);

/// How one kind of object is shown: a table's columns and what names an object.
using SortKey = std::vector<double>;
struct Column {
    Heading heading;
    std::function<std::string(const wire::Value&)> cell;
    bool wide = false;                                     // only with -o wide,
    std::function<SortKey(const wire::Value&)> order = {}; // for --sort-by; none: the text of the cell
    bool telling = false;                                  // wide: or when the items differ in it
};

struct ListLayout {
    std::vector<Column> columns;
    std::function<std::string(const wire::Value&)> name;
    std::string nothing; // what a table says when there is none: `no nodes`
    bool headers = true; // false: no line of headings, and nothing said when there is none
};

/// `items` as a whole: a table, or `{"schema":1,"items":[...]}`, or one line each.
[[nodiscard]] std::string list_text(const std::vector<wire::Value>& items, const ListLayout& layout, Format format,
                                    const Style& style);

/// A list in a machine format as list_text() has it, written item by item.
class ListWriter {
public:
    /// REQUIRES: is_machine_readable(format).
    ListWriter(std::ostream& out, Format format) : out_(out), format_(format) {}
    void add(const wire::Value& item);
    /// The end of the list. Once; later calls do nothing.
    void finish();

private:
    std::ostream& out_;
    const Format format_;
    bool is_empty_ = true, is_finished_ = false;
};

/// The parts of that text for lists that are written as they come: what stands before the items, one item (in JSON
/// there is `,` and a newline between two), what stands behind them. Not for tables.
[[nodiscard]] std::string list_head(Format format);
[[nodiscard]] std::string list_item(const wire::Value& item, const ListLayout& layout, Format format);
[[nodiscard]] std::string list_foot(Format format);

/// One object in a machine format: `{"schema":1,"item":{...}}`. REQUIRES: is_machine_readable(format).
[[nodiscard]] std::string item_text(const wire::Value& item, Format format);

/// `value` as JSON with two blanks of indentation, as one line of JSON, or as YAML; ends with a newline.
[[nodiscard]] std::string pretty_json(const wire::Value& value);
[[nodiscard]] std::string json_line(const wire::Value& value);
[[nodiscard]] std::string yaml_text(const wire::Value& value);

} // namespace yk::cli
