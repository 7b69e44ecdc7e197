// SPDX-License-Identifier: Apache-2.0
#include "libcore/base/text.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using yk::cut;
using yk::is_utf8;
using yk::printable;
using yk::printable_lines;
using yk::shortened;

namespace {

/// A text of letters of every length, of marks that terminals obey, and, if `torn`, of bytes that are none.
std::string random_text(std::mt19937& random, bool torn) {
    static const std::vector<std::string> kLetters{
        "a", " ", "\n", "\x1b", "\x7f", "\xc2\x9b", "\xc3\xa9", "\xe2\x80\xae", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    std::string text;
    for (std::size_t i = random() % 40; i > 0; --i) {
        if (torn && random() % 4 == 0)
            text += static_cast<char>(random());
        else
            text += kLetters[random() % kLetters.size()];
    }
    return text;
}

} // namespace

TEST_CASE("I-006 a text is cut at a character boundary") {
    CHECK(cut("abc", 3) == "abc");
    CHECK(cut("abc", 2) == "ab");
    CHECK(cut("a\xe2\x82\xac", 3) == "a");
    CHECK(cut("a\xe2\x82\xac", 4) == "a\xe2\x82\xac");
    CHECK(cut("\xf0\x9f\x98\x80", 3).empty());
    CHECK(shortened("abcdefgh", 8) == "abcdefgh");
    CHECK(shortened("abcdefghi", 8) == "abcde...");
    CHECK(shortened("abcd\xc3\xa9\xc3\xa9\xc3\xa9", 8) == "abcd...");
}

TEST_CASE("A5 what is cut, shortened or shown of any text is UTF-8, and no longer than it may be") {
    std::mt19937 random{12};
    for (int round = 0; round < 20000; ++round) {
        const bool torn = round % 2 == 1;
        const std::string text = random_text(random, torn);
        const std::size_t max = 3 + random() % 60;
        INFO(round << " " << max);
        CHECK(cut(text, max).size() <= max);
        CHECK(shortened(text, max).size() <= max);
        if (!torn) {
            CHECK(is_utf8(cut(text, max)));
            CHECK(is_utf8(shortened(text, max)));
        }
        CHECK(is_utf8(printable(text)));
        CHECK(printable(printable(text)) == printable(text));
    }
}

TEST_CASE("A10 what a terminal obeys is never shown") {
    CHECK(printable("plain \xc3\xa9 \xe2\x82\xac") == "plain \xc3\xa9 \xe2\x82\xac");
    CHECK(printable("a\x1b[31m\x07\x7f\n\t") == "a?[31m????");
    CHECK(printable("\xc2\x9b"
                    "31m \xc2\x80 \xc2\x9f \xc2\xa0") == "?31m ? ? \xc2\xa0");                              // C1
    CHECK(printable("\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\xaf") == "????\xe2\x80\xaf"); // overrides
    CHECK(printable("\x9b \xff \xe2\x82") == "? ? ??");                                                     // no UTF-8
    CHECK(printable_lines("a\nb\x1b\n") == "a\nb?\n");
    CHECK(yk::escaped_lines("{\n\"\xc2\x9b\xe2\x80\xae\x7f\"}", "\\u") == "{\n\"\\u009b\\u202e\\u007f\"}");
}
