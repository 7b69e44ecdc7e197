// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/table.h"

#include <catch2/catch.hpp>

using namespace yk::cli;

TEST_CASE("a table is aligned, blank cells are dashes, lines have no blanks at the end") {
    Table table{{{"NAME"}, {"APPS", Align::Right}, {"NOTE"}}};
    table.add({"n1", "3", ""});
    table.add({"größe-2", "12", "x"});
    CHECK(table.text({}) == "NAME     APPS  NOTE\n"
                            "n1          3  -\n"
                            "größe-2    12  x\n");
}

TEST_CASE("colour codes take no room in a table") {
    const Style style{true, false};
    Table table{{{"A"}, {"B"}}};
    table.add({style.red("x"), "1"});
    table.add({"long", "2"});
    CHECK(table.text({}) == "A     B\n\x1b[31mx\x1b[0m     1\nlong  2\n");
}

TEST_CASE("fields stand below each other") {
    CHECK(fields_text({{"node", "n1"}, {"reserved for", ""}}, {}) == "node:          n1\nreserved for:  -\n");
}

TEST_CASE("usage is a percentage, with bars where they are wanted") {
    CHECK(usage_text(0.5, {}) == "50%");
    CHECK(usage_text(-1, {}) == "-");
    CHECK(usage_text(0, {}) == "0%");
    CHECK(usage_text(1.25, {}) == "125%");
    const Style bars{false, true};
    CHECK(usage_text(0.5, bars) == "█████       50%");
    CHECK(usage_text(1, bars) == "██████████ 100%");
    CHECK(usage_text(0.0125, bars) == "▏            1%");
    CHECK(usage_text(7, bars) == "██████████ 700%");
}
