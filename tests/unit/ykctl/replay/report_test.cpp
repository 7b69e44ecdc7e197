// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/report.h"

#include <catch2/catch.hpp>

#include <string>

#include "protocol/wire/value.h"

namespace yk::replay {
namespace {

TEST_CASE("quantile: the smallest value that covers the share") {
    CHECK(quantile({}, 0.5) == 0);
    CHECK(quantile({7}, 0.5) == 7);
    CHECK(quantile({7}, 0.99) == 7);
    CHECK(quantile({4, 1, 3, 2}, 0.5) == 2);
    CHECK(quantile({4, 1, 3, 2}, 0.99) == 4);
    CHECK(quantile({4, 1, 3, 2}, 0) == 1);
    std::vector<double> hundred;
    for (int i = 1; i <= 100; ++i) hundred.push_back(i);
    CHECK(quantile(hundred, 0.99) == 99);
    CHECK(quantile(hundred, 0.5) == 50);
}

TEST_CASE("thinned: spread over time, the last one kept") {
    std::vector<Sample> samples(10);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i].placed = i;
    const auto few = thinned(samples, 3);
    REQUIRE(few.size() == 3);
    CHECK(few[0].placed == 2);
    CHECK(few[1].placed == 5);
    CHECK(few[2].placed == 9);
    CHECK(thinned(samples, 10).size() == 10);
    CHECK(thinned({}, 3).empty());
}

Report example() {
    Report report;
    report.nodes = 2;
    report.pods = 10;
    report.placed = 7;
    report.reasons = {{"NODE_FIT", 2}, {"QUEUE_MAX", 1}};
    report.examples = {{"NODE_FIT", "no node has 4 gpu free"}};
    report.capacity = {{"vcore", 4000}, {"memory", 1 << 30}};
    report.used = {{"vcore", 1000}};
    report.time_to_place = {0.001, 0.002, 0.5};
    report.samples = {{0.1, 3, {{"ls", {{"vcore", 500}}}, {"be", {}}}},
                      {0.2, 7, {{"ls", {{"vcore", 1000}}}, {"be", {}}}}};
    report.seconds = 0.2;
    return report;
}

TEST_CASE("issue 2: the report as JSON") {
    const wire::Value json = report_value(example());
    CHECK(json["nodes"] == 2);
    CHECK(json["pods"] == 10);
    CHECK(json["placed"] == 7);
    CHECK(json["pending"] == 3);
    CHECK(json["reasons"] == wire::Value::parse(R"({"NODE_FIT":2,"QUEUE_MAX":1})"));
    CHECK(json["utilisation"]["vcore"].get<double>() == Approx(0.25));
    CHECK(json["utilisation"]["memory"].get<double>() == Approx(0));
    CHECK(json["time_to_place"]["p50"].get<double>() == Approx(0.002));
    CHECK(json["time_to_place"]["p99"].get<double>() == Approx(0.5));
    REQUIRE(json["samples"].size() == 2);
    CHECK(json["samples"][1]["seconds"].get<double>() == Approx(0.2));
    CHECK(json["samples"][1]["placed"] == 7);
    CHECK(json["samples"][1]["queues"]["root.ls"]["vcore"].get<double>() == Approx(0.25));
    CHECK(json["samples"][1]["queues"]["root.be"]["memory"].get<double>() == Approx(0));
}

TEST_CASE("issue 2: the report as text has reasons and the use by queue over time") {
    const std::string text = report_text(example());
    CAPTURE(text);
    CHECK(text.find("7 (70.0%)") != std::string::npos);
    CHECK(text.find("no node has 4 gpu free") != std::string::npos);
    CHECK(text.find("root.ls") != std::string::npos);
    CHECK(text.find("25.0%") != std::string::npos);
    CHECK(report_text(Report{}).find("pods") != std::string::npos);
}

} // namespace
} // namespace yk::replay
