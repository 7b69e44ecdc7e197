// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/view.h"

#include "ykctl/render/path_column.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

namespace {

const std::vector<Value> kItems{{{"id", "n-10"}, {"size", {{"memory", 512}}}, {"why", "b"}},
                                {{"id", "n-2"}, {"size", {{"memory", 2048}}}, {"why", "a"}},
                                {{"id", "n-1"}, {"size", {{"memory", 512}, {"vcore", 1}}}, {"why", "b"}}};

ListLayout layout() {
    const auto text = [](const char* key) {
        return [key](const Value& item) { return item.at(key).get<std::string>(); };
    };
    return {{{{"ID"}, text("id")},
             {{"SIZE"},
              [](const Value& item) { return item.at("size").dump(); },
              false,
              [](const Value& item) { return resource_key(item.at("size")); }},
             {{"LAST REASON"}, text("why"), true}},
            text("id"),
            "nothing"};
}

std::string shown(const TableView& view, Format format = Format::Table) {
    auto items = kItems;
    auto columns = layout();
    const auto done = apply_view(view, items, columns);
    return done.ok() ? list_text(items, columns, format, {}) : done.error().message;
}

TableView view(std::vector<std::string> columns, std::string sort_by = {}, bool descending = false,
               bool headers = true) {
    TableView made{std::move(columns), {}, headers};
    if (!sort_by.empty()) made.sort_by.push_back({std::move(sort_by), descending});
    return made;
}

} // namespace

TEST_CASE("--columns: by name in any case, in the order asked for, wide ones too") {
    CHECK(shown(view({"last-reason", "ID"})) ==
          "LAST REASON  ID\nb            n-10\na            n-2\nb            n-1\n");
    CHECK(shown(view({"last"})) == "LAST REASON\nb\na\nb\n");
    CHECK(shown(view({"lst-reason"})) ==
          "there is no column 'lst-reason'; there are id, size, last-reason; did you mean 'last-reason'?");
    CHECK(shown(view({""})) == "there is no column ''; there are id, size, last-reason");
}

TEST_CASE("--columns: paths into the JSON, names with dots in them too") {
    const Value item{{"nodeID", "n"},
                     {"attributes", {{"rack", "r1"}, {"zone.of.rack", "z\x1b"}}},
                     {"capacity", {{"nvidia.com/gpu", 4}}},
                     {"tasks", {{{"key", "k"}}}}};
    const auto at = [&item](const std::string& path) {
        CHECK(is_path(path));
        return path_column(path).cell(item);
    };
    CHECK(at(".nodeID") == "n");
    CHECK(at("attributes.rack") == "r1");
    CHECK(at(".attributes.zone.of.rack") == "z?");
    CHECK(at(".capacity.nvidia.com/gpu") == "4");
    CHECK(at(".tasks.0.key") == "k");
    CHECK(at(".tasks") == R"([{"key":"k"}])");
    for (const char* path :
         {".none", ".attributes.rack.more", ".tasks.1.key", ".tasks.x", ".capacity.nvidia", "..", "."})
        CHECK(at(path) == (path == std::string{"."} ? json_text(item) : "-"));
    CHECK(path_column(".attributes.rack").heading.text == "ATTRIBUTES.RACK");
    CHECK_FALSE(is_path("name"));
    CHECK(shown(view({"id", ".size.memory"}, ".size.memory", true)) ==
          "ID    SIZE.MEMORY\nn-2   2048\nn-10  512\nn-1   512\n");
}

TEST_CASE("--sort-by: numbers in names, quantities by memory and then vcore, the list's order among equals") {
    CHECK(shown(view({"id"}, "id", false, false)) == "n-1\nn-2\nn-10\n");
    CHECK(shown(view({"id"}, "id", true, false)) == "n-10\nn-2\nn-1\n");
    CHECK(shown(view({"id"}, "size", false, false)) == "n-10\nn-1\nn-2\n");
    CHECK(shown(view({"id"}, "last-reason", false, false)) == "n-2\nn-10\nn-1\n");
    CHECK(shown(view({}, "id"), Format::Name) == "n-1\nn-2\nn-10\n");
    CHECK(shown(view({}, "nothing")).find("there is no column 'nothing'") == 0);
}

TEST_CASE("annoyance 6: --sort-by takes several columns, each in its direction") {
    const auto by = [](const SortBy& first, const SortBy& second) { return shown({{"id"}, {first, second}, false}); };
    CHECK(by({"last-reason", false}, {"id", false}) == "n-2\nn-1\nn-10\n");
    CHECK(by({"last-reason", true}, {"id", false}) == "n-1\nn-10\nn-2\n");
    CHECK(by({"last-reason", true}, {"id", true}) == "n-10\nn-1\nn-2\n");
    CHECK(by({"size", true}, {"id", true}) == "n-2\nn-1\nn-10\n");
    CHECK(by({"id", true}, {"nothing", true}).starts_with("there is no column 'nothing'"));
}

TEST_CASE("B1: items that are sorted when all have come: in pages, equals as they came") {
    SortedItems sorted{{{layout().columns[2], true}}};
    sorted.add({kItems[0], kItems[1]});
    sorted.add({kItems[2]});
    std::vector<std::vector<Value>> pages;
    const auto keep = [&pages](std::vector<Value> page) { pages.push_back(std::move(page)); };
    sorted.take(2, keep);
    CHECK(pages == std::vector<std::vector<Value>>{{kItems[0], kItems[2]}, {kItems[1]}});
    sorted.take(2, keep);
    CHECK(pages.size() == 2);

    const auto unknown = order_of(view({}, "nothing"), layout());
    REQUIRE_FALSE(unknown.ok());
    CHECK(unknown.error().message.find("there is no column 'nothing'") == 0);
    CHECK_FALSE(*order_of(view({}), layout()));
    CHECK_FALSE(*order_of(view({}, "id"), {})); // machine formats only
}

TEST_CASE("--no-headers: rows only, and nothing for an empty list") {
    std::vector<Value> none;
    auto columns = layout();
    REQUIRE(apply_view(view({}, {}, false, false), none, columns).ok());
    CHECK(list_text(none, columns, Format::Table, {}).empty());
    CHECK(shown(view({"id"}, {}, false, false)) == "n-10\nn-2\nn-1\n");
}

TEST_CASE("natural order is an order") {
    for (const char* text : {"", "a", "a1", "a01", "a1b", "1", "10", "a10"}) CHECK_FALSE(naturally_before(text, text));
    CHECK(naturally_before("a2", "a10"));
    CHECK_FALSE(naturally_before("a10", "a2"));
    CHECK(naturally_before("a", "a1"));
    CHECK(naturally_before("99999999999999999999998", "99999999999999999999999"));
}
