// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/page_writer.h"

#include <sstream>

#include <catch2/catch.hpp>

#include "ykctl/render/json_stream.h"

using namespace yk::cli;
using yk::wire::Value;

namespace {

ListLayout layout() {
    return {{{{"ID"}, [](const Value& item) { return item.at("id").get<std::string>(); }},
             {{"N", Align::Right}, [](const Value& item) { return item.at("n").dump(); }}},
            [](const Value& item) { return item.at("id").get<std::string>(); },
            "nothing"};
}

std::string written(const std::vector<std::vector<Value>>& pages, Format format) {
    std::ostringstream out;
    PageWriter writer{out, layout(), format, {}};
    for (const auto& page : pages) writer.add(page);
    writer.finish();
    return out.str();
}

} // namespace

TEST_CASE("B1: a list in pages is the text of the whole list") {
    const std::vector<Value> items{
        {{"id", "a\nb"}, {"n", 1}, {"list", {1, 2}}}, {{"id", "c"}, {"n", 2}}, {{"id", "d"}, {"n", 3}}};
    for (const auto format : {Format::Json, Format::JsonLines, Format::Yaml, Format::Name}) {
        CAPTURE(static_cast<int>(format));
        const auto whole = list_text(items, layout(), format, {});
        CHECK(written({items}, format) == whole);
        CHECK(written({{items[0]}, {}, {items[1], items[2]}}, format) == whole);
        CHECK(written({}, format) == list_text({}, layout(), format, {}));
    }
}

TEST_CASE("B1: a table in pages keeps the widths of the first one") {
    CHECK(written({{{{"id", "aaa"}, {"n", 1}}}, {{{"id", "b"}, {"n", 22}}, {{"id", "longer"}, {"n", 3}}}},
                  Format::Table) == "ID   N\naaa  1\nb    22\nlonger  3\n");
    CHECK(written({}, Format::Table) == "nothing\n");
}

TEST_CASE("B1: a document written in parts is that of the whole") {
    const Value list{{{"a", 1}, {"b", Value::array()}}, "x\ny", Value::object()};
    const Value document{{"schema", 1}, {"list", list}, {"empty", Value::array()}, {"end", {{"c", {1, 2}}}}};
    for (const bool pretty : {true, false}) {
        std::ostringstream out;
        JsonStream to{out, pretty};
        to.begin_object();
        for (const auto& [key, value] : document.items()) {
            to.key(key);
            if (!value.is_array()) {
                to.value(value);
                continue;
            }
            to.begin_list();
            for (const auto& element : value) to.value(element);
            to.end();
        }
        to.end();
        CHECK(out.str() == (pretty ? pretty_json(document) : json_line(document)));
    }
}
