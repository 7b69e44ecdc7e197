// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/table.h"

#include <catch2/catch.hpp>

#include "ykctl/render/text.h"

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

namespace {

std::string fitted(std::size_t columns, bool is_ascii = false) {
    Heading load{"LOAD", Align::Right};
    load.rank = 1;
    Table table{{{"NAME"}, load, {"ZONE"}, {"WHY IT IS SO"}}};
    table.add({"node-1", "10%", "north", "because of this and that and more"});
    table.add({"node-22", "5%", "south", ""});
    Style style;
    style.columns = columns;
    style.is_ascii = is_ascii;
    return table.text(style);
}

} // namespace

TEST_CASE("annoyance 5: a table fits: the last column is cut, then columns go by rank, then the names are cut") {
    CHECK(fitted(0) == "NAME     LOAD  ZONE   WHY IT IS SO\n"
                       "node-1    10%  north  because of this and that and more\n"
                       "node-22    5%  south  -\n");
    CHECK(fitted(55) == fitted(0));
    CHECK(fitted(40) == "NAME     LOAD  ZONE   WHY IT IS SO\n"
                        "node-1    10%  north  because of this a…\n"
                        "node-22    5%  south  -\n");
    CHECK(fitted(40, true).find("because of this a~\n") != std::string::npos);
    CHECK(fitted(34) == "NAME     LOAD  ZONE   WHY IT IS SO\n"
                        "node-1    10%  north  because of …\n"
                        "node-22    5%  south  -\n");
    CHECK(fitted(25) == "NAME     LOAD  ZONE\n"
                        "node-1    10%  north\n"
                        "node-22    5%  south\n");
    CHECK(fitted(15) == "NAME     LOAD\n"
                        "node-1    10%\n"
                        "node-22    5%\n");
    CHECK(fitted(7) == "NAME\nnode-1\nnode-22\n");
    CHECK(fitted(4) == "NAME\nnod…\nnod…\n");
}

TEST_CASE("annoyance 5: columns that the user chose stay, and are cut") {
    Heading wanted{"B"};
    wanted.is_wanted = true;
    Table table{{{"A"}, wanted, {"C"}}};
    table.add({"first", "second", "third"});
    Style style;
    style.columns = 10;
    CHECK(table.text(style) == "A      B\nfirst  se…\n");
}

TEST_CASE("annoyance 10: wide characters take two columns, colours of what is cut end") {
    CHECK(display_width("中文") == 4);
    CHECK(display_width("é") == 1);
    CHECK(display_width("e\xcc\x81") == 1); // an accent of its own
    Table table{{{"NAME"}, {"X"}}};
    table.add({"中文", "1"});
    table.add({"ab", "2"});
    CHECK(table.text({}) == "NAME  X\n中文  1\nab    2\n");
    Style style{true, false};
    style.columns = 5;
    Table cut{{{"NAME"}}};
    cut.add({style.red("中文字")});
    CHECK(cut.text(style, false) == "\x1b[31m中文…\x1b[0m\n");
}
