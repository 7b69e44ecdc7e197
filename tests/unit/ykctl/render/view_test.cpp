// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/view.h"

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
    return {std::move(columns), std::move(sort_by), descending, headers};
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

TEST_CASE("--sort-by: numbers in names, quantities by memory and then vcore, the list's order among equals") {
    CHECK(shown(view({"id"}, "id", false, false)) == "n-1\nn-2\nn-10\n");
    CHECK(shown(view({"id"}, "id", true, false)) == "n-10\nn-2\nn-1\n");
    CHECK(shown(view({"id"}, "size", false, false)) == "n-10\nn-1\nn-2\n");
    CHECK(shown(view({"id"}, "last-reason", false, false)) == "n-2\nn-10\nn-1\n");
    CHECK(shown(view({}, "id"), Format::Name) == "n-1\nn-2\nn-10\n");
    CHECK(shown(view({}, "nothing")).find("there is no column 'nothing'") == 0);
}

TEST_CASE("B1: items that are sorted when all have come: in pages, equals as they came") {
    SortedItems sorted{layout().columns[2], true};
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
