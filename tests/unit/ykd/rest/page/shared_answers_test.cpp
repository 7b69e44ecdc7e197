// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/page/shared_answers.h"

#include <catch2/catch.hpp>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace yk;
using service::SharedAnswers;

namespace {

std::atomic<std::int64_t> now_ns = 0;
Instant now() {
    return Instant{now_ns.load()};
}
void pass(std::chrono::milliseconds time) {
    now_ns += std::chrono::nanoseconds{time}.count();
}

http::HttpAnswer answer_of(const std::string& body, int status = 200) {
    http::HttpAnswer answer;
    answer.status = status;
    answer.body = body;
    return answer;
}

} // namespace

TEST_CASE("an answer is given again for a second, and for 50 times as long as it took") {
    SharedAnswers shared{now};
    int made = 0;
    std::chrono::milliseconds takes{0};
    const auto ask = [&] {
        return shared.get("nodes", [&] {
            pass(takes);
            return answer_of(std::to_string(++made));
        });
    };
    CHECK(ask().body == "1");
    pass(std::chrono::milliseconds{999});
    CHECK(ask().body == "1");
    pass(std::chrono::milliseconds{1});
    takes = std::chrono::milliseconds{200};
    CHECK(ask().body == "2");
    pass(std::chrono::milliseconds{9'999});
    CHECK(ask().body == "2");
    pass(std::chrono::milliseconds{1});
    CHECK(ask().body == "3");
}

TEST_CASE("an answer that was made for another says how old it is, and how long it is given") {
    SharedAnswers shared{now};
    const auto ask = [&] {
        return shared.get("nodes", [] {
            pass(std::chrono::milliseconds{100});
            return answer_of("it");
        });
    };
    CHECK(ask().headers.empty());
    pass(std::chrono::milliseconds{300});
    CHECK(ask().headers == decltype(http::HttpAnswer::headers){{"Answer-Age", "400"}, {"Answer-Kept", "4700"}});
    pass(std::chrono::milliseconds{4'700});
    CHECK(ask().headers.empty());
}

TEST_CASE("answers of other names are others, a refusal is not kept, and the oldest makes room") {
    SharedAnswers shared{now};
    CHECK(shared.get("a", [] { return answer_of("no", 503); }).status == 503);
    CHECK(shared.get("a", [] { return answer_of("yes"); }).body == "yes");
    for (std::size_t number = 0; number < SharedAnswers::kMostKept; ++number) {
        pass(std::chrono::milliseconds{1});
        CHECK(shared.get("of " + std::to_string(number), [] { return answer_of("it"); }).body == "it");
    }
    CHECK(shared.get("of 1", [] { return answer_of("another"); }).body == "it");
    CHECK(shared.get("a", [] { return answer_of("another"); }).body == "another");
}

TEST_CASE("what many ask for at once is made once") {
    SharedAnswers shared{now};
    std::atomic<int> made = 0;
    constexpr int kAsking = 8;
    std::vector<std::thread> all;
    all.reserve(kAsking);
    for (int number = 0; number < kAsking; ++number)
        all.emplace_back([&] {
            const auto answer = shared.get("nodes", [&] {
                std::this_thread::sleep_for(std::chrono::milliseconds{20});
                return answer_of(std::to_string(++made));
            });
            if (answer.body != "1") ++made;
        });
    for (auto& each : all) each.join();
    CHECK(made == 1);
}
