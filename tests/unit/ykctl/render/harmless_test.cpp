// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/harmless.h"

#include <catch2/catch.hpp>

#include "ykctl/render/table.h"

using namespace yk::cli;

TEST_CASE("A10 what goes to a terminal keeps its colours and lines, and nothing else that a terminal obeys") {
    CHECK(harmless("").empty());
    CHECK(harmless("plain\nlines") == "plain\nlines");
    CHECK(harmless("\x1b[1mbold\x1b[0m and \x1b[38;5;3mmore\x1b[m") == "\x1b[1mbold\x1b[0m and \x1b[38;5;3mmore\x1b[m");
    CHECK(harmless("a\x1b]0;title\x07"
                   "b\r\x7f") == "a?]0;title?b??");
    CHECK(harmless("\x1b[2Jx\x1b[1\x1b[1mgood") == "?[2Jx?[1\x1b[1mgood");
    CHECK(harmless("c1 \xc2\x9b"
                   "31m turn \xe2\x80\xae end\x1b[") == "c1 ?31m turn ? end?[");
    CHECK(harmless("\xff\x1b") == "??");
}

TEST_CASE("A10 cells of tables and fields are harmless, whoever made them") {
    const Style plain;
    Table table({{"NAME"}});
    table.add({"x\x1b]0;y\x07"});
    CHECK(table.text(plain) == "NAME\nx?]0;y?\n");
    CHECK(fields_text({{"a\x1b", "b\xc2\x9b"}}, plain) == "a?:  b?\n");
}
