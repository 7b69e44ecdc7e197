// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/scan.h"

#include <catch2/catch.hpp>
#include <msgpack/unpack.hpp>
#include <chrono>

#include "tests/unit/protocol/wire/bytes.h"

using namespace yk;
using namespace yk::test;
using si::ErrorCode;

namespace {

std::string in_map(std::string_view value) {
    return hex("81 a1 61") + std::string{value};
} // {"a": value}

std::optional<ErrorCode> code_of(std::string_view bytes) {
    const auto fault = wire::scan(bytes);
    if (!fault) return std::nullopt;
    return fault->error.code;
}

struct Case {
    const char* what;
    std::string bytes;
    std::optional<ErrorCode> code;
};

} // namespace

TEST_CASE("I-310 I-311 I-313 I-314 what is no message is E_DECODE") {
    const auto decode = ErrorCode::Decode;
    const std::vector<Case> cases{
        {"empty", "", decode},
        {"a list", hex("90"), decode},
        {"an integer", hex("01"), decode},
        {"nil", hex("c0"), decode},
        {"the unused byte", hex("c1"), decode},
        {"the unused byte inside", in_map(hex("c1")), decode},
        {"trailing byte", hex("80 00"), decode},
        {"trailing map", hex("80 80"), decode},
        {"integer as key", hex("81 01 02"), decode},
        {"nil as key", hex("81 c0 02"), decode},
        {"binary as key", hex("81 c4 01 61 02"), decode},
        {"list as key", hex("81 90 02"), decode},
        {"duplicate key", hex("82 a1 61 01 a1 61 02"), decode},
        {"duplicate key, other form of the same text", hex("82 a1 61 01 d9 01 61 02"), decode},
        {"duplicate key in a nested map", in_map(hex("82 a1 61 c0 a1 61 c0")), decode},
        {"duplicate empty key", hex("82 a0 01 a0 02"), decode},
        {"fixext", in_map(hex("d4 01 00")), decode},
        {"ext 8", in_map(hex("c7 01 05 00")), decode},
        {"timestamp", in_map(hex("d6 ff 00 00 00 00")), decode},
        {"ext of size 0", in_map(hex("c7 00 05")), decode},
        {"nothing behind the header", hex("81"), decode},
        {"no value", hex("81 a1 61"), decode},
        {"empty map", hex("80"), std::nullopt},
        {"one pair", in_map(hex("01")), std::nullopt},
    };
    for (const Case& c : cases) {
        INFO(c.what);
        CHECK(code_of(c.bytes) == c.code);
    }
}

TEST_CASE("I-310 I-316 a header that claims more than remains is E_DECODE, and costs nothing") {
    for (const char* bomb :
         {"dd ff ff ff ff", "dc ff ff", "df ff ff ff ff", "df 10 00 00 00", "de ff ff", "db ff ff ff ff", "da ff ff",
          "d9 ff", "c6 ff ff ff ff", "c5 ff ff", "c4 ff", "9f", "8f", "bf"}) {
        INFO(bomb);
        CHECK(code_of(hex(bomb)) == ErrorCode::Decode);         // alone: five bytes
        CHECK(code_of(in_map(hex(bomb))) == ErrorCode::Decode); // as a value
        CHECK(code_of(hex("81") + hex(bomb)) == ErrorCode::Decode);
    }
}

TEST_CASE("I-310 a message cut at any byte is E_DECODE") {
    const std::string whole = request(
        "UpdateAllocation",
        packed(
            R"({"rmID":"rm","asks":[{"allocationKey":"k","priority":-70000,"tags":{"a":"b"},"x":[1.5,true,null]}]})"));
    REQUIRE(code_of(whole) == std::nullopt);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(size);
        CHECK(code_of(std::string_view{whole}.substr(0, size)) == ErrorCode::Decode);
    }
}

TEST_CASE("I-316 nesting is at most 32 levels, the outermost map being the first") {
    const auto nested = [](std::size_t lists) { return in_map(hex("91") * lists + hex("c0")); };
    CHECK(code_of(nested(31)) == std::nullopt);
    CHECK(code_of(nested(32)) == ErrorCode::Limit);
    CHECK(code_of(nested(1'000'000)) == ErrorCode::Limit);
    const auto maps = [](std::size_t levels) { return hex("81 a1 61") * levels + hex("c0"); };
    CHECK(code_of(maps(32)) == std::nullopt);
    CHECK(code_of(maps(33)) == ErrorCode::Limit);
    CHECK(code_of(in_map(hex("91") * 31 + hex("80"))) == ErrorCode::Limit); // an empty container is a level too
}

TEST_CASE("I-316 at most 4,000,000 values and keys") {
    const auto with_nils = [](std::size_t nils) { return in_map(list_of(nils) + hex("c0") * nils); };
    CHECK(code_of(with_nils(4'000'000 - 3)) == std::nullopt); // the map, its key and the list count as well
    CHECK(code_of(with_nils(4'000'000 - 2)) == ErrorCode::Limit);
}

TEST_CASE("I-316 of several faults the first in the bytes decides") {
    const std::string deep = hex("91") * 40 + hex("c0");
    const std::string extension = hex("d4 01 00");
    CHECK(code_of(hex("82 a1 61") + deep + hex("a1 62") + extension) == ErrorCode::Limit);
    CHECK(code_of(hex("82 a1 61") + extension + hex("a1 62") + deep) == ErrorCode::Decode);
    CHECK(code_of(hex("83 a1 61 01 a1 61 02 a1 62") + deep) == ErrorCode::Decode); // the duplicate comes first
    CHECK(code_of(in_map(deep) + hex("00")) == ErrorCode::Limit);                  // before the trailing byte
}

TEST_CASE("I-313 duplicate keys are found in maps of any size, and the first fault still decides") {
    const auto keys = [](std::size_t count) {
        std::string out;
        for (std::size_t i = 0; i < count; ++i) out += text_of("key " + std::to_string(i)) + hex("01");
        return out;
    };
    const std::string deep = hex("91") * 40 + hex("c0");
    for (const std::size_t count : {2U, 15U, 16U, 17U, 18U, 1000U, 70000U}) {
        INFO(count);
        CHECK(code_of(map_of(count) + keys(count)) == std::nullopt);
        const std::string again = text_of("key 0") + hex("01");
        CHECK(code_of(map_of(count + 1) + keys(count) + again) == ErrorCode::Decode);
        CHECK(code_of(map_of(count + 2) + keys(count) + again + text_of("z") + deep) == ErrorCode::Decode);
        CHECK(code_of(map_of(count + 2) + keys(count) + text_of("z") + deep + again) == ErrorCode::Limit);
    }
}

TEST_CASE("I-313 many keys that differ late are still cheap to compare") {
    // Quadratic work would take minutes; the bound is far above what sorting takes on a slow machine with sanitizers.
    std::string message = map_of(300'000);
    for (int i = 0; i < 300'000; ++i) message += text_of("the same beginning " + std::to_string(i) + " e") + hex("c0");
    const auto begin = std::chrono::steady_clock::now();
    CHECK(code_of(message) == std::nullopt);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{20});
}

TEST_CASE("a fault says where it is") {
    const auto fault = wire::scan(hex("82 a1 61 01 a1 62 c1"));
    REQUIRE(fault);
    CHECK(fault->offset == 6);
    CHECK(fault->pairs == 1);
    CHECK(fault->error.message == "byte 6: the byte 0xc1 begins no value");
    CHECK(wire::scan(hex("82 a1 0a 01 a1 0a 02"))->error.message == "byte 4: duplicate key '?'");
}

TEST_CASE("scan accepts and refuses as msgpack-cxx does, apart from what I-310 to I-313 add") {
    for (int first = 0; first < 256; ++first) { // every first byte, with plenty of bytes behind it
        const std::string value = std::string(1, static_cast<char>(first)) + std::string(70'000, '\x01');
        std::size_t size = 0;
        wire::Value tree;
        bool is_known = true;
        try {
            auto handle = msgpack::unpack(value.data(), value.size(), size);
            is_known = handle.get().type != msgpack::type::EXT;
        } catch (const std::exception&) {
            is_known = false;
        }
        const auto code = code_of(in_map(std::string_view{value}.substr(0, is_known ? size : value.size())));
        const bool has_integer_keys = (first >= 0x81 && first <= 0x8f) || first == 0xde;
        INFO(first);
        CHECK((code == std::nullopt) == (is_known && !has_integer_keys));
    }
}
