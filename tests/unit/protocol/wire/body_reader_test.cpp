// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/body_reader.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/unit/protocol/wire/bytes.h"

using namespace yk;
using namespace yk::test;
using si::ErrorCode;
using wire::BodyReader;
using wire::Presence;
using wire::Value;

namespace {

wire::Value unpacked(const std::string& bytes) {
    const auto body = wire::scan_body(bytes);
    REQUIRE(body.ok());
    return wire::decode_value(*body);
}

std::string fault_text(const BodyReader& reader) {
    if (!reader.fault()) return "ok";
    return std::string{si::name(reader.fault()->code)} + " " + reader.fault()->path;
}

} // namespace

TEST_CASE("bodies become trees and back, order kept") {
    const char* json = R"({"z":1,"a":-1,"list":[null,true,false,1.5,"text",{"x":{}}],"max":18446744073709551615,
                           "min":-9223372036854775808,"empty":[]})";
    const std::string bytes = packed(json);
    CHECK(unpacked(bytes) == Value::parse(json));
    CHECK(wire::encoded_value(unpacked(bytes)) == bytes);
    const Value binary = unpacked(hex("81 a1 62 c4 03 00 ff 10"));
    CHECK(binary["b"] == Value::binary({0x00, 0xff, 0x10}));
    CHECK(wire::encoded_value(binary) == hex("81 a1 62 c4 03 00 ff 10"));
    CHECK(unpacked(hex("81 a1 66 ca 3f c0 00 00"))["f"] == 1.5);
}

TEST_CASE("I-315 integers, texts and containers are written in their shortest form") {
    const auto written = [](const Value& value) { return wire::encoded_value(value); };
    CHECK(written(0) == hex("00"));
    CHECK(written(127) == hex("7f"));
    CHECK(written(128) == hex("cc 80"));
    CHECK(written(255) == hex("cc ff"));
    CHECK(written(256) == hex("cd 01 00"));
    CHECK(written(65535) == hex("cd ff ff"));
    CHECK(written(65536) == hex("ce 00 01 00 00"));
    CHECK(written(4294967296) == hex("cf 00 00 00 01 00 00 00 00"));
    CHECK(written(-1) == hex("ff"));
    CHECK(written(-32) == hex("e0"));
    CHECK(written(-33) == hex("d0 df"));
    CHECK(written(-128) == hex("d0 80"));
    CHECK(written(-129) == hex("d1 ff 7f"));
    CHECK(written(-32769) == hex("d2 ff ff 7f ff"));
    CHECK(written(-2147483649) == hex("d3 ff ff ff ff 7f ff ff ff"));
    CHECK(written(std::string(31, 'a')) == hex("bf") + std::string(31, 'a'));
    CHECK(written(std::string(32, 'a')) == hex("d9 20") + std::string(32, 'a'));
    CHECK(written(std::string(256, 'a')) == hex("da 01 00") + std::string(256, 'a'));
    CHECK(written(std::string(65536, 'a')) == hex("db 00 01 00 00") + std::string(65536, 'a'));
    CHECK(map_of(15) == hex("8f"));
    CHECK(map_of(16) == hex("de 00 10"));
    CHECK(list_of(15) == hex("9f"));
    CHECK(list_of(65536) == hex("dd 00 01 00 00"));
}

TEST_CASE("a packer's literal keys are texts") {
    wire::Buffer out;
    wire::Packer packer{out};
    packer.map(2);
    packer.field("allocationKey", "k");
    packer.key("executionTimeoutMilliSeconds");
    packer.natural(1);
    CHECK(out.view() == packed(R"({"allocationKey":"k","executionTimeoutMilliSeconds":1})"));
}

TEST_CASE("a buffer grows, truncates and keeps what it has") {
    wire::Buffer buffer;
    CHECK(buffer.empty());
    std::string expected;
    for (int i = 0; i < 1000; ++i) {
        buffer.append("number " + std::to_string(i));
        expected += "number " + std::to_string(i);
    }
    CHECK(buffer.view() == expected);
    buffer.append({});
    buffer.truncate(8);
    CHECK(buffer.view() == "number 0");
    buffer.patch(7, '1');
    buffer.truncate(100);
    CHECK(buffer.str() == "number 1");
    buffer.clear();
    buffer.reserve(100'000);
    CHECK(buffer.size() == 0);
}

TEST_CASE("I-313 I-317 fields of a tree: present, absent and nil") {
    const Value map = Value::parse(
        R"({"t":"x","n":null,"u":5,"i":-5,"b":true,"l":["a",null,"b"],"m":{"k":"v","x":null},"big":18446744073709551615})");
    BodyReader reader{map};
    CHECK(reader.text("t") == "x");
    CHECK(reader.text("n", Presence::Optional, wire::TextRule::Id, "fallback") == "fallback");
    CHECK(reader.text("absent") == "");
    CHECK(reader.optional_text("t") == "x");
    CHECK_FALSE(reader.optional_text("n"));
    CHECK(reader.has("t"));
    CHECK_FALSE(reader.has("n"));
    CHECK(reader.u64("u") == 5);
    CHECK(reader.u64("absent", 9) == 9);
    CHECK(reader.u64("big") == ~std::uint64_t{0});
    CHECK(reader.u32("u") == 5);
    CHECK(reader.i64("i") == -5);
    CHECK(reader.i64("u") == 5);
    CHECK(reader.flag("b"));
    CHECK(reader.flag("absent", true));
    CHECK(reader.texts("l") == std::vector<std::string>{"a", "b"});
    CHECK(reader.texts("absent").empty());
    CHECK(reader.text_map("m") == std::vector<std::pair<std::string, std::string>>{{"k", "v"}});
    CHECK_FALSE(reader.text_map("absent"));
    CHECK(reader.map("m") != nullptr);
    CHECK(reader.map("n") == nullptr);
    CHECK(reader.list("l")->size() == 3);
    CHECK_FALSE(reader.fault());
}

TEST_CASE("I-317 faults of a tree: code and path, the first one sticks") {
    const Value map = Value::parse(
        R"({"t":"x","e":"","i":-5,"f":1.5,"l":["a",3],"m":{"k":5},"big":18446744073709551615,"c":"a\nb",
            "long":"","inner":{"deep":{"x":"y"}}})");
    Value longer = map;
    longer["long"] = std::string(257, 'x');
    longer["bytes"] = "\xff";
    const auto verdict = [&longer](auto&& read) {
        BodyReader reader{longer};
        read(reader);
        return fault_text(reader);
    };
    using R = BodyReader&;
    CHECK(verdict([](R r) { (void)r.text("absent", Presence::Required); }) == "E_MISSING_FIELD absent");
    CHECK(verdict([](R r) { (void)r.text("e", Presence::Required); }) == "E_MISSING_FIELD e");
    CHECK(verdict([](R r) { (void)r.map("absent", Presence::Required); }) == "E_MISSING_FIELD absent");
    CHECK(verdict([](R r) { (void)r.text("i"); }) == "E_TYPE i");
    CHECK(verdict([](R r) { (void)r.u64("i"); }) == "E_TYPE i");
    CHECK(verdict([](R r) { (void)r.u64("f"); }) == "E_TYPE f");
    CHECK(verdict([](R r) { (void)r.u32("big"); }) == "E_TYPE big");
    CHECK(verdict([](R r) { (void)r.i64("big"); }) == "E_TYPE big");
    CHECK(verdict([](R r) { (void)r.flag("t"); }) == "E_TYPE t");
    CHECK(verdict([](R r) { (void)r.texts("l"); }) == "E_TYPE l[1]");
    CHECK(verdict([](R r) { (void)r.texts("t"); }) == "E_TYPE t");
    CHECK(verdict([](R r) { (void)r.text_map("m"); }) == "E_TYPE m.k");
    CHECK(verdict([](R r) { (void)r.map("t"); }) == "E_TYPE t");
    CHECK(verdict([](R r) { (void)r.list("m"); }) == "E_TYPE m");
    CHECK(verdict([](R r) { (void)r.text("c"); }) == "E_INVALID c");
    CHECK(verdict([](R r) { (void)r.text("c", Presence::Optional, wire::TextRule::Message); }) == "ok");
    CHECK(verdict([](R r) { (void)r.text("bytes", Presence::Optional, wire::TextRule::Message); }) ==
          "E_INVALID bytes");
    CHECK(verdict([](R r) { (void)r.text("long"); }) == "E_LIMIT long");
    CHECK(verdict([](R r) {
              (void)r.flag("t");
              (void)r.text("i");
              r.fail(ErrorCode::Invalid, "t", "no such thing");
          }) == "E_TYPE t");
    CHECK(verdict([](R r) { r.fail(ErrorCode::Invalid, "t", "no such thing"); }) == "E_INVALID t");
    CHECK(verdict([](R r) {
              BodyReader inner = r.nested("inner", *r.map("inner"));
              BodyReader deep = inner.nested("deep", *inner.map("deep"));
              (void)deep.u64("x");
          }) == "E_TYPE inner.deep.x");
    Value many = {{"l", Value::array()}};
    for (int i = 0; i < 100'001; ++i) many["l"].push_back(nullptr);
    BodyReader reader{many};
    CHECK(reader.list("l") == nullptr);
    CHECK(fault_text(reader) == "E_LIMIT l");
}

TEST_CASE("a tree of very many keys is read in linear time") {
    std::string message = map_of(200'000);
    for (int i = 0; i < 200'000; ++i) message += text_of("key " + std::to_string(i)) + hex("01");
    const auto begin = std::chrono::steady_clock::now();
    CHECK(unpacked(message).size() == 200'000);
    // Quadratic work would take minutes; the bound is far above what a slow machine with sanitizers needs.
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{20});
}
