// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/values.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace yk;
using namespace yk::cli;

TEST_CASE("whole numbers") {
    CHECK(*parse_integer("-12") == -12);
    CHECK(*parse_integer("9223372036854775807") == INT64_MAX);
    CHECK(parse_integer("9223372036854775808").error().message == "'9223372036854775808' is too large");
    for (const char* bad : {"", "1x", "x", "1.5", " 1", "+1"}) CHECK_FALSE(parse_integer(bad).ok());
}

TEST_CASE("C-151 durations, in milliseconds, not negative") {
    CHECK(parse_milliseconds("1m30s")->count() == 90000);
    CHECK(parse_milliseconds("1.5s")->count() == 1500);
    CHECK_FALSE(parse_milliseconds("10").ok());
    CHECK_FALSE(parse_milliseconds("-1s").ok());
}

TEST_CASE("C-021 -R: configuration quantities, vcore in cores") {
    CHECK(*parse_resources({"memory=64Gi,vcore=16", "gpu=4"}) ==
          si::Resources{{"memory", 64LL << 30}, {"vcore", 16000}, {"gpu", 4}});
    CHECK(*parse_resources({"vcore=500m"}) == si::Resources{{"vcore", 500}});
    const auto bad = [](const std::string& text) {
        const auto parsed = parse_resources({text});
        REQUIRE_FALSE(parsed.ok());
        CHECK(parsed.error().exit == Exit::Usage);
        return parsed.error().message;
    };
    CHECK(bad("memory") == "-R: 'memory' is not NAME=QUANTITY");
    CHECK(bad("=1") == "-R: '=1' is not NAME=QUANTITY");
    CHECK(bad("memory=1,memory=2") == "-R: 'memory' is given twice");
    CHECK(bad("memory=12q").find("memory: invalid quantity") != std::string::npos);
    CHECK(bad("memory=-1").find("invalid quantity") != std::string::npos);
}

TEST_CASE("KEY=VALUE pairs") {
    CHECK(*parse_pairs({"a=1", "b=x=y", "c="}, "--tag") == si::StringMap{{"a", "1"}, {"b", "x=y"}, {"c", ""}});
    CHECK(parse_pairs({"a"}, "--tag").error().message == "--tag: 'a' is not KEY=VALUE");
    CHECK(parse_pairs({"a=1", "a=2"}, "--tag").error().message == "--tag: 'a' is given twice");
    si::StringMap pairs{{"a", "1"}};
    put_pair(pairs, "b", "2");
    put_pair(pairs, "a", "3");
    CHECK(pairs == si::StringMap{{"a", "3"}, {"b", "2"}});
}

TEST_CASE("USER[:GROUP,...]") {
    CHECK(parse_user("kim") == si::UserGroupInformation{"kim", {}});
    CHECK(parse_user("kim:a,b") == si::UserGroupInformation{"kim", {"a", "b"}});
    CHECK(split_lists({"a,b", "", ",c,"}) == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("name formats hold exactly one number") {
    CHECK(numbered_name("n%04d", 7) == "n0007");
    CHECK(numbered_name("rack-%d-b", 12) == "rack-12-b");
    for (const char* good : {"n%d", "%05dx"}) CHECK(check_name_format(good).ok());
    for (const char* bad : {"n", "n%s", "n%", "n%5d", "%d%d", "n%099999999999999999999d"}) {
        INFO(bad);
        CHECK_FALSE(check_name_format(bad).ok());
    }
}

TEST_CASE("reading: standard input, a file that is not there, a directory, too much") {
    std::istringstream in{"hello"};
    CHECK(*read_text("-", in) == "hello");
    std::istringstream large{"hello"};
    CHECK(read_text("-", large, 4).error().message == "standard input: more than 4 bytes");
    const auto missing = read_text("/nonexistent/file", in);
    CHECK(missing.error().message == "/nonexistent/file: cannot be opened: No such file or directory");
    CHECK(missing.error().exit == Exit::Usage);
    CHECK(read_text("/tmp", in).error().message == "/tmp: cannot be read: Is a directory");
}
