// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/csv.h"

#include <catch2/catch.hpp>

#include <string>

namespace yk::replay {
namespace {

const std::vector<CsvColumn> kColumns{{"a"}, {"b"}, {"c", false}};

/// All rows as `a|b|c;`, or the error.
std::string rows(const std::string& text) {
    auto reader = CsvReader::open(text, "t.csv", kColumns);
    if (!reader) return reader.error().text();
    std::string out;
    for (;;) {
        const auto more = reader->next();
        if (!more) return more.error().text();
        if (!*more) return out;
        out += reader->field("a") + "|" + reader->field("b") + "|" + reader->field("c") + ";";
    }
}

TEST_CASE("CSV: plain rows") {
    CHECK(rows("a,b\n1,2\n3,4\n") == "1|2|;3|4|;");
    CHECK(rows("a,b\n1,2") == "1|2|;");
    CHECK(rows("a,b\r\n1,2\r\n\r\n3,\r\n") == "1|2|;3||;");
    CHECK(rows("c,b,a\n1,2,3\n") == "3|2|1;");
    CHECK(rows("\xEF\xBB\xBF"
               "a,b\n1,2\n") == "1|2|;");
    CHECK(rows("a,b\n").empty());
}

TEST_CASE("CSV: quoted fields") {
    CHECK(rows("\"a\",b\n\"1,5\",\"say \"\"hi\"\"\"\n") == "1,5|say \"hi\"|;");
    CHECK(rows("a,b\n\"two\nlines\",x\ny\n") == "t.csv:4: 1 fields where the header has 2");
    CHECK(rows("a,b\n\"\",\"\"\r\n") == "||;");
}

TEST_CASE("CSV: faults name file and line") {
    CHECK(rows("") == "t.csv:1: unknown column \"\" (known: a, b, c)");
    CHECK(rows("a,x\n") == "t.csv:1: unknown column \"x\" (known: a, b, c)");
    CHECK(rows("a,a,b\n") == "t.csv:1: column \"a\" twice");
    CHECK(rows("a\n") == "t.csv:1: column \"b\" is missing (needed: a, b, c)");
    CHECK(rows("a,b\n1,2\n1,2,3\n") == "t.csv:3: 3 fields where the header has 2");
    CHECK(rows("a,b\n\"1,2\n") == "t.csv:2: a quoted field that does not end");
    CHECK(rows("a,b\n\"1\"x,2\n") == "t.csv:2: text after the closing quote of a field");
    CHECK(rows("a,b\n1\"x,2\n") == "t.csv:2: a quote inside a field that does not begin with one");
}

TEST_CASE("CSV: limits") {
    CHECK(rows("a,b\n" + std::string(kMaxFieldBytes + 1, 'x') + ",1\n").find("t.csv:2: a field of more than") == 0);
    CHECK(rows("a,b\n\"" + std::string(kMaxFieldBytes + 1, 'x') + "\",1\n").find("t.csv:2: a field of more than") == 0);
    CHECK(rows("a,b\n" + std::string(100, ',') + "\n").find("t.csv:2: more than 64 fields") == 0);
}

TEST_CASE("CSV: numbers") {
    const auto number = [](const std::string& text) {
        const std::string whole = "a,b\n" + text + ",x\n";
        auto reader = CsvReader::open(whole, "t.csv", kColumns);
        REQUIRE(reader.ok());
        REQUIRE(reader->next().ok());
        const auto value = reader->number("a", 1000);
        return value.ok() ? std::to_string(*value) : value.error().text();
    };
    CHECK(number("0") == "0");
    CHECK(number("1000") == "1000");
    CHECK(number("1001") == "t.csv:2: a: 1001 is above 1000");
    CHECK(number("99999999999999999999").find("is above 1000") != std::string::npos);
    CHECK(number("-1") == "t.csv:2: a: \"-1\" is no whole number of at least 0");
    CHECK(number("1.5").find("no whole number") != std::string::npos);
    CHECK(number("1 ").find("no whole number") != std::string::npos);
    CHECK(number("").find("no whole number") != std::string::npos);
}

} // namespace
} // namespace yk::replay
