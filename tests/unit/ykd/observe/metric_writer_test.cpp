// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/metric_writer.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

TEST_CASE("I-500 one HELP and TYPE line per family, values and labels as text") {
    MetricText text("");
    text.family("yunikorn_x", MetricType::Gauge, "What it is.");
    text.sample({{"queue", "root.a"}, {"state", "max"}}, -3);
    text.count({}, ~std::uint64_t{0});
    CHECK(text.text() == "# HELP yunikorn_x What it is.\n# TYPE yunikorn_x gauge\n"
                         "yunikorn_x{queue=\"root.a\",state=\"max\"} -3\nyunikorn_x 18446744073709551615\n");
}

TEST_CASE("I-501 names are cleaned, label values only escaped") {
    CHECK(metric_name_part("root.a-b") == "root_a_b");
    CHECK(metric_name_part("nvidia.com/gpu") == "nvidia_com_gpu");
    CHECK(metric_name_part("1st:x") == "_1st:x");
    MetricText text("");
    text.family("f", MetricType::Counter, "h");
    text.count({{"queue", "a\"b\\c\nd"}}, 1);
    CHECK(text.text() == "# HELP f h\n# TYPE f counter\nf{queue=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST_CASE("I-505 histograms: buckets of 0.0001 s x 10^k, cumulative, sum and count in seconds") {
    Histogram histogram;
    histogram.observe(std::chrono::microseconds{100}); // the bound itself belongs to the bucket
    histogram.observe(std::chrono::microseconds{101});
    histogram.observe(std::chrono::seconds{5000});
    MetricText text("");
    text.family("t_seconds", MetricType::Histogram, "h");
    text.histogram({{"kind", "Ping"}}, histogram);
    CHECK(text.text().find("t_seconds_bucket{kind=\"Ping\",le=\"0.0001\"} 1\n") != std::string::npos);
    CHECK(text.text().find("t_seconds_bucket{kind=\"Ping\",le=\"0.001\"} 2\n") != std::string::npos);
    CHECK(text.text().find("t_seconds_bucket{kind=\"Ping\",le=\"1000\"} 2\n") != std::string::npos);
    CHECK(text.text().find("t_seconds_bucket{kind=\"Ping\",le=\"+Inf\"} 3\n") != std::string::npos);
    CHECK(text.text().find("t_seconds_sum{kind=\"Ping\"} 5000.000201\n") != std::string::npos);
    CHECK(text.text().find("t_seconds_count{kind=\"Ping\"} 3\n") != std::string::npos);
}

TEST_CASE("I-511 an empty partition label is left out, other empty labels stay") {
    MetricText text("");
    text.family("f", MetricType::Gauge, "h");
    text.count({{"partition", ""}, {"queue", ""}}, 2);
    CHECK(text.text().find("f{queue=\"\"} 2\n") != std::string::npos);
}

TEST_CASE("I-500 labels that several samples have in front of their own, until others do or the family ends") {
    const auto write = [](MetricWriter& to) {
        to.family("f", MetricType::Gauge, "h");
        to.common({{"partition", ""}, {"queue", "a\"b"}});
        to.count({{"state", "new"}}, 1);
        to.count({}, 2);
        to.common({{"queue", "c"}});
        to.sample({{"state", "new"}}, -3);
        to.common({{"partition", ""}});
        to.count({{"state", "new"}}, 4);
        to.family("g", MetricType::Gauge, "h");
        to.common({{"queue", "d"}});
        to.family("h", MetricType::Gauge, "h");
        to.count({}, 5);
    };
    MetricText text("");
    write(text);
    CHECK(text.text() == "# HELP f h\n# TYPE f gauge\n"
                         "f{queue=\"a\\\"b\",state=\"new\"} 1\nf{queue=\"a\\\"b\"} 2\n"
                         "f{queue=\"c\",state=\"new\"} -3\nf{state=\"new\"} 4\n"
                         "# HELP g h\n# TYPE g gauge\n# HELP h h\n# TYPE h gauge\nh 5\n");
    MetricValues values("");
    write(values);
    const auto families = values.take();
    CHECK(families[0]["samples"][0]["labels"] == wire::Value({{"queue", "a\"b"}, {"state", "new"}}));
    CHECK(families[0]["samples"][2]["labels"] == wire::Value({{"queue", "c"}, {"state", "new"}}));
    CHECK(families[0]["samples"][3]["labels"] == wire::Value({{"state", "new"}}));
    CHECK(families[2]["samples"][0]["labels"] == wire::Value::object());
}

TEST_CASE("families by prefix, and as a map with exact integers") {
    MetricValues values("yunikorn_queue");
    CHECK_FALSE(values.family("yunikorn_rm_state", MetricType::Gauge, "h"));
    values.count({}, 1);
    CHECK(values.family("yunikorn_queue_resource", MetricType::Gauge, "h"));
    values.sample({{"resource", "memory"}}, INT64_MAX);
    const auto families = values.take();
    REQUIRE(families.size() == 1);
    CHECK(families[0]["name"] == "yunikorn_queue_resource");
    CHECK(families[0]["type"] == "gauge");
    CHECK(families[0]["samples"][0]["labels"]["resource"] == "memory");
    CHECK(families[0]["samples"][0]["value"].get<std::int64_t>() == INT64_MAX);
}

TEST_CASE("I-500 text that is given in parts is that of one piece, and ends where the rest is not wanted") {
    const auto write = [](MetricWriter& to) {
        std::size_t written = 0;
        for (int family = 0; family < 3; ++family) {
            to.family("f" + std::to_string(family), MetricType::Gauge, "h");
            for (int i = 0; i < 20'000 && !to.is_full(); ++i, ++written) to.count({{"queue", std::to_string(i)}}, 1);
        }
        return written;
    };
    MetricText whole("");
    write(whole);
    std::vector<std::size_t> sizes;
    std::string all;
    MetricText parts("", MetricNames::Original, [&](std::string_view part) {
        all += part;
        sizes.push_back(part.size());
        return true;
    });
    write(parts);
    REQUIRE(parts.finish());
    CHECK(all == whole.text());
    REQUIRE(sizes.size() > 3);
    sizes.pop_back(); // the rest
    for (const std::size_t size : sizes) CHECK((size >= 262'144 && size < 262'300));

    std::size_t taken = 0;
    MetricText refused("", MetricNames::Original, [&taken](std::string_view) { return ++taken < 2; });
    CHECK(write(refused) < 40'000);
    CHECK_FALSE(refused.finish());
    CHECK(taken == 2);
}
