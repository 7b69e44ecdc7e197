// SPDX-License-Identifier: Apache-2.0
#include "libcore/base/shared.h"

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace yk {

using Text = Shared<std::string>;

TEST_CASE("a shared value is used as the value, and nothing is the value of the type") {
    const Text nothing;
    CHECK(nothing->empty());
    CHECK(nothing == "");
    Text text{"root.a"};
    CHECK(text->size() == 6);
    CHECK(*text + "b" == "root.ab");
    const std::string& plain = text;
    CHECK(plain == "root.a");
    text = "root.b";
    CHECK(text == "root.b");
    Shared<std::map<std::string, int>> amounts;
    amounts = {{"memory", 1}, {"vcore", 2}};
    CHECK(amounts->at("vcore") == 2);
}

TEST_CASE("copies of a shared value are the same object, and equal values are equal") {
    Text text{"root.a"};
    const Text copy = text;
    CHECK(&*copy == &*text);
    CHECK(copy == text);
    CHECK(Text{"root.a"} == text);
    CHECK(&*Text{"root.a"} != &*text);
    text = "root.b"; // the copy stays as it is
    CHECK(copy == "root.a");
    CHECK_FALSE(copy == text);
    Text moved = std::move(text);
    CHECK(moved == "root.b");
    const Text& itself = moved;
    moved = itself;
    CHECK(moved == "root.b");
}

TEST_CASE("a shared value goes with its last copy, whoever has that") {
    const auto counted = std::make_shared<int>(7);
    {
        Shared<std::shared_ptr<int>> value{counted};
        std::vector<std::thread> threads;
        for (int each = 0; each < 4; ++each)
            threads.emplace_back([value] {
                for (int copies = 0; copies < 10'000; ++copies) {
                    Shared<std::shared_ptr<int>> mine = value;
                    const Shared<std::shared_ptr<int>> other = std::move(mine);
                    if (**other != 7) return;
                }
            });
        value = nullptr;
        for (std::thread& each : threads) each.join();
    }
    CHECK(counted.use_count() == 1);
}

} // namespace yk
