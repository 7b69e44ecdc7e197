// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/output_text.h"

#include <catch2/catch.hpp>

namespace yk::service {

TEST_CASE("rs R-176 a part of an output is text, wherever it begins and ends") {
    CHECK(output_text("").empty());
    CHECK(output_text("plain\n") == "plain\n");
    CHECK(output_text("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80") ==
          "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    // it ends within a character, which comes with the next part
    CHECK(output_text("\xe2\x82\xac\xc3") == "\xe2\x82\xac");
    CHECK(output_text("a\xe2") == "a");
    CHECK(output_text("a\xe2\x82") == "a");
    CHECK(output_text("a\xf0\x9f\x98") == "a");
    // it begins within one
    CHECK(output_text("\xac\xe2\x82\xac") == "?\xe2\x82\xac");
    CHECK(output_text("\x9f\x98\x80z") == "???z");
    // bytes that are part of none cost nothing but themselves
    CHECK(output_text("\xe2\x82\xac \xff \xe2\x82\xac") == "\xe2\x82\xac ? \xe2\x82\xac");
    CHECK(output_text("\xc3z\xc3\xbc") == "?z\xc3\xbc");
    CHECK(output_text("\xe2\x82z") == "??z");
    CHECK(output_text("\xff") == "?");
    CHECK(output_text("\xc0\xaf\xed\xa0\x80") == "?????");
}

} // namespace yk::service
