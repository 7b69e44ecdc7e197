// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/text.h"

#include <catch2/catch.hpp>

using namespace yk::wire;
using yk::is_utf8;

namespace {
TextFault id(std::string_view text) {
    return check_text(text, TextRule::Id);
}
} // namespace

TEST_CASE("I-006 identifiers: 256 bytes, UTF-8, no control characters, at any length and place") {
    CHECK(id("") == TextFault::None);
    CHECK(id(std::string(256, 'a')) == TextFault::None);
    CHECK(id(std::string(257, 'a')) == TextFault::TooLong);
    for (std::size_t size = 1; size <= 40; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            INFO(size << " " << at);
            std::string text(size, 'x');
            CHECK(id(text) == TextFault::None);
            for (const char bad : {'\0', '\n', '\x1f', '\x7f'}) {
                text[at] = bad;
                CHECK(id(text) == TextFault::ControlCharacter);
            }
            text[at] = '\xff';
            CHECK(id(text) == TextFault::NotUtf8);
            for (const char good : {' ', '~', '!'}) {
                text[at] = good;
                CHECK(id(text) == TextFault::None);
            }
        }
    }
}

TEST_CASE("I-006 the other texts may hold control characters and have limits of their own") {
    for (const auto rule : {TextRule::Queue, TextRule::Message, TextRule::TagValue, TextRule::Config}) {
        CHECK(check_text("two\nlines", rule) == TextFault::None);
        CHECK(check_text("\xff", rule) == TextFault::NotUtf8);
        CHECK(check_text(std::string(max_bytes(rule), 'a'), rule) == TextFault::None);
        CHECK(check_text(std::string(max_bytes(rule) + 1, 'a'), rule) == TextFault::TooLong);
    }
    CHECK(max_bytes(TextRule::Queue) == 1024);
    CHECK(max_bytes(TextRule::Message) == 4096);
    CHECK(max_bytes(TextRule::TagValue) == 65536);
    CHECK(max_bytes(TextRule::Config) == 4194304);
}

TEST_CASE("I-006 what is UTF-8") {
    for (const char* good : {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                             "\xf4\x8f\xbf\xbf", "a\xc2\x80z", "\xe0\xa0\x80", "\xf0\x90\x80\x80"})
        CHECK(is_utf8(good));
    for (const char* bad :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3\x28", "a\xe2\x28\xa1"})
        CHECK_FALSE(is_utf8(bad));
}
