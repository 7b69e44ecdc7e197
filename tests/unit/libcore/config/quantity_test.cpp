// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/quantity.h"

#include <catch2/catch.hpp>

#include <array>

using namespace yk::config;

namespace {

constexpr std::int64_t kMax = 9223372036854775807;

struct Good {
    const char* text;
    std::int64_t other; // -1: see kBad
    std::int64_t vcore;
};

constexpr std::array<Good, 26> kGood{{{"0", 0, 0},
                                      {"1", 1, 1000},
                                      {"010", 10, 10000},
                                      {" 25  k ", 25000, 25000000},
                                      {"\t25\tk\t", 25000, 25000000},
                                      {"2Ki", 2048, 2048000},
                                      {"500m", -1, 500},
                                      {"9223372036854775807m", -1, kMax},
                                      {"7E", 7000000000000000000, -1},
                                      {"7Ei", 8070450532247928832, -1},
                                      {"9223372036854775807", kMax, -1},
                                      {"9223372036854775", 9223372036854775, 9223372036854775000},
                                      {"1000P", 1000000000000000000, -1},
                                      {"1k", 1000, 1000000},
                                      {"1M", 1000000, 1000000000},
                                      {"1G", 1000000000, 1000000000000},
                                      {"1T", 1000000000000, 1000000000000000},
                                      {"1P", 1000000000000000, 1000000000000000000},
                                      {"1E", 1000000000000000000, -1},
                                      {"1Ki", 1024, 1024000},
                                      {"1Mi", 1048576, 1048576000},
                                      {"1Gi", 1073741824, 1073741824000},
                                      {"1Ti", 1099511627776, 1099511627776000},
                                      {"1Pi", 1125899906842624, 1125899906842624000},
                                      {"1Ei", 1152921504606846976, -1},
                                      {"00000000000000000000000000000001", 1, 1000}}};

struct Bad {
    const char* text;
    const char* other; // nullptr: see kGood
    const char* vcore;
};

constexpr const char* kOverflow = "invalid quantity: overflow";
constexpr const char* kShape = "invalid quantity \"";
constexpr const char* kSuffix = "invalid suffix \"";

constexpr std::array<Bad, 29> kBad{{{"500m", kSuffix, nullptr},
                                    {"7E", nullptr, kOverflow},
                                    {"9223372036854775807", nullptr, kOverflow},
                                    {"9223372036854776", nullptr, kOverflow},
                                    {"9223372036854775808", kOverflow, kOverflow},
                                    {"9223372036854775808m", kSuffix, kOverflow},
                                    {"99999999999999999999999999", kOverflow, kOverflow},
                                    {"1000E", kOverflow, kOverflow},
                                    {"8Ei", kOverflow, kOverflow},
                                    {"1000P", nullptr, kOverflow},
                                    {"-1", kShape, kShape},
                                    {"+1", kShape, kShape},
                                    {"1.5", kShape, kShape},
                                    {"1e3", kShape, kShape},
                                    {"ten", kShape, kShape},
                                    {"", kShape, kShape},
                                    {"  ", kShape, kShape},
                                    {"5X", kShape, kShape},
                                    {"5g", kShape, kShape},
                                    {"5i", kShape, kShape},
                                    {"5Kii", kShape, kShape},
                                    {"5kI", kShape, kShape},
                                    {"5 K i", kShape, kShape},
                                    {"5 5", kShape, kShape},
                                    {"k", kShape, kShape},
                                    {"5K", kSuffix, kSuffix},
                                    {"5ki", kSuffix, kSuffix},
                                    {"5mi", kSuffix, kSuffix},
                                    {"99999999999999999999999999K", kSuffix, kSuffix}}};

void check_good(const char* type, const char* text, std::int64_t expected) {
    INFO(type << " \"" << text << '"');
    const auto value = parse_quantity(type, text);
    REQUIRE(value.ok());
    CHECK(*value == expected);
}

void check_bad(const char* type, const char* text, const char* expected) {
    INFO(type << " \"" << text << '"');
    const auto value = parse_quantity(type, text);
    REQUIRE_FALSE(value.ok());
    CHECK_THAT(value.error().message, Catch::StartsWith(expected));
}

} // namespace

TEST_CASE("C-024 C-502 quantities that are read, S-030 and S-031") {
    for (const Good& row : kGood) {
        if (row.other >= 0) check_good("memory", row.text, row.other);
        if (row.other >= 0) check_good("nvidia.com/gpu", row.text, row.other);
        if (row.vcore >= 0) check_good("vcore", row.text, row.vcore);
    }
}

TEST_CASE("C-024 C-502 quantities that are refused, with the exact beginning of the text") {
    for (const Bad& row : kBad) {
        if (row.other != nullptr) check_bad("memory", row.text, row.other);
        if (row.vcore != nullptr) check_bad("vcore", row.text, row.vcore);
    }
}

TEST_CASE("C-020 type names are case-sensitive: only vcore is in milli-cores") {
    check_good("VCORE", "1", 1);
    check_good("Vcore", "1", 1);
    check_bad("VCORE", "1m", kSuffix);
}

TEST_CASE("B-02 a bad suffix names the one that was meant") {
    CHECK(parse_quantity("memory", "5K").error().message == R"(invalid suffix "5K" (did you mean "5k"?))");
    CHECK(parse_quantity("memory", "5ki").error().message == R"(invalid suffix "5ki" (did you mean "5Ki"?))");
    CHECK_THAT(parse_quantity("memory", "5m").error().message, Catch::Contains("did you mean \"5M\"?"));
    CHECK(parse_quantity("memory", std::string(1000, 'x')).error().message.size() < 300);
}

TEST_CASE("S-032 text form: types sorted by name, empty and absent apart") {
    CHECK(resource_text(ResourceMap{{"vcore", 5}, {"memory", 10}}) == "map[memory:10 vcore:5]");
    CHECK(resource_text(ResourceMap{{"memory", -1}}) == "map[memory:-1]");
    CHECK(resource_text(ResourceMap{}) == "map[]");
    CHECK(resource_text(std::optional<ResourceMap>{}) == "nil resource");
    CHECK(resource_text(std::optional<ResourceMap>{ResourceMap{}}) == "map[]");
}

TEST_CASE("quantity_text is read back as the same value") {
    CHECK(quantity_text("memory", 2000) == "2000");
    CHECK(quantity_text("vcore", 2000) == "2");
    CHECK(quantity_text("vcore", 1500) == "1500m");
    CHECK(quantity_text("vcore", 0) == "0");
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{999}, std::int64_t{1000}, kMax - 7, kMax})
        for (const char* type : {"vcore", "memory"}) check_good(type, quantity_text(type, value).c_str(), value);
}

TEST_CASE("B-06 quantities as a person writes them, and they read as the same") {
    const std::vector<std::pair<std::string, std::int64_t>> memory{{"0", 0},
                                                                   {"1", 1},
                                                                   {"999", 999},
                                                                   {"1k", 1000},
                                                                   {"1Ki", 1024},
                                                                   {"32Gi", 34'359'738'368},
                                                                   {"600G", 600'000'000'000},
                                                                   {"1025", 1025},
                                                                   {"4Ei", std::int64_t{1} << 62}};
    for (const auto& [text, value] : memory) {
        CHECK(written_quantity("memory", value) == text);
        CHECK(parse_quantity("memory", text).value() == value);
    }
    CHECK(written_quantity("vcore", 300'000) == "300");
    CHECK(written_quantity("vcore", 1500) == "1500m");
    CHECK(written_quantity("pods", 1000) == "1000");
    CHECK(written_resource({{"memory", 2048}, {"vcore", 500}}) == "{memory: 2Ki, vcore: 500m}");
    CHECK(written_resource({}) == "{}");
}

TEST_CASE("C-024 a fraction is refused with the amount that is meant") {
    const auto said = [](const char* type, const char* text) {
        const auto amount = parse_quantity(type, text);
        return amount.ok() ? std::string{} : amount.error().message;
    };
    CHECK(said("vcore", "1.5") == "invalid quantity \"1.5\" (no fractions: write 1500m)");
    CHECK(said("vcore", " 2.0 ") == "invalid quantity \" 2.0 \" (no fractions: write 2)");
    CHECK(said("memory", "1.5Gi") == "invalid quantity \"1.5Gi\" (no fractions: write 1536Mi)");
    CHECK(said("memory", "0.25k") == "invalid quantity \"0.25k\" (no fractions: write 250)");
    for (const char* text : {"1.5m", ".5", "1.", "1.x", "1.5.5", "0.0001", "1.5Zi"})
        CHECK(said("vcore", text).find("(expected digits") != std::string::npos);
    CHECK(said("memory", "0.3").find("(expected digits") != std::string::npos);
    CHECK(said("memory", ("1." + std::string(1000, '0')).c_str()).find("(expected digits") != std::string::npos);
}
