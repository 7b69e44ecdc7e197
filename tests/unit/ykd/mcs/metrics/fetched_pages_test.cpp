// SPDX-License-Identifier: Apache-2.0
// Pages from a client that does what the test says.
#include "ykd/mcs/metrics/fetched_pages.h"

#include <catch2/catch.hpp>

#include <deque>
#include <utility>

#include "protocol/simulation/steady_clock.h"
#include "ykd/runtime/clock.h"

using namespace yk;
using namespace yk::service;
using namespace std::chrono_literals;

namespace {

constexpr const char* kUrl = "http://127.0.0.1:9100/metrics";

mcs::MetricTarget metric(const std::string& name, const std::string& url = kUrl) {
    mcs::MetricTarget made;
    made.name = name;
    made.source = mcs::MetricSource::Prometheus;
    made.url = url;
    return made;
}

class TestedClient final : public pages::PageClient {
public:
    explicit TestedClient(std::deque<Request>& requests) : requests_(requests) {}
    void fetch(Request request) override { requests_.push_back(std::move(request)); }

private:
    std::deque<Request>& requests_;
};

struct Tested {
    /// What is known of a metric: the value, or why there is none.
    std::string read(const mcs::MetricTarget& of) {
        const auto value = pages->read(of, now);
        return value.ok() ? std::to_string(value->sum) : value.error().message;
    }
    /// The oldest request is answered; then what it has to say is said.
    void answer(const std::string& page, const std::string& why = {}) {
        REQUIRE_FALSE(requests.empty());
        const auto request = std::move(requests.front());
        requests.pop_front();
        if (!page.empty()) static_cast<void>(request.take(page));
        request.done(why);
        for (const auto& call : std::exchange(calls, {})) call();
    }

    std::vector<std::string> allowed{"127.0.0.1"};
    std::deque<pages::PageClient::Request> requests;
    std::vector<std::function<void()>> calls;
    std::unique_ptr<FetchedPages> pages = std::make_unique<FetchedPages>(
        FetchedPages::Parts{allowed, [this](auto call) { calls.push_back(std::move(call)); }, 15s,
                            std::make_unique<TestedClient>(requests)});
    Instant now = Instant{SteadyClock::now().time_since_epoch().count()};
};

constexpr const char* kFetching =
    "http://127.0.0.1:9100/metrics: it is being fetched; there is a value at the next look";

} // namespace

TEST_CASE("rs R-112 a page is fetched once in a period, whoever wants something of it, and nobody waits") {
    Tested tested;
    CHECK(tested.read(metric("a")) == kFetching);
    CHECK(tested.read(metric("b")) == kFetching);
    CHECK(tested.read(metric("a")) == kFetching);
    REQUIRE(tested.requests.size() == 1);
    CHECK(tested.requests.front().url == kUrl);
    CHECK(tested.requests.front().timeout == 2s);
    tested.answer("a 1.5\nb 2\n");
    CHECK(tested.read(metric("a")) == "1500");
    CHECK(tested.read(metric("b")) == kFetching); // it was not wanted when the page was asked for
    CHECK(tested.requests.empty());
    tested.now = tested.now + 15s;
    auto patient = metric("b");
    patient.timeout = 9s;
    CHECK(tested.read(patient) == kFetching);
    REQUIRE(tested.requests.size() == 1);
    CHECK(tested.read(metric("a")) == "1500"); // that of the page before
    tested.answer("a 3\nb 4\n");
    CHECK(tested.read(metric("a")) == "3000");
    CHECK(tested.read(metric("b")) == "4000");
    CHECK(tested.pages->fetches() == 2);
    CHECK(tested.pages->failures() == 0);
}

TEST_CASE("rs R-112 a page that cannot be had is no value, and says why until it can") {
    Tested tested;
    static_cast<void>(tested.read(metric("a")));
    tested.answer("a 1\n");
    CHECK(tested.read(metric("a")) == "1000");
    tested.now = tested.now + 15s;
    static_cast<void>(tested.read(metric("a")));
    tested.answer("", "it answered 503");
    CHECK(tested.read(metric("a")) == "http://127.0.0.1:9100/metrics: it answered 503");
    tested.now = tested.now + 15s;
    static_cast<void>(tested.read(metric("a")));
    tested.answer("a 1\n<html>");
    CHECK(tested.read(metric("a")).find("line 2 of the page") != std::string::npos);
    CHECK(tested.pages->failures() == 2);
    tested.now = tested.now + 15s;
    static_cast<void>(tested.read(metric("a")));
    tested.answer("a 7\n");
    CHECK(tested.read(metric("a")) == "7000");
}

TEST_CASE("rs R-112 an old page is no value") {
    Tested tested;
    auto of = metric("a");
    of.max_age = 30s;
    static_cast<void>(tested.read(of));
    tested.answer("a 1\n");
    tested.now = tested.now + 25s;
    CHECK(tested.read(of) == "1000"); // and it is asked for again
    tested.now = tested.now + 60s;
    CHECK(tested.read(of).find("it waits for its turn") != std::string::npos); // it would have an answer by now
    CHECK(tested.requests.size() == 1);                                        // one at a time
    tested.answer("a 1\n");
    tested.now = tested.now + 60s;
    CHECK(tested.read(of).find("the last page is older than 30 s") != std::string::npos);
}

TEST_CASE("rs R-112 several samples are a sum for a metric of replicas, and none for one of the whole") {
    Tested tested;
    auto whole = metric("a"), shared = metric("a"), one = metric("a");
    shared.type = mcs::MetricType::Average;
    one.labels = {{"x", "1"}};
    for (const auto& each : {whole, shared, one}) static_cast<void>(tested.read(each));
    tested.answer("a{x=\"1\"} 1\na{x=\"2\"} 2\n");
    CHECK(tested.read(whole).find("several samples have that name") != std::string::npos);
    CHECK(tested.read(shared) == "3000");
    tested.now = tested.now + 15s; // the page was asked for before that one was
    static_cast<void>(tested.read(one));
    tested.answer("a{x=\"1\"} 1\na{x=\"2\"} 2\n");
    CHECK(tested.read(one) == "1000");
    auto missing = metric("a");
    missing.labels = {{"x", "3"}};
    static_cast<void>(tested.read(missing));
    tested.now = tested.now + 15s;
    static_cast<void>(tested.read(missing));
    tested.answer("a 1\n");
    CHECK(tested.read(missing).find("no sample of that name and those labels") != std::string::npos);
}

TEST_CASE("rs R-112 a sample whose own time is older than the age limit is no value, and says so") {
    const auto sample = [](std::chrono::seconds age) {
        return "a 1 " + std::to_string((real_now().ns - std::chrono::nanoseconds{age}.count()) / 1'000'000) + "\n";
    };
    const auto said = [](const std::string& page, mcs::MetricType type = mcs::MetricType::Value) {
        Tested tested;
        auto of = metric("a");
        of.max_age = 30s;
        of.type = type;
        static_cast<void>(tested.read(of));
        tested.answer(page);
        return tested.read(of);
    };
    constexpr const char* kOld = "http://127.0.0.1:9100/metrics: by its time the sample is older than 30 s "
                                 "(maxAgeSeconds); is it still measured?";
    CHECK(said(sample(20s)) == "1000");
    CHECK(said(sample(100s)) == kOld);
    CHECK(said("a 1 0\n") == kOld);
    CHECK(said("a 1 -9223372036854775808\n") == kOld);
    CHECK(said(sample(-1h)) == "1000"); // of a clock that is ahead
    CHECK(said("a 1 9223372036854775807\n") == "1000");
    CHECK(said(sample(0s) + "a{x=\"1\"} 1\n", mcs::MetricType::Average) == "2000");
    CHECK(said(sample(0s) + "a{x=\"1\"} 1 0\n", mcs::MetricType::Average) == kOld); // a sum is as old as the oldest
}

TEST_CASE("rs R-112 rs R-114 a value was measured when its page was asked for, or when its own time says") {
    Tested tested;
    const auto asked = tested.now;
    static_cast<void>(tested.read(metric("a")));
    tested.now = tested.now + 1s;
    tested.answer("a 1\n");
    CHECK(tested.pages->read(metric("a"), tested.now)->at == asked);
    tested.now = tested.now + 15s;
    static_cast<void>(tested.read(metric("a")));
    tested.answer("a 1 " + std::to_string(real_now().ns / 1'000'000 - 60'000) + "\n");
    const Duration age = tested.now - tested.pages->read(metric("a"), tested.now)->at;
    CHECK(age > 60s);
    CHECK(age < 90s);
}

TEST_CASE("rs R-112 only hosts that the settings allow are asked") {
    Tested tested;
    CHECK(tested.read(metric("a", "http://10.0.0.1/")) ==
          "http://10.0.0.1/: the settings do not allow 10.0.0.1:80 (mcs.metrics.allowedHosts)");
    CHECK(tested.read(metric("a", "file:///etc/passwd")).find("is wanted") != std::string::npos);
    CHECK(tested.requests.empty());
    CHECK(tested.pages->size() == 0);
}

TEST_CASE("rs R-112 what nobody wants any more is forgotten, and what is wanted has a limit") {
    Tested tested;
    const auto numbered = [](std::size_t at) { return metric("a", "http://127.0.0.1:9100/" + std::to_string(at)); };
    for (std::size_t at = 0; at < FetchedPages::kMostPages; ++at) static_cast<void>(tested.read(numbered(at)));
    CHECK(tested.pages->size() == FetchedPages::kMostPages);
    CHECK(tested.read(numbered(FetchedPages::kMostPages)).find("no more are") != std::string::npos);
    while (!tested.requests.empty()) tested.answer("a 1\n");
    tested.now = tested.now + 5min;
    static_cast<void>(tested.read(numbered(0)));
    CHECK(tested.pages->size() == 1);
    for (std::size_t at = 1; at < FetchedPages::kMostQueries; ++at) {
        auto of = numbered(0);
        of.labels = {{"x", std::to_string(at)}};
        static_cast<void>(tested.read(of));
    }
    auto of = numbered(0);
    of.labels = {{"y", ""}};
    CHECK(tested.read(of).find("no more are") != std::string::npos);
}

TEST_CASE("a page that comes after the end goes nowhere") {
    Tested tested;
    static_cast<void>(tested.read(metric("a")));
    const auto request = std::move(tested.requests.front());
    tested.pages.reset();
    request.done("late");
    for (const auto& call : std::exchange(tested.calls, {})) call();
    CHECK(tested.calls.empty());
}
