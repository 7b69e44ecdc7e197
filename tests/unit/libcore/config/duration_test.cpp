// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/duration.h"

#include <catch2/catch.hpp>

#include <limits>
#include <utility>

using namespace yk::config;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

} // namespace

TEST_CASE("C-151 durations that are read") {
    const std::pair<const char*, std::int64_t> rows[] = {{"0", 0},
                                                         {"-0", 0},
                                                         {"+0", 0},
                                                         {"0s", 0},
                                                         {"30s", 30 * kSecond},
                                                         {"+30s", 30 * kSecond},
                                                         {"-30s", -30 * kSecond},
                                                         {"1h30m", 5400 * kSecond},
                                                         {"1.5h", 5400 * kSecond},
                                                         {".5s", kSecond / 2},
                                                         {"1.s", kSecond},
                                                         {"300ms", 300'000'000},
                                                         {"7us", 7'000},
                                                         {"7\u00b5s", 7'000},
                                                         {"7\u03bcs", 7'000},
                                                         {"9ns", 9},
                                                         {"1m1m", 120 * kSecond},
                                                         {"0.3333333333333333333333s", 333'333'333},
                                                         {"0.1ns", 0},
                                                         {"9223372036854775807ns", kMax},
                                                         {"-9223372036854775808ns", kMin},
                                                         {"2562047h47m16.854775807s", kMax}};
    for (const auto& [text, ns] : rows) {
        INFO(text);
        const auto value = parse_duration(text);
        REQUIRE(value.ok());
        CHECK(value->count() == ns);
    }
}

TEST_CASE("C-151 durations that are bad: without unit, unknown, with blanks, overflow") {
    for (const char* text : {"",
                             "10",
                             "xxxx",
                             "s",
                             ".s",
                             ".",
                             "-",
                             "+",
                             "1 s",
                             " 1s",
                             "1s ",
                             "1d",
                             "1S",
                             "--1s",
                             "1h30",
                             "1e3s",
                             "9223372036854775808ns",
                             "-9223372036854775809ns",
                             "3000000h",
                             "99999999999999999999999s",
                             "9223372036s1000000000ns"}) {
        INFO(text);
        const auto value = parse_duration(text);
        REQUIRE_FALSE(value.ok());
        CHECK_THAT(value.error().message, Catch::Contains("such as 30s"));
    }
}

TEST_CASE("C-151 durations are printed canonically, and read back as the same") {
    const std::pair<std::int64_t, const char*> rows[] = {{0, "0s"},
                                                         {30 * kSecond, "30s"},
                                                         {3600 * kSecond, "1h0m0s"},
                                                         {100 * kSecond, "1m40s"},
                                                         {50'000'000, "50ms"},
                                                         {1'500'000'000, "1.5s"},
                                                         {1'500'000, "1.5ms"},
                                                         {3'000, "3\u00b5s"},
                                                         {1'001, "1.001\u00b5s"},
                                                         {7, "7ns"},
                                                         {-90 * kSecond, "-1m30s"},
                                                         {kMax, "2562047h47m16.854775807s"},
                                                         {kMin, "-2562047h47m16.854775808s"}};
    for (const auto& [ns, text] : rows) {
        CHECK(duration_text(yk::Duration{ns}) == text);
        CHECK(parse_duration(text).value().count() == ns);
    }
}
