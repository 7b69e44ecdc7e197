// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/output.h"

#include <sstream>

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

namespace {

const std::vector<Value> kItems{{{"id", "a"}, {"n", 1}}, {{"id", "b"}, {"n", 2}}};

ListLayout layout() {
    return {{{{"ID"}, [](const Value& item) { return item.at("id").get<std::string>(); }},
             {{"N", Align::Right}, [](const Value& item) { return item.at("n").dump(); }, true}},
            [](const Value& item) { return item.at("id").get<std::string>(); },
            "nothing"};
}

} // namespace

TEST_CASE("-o: every name is a format and nothing else is") {
    for (const char* name : kFormatNames) CHECK(find_format(name).has_value());
    CHECK_FALSE(find_format("xml").has_value());
    CHECK_FALSE(find_format("").has_value());
}

TEST_CASE("lists in every format") {
    CHECK(list_text(kItems, layout(), Format::Table, {}) == "ID\na\nb\n");
    CHECK(list_text(kItems, layout(), Format::Wide, {}) == "ID  N\na   1\nb   2\n");
    CHECK(list_text(kItems, layout(), Format::JsonLines, {}) == "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n");
    CHECK(list_text(kItems, layout(), Format::Name, {}) == "a\nb\n");
    CHECK(Value::parse(list_text(kItems, layout(), Format::Json, {})) == Value{{"schema", 1}, {"items", kItems}});
    CHECK(list_text(kItems, layout(), Format::Yaml, {}) ==
          "schema: 1\nitems:\n  - id: a\n    \"n\": 1\n  - id: b\n    \"n\": 2\n");
}

TEST_CASE("wide columns that are shown when there is something in them") {
    ListLayout varied = layout();
    varied.columns[1].when_varied = true;
    CHECK(list_text(kItems, varied, Format::Table, {}) == "ID  N\na   1\nb   2\n");
    CHECK(list_text({kItems[0]}, varied, Format::Table, {}) == "ID\na\n");
    ListLayout filled = layout();
    filled.columns[1].when_filled = true;
    CHECK(list_text({kItems[0]}, filled, Format::Table, {}) == "ID  N\na   1\n");
    filled.columns[1].cell = [](const Value&) { return std::string{}; };
    CHECK(list_text(kItems, filled, Format::Table, {}) == "ID\na\nb\n");
}

TEST_CASE("an empty list says so in a table and is an empty list in JSON") {
    CHECK(list_text({}, layout(), Format::Table, {}) == "nothing\n");
    CHECK(list_text({}, layout(), Format::JsonLines, {}).empty());
    CHECK(Value::parse(list_text({}, layout(), Format::Json, {})) == Value{{"schema", 1}, {"items", Value::array()}});
}

TEST_CASE("B5 a list that is written item by item is the same text") {
    for (const Format format : {Format::Json, Format::JsonLines, Format::Yaml})
        for (std::size_t size = 0; size <= kItems.size(); ++size) {
            std::ostringstream out;
            ListWriter writer{out, format};
            const std::vector<Value> items(kItems.begin(), kItems.begin() + static_cast<std::ptrdiff_t>(size));
            for (const auto& item : items) writer.add(item);
            writer.finish();
            writer.finish();
            CHECK(out.str() == list_text(items, layout(), format, {}));
        }
}

TEST_CASE("one object carries the schema number") {
    CHECK(item_text({{"a", 1}}, Format::Yaml) == "schema: 1\nitem:\n  a: 1\n");
    CHECK(Value::parse(item_text({{"a", 1}}, Format::Json)) == Value{{"schema", 1}, {"item", {{"a", 1}}}});
    CHECK(item_text({{"a", 1}}, Format::JsonLines) == "{\"a\":1}\n");
}

TEST_CASE("YAML quotes what would be read as something else") {
    CHECK(yaml_text({{"a", "true"}, {"b", "12"}, {"c", "a: b"}, {"no", "plain"}, {"e", ""}, {"f", nullptr}}) ==
          "a: \"true\"\nb: \"12\"\nc: \"a: b\"\n\"no\": plain\ne: \"\"\nf: null\n");
    CHECK(yaml_text({{"list", {Value::array(), Value::object(), Value{{"x", {1, 2}}}}}}) ==
          "list:\n  - []\n  - {}\n  - x:\n      - 1\n      - 2\n");
}

TEST_CASE("A10 what a terminal obeys is written as escapes") {
    const Value value{{"a\u009b", "b\u202ec\u2066\x7f\u0080"}, {"plain", "h\u00e9 \u00a0 \u2028 \u65e5"}};
    for (const std::string& text : {json_line(value), pretty_json(value), yaml_text(value)}) {
        for (const char* command : {"\u009b", "\u202e", "\u2066", "\x7f", "\u0080"})
            CHECK(text.find(command) == std::string::npos);
        CHECK(text.find("h\u00e9 \u00a0 \u2028 \u65e5") != std::string::npos);
    }
    CHECK(Value::parse(json_line(value)) == value);
    CHECK(json_line({{"x", "\u202e"}}) == "{\"x\":\"\\u202e\"}\n");
}

TEST_CASE("bytes are shown as hexadecimal text") {
    CHECK(json_line({{"id", Value::binary({0x00, 0xff, 0x1a})}}) == "{\"id\":\"00ff1a\"}\n");
}
