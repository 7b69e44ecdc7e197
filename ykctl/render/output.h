#pragma once
// The output formats of -o. The machine formats have a schema number and keep their shape; tables may change.

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/render/json_stream.h"
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

/// A list in a machine format, or of names, written item by item: the text of list_text().
class ListWriter {
public:
    /// `name`: of an item, for Format::Name.
    ListWriter(std::ostream& out, Format format, std::function<std::string(const wire::Value&)> name = {})
        : out_(out), format_(format), name_(std::move(name)), json_(out, true) {}
    void add(const wire::Value& item);
    /// The end of the list. Once; later calls do nothing.
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

/// `value` as JSON with two blanks of indentation, as one line of JSON, or as YAML; ends with a newline.
[[nodiscard]] std::string pretty_json(const wire::Value& value);
[[nodiscard]] std::string json_line(const wire::Value& value);
[[nodiscard]] std::string yaml_text(const wire::Value& value);

} // namespace yk::cli
