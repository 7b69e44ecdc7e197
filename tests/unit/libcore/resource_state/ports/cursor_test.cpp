// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/ports/cursor.h"

#include <type_traits>

#include <catch2/catch.hpp>

#include "libcore/resource_state/ports/change_log.h"

namespace yk::rs {
namespace {

Cursor cursor(std::string epoch, std::vector<Position> lanes) {
    return {std::move(epoch), std::move(lanes)};
}

} // namespace

TEST_CASE("rs R-035 a cursor is written and read back") {
    for (const Cursor& each : {cursor("e", {{0, 17}}), cursor("a@b, c", {{1, 2}, {0, 0}, {18446744073709551615U, 3}}),
                               cursor("", {}), cursor("e", {})})
        CHECK(Cursor::parse(each.text()) == each);
    CHECK(cursor("first", {{0, 17}, {0, 3}}).text() == "0.17,0.3@first");
    for (const char* text : {"", "0.17", "17@e", "0.@e", "0.1,@e", ",0.1@e", "0.1;0.2@e", "-1.2@e", "0.1 @e"})
        CHECK_FALSE(Cursor::parse(text).has_value());
}

TEST_CASE("rs R-035 cursors compare only within an epoch, and lane by lane") {
    const Cursor low = cursor("e", {{0, 1}, {0, 5}}), high = cursor("e", {{0, 1}, {0, 6}});
    CHECK(low < high);
    CHECK(reaches(high, low));
    CHECK(reaches(low, low));
    CHECK_FALSE(reaches(low, high));
    CHECK_FALSE(reaches(cursor("f", {{0, 9}, {0, 9}}), low));
    CHECK_FALSE(reaches(cursor("e", {{0, 2}, {0, 4}}), low));
    CHECK_FALSE(reaches(cursor("e", {{0, 9}}), low));
    CHECK(Position{1, 0} > Position{0, 99}); // by transaction first
}

TEST_CASE("a cursor advances and never goes back") {
    Cursor one = cursor("e", {});
    one.advance(1, {0, 4});
    CHECK(one.text() == "0.0,0.4@e");
    one.advance(1, {0, 3});
    CHECK(one.covers(1, {0, 4}));
    CHECK_FALSE(one.covers(1, {0, 5}));
    CHECK_FALSE(one.covers(2, {}));
}

TEST_CASE("rs R-067 only a capture makes the cursor that a log is opened at") {
    STATIC_REQUIRE_FALSE(std::is_constructible_v<CapturedCursor, Cursor>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<CapturedCursor>);
}

} // namespace yk::rs
