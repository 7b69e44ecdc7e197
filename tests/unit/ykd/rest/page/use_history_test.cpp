// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/page/use_history.h"

#include <catch2/catch.hpp>
#include <string>

#include "ykd/rest/page/use_sampler.h"

using namespace yk;
using namespace yk::service;
using wire::Value;

namespace {

/// A history whose samples come in time.
struct Kept {
    void add(const QueueShares& shares, int times = 1, const std::string& partition = "rm default") {
        for (; times > 0; --times) {
            now = now + std::chrono::seconds{UseHistory::kEvery};
            history.add(partition, shares, now);
        }
    }
    [[nodiscard]] Value span(const char* name) const { return *history.value("rm default", name); }

    UseHistory history;
    Instant now;
};

} // namespace

TEST_CASE("an hour has a value for each sample, and null where a queue had none") {
    Kept kept;
    kept.add({{"root", 500}});
    kept.add({{"root", 600}, {"root.a", 100}});
    kept.add({{"root", 700}});
    CHECK(kept.span("hour") == Value{{"every", 10},
                                     {"end", 30},
                                     {"queues", {{"root", {500, 600, 700}}, {"root.a", {nullptr, 100, nullptr}}}}});
    CHECK(kept.span("day")["queues"].empty());
    CHECK_FALSE(kept.history.value("rm default", "week"));
    CHECK(kept.history.value("nobody default", "hour")->at("queues").empty());
}

TEST_CASE("the values of a day and of a month are means of their samples") {
    Kept kept;
    kept.add({{"root", 100}}, 20);
    kept.add({{"root", 400}}, 10);
    CHECK(kept.span("day")["queues"]["root"] == Value::array({200}));
    CHECK(kept.span("day")["every"] == 300);
    CHECK(kept.span("month")["queues"].empty());
    kept.add({{"root", 200}}, 330);
    CHECK(kept.span("month")["queues"]["root"] == Value::array({200}));
    CHECK(kept.span("month")["every"] == 3600);
}

TEST_CASE("what is kept has bounds, and what is gone goes") {
    Kept kept;
    kept.add({{"root", 1}, {"root.gone", 2}});
    kept.add({{"root", 1}}, 359);
    CHECK(kept.span("hour")["queues"]["root.gone"].size() == 360);
    kept.add({{"root", 1}});
    CHECK(kept.span("hour")["queues"]["root"].size() == 360);
    CHECK_FALSE(kept.span("hour")["queues"].contains("root.gone"));

    QueueShares many;
    for (std::size_t number = 0; number < UseHistory::kMostQueues + 10; ++number)
        many["root.q" + std::to_string(number)] = 1;
    kept.add(many);
    CHECK(kept.span("hour")["queues"].size() == UseHistory::kMostQueues);
    for (std::size_t number = 0; number < UseHistory::kMostPartitions; ++number)
        kept.add({{"root", 1}}, 1, "rm p" + std::to_string(number));
    CHECK(kept.span("hour")["queues"].empty()); // it was the one that had been silent for longest
    CHECK_FALSE(kept.history.value("rm p0", "hour")->at("queues").empty());
}

TEST_CASE("a queue's share is that of the resource of which it has most, of what the root may have") {
    const Value queues = Value::array({{{"queuename", "root"},
                                        {"maxResource", {{"memory", 1000}, {"vcore", 100}, {"none", 0}}},
                                        {"allocatedResource", {{"memory", 100}, {"vcore", 50}}}},
                                       {{"queuename", "root.a"}, {"allocatedResource", {{"memory", 100}, {"none", 5}}}},
                                       {{"queuename", "root.b"}}});
    CHECK(shares_of(queues) == QueueShares{{"root", 500}, {"root.a", 100}, {"root.b", 0}});
    CHECK(shares_of(Value::array()).empty());
    CHECK(shares_of(Value::array({{{"queuename", "root"}}})).empty());
}
