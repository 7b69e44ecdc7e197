// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/screen.h"

#include <catch2/catch.hpp>

using namespace yk::cli;

TEST_CASE("screen: what is too much is left out, and counted") {
    const Style style{};
    CHECK(screen_text("a\nb\n", {10, 3}, style) == "a\nb\n");
    CHECK(screen_text("a\nb\nc\n", {20, 3}, style) == "a\nb\n\u2026 1 more lines");
    CHECK(screen_text("a\nb\nc\n", {0, 0}, style) == "a\nb\nc\n");
    CHECK(screen_text("abcdef\n", {4, 9}, style) == "abc\u2026\n");
    CHECK(screen_text("\x1b[31mabcdef\x1b[0m\n", {4, 9}, style) == "\x1b[31mabc\u2026\x1b[0m\n");
    CHECK(screen_text("a\nb\nc\n", {8, 2}, {false, false, true, 0}) == "a\n... 2 m~");
    CHECK(screen_text("", {8, 2}, style).empty());
}

TEST_CASE("screen: long lines are broken between words") {
    CHECK(wrapped_text("one two three\n", 0) == "one two three\n");
    CHECK(wrapped_text("one two three\n", 13) == "one two three\n");
    CHECK(wrapped_text("one two three\n", 8) == "one two\n    three\n");
    CHECK(wrapped_text(" 1. one two three four\nnext\n", 14) == " 1. one two\n     three\n     four\nnext\n");
    CHECK(wrapped_text("abcdefgh ij\n", 4) == "abcdefgh\n    ij\n");
    CHECK(wrapped_text("\x1b[31mone\x1b[0m two three\n", 7) == "\x1b[31mone\x1b[0m two\n    three\n");
    CHECK(wrapped_text("", 4).empty());
    CHECK(wrapped_text("\n\na\n", 4) == "\n\na\n");
}
