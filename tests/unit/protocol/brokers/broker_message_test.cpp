// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/broker_message.h"

#include <catch2/catch.hpp>

#include "protocol/brokers/murmur2.h"

namespace yk::rs {
namespace {

ChangeEvent event() {
    return {Kind{4}, "n-1", Op::Delete, "u\"1", 7, 0, {12, 34}, {}};
}

std::optional<ReadMessage> read_value(std::optional<std::string_view> value) {
    return read_message(Kind{4}, 2, {"n-1", value, {}, {}, {}});
}

} // namespace

TEST_CASE("rs R-045, T-23 an event is a compact value, and is read back with its place in the log") {
    const std::string value = message_value(event());
    CHECK(value == R"({"v":1,"op":3,"uid":"u\"1","version":7})");
    const auto read = read_message(Kind{4}, 2, {"n-1", value, "first", "12.34", "12.30"});
    REQUIRE(read.has_value());
    CHECK(read->epoch == "first");
    CHECK(read->event.kind == Kind{4});
    CHECK(read->event.id == "n-1");
    CHECK(read->event.op == Op::Delete);
    CHECK(read->event.uid == "u\"1");
    CHECK(read->event.version == 7);
    CHECK(read->event.lane == 2);
    CHECK(read->event.at == Position{12, 34});
    CHECK(read->event.previous == Position{12, 30});
}

TEST_CASE("rs R-045, T-23 a message of somebody else, also one without a value, says to look at its key") {
    const auto null = read_value(std::nullopt);
    REQUIRE(null.has_value());
    CHECK(null->event.op == Op::Update);
    CHECK(null->event.version == 0); // so that no cached row counts as the one it means
    CHECK(null->event.uid.empty());
    CHECK_FALSE(null->event.previous.has_value());
    CHECK(null->epoch.empty());
    CHECK(read_value(R"({"v":1,"op":2,"uid":"u","version":3})")->event.version == 3);
    CHECK(read_value(R"({"v":1,"op":1,"added":[{}]})")->event.op == Op::Insert);
    CHECK(read_value(R"({"v":1,"op":9,"uid":null,"version":null})")->event.op == Op::Relist);
    const auto partly = read_message(Kind{4}, 0, {"a", std::nullopt, "first", "1.1", {}});
    CHECK_FALSE(partly->event.previous.has_value()); // no link of a chain
}

TEST_CASE("rs R-055, T-77 what cannot be understood is said to be so") {
    for (const char* value : {"", "nonsense", "[]", "1", "{}", R"({"v":2,"op":1})", R"({"v":1})", R"({"v":1,"op":4})",
                              R"({"v":1,"op":"1"})", R"({"v":1,"op":1,"uid":5})", R"({"v":1,"op":1,"version":-1})",
                              R"({"v":1,"op":1,"version":1.5})", R"({"v":1,"op":1,"version":18446744073709551615})",
                              R"({"v":1,"op":1} x)", "{\"v\":1,\"op\":1,\"uid\":\"\xff\"}"}) {
        INFO(value);
        CHECK_FALSE(read_value(value).has_value());
    }
    CHECK_FALSE(read_value(std::string(8'000'000, 'x')).has_value());
    CHECK_FALSE(read_message(Kind{4}, 0, {"", std::nullopt, {}, {}, {}}).has_value());
    CHECK_FALSE(read_message(Kind{4}, 0, {"\xff", std::nullopt, {}, {}, {}}).has_value());
    const std::string longer(kLongestKey + 1, 'k');
    CHECK_FALSE(read_message(Kind{4}, 0, {longer, std::nullopt, {}, {}, {}}).has_value());
    CHECK_FALSE(read_message(Kind{4}, 0, {"a", std::nullopt, "first", "1", "0.1"}).has_value());
    CHECK_FALSE(read_message(Kind{4}, 0, {"a", std::nullopt, "first", "1.1", "x"}).has_value());
    CHECK_FALSE(read_message(Kind{4}, 0, {"a", std::nullopt, "", "1.1", "1.0"}).has_value());
}

TEST_CASE("rs R-048 a key has the partition that every client gives it") {
    // The values of the tests of the Java client.
    const std::pair<const char*, std::int32_t> known[] = {
        {"21", -973932308},
        {"foobar", -790332482},
        {"a-little-bit-long-string", -985981536},
        {"a-little-bit-longer-string", -1486304829},
        {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
        {"abc", 479470107}};
    for (const auto& [key, hash] : known) {
        CHECK(static_cast<std::int32_t>(murmur2(key)) == hash);
        CHECK(part_of(key, 7) == static_cast<std::size_t>(hash & 0x7fffffff) % 7);
    }
    CHECK(part_of("anything", 1) == 0);
}

} // namespace yk::rs
