// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/broker_message.h"

#include <catch2/catch.hpp>

#include "protocol/brokers/message_intake.h"
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

TEST_CASE("rs R-055 what a reader would not understand is known before it is sent") {
    CHECK(can_be_carried(event()));
    const auto with = [](auto change) {
        ChangeEvent made = event();
        change(made);
        return made;
    };
    CHECK(can_be_carried(with([](ChangeEvent& of) { of.id.assign(kLongestKey, 'k'); })));
    CHECK(can_be_carried(with([](ChangeEvent& of) { of.op = Op::Relist; })));
    CHECK_FALSE(can_be_carried(with([](ChangeEvent& of) { of.id.clear(); })));
    CHECK_FALSE(can_be_carried(with([](ChangeEvent& of) { of.id.assign(kLongestKey + 1, 'k'); })));
    CHECK_FALSE(can_be_carried(with([](ChangeEvent& of) { of.id = "\xc3"; })));
    CHECK_FALSE(can_be_carried(with([](ChangeEvent& of) { of.uid.assign(kLongestValue, 'u'); })));
    CHECK_FALSE(can_be_carried(with([](ChangeEvent& of) { of.version = -1; })));
    CHECK_FALSE(can_be_carried(with([](ChangeEvent& of) { of.op = static_cast<Op>(7); })));
}

TEST_CASE("rs R-048, rs R-055 a message that is passed over keeps the chain of its lane whole") {
    RelayEpoch epoch;
    EventBatch batch;
    const auto take = [&](std::optional<Kind> kind, const BrokerMessage& message) {
        return take_message(kind, 3, message, epoch, batch);
    };
    REQUIRE(take(Kind{4}, {"a", "{\"v\":1,\"op\":2}", "first", "0.7", "0.6"}).ok());
    REQUIRE(take(Kind{4}, {"b", "nonsense", "first", "0.8", "0.7"}).ok());
    REQUIRE(take(Kind{4}, {"", std::nullopt, "first", "0.9", "0.8"}).ok());
    REQUIRE(take(std::nullopt, {"c", std::nullopt, "first", "0.10", "0.9"}).ok()); // of a kind of a later version
    REQUIRE(take(std::nullopt, {"d", std::nullopt, {}, {}, {}}).ok());
    REQUIRE(take(Kind{4}, {"e", "nonsense", {}, {}, {}}).ok());
    CHECK(batch.unreadable == std::vector<Kind>(3, Kind{4}));
    REQUIRE(batch.events.size() == 4);
    for (std::size_t each = 0; each < 4; ++each) {
        CHECK(batch.events[each].at == Position{0, 7 + each});
        CHECK(batch.events[each].previous == Position{0, 6 + each});
        CHECK(batch.events[each].lane == 3);
        CHECK(batch.events[each].kind == (each == 0 ? Kind{4} : kPassedOver));
    }
    const auto other = take(std::nullopt, {"c", std::nullopt, "second", "0.10", "0.9"});
    CHECK(other.error().reason == RelistReason::Epoch);
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
