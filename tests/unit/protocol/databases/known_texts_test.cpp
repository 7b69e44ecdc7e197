// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/known_texts.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace yk::mcs {

TEST_CASE("rs R-057 what a text was read as is known until too much is") {
    KnownTexts<int> known;
    CHECK(known.find("a") == nullptr);
    const Shared<int> first = known.add("a", 1);
    REQUIRE(known.find("a") != nullptr);
    CHECK(&**known.find("a") == &*first);
    const std::string long_one(100'000, 'x');
    CHECK(*known.add(long_one, 2) == 2);
    CHECK(known.find(long_one) == nullptr); // too long to be remembered
    CHECK(known.find("a") != nullptr);
    std::size_t kept = 0;
    for (int each = 0; each < 100'000; ++each) {
        const std::string text = "text " + std::to_string(each);
        static_cast<void>(known.add(text, each));
        REQUIRE(known.find(text) != nullptr);
        if (known.find("a") == nullptr) break;
        ++kept;
    }
    CHECK(kept > 10'000);
    CHECK(kept < 100'000); // forgotten long before
    CHECK(*first == 1);    // but whoever has a value keeps it
}

TEST_CASE("rs R-057 values that are larger than their texts are bounded, too") {
    constexpr std::size_t kElements = 1000;
    KnownTexts<std::vector<std::string>> known;
    std::string text = "[";
    for (std::size_t each = 0; each < kElements; ++each) text += "\"\",";
    text += "0]";
    static_cast<void>(known.add(text, std::vector<std::string>(kElements)));
    std::size_t kept = 1;
    for (int each = 1; known.find(text) != nullptr && each < 10'000; ++each, ++kept)
        static_cast<void>(known.add(text + std::to_string(each), std::vector<std::string>(kElements)));
    CHECK(kept * kElements * sizeof(std::string) <= std::size_t{4} << 20);
    CHECK(kept > 10);
}

} // namespace yk::mcs
