// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/mcs_numbers.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

namespace {

std::string written(const McsNumbers& numbers) {
    MetricText text{"mcs_"};
    write_mcs(text, numbers);
    return text.take();
}

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

} // namespace

TEST_CASE("rs R-152 what is counted of leases, writes, decisions and pages has its families") {
    McsNumbers numbers;
    numbers.groups = 3;
    numbers.grouped = 17;
    numbers.log_rows = 40;
    numbers.fenced_writes = {{"autoscaler", 2}};
    numbers.leases = {{"autoscaler", true, 5, 4}};
    numbers.decisions = {{"up", "MetricAboveTarget", 6}, {"none", "WithinTolerance", 9}};
    numbers.foreign_writes = 1;
    numbers.page_fetches = 8;
    numbers.page_failures = 7;
    rs::KindStatus kind;
    kind.name = "deployment";
    numbers.kinds = {kind};
    numbers.read_ages = {std::nullopt};
    numbers.read_times = {std::chrono::milliseconds{250}};
    numbers.log_held_for = std::chrono::milliseconds{12'500};
    numbers.queue_ages = {std::chrono::milliseconds{1500}};
    const std::string text = written(numbers);
    INFO(text);
    for (const char* const line :
         {"# TYPE mcs_writer_batch_size_sum counter", "mcs_writer_batch_size_sum 17", "mcs_writer_batch_size_count 3",
          "# TYPE mcs_log_rows gauge", "mcs_log_rows 40", "# TYPE mcs_fenced_writes_total counter",
          "mcs_fenced_writes_total{service=\"autoscaler\"} 2", "mcs_lease_lost_total{name=\"autoscaler\"} 4",
          "# TYPE mcs_autoscaler_decisions_total counter",
          "mcs_autoscaler_decisions_total{direction=\"up\",reason=\"MetricAboveTarget\"} 6",
          "mcs_autoscaler_decisions_total{direction=\"none\",reason=\"WithinTolerance\"} 9",
          "mcs_autoscaler_overwritten_total 1", "mcs_metric_pages_total 8", "mcs_metric_page_failures_total 7",
          "mcs_log_fence_lag_seconds 12.5", "mcs_resync_seconds{kind=\"deployment\"} 0.25",
          "# TYPE mcs_queue_oldest_seconds gauge", "mcs_queue_oldest_seconds{kind=\"deployment\"} 1.5"}) {
        INFO(line);
        CHECK(has_line(text, line));
    }
    numbers.log_rows.reset(); // another process purges
    numbers.log_held_for.reset();
    numbers.read_times = {std::nullopt};
    const std::string less = written(numbers);
    CHECK(less.find("\nmcs_log_rows ") == std::string::npos);
    CHECK(less.find("\nmcs_log_fence_lag_seconds ") == std::string::npos);
    CHECK(less.find("\nmcs_resync_seconds{") == std::string::npos);
}
